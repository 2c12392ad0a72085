//! The converter: a job is looked at, given to a process, its result made stable and handed over.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use platen_pool::{Attempt, Isolation, JobError, Key, Launcher, Pool, Request, Snapshot};
use platen_urp::{Conversion, Input, Output, Phases, Property};
use sha2::{Digest, Sha256};

use crate::{
    Config, Detected, Error, Installation,
    detect::{Inspected, inspect},
    find_libreoffice,
    format::Target,
    given::{self, Given},
    job::{Body, Document, Job, Source, Times},
    reading::Reading,
    soffice::{Soffice, Worker},
    stable,
};

/// What a converter is doing.
#[derive(Clone, Debug)]
pub struct Status {
    /// The version that was started last, such as `7.4.7.2`.
    pub version: Option<String>,
    /// Numbers of the pool.
    pub pool: Snapshot,
    /// What its processes cannot reach.
    pub isolation: Isolation,
}

/// A converter of documents: a pool of LibreOffice processes.
pub struct Office {
    pool: Pool<Soffice>,
    config: Config,
}

/// A result of a PDF larger than this is not made stable, and stays in its file.
const MAX_STABLE_BYTES: u64 = 256 << 20;

/// Results up to this are held in memory.
const MAX_HELD_BYTES: u64 = 8 << 20;

/// Larger documents are looked at off the threads of the runtime.
const INLINE_BYTES: usize = 256 << 10;

/// Left of the deadline for what comes after LibreOffice.
const MARGIN: Duration = Duration::from_millis(100);

/// What LibreOffice says of the wrong password for a text of Word 97 to 2003, which it does not ask for again.
const WRONG_PASSWORD: i32 = 0x1_000f;
/// What it says of damage, when it was told the format: general error of input and output, loading failed, and all of
/// the classes of reading and of wrong formats (`vcl/errcode.hxx`).
const GENERAL_ERROR: i32 = 0x20d;
const LOAD_FAILED: i32 = 0x4039;
const CLASS_READ: i32 = 0x0b;
const CLASS_FORMAT: i32 = 0x0e;

/// What is known of a document before LibreOffice has it.
#[derive(Clone, Copy)]
struct Known {
    is_encrypted: bool,
    has_password: bool,
}

impl Office {
    /// A converter whose temporary folders are made in `parent`. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The temporary folder cannot be made.
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
        })
    }

    /// The installed LibreOffice.
    ///
    /// # Errors
    /// There is none.
    pub fn installation(&self) -> Result<Installation, Error> {
        let found = find_libreoffice(self.config.program.as_deref());
        found.map_err(|error| Error::NotInstalled(Arc::new(error)))
    }

    /// What it is told.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What it is doing.
    #[must_use]
    pub fn status(&self) -> Status {
        Status {
            version: self.pool.kind().version(),
            pool: self.pool.snapshot(),
            isolation: self.pool.isolation(),
        }
    }

    /// Waits until a process is ready; false if none is in time.
    pub async fn warm(&self, timeout: Duration) -> bool {
        self.pool.warm(timeout).await
    }

    /// Ends all processes; jobs get `drain` to end by themselves.
    pub async fn shutdown(&self, drain: Duration) {
        self.pool.shutdown(drain).await;
    }

    /// Converts a document.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn convert(&self, job: Job) -> Result<Document, Error> {
        let begin = Instant::now();
        self.installation()?;
        let (inspected, key) = match &job.source {
            Source::Bytes(bytes) if bytes.len() <= INLINE_BYTES => look(&job, &self.config)?,
            // A file may be slow, and all of it is read.
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
        let (filter, filter_options) = impossible(&detected, job.target)?;
        let mut times = Times {
            detect: begin.elapsed(),
            ..Times::default()
        };
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
        let request = Request {
            lane: job.lane,
            timeout: job.timeout.saturating_sub(begin.elapsed()),
            key: Some(key),
        };
        let limit = self.config.max_result_bytes;
        let name = job.name.as_deref().map(|it| harmless(it, &detected));
        let source = Given {
            source: job.source.clone(),
            patch: patch.map(Arc::new),
            is_seen: !self.pool.isolation().files,
        };
        let done = self.pool.run(request, |worker, attempt| {
            let (conversion, source) = (conversion.clone(), source.clone());
            let name = name.clone();
            let work = run(worker, attempt, source, name, conversion, job.target, limit);
            Box::pin(async move {
                let timeout = job.timeout;
                work.await.map_err(|error| in_words(error, known, timeout))
            })
        });
        let done = done.await.map_err(Error::of_pool)?;
        (times.wait, times.phases) = (done.waited, done.phases);
        let finishing = Instant::now();
        let body = finish(done.body, &job).await?;
        times.finish = finishing.elapsed();
        times.total = begin.elapsed();
        let size_bytes = match &body {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::File(file) => file.metadata().map_err(Error::Output)?.len(),
        };
        Ok(Document {
            body,
            size_bytes,
            target: job.target,
            detected,
            times,
        })
    }
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

