//! The limits of a step: its own timeout, that of its run, and cancellation.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use platen_document::work::{self, Bounds, GaveUp};
use platen_fault::Code;
use platen_flow::StepError;
use platen_script::Cancellation;

use super::step_error::{cancelled, timed_out};

/// How often a blocking wait checks for cancellation: soon enough that a cancelled run ends at once
/// for a person, at no measurable cost.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The deadline and the cancellation of a step.
#[derive(Clone, Debug)]
pub struct Limit {
    /// When its time is over.
    pub deadline: Instant,
    /// Ends it before.
    pub cancel: Cancellation,
}

impl Limit {
    /// Time left.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The reason to stop now, if there is one.
    ///
    /// # Errors
    /// `cancelled`, or `timeout` of the step.
    pub fn check(&self) -> Result<(), StepError> {
        if self.cancel.is_cancelled() {
            return Err(cancelled());
        }
        match self.left().is_zero() {
            true => Err(timed_out()),
            false => Ok(()),
        }
    }

    /// The reason to stop now, else `other`.
    pub(super) fn or(&self, other: StepError) -> StepError {
        self.check().err().unwrap_or(other)
    }

    /// Runs `work` with a flag that is set when the step must stop.
    pub(super) fn stoppable<T>(&self, work: impl FnOnce(&Arc<AtomicBool>) -> T) -> T {
        let stop = Arc::new(AtomicBool::new(false));
        std::thread::scope(|scope| {
            let (done, over) = mpsc::channel::<()>();
            let flag = Arc::clone(&stop);
            scope.spawn(move || {
                while self.check().is_ok() {
                    match over.recv_timeout(self.left().min(POLL_INTERVAL)) {
                        Err(mpsc::RecvTimeoutError::Timeout) => {}
                        _ => return,
                    }
                }
                flag.store(true, Ordering::Relaxed);
            });
            // Dropped with the closure, even if the work panics, and so ends the watching thread.
            let _done = done;
            work(&stop)
        })
    }

    /// Runs `work` on untrusted data; it unwinds when the step must stop.
    ///
    /// # Errors
    /// As [`Limit::check`].
    pub(super) fn bounded<T>(
        &self,
        work: impl FnOnce(&Arc<AtomicBool>) -> T,
    ) -> Result<T, StepError> {
        self.check()?;
        let done = self.stoppable(|stop| {
            let bounds = Bounds {
                stop: Some(Arc::clone(stop)),
                ..Bounds::default()
            };
            work::run(bounds, || work(stop))
        });
        done.map_err(|_| self.or(timed_out()))
    }

    /// Bounds of work on untrusted data that begins too often for the thread of [`Limit::bounded`].
    pub(super) fn bounds(&self) -> Bounds {
        let limit = self.clone();
        Bounds {
            gave_up: Some(GaveUp::new(move || limit.check().is_err())),
            ..Bounds::default()
        }
    }

    /// Runs `work` on its own thread and waits for it until the step must stop. Work that cannot be
    /// interrupted ends by its own limits; its result is dropped then.
    ///
    /// # Errors
    /// As [`Limit::check`].
    pub(super) fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, StepError> {
        let (done, over) = mpsc::sync_channel(1);
        let name = "platen-beside".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(move || {
            // The receiver may have stopped waiting.
            let _ = done.send(work());
        });
        thread.map_err(|error| {
            let message = format!("there is no thread: {error}");
            StepError::new(Code::InternalError, message)
        })?;
        loop {
            self.check()?;
            match over.recv_timeout(self.left().min(POLL_INTERVAL)) {
                Ok(given) => return Ok(given),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(StepError::new(Code::InternalError, "the step panicked"));
                }
            }
        }
    }

    /// Completes when the step was cancelled.
    pub async fn cancelled(&self) -> StepError {
        while !self.cancel.is_cancelled() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        cancelled()
    }
}

#[cfg(test)]
mod tests {
    use platen_document::work::Interruption;

    use super::*;

    fn limit(left: Duration) -> Limit {
        Limit {
            deadline: Instant::now() + left,
            cancel: Cancellation::default(),
        }
    }

    const LONG: Duration = Duration::from_secs(600);

    fn endless(_: &Arc<AtomicBool>) {
        loop {
            work::check();
        }
    }

    #[test]
    fn a_computation_ends_with_its_time() {
        let ended = limit(Duration::from_millis(60)).bounded(endless);
        assert_eq!(ended, Err(timed_out()));
        assert_eq!(limit(LONG).bounded(|_| 7), Ok(7));
    }

    #[test]
    fn a_computation_ends_with_its_run() {
        let limit = limit(LONG);
        let ended = std::thread::scope(|scope| {
            let ended = scope.spawn(|| limit.bounded(endless));
            limit.cancel.cancel();
            ended.join().unwrap()
        });
        assert_eq!(ended, Err(cancelled()));
        assert_eq!(limit.bounded(|_| ()), Err(cancelled()));
    }

    #[test]
    fn work_without_a_thread_beside_it_ends_as_well() {
        let late = limit(Duration::from_millis(60));
        let flag = Arc::default();
        let ended = work::run(late.bounds(), || endless(&flag));
        assert_eq!(ended, Err(Interruption::Stopped));
        assert!(late.left().is_zero());
        let cancelled = limit(LONG);
        let bounds = cancelled.bounds();
        assert_eq!(work::run(bounds.clone(), work::look), Ok(()));
        cancelled.cancel.cancel();
        let ended = work::run(bounds, || endless(&flag));
        assert_eq!(ended, Err(Interruption::Stopped));
    }

    #[test]
    fn a_panic_ends_what_watches_it() {
        let limit = limit(LONG);
        let caught = std::panic::catch_unwind(|| limit.bounded(|_| panic!("injected")));
        assert!(caught.is_err());
    }

    #[test]
    fn what_cannot_be_interrupted_is_not_waited_for() {
        let (go, wait) = mpsc::channel::<()>();
        let limit = limit(Duration::from_millis(60));
        let ended = limit.beside(move || wait.recv());
        assert_eq!(ended.map(drop), Err(timed_out()));
        drop(go);
    }
}
