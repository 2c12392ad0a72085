//! Limits the calls of a script that are answered at the same time, by their number and their memory.

use std::{
    io,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use platen_jail::Sender;
use serde_json::{Value, json};

/// Maximum number of calls of one script answered at the same time; others wait in the cell.
const MAX_OPEN_CALLS: usize = 16;

/// Unanswered calls of one run. A cell keeps to [`MAX_OPEN_CALLS`] itself, but it may receive an
/// answer and send its next call before the answering thread has finished; and a compromised cell
/// keeps to no limit.
pub(crate) struct OpenCalls {
    open: Mutex<Open>,
    left: Condvar,
    /// What the calls may take in memory together. Bytes.
    limit_bytes: u64,
}

#[derive(Default)]
struct Open {
    count: usize,
    /// Memory of those that the host has yet to answer.
    bytes: u64,
}

/// An unanswered call.
pub(crate) struct OpenCall<'a> {
    calls: &'a OpenCalls,
    bytes: u64,
}

impl OpenCalls {
    pub(crate) fn new(limit_bytes: u64) -> Self {
        Self {
            open: Mutex::default(),
            left: Condvar::new(),
            limit_bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until another call, which takes `bytes` of memory, may start; `None` at the deadline.
    pub(crate) fn enter(&self, bytes: u64, deadline: Instant) -> Option<OpenCall<'_>> {
        let mut open = self.lock();
        while open.count >= MAX_OPEN_CALLS
            || (open.bytes > 0 && open.bytes + bytes > self.limit_bytes)
        {
            let timeout = deadline.checked_duration_since(Instant::now())?;
            let waited = self.left.wait_timeout(open, timeout);
            open = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        open.count += 1;
        open.bytes += bytes;
        Some(OpenCall { calls: self, bytes })
    }
}

impl OpenCall<'_> {
    /// Gives its memory back once the host has answered. That comes before the answer is sent: the cell reads no
    /// answer while it writes its next call, and the owner reads that call no further while it waits for memory.
    pub(crate) fn release_memory(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.calls.lock().bytes -= bytes;
        self.calls.left.notify_one();
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.release_memory();
        self.calls.lock().count -= 1;
        self.calls.left.notify_one();
    }
}

/// Sends the answer to the call `id`. Code would wait in vain for one that is too long: it gets an error instead.
pub(crate) fn reply(sender: &Sender, id: u64, result: Result<Value, String>, deadline: Instant) {
    let sent = sender.send(&answer(id, result), deadline);
    if sent.is_err_and(|error| error.kind() == io::ErrorKind::InvalidInput) {
        let refused = Err("the answer is too long for code".to_owned());
        let _ = sender.send(&answer(id, refused), deadline);
    }
}

fn answer(id: u64, result: Result<Value, String>) -> Vec<u8> {
    let message = match result {
        Ok(value) => json!({"id": id, "ok": value}),
        Err(reason) => json!({"id": id, "error": reason}),
    };
    message.to_string().into_bytes()
}
