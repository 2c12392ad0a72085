//! Admission control: job slots in two lanes behind one bounded queue.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::Config;

/// Priority of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// A user waits for the result: these jobs may also use the reserved slots.
    Interactive,
    /// Background work.
    Batch,
}

/// Why a job was not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSlot {
    QueueFull,
    Closed,
}

/// The slots of both lanes and the number of jobs waiting for one.
#[derive(Debug)]
pub(crate) struct Admission {
    open: Arc<Semaphore>,
    reserved: Arc<Semaphore>,
    slots: usize,
    waiting: AtomicUsize,
    max_waiting: usize,
}

/// Counts a waiting job; dropping it, also by cancellation, leaves the queue.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Admission {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            open: Arc::new(Semaphore::new(config.slots - config.reserved)),
            reserved: Arc::new(Semaphore::new(config.reserved)),
            slots: config.slots,
            waiting: AtomicUsize::new(0),
            max_waiting: config.max_queue,
        }
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub(crate) fn in_use(&self) -> usize {
        self.slots - self.open.available_permits() - self.reserved.available_permits()
    }

    /// A `Retry-After` estimate for a full queue: the mean job time, between 1 s and 60 s.
    pub(crate) fn retry_after(&self, mean: Duration) -> Duration {
        mean.clamp(Duration::from_secs(1), Duration::from_secs(60))
    }

    /// Rejects new jobs and wakes every waiter with [`NoSlot::Closed`].
    pub(crate) fn close(&self) {
        self.open.close();
        self.reserved.close();
    }

    /// Takes a slot, waiting for one if fewer than `max_queue` jobs wait already.
    ///
    /// Dropping the future leaves the queue; dropping the permit frees the slot.
    pub(crate) async fn acquire(&self, lane: Lane) -> Result<OwnedSemaphorePermit, NoSlot> {
        let open = Arc::clone(&self.open);
        let reserved = Arc::clone(&self.reserved);
        let may_use_reserved = lane == Lane::Interactive;
        if may_use_reserved && let Ok(permit) = Arc::clone(&reserved).try_acquire_owned() {
            return Ok(permit);
        }
        if let Ok(permit) = Arc::clone(&open).try_acquire_owned() {
            return Ok(permit);
        }
        // Only jobs that find no free slot count as waiting, so `max_queue: 0` still admits a job
        // to an idle pool.
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        if self.open.is_closed() {
            return Err(NoSlot::Closed);
        }
        if before >= self.max_waiting {
            return Err(NoSlot::QueueFull);
        }
        let permit = if may_use_reserved {
            tokio::select! {
                permit = reserved.acquire_owned() => permit,
                permit = open.acquire_owned() => permit,
            }
        } else {
            open.acquire_owned().await
        };
        permit.map_err(|_| NoSlot::Closed)
    }
}
