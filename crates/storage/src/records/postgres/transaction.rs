//! One transaction, from its first statement to the answer of its commit.

use tokio_postgres::{Error as PgError, Row, Statement};

use super::{
    batch::{Call, groups},
    connection::{BoxFuture, Connection, Connector, in_order, within},
    job::{Job, Other, Outcome},
    trouble::is_lost,
    writer::{STAMP, Writer},
};
use crate::records::runs::{Accepted, NewRun};

/// How a transaction ended.
pub(super) enum Ended {
    /// Committed, or rolled back because its only job wished so.
    Done(Vec<Outcome>),
    /// A statement failed, and everything was rolled back.
    Refused(PgError),
    /// Another connection has the row of the writer, or nobody; everything was rolled back.
    Replaced,
    /// The connection is lost.
    Lost {
        /// What the statements did, if it is known.
        outcomes: Option<Vec<Outcome>>,
        /// Without this, nothing was committed and nothing will be.
        is_commit_sent: bool,
    },
}

const LOST: Ended = Ended::Lost {
    outcomes: None,
    is_commit_sent: false,
};

fn failed(error: PgError) -> Ended {
    match is_lost(&error) {
        true => LOST,
        false => Ended::Refused(error),
    }
}

/// Executes jobs that share a transaction.
///
/// Runs that are only accepted take one exchange with the server: if its answer is lost, the rows
/// tell what it was. For other writes they do not, so their results are awaited before the commit
/// is sent.
pub(super) async fn attempt(connector: &Connector, writer: &Writer, jobs: &[Job]) -> Ended {
    let Some(connection) = writer.connection() else {
        return LOST;
    };
    let groups = groups(jobs);
    let calls: Vec<Vec<Call<'_>>> = groups.iter().map(|group| group.calls(jobs)).collect();
    let prepared = prepare(connection, &calls);
    let (stamp, statements) = match within(connector.exchange(), prepared).await {
        None => return LOST,
        Some(Err(error)) => return failed(error),
        Some(Ok(prepared)) => prepared,
    };
    let is_commit_sent = jobs.iter().all(|job| matches!(job, Job::Accept(..)));
    let key = [writer.row, writer.epoch, writer.batch];
    let mut futures: Vec<BoxFuture<'_, Result<Vec<Row>, PgError>>> = vec![
        Box::pin(connection.execute("BEGIN")),
        Box::pin(connection.send_numbers(&stamp, key)),
    ];
    for (call, statement) in calls.iter().flatten().zip(&statements) {
        futures.push(Box::pin(connection.send_columns(statement, &call.columns)));
    }
    if is_commit_sent {
        futures.push(Box::pin(connection.execute("COMMIT")));
    }
    let Some(results) = within(connector.exchange(), in_order(futures)).await else {
        return Ended::Lost {
            outcomes: None,
            is_commit_sent,
        };
    };
    let rows = match rows_of(results) {
        Ok(rows) => rows,
        Err((_, error)) if is_lost(&error) => {
            return Ended::Lost {
                outcomes: None,
                is_commit_sent,
            };
        }
        Err((place, error)) => {
            // A COMMIT behind a failed statement rolls back.
            if !is_commit_sent && !roll_back(connector, connection).await {
                return LOST;
            }
            return refusal(place, error);
        }
    };
    let mut outcomes: Vec<Option<Outcome>> = jobs.iter().map(|_| None).collect();
    let mut rows = rows.into_iter().skip(2);
    for (group, calls) in groups.iter().zip(&calls) {
        let results: Vec<Vec<Row>> = rows.by_ref().take(calls.len()).collect();
        if let Err(error) = group.outcomes(jobs, &results, &mut outcomes) {
            // A row that cannot be read: with a commit on its way, the accepted runs are looked up.
            if !is_commit_sent {
                return match roll_back(connector, connection).await {
                    true => Ended::Refused(error),
                    false => LOST,
                };
            }
        }
    }
    let outcomes = outcomes
        .into_iter()
        .map(|outcome| outcome.unwrap_or(Outcome::Unsettled))
        .collect();
    match is_commit_sent {
        true => Ended::Done(outcomes),
        false => commit(connector, connection, outcomes).await,
    }
}

