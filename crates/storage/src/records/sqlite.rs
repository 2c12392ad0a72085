//! Templates in SQLite: write-ahead log, `synchronous = FULL`, group commit.
//!
//! One thread writes: what waits is written in one transaction and acknowledged after its commit,
//! so that many writers share one flush. Readers have connections of their own.
//! Source: <https://sqlite.org/wal.html>, <https://sqlite.org/pragma.html#pragma_synchronous>.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread::JoinHandle,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, params};
use tokio::sync::oneshot;

use super::{
    NewVersion, StoreFuture, StoredTemplate, TemplatePage, TemplateStore, TemplateSummary,
    VersionInfo,
};
use crate::Error;

/// Writes that may wait; more are refused.
const MAX_WAITING: usize = 1024;
/// Writes that share one transaction.
const MAX_BATCH: usize = 128;
/// Idle connections kept for readers.
const MAX_READERS: usize = 16;
/// How long a connection waits for a lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Schemas in order; the database's `user_version` counts those applied.
const MIGRATIONS: [&str; 1] = ["
    CREATE TABLE templates (
        key TEXT PRIMARY KEY,
        -- NULL where the template is deleted; its numbers are not given again.
        current INTEGER,
        last INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE versions (
        key TEXT NOT NULL REFERENCES templates (key),
        version INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        name TEXT NOT NULL,
        note TEXT,
        restored_from INTEGER,
        created_unix_ms INTEGER NOT NULL,
        source BLOB NOT NULL,
        PRIMARY KEY (key, version)
    ) STRICT;
    ALTER TABLE templates ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
"];

type Work = Box<dyn FnOnce(&Transaction<'_>) -> Acknowledge + Send>;
type Acknowledge = Box<dyn FnOnce(Option<&rusqlite::Error>) + Send>;

/// Templates in a SQLite database.
pub struct SqliteStore {
    readers: Arc<Readers>,
    writer: Mutex<Option<mpsc::SyncSender<Work>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Readers {
    path: std::path::PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl SqliteStore {
    /// Opens the database `platen.db` in `folder`, making both where they are missing.
    ///
    /// # Errors
    /// Where the folder cannot be made, or the database is damaged or too new.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join("platen.db");
        let mut connection = Connection::open(&path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", "ON")?;
        migrate(&mut connection)?;
        let (sender, receiver) = mpsc::sync_channel(MAX_WAITING);
        let thread = std::thread::Builder::new()
            .name("platen-writer".to_owned())
            .spawn(move || write_batches(&mut connection, &receiver))?;
        Ok(Self {
            readers: Arc::new(Readers {
                path,
                idle: Mutex::default(),
            }),
            writer: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
        })
    }

    fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let readers = Arc::clone(&self.readers);
        Box::pin(async move {
            tokio::task::spawn_blocking(move || readers.with(work))
                .await
                .map_err(|_| Error::Closed)?
        })
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Error> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let (answer, wait) = oneshot::channel();
        let job: Work = Box::new(move |transaction| {
            let result = work(transaction);
            Box::new(move |failure| {
                let result = match failure {
                    None => result,
                    Some(error) => Err(commit_error(error)),
                };
                // The caller may have gone away; its write stands all the same.
                let _ = answer.send(result);
            })
        });
        let sent = match &*self.writer.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Err(Error::Closed),
            Some(writer) => writer.try_send(job).map_err(|error| match error {
                mpsc::TrySendError::Full(_) => Error::Busy,
                mpsc::TrySendError::Disconnected(_) => Error::Closed,
            }),
        };
        Box::pin(async move {
            sent?;
            wait.await.map_err(|_| Error::Closed)?
        })
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        let poisoned = PoisonError::into_inner;
        drop(self.writer.lock().unwrap_or_else(poisoned).take());
        if let Some(thread) = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            let _ = thread.join();
        }
    }
}

impl Readers {
    fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let connection = match idle {
            Some(connection) => connection,
            None => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let connection = Connection::open_with_flags(&self.path, flags)?;
                connection.busy_timeout(BUSY_TIMEOUT)?;
                connection
            }
        };
        let result = work(&connection);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_READERS {
            idle.push(connection);
        }
        result
    }
}

