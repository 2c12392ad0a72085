//! Moves a service from SQLite and a data folder to PostgreSQL and an S3 bucket.
//!
//! The data folder is locked and only read, so the old service can be started again. The target is
//! empty, or has what the same move has brought there before it was interrupted; services do not
//! start on it until everything is there and was compared.

mod error;

use std::{
    fs::{File, OpenOptions},
    path::Path,
    time::{Duration, SystemTime},
};

pub use platen_storage::transfer::Amount;
use platen_storage::{
    PostgresOptions, PostgresStore, ServiceLock, Share,
    blobs::{Bucket, FileKind, FolderFiles},
    transfer::{Compared, Progress, RecordPlan, Start, Transfer},
};

pub use self::error::MoveError;
use crate::{config::Config, files, link_key};

/// How long the server may take to notice that a move or a service that was killed is gone.
const NOTICE: Duration = Duration::from_secs(5);
/// Files that are moved before it is noted that they were.
const FILES: usize = 256;

/// How to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveOptions {
    /// Replaces the character NUL in texts, which PostgreSQL cannot store.
    pub replaces_nul: bool,
    /// Discards what an unfinished move has brought into the database.
    pub from_start: bool,
}

/// What a move would do.
#[derive(Clone, Debug)]
pub struct MovePlan {
    /// What would be moved.
    pub amounts: Vec<Amount>,
    /// What keeps it from being moved.
    pub obstacles: Vec<MoveObstacle>,
    /// What the operator should know.
    pub notes: Vec<String>,
}

/// What keeps a move from beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveObstacle {
    /// What it is.
    pub what: String,
    /// What an operator can do.
    pub hint: Option<&'static str>,
}

/// What was moved and compared.
#[derive(Clone, Debug)]
pub struct MoveReport {
    /// Tables, of both databases.
    pub tables: Vec<Compared>,
    /// Whether all was moved before, so that nothing was compared.
    pub was_finished: bool,
    /// Files that are the same in both places.
    pub files: Vec<Amount>,
    /// Files that were damaged in the data folder, and stayed there.
    pub damaged: Vec<String>,
    /// What the operator should know.
    pub notes: Vec<String>,
}

/// A source that nobody changes, and a target that nobody else uses.
struct Move<'c> {
    config: &'c Config,
    bucket: Option<Bucket>,
    transfer: Transfer,
    /// Where files go.
    files: String,
    now: SystemTime,
    _source_lock: File,
    _target_lock: ServiceLock,
}

/// Says what would be moved, and what stands in the way.
///
/// # Errors
/// The source cannot be read.
pub async fn plan(config: &Config) -> Result<MovePlan, MoveError> {
    let folder = config.database_folder();
    let mut obstacles = Vec::new();
    let mut note = |error: &MoveError| {
        obstacles.push(MoveObstacle {
            what: platen_render::chain(error),
            hint: error.hint(),
        });
    };
    if !folder.join(DATABASE).is_file() {
        return Err(MoveError::NoSource(folder.to_owned()));
    }
    if let Err(error) = lock_source(folder) {
        note(&error);
    }
    let records = Transfer::plan(folder)?;
    if let Some(error) = nul(&records, false) {
        note(&error);
    }
    let mut amounts = records.amounts;
    if config.shares_files() {
        amounts.extend(count_files(folder, SystemTime::now())?);
    }
    let mut notes = notes(config);
    match look(config).await {
        // It was said above.
        Err(MoveError::InUse(_)) => {}
        Err(error) => note(&error),
        Ok(Some(state)) => notes.push(state.to_owned()),
        Ok(None) => {}
    }
    Ok(MovePlan {
        amounts,
        obstacles,
        notes,
    })
}

/// What there is to say about a target, which stays as it is.
async fn look(config: &Config) -> Result<Option<&'static str>, MoveError> {
    let Some(url) = &config.database.url else {
        return Err(MoveError::NoTarget);
    };
    let versions = PostgresStore::schema_versions(url, &options(config)).await?;
    if versions.found < versions.known {
        if let Some(bucket) = files::bucket(config)? {
            require_empty(config, &bucket)?;
        }
        return Ok((versions.found > 0).then_some(
            "the target has tables of an earlier version: whether they are empty is checked by the \
             move, which migrates them",
        ));
    }
    Ok(match Move::open(config).await?.admit().await? {
        None => None,
        Some((_, false)) => {
            Some("an unfinished move is there already: the next one goes on with it")
        }
        Some((_, true)) => Some("this was moved before"),
    })
}

