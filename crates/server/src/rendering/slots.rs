//! Render slots: a lane for all work, slots reserved for previews, and a bounded queue.
//!
//! A job holds its slot until it has really ended, even if its client disconnects or its deadline
//! passes: the number of jobs never exceeds the number of slots. Both events stop the job soon, and
//! so does exceeding the memory limit. Sending the response holds no slot.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use platen_document::work::{self, Bounds};
use platen_engine::memory_bound;
use platen_fault::{Code, Stage, What};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{config::Config, metrics::Metrics, problem::Problem};

/// Lane of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Renderings and batches.
    Batch,
    /// Previews, which have additional reserved slots.
    Preview,
}

/// After a job with a higher peak, free memory is returned to the system, which takes milliseconds.
/// Bytes.
const LARGE_BYTES: i64 = 64 << 20;

/// The slots.
pub struct Slots {
    batch: Arc<Semaphore>,
    preview: Arc<Semaphore>,
    total: usize,
    waiting: AtomicUsize,
    max_waiting: usize,
    timeout: Duration,
    memory_bytes: u64,
    metrics: Arc<Metrics>,
    /// Permits of checks, see [`Slots::check`].
    checks: Arc<Semaphore>,
}

/// Context of a running job.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// True once the job should stop.
    pub stop: Arc<AtomicBool>,
    /// Time spent in the queue.
    pub queued: Duration,
}

/// Sets the stop flag on drop, when the client disconnects or the deadline passes.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs `job` until it completes, is stopped, or exceeds its memory limit.
fn bounded<T>(
    memory_bytes: u64,
    ticket: &Ticket,
    job: impl FnOnce(&Ticket) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let bounds = Bounds {
        stop: Some(Arc::clone(&ticket.stop)),
        memory: Some(memory_bound(memory_bytes)),
        ..Bounds::default()
    };
    let before = platen_jail::forget_peak();
    let result = work::run(bounds, || job(ticket));
    if platen_jail::peak_of_thread().saturating_sub(before) > LARGE_BYTES {
        platen_jail::return_free_memory();
    }
    result.unwrap_or_else(|interruption| {
        Err(platen_engine::Error::from(platen_render::Error::from(interruption)).into())
    })
}

impl Slots {
    /// Free slots, as many as `config` sets.
    pub fn new(config: &Config, metrics: Arc<Metrics>) -> Self {
        let total = config.max_concurrent_pages as usize;
        let reserved = config.render_preview_reserved_slots as usize;
        Self {
            batch: Arc::new(Semaphore::new(total - reserved)),
            preview: Arc::new(Semaphore::new(reserved)),
            total,
            waiting: AtomicUsize::new(0),
            max_waiting: config.render_max_queue_depth as usize,
            timeout: config.render_timeout(),
            memory_bytes: config.render_memory_bytes,
            metrics,
            checks: Arc::new(Semaphore::new(total.max(1))),
        }
    }

    /// Number of queued jobs.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Number of slots in use.
    pub fn in_use(&self) -> usize {
        self.total - self.batch.available_permits() - self.preview.available_permits()
    }

    /// Total number of slots.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Runs `job` on a slot.
    ///
    /// # Errors
    /// 503 if the queue is full, 504 if the deadline passes, and the errors of the job.
    pub async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        job: impl FnOnce(&Ticket) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let start = Instant::now();
        let permit = async {
            let permit = self.acquire(lane).await?;
            self.metrics.waited(start.elapsed());
            Ok(permit)
        };
        self.run_with(permit, start, job).await
    }

    /// Runs a check of request input. A check is short unless its input is malicious. Checks and
    /// renderings do not wait for each other, but a check has the same limits as a rendering.
    ///
    /// # Errors
    /// As [`Slots::run`].
    pub async fn check<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Ticket) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = async {
            if let Ok(permit) = Arc::clone(&self.checks).try_acquire_owned() {
                return Ok(permit);
            }
            let _waiting = self.wait_in_line()?;
            let permit = Arc::clone(&self.checks).acquire_owned().await;
            permit.map_err(|_| Problem::internal("the slots are closed"))
        };
        self.run_with(permit, Instant::now(), job).await
    }

    async fn run_with<T: Send + 'static>(
        &self,
        permit: impl Future<Output = Result<OwnedSemaphorePermit, Problem>>,
        start: Instant,
        job: impl FnOnce(&Ticket) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let stop = Arc::new(AtomicBool::new(false));
        let guard = StopOnDrop(Arc::clone(&stop));
        let work = async {
            let permit = permit.await?;
            let queued = start.elapsed();
            let ticket = Ticket { stop, queued };
            let memory_bytes = self.memory_bytes;
            let span = tracing::Span::current();
            let running = tokio::task::spawn_blocking(move || {
                let _span = span.enter();
                let result = bounded(memory_bytes, &ticket, job);
                drop(permit);
                result
            });
            running.await.unwrap_or_else(|error| {
                Err(Problem::internal(format!("a job was aborted: {error}")))
            })
        };
        let result = tokio::time::timeout(self.timeout, work).await;
        drop(guard);
        result.unwrap_or_else(|_| {
            self.metrics.rejected("deadline");
            let detail = format!("rendering timed out after {} ms", self.timeout.as_millis());
            Err(Problem::new(Code::Timeout(Stage::Render), detail))
        })
    }

    /// Takes a place in the queue.
    fn wait_in_line(&self) -> Result<Waiting<'_>, Problem> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(&self.waiting);
        if before >= self.max_waiting {
            self.metrics.rejected("queue-full");
            let detail = "too many renderings are waiting; try again later";
            return Err(Problem::new(Code::Overloaded(What::Queue), detail));
        }
        Ok(waiting)
    }

    async fn acquire(&self, lane: Lane) -> Result<OwnedSemaphorePermit, Problem> {
        let closed = |_| Problem::internal("the slots are closed");
        let batch = Arc::clone(&self.batch);
        let preview = Arc::clone(&self.preview);
        if lane == Lane::Preview
            && let Ok(permit) = Arc::clone(&preview).try_acquire_owned()
        {
            return Ok(permit);
        }
        if let Ok(permit) = Arc::clone(&batch).try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = self.wait_in_line()?;
        match lane {
            Lane::Batch => batch.acquire_owned().await.map_err(closed),
            Lane::Preview => tokio::select! {
                permit = preview.acquire_owned() => permit.map_err(closed),
                permit = batch.acquire_owned() => permit.map_err(closed),
            },
        }
    }
}
