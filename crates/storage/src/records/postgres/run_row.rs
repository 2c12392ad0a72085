//! Converts rows of runs to values.

use std::sync::{Arc, LazyLock};

use tokio_postgres::{Error as PgError, Row};

use crate::records::runs::{Lane, MAX_HEAD_BYTES, Queued, Run, RunState};

/// Columns of [`queued`], of `runs r` and its `open_runs o`. The deadline is NULL once the run has
/// started: it no longer matters then.
pub(super) const QUEUED: &str =
    "r.number, r.id, r.flow, r.lane, CASE WHEN o.started_ms IS NULL THEN r.deadline_ms END";

/// Columns of [`run`], of `runs r` and its `open_runs o` or `ended_runs e`.
pub(super) const ALL: &str = "r.number, r.id, r.flow, r.lane, r.deadline_ms, r.version, \
     r.definition, coalesce(o.state, e.state), coalesce(o.epoch, e.epoch), \
     coalesce(o.worker_losses, e.worker_losses), coalesce(o.worker, e.worker), o.wake_ms, \
     r.created_ms, coalesce(o.started_ms, e.started_ms), e.ended_ms, r.token, r.retry_of, \
     r.trigger_payload, coalesce(o.answer, e.answer), e.details, r.trace";

/// The same columns of the head of a run. The length of a value is known without reading it.
pub(super) static HEAD: LazyLock<String> = LazyLock::new(|| {
    let mut columns = ALL.replace("r.trace", "NULL::text");
    for long in [
        "r.definition",
        "r.trigger_payload",
        "coalesce(o.answer, e.answer)",
        "e.details",
    ] {
        let short =
            format!("CASE WHEN length({long}) > {MAX_HEAD_BYTES} THEN ''::bytea ELSE {long} END");
        columns = columns.replace(long, &short);
    }
    columns
});

/// The same columns of an open run.
pub(super) const OPEN: &str = "r.number, r.id, r.flow, r.lane, r.deadline_ms, r.version, \
     r.definition, o.state, o.epoch, o.worker_losses, o.worker, o.wake_ms, r.created_ms, \
     o.started_ms, NULL::bigint, r.token, r.retry_of, r.trigger_payload, o.answer, NULL::bytea, \
     r.trace";

pub(super) fn state_number(state: RunState) -> i16 {
    let position = RunState::ALL.iter().position(|known| *known == state);
    position.unwrap_or_default() as i16
}

/// The state with this number; the tables contain no others.
pub(super) fn state_of(number: i16) -> RunState {
    let known = usize::try_from(number).ok();
    let known = known.and_then(|index| RunState::ALL.get(index).copied());
    known.unwrap_or(RunState::Dead)
}

pub(super) fn lane_number(lane: Lane) -> i16 {
    match lane {
        Lane::Sync => 0,
        Lane::Async => 1,
    }
}

/// A number that is never negative.
pub(super) fn number(row: &Row, column: usize) -> Result<u64, PgError> {
    let value: i64 = row.try_get(column)?;
    Ok(u64::try_from(value).unwrap_or_default())
}

/// A number that is never negative, and small.
pub(super) fn small(row: &Row, column: usize) -> Result<u32, PgError> {
    let value: i64 = row.try_get(column)?;
    Ok(u32::try_from(value).unwrap_or_default())
}

pub(super) fn maybe_number(row: &Row, column: usize) -> Result<Option<u64>, PgError> {
    let value: Option<i64> = row.try_get(column)?;
    Ok(value.and_then(|value| u64::try_from(value).ok()))
}

pub(super) fn bytes(row: &Row, column: usize) -> Result<Option<Arc<[u8]>>, PgError> {
    let value: Option<&[u8]> = row.try_get(column)?;
    Ok(value.map(Arc::from))
}

/// Bytes from an array of them.
pub(super) fn list(row: &Row, column: usize) -> Result<Vec<Arc<[u8]>>, PgError> {
    let values: Vec<&[u8]> = row.try_get(column)?;
    Ok(values.into_iter().map(Arc::from).collect())
}

pub(super) fn queued(row: &Row) -> Result<Queued, PgError> {
    let lane: i16 = row.try_get(3)?;
    Ok(Queued {
        number: number(row, 0)?,
        id: row.try_get(1)?,
        flow: row.try_get(2)?,
        lane: match lane {
            0 => Lane::Sync,
            _ => Lane::Async,
        },
        deadline_ms: maybe_number(row, 4)?,
    })
}

pub(super) fn run(row: &Row) -> Result<Run, PgError> {
    let Queued {
        number,
        id,
        flow,
        lane,
        deadline_ms,
    } = queued(row)?;
    Ok(Run {
        number,
        id,
        flow,
        lane,
        deadline_ms,
        version: small(row, 5)?,
        definition: bytes(row, 6)?,
        state: state_of(row.try_get(7)?),
        epoch: small(row, 8)?,
        worker_losses: small(row, 9)?,
        worker: row.try_get(10)?,
        wake_ms: maybe_number(row, 11)?,
        created_ms: self::number(row, 12)?,
        started_ms: maybe_number(row, 13)?,
        ended_ms: maybe_number(row, 14)?,
        token: row.try_get(15)?,
        retry_of: row.try_get(16)?,
        trigger: bytes(row, 17)?.unwrap_or_default(),
        answer: bytes(row, 18)?,
        details: bytes(row, 19)?,
        trace: row.try_get(20)?,
    })
}
