//! Finds runs, and converts their rows to values.

use std::sync::{Arc, LazyLock};

use rusqlite::{Connection, OptionalExtension, Row, types::Type};

use crate::{
    Error,
    records::runs::{Lane, MAX_HEAD_BYTES, Queued, Run, RunState},
};

/// The deadline is NULL once the run has started: it no longer matters then.
pub(super) const QUEUED: &str =
    "number, id, flow, lane, CASE WHEN started_ms IS NULL THEN deadline_ms END";
const ALL: &str = "number, id, flow, lane, deadline_ms, version, definition, state, epoch, deaths, \
     worker, wake_ms, created_ms, started_ms, ended_ms, token, retry_of, trigger_payload, answer, ending, \
     trace";

/// The same columns of the head of a run. The length of a value is known without reading it; `trace` is behind all of
/// them, so that reading it would go through their pages.
pub(super) static HEAD: LazyLock<String> = LazyLock::new(|| {
    let short = |column: &str| {
        format!("CASE WHEN length({column}) > {MAX_HEAD_BYTES} THEN x'' ELSE {column} END")
    };
    let mut columns = ALL.replace("trace", "NULL");
    for long in ["definition", "trigger_payload", "answer", "ending"] {
        columns = columns.replace(long, &short(long));
    }
    columns
});

pub(super) fn state_number(state: RunState) -> i64 {
    let position = RunState::ALL.iter().position(|known| *known == state);
    position.unwrap_or_default() as i64
}

pub(super) fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<RunState> {
    let number: i64 = row.get(column)?;
    let known = usize::try_from(number).ok();
    known
        .and_then(|index| RunState::ALL.get(index).copied())
        .ok_or(rusqlite::Error::IntegralValueOutOfRange(column, number))
}

pub(super) fn lane_number(lane: Lane) -> i64 {
    match lane {
        Lane::Sync => 0,
        Lane::Async => 1,
    }
}

pub(super) fn queued(row: &Row<'_>) -> rusqlite::Result<Queued> {
    Ok(Queued {
        number: instant(row, 0)?,
        id: row.get(1)?,
        flow: row.get(2)?,
        lane: match row.get(3)? {
            0 => Lane::Sync,
            1 => Lane::Async,
            other => return Err(rusqlite::Error::IntegralValueOutOfRange(3, other)),
        },
        deadline_ms: maybe_instant(row, 4)?,
    })
}

pub(super) fn instant(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, Box::new(error))
    })
}

pub(super) fn maybe_instant(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    let value: Option<i64> = row.get(column)?;
    // An earlier version wrote times beyond its range as negative numbers.
    Ok(value.map(|value| u64::try_from(value).unwrap_or(i64::MAX as u64)))
}

pub(super) fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Arc<[u8]>>> {
    Ok(row.get::<_, Option<Vec<u8>>>(column)?.map(Arc::from))
}

pub(super) fn run(row: &Row<'_>) -> rusqlite::Result<Run> {
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
        version: row.get(5)?,
        definition: bytes(row, 6)?,
        state: state(row, 7)?,
        epoch: row.get(8)?,
        worker_losses: row.get(9)?,
        worker: row.get(10)?,
        wake_ms: maybe_instant(row, 11)?,
        created_ms: instant(row, 12)?,
        started_ms: maybe_instant(row, 13)?,
        ended_ms: maybe_instant(row, 14)?,
        token: row.get(15)?,
        retry_of: row.get(16)?,
        trigger: bytes(row, 17)?.unwrap_or_default(),
        answer: bytes(row, 18)?,
        details: bytes(row, 19)?,
        trace: row.get(20)?,
    })
}

pub(super) fn find(connection: &Connection, id: &str) -> Result<Run, Error> {
    find_of(ALL, connection, id)
}

pub(super) fn head(connection: &Connection, id: &str) -> Result<Run, Error> {
    find_of(&HEAD, connection, id)
}

fn find_of(columns: &str, connection: &Connection, id: &str) -> Result<Run, Error> {
    connection
        .prepare_cached(&format!("SELECT {columns} FROM runs WHERE id = ?1"))?
        .query_row([id], run)
        .optional()?
        .ok_or(Error::NotFound)
}
