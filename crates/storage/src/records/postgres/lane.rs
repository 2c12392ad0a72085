//! A queue of writes and the connection that writes them: what waits is written in one transaction
//! and acknowledged after its commit.
//!
//! If a statement fails, the transaction is rolled back and its jobs are written one by one, so
//! that a bad one fails alone. If the connection is lost, what happened is read back, see
//! [`super::writer`].

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};
use tokio_postgres::Error as PgError;

use super::{
    connection::{Connector, within},
    job::{Job, Outcome, caught},
    transaction::{Ended, attempt, attempt_other, known},
    trouble::{Trouble, is_lost, is_passing, no_connection, refused},
    writer::Writer,
};
use crate::Error;

/// Maximum number of jobs in a transaction.
const MAX_BATCH: usize = 256;
/// Size in bytes from which a transaction takes no more jobs.
const MAX_BATCH_BYTES: usize = 4 << 20;
/// How often a job that failed for a passing reason is tried again.
const MAX_TRIES: u32 = 5;

/// Pause before a transaction whose connection was lost is repeated.
const PAUSE: Duration = Duration::from_millis(5);

/// How jobs ended.
enum Settled {
    Written(Vec<Outcome>),
    Refused(PgError),
    /// The server is gone, and the end of the jobs may be unknown.
    Gone(Trouble),
}

/// Writes what `receiver` gets, until the store is dropped.
pub(super) async fn write_batches(connector: Arc<Connector>, mut receiver: mpsc::Receiver<Job>) {
    let mut lane = Lane {
        writer: Writer::new(Arc::clone(&connector)),
        connector,
    };
    // A panic outside of a job is a bug; it must not end the queue of all later writes.
    while caught(|| Box::pin(lane.run(&mut receiver))).await.is_none() {
        lane.writer.disconnect();
    }
    lane.writer.leave().await;
}

struct Lane {
    connector: Arc<Connector>,
    writer: Writer,
}

impl Lane {
    async fn run(&mut self, receiver: &mut mpsc::Receiver<Job>) {
        let mut next = None;
        loop {
            let Some(first) = (match next.take() {
                Some(job) => Some(job),
                None => receiver.recv().await,
            }) else {
                return;
            };
            let mut batch = vec![first];
            let mut size_bytes = batch[0].size_bytes();
            while batch[0].is_shared() && batch.len() < MAX_BATCH && size_bytes < MAX_BATCH_BYTES {
                match receiver.try_recv() {
                    Ok(job) if job.is_shared() => {
                        size_bytes += job.size_bytes();
                        batch.push(job);
                    }
                    Ok(job) => {
                        next = Some(job);
                        break;
                    }
                    Err(_) => break,
                }
            }
            if let Err(trouble) = self.write(batch).await {
                // Those that wait would wait as long again.
                while let Some(job) = next.take().or_else(|| receiver.try_recv().ok()) {
                    job.fail(trouble.clone().into());
                }
            }
        }
    }

    /// Writes a batch and acknowledges its jobs.
    ///
    /// # Errors
    /// The server is gone.
    async fn write(&mut self, mut jobs: Vec<Job>) -> Result<(), Trouble> {
        let error = match self.settle(&mut jobs).await {
            Settled::Written(outcomes) => return self.acknowledge(jobs, outcomes).await,
            Settled::Gone(trouble) => return fail(jobs, trouble),
            Settled::Refused(error) => error,
        };
        if jobs.len() == 1 {
            let error = refused(error, &self.connector.address);
            let _ = jobs.pop().map(|job| job.fail(error));
            return Ok(());
        }
        let mut rest = jobs.into_iter();
        while let Some(job) = rest.next() {
            let mut one = vec![job];
            match self.settle(&mut one).await {
                Settled::Written(outcomes) => {
                    if let Err(trouble) = self.acknowledge(one, outcomes).await {
                        return fail(rest, trouble);
                    }
                }
                Settled::Gone(trouble) => return fail(one.into_iter().chain(rest), trouble),
                Settled::Refused(error) => {
                    let error = refused(error, &self.connector.address);
                    let _ = one.pop().map(|job| job.fail(error));
                }
            }
        }
        Ok(())
    }

