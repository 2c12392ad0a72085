//! The audit log in PostgreSQL.

use std::sync::Arc;

use tokio_postgres::{Error as PgError, Row};

use super::{database::Database, run_row::number, shard::shard_of};
use crate::records::{
    StoreFuture,
    audit::{AuditEntry, AuditStore, MAX_ENTRIES, NewAuditEntry},
};

/// The lock that whoever appends holds, so that numbers are given in the order of commits: who reads
/// up to a number would never see a lower one that is committed later.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('platen:audit', 0))";

/// The audit log.
pub(super) struct Audit {
    pub database: Arc<Database>,
}

/// Columns that [`entry`] reads.
const ENTRY: &str = "number, at_unix_ms, actor, action, subject, version, request_id, address";

fn entry(row: &Row) -> Result<AuditEntry, PgError> {
    let version: Option<i64> = row.try_get(5)?;
    Ok(AuditEntry {
        number: number(row, 0)?,
        at_unix_ms: row.try_get(1)?,
        actor: row.try_get(2)?,
        action: row.try_get(3)?,
        subject: row.try_get(4)?,
        version: version.and_then(|version| u32::try_from(version).ok()),
        request_id: row.try_get(6)?,
        address: row.try_get(7)?,
    })
}

impl Audit {
    fn read(&self, query: String, bound: u64, limit: u32) -> StoreFuture<'_, Vec<AuditEntry>> {
        let bound = i64::try_from(bound).unwrap_or(i64::MAX);
        let query = Arc::new(query);
        self.database.read(move |connection| {
            let query = Arc::clone(&query);
            Box::pin(async move {
                let rows = connection
                    .query(&query, &[&bound, &i64::from(limit)])
                    .await?;
                Ok(rows.iter().map(entry).collect::<Result<_, _>>()?)
            })
        })
    }
}

impl AuditStore for Audit {
    fn append(&self, entry: NewAuditEntry) -> StoreFuture<'_, ()> {
        let at_unix_ms = self.database.now_ms() as i64;
        let lane = self.database.lane_of(shard_of(&entry.subject));
        let entry = Arc::new(entry);
        self.database.write(lane, move |connection| {
            let entry = Arc::clone(&entry);
            Box::pin(async move {
                connection.query(LOCK, &[]).await?;
                let insert = "INSERT INTO audit
                     (at_unix_ms, actor, action, subject, version, request_id, address)
                     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING number";
                let version = entry.version.map(i64::from);
                let rows = connection
                    .query(
                        insert,
                        &[
                            &at_unix_ms,
                            &entry.actor,
                            &entry.action,
                            &entry.subject,
                            &version,
                            &entry.request_id,
                            &entry.address,
                        ],
                    )
                    .await?;
                let newest: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
                let oldest = newest - MAX_ENTRIES as i64;
                let delete = "DELETE FROM audit WHERE number <= $1";
                connection.query(delete, &[&oldest]).await?;
                Ok(())
            })
        })
    }

    fn list(&self, after: u64, limit: u32) -> StoreFuture<'_, Vec<AuditEntry>> {
        let query = format!("SELECT {ENTRY} FROM audit WHERE number > $1 ORDER BY number LIMIT $2");
        self.read(query, after, limit)
    }

    fn recent(&self, before: Option<u64>, limit: u32) -> StoreFuture<'_, Vec<AuditEntry>> {
        let query =
            format!("SELECT {ENTRY} FROM audit WHERE number < $1 ORDER BY number DESC LIMIT $2");
        self.read(query, before.unwrap_or(u64::MAX), limit)
    }
}
