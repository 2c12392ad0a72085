//! The converter: examines a job, runs it on a process, and makes the result deterministic.

use std::{
    fs::File,
    io::{self, BufWriter, IntoInnerError},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use platen_content::Content;
use platen_pool::{Isolation, JobError, Key, Lane, Origin, Pool, Request, Snapshot, Spawner};
use platen_urp::{Conversion, Property};
use sha2::{Digest, Sha256};
use tracing::{Instrument as _, field::Empty};

use crate::{
    Config, Detected, Error,
    crash_report::{CrashReport, Report, Work},
    detect::{Inspected, inspect},
    deterministic,
    export_filter::{ExportFilter, ExportFilters, LIST_TIMEOUT},
    find_libreoffice_in,
    format::{Format, Target},
    job::{Document, Job, Source, Times},
    options::Io,
    outcome::{Known, job_error},
    soffice::Soffice,
    staged_input::{self, StagedInput},
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
    filters: Mutex<Option<Arc<ExportFilters>>>,
}

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
            filters: Mutex::default(),
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

    /// The export filters of the LibreOffice in use: of the last process started, where their
    /// versions differ. Starts one if none runs.
    ///
    /// # Errors
    /// LibreOffice cannot be asked.
    pub fn export_filters(
        &self,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Arc<ExportFilters>, Error>> {
        Box::pin(async move {
            let version = self.pool.driver().version();
            let listed = self.filters.lock().clone();
            if let Some(listed) = listed.filter(|it| Some(&it.version) == version.as_ref()) {
                return Ok(listed);
            }
            self.check_installed()?;
            let request = Request {
                lane: Lane::Interactive,
                timeout: timeout.min(LIST_TIMEOUT),
                key: None,
            };
            let listed = self.pool.run(request, |worker, _| {
                Box::pin(async move {
                    let listed = ExportFilters::of(&worker.client).await;
                    listed.map_err(|error| JobError::crashed(Error::Conversation(error)))
                })
            });
            let listed = Arc::new(listed.await.map_err(Error::of_pool)?);
            *self.filters.lock() = Some(Arc::clone(&listed));
            Ok(listed)
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
        let io = self.io(job.options.io)?;
        // Files may be slow to read, and a few bytes may be packed a thousand times.
        let looking = (job.clone(), self.config.clone());
        let looked = tokio::task::spawn_blocking(move || look(&looking.0, &looking.1)).await;
        let (inspected, key) = looked.map_err(|error| Error::Input(io::Error::other(error)))??;
        let known = Known {
            is_encrypted: inspected.is_encrypted,
            is_encrypted_package: inspected.is_encrypted_package,
            has_password: job.options.password.is_some(),
        };
        let mut times = Times {
            detect: begin.elapsed(),
            ..Times::default()
        };
        let chosen = match &job.options.filter {
            None => Chosen::of_target(&inspected.detected, job.target)?,
            Some(name) => {
                let left = job.timeout.saturating_sub(begin.elapsed());
                let filters = self.export_filters(left).await?;
                Chosen::of_filter(filters.find_for(name, inspected.detected.family)?)
            }
        };
        let mut conversion = conversion(&job, &inspected, &chosen);
        let Inspected {
            detected, patch, ..
        } = inspected;
        let source = StagedInput {
            source: job.source.clone(),
            patch: patch.map(Arc::new),
            is_seen: self.pool.isolation().opens_others(),
        };
        let document_bytes = source.size_bytes();
        let report = self.report.clone();
        let work = Work::new(report, document_bytes, &detected, chosen.format.clone());
        conversion.stage = work.stage.clone();
        let task = Task {
            conversion,
            source,
            name: job.name.as_deref().map(|it| harmless(it, &detected)),
            work,
            limit_bytes: self.config.max_result_bytes,
            io,
        };
        let done = self.run(&job, begin, key, known, &task).await?;
        (times.wait, times.phases) = (done.waited, done.phases);
        let finishing = Instant::now();
        let body = finish(done.body, &job, &chosen.format, self.pool.spawner()).await?;
        times.finish = finishing.elapsed();
        times.total = begin.elapsed();
        let size_bytes = body.size_bytes();
        Ok(Document {
            body,
            size_bytes,
            format: chosen.format,
            detected,
            times,
        })
    }

    /// How documents travel. LibreOffice that others start has no folder in common with this process.
    fn io(&self, wanted: Option<Io>) -> Result<Io, Error> {
        let is_here = matches!(self.pool.spawner().origin(), Origin::Here(_));
        match wanted {
            None if is_here => Ok(Io::File),
            None | Some(Io::Stream) => Ok(Io::Stream),
            Some(io) if is_here => Ok(io),
            Some(_) => {
                let problem = "LibreOffice runs elsewhere and sees no files of this machine; only stream works";
                Err(Error::bad_option("io", problem))
            }
        }
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

/// The export filter of a job.
struct Chosen {
    filter: String,
    /// Its options as one text.
    options: Option<&'static str>,
    format: Format,
}

impl Chosen {
    fn of_target(detected: &Detected, target: Target) -> Result<Self, Error> {
        let (filter, options) = target.filter(detected.family).ok_or(Error::Impossible {
            from: detected.family.name(),
            to: target.extension(),
        })?;
        Ok(Self {
            filter: filter.to_owned(),
            options,
            format: target.into(),
        })
    }

    fn of_filter(filter: &ExportFilter) -> Self {
        Self {
            filter: filter.name.clone(),
            options: None,
            format: filter.format.clone(),
        }
    }
}

/// The request to LibreOffice.
fn conversion(job: &Job, inspected: &Inspected, chosen: &Chosen) -> Conversion {
    let detected = &inspected.detected;
    let mut conversion = Conversion {
        filter: chosen.filter.clone(),
        filter_data: job.options.filter_data(&chosen.format),
        store: job.options.store(&chosen.format),
        import_filter: Some(detected.filter.to_owned()),
        import_filter_otherwise: detected.otherwise.map(str::to_owned),
        password: job.options.password.clone(),
        repair: job.options.repair,
        update_indexes: job.options.update_indexes,
        landscape: job.options.landscape,
        ..Conversion::default()
    };
    if inspected.has_jpeg_only {
        (job.options).keep_pictures(&chosen.format, &mut conversion.filter_data);
    }
    let option = |text: &str| Property::new("FilterOptions", text);
    let filter_options = job.options.filter_options(chosen.options);
    conversion.store.extend(filter_options.map(option));
    let load_options = detected.filter_options.as_deref();
    conversion.load.extend(load_options.map(option));
    conversion
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

/// Makes a PDF deterministic, on a blocking thread. One in a file stays in a file.
async fn finish(
    body: Content,
    job: &Job,
    format: &Format,
    spawner: &Spawner,
) -> Result<Content, Error> {
    let wanted = job.deterministic && format.is_pdf() && !job.options.encrypts();
    if !wanted {
        return Ok(body);
    }
    let folder = spawner.place().to_owned();
    let work = move || -> io::Result<Content> {
        let Some(pdf) = deterministic::read(&body) else {
            return Ok(body);
        };
        match &body {
            Content::Held(bytes) => {
                let mut made = Vec::with_capacity(bytes.len());
                pdf.write(&body, &mut made)?;
                Ok(made.into())
            }
            Content::Spooled(_) => {
                let mut file = BufWriter::new(staged_input::spool(&folder)?);
                pdf.write(&body, &mut file)?;
                Content::of_file(file.into_inner().map_err(IntoInnerError::into_error)?)
            }
        }
    };
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| Error::Output(io::Error::other(error)))?;
    done.map_err(Error::Output)
}
