//! Cancellation of requests: whatever a request waits in checks its stop flag.

use std::{
    cell::RefCell,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ureq::Error;

/// How often a waiting request checks its stop flag.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

thread_local! {
    /// Stop flag of the request on this thread. It is not part of the connection, because
    /// connections are reused for other requests.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// The stop flag of a request, which ends with whoever waits for it: it is set on drop.
#[derive(Debug, Default)]
pub struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
    /// The flag.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Restores the previous stop flag.
struct Leave(Option<Arc<AtomicBool>>);

impl Drop for Leave {
    fn drop(&mut self) {
        STOP.set(self.0.take());
    }
}

/// Runs `work`, whose connections fail once `stop` is true.
pub(crate) fn stoppable<T>(stop: Option<&Arc<AtomicBool>>, work: impl FnOnce() -> T) -> T {
    let _leave = Leave(STOP.replace(stop.cloned()));
    work()
}

/// # Errors
/// The request of this thread was stopped.
pub(crate) fn check() -> Result<(), Error> {
    let is_stopped = STOP.with_borrow(|stop| {
        let stop = stop.as_ref();
        stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    });
    match is_stopped {
        true => Err(Error::Io(io::ErrorKind::Interrupted.into())),
        false => Ok(()),
    }
}
