//! API keys in SQLite.

use std::sync::Arc;

use rusqlite::{Row, params};

use super::database::{Database, now_unix_ms};
use crate::{
    Error,
    records::{
        StoreFuture,
        keys::{KeyStore, KeysMark, MAX_KEYS, NewKey, StoredKey, hash_of},
    },
};

/// API keys.
pub(super) struct Keys {
    pub database: Arc<Database>,
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredKey> {
    let hash: Vec<u8> = row.get(3)?;
    Ok(StoredKey {
        number: row.get::<_, i64>(0)? as u64,
        key: NewKey {
            id: row.get(1)?,
            name: row.get(2)?,
            hash: hash_of(&hash),
            roles: row.get(4)?,
            scopes: row.get(5)?,
            requests_per_minute: row.get(6)?,
            created_by: row.get(7)?,
            expires_unix_ms: row.get(8)?,
        },
        created_unix_ms: row.get(9)?,
        last_used_unix_ms: row.get(10)?,
    })
}

impl KeyStore for Keys {
    fn list(&self) -> StoreFuture<'_, Vec<StoredKey>> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT number, id, name, hash, roles, scopes, requests_per_minute, created_by,
                     expires_unix_ms, created_unix_ms, last_used_unix_ms
                 FROM api_keys ORDER BY created_unix_ms, number LIMIT ?1",
            )?;
            let rows = statement.query_map([MAX_KEYS], stored)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn mark(&self) -> StoreFuture<'_, KeysMark> {
        self.database.read(|connection| {
            let mark = "SELECT count(*), ifnull(max(number), 0) FROM api_keys";
            let read = |row: &Row<'_>| {
                Ok(KeysMark {
                    count: row.get::<_, i64>(0)? as u64,
                    newest: row.get::<_, i64>(1)? as u64,
                })
            };
            Ok(connection.prepare_cached(mark)?.query_row([], read)?)
        })
    }

    fn create(&self, key: NewKey) -> StoreFuture<'_, bool> {
        self.database.write(move |transaction| {
            let inserted = transaction
                .prepare_cached(
                    "INSERT INTO api_keys
                     (id, name, hash, roles, scopes, requests_per_minute, created_by,
                         expires_unix_ms, created_unix_ms)
                     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
                     WHERE (SELECT count(*) FROM api_keys) < ?10",
                )?
                .execute(params![
                    key.id,
                    key.name,
                    &key.hash[..],
                    key.roles,
                    key.scopes,
                    key.requests_per_minute,
                    key.created_by,
                    key.expires_unix_ms,
                    now_unix_ms(),
                    MAX_KEYS
                ])?;
            Ok(inserted > 0)
        })
    }

    fn update(&self, number: u64, key: NewKey) -> StoreFuture<'_, bool> {
        self.database.write(move |transaction| {
            // Numbers are not given again, so that no two sets of keys have the same mark.
            transaction
                .prepare_cached("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'api_keys'")?
                .execute([])?;
            let updated = transaction
                .prepare_cached(
                    "UPDATE api_keys SET
                         number = (SELECT seq FROM sqlite_sequence WHERE name = 'api_keys'),
                         name = ?3, roles = ?4, scopes = ?5, requests_per_minute = ?6,
                         expires_unix_ms = ?7
                     WHERE id = ?1 AND number = ?2",
                )?
                .execute(params![
                    key.id,
                    number as i64,
                    key.name,
                    key.roles,
                    key.scopes,
                    key.requests_per_minute,
                    key.expires_unix_ms
                ])?;
            let find = "SELECT count(*) FROM api_keys WHERE id = ?1";
            let mut find = transaction.prepare_cached(find)?;
            match find.query_row([&key.id], |row| row.get::<_, i64>(0))? {
                0 => Err(Error::NotFound),
                _ => Ok(updated > 0),
            }
        })
    }

    fn delete(&self, id: String) -> StoreFuture<'_, ()> {
        self.database.write(move |transaction| {
            let deleted = transaction
                .prepare_cached("DELETE FROM api_keys WHERE id = ?1")?
                .execute([id])?;
            match deleted {
                0 => Err(Error::NotFound),
                _ => Ok(()),
            }
        })
    }

    fn note_uses(&self, uses: Vec<(String, i64)>) -> StoreFuture<'_, ()> {
        self.database.write(move |transaction| {
            let mut statement = transaction.prepare_cached(
                "UPDATE api_keys SET last_used_unix_ms = ?2
                 WHERE id = ?1 AND ifnull(last_used_unix_ms, 0) < ?2",
            )?;
            for (id, at_unix_ms) in uses {
                statement.execute(params![id, at_unix_ms])?;
            }
            Ok(())
        })
    }
}