/// Moves what is not yet in the target, and compares everything. `progress` is told what was moved,
/// and how many more of it.
///
/// # Errors
/// See [`MoveError`]; the same call goes on where this one ended.
pub async fn run(
    config: &Config,
    options: MoveOptions,
    mut progress: impl FnMut(&'static str, u64),
) -> Result<MoveReport, MoveError> {
    let opened = Move::open(config).await?;
    let MoveOptions {
        replaces_nul,
        from_start,
    } = options;
    if from_start && matches!(opened.transfer.progress().await?, Progress::Begun(_)) {
        opened.transfer.forget().await?;
    }
    let start = match opened.admit().await? {
        Some((_, true)) => {
            return Ok(MoveReport {
                tables: Vec::new(),
                was_finished: true,
                files: Vec::new(),
                damaged: Vec::new(),
                notes: notes(config),
            });
        }
        Some((start, false)) => start,
        None => {
            let records = Transfer::plan(config.database_folder())?;
            if let Some(error) = nul(&records, replaces_nul) {
                return Err(error);
            }
            let start = Start {
                source: opened.transfer.fingerprint()?,
                files: opened.files.clone(),
                replaces_nul,
            };
            opened.transfer.begin(&start).await?;
            start
        }
    };
    opened
        .transfer
        .run(start.replaces_nul, &mut progress)
        .await?;
    let damaged = opened.send_files(&mut progress).await?;
    let report = opened.compare(start.replaces_nul, damaged).await?;
    opened.transfer.finish().await?;
    Ok(report)
}

/// Compares source and target.
///
/// # Errors
/// See [`MoveError`].
pub async fn verify(config: &Config) -> Result<MoveReport, MoveError> {
    let opened = Move::open(config).await?;
    match opened.transfer.progress().await? {
        Progress::Empty | Progress::Foreign(_) => Err(MoveError::NotBegun),
        Progress::Begun(start) | Progress::Finished(start) => {
            opened.compare(start.replaces_nul, Vec::new()).await
        }
    }
}

/// The database in a data folder.
const DATABASE: &str = "platen.db";

impl<'c> Move<'c> {
    async fn open(config: &'c Config) -> Result<Self, MoveError> {
        let folder = config.database_folder();
        let Some(url) = &config.database.url else {
            return Err(MoveError::NoTarget);
        };
        let source_lock = lock_source(folder)?;
        let bucket = files::bucket(config)?;
        let options = options(config);
        let lock = ServiceLock::acquire(url, &options, Share::Exclusive, NOTICE).await?;
        let transfer = Transfer::open(folder, url, &options).await?;
        let s3 = &config.s3;
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let place = [&s3.endpoint, &s3.bucket, &s3.prefix].map(text);
        Ok(Self {
            config,
            bucket,
            transfer,
            files: place.join(" "),
            now: SystemTime::now(),
            _source_lock: source_lock,
            _target_lock: lock,
        })
    }

    /// Checks that the target is empty (`None`), or has this move, and whether that has finished.
    async fn admit(&self) -> Result<Option<(Start, bool)>, MoveError> {
        match self.transfer.progress().await? {
            Progress::Foreign(table) => return Err(MoveError::HasRecords(table)),
            Progress::Finished(start) if start.source == self.transfer.fingerprint()? => {
                return Ok(Some((start, true)));
            }
            Progress::Finished(_) => return Err(MoveError::OtherFinished),
            Progress::Begun(start) if start.source != self.transfer.fingerprint()? => {
                let reason = "from another data folder, or from this one before it changed";
                return Err(MoveError::OtherMove(reason));
            }
            Progress::Begun(start) if start.files != self.files => {
                return Err(MoveError::OtherMove("whose files went to another place"));
            }
            Progress::Begun(start) => return Ok(Some((start, false))),
            Progress::Empty => {}
        }
        if let Some(bucket) = &self.bucket {
            require_empty(self.config, bucket)?;
        }
        Ok(None)
    }

    fn list(&self, kind: FileKind) -> Result<FolderFiles, MoveError> {
        Ok(FolderFiles::list(
            self.config.database_folder(),
            kind,
            self.now,
        )?)
    }

    /// Returns the names of the files that are damaged.
    async fn send_files(
        &self,
        progress: &mut impl FnMut(&'static str, u64),
    ) -> Result<Vec<String>, MoveError> {
        let mut damaged = Vec::new();
        let Some(bucket) = &self.bucket else {
            return Ok(damaged);
        };
        let folder = self.config.database_folder();
        if self.config.s3.link_secret.is_none() && !link_key::copy(bucket, folder)? {
            return Err(MoveError::OtherKey);
        }
        for kind in FileKind::ALL {
            let Some(after) = self.transfer.files_after(kind.name()).await? else {
                continue;
            };
            let files = self.list(kind)?;
            let rest = files.entries.iter();
            let done = rest.take_while(|entry| after.as_deref() >= Some(&*entry.name));
            for batch in files.entries[done.count()..].chunks(FILES) {
                damaged.extend(files.send(bucket, batch)?);
                if let Some(last) = batch.last() {
                    let last = Some(&*last.name);
                    self.transfer.note_files(kind.name(), last).await?;
                }
                progress(kind.name(), batch.len() as u64);
            }
            if kind == FileKind::Results {
                files.send_index(bucket)?;
            }
            self.transfer.note_files(kind.name(), None).await?;
        }
        Ok(damaged)
    }

    async fn compare(
        &self,
        replaces_nul: bool,
        damaged: Vec<String>,
    ) -> Result<MoveReport, MoveError> {
        let tables = self.transfer.compare(replaces_nul).await?;
        if let Some(other) = tables.iter().find(|table| !table.is_same()) {
            let what = match &other.difference {
                Some(found) => format!("`{}`: {} {}", other.name, found.key, found.what),
                None => format!("`{}`", other.name),
            };
            return Err(MoveError::Differs(what));
        }
        let mut amounts = Vec::new();
        if let Some(bucket) = &self.bucket {
            for kind in FileKind::ALL {
                let files = self.list(kind)?;
                let others = files.compare(bucket, &files.entries)?;
                if let Some(name) = others.first() {
                    let (kind, count) = (kind.name(), others.len());
                    let what = format!("{count} of the {kind}, such as `{name}`");
                    return Err(MoveError::Differs(what));
                }
                amounts.push(amount(kind, &files));
            }
        }
        Ok(MoveReport {
            tables,
            was_finished: false,
            files: amounts,
            damaged,
            notes: notes(self.config),
        })
    }
}

fn options(config: &Config) -> PostgresOptions {
    PostgresOptions {
        ca_file: config.database.ca_file.clone(),
        ..PostgresOptions::default()
    }
}

/// Checks that the bucket has nothing that a move would write, apart from the same key of links.
fn require_empty(config: &Config, bucket: &Bucket) -> Result<(), MoveError> {
    if let Some(key) = bucket.first_used()? {
        return Err(MoveError::HasObjects(key));
    }
    let has_secret = config.s3.link_secret.is_some();
    match !has_secret && link_key::is_other(bucket, config.database_folder())? {
        true => Err(MoveError::OtherKey),
        false => Ok(()),
    }
}

/// Locks the data folder against services.
fn lock_source(folder: &Path) -> Result<File, MoveError> {
    if !folder.join(DATABASE).is_file() {
        return Err(MoveError::NoSource(folder.to_owned()));
    }
    let mut options = OpenOptions::new();
    // A folder that was restored has none yet.
    let lock = options.create(true).truncate(false).write(true);
    let lock = lock.open(folder.join("platen.lock"));
    let lock = lock.map_err(|error| MoveError::Folder(folder.to_owned(), error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(_) => Err(MoveError::InUse(folder.to_owned())),
    }
}

fn amount(kind: FileKind, files: &FolderFiles) -> Amount {
    Amount {
        name: kind.name().to_owned(),
        count: files.entries.len() as u64,
        bytes: files.entries.iter().map(|entry| entry.size_bytes).sum(),
    }
}

fn count_files(folder: &Path, now: SystemTime) -> Result<Vec<Amount>, MoveError> {
    let amounts = FileKind::ALL.iter().map(|kind| {
        let files = FolderFiles::list(folder, *kind, now)?;
        Ok(amount(*kind, &files))
    });
    amounts.collect()
}

/// Texts that cannot be moved.
fn nul(records: &RecordPlan, replaces_nul: bool) -> Option<MoveError> {
    let replaceable = records.replaceable.iter().filter(|_| !replaces_nul);
    let texts = records.irreplaceable.iter().chain(replaceable);
    let texts: Vec<String> = texts
        .map(|(column, count)| format!("{count} in `{column}`"))
        .collect();
    (!texts.is_empty()).then(|| MoveError::Nul(texts.join(", ")))
}

fn notes(config: &Config) -> Vec<String> {
    let mut notes = Vec::new();
    let has_key = config.database_folder().join(link_key::NAME).exists();
    if !config.shares_files() {
        notes.push(
            "S3_BUCKET is not set: files stay in the data folder, which the new service needs"
                .to_owned(),
        );
    } else if config.s3.link_secret.is_some() && has_key {
        notes.push(
            "LINK_SECRET is set: links that were made with `link.key` of the data folder stop \
             working; without LINK_SECRET that key is moved"
                .to_owned(),
        );
    }
    notes
}
