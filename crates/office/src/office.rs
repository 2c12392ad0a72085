//! The converter: examines a job, runs it on a process, and makes the result deterministic.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use futures_core::future::BoxFuture;
use platen_content::Content;
use platen_pool::{Attempt, Isolation, Key, Launcher, Pool, Request, Snapshot};
use platen_urp::{Authors, Conversion, Input, Output, Phases, Property};
use sha2::{Digest, Sha256};
use tracing::{Instrument as _, field::Empty};

use crate::{
    Config, Detected, Error, Installation,
    crash_report::{CrashReport, Report, Work},
    detect::{Inspected, inspect},
    deterministic, find_libreoffice,
    format::{Family, Target},
    job::{Document, Job, Source, Times},
    outcome::{Failed, Known, is_crash, job_error},
    soffice::{Soffice, Worker},
    staged_input::{self, StagedInput},
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

/// Larger results stay in a file instead of memory. In bytes.
const MAX_HELD_BYTES: u64 = 8 << 20;

/// Larger documents are examined on a blocking thread. In bytes.
const INLINE_BYTES: usize = 256 << 10;

/// Time reserved for the steps after LibreOffice.
const MARGIN: Duration = Duration::from_millis(100);

impl Office {
    /// Creates a converter with temporary folders below `parent`. Must be called within a tokio
    /// runtime.
    ///
    /// # Errors
    /// The temporary folder cannot be created.
    pub fn new(
        config: Config,
        launcher: Arc<dyn Launcher>,
        parent: impl Into<PathBuf>,
    ) -> io::Result<Self> {
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
            pool: Pool::new(kind, pool, launcher, parent)?,
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

    /// Finds the installed LibreOffice.
    ///
    /// # Errors
    /// There is none.
    pub fn installation(&self) -> Result<Installation, Error> {
        let found = find_libreoffice(self.config.program.as_deref());
        found.map_err(|error| Error::NotInstalled(Arc::new(error)))
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
        self.installation()?;
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
                let running = run(worker, attempt, task.clone());
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

/// A task for a process.
#[derive(Clone)]
struct Task {
    conversion: Conversion,
    source: StagedInput,
    name: Option<String>,
    work: Work,
    limit_bytes: u64,
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

/// The folder of a job, the same for each, because documents can show where they are.
const JOB: &str = "job-current";

struct Done {
    body: Content,
    phases: Phases,
    waited: Duration,
}

/// Runs a task on a process. `None` if the process is unsuitable for the document.
async fn run(worker: &mut Worker, attempt: Attempt, task: Task) -> Result<Option<Done>, Failed> {
    let Task {
        mut conversion,
        source,
        name,
        work,
        limit_bytes,
    } = task;
    let left = attempt.deadline.saturating_duration_since(Instant::now());
    conversion.timeout = Some(left.saturating_sub(MARGIN));
    worker.jobs += 1;
    let folder = worker.jobs_in.join(JOB);
    // No staged document has a name that starts with a dot.
    let name_of_result = format!(".result.{}", work.target.extension());
    let result = folder.join(&name_of_result);
    // An earlier job may have left what could not be removed then.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).map_err(Failed::Output)?;
    let folder = RemoveOnDrop(folder);
    let input = source.place(&folder.0, name.as_deref()).await;
    let input = input.map_err(Failed::Output)?;
    // The same place by the name that LibreOffice knows it by.
    let seen = worker.jobs_seen_in.join(JOB);
    let input = match input.strip_prefix(&folder.0) {
        Ok(name) => seen.join(name),
        Err(_) => input,
    };
    let (input, output) = (Input::Path(input), Output::Path(seen.join(name_of_result)));
    let is_text = work.family == Family::Text;
    conversion.authors = match worker.knows_authors {
        _ if !is_text => Authors::Any,
        true => Authors::NoChanges,
        false => Authors::Tell,
    };
    work.begins(worker.process.clone(), attempt.number);
    let converted = worker.client.convert(input, output, &conversion).await;
    worker.knows_authors |= work.stage.has_authors();
    let taken = match converted {
        Ok(converted) => take(&result, limit_bytes).map(|body| (body, converted.phases)),
        Err(platen_urp::Error::HasChanges) => {
            worker.is_spent = true;
            return Ok(None);
        }
        Err(error) => Err(Failed::Urp(error)),
    };
    drop(folder);
    if let Err(Failed::Urp(error)) = &taken
        && is_crash(error)
    {
        work.process_ended().await;
    }
    let (body, phases) = taken?;
    Ok(Some(Done {
        body,
        phases,
        waited: attempt.waited,
    }))
}

/// The folder of a job, removed on drop.
struct RemoveOnDrop(PathBuf);

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        // Anything left is removed together with the folder of the process.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A safe version of the document's name. LibreOffice shows it in fields and uses it for the sheet
/// of a CSV file.
fn harmless(name: &str, detected: &Detected) -> String {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let kept = |text: &str, most: usize| -> String {
        let known = |it: &char| it.is_alphanumeric() || " -_".contains(*it);
        text.chars().filter(known).take(most).collect()
    };
    let (stem, extension) = (kept(stem, 60), kept(extension, 10));
    let stem = match stem.trim() {
        "" => staged_input::NAMELESS,
        stem => stem,
    };
    match extension.trim() {
        "" => stem.to_owned(),
        // LibreOffice asks whether to open a text with the name of a workbook.
        _ if detected.is_plain_sheet() => stem.to_owned(),
        extension => format!("{stem}.{extension}"),
    }
}

/// Opens a result. Its name is removed afterwards, so that nothing is left behind whatever happens.
fn take(path: &Path, limit_bytes: u64) -> Result<Content, Failed> {
    let file = File::open(path).map_err(Failed::Output)?;
    let size = file.metadata().map_err(Failed::Output)?.len();
    if size > limit_bytes {
        return Err(Failed::TooLarge(limit_bytes));
    }
    match size > MAX_HELD_BYTES {
        true => Content::of_file(file),
        false => std::fs::read(path).map(Content::from),
    }
    .map_err(Failed::Output)
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
