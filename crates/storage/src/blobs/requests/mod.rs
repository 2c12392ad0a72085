//! Requests that wait to be executed, or for a retry of that.

pub(super) mod bucket;
pub(super) mod folder;

use std::{
    fs::File,
    io::{self, Write},
    time::Duration,
};

use super::BlobError;

/// Characters of a request's name, all letters and digits.
const NAME_CHARACTERS: usize = 22;

/// The requests that wait for their execution, and those that were executed lately. Methods block
/// the calling thread.
pub trait RequestFiles: Send + Sync {
    /// Stores durably what `write` writes, and returns its name. `write` may be called once only;
    /// `size_bytes` is about what it writes.
    ///
    /// # Errors
    /// [`BlobError::Full`] if too many requests wait, [`BlobError::Unavailable`].
    fn put(
        &self,
        size_bytes: u64,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, BlobError>;

    /// Opens a request; a store that does not answer is asked again for as long as `patience`.
    ///
    /// # Errors
    /// [`BlobError::NotFound`] if it was removed.
    fn open(&self, name: &str, patience: Duration) -> Result<File, BlobError>;

    /// Removes a request for which there is no run.
    fn remove(&self, name: &str);

    /// Lets a request that was executed make room for others. A retry still finds it.
    fn end(&self, name: &str, has_failed: bool);

    /// Removes requests whose retention has ended.
    fn sweep(&self);
}

/// How many requests are kept, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// Most requests.
    pub max_requests: usize,
    /// Bytes of all requests.
    pub max_bytes: u64,
    /// Retention of requests that failed.
    pub retention: Duration,
    /// Retention of requests that succeeded, if that is shorter.
    pub done_retention: Duration,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waits,
    Failed,
    Done,
}

/// A stored request.
#[derive(Clone, Debug)]
struct Entry<P> {
    place: P,
    state: State,
    age: Duration,
    size_bytes: u64,
}

impl RequestLimits {
    /// Removes requests whose retention has ended, and while there is no room the oldest of those
    /// that were executed. A request that still waits is removed only if it has expired and there
    /// is no room. `remove` tells whether it removed one. Returns how many are left, and their
    /// bytes.
    ///
    /// # Errors
    /// [`BlobError::Full`].
    fn make_room<P>(
        &self,
        mut entries: Vec<Entry<P>>,
        wanted_bytes: u64,
        mut remove: impl FnMut(&P) -> bool,
    ) -> Result<(usize, u64), BlobError> {
        entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.age));
        let mut count = entries.len();
        let mut bytes: u64 = entries.iter().map(|entry| entry.size_bytes).sum();
        for entry in entries {
            let retention = match entry.state {
                State::Done => self.done_retention.min(self.retention),
                State::Failed | State::Waits => self.retention,
            };
            let is_over = match (entry.state == State::Waits, entry.age > retention) {
                (false, true) => true,
                (true, false) => false,
                _ => self.is_full(count, bytes, wanted_bytes),
            };
            if is_over && remove(&entry.place) {
                count -= 1;
                bytes -= entry.size_bytes;
            }
        }
        match self.is_full(count, bytes, wanted_bytes) {
            true => Err(BlobError::Full {
                quota_bytes: self.max_bytes,
            }),
            false => Ok((count, bytes)),
        }
    }

    fn is_full(&self, count: usize, bytes: u64, wanted_bytes: u64) -> bool {
        count >= self.max_requests || bytes.saturating_add(wanted_bytes) > self.max_bytes
    }
}

/// Names come from the records of runs, and must not lead out of the store.
pub(super) fn is_name(name: &str) -> bool {
    name.len() == NAME_CHARACTERS && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
