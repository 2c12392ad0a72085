//! The writer thread: writes all queued jobs in one transaction and acknowledges them after its
//! commit, so that they share one flush to disk.
//!
//! Each job has its own savepoint: a job that fails or panics halfway is rolled back, and the
//! others stand. Source: <https://sqlite.org/lang_savepoint.html>.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::mpsc,
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::place::Place;
use crate::Error;

/// Maximum number of jobs in a transaction.
const MAX_BATCH: usize = 256;

/// A write, with the type of its result erased.
pub(super) trait Work: Send {
    /// Executes the write; returns whether to keep what it wrote.
    fn run(&mut self, transaction: &Transaction<'_>) -> bool;

    /// Sends the result to the caller; `failure` if it could not be committed.
    fn acknowledge(self: Box<Self>, failure: Option<&Lost>);
}

/// Why a transaction was lost.
pub(super) enum Lost {
    Commit(rusqlite::Error),
    /// The database file was deleted or replaced.
    Gone(PathBuf),
}

impl From<rusqlite::Error> for Lost {
    fn from(error: rusqlite::Error) -> Self {
        Self::Commit(error)
    }
}

/// A write and its caller.
pub(super) struct Job<T, W> {
    work: Option<W>,
    /// `None` before the write was executed.
    result: Option<Result<T, Error>>,
    answer: oneshot::Sender<Result<T, Error>>,
}

impl<T, W> Job<T, W> {
    /// A job, and the receiver of its result.
    pub fn new(work: W) -> (Self, oneshot::Receiver<Result<T, Error>>) {
        let (answer, wait) = oneshot::channel();
        let job = Self {
            work: Some(work),
            result: None,
            answer,
        };
        (job, wait)
    }
}

impl<T, W> Work for Job<T, W>
where
    T: Send,
    W: FnOnce(&Transaction<'_>) -> Result<T, Error> + Send,
{
    fn run(&mut self, transaction: &Transaction<'_>) -> bool {
        let Some(work) = self.work.take() else {
            return false;
        };
        // Unwind safety: what the job wrote is rolled back, and it shares no other state.
        let done = catch_unwind(AssertUnwindSafe(|| work(transaction)));
        let result = done.unwrap_or(Err(Error::Panicked));
        let keeps = result.is_ok();
        self.result = Some(result);
        keeps
    }

    fn acknowledge(self: Box<Self>, failure: Option<&Lost>) {
        let result = match (self.result, failure) {
            // The job's own error says more than that of the commit.
            (Some(Err(error)), _) => Err(error),
            (_, Some(error)) => Err(commit_error(error)),
            (Some(done), None) => done,
            (None, None) => Err(Error::Closed),
        };
        // The caller may have disconnected; the write stands all the same.
        let _ = self.answer.send(result);
    }
}

fn commit_error(lost: &Lost) -> Error {
    let error = match lost {
        Lost::Commit(error) => error,
        Lost::Gone(path) => return Error::Gone(path.clone()),
    };
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => Error::DiskFull,
        code => {
            let reason = code.map_or_else(|| error.to_string(), |code| format!("{code:?}"));
            Error::Database(rusqlite::Error::ToSqlConversionFailure(reason.into()))
        }
    }
}

/// Writes queued jobs, one transaction at a time, until the store is dropped.
pub(super) fn write_batches(
    connection: &mut Connection,
    place: &Place,
    receiver: &mpsc::Receiver<Box<dyn Work>>,
) {
    while let Ok(first) = receiver.recv() {
        let mut batch = VecDeque::from([first]);
        while batch.len() < MAX_BATCH {
            match receiver.try_recv() {
                Ok(work) => batch.push_back(work),
                Err(_) => break,
            }
        }
        // If a job loses the transaction, the rest of the batch goes into another one.
        while !batch.is_empty() {
            let mut done = Vec::with_capacity(batch.len());
            let written = write(connection, &mut batch, &mut done).map_err(Lost::from);
            let written = written.and_then(|()| match place.check() {
                Err(Error::Gone(path)) => Err(Lost::Gone(path)),
                _ => Ok(()),
            });
            if done.is_empty() {
                // No transaction could begin: every job gets the error.
                done.extend(batch.drain(..));
            }
            for work in done {
                work.acknowledge(written.as_ref().err());
            }
        }
    }
}

/// Writes a batch in one transaction until it is lost; moves the jobs that it has executed to
/// `done`.
fn write(
    connection: &mut Connection,
    batch: &mut VecDeque<Box<dyn Work>>,
    done: &mut Vec<Box<dyn Work>>,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    while let Some(mut work) = batch.pop_front() {
        let written = write_one(&transaction, &mut *work);
        done.push(work);
        written?;
    }
    transaction.commit()
}

/// Executes one job, completely or not at all.
///
/// # Errors
/// The transaction is lost with everything in it: SQLite itself rolls back if the disk is full or
/// fails. Source: <https://sqlite.org/lang_transaction.html>, section 3.
fn write_one(transaction: &Transaction<'_>, work: &mut dyn Work) -> rusqlite::Result<()> {
    let run = |statement: &str| transaction.prepare_cached(statement)?.execute([]).map(drop);
    run("SAVEPOINT job")?;
    let keeps = work.run(transaction);
    if transaction.is_autocommit() {
        let lost = "the transaction was rolled back by a write in it";
        return Err(rusqlite::Error::ToSqlConversionFailure(lost.into()));
    }
    if !keeps {
        run("ROLLBACK TO job")?;
    }
    run("RELEASE job")
}

#[cfg(test)]
mod tests {
    use std::{future::Future, pin::Pin, sync::Arc};