    /// Executes jobs in one transaction until it is known how it ended.
    async fn settle(&mut self, jobs: &mut [Job]) -> Settled {
        let deadline = self.connector.deadline();
        let mut tries = 0;
        loop {
            if let Err(trouble) = self.writer.connect(deadline).await {
                return Settled::Gone(trouble);
            }
            self.writer.batch += 1;
            let ended = match &mut *jobs {
                [Job::Other(other)] => {
                    attempt_other(&self.connector, &self.writer, &mut **other).await
                }
                jobs => attempt(&self.connector, &self.writer, jobs).await,
            };
            let (outcomes, is_commit_sent) = match ended {
                Ended::Done(outcomes) => return Settled::Written(outcomes),
                Ended::Refused(error) => {
                    tries += 1;
                    if jobs.len() == 1 && is_passing(&error) && tries < MAX_TRIES {
                        continue;
                    }
                    return Settled::Refused(error);
                }
                Ended::Replaced => {
                    self.writer.forget();
                    (None, false)
                }
                Ended::Lost {
                    outcomes,
                    is_commit_sent,
                } => (outcomes, is_commit_sent),
            };
            self.writer.disconnect();
            if is_commit_sent {
                match self.writer.connect(deadline).await {
                    Err(trouble) => return Settled::Gone(trouble),
                    Ok(last) if last == Some(self.writer.batch) => {
                        let unknown = || jobs.iter().map(|_| Outcome::Unsettled).collect();
                        return Settled::Written(outcomes.unwrap_or_else(unknown));
                    }
                    Ok(_) => {}
                }
            }
            // Nothing was committed, so the same can be tried again.
            if Instant::now() >= deadline {
                let cause = "connections to it are lost again and again";
                return Settled::Gone(Trouble::Unavailable(cause.to_owned()));
            }
            sleep(PAUSE).await;
        }
    }

    /// Acknowledges jobs after their commit.
    ///
    /// # Errors
    /// The server is gone, before it told which run has the idempotency key of another.
    async fn acknowledge(&mut self, jobs: Vec<Job>, outcomes: Vec<Outcome>) -> Result<(), Trouble> {
        let mut unsettled = Vec::new();
        for (job, outcome) in jobs.into_iter().zip(outcomes) {
            match outcome {
                Outcome::Unsettled => unsettled.push(job),
                outcome => job.acknowledge(outcome),
            }
        }
        let mut unsettled = unsettled.into_iter();
        while let Some(job) = unsettled.next() {
            match self.look_up(&job).await {
                Ok(Some(outcome)) => job.acknowledge(outcome),
                Ok(None) => {
                    let cause = "another run has this id, or that with its key was just deleted";
                    job.fail(Error::Unavailable(cause.to_owned()));
                }
                Err(trouble) => return fail([job].into_iter().chain(unsettled), trouble),
            }
        }
        Ok(())
    }

    /// What the database has of a run that was not inserted, or perhaps was.
    async fn look_up(&mut self, job: &Job) -> Result<Option<Outcome>, Trouble> {
        let Job::Accept(new, _) = job else {
            return Ok(None);
        };
        let deadline = self.connector.deadline();
        loop {
            self.writer.connect(deadline).await?;
            let Some(connection) = self.writer.connection() else {
                return Ok(None);
            };
            match within(self.connector.exchange(), known(connection, new)).await {
                Some(Ok(accepted)) => return Ok(accepted.map(Outcome::Accepted)),
                Some(Err(error)) if !is_lost(&error) => {
                    return Err(no_connection(&error, &self.connector.address));
                }
                _ => self.writer.disconnect(),
            }
            if Instant::now() >= deadline {
                let cause = "connections to it are lost again and again";
                return Err(Trouble::Unavailable(cause.to_owned()));
            }
        }
    }
}

fn fail(jobs: impl IntoIterator<Item = Job>, trouble: Trouble) -> Result<(), Trouble> {
    for job in jobs {
        job.fail(trouble.clone().into());
    }
    Err(trouble)
}