/// What the input is, and what tells it from others: its content, the target, the options.
fn look(job: &Job, config: &Config) -> Result<(Inspected, Key), Error> {
    let name = job.name.as_deref();
    match &job.source {
        Source::Bytes(bytes) => {
            let size = bytes.len() as u64;
            look_at(&mut io::Cursor::new(bytes), size, name, job, config)
        }
        Source::File(file) => {
            let size = file.metadata().map_err(Error::Input)?.len();
            look_at(&mut Reading::new(file), size, name, job, config)
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
    let mut piece = vec![0; 64 << 10];
    loop {
        match file.read(&mut piece).map_err(Error::Input)? {
            0 => break,
            count => hash.update(&piece[..count]),
        }
    }
    Ok((inspected, Key(hash.finalize().into())))
}

struct Done {
    body: Body,
    phases: Phases,
    waited: Duration,
}

enum Failed {
    Urp(platen_urp::Error),
    Output(io::Error),
    TooLarge(u64),
}

async fn run(
    worker: &mut Worker,
    attempt: Attempt,
    given: Given,
    name: Option<String>,
    mut conversion: Conversion,
    target: Target,
    limit_bytes: u64,
) -> Result<Done, Failed> {
    let left = attempt.deadline.saturating_duration_since(Instant::now());
    conversion.timeout = Some(left.saturating_sub(MARGIN));
    worker.jobs += 1;
    let folder = worker.folder.join(format!("job-{}", worker.jobs));
    // No document has a name that begins so.
    let result = folder.join(format!(".result.{}", target.extension()));
    std::fs::create_dir(&folder).map_err(Failed::Output)?;
    let folder = RemoveOnDrop(folder);
    let input = given.place(&folder.0, name.as_deref()).await;
    let input = input.map_err(Failed::Output)?;
    let (input, output) = (Input::Path(input), Output::Path(result.clone()));
    let converted = worker.client.convert(input, output, &conversion).await;
    let taken = match converted {
        Ok(converted) => take(&result, limit_bytes).map(|body| (body, converted.phases)),
        Err(error) => Err(Failed::Urp(error)),
    };
    drop(folder);
    let (body, phases) = taken?;
    Ok(Done {
        body,
        phases,
        waited: attempt.waited,
    })
}

/// Removes the folder of a job.
struct RemoveOnDrop(PathBuf);

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        // What is left goes with the folder of the process.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The name as LibreOffice shows it in fields, and gives it to the sheet of a CSV file; only what is harmless.
fn harmless(name: &str, detected: &Detected) -> String {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let kept = |text: &str, most: usize| -> String {
        let known = |it: &char| it.is_alphanumeric() || " -_".contains(*it);
        text.chars().filter(known).take(most).collect()
    };
    let (stem, extension) = (kept(stem, 60), kept(extension, 10));
    let stem = match stem.trim() {
        "" => given::NAMELESS,
        stem => stem,
    };
    match extension.trim() {
        "" => stem.to_owned(),
        // LibreOffice asks whether a text that has the name of a workbook may be opened.
        _ if detected.is_plain_sheet() => stem.to_owned(),
        extension => format!("{stem}.{extension}"),
    }
}

/// Takes a result over; its name goes, so that nothing is left whatever happens.
fn take(path: &Path, limit_bytes: u64) -> Result<Body, Failed> {
    let file = File::open(path).map_err(Failed::Output)?;
    let size = file.metadata().map_err(Failed::Output)?.len();
    if size > limit_bytes {
        return Err(Failed::TooLarge(limit_bytes));
    }
    match size > MAX_HELD_BYTES {
        true => Ok(Body::File(file)),
        false => std::fs::read(path)
            .map(|bytes| Body::Bytes(bytes.into()))
            .map_err(Failed::Output),
    }
}

/// What failed, in words of documents, and what it means for the process.
fn in_words(failed: Failed, known: Known, timeout: Duration) -> JobError<Error> {
    use platen_urp::Error as Urp;
    let error = match failed {
        Failed::Urp(error) => error,
        Failed::Output(error) => return JobError::replace(Error::Output(error)),
        Failed::TooLarge(limit_bytes) => {
            return JobError::sound(Error::ResultTooLarge { limit_bytes });
        }
    };
    let text = error.to_string();
    match error {
        Urp::PasswordNeeded => JobError::sound(Error::PasswordNeeded),
        Urp::PasswordWrong => JobError::sound(Error::PasswordWrong),
        Urp::Broken => JobError::sound(Error::Damaged),
        Urp::NotLoaded { code } => JobError::sound(not_loaded(code, known, text)),
        Urp::UnknownFormat(_) | Urp::Missing(_) => JobError::sound(Error::NotLoaded(text)),
        Urp::NotStored(message) => JobError::sound(Error::NotStored(message)),
        Urp::Input(error) => JobError::sound(Error::Input(error)),
        Urp::Output(error) => JobError::sound(Error::Output(error)),
        Urp::Timeout { phase, .. } => JobError::replace(Error::Timeout {
            timeout,
            phase: Some(phase_name(phase)),
        }),
        Urp::Silent(_) => JobError::replace(Error::Timeout {
            timeout,
            phase: None,
        }),
        Urp::Closed(_) | Urp::Connect { .. } => JobError::died(Error::Conversation(error)),
        Urp::Exception(exception) if exception.name.ends_with("DisposedException") => {
            JobError::died(Error::NotLoaded(text))
        }
        error => JobError::replace(Error::Conversation(error)),
    }
}

/// Why LibreOffice did not open a document whose format it was told.
fn not_loaded(code: Option<i32>, known: Known, text: String) -> Error {
    match code {
        _ if known.is_encrypted && !known.has_password => Error::PasswordNeeded,
        Some(WRONG_PASSWORD) => match known.has_password {
            true => Error::PasswordWrong,
            false => Error::PasswordNeeded,
        },
        _ if known.is_encrypted => Error::NotLoaded(
            "it is encrypted in a way that this version does not know; save it without a password"
                .to_owned(),
        ),
        Some(code) if is_damage(code) => Error::Damaged,
        _ => Error::NotLoaded(text),
    }
}

fn is_damage(code: i32) -> bool {
    let class = code >> 8 & 0x1f;
    matches!(code, GENERAL_ERROR | LOAD_FAILED) || matches!(class, CLASS_READ | CLASS_FORMAT)
}

fn phase_name(phase: platen_urp::Phase) -> &'static str {
    use platen_urp::Phase;
    match phase {
        Phase::Put => "put",
        Phase::Load => "load",
        Phase::Store => "store",
        Phase::Get => "get",
        Phase::Close => "close",
    }
}

/// Makes a PDF stable, off the threads of the runtime.
async fn finish(body: Body, job: &Job) -> Result<Body, Error> {
    let wanted = job.stable && job.target == Target::Pdf && !job.options.encrypts();
    if !wanted {
        return Ok(body);
    }
    let work = move || -> io::Result<Body> {
        let bytes = match body {
            Body::Bytes(bytes) => bytes,
            Body::File(mut file) => {
                if file.metadata()?.len() > MAX_STABLE_BYTES {
                    return Ok(Body::File(file));
                }
                let mut bytes = Vec::new();
                io::Read::read_to_end(&mut file, &mut bytes)?;
                bytes.into()
            }
        };
        Ok(Body::Bytes(match stable::pdf(&bytes) {
            Some(stable) => stable.into(),
            None => bytes,
        }))
    };
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| Error::Output(io::Error::other(error)))?;
    done.map_err(Error::Output)
}