fn commit_error(error: &rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => Error::DiskFull,
        code => {
            let reason = code.map_or_else(|| error.to_string(), |code| format!("{code:?}"));
            Error::Database(rusqlite::Error::ToSqlConversionFailure(reason.into()))
        }
    }
}

fn migrate(connection: &mut Connection) -> Result<(), Error> {
    let known = MIGRATIONS.len() as u32;
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > known {
        return Err(Error::TooNew { found, known });
    }
    for migration in &MIGRATIONS[found as usize..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

/// Writes what waits, a transaction at a time, until the store is dropped.
fn write_batches(connection: &mut Connection, receiver: &mpsc::Receiver<Work>) {
    while let Ok(first) = receiver.recv() {
        let mut batch = vec![first];
        while batch.len() < MAX_BATCH {
            match receiver.try_recv() {
                Ok(work) => batch.push(work),
                Err(_) => break,
            }
        }
        let behavior = rusqlite::TransactionBehavior::Immediate;
        let mut acknowledgements = Vec::with_capacity(batch.len());
        let committed = connection
            .transaction_with_behavior(behavior)
            .and_then(|transaction| {
                acknowledgements.extend(batch.drain(..).map(|work| work(&transaction)));
                transaction.commit()
            });
        for acknowledge in acknowledgements {
            acknowledge(committed.as_ref().err());
        }
        // Where no transaction could begin, dropping the rest of the batch answers `Closed`.
    }
}

fn now_unix_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_millis() as i64)
}

/// Current version and generation of a template; the version is `None` where it is deleted.
fn state(connection: &Connection, key: &str) -> Result<Option<(Option<u32>, u32, u32)>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT current, last, generation FROM templates WHERE key = ?1")?;
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    Ok(statement.query_row([key], row).optional()?)
}

/// Last number and generation of a template whose current version is `expected`.
fn expect(connection: &Connection, key: &str, expected: u32) -> Result<(u32, u32), Error> {
    match state(connection, key)? {
        Some((Some(current), last, generation)) if current == expected => Ok((last, generation)),
        Some((Some(current), ..)) => Err(Error::Stale(current)),
        Some((None, ..)) | None => Err(Error::NotFound),
    }
}

fn insert(
    connection: &Connection,
    new: &NewVersion,
    version: u32,
    generation: u32,
    restored_from: Option<u32>,
) -> Result<VersionInfo, Error> {
    let created_unix_ms = now_unix_ms();
    connection
        .prepare_cached(
            "INSERT INTO templates (key, current, last, generation) VALUES (?1, ?2, ?2, ?3)
             ON CONFLICT (key) DO UPDATE SET current = ?2, last = ?2, generation = ?3",
        )?
        .execute(params![new.key, version, generation])?;
    connection
        .prepare_cached(
            "INSERT INTO versions
             (key, version, generation, name, note, restored_from, created_unix_ms, source)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            new.key,
            version,
            generation,
            new.name,
            new.note,
            restored_from,
            created_unix_ms,
            &*new.source
        ])?;
    Ok(VersionInfo {
        key: new.key.clone(),
        version,
        name: new.name.clone(),
        note: new.note.clone(),
        restored_from,
        created_unix_ms,
        size_bytes: new.source.len() as u64,
    })
}

/// Columns of [`info`].
const INFO: &str =
    "v.key, v.version, v.name, v.note, v.restored_from, v.created_unix_ms, length(v.source)";

fn info(row: &Row<'_>) -> rusqlite::Result<VersionInfo> {
    Ok(VersionInfo {
        key: row.get(0)?,
        version: row.get(1)?,
        name: row.get(2)?,
        note: row.get(3)?,
        restored_from: row.get(4)?,
        created_unix_ms: row.get(5)?,
        size_bytes: row.get::<_, i64>(6)? as u64,
    })
}

