//! The pool of pages: what the rest of Platen calls.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use platen_pool::{
    Isolation, JobError, Kind, Launcher, Pool, Purpose, Request, Snapshot, Spawner, StartError,
    Started, Unsound,
};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use crate::{
    chromium::{Keeper, Processes},
    config::Config,
    devtools::CallError,
    error::Error,
    options::Job,
    outside::Outside,
    page::{Desk, Page, Report, Sink},
};

/// Pieces of a result that wait for a slow client; more, and the page waits too.
const PIECES: usize = 64;

/// Pages as children of a pool. They share a process; each has a context of its own.
struct Pages {
    keeper: Keeper,
    outside: Arc<Outside>,
    max_requests: u32,
}

impl Kind for Pages {
    type Child = Page;

    fn name(&self) -> &'static str {
        "chromium"
    }

    async fn start(
        &self,
        spawner: &Spawner,
        purpose: Purpose,
    ) -> Result<Started<Page>, StartError> {
        // The process at hand may be dead, or die just now: that is no reason to fail.
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
                    CallError::Closed => Error::Disconnected.to_string(),
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

/// A result, as it comes.
#[derive(Debug)]
pub struct Printed {
    /// What happened on the page beside the result.
    pub report: Report,
    pieces: mpsc::Receiver<Result<Bytes, Error>>,
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
    /// The next piece; nothing after the last one. Dropping `self` ends the job.
    pub async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        self.pieces.recv().await
    }

    /// As [`Printed::next`], for streams.
    pub fn poll_next(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Bytes, Error>>> {
        self.pieces.poll_recv(context)
    }

    /// All of it.
    ///
    /// # Errors
    /// When Chromium dies midway.
    pub async fn bytes(mut self) -> Result<Vec<u8>, Error> {
        let mut all = Vec::new();
        while let Some(piece) = self.next().await {
            all.extend_from_slice(&piece?);
        }
        Ok(all)
    }

    /// True once the page has nothing more to do with it.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.job.0.is_finished()
    }
}

/// Who waits for the report, until there is one.
type Waiting = Arc<Mutex<Option<oneshot::Sender<Result<Report, Error>>>>>;

/// Sends the result to the one who asked.
struct Pipe {
    begin: Waiting,
    begun: Arc<AtomicBool>,
    pieces: mpsc::Sender<Result<Bytes, Error>>,
}

impl Sink for Pipe {
    fn begin(&mut self, report: Report) {
        self.begun.store(true, Ordering::Relaxed);
        let sender = self
            .begin
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(sender) = sender {
            let _ = sender.send(Ok(report));
        }
    }

    async fn put(&mut self, piece: Bytes) -> bool {
        self.pieces.send(Ok(piece)).await.is_ok()
    }
}

/// A pool of Chromium's pages.
pub struct Browser {
    pool: Arc<Pool<Pages>>,
    max_result_bytes: u64,
}

/// What a Chromium pool can say of itself.
#[derive(Clone, Debug)]
pub struct Status {
    /// The pages, as children of a pool.
    pub pages: Snapshot,
    /// The processes that they live in.
    pub processes: Processes,
    /// The version that was started last.
    pub version: Option<String>,
    /// Whether Chromium's own sandbox is on.
    pub sandbox: bool,
    /// What Chromium cannot reach.
    pub isolation: Isolation,
}

impl Browser {
    /// A pool whose temporary folders are made in `parent`. Starts `config.spares` pages at once
    /// where Chromium is installed.
    ///
    /// # Errors
    /// When the temporary folder cannot be made.
    pub fn new(
        config: Config,
        launcher: Arc<dyn Launcher>,
        parent: impl Into<PathBuf>,
    ) -> std::io::Result<Self> {
        let pages = Pages {
            outside: Arc::new(Outside::new(&config)),
            max_requests: config.max_requests,
            keeper: Keeper::new(config.clone()),
        };
        let settings = platen_pool::Config {
            slots: config.slots,
            reserved: config.reserved,
            max_queue: config.max_queue,
            spares: config.spares,
            start_timeout: Duration::from_secs(30),
            probe_after: Duration::from_secs(15),
            probe_timeout: Duration::from_secs(5),
            // A context serves one job: nothing of it is seen by the next.
            max_jobs: 1,
            ..platen_pool::Config::default()
        };
        Ok(Self {
            pool: Arc::new(Pool::new(pages, settings, launcher, parent)?),
            max_result_bytes: config.max_result_bytes,
        })
    }

