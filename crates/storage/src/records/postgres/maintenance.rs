//! Statements that concern a run whoever holds it, or many runs at once. They take rows that
//! nobody else is changing, so that several processes do the same side by side.

use tokio_postgres::Row;

use super::{
    connection::Connection,
    job::Failure,
    run_row::{QUEUED, queued, small, state_number, state_of},
};
use crate::{
    Error,
    records::{
        endings::dead_lettered,
        runs::{Ending, ExpiredLease, Queued, RunState},
    },
};

/// Moves an open run to the ended ones; `$1` to `$4` are state, answer, details and time.
const END: &str = "
    ), ended AS (
        INSERT INTO ended_runs (number, epoch, worker_losses, started_ms, ended_ms, state, worker,
            answer, details)
        SELECT number, epoch, worker_losses, started_ms, $4, $1, worker, coalesce(answer, $2), $3
        FROM gone
    )";

fn first(rows: &[Row]) -> Result<&Row, Failure> {
    Ok(rows.first().ok_or(Error::NotFound)?)
}

/// Ends an open run, or only a queued one. Returns its state before; `None` if it is not that.
///
/// # Errors
/// [`Error::NotFound`].
pub(super) async fn stop(
    connection: &Connection,
    id: &str,
    ending: &Ending,
    now_ms: u64,
    is_queued_only: bool,
) -> Result<Option<RunState>, Failure> {
    let stop = format!(
        "WITH found AS (
            SELECT number FROM runs WHERE id = $5
         ), gone AS (
            DELETE FROM open_runs o USING found
            WHERE o.number = found.number AND (o.state = 0 OR NOT $6)
            RETURNING o.*
         {END} SELECT (SELECT state FROM gone) FROM found"
    );
    let state = state_number(ending.state);
    let (answer, details) = (ending.answer.as_deref(), &*ending.details);
    let now_ms = now_ms as i64;
    let rows = connection
        .query(
            &stop,
            &[&state, &answer, &details, &now_ms, &id, &is_queued_only],
        )
        .await?;
    let state: Option<i16> = first(&rows)?.try_get(0)?;
    Ok(state.map(state_of))
}

/// Appends what a callback brought if the run has had `seen` callbacks, and queues the run if it
/// waits for it. Returns its state afterwards.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Ended`]; [`Error::Called`].
pub(super) async fn call_back(
    connection: &Connection,
    id: &str,
    token: &str,
    records: &[u8],
    seen: u64,
) -> Result<RunState, Failure> {
    let lock = "
        WITH found AS (
            SELECT number FROM runs WHERE id = $1 AND token = $2
        ), held AS (
            SELECT o.number FROM open_runs o JOIN found ON o.number = found.number FOR UPDATE OF o
        )
        SELECT number, EXISTS (SELECT 1 FROM held) FROM found";
    let rows = connection.query(lock, &[&id, &token]).await?;
    let number: i64 = first(&rows)?.try_get(0)?;
    if !rows[0].try_get::<_, bool>(1)? {
        return Err(Error::Ended.into());
    }
    // A statement of its own: it sees what was committed while this one waited for the row.
    let call = "
        WITH called AS (
            UPDATE open_runs SET called = called OR state = 1,
                state = CASE WHEN state = 2 THEN 0 ELSE state END, wake_ms = NULL
            WHERE number = $1
                AND $3 = (SELECT count(*) FROM journal WHERE run = $1 AND epoch <= 0)
            RETURNING number, state
        ), noted AS (
            INSERT INTO journal (run, epoch, records) SELECT number, 0, $2 FROM called
        )
        SELECT state FROM called";
    let rows = connection
        .query(call, &[&number, &records, &(seen as i64)])
        .await?;
    let state: i16 = rows.first().ok_or(Error::Called)?.try_get(0)?;
    Ok(state_of(state))
}

/// Queues runs whose wake time has come.
pub(super) async fn wake(
    connection: &Connection,
    now_ms: u64,
    limit: u32,
) -> Result<Vec<Queued>, Failure> {
    let wake = format!(
        "WITH due AS MATERIALIZED (
            SELECT number FROM open_runs WHERE state = 2 AND wake_ms <= $1
            ORDER BY number LIMIT $2 FOR UPDATE SKIP LOCKED
         ), o AS (
            UPDATE open_runs o SET state = 0, wake_ms = NULL
            FROM due WHERE o.number = due.number RETURNING o.number, o.started_ms
         )
         SELECT {QUEUED} FROM o JOIN runs r ON r.number = o.number ORDER BY r.number"
    );
    let (now_ms, limit) = (now_ms as i64, i64::from(limit));
    let rows = connection.query(&wake, &[&now_ms, &limit]).await?;
    Ok(rows.iter().map(queued).collect::<Result<_, _>>()?)
}

