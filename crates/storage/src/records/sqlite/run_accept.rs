//! Inserts runs, and appends to their journals.

use rusqlite::{Connection, OptionalExtension, params};

use super::run_row::lane_number;
use crate::{
    Error,
    records::runs::{Accepted, NewRun},
};

/// Appends a list of records to the journal of the run with this number.
pub(super) fn add(
    connection: &Connection,
    number: i64,
    epoch: u32,
    records: &[u8],
) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO journal (run, position, epoch, records) VALUES
             (?1, 1 + ifnull((SELECT max(position) FROM journal WHERE run = ?1), 0), ?2, ?3)",
        )?
        .execute(params![number, epoch, records])?;
    Ok(())
}

/// Inserts a run, unless a request with the same idempotency key was accepted before.
pub(super) fn insert(connection: &Connection, new: &NewRun) -> Result<Accepted, Error> {
    if let Some((key, hash)) = &new.idempotency {
        let known: Option<(String, Vec<u8>)> = connection
            .prepare_cached(
                "SELECT id, request_hash FROM runs WHERE flow = ?1 AND idempotency_key = ?2",
            )?
            .query_row(params![new.flow, key], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if let Some((id, found)) = known {
            let same = found == *hash;
            return Ok(Accepted::Known { id, same });
        }
    }
    connection
        .prepare_cached(
            "INSERT INTO runs (id, flow, version, definition, lane, state, deadline_ms, created_ms,
             token, retry_of, idempotency_key, request_hash, trigger_payload,
             trace)
             VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            new.id,
            new.flow,
            new.version,
            new.definition.as_deref(),
            lane_number(new.lane),
            new.deadline_ms.map(|instant| instant as i64),
            new.created_ms as i64,
            new.token,
            new.retry_of,
            new.idempotency.as_ref().map(|(key, _)| key),
            new.idempotency.as_ref().map(|(_, hash)| hash),
            &*new.trigger,
            new.trace,
        ])?;
    if let Some(records) = &new.journal {
        add(connection, connection.last_insert_rowid(), 0, records)?;
    }
    Ok(Accepted::New)
}
