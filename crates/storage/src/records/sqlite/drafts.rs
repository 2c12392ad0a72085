//! Drafts in SQLite.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::database::{Database, now_unix_ms};
use crate::{
    Error,
    records::{
        StoreFuture,
        drafts::{DraftInfo, DraftKind, DraftStore, NewDraft, StoredDraft, next_revision},
    },
};

/// Drafts of all kinds.
pub(super) struct Drafts {
    pub database: Arc<Database>,
}

/// Columns that [`info`] reads.
const INFO: &str = "key, name, revision, base, updated_unix_ms, length(source)";

fn info(row: &Row<'_>) -> rusqlite::Result<DraftInfo> {
    Ok(DraftInfo {
        key: row.get(0)?,
        name: row.get(1)?,
        revision: row.get(2)?,
        base: row.get(3)?,
        updated_unix_ms: row.get(4)?,
        size_bytes: row.get::<_, i64>(5)? as u64,
    })
}

fn revision(connection: &Connection, kind: DraftKind, key: &str) -> Result<Option<u32>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT revision FROM drafts WHERE kind = ?1 AND key = ?2")?;
    let found = statement.query_row(params![kind.number(), key], |row| row.get(0));
    Ok(found.optional()?)
}

impl DraftStore for Drafts {
    fn list(
        &self,
        kind: DraftKind,
        after: Option<String>,
        limit: u32,
    ) -> StoreFuture<'_, Vec<DraftInfo>> {
        self.database.read(move |connection| {
            let list = format!(
                "SELECT {INFO} FROM drafts WHERE kind = ?1 AND key > ?2 ORDER BY key LIMIT ?3"
            );
            let mut statement = connection.prepare_cached(&list)?;
            let after = after.unwrap_or_default();
            let rows = statement.query_map(params![kind.number(), after, limit], info)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn get(&self, kind: DraftKind, key: String) -> StoreFuture<'_, StoredDraft> {
        self.database.read(move |connection| {
            let get = format!("SELECT {INFO}, source FROM drafts WHERE kind = ?1 AND key = ?2");
            let stored = |row: &Row<'_>| {
                Ok(StoredDraft {
                    info: info(row)?,
                    source: Arc::from(row.get::<_, Vec<u8>>(6)?),
                })
            };
            connection
                .prepare_cached(&get)?
                .query_row(params![kind.number(), key], stored)
                .optional()?
                .ok_or(Error::NotFound)
        })
    }

    fn put(
        &self,
        kind: DraftKind,
        draft: NewDraft,
        expected: Option<u32>,
    ) -> StoreFuture<'_, DraftInfo> {
        self.database.write(move |transaction| {
            let updated_unix_ms = now_unix_ms();
            let current = revision(transaction, kind, &draft.key)?;
            let revision = next_revision(current, expected)?;
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO drafts
                     (kind, key, name, revision, base, updated_unix_ms, source)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    kind.number(),
                    draft.key,
                    draft.name,
                    revision,
                    draft.base,
                    updated_unix_ms,
                    &*draft.source
                ])?;
            Ok(DraftInfo {
                size_bytes: draft.source.len() as u64,
                key: draft.key,
                name: draft.name,
                revision,
                base: draft.base,
                updated_unix_ms,
            })
        })
    }

    fn delete(&self, kind: DraftKind, key: String, expected: u32) -> StoreFuture<'_, ()> {
        self.database.write(move |transaction| {
            match revision(transaction, kind, &key)? {
                None => return Err(Error::NotFound),
                Some(current) if current != expected => return Err(Error::Stale(current)),
                Some(_) => {}
            }
            transaction
                .prepare_cached("DELETE FROM drafts WHERE kind = ?1 AND key = ?2")?
                .execute(params![kind.number(), key])?;
            Ok(())
        })
    }
}