/// Takes runs from workers whose leases have expired.
pub(super) async fn expire_leases(
    connection: &Connection,
    now_ms: u64,
    max_worker_losses: u32,
    limit: u32,
) -> Result<Vec<ExpiredLease>, Failure> {
    let expire = format!(
        "WITH due AS MATERIALIZED (
            SELECT number FROM open_runs WHERE state = 1 AND lease_until_ms < $1
            ORDER BY number LIMIT $2 FOR UPDATE SKIP LOCKED
         ), o AS (
            UPDATE open_runs o SET state = 0, worker_losses = o.worker_losses + 1
            FROM due WHERE o.number = due.number
            RETURNING o.number, o.started_ms, o.worker_losses, o.worker, o.epoch
         )
         SELECT {QUEUED}, o.worker_losses, o.worker, o.epoch
         FROM o JOIN runs r ON r.number = o.number ORDER BY r.number"
    );
    let end = format!(
        "WITH gone AS (
            DELETE FROM open_runs WHERE number = $5 RETURNING *
         {END} SELECT 1"
    );
    let (now, limit) = (now_ms as i64, i64::from(limit));
    let rows = connection.query(&expire, &[&now, &limit]).await?;
    let mut expired = Vec::with_capacity(rows.len());
    for row in &rows {
        let (queued, losses) = (queued(row)?, small(row, 5)?);
        let dead = losses >= max_worker_losses;
        if dead {
            let ending = dead_lettered(row.try_get(6)?, losses);
            let state = state_number(ending.state);
            let (answer, details) = (ending.answer.as_deref(), &*ending.details);
            let number = queued.number as i64;
            connection
                .query(&end, &[&state, &answer, &details, &now, &number])
                .await?;
        }
        let epoch = small(row, 7)?;
        expired.push(ExpiredLease {
            queued,
            epoch,
            dead,
        });
    }
    Ok(expired)
}

/// Extends leases; returns the runs and epochs that were extended.
pub(super) async fn heartbeat(
    connection: &Connection,
    leases: &[(String, u32)],
    now_ms: u64,
    until_ms: u64,
) -> Result<Vec<(String, u32)>, Failure> {
    let extend = "
        UPDATE open_runs o SET lease_until_ms = $3
        FROM unnest($1::text[], $2::bigint[]) AS w (id, epoch) JOIN runs r ON r.id = w.id
        WHERE o.number = r.number AND o.epoch = w.epoch AND o.state = 1
            AND o.lease_until_ms >= $4
        RETURNING w.id, w.epoch";
    let ids: Vec<&str> = leases.iter().map(|(id, _)| &**id).collect();
    let epochs: Vec<i64> = leases.iter().map(|(_, epoch)| i64::from(*epoch)).collect();
    let (now_ms, until_ms) = (now_ms as i64, until_ms as i64);
    let rows = connection
        .query(extend, &[&ids, &epochs, &until_ms, &now_ms])
        .await?;
    let extended = rows.iter().map(|row| Ok((row.try_get(0)?, small(row, 1)?)));
    Ok(extended.collect::<Result<_, tokio_postgres::Error>>()?)
}

/// Expires leases, of the runs of one lane: its claims that were called before are in the database
/// by now, and those that come later are not affected.
pub(super) async fn orphan(
    connection: &Connection,
    (lane, lanes): (usize, usize),
    worker: Option<&str>,
    culprit: &str,
) -> Result<(), Failure> {
    let orphan = "
        UPDATE open_runs SET
            state = CASE WHEN worker = $2 THEN state ELSE 0 END,
            lease_until_ms = CASE WHEN worker = $2 THEN 0 ELSE lease_until_ms END
        WHERE state = 1 AND ($1::text IS NULL OR worker = $1) AND shard % $4 = $3";
    let (lane, lanes) = (lane as i16, lanes as i16);
    connection
        .query(orphan, &[&worker, &culprit, &lane, &lanes])
        .await?;
    Ok(())
}

/// Deletes runs that have ended.
pub(super) async fn prune(
    connection: &Connection,
    before_ms: u64,
    limit: u32,
) -> Result<u64, Failure> {
    let prune = "
        WITH old AS MATERIALIZED (
            SELECT number FROM ended_runs WHERE ended_ms < $1
            ORDER BY ended_ms LIMIT $2 FOR UPDATE SKIP LOCKED
        ), records AS (
            DELETE FROM journal USING old WHERE journal.run = old.number
        ), requests AS (
            DELETE FROM runs USING old WHERE runs.number = old.number
        ), ends AS (
            DELETE FROM ended_runs USING old WHERE ended_runs.number = old.number RETURNING 1
        )
        SELECT count(*) FROM ends";
    let (before_ms, limit) = (before_ms as i64, i64::from(limit));
    let rows = connection.query(prune, &[&before_ms, &limit]).await?;
    let count: i64 = first(&rows)?.try_get(0)?;
    Ok(u64::try_from(count).unwrap_or_default())
}
