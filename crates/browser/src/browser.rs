//! The pool of Chromium pages.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use platen_pool::{
    Driver, Isolation, JobError, Origin, Pool, Purpose, Request, Snapshot, Spawner, StartError,
    Started, Unsound,
};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use tracing::Instrument as _;

use crate::{
    chromium::{Keeper, Processes},
    config::Config,
    devtools::CallError,
    error::Error,
    options::Job,
    outside::Outside,
    page::{Page, PageState, Report, Sink},
};

/// Chunks buffered for a slow client; beyond that the page waits, so that a result never fills
/// memory.
const MAX_BUFFERED_CHUNKS: usize = 64;

/// Driver of the pool, whose children are pages. They share a process; each has a browser context
/// of its own.
struct Pages {
    keeper: Keeper,
    outside: Arc<Outside>,
    max_requests: u32,
}

impl Driver for Pages {
    type Child = Page;

    fn name(&self) -> &'static str {
        "chromium"
    }

    async fn start(
        &self,
        spawner: &Spawner,
        purpose: Purpose,
    ) -> Result<Started<Page>, StartError> {
        // The process may have died just now: retry with another one instead of failing the job.
        let mut tries = 0;
        loop {
            tries += 1;
            let chromium = self.keeper.chromium(spawner, purpose).await?;
            let outside = Arc::clone(&self.outside);
            let page = Page::open(Arc::clone(&chromium), outside, self.max_requests).await;
            let error = match page {
                Ok(child) => {
                    return Ok(Started {
                        child,
                        process: None,
                    });
                }
                Err(error) => error,
            };
            chromium.give_up();
            if tries == 2 {
                let reason = match error {
                    CallError::Closed | CallError::TooLong | CallError::AnswerTooLong => {
                        Error::Disconnected.to_string()
                    }
                    CallError::Refused(message) => message,
                };
                return Err(StartError::Unusable(reason.into()));
            }
        }
    }

    async fn probe(&self, page: &mut Page) -> Result<(), Unsound> {
        if page.probe().await {
            Ok(())
        } else {
            Err(Unsound)
        }
    }

    async fn stop(&self, page: Page) {
        page.dispose().await;
    }

    fn is_alive(&self, page: &Page) -> bool {
        page.is_alive()
    }
}

/// A result that arrives in chunks.
#[derive(Debug)]
pub struct Printed {
    /// The report of the page.
    pub report: Report,
    chunks: mpsc::Receiver<Result<Bytes, Error>>,
    job: JobGuard,
}

#[derive(Debug)]
struct JobGuard(JoinHandle<()>);

impl Drop for JobGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Printed {
    /// The next chunk; `None` at the end. Dropping `self` cancels the job.
    pub async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        self.chunks.recv().await
    }

    /// Like [`Printed::next`], for streams.
    pub fn poll_next(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Bytes, Error>>> {
        self.chunks.poll_recv(context)
    }

    /// The whole result.
    ///
    /// # Errors
    /// [`Error::CrashedMidway`] and other failures after the first chunk.
    pub async fn bytes(mut self) -> Result<Vec<u8>, Error> {
        let mut all = Vec::new();
        while let Some(chunk) = self.next().await {
            all.extend_from_slice(&chunk?);
        }
        Ok(all)
    }

    /// Whether the job has left its page.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.job.0.is_finished()
    }
}

/// Sender of the report, until it is used.
type Waiting = Arc<Mutex<Option<oneshot::Sender<Result<Report, Error>>>>>;

/// Sends the report and the chunks to the caller.
struct Pipe {
    begin: Waiting,
    begun: Arc<AtomicBool>,
    chunks: mpsc::Sender<Result<Bytes, Error>>,
}

impl Sink for Pipe {
    fn begin(&mut self, report: Report) {
        self.begun.store(true, Ordering::Relaxed);
        let sender = self.begin.lock().take();
        if let Some(sender) = sender {
            let _ = sender.send(Ok(report));
        }
    }

    async fn put(&mut self, chunk: Bytes) -> bool {
        self.chunks.send(Ok(chunk)).await.is_ok()
    }
}

/// A pool of Chromium pages.
pub struct Browser {
    pool: Arc<Pool<Pages>>,
    max_result_bytes: u64,
}

/// State of the pool, for metrics.
#[derive(Clone, Debug)]
pub struct Status {
    /// The pages, as children of the pool.
    pub pages: Snapshot,
    /// The Chromium processes.
    pub processes: Processes,
    /// Version of the Chromium process started last.
    pub version: Option<String>,
    /// Whether Chromium's own sandbox is on, if it was started here.
    pub sandbox: Option<bool>,
    /// What the Chromium processes are isolated from.
    pub isolation: Isolation,
}

