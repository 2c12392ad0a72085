//! API keys in PostgreSQL.

use std::sync::Arc;

use tokio_postgres::{Error as PgError, Row};

use super::{database::Database, run_row::number, shard::shard_of};
use crate::{
    Error,
    records::{
        StoreFuture,
        keys::{KeyStore, KeysMark, MAX_KEYS, NewKey, StoredKey, hash_of},
    },
};

/// The lock that those who make keys hold, so that their number has a bound.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('platen:api-keys', 0))";

/// API keys.
pub(super) struct Keys {
    pub database: Arc<Database>,
}

fn stored(row: &Row) -> Result<StoredKey, PgError> {
    let limit: Option<i64> = row.try_get(6)?;
    Ok(StoredKey {
        number: number(row, 0)?,
        key: NewKey {
            id: row.try_get(1)?,
            name: row.try_get(2)?,
            hash: hash_of(row.try_get(3)?),
            roles: row.try_get(4)?,
            scopes: row.try_get(5)?,
            requests_per_minute: limit.and_then(|limit| u32::try_from(limit).ok()),
            created_by: row.try_get(7)?,
            expires_unix_ms: row.try_get(8)?,
        },
        created_unix_ms: row.try_get(9)?,
        last_used_unix_ms: row.try_get(10)?,
    })
}

impl KeyStore for Keys {
    fn list(&self) -> StoreFuture<'_, Vec<StoredKey>> {
        self.database.read(|connection| {
            Box::pin(async move {
                let list = "SELECT number, id, name, hash, roles, scopes, requests_per_minute,
                         created_by, expires_unix_ms, created_unix_ms, last_used_unix_ms
                     FROM api_keys ORDER BY created_unix_ms, number LIMIT $1";
                let rows = connection.query(list, &[&i64::from(MAX_KEYS)]).await?;
                Ok(rows.iter().map(stored).collect::<Result<_, _>>()?)
            })
        })
    }

    fn mark(&self) -> StoreFuture<'_, KeysMark> {
        self.database.read(|connection| {
            Box::pin(async move {
                let mark = "SELECT count(*), coalesce(max(number), 0) FROM api_keys";
                let rows = connection.query(mark, &[]).await?;
                let row = rows.first().ok_or(Error::NotFound)?;
                Ok(KeysMark {
                    count: number(row, 0)?,
                    newest: number(row, 1)?,
                })
            })
        })
    }

    fn create(&self, key: NewKey) -> StoreFuture<'_, bool> {
        let created_unix_ms = self.database.now_ms() as i64;
        let lane = self.database.lane_of(shard_of(&key.id));
        let key = Arc::new(key);
        self.database.write(lane, move |connection| {
            let key = Arc::clone(&key);
            Box::pin(async move {
                connection.query(LOCK, &[]).await?;
                let insert = "INSERT INTO api_keys
                     (id, name, hash, roles, scopes, requests_per_minute, created_by,
                         expires_unix_ms, created_unix_ms)
                     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9
                     WHERE (SELECT count(*) FROM api_keys) < $10 RETURNING number";
                let rows = connection
                    .query(
                        insert,
                        &[
                            &key.id,
                            &key.name,
                            &&key.hash[..],
                            &key.roles,
                            &key.scopes,
                            &key.requests_per_minute.map(i64::from),
                            &key.created_by,
                            &key.expires_unix_ms,
                            &created_unix_ms,
                            &i64::from(MAX_KEYS),
                        ],
                    )
                    .await?;
                Ok(!rows.is_empty())
            })
        })
    }

    fn update(&self, number: u64, key: NewKey) -> StoreFuture<'_, bool> {
        let lane = self.database.lane_of(shard_of(&key.id));
        let key = Arc::new(key);
        self.database.write(lane, move |connection| {
            let key = Arc::clone(&key);
            Box::pin(async move {
                // Numbers are given in the order of commits, or a mark would miss this one.
                connection.query(LOCK, &[]).await?;
                let update = "UPDATE api_keys SET number = DEFAULT, name = $3, roles = $4,
                         scopes = $5, requests_per_minute = $6, expires_unix_ms = $7
                     WHERE id = $1 AND number = $2 RETURNING number";
                let rows = connection
                    .query(
                        update,
                        &[
                            &key.id,
                            &(number as i64),
                            &key.name,
                            &key.roles,
                            &key.scopes,
                            &key.requests_per_minute.map(i64::from),
                            &key.expires_unix_ms,
                        ],
                    )
                    .await?;
                if rows.is_empty() {
                    let find = "SELECT number FROM api_keys WHERE id = $1";
                    let found = connection.query(find, &[&key.id]).await?;
                    found.first().ok_or(Error::NotFound)?;
                }
                Ok(!rows.is_empty())
            })
        })
    }

    fn delete(&self, id: String) -> StoreFuture<'_, ()> {
        let lane = self.database.lane_of(shard_of(&id));
        let id = Arc::new(id);
        self.database.write(lane, move |connection| {
            let id = Arc::clone(&id);
            Box::pin(async move {
                connection.query(LOCK, &[]).await?;
                let delete = "DELETE FROM api_keys WHERE id = $1 RETURNING number";
                let rows = connection.query(delete, &[&*id]).await?;
                rows.first().ok_or(Error::NotFound)?;
                Ok(())
            })
        })
    }

    fn note_uses(&self, uses: Vec<(String, i64)>) -> StoreFuture<'_, ()> {
        let uses = Arc::new(uses.into_iter().unzip::<_, _, Vec<String>, Vec<i64>>());
        self.database.maintain(move |connection| {
            let uses = Arc::clone(&uses);
            Box::pin(async move {
                // In one order, so that services do not wait for each other in a circle.
                let note = "
                    WITH uses AS (
                        SELECT id, at FROM unnest($1::text[], $2::bigint[]) AS uses (id, at)),
                    locked AS (
                        SELECT k.number, u.at FROM api_keys k JOIN uses u ON u.id = k.id
                        WHERE coalesce(k.last_used_unix_ms, 0) < u.at
                        ORDER BY k.number FOR UPDATE OF k)
                    UPDATE api_keys k SET last_used_unix_ms = locked.at
                    FROM locked WHERE locked.number = k.number";
                connection.query(note, &[&uses.0, &uses.1]).await?;
                Ok(())
            })
        })
    }
}