/// Executes a job that has a transaction of its own.
pub(super) async fn attempt_other(
    connector: &Connector,
    writer: &Writer,
    other: &mut dyn Other,
) -> Ended {
    let Some(connection) = writer.connection() else {
        return LOST;
    };
    let stamp = match within(connector.exchange(), connection.statement(STAMP)).await {
        None => return LOST,
        Some(Err(error)) => return failed(error),
        Some(Ok(stamp)) => stamp,
    };
    let key = [writer.row, writer.epoch, writer.batch];
    let mut keeps = false;
    let futures: Vec<BoxFuture<'_, Result<Vec<Row>, PgError>>> = vec![
        Box::pin(connection.execute("BEGIN")),
        Box::pin(connection.send_numbers(&stamp, key)),
        Box::pin(async {
            keeps = other.run(connection).await?;
            Ok(Vec::new())
        }),
    ];
    let Some(results) = within(connector.exchange(), in_order(futures)).await else {
        return LOST;
    };
    match rows_of(results) {
        Err((_, error)) if is_lost(&error) => return LOST,
        Err((place, error)) => {
            return match roll_back(connector, connection).await {
                true => refusal(place, error),
                false => LOST,
            };
        }
        Ok(_) => {}
    }
    if keeps {
        return commit(connector, connection, vec![Outcome::Kept]).await;
    }
    match roll_back(connector, connection).await {
        true => Ended::Done(vec![Outcome::Kept]),
        false => LOST,
    }
}

/// The statements of a transaction, prepared before it begins.
async fn prepare(
    connection: &Connection,
    calls: &[Vec<Call<'_>>],
) -> Result<(Statement, Vec<Statement>), PgError> {
    let stamp = connection.statement(STAMP).await?;
    let mut statements = Vec::new();
    for call in calls.iter().flatten() {
        statements.push(connection.statement(&call.text).await?);
    }
    Ok((stamp, statements))
}

/// The rows of all statements, or the first that failed and its place; a lost connection comes
/// first.
fn rows_of(results: Vec<Result<Vec<Row>, PgError>>) -> Result<Vec<Vec<Row>>, (usize, PgError)> {
    let mut rows = Vec::with_capacity(results.len());
    let mut first: Option<(usize, PgError)> = None;
    for (place, result) in results.into_iter().enumerate() {
        match result {
            Ok(found) => rows.push(found),
            Err(error) if is_lost(&error) => return Err((place, error)),
            Err(error) => {
                first.get_or_insert((place, error));
            }
        }
    }
    first.map_or(Ok(rows), Err)
}

fn refusal(place: usize, error: PgError) -> Ended {
    // The division by zero of a stamp that found no row.
    let is_replaced =
        place == 1 && error.code() == Some(&tokio_postgres::error::SqlState::DIVISION_BY_ZERO);
    match is_replaced {
        true => Ended::Replaced,
        false => Ended::Refused(error),
    }
}

async fn commit(connector: &Connector, connection: &Connection, outcomes: Vec<Outcome>) -> Ended {
    match within(connector.exchange(), connection.execute("COMMIT")).await {
        Some(Ok(_)) => Ended::Done(outcomes),
        Some(Err(error)) if !is_lost(&error) => Ended::Refused(error),
        _ => Ended::Lost {
            outcomes: Some(outcomes),
            is_commit_sent: true,
        },
    }
}

async fn roll_back(connector: &Connector, connection: &Connection) -> bool {
    let done = within(connector.exchange(), connection.execute("ROLLBACK")).await;
    matches!(done, Some(Ok(_)))
}

/// What the database has of a run that was not inserted, or perhaps was. A run with its id and its
/// token is the run itself; one with its idempotency key only is another request's.
pub(super) async fn known(
    connection: &Connection,
    new: &NewRun,
) -> Result<Option<Accepted>, PgError> {
    let find = "
        SELECT id, true, NULL::bytea FROM runs WHERE id = $1 AND token = $2
        UNION ALL
        SELECT id, false, request_hash FROM runs WHERE flow = $3 AND idempotency_key = $4";
    let key = new.idempotency.as_ref();
    let (idempotency, hash) = (key.map(|(key, _)| &**key), key.map(|(_, hash)| &**hash));
    let rows = connection
        .query(find, &[&new.id, &new.token, &new.flow, &idempotency])
        .await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    if row.try_get(1)? {
        return Ok(Some(Accepted::New));
    }
    let found: Option<&[u8]> = row.try_get(2)?;
    Ok(Some(Accepted::Known {
        id: row.try_get(0)?,
        same: found == hash,
    }))
}