impl Browser {
    /// Creates a pool whose temporary folders are in `parent`. Starts `config.spares` pages at once
    /// if Chromium is installed.
    ///
    /// # Errors
    /// The temporary folder cannot be created.
    pub fn new(
        config: Config,
        origin: impl Into<Origin>,
        parent: impl Into<PathBuf>,
    ) -> std::io::Result<Self> {
        let pages = Pages {
            outside: Arc::new(Outside::new(&config)),
            max_requests: config.max_requests,
            keeper: Keeper::new(config.clone()),
        };
        let origin = match config.remote.is_empty() {
            true => origin.into(),
            false => Origin::Remote,
        };
        let settings = platen_pool::Config {
            slots: config.slots,
            reserved: config.reserved,
            max_queue: config.max_queue,
            spares: config.spares,
            start_timeout: Duration::from_secs(30),
            probe_after: Duration::from_secs(15),
            probe_timeout: Duration::from_secs(5),
            // A context serves one job, so that no job sees anything of another.
            max_jobs: 1,
            ..platen_pool::Config::default()
        };
        Ok(Self {
            pool: Arc::new(Pool::new(pages, settings, origin, parent)?),
            max_result_bytes: config.max_result_bytes,
        })
    }

    /// Prints a page. Returns with the first bytes; the rest follows as Chromium produces it.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn print(&self, job: Job) -> BoxFuture<'_, Result<Printed, Error>> {
        Box::pin(async move {
            job.check()?;
            let (begin, begun) = oneshot::channel();
            let (sender, chunks) = mpsc::channel(MAX_BUFFERED_CHUNKS);
            let begin = Arc::new(Mutex::new(Some(begin)));
            let pool = Arc::clone(&self.pool);
            let max_bytes = self.max_result_bytes;
            let work = async move {
                let result = run(&pool, job, max_bytes, Arc::clone(&begin), sender.clone()).await;
                let Err(error) = result else { return };
                tracing::Span::current().record("error", error.code().name());
                if error.code().fault().is_ours() {
                    tracing::warn!(code = error.code().name(), cause = %error, "page failed");
                }
                let waiting = begin.lock().take();
                match waiting {
                    Some(waiting) => drop(waiting.send(Err(error))),
                    None => drop(sender.send(Err(error)).await),
                }
            };
            // The task logs under the request or run that the page is for.
            let span = tracing::info_span!("chromium", error = tracing::field::Empty);
            let job = JobGuard(tokio::spawn(work.instrument(span)));
            // Dropping this future cancels the job too: `job` aborts its task.
            let report = begun.await.unwrap_or(Err(Error::Disconnected))?;
            Ok(Printed {
                report,
                chunks,
                job,
            })
        })
    }

    /// Waits until the spare pages are ready; false after the timeout.
    pub fn warm(&self, timeout: Duration) -> BoxFuture<'_, bool> {
        Box::pin(async move { self.pool.warm(timeout).await })
    }

    /// Shuts down: rejects new jobs and lets running ones finish for up to `drain`.
    pub fn shutdown(&self, drain: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.pool.driver().keeper.release().await;
            self.pool.shutdown(drain).await;
        })
    }

    /// State of the pool.
    #[must_use]
    pub fn status(&self) -> Status {
        let keeper = &self.pool.driver().keeper;
        Status {
            pages: self.pool.snapshot(),
            processes: keeper.processes(),
            version: keeper.version(),
            sandbox: match self.pool.spawner().origin() {
                Origin::Here(_) => Some(keeper.sandbox()),
                Origin::Controller(_) | Origin::Remote => None,
            },
            isolation: self.pool.isolation(),
        }
    }
}

async fn run(
    pool: &Pool<Pages>,
    job: Job,
    max_bytes: u64,
    begin: Waiting,
    chunks: mpsc::Sender<Result<Bytes, Error>>,
) -> Result<(), Error> {
    let request = Request {
        lane: job.lane,
        timeout: job.timeout,
        key: job.key,
    };
    let job = Arc::new(job);
    let begun = Arc::new(AtomicBool::new(false));
    let last: Arc<Mutex<Option<Arc<PageState>>>> = Arc::default();
    let page_state = Arc::clone(&last);
    let result = pool.run(request, move |page, _| {
        let job = Arc::clone(&job);
        let mut pipe = Pipe {
            begin: Arc::clone(&begin),
            begun: Arc::clone(&begun),
            chunks: chunks.clone(),
        };
        *page_state.lock() = Some(Arc::clone(&page.page_state));
        Box::pin(async move {
            let result = page.run(&job, max_bytes, &mut pipe).await;
            result.map_err(|error| verdict(error, pipe.begun.load(Ordering::Relaxed)))
        })
    });
    result.await.map_err(|error| {
        let page_state = last.lock();
        let stage = page_state
            .as_ref()
            .map_or("waiting for a slot", |page_state| page_state.state().stage);
        Error::of_pool(error, stage)
    })
}

/// Classifies an error. A page serves only one job, so it is replaced in any case.
fn verdict(error: Error, begun: bool) -> JobError<Error> {
    match error {
        Error::Disconnected | Error::PageCrashed if begun => JobError::crashed_midway(error),
        Error::Disconnected | Error::PageCrashed => JobError::crashed(error),
        other => JobError::sound(other),
    }
}
