//! The converter: examines a job, runs it on a process, and makes the result deterministic.

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_core::future::BoxFuture;
use platen_content::Content;
use platen_pool::{Isolation, Key, Origin, Pool, Request, Snapshot};
use platen_urp::{Conversion, Property};
use sha2::{Digest, Sha256};
use tracing::{Instrument as _, field::Empty};

use crate::{
    Config, Detected, Error,
    crash_report::{CrashReport, Report, Work},
    detect::{Inspected, inspect},
    deterministic, find_libreoffice_in,
    format::Target,
    job::{Document, Job, Source, Times},
    outcome::{Known, job_error},
    soffice::Soffice,
    staged_input::StagedInput,
    task::{self, Done, Task, harmless},
};

/// State of a converter.
#[derive(Clone, Debug)]
pub struct Status {
    /// Version of the last process started, such as `7.4.7.2`.
    pub version: Option<String>,
    /// State and counters of the pool.
    pub pool: Snapshot,
    /// What the processes are isolated from.
    pub isolation: Isolation,
}

/// Converts documents with a pool of LibreOffice processes.
pub struct Office {
    pool: Pool<Soffice>,
    config: Config,
    report: Report,
}

/// A larger PDF is not made deterministic and stays in its file. In bytes.
const MAX_STABLE_BYTES: u64 = 256 << 20;

/// Larger documents are examined on a blocking thread. In bytes.
const INLINE_BYTES: usize = 256 << 10;

impl Office {
    /// Creates a converter with temporary folders below `parent`. Must be called within a tokio
    /// runtime.
    ///
    /// # Errors
    /// The temporary folder cannot be created.
    pub fn new(
        config: Config,
        origin: impl Into<Origin>,
        parent: impl Into<PathBuf>,
    ) -> io::Result<Self> {
        let mut config = config;
        let mut origin = origin.into();
        if !config.remote.is_empty() {
            origin = Origin::Remote;
            config.slots = config.remote.len();
            config.reserved = config.reserved.min(config.slots.saturating_sub(2));
            config.spares = config.spares.min(1);
            // A start waits for a process to be free; attempts to connect have limits of their own.
            config.start_timeout = Duration::from_secs(24 * 3600);
        }
        let pool = platen_pool::Config {
            slots: config.slots,
            reserved: config.reserved,
            max_queue: config.max_queue,
            spares: config.spares,
            max_jobs: config.max_jobs,
            recycle_memory_bytes: config.recycle_memory_bytes,
            kill_memory_bytes: config.kill_memory_bytes,
            start_timeout: config.start_timeout,
            ..platen_pool::Config::default()
        };
        let kind = Soffice::new(config.clone());
        Ok(Self {
            pool: Pool::new(kind, pool, origin, parent)?,
            config,
            report: Report::default(),
        })
    }

    /// Calls `report` for every process that crashes on a document.
    #[must_use]
    pub fn reporting(mut self, report: impl Fn(&CrashReport) + Send + Sync + 'static) -> Self {
        self.report = Report(Arc::new(report));
        self
    }

    /// Fails if this process starts LibreOffice and there is none. Who else starts it says so when
    /// it is asked to.
    ///
    /// # Errors
    /// LibreOffice is not installed.
    pub fn check_installed(&self) -> Result<(), Error> {
        let origin = self.pool.spawner().origin();
        if !matches!(origin, Origin::Here(_)) {
            return Ok(());
        }
        let found = find_libreoffice_in(&origin.image(), self.config.program.as_deref());
        found
            .map(drop)
            .map_err(|error| Error::NotInstalled(Arc::new(error)))
    }

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The current state.
    #[must_use]
    pub fn status(&self) -> Status {
        Status {
            version: self.pool.driver().version(),
            pool: self.pool.snapshot(),
            isolation: self.pool.isolation(),
        }
    }