fn get(connection: &Connection, key: &str, version: Option<u32>) -> Result<StoredTemplate, Error> {
    // Versions from before a deletion belong to an older generation.
    let query = format!(
        "SELECT {INFO}, v.source FROM templates t
         JOIN versions v ON v.key = t.key AND v.version = ifnull(?2, t.current)
         WHERE t.key = ?1 AND t.current IS NOT NULL AND v.generation = t.generation"
    );
    let stored = |row: &Row<'_>| {
        Ok(StoredTemplate {
            info: info(row)?,
            source: Arc::from(row.get::<_, Vec<u8>>(7)?),
        })
    };
    connection
        .prepare_cached(&query)?
        .query_row(params![key, version], stored)
        .optional()?
        .ok_or(Error::NotFound)
}

impl TemplateStore for SqliteStore {
    fn list(&self, after: Option<String>, limit: u32) -> StoreFuture<'_, TemplatePage> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT t.key, v.name, v.version, v.created_unix_ms FROM templates t
                 JOIN versions v ON v.key = t.key AND v.version = t.current
                 WHERE t.key > ?1 ORDER BY t.key LIMIT ?2",
            )?;
            let rows = statement.query_map(
                params![after.unwrap_or_default(), limit.saturating_add(1)],
                |row| {
                    Ok(TemplateSummary {
                        key: row.get(0)?,
                        name: row.get(1)?,
                        version: row.get(2)?,
                        updated_unix_ms: row.get(3)?,
                    })
                },
            )?;
            let mut templates: Vec<TemplateSummary> = rows.collect::<rusqlite::Result<_>>()?;
            let more = templates.len() > limit as usize;
            templates.truncate(limit as usize);
            Ok(TemplatePage { templates, more })
        })
    }

    fn get(&self, key: String, version: Option<u32>) -> StoreFuture<'_, StoredTemplate> {
        self.read(move |connection| get(connection, &key, version))
    }

    fn current_version(&self, key: String) -> StoreFuture<'_, u32> {
        self.read(move |connection| match state(connection, &key)? {
            Some((Some(current), ..)) => Ok(current),
            Some((None, ..)) | None => Err(Error::NotFound),
        })
    }

    fn create(&self, new: NewVersion) -> StoreFuture<'_, VersionInfo> {
        self.write(move |transaction| match state(transaction, &new.key)? {
            Some((Some(current), ..)) => Err(Error::Exists(current)),
            Some((None, last, generation)) => {
                insert(transaction, &new, last + 1, generation + 1, None)
            }
            None => insert(transaction, &new, 1, 1, None),
        })
    }

    fn update(&self, new: NewVersion, expected: u32) -> StoreFuture<'_, VersionInfo> {
        self.write(move |transaction| {
            let (last, generation) = expect(transaction, &new.key, expected)?;
            insert(transaction, &new, last + 1, generation, None)
        })
    }

    fn restore(
        &self,
        key: String,
        version: u32,
        expected: u32,
        note: Option<String>,
    ) -> StoreFuture<'_, VersionInfo> {
        self.write(move |transaction| {
            let (last, generation) = expect(transaction, &key, expected)?;
            let former = get(transaction, &key, Some(version))?;
            let new = NewVersion {
                key,
                name: former.info.name,
                source: former.source,
                note,
            };
            insert(transaction, &new, last + 1, generation, Some(version))
        })
    }

    fn delete(&self, key: String, expected: u32) -> StoreFuture<'_, ()> {
        self.write(move |transaction| {
            expect(transaction, &key, expected)?;
            transaction.execute("UPDATE templates SET current = NULL WHERE key = ?1", [&key])?;
            Ok(())
        })
    }

    fn versions(
        &self,
        key: String,
        before: Option<u32>,
        limit: u32,
    ) -> StoreFuture<'_, Vec<VersionInfo>> {
        self.read(move |connection| {
            match state(connection, &key)? {
                Some((Some(_), ..)) => {}
                Some((None, ..)) | None => return Err(Error::NotFound),
            }
            let query = format!(
                "SELECT {INFO} FROM templates t JOIN versions v ON v.key = t.key
                 WHERE t.key = ?1 AND v.generation = t.generation AND v.version < ?2
                 ORDER BY v.version DESC LIMIT ?3"
            );
            let mut statement = connection.prepare_cached(&query)?;
            let before = before.unwrap_or(u32::MAX);
            let rows = statement.query_map(params![key, before, limit], info)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        self.read(|connection| {
            connection.query_row("SELECT 1", [], |_| Ok(()))?;
            Ok(())
        })
    }
}
