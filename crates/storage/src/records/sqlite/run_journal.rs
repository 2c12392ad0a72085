//! Journals of runs: lists of records by position.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use super::run_row::bytes;
use crate::{Error, records::runs::NextRecords};

/// All of a run's journal, in order.
pub(super) fn journal(connection: &Connection, number: u64) -> Result<Vec<Arc<[u8]>>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT records FROM journal WHERE run = ?1 ORDER BY position")?;
    let rows = statement.query_map(
        [number as i64],
        |row| Ok(bytes(row, 0)?.unwrap_or_default()),
    )?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The next list behind a position, with its own.
pub(super) fn journal_after(
    connection: &Connection,
    number: u64,
    position: i64,
) -> Result<NextRecords, Error> {
    let mut next = connection.prepare_cached(
        "SELECT position, records FROM journal WHERE run = ?1 AND position > ?2
         ORDER BY position LIMIT 1",
    )?;
    let next = next.query_row(params![number as i64, position], |row| {
        Ok((row.get(0)?, bytes(row, 1)?.unwrap_or_default()))
    });
    Ok(next.optional()?)
}