    /// Waits until a process is ready; false after `timeout`.
    pub fn warm(&self, timeout: Duration) -> BoxFuture<'_, bool> {
        Box::pin(async move { self.pool.warm(timeout).await })
    }

    /// Stops all processes, after giving jobs up to `drain` to finish.
    pub fn shutdown(&self, drain: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.pool.shutdown(drain).await;
        })
    }

    /// Converts a document.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn convert(&self, job: Job) -> BoxFuture<'_, Result<Document, Error>> {
        Box::pin(async move {
            let span = tracing::info_span!(
                "libreoffice",
                platen.target = ?job.target,
                platen.wait_ms = Empty,
                error = Empty,
            );
            let converted = self.convert_within(job).instrument(span.clone()).await;
            match &converted {
                Ok(document) => {
                    let wait_ms = document.times.wait.as_secs_f64() * 1e3;
                    span.record("platen.wait_ms", wait_ms);
                }
                Err(error) => {
                    span.record("error", error.code().name());
                }
            }
            converted
        })
    }

    async fn convert_within(&self, job: Job) -> Result<Document, Error> {
        let begin = Instant::now();
        self.check_installed()?;
        let (inspected, key) = match &job.source {
            Source::Content(Content::Held(bytes)) if bytes.len() <= INLINE_BYTES => {
                look(&job, &self.config)?
            }
            // Files may be slow to read, and the whole content is hashed.
            _ => {
                let (job, config) = (job.clone(), self.config.clone());
                let looked = tokio::task::spawn_blocking(move || look(&job, &config)).await;
                looked.map_err(|error| Error::Input(io::Error::other(error)))??
            }
        };
        let known = Known {
            is_encrypted: inspected.is_encrypted,
            has_password: job.options.password.is_some(),
        };
        let Inspected {
            detected, patch, ..
        } = inspected;
        let mut times = Times {
            detect: begin.elapsed(),
            ..Times::default()
        };
        let mut conversion = conversion(&job, &detected)?;
        let source = StagedInput {
            source: job.source.clone(),
            patch: patch.map(Arc::new),
            is_seen: self.pool.isolation().opens_others(),
        };
        let document_bytes = source.size_bytes();
        let report = self.report.clone();
        let work = Work::new(report, document_bytes, &detected, job.target);
        conversion.stage = work.stage.clone();
        let task = Task {
            conversion,
            source,
            name: job.name.as_deref().map(|it| harmless(it, &detected)),
            work,
            limit_bytes: self.config.max_result_bytes,
        };
        let done = self.run(&job, begin, key, known, &task).await?;
        (times.wait, times.phases) = (done.waited, done.phases);
        let finishing = Instant::now();
        let body = finish(done.body, &job).await?;
        times.finish = finishing.elapsed();
        times.total = begin.elapsed();
        let size_bytes = body.size_bytes();
        Ok(Document {
            body,
            size_bytes,
            target: job.target,
            detected,
            times,
        })
    }

    /// Runs a task on a suitable process. Unsuitable ones are replaced, which limits the number of
    /// attempts to that of processes.
    async fn run(
        &self,
        job: &Job,
        begin: Instant,
        key: Key,
        known: Known,
        task: &Task,
    ) -> Result<Done, Error> {
        let timeout = job.timeout;
        for _ in 0..=self.config.slots + self.config.spares {
            let request = Request {
                lane: job.lane,
                timeout: timeout.saturating_sub(begin.elapsed()),
                key: Some(key),
            };
            let done = self.pool.run(request, |worker, attempt| {
                let running = task::run(worker, attempt, task.clone());
                Box::pin(async move {
                    let done = running.await;
                    done.map_err(|error| job_error(error, known, timeout))
                })
            });
            let done = done.await.map_err(Error::of_pool);
            let done = done.inspect_err(|error| task.work.failed(error))?;
            if let Some(done) = done {
                return Ok(done);
            }
        }
        Err(Error::Conversation(platen_urp::Error::HasChanges))
    }
}

/// The request to LibreOffice.
fn conversion(job: &Job, detected: &Detected) -> Result<Conversion, Error> {
    let (filter, filter_options) = impossible(detected, job.target)?;
    let mut conversion = Conversion {
        filter: filter.to_owned(),
        filter_data: job.options.filter_data(job.target),
        store: job.options.store(job.target),
        import_filter: Some(detected.filter.to_owned()),
        import_filter_otherwise: detected.otherwise.map(str::to_owned),
        password: job.options.password.clone(),
        repair: job.options.repair,
        update_indexes: job.options.update_indexes,
        landscape: job.options.landscape,
        ..Conversion::default()
    };
    let option = |text: &str| Property::new("FilterOptions", text);
    conversion.store.extend(filter_options.map(option));
    let load_options = detected.filter_options.as_deref();
    conversion.load.extend(load_options.map(option));
    Ok(conversion)
}

fn impossible(
    detected: &Detected,
    target: Target,
) -> Result<(&'static str, Option<&'static str>), Error> {
    target.filter(detected.family).ok_or(Error::Impossible {
        from: detected.family.name(),
        to: target.extension(),
    })
}

/// Detects the format of the input, and computes its identity: a digest of content, target and
/// options.
fn look(job: &Job, config: &Config) -> Result<(Inspected, Key), Error> {
    let name = job.name.as_deref();
    match &job.source {
        Source::Content(content) => {
            let size = content.size_bytes();
            look_at(&mut content.reader(), size, name, job, config)
        }
        Source::Path(path) => {
            let mut file = File::open(path).map_err(Error::Input)?;
            let size = file.metadata().map_err(Error::Input)?.len();
            let own = path.file_name().map(|it| it.to_string_lossy().into_owned());
            look_at(&mut file, size, name.or(own.as_deref()), job, config)
        }
    }
}

fn look_at(
    file: &mut (impl io::Read + io::Seek),
    size: u64,
    name: Option<&str>,
    job: &Job,
    config: &Config,
) -> Result<(Inspected, Key), Error> {
    let inspected = inspect(file, size, name, config, &job.options)?;
    let mut hash = Sha256::new();
    hash.update(size.to_be_bytes());
    hash.update(format!("{:?} {:?}", job.target, job.options));
    file.seek(io::SeekFrom::Start(0)).map_err(Error::Input)?;
    let mut chunk = vec![0; 64 << 10];
    loop {
        match file.read(&mut chunk).map_err(Error::Input)? {
            0 => break,
            count => hash.update(&chunk[..count]),
        }
    }
    Ok((inspected, Key(hash.finalize().into())))
}

/// Makes a PDF deterministic, on a blocking thread.
async fn finish(body: Content, job: &Job) -> Result<Content, Error> {
    let wanted = job.deterministic && job.target == Target::Pdf && !job.options.encrypts();
    if !wanted {
        return Ok(body);
    }
    let work = move || -> io::Result<Content> {
        if matches!(body, Content::Spooled(_)) && body.size_bytes() > MAX_STABLE_BYTES {
            return Ok(body);
        }
        let bytes = body.read()?;
        Ok(match deterministic::pdf(&bytes) {
            Some(deterministic) => deterministic.into(),
            None => Content::Held(bytes),
        })
    };
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| Error::Output(io::Error::other(error)))?;
    done.map_err(Error::Output)
}
