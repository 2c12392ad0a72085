//! What the runs of this process may use together, and each of them: memory of their data, and threads of their
//! steps. Strangers start runs, so that neither may grow with what they send.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use platen_document::json_weight::of_value;
use platen_fault::{Code, What};
use platen_flow::{Entry, StepError};

use super::Limit;

/// What the data of all runs take at most: what started them and the outputs of their steps, as
/// [`platen_document::json_weight`] counts them. Bytes.
const ALL_BYTES: u64 = 1 << 30;
/// What the outputs of one run take at most. Bytes.
const OUTPUT_BYTES: u64 = 256 << 20;
/// Steps of one run that have a thread at a time; the others wait for them.
pub(super) const THREADS: usize = 64;
/// Steps of all runs that have a thread at a time. A run that gets none executes its steps one by one.
const ALL_THREADS: usize = 512;
/// How often a run that waits for memory looks again.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Memory of what an entry of the journal adds to a run.
pub(crate) fn weight(entry: &Entry) -> u64 {
    match entry {
        Entry::Succeeded { output, .. } => of_value(output),
        Entry::Resumed { payload, .. } => of_value(payload),
        _ => 0,
    }
}

/// What the runs of this process use.
#[derive(Clone, Debug, Default)]
pub(super) struct Capacity(Arc<Used>);

#[derive(Debug, Default)]
struct Used {
    bytes: AtomicU64,
    threads: AtomicUsize,
}

impl Capacity {
    /// Memory of a run that begins with `trigger` bytes and `outputs` bytes of its journal. Waits for other runs
    /// to end, unless there are none, or until the run's time is over.
    pub(super) fn hold(&self, trigger: u64, outputs: u64, limit: &Limit) -> Held {
        let bytes = trigger + outputs;
        while limit.check().is_ok() {
            let used = self.0.bytes.load(Ordering::Relaxed);
            if used > 0 && used + bytes > ALL_BYTES {
                std::thread::sleep(POLL_INTERVAL.min(limit.left()));
                continue;
            }
            let exchanged = self.0.bytes.compare_exchange(
                used,
                used + bytes,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            if exchanged.is_ok() {
                let all = Some(self.clone());
                return Held {
                    all,
                    bytes,
                    outputs,
                };
            }
        }
        // It ends before its first step.
        Held::default()
    }

    /// A thread for a step; `None` if there are too many.
    pub(super) fn thread(&self) -> Option<StepThread> {
        let more = |used: usize| (used < ALL_THREADS).then_some(used + 1);
        let threads = &self.0.threads;
        let taken = threads.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.ok().map(|_| StepThread(self.clone()))
    }
}

/// Memory of a run, given back when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Held {
    all: Option<Capacity>,
    bytes: u64,
    outputs: u64,
}

impl Held {
    /// Adds the output of a step.
    ///
    /// # Errors
    /// `too-large` if the outputs of this run are, or `overloaded` if those of all are.
    pub(super) fn add(&mut self, bytes: u64) -> Result<(), StepError> {
        if self.outputs + bytes > OUTPUT_BYTES {
            let message = format!(
                "the outputs of the run would take about {} MiB of memory, more than {} MiB: keep less of each \
                 step, or store files",
                (self.outputs + bytes) >> 20,
                OUTPUT_BYTES >> 20,
            );
            let code = Code::TooLarge(What::Output, OUTPUT_BYTES);
            return Err(StepError::new(code, message));
        }
        if let Some(all) = &self.all {
            let others = |used: u64| used > self.bytes && used + bytes > ALL_BYTES;
            let more = |used: u64| (!others(used)).then_some(used + bytes);
            let used = &all.0.bytes;
            if used
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
                .is_err()
            {
                let message = format!(
                    "the runs of this process take {} MiB of memory already",
                    ALL_BYTES >> 20
                );
                return Err(StepError::new(Code::Overloaded(What::Memory), message));
            }
        }
        self.bytes += bytes;
        self.outputs += bytes;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(all) = &self.all {
            all.0.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

/// A step that has a thread.
#[derive(Debug)]
pub(super) struct StepThread(Capacity);

impl Drop for StepThread {
    fn drop(&mut self) {
        self.0.0.threads.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn limit(milliseconds: u64) -> Limit {
        Limit {
            deadline: Instant::now() + Duration::from_millis(milliseconds),
            cancel: platen_script::Cancellation::default(),
        }
    }

    #[test]
    fn runs_wait_for_the_memory_of_others() {
        let capacity = Capacity::default();
        // One alone may begin with more than there is for all.
        let large = capacity.hold(ALL_BYTES + 1, 0, &limit(10_000));
        let late = capacity.hold(1, 0, &limit(30));
        assert!(late.all.is_none(), "its time was over");
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| capacity.hold(7, 3, &limit(60_000)));
            std::thread::sleep(Duration::from_millis(30));
            drop(large);
            let held = waits.join().expect("it begins");
            assert_eq!((held.bytes, held.outputs), (10, 3));
        });
        assert_eq!(capacity.0.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn outputs_are_bounded_for_one_run_and_for_all() {
        let capacity = Capacity::default();
        let mut one = capacity.hold(0, OUTPUT_BYTES - 5, &limit(10_000));
        assert!(one.add(5).is_ok());
        let error = one.add(1).unwrap_err();
        assert_eq!((&*error.code, error.retryable), ("too-large", false));
        let _others = capacity.hold(ALL_BYTES - OUTPUT_BYTES, 0, &limit(10_000));
        let mut last = Held {
            all: Some(capacity.clone()),
            ..Held::default()
        };
        let error = last.add(1).unwrap_err();
        assert_eq!((&*error.code, error.retryable), ("overloaded", true));
        drop(one);
        assert!(last.add(1).is_ok());
    }

    #[test]
    fn threads_are_counted() {
        let capacity = Capacity::default();
        let threads: Vec<_> = (0..ALL_THREADS).map_while(|_| capacity.thread()).collect();
        assert_eq!(threads.len(), ALL_THREADS);
        assert!(capacity.thread().is_none());
        drop(threads);
        assert!(capacity.thread().is_some());
    }
}