    use super::*;
    use crate::records::sqlite::database::Database;

    type Written<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

    /// A database whose writer waits until `go` is dropped, so that all writes before that are one
    /// batch.
    struct Held {
        _folder: tempfile::TempDir,
        database: Arc<Database>,
        go: mpsc::Sender<()>,
    }

    fn held() -> Held {
        let folder = tempfile::tempdir().unwrap();
        let database = Arc::new(Database::open(folder.path()).unwrap());
        let (go, wait) = mpsc::channel::<()>();
        drop(database.write(move |_| {
            let _ = wait.recv();
            Ok(())
        }));
        Held {
            _folder: folder,
            database,
            go,
        }
    }

    fn keep(transaction: &Transaction<'_>, key: &str) -> Result<(), Error> {
        let insert = "INSERT INTO templates (key, last) VALUES (?1, 1)";
        transaction.execute(insert, [key])?;
        Ok(())
    }

    impl Held {
        fn write(
            &self,
            work: impl FnOnce(&Transaction<'_>) -> Result<(), Error> + Send + 'static,
        ) -> Written<()> {
            self.database.write(work)
        }

        /// Releases the batch, and returns the stored keys once `last` is acknowledged.
        async fn keys(self, last: Written<()>) -> Vec<String> {
            drop(self.go);
            last.await.unwrap();
            let read = self.database.read(|connection| {
                let mut statement = connection.prepare("SELECT key FROM templates ORDER BY key")?;
                let keys = statement.query_map([], |row| row.get(0))?;
                Ok(keys.collect::<rusqlite::Result<_>>()?)
            });
            read.await.unwrap()
        }
    }

    #[tokio::test]
    async fn a_job_that_fails_half_way_leaves_nothing() {
        let held = held();
        let before = held.write(|transaction| keep(transaction, "before"));
        let failing = held.write(|transaction| {
            keep(transaction, "half")?;
            // The second statement of the job violates a constraint.
            keep(transaction, "before")
        });
        let after = held.write(|transaction| keep(transaction, "after"));
        assert_eq!(held.keys(after).await, ["after", "before"]);
        before.await.unwrap();
        assert!(matches!(failing.await, Err(Error::Database(_))));
    }

    #[tokio::test]
    async fn a_panic_ends_its_job_only() {
        let held = held();
        let before = held.write(|transaction| keep(transaction, "before"));
        let panicking = held.write(|transaction| {
            keep(transaction, "half")?;
            panic!("injected");
        });
        let after = held.write(|transaction| keep(transaction, "after"));
        assert_eq!(held.keys(after).await, ["after", "before"]);
        before.await.unwrap();
        assert!(matches!(panicking.await, Err(Error::Panicked)));
    }

    /// Simulates what SQLite does when the disk is full or fails.
    #[tokio::test]
    async fn a_lost_transaction_fails_all_its_jobs() {
        let held = held();
        let before = held.write(|transaction| keep(transaction, "before"));
        let losing = held.write(|transaction| {
            transaction.execute_batch("ROLLBACK")?;
            Err(Error::DiskFull)
        });
        let after = held.write(|transaction| keep(transaction, "after"));
        assert_eq!(held.keys(after).await, ["after"]);
        assert!(before.await.is_err());
        assert!(matches!(losing.await, Err(Error::DiskFull)));
    }
}
