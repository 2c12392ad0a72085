//! Limit on calls of a script that are answered at the same time.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// Calls of one script that are answered at the same time; more wait in the cell.
const MAX_OPEN_CALLS: usize = 16;

/// Calls of one run that are not answered yet. A cell keeps to [`MAX_OPEN_CALLS`], but has an answer,
/// and may send its next call, before the thread that answered is done; and one that has been taken over
/// keeps to nothing.
#[derive(Default)]
pub(crate) struct OpenCalls {
    count: Mutex<usize>,
    left: Condvar,
}

/// A pending call.
pub(crate) struct OpenCall<'a>(&'a OpenCalls);

impl OpenCalls {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until another call may start; `None` at the deadline.
    pub(crate) fn enter(&self, deadline: Instant) -> Option<OpenCall<'_>> {
        let mut count = self.lock();
        while *count >= MAX_OPEN_CALLS {
            let timeout = deadline.checked_duration_since(Instant::now())?;
            let waited = self.left.wait_timeout(count, timeout);
            count = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *count += 1;
        Some(OpenCall(self))
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.left.notify_one();
    }
}