    /// Prints a page. The answer comes with its first bytes; the rest follows as it is produced.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn print(&self, job: Job) -> Result<Printed, Error> {
        job.check()?;
        let (begin, begun) = oneshot::channel();
        let (sender, pieces) = mpsc::channel(PIECES);
        let begin = Arc::new(Mutex::new(Some(begin)));
        let pool = Arc::clone(&self.pool);
        let max_bytes = self.max_result_bytes;
        let running = tokio::spawn(async move {
            let result = run(&pool, job, max_bytes, Arc::clone(&begin), sender.clone()).await;
            let Err(error) = result else { return };
            let waiting = begin.lock().unwrap_or_else(PoisonError::into_inner).take();
            match waiting {
                Some(waiting) => drop(waiting.send(Err(error))),
                None => drop(sender.send(Err(error)).await),
            }
        });
        let job = JobGuard(running);
        // Dropping the future here ends the job as well.
        let report = begun.await.unwrap_or(Err(Error::Disconnected))?;
        Ok(Printed {
            report,
            pieces,
            job,
        })
    }

    /// Waits until the spare pages are there; false where that takes longer.
    pub async fn warm(&self, timeout: Duration) -> bool {
        self.pool.warm(timeout).await
    }

    /// Ends: takes no new jobs, lets those that run end until `drain` has passed.
    pub async fn shutdown(&self, drain: Duration) {
        self.pool.kind().keeper.let_go().await;
        self.pool.shutdown(drain).await;
    }

    /// The pool at this moment.
    #[must_use]
    pub fn status(&self) -> Status {
        let keeper = &self.pool.kind().keeper;
        Status {
            pages: self.pool.snapshot(),
            processes: keeper.processes(),
            version: keeper.version(),
            sandbox: keeper.sandbox(),
            isolation: self.pool.isolation(),
        }
    }
}

async fn run(
    pool: &Pool<Pages>,
    job: Job,
    max_bytes: u64,
    begin: Waiting,
    pieces: mpsc::Sender<Result<Bytes, Error>>,
) -> Result<(), Error> {
    let request = Request {
        lane: job.lane,
        timeout: job.timeout,
        key: job.key,
    };
    let job = Arc::new(job);
    let begun = Arc::new(AtomicBool::new(false));
    let last: Arc<Mutex<Option<Arc<Desk>>>> = Arc::default();
    let desk = Arc::clone(&last);
    let result = pool.run(request, move |page, _| {
        let job = Arc::clone(&job);
        let mut pipe = Pipe {
            begin: Arc::clone(&begin),
            begun: Arc::clone(&begun),
            pieces: pieces.clone(),
        };
        *desk.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&page.desk));
        Box::pin(async move {
            let result = page.run(&job, max_bytes, &mut pipe).await;
            result.map_err(|error| judge(error, pipe.begun.load(Ordering::Relaxed)))
        })
    });
    result.await.map_err(|error| {
        let desk = last.lock().unwrap_or_else(PoisonError::into_inner);
        let stage = desk
            .as_ref()
            .map_or("waited for a slot", |desk| desk.state().stage);
        Error::of_pool(error, stage)
    })
}

/// What an error means for the page. It serves one job only, so none is sound afterwards.
fn judge(error: Error, begun: bool) -> JobError<Error> {
    match error {
        Error::Disconnected | Error::PageCrashed if begun => JobError::died_midway(error),
        Error::Disconnected | Error::PageCrashed => JobError::died(error),
        other => JobError::sound(other),
    }
}
