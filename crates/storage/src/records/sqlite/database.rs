//! The database: write-ahead log, `synchronous = FULL`, group commit.
//!
//! One thread writes (see [`super::writer`]); readers have connections of their own. Sources:
//! <https://sqlite.org/wal.html>, <https://sqlite.org/pragma.html#pragma_synchronous>.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread::JoinHandle,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, OpenFlags, Transaction};

use super::place::Place;
use super::writer::{Job, Work, write_batches};
use crate::private::{create_file, create_folder};
use crate::{Error, records::StoreFuture};

/// Name of the database in its folder.
pub(super) const FILE: &str = "platen.db";
/// Length of the write queue; further writes fail with [`Error::Busy`].
const MAX_WAITING: usize = 4096;
/// Number of idle connections kept for readers.
const MAX_READERS: usize = 16;
/// Number of prepared statements that a connection caches.
const MAX_STATEMENTS: usize = 64;
/// How long a connection waits for a lock of another process.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Migrations in order; the database's `user_version` counts those applied.
pub(super) const MIGRATIONS: [&str; 7] = [
    "
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
    ",
    "
    ALTER TABLE versions RENAME TO template_versions;
    CREATE TABLE flows (
        key TEXT PRIMARY KEY,
        current INTEGER,
        last INTEGER NOT NULL,
        generation INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE flow_versions (
        key TEXT NOT NULL REFERENCES flows (key),
        version INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        name TEXT NOT NULL,
        note TEXT,
        restored_from INTEGER,
        created_unix_ms INTEGER NOT NULL,
        source BLOB NOT NULL,
        PRIMARY KEY (key, version)
    ) STRICT;
    -- The version of a flow that its triggers start.
    CREATE TABLE published (
        flow TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        -- What a poll or a schedule remembers, JSON.
        memory BLOB
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE runs (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        flow TEXT NOT NULL,
        version INTEGER NOT NULL,
        definition BLOB,
        lane INTEGER NOT NULL,
        state INTEGER NOT NULL,
        epoch INTEGER NOT NULL DEFAULT 0,
        deaths INTEGER NOT NULL DEFAULT 0,
        worker TEXT,
        lease_until_ms INTEGER NOT NULL DEFAULT 0,
        wake_ms INTEGER,
        deadline_ms INTEGER,
        created_ms INTEGER NOT NULL,
        started_ms INTEGER,
        ended_ms INTEGER,
        token TEXT NOT NULL,
        retry_of TEXT,
        idempotency_key TEXT,
        request_hash BLOB,
        trigger_payload BLOB NOT NULL,
        answer BLOB,
        ending BLOB
    ) STRICT;
    CREATE INDEX runs_open ON runs (state, number) WHERE state < 3;
    CREATE INDEX runs_of_flow ON runs (flow, number);
    CREATE INDEX runs_ended ON runs (ended_ms) WHERE ended_ms IS NOT NULL;
    CREATE UNIQUE INDEX runs_idempotency ON runs (flow, idempotency_key)
        WHERE idempotency_key IS NOT NULL;
    CREATE TABLE journal (
        run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        -- 0 where it came from outside, by a callback.
        epoch INTEGER NOT NULL,
        records BLOB NOT NULL,
        PRIMARY KEY (run, position)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE kept (
        key TEXT PRIMARY KEY,
        value BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    ",
    "
    ALTER TABLE kept RENAME TO kept_by_all;
    CREATE TABLE kept (
        -- Empty where it is shared, as no key of a flow is.
        flow TEXT NOT NULL,
        key TEXT NOT NULL,
        value BLOB NOT NULL,
        PRIMARY KEY (flow, key)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO kept SELECT '', key, value FROM kept_by_all;
    DROP TABLE kept_by_all;
    ",
    "
    -- The trace that a run belongs to, as W3C's traceparent.
    ALTER TABLE runs ADD COLUMN trace TEXT;
    ",
    "
    -- The unpublished content of templates (kind 0) and their sample data (kind 1).
    CREATE TABLE drafts (
        kind INTEGER NOT NULL,
        key TEXT NOT NULL,
        name TEXT NOT NULL,
        revision INTEGER NOT NULL,
        -- The version that it changes.
        base INTEGER,
        updated_unix_ms INTEGER NOT NULL,
        source BLOB NOT NULL,
        PRIMARY KEY (kind, key)
    ) STRICT;
    -- Who changed what; numbers are not given again.
    CREATE TABLE audit (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        at_unix_ms INTEGER NOT NULL,
        actor TEXT NOT NULL,
        action TEXT NOT NULL,
        subject TEXT NOT NULL,
        version INTEGER,
        request_id TEXT NOT NULL,
        address TEXT NOT NULL
    ) STRICT;
    ",
    "
    -- API keys that were made while the service runs; numbers are not given again.
    CREATE TABLE api_keys (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        hash BLOB NOT NULL,
        roles TEXT NOT NULL,
        scopes TEXT NOT NULL,
        requests_per_minute INTEGER,
        created_by TEXT NOT NULL,
        created_unix_ms INTEGER NOT NULL,
        expires_unix_ms INTEGER,
        last_used_unix_ms INTEGER
    ) STRICT;
    ",
    "
    -- Labels, each between two line breaks. Their revision changes with each write.
    ALTER TABLE templates ADD COLUMN labels TEXT NOT NULL DEFAULT '';
    ALTER TABLE templates ADD COLUMN labels_revision INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE flows ADD COLUMN labels TEXT NOT NULL DEFAULT '';
    ALTER TABLE flows ADD COLUMN labels_revision INTEGER NOT NULL DEFAULT 0;
    -- Pictures and fonts: `name` is the media type, `note` what is in a font.
    CREATE TABLE assets (
        key TEXT PRIMARY KEY,
        current INTEGER,
        last INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        labels TEXT NOT NULL DEFAULT '',
        labels_revision INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE asset_versions (
        key TEXT NOT NULL REFERENCES assets (key),
        version INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        name TEXT NOT NULL,
        note TEXT,
        restored_from INTEGER,
        created_unix_ms INTEGER NOT NULL,
        source BLOB NOT NULL,
        PRIMARY KEY (key, version)
    ) STRICT;
    ",
];

/// A database and its writer thread.
pub(super) struct Database {
    readers: Readers,
    place: Place,
    writer: Mutex<Option<mpsc::SyncSender<Box<dyn Work>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Readers {
    path: std::path::PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Database {
    /// Opens the database `platen.db` in `folder`; creates both if necessary.
    ///
    /// # Errors
    /// The folder cannot be created, or the database is damaged or too new.
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        create_folder(folder)?;
        let path = folder.join(FILE);
        // SQLite creates the files next to it with the same permissions.
        create_file(&path)?;
        let mut connection = Connection::open(&path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", "ON")?;
        connection.set_prepared_statement_cache_capacity(MAX_STATEMENTS);
        migrate(&mut connection)?;
        let place = Place::of(&path)?;
        let (sender, receiver) = mpsc::sync_channel(MAX_WAITING);
        let thread = std::thread::Builder::new()
            .name("platen-writer".to_owned())
            .spawn({
                let place = place.clone();
                move || write_batches(&mut connection, &place, &receiver)
            })?;
        Ok(Self {
            readers: Readers {
                path,
                idle: Mutex::default(),
            },
            place,
            writer: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Opens a database that another process writes.
    ///
    /// # Errors
    /// There is no database, or its schema version is another one.
    pub(super) fn open_reader(folder: &Path) -> Result<Self, Error> {
        let readers = Readers {
            path: folder.join(FILE),
            idle: Mutex::default(),
        };
        let known = MIGRATIONS.len() as u32;
        let found: u32 = readers.with(|connection| {
            Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
        })?;
        if found != known {
            return Err(Error::TooNew { found, known });
        }
        Ok(Self {
            place: Place::of(&readers.path)?,
            readers,
            writer: Mutex::default(),
            thread: Mutex::default(),
        })
    }

    pub(super) fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let database = Arc::clone(self);
        Box::pin(async move {
            tokio::task::spawn_blocking(move || database.readers.with(work))
                .await
                .map_err(|_| Error::Closed)?
        })
    }

    /// Checks that the database answers and that its file is still in place.
    pub(super) fn check(self: &Arc<Self>) -> StoreFuture<'static, ()> {
        let place = self.place.clone();
        self.read(move |connection| {
            place.check()?;
            connection.query_row("SELECT 1", [], |_| Ok(()))?;
            Ok(())
        })
    }

    pub(super) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Error> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let (job, wait) = Job::new(work);
        let sent = match &*self.writer.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Err(Error::Closed),
            Some(writer) => writer.try_send(Box::new(job)).map_err(|error| match error {
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

impl Drop for Database {
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
                connection.set_prepared_statement_cache_capacity(MAX_STATEMENTS);
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

pub(super) fn now_unix_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_millis() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_from_before_scopes_are_shared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("platen.db");
        let before = Connection::open(&path).unwrap();
        for migration in &MIGRATIONS[..2] {
            before.execute_batch(migration).unwrap();
        }
        before.pragma_update(None, "user_version", 2).unwrap();
        let insert = "INSERT INTO kept (key, value) VALUES ('k', X'31')";
        before.execute_batch(insert).unwrap();
        drop(before);
        drop(Database::open(folder.path()).unwrap());
        let after = Connection::open(&path).unwrap();
        let kept = "SELECT flow, key, value FROM kept";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let kept: (String, String, Vec<u8>) = after.query_row(kept, [], row).unwrap();
        assert_eq!(kept, (String::new(), "k".to_owned(), b"1".to_vec()));
    }
}
