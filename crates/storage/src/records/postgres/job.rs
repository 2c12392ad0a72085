//! Writes on their way to the database, with their callers.

use std::{panic::AssertUnwindSafe, sync::Arc, task::Poll};

use tokio::sync::oneshot;
use tokio_postgres::Error as PgError;

use super::connection::{BoxFuture, Connection};
use crate::{
    Error,
    records::runs::{Accepted, Claimed, Ending, Lease, NewRun, Write},
};

/// Where a caller waits for its result.
pub(super) type Answer<T> = oneshot::Sender<Result<T, Error>>;

/// A write.
pub(super) enum Job {
    Accept(NewRun, Answer<Accepted>),
    Claim(String, Lease, Answer<Claimed>),
    /// The result is whether a suspended run is queued at once.
    Change(Write, Change, Answer<bool>),
    /// A transaction of its own.
    Other(Box<dyn Other>),
}

/// What a worker changes, besides the journal.
pub(super) enum Change {
    Nothing,
    Answer(Arc<[u8]>),
    Suspend(Option<u64>),
    Release,
    End(Ending),
}

/// The result of a [`Job`] before its transaction is committed.
pub(super) enum Outcome {
    Accepted(Accepted),
    /// Whether the run is new is known after the commit only.
    Unsettled,
    Claimed(Box<Claimed>),
    Changed(bool),
    Fenced,
    /// The job keeps its result.
    Kept,
}

impl Job {
    /// Size of what it sends, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let length = |bytes: &Option<Arc<[u8]>>| bytes.as_ref().map_or(0, |bytes| bytes.len());
        match self {
            Self::Accept(new, _) => {
                new.trigger.len() + length(&new.definition) + length(&new.journal)
            }
            Self::Change(write, change, _) => {
                length(&write.records)
                    + match change {
                        Change::Answer(answer) => answer.len(),
                        Change::End(ending) => length(&ending.answer) + ending.details.len(),
                        Change::Nothing | Change::Suspend(_) | Change::Release => 0,
                    }
            }
            Self::Claim(..) | Self::Other(_) => 0,
        }
    }

    /// Whether it may share a transaction.
    pub(super) fn is_shared(&self) -> bool {
        !matches!(self, Self::Other(_))
    }

    /// Tells the caller how the write ended. The caller may have gone; the write stands all the
    /// same.
    pub(super) fn acknowledge(self, outcome: Outcome) {
        match (self, outcome) {
            (Self::Accept(_, answer), Outcome::Accepted(accepted)) => {
                let _ = answer.send(Ok(accepted));
            }
            (Self::Claim(_, _, answer), Outcome::Claimed(claimed)) => {
                let _ = answer.send(Ok(*claimed));
            }
            (Self::Change(_, _, answer), Outcome::Changed(queued)) => {
                let _ = answer.send(Ok(queued));
            }
            (Self::Other(other), Outcome::Kept) => other.acknowledge(None),
            (job, Outcome::Fenced) => job.fail(Error::Fenced),
            (job, _) => job.fail(Error::Panicked),
        }
    }

    /// Tells the caller that the write failed.
    pub(super) fn fail(self, error: Error) {
        match self {
            Self::Accept(_, answer) => drop(answer.send(Err(error))),
            Self::Claim(_, _, answer) => drop(answer.send(Err(error))),
            Self::Change(_, _, answer) => drop(answer.send(Err(error))),
            Self::Other(other) => other.acknowledge(Some(error)),
        }
    }
}

/// Why statements in a transaction did not succeed.
pub(super) enum Failure {
    /// The records do not allow it: the caller's answer.
    Store(Error),
    Statement(PgError),
}

impl From<PgError> for Failure {
    fn from(error: PgError) -> Self {
        Self::Statement(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// A write in a transaction of its own, with the type of its result erased.
pub(super) trait Other: Send + Sync {
    /// Executes the statements; true if they are to be committed. May be called again after a
    /// transaction that left nothing behind.
    fn run<'a>(&'a mut self, connection: &'a Connection) -> BoxFuture<'a, Result<bool, PgError>>;

    /// Sends the result to the caller; `failure` if it could not be committed.
    fn acknowledge(self: Box<Self>, failure: Option<Error>);
}

struct Transaction<T, F> {
    statements: F,
    /// `None` before they were executed.
    result: Option<Result<T, Error>>,
    answer: Answer<T>,
}

/// A job of `statements`, and the receiver of its result.
pub(super) fn other<T, F>(statements: F) -> (Job, oneshot::Receiver<Result<T, Error>>)
where
    T: Send + Sync + 'static,
    F: for<'a> Fn(&'a Connection) -> BoxFuture<'a, Result<T, Failure>> + Send + Sync + 'static,
{
    let (answer, wait) = oneshot::channel();
    let job = Transaction {
        statements,
        result: None,
        answer,
    };
    (Job::Other(Box::new(job)), wait)
}

impl<T, F> Other for Transaction<T, F>
where
    T: Send + Sync,
    F: for<'a> Fn(&'a Connection) -> BoxFuture<'a, Result<T, Failure>> + Send + Sync,
{
    fn run<'a>(&'a mut self, connection: &'a Connection) -> BoxFuture<'a, Result<bool, PgError>> {
        Box::pin(async move {
            let result = match caught(|| (self.statements)(connection)).await {
                Some(Ok(value)) => Ok(value),
                Some(Err(Failure::Store(error))) => Err(error),
                Some(Err(Failure::Statement(error))) => return Err(error),
                None => Err(Error::Panicked),
            };
            let keeps = result.is_ok();
            self.result = Some(result);
            Ok(keeps)
        })
    }

    fn acknowledge(self: Box<Self>, failure: Option<Error>) {
        let result = match (self.result, failure) {
            // The job's own error says more than that of the commit.
            (Some(Err(error)), _) | (_, Some(error)) => Err(error),
            (Some(done), None) => done,
            (None, None) => Err(Error::Closed),
        };
        let _ = self.answer.send(result);
    }
}

/// `None` if the future panics, or making it does. What it wrote is rolled back, and it shares no
/// other state: so it is safe to go on.
pub(super) async fn caught<'a, T>(make: impl FnOnce() -> BoxFuture<'a, T>) -> Option<T> {
    let made = std::panic::catch_unwind(AssertUnwindSafe(make));
    let mut future = made.ok()?;
    std::future::poll_fn(move |context| {
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        match polled {
            Ok(Poll::Ready(value)) => Poll::Ready(Some(value)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(None),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_of_a_job_is_caught() {
        assert_eq!(caught(|| Box::pin(async { 7 })).await, Some(7));
        let late = caught(|| {
            Box::pin(async {
                tokio::task::yield_now().await;
                panic!("injected");
            })
        });
        assert_eq!(late.await, None::<()>);
        assert_eq!(caught::<()>(|| panic!("injected")).await, None);
    }
}
