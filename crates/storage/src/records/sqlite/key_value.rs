//! Values that flows keep from one run to the next; readable only under a lease.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use super::{database::Database, run_row::bytes};
use crate::{
    Error,
    records::{
        StoreFuture,
        runs::{Hold, Scope},
    },
};

/// Reads under a lease. The claim of that lease may still be in the write queue, so if a reader
/// does not find it, the read is repeated on the writer thread, which runs after the claim.
pub(super) fn ask<T: Send + 'static>(
    database: &Arc<Database>,
    work: impl Fn(&Connection) -> Result<T, Error> + Clone + Send + 'static,
) -> StoreFuture<'static, T> {
    let database = Arc::clone(database);
    Box::pin(async move {
        match database.read(work.clone()).await {
            Err(Error::Fenced) => database.write(move |transaction| work(transaction)).await,
            other => other,
        }
    })
}

/// Key of the flow of a run whose lease is valid.
pub(super) fn flow_of(connection: &Connection, hold: &Hold) -> Result<String, Error> {
    connection
        .prepare_cached(
            "SELECT flow FROM runs
             WHERE id = ?1 AND epoch = ?2 AND state = 1 AND lease_until_ms >= ?3",
        )?
        .query_row(params![hold.id, hold.epoch, hold.now_ms as i64], |row| {
            row.get(0)
        })
        .optional()?
        .ok_or(Error::Fenced)
}

/// A value of the run's flow, or of all flows.
pub(super) fn get(
    connection: &Connection,
    hold: &Hold,
    scope: Scope,
    key: &str,
) -> Result<Option<Arc<[u8]>>, Error> {
    let flow = flow_of(connection, hold)?;
    let flow = match scope {
        Scope::Flow => flow,
        Scope::Shared => String::new(),
    };
    let value = connection
        .prepare_cached("SELECT value FROM kept WHERE flow = ?1 AND key = ?2")?
        .query_row([&*flow, key], |row| bytes(row, 0))
        .optional()?;
    Ok(value.flatten())
}

/// Stores a value for the flow of the run `id`, or for all flows; `None` deletes it.
pub(super) fn put(
    connection: &Connection,
    id: &str,
    scope: Scope,
    key: &str,
    value: Option<&[u8]>,
) -> Result<(), Error> {
    let flow = match scope {
        Scope::Flow => connection
            .prepare_cached("SELECT flow FROM runs WHERE id = ?1")?
            .query_row([id], |row| row.get(0))?,
        Scope::Shared => String::new(),
    };
    match value {
        Some(value) => connection
            .prepare_cached(
                "INSERT INTO kept (flow, key, value) VALUES (?1, ?2, ?3)
                 ON CONFLICT (flow, key) DO UPDATE SET value = ?3",
            )?
            .execute(params![flow, key, value])?,
        None => connection
            .prepare_cached("DELETE FROM kept WHERE flow = ?1 AND key = ?2")?
            .execute([&*flow, key])?,
    };
    Ok(())
}
