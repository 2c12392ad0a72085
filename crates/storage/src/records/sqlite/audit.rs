//! The audit log in SQLite.

use std::sync::Arc;

use rusqlite::{Row, params};

use super::database::{Database, now_unix_ms};
use crate::records::{
    StoreFuture,
    audit::{AuditEntry, AuditStore, MAX_ENTRIES, NewAuditEntry},
};

/// The audit log.
pub(super) struct Audit {
    pub database: Arc<Database>,
}

/// Columns that [`entry`] reads.
const ENTRY: &str = "number, at_unix_ms, actor, action, subject, version, request_id, address";

fn entry(row: &Row<'_>) -> rusqlite::Result<AuditEntry> {
    Ok(AuditEntry {
        number: row.get::<_, i64>(0)? as u64,
        at_unix_ms: row.get(1)?,
        actor: row.get(2)?,
        action: row.get(3)?,
        subject: row.get(4)?,
        version: row.get(5)?,
        request_id: row.get(6)?,
        address: row.get(7)?,
    })
}

impl Audit {
    fn read(&self, query: String, bound: u64, limit: u32) -> StoreFuture<'_, Vec<AuditEntry>> {
        let bound = i64::try_from(bound).unwrap_or(i64::MAX);
        self.database.read(move |connection| {
            let mut statement = connection.prepare_cached(&query)?;
            let rows = statement.query_map(params![bound, limit], entry)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

impl AuditStore for Audit {
    fn append(&self, entry: NewAuditEntry) -> StoreFuture<'_, ()> {
        self.database.write(move |transaction| {
            transaction
                .prepare_cached(
                    "INSERT INTO audit
                     (at_unix_ms, actor, action, subject, version, request_id, address)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    now_unix_ms(),
                    entry.actor,
                    entry.action,
                    entry.subject,
                    entry.version,
                    entry.request_id,
                    entry.address
                ])?;
            let oldest = transaction.last_insert_rowid() - MAX_ENTRIES as i64;
            transaction
                .prepare_cached("DELETE FROM audit WHERE number <= ?1")?
                .execute([oldest])?;
            Ok(())
        })
    }

    fn list(&self, after: u64, limit: u32) -> StoreFuture<'_, Vec<AuditEntry>> {
        let query = format!("SELECT {ENTRY} FROM audit WHERE number > ?1 ORDER BY number LIMIT ?2");
        self.read(query, after, limit)
    }

    fn recent(&self, before: Option<u64>, limit: u32) -> StoreFuture<'_, Vec<AuditEntry>> {
        let query =
            format!("SELECT {ENTRY} FROM audit WHERE number < ?1 ORDER BY number DESC LIMIT ?2");
        self.read(query, before.unwrap_or(u64::MAX), limit)
    }
}
