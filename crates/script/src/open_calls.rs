//! Limits the number of calls of a script that are answered at the same time.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// Maximum number of calls of one script answered at the same time; others wait in the cell.
const MAX_OPEN_CALLS: usize = 16;

/// Unanswered calls of one run. A cell keeps to [`MAX_OPEN_CALLS`] itself, but it may receive an
/// answer and send its next call before the answering thread has finished; and a compromised cell
/// keeps to no limit.
#[derive(Default)]
pub(crate) struct OpenCalls {
    count: Mutex<usize>,
    left: Condvar,
}

/// An unanswered call.
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
