//! Slots for rendering: a lane for all work, slots that only previews may use, a bounded queue.
//!
//! A slot is held until the job has really ended, also where its client has gone or its deadline
//! has passed: the number of jobs never exceeds the number of slots. Both end the job itself, soon,
//! and so does more memory than a rendering may hold. Sending the answer holds none.

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

/// Who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Renderings and batches.
    Batch,
    /// Previews, which also have slots of their own.
    Preview,
}

/// After a job that held more, memory that is free goes back to the system, which takes milliseconds.
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
    /// Checks of what requests bring, see [`Slots::check`].
    checks: Arc<Semaphore>,
}

/// What a job may ask while it runs.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// True once the job should end.
    pub stop: Arc<AtomicBool>,
    /// How long it waited.
    pub queued: Duration,
}

/// Sets the flag when it is dropped: the client has gone or the deadline has passed.
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

/// Does `job` until it is done, its client gives up, or it holds too much.
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
    /// Slots as `config` counts them, all free.
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

    /// Jobs that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Slots in use.
    pub fn in_use(&self) -> usize {
        self.total - self.batch.available_permits() - self.preview.available_permits()
    }

    /// All slots.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Runs `job` on a slot.
    ///
    /// # Errors
    /// 503 where the queue is full, 504 where the deadline passes, and what the job says.
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

    /// Runs `job`, which is short unless somebody wants it to be long: a check of what a request
    /// brings. It waits for no rendering and no rendering for it, and it has the bounds of one.
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
                Err(Problem::internal(format!("a job did not end: {error}")))
            })
        };
        let result = tokio::time::timeout(self.timeout, work).await;
        drop(guard);
        result.unwrap_or_else(|_| {
            self.metrics.rejected("deadline");
            let detail = format!("not done within {} ms", self.timeout.as_millis());
            Err(Problem::new(Code::Timeout(Stage::Render), detail))
        })
    }

    /// A place among those that wait.
    fn wait_in_line(&self) -> Result<Waiting<'_>, Problem> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(&self.waiting);
        if before >= self.max_waiting {
            self.metrics.rejected("queue-full");
            let detail = "too many renderings wait already; try again in a moment";
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
