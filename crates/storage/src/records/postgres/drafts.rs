//! Drafts in PostgreSQL. A writer locks the row of a draft first; of two that make one, the insert
//! of the second finds that of the first.

use std::sync::Arc;

use tokio_postgres::{Error as PgError, Row};

use super::{
    connection::Connection,
    database::Database,
    job::Failure,
    run_row::{number, small},
    shard::shard_of,
};
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
const INFO: &str = "key, name, revision, base, updated_unix_ms, octet_length(source)::bigint";

fn info(row: &Row) -> Result<DraftInfo, PgError> {
    let base: Option<i64> = row.try_get(3)?;
    Ok(DraftInfo {
        key: row.try_get(0)?,
        name: row.try_get(1)?,
        revision: small(row, 2)?,
        base: base.and_then(|base| u32::try_from(base).ok()),
        updated_unix_ms: row.try_get(4)?,
        size_bytes: number(row, 5)?,
    })
}

/// The revision of a draft, whose row stays locked.
async fn revision(
    connection: &Connection,
    kind: DraftKind,
    key: &str,
) -> Result<Option<u32>, Failure> {
    let find = "SELECT revision FROM drafts WHERE kind = $1 AND key = $2 FOR UPDATE";
    let rows = connection.query(find, &[&kind.number(), &key]).await?;
    Ok(rows.first().map(|row| small(row, 0)).transpose()?)
}

async fn put(
    connection: &Connection,
    kind: DraftKind,
    draft: &NewDraft,
    expected: Option<u32>,
    updated_unix_ms: i64,
) -> Result<DraftInfo, Failure> {
    let current = revision(connection, kind, &draft.key).await?;
    let revision = next_revision(current, expected)?;
    // Another writer may have made the draft after the look.
    let conflict = match expected {
        None => "DO NOTHING",
        Some(_) => {
            "DO UPDATE SET name = $3, revision = $4, base = $5, updated_unix_ms = $6, source = $7"
        }
    };
    let insert = format!(
        "INSERT INTO drafts (kind, key, name, revision, base, updated_unix_ms, source)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (kind, key) {conflict} RETURNING {INFO}"
    );
    let rows = connection
        .query(
            &insert,
            &[
                &kind.number(),
                &draft.key,
                &draft.name,
                &i64::from(revision),
                &draft.base.map(i64::from),
                &updated_unix_ms,
                &&*draft.source,
            ],
        )
        .await?;
    let row = rows.first().ok_or(Error::Exists(revision))?;
    Ok(info(row)?)
}

impl DraftStore for Drafts {
    fn list(
        &self,
        kind: DraftKind,
        after: Option<String>,
        limit: u32,
    ) -> StoreFuture<'_, Vec<DraftInfo>> {
        let after = Arc::new(after.unwrap_or_default());
        self.database.read(move |connection| {
            let after = Arc::clone(&after);
            Box::pin(async move {
                let list = format!(
                    "SELECT {INFO} FROM drafts WHERE kind = $1 AND key > $2 ORDER BY key LIMIT $3"
                );
                let rows = connection
                    .query(&list, &[&kind.number(), &*after, &i64::from(limit)])
                    .await?;
                Ok(rows.iter().map(info).collect::<Result<_, _>>()?)
            })
        })
    }

    fn get(&self, kind: DraftKind, key: String) -> StoreFuture<'_, StoredDraft> {
        let key = Arc::new(key);
        self.database.read(move |connection| {
            let key = Arc::clone(&key);
            Box::pin(async move {
                let get = format!("SELECT {INFO}, source FROM drafts WHERE kind = $1 AND key = $2");
                let rows = connection.query(&get, &[&kind.number(), &*key]).await?;
                let row = rows.first().ok_or(Error::NotFound)?;
                let source: &[u8] = row.try_get(6)?;
                Ok(StoredDraft {
                    info: info(row)?,
                    source: Arc::from(source),
                })
            })
        })
    }

    fn put(
        &self,
        kind: DraftKind,
        draft: NewDraft,
        expected: Option<u32>,
    ) -> StoreFuture<'_, DraftInfo> {
        let updated_unix_ms = self.database.now_ms() as i64;
        let lane = self.database.lane_of(shard_of(&draft.key));
        let draft = Arc::new(draft);
        self.database.write(lane, move |connection| {
            let draft = Arc::clone(&draft);
            Box::pin(async move { put(connection, kind, &draft, expected, updated_unix_ms).await })
        })
    }

    fn delete(&self, kind: DraftKind, key: String, expected: u32) -> StoreFuture<'_, ()> {
        let lane = self.database.lane_of(shard_of(&key));
        let key = Arc::new(key);
        self.database.write(lane, move |connection| {
            let key = Arc::clone(&key);
            Box::pin(async move {
                match revision(connection, kind, &key).await? {
                    None => return Err(Error::NotFound.into()),
                    Some(current) if current != expected => {
                        return Err(Error::Stale(current).into());
                    }
                    Some(_) => {}
                }
                let delete = "DELETE FROM drafts WHERE kind = $1 AND key = $2";
                connection.query(delete, &[&kind.number(), &*key]).await?;
                Ok(())
            })
        })
    }
}
