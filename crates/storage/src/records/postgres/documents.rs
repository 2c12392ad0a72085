//! Versioned documents in PostgreSQL: the same statements on the tables of each kind.
//!
//! Writers of a document lock its row first, so that one of them finds the version it expects.

use std::sync::Arc;

use tokio_postgres::{Error as PgError, Row};

use super::{
    connection::{BoxFuture, Connection},
    database::Database,
    job::Failure,
    run_row::small,
    shard::shard_of,
};
use crate::{
    DocumentPage, DocumentStore, DocumentSummary, Error, Labels, Listing, NewVersion,
    StoredDocument, VersionInfo, records::StoreFuture,
};

/// Table names of a kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tables {
    pub all: &'static str,
    pub versions: &'static str,
}

impl Tables {
    fn sql(self, statement: &str) -> String {
        statement
            .replace("$all", self.all)
            .replace("$versions", self.versions)
    }
}

/// Documents of a kind.
pub(super) struct Documents {
    pub database: Arc<Database>,
    pub tables: Tables,
}

impl Documents {
    /// Queues a write of the document `key`.
    fn write<T, F>(&self, key: &str, statements: F) -> StoreFuture<'static, T>
    where
        T: Send + Sync + 'static,
        F: for<'a> Fn(&'a Connection) -> BoxFuture<'a, Result<T, Failure>> + Send + Sync + 'static,
    {
        let lane = self.database.lane_of(shard_of(key));
        self.database.write(lane, statements)
    }
}

/// Current version, last version and generation of a document; the current version is `None` if the
/// document is deleted.
type State = (Option<u32>, u32, u32);

fn state(row: &Row) -> Result<State, PgError> {
    let current: Option<i64> = row.try_get(0)?;
    let current = current.and_then(|current| u32::try_from(current).ok());
    Ok((current, small(row, 1)?, small(row, 2)?))
}

async fn find_state(
    connection: &Connection,
    tables: Tables,
    key: &str,
    lock: &str,
) -> Result<Option<State>, Failure> {
    let find = tables.sql("SELECT current, last, generation FROM $all WHERE key = $1") + lock;
    let rows = connection.query(&find, &[&key]).await?;
    Ok(rows.first().map(state).transpose()?)
}

/// Last version and generation of a document whose current version must be `expected`; locks it.
async fn expect(
    connection: &Connection,
    tables: Tables,
    key: &str,
    expected: u32,
) -> Result<(u32, u32), Failure> {
    match find_state(connection, tables, key, " FOR UPDATE").await? {
        Some((Some(current), last, generation)) if current == expected => Ok((last, generation)),
        Some((Some(current), ..)) => Err(Error::Stale(current).into()),
        Some((None, ..)) | None => Err(Error::NotFound.into()),
    }
}

/// Locks the row of a document that is to be created; makes the row if there is none. Returns the
/// last version and the generation.
async fn reserve(
    connection: &Connection,
    tables: Tables,
    key: &str,
) -> Result<(u32, u32), Failure> {
    let reserve = tables.sql(
        "INSERT INTO $all (key, current, last, generation) VALUES ($1, NULL, 0, 0)
         ON CONFLICT (key) DO NOTHING",
    );
    connection.query(&reserve, &[&key]).await?;
    match find_state(connection, tables, key, " FOR UPDATE").await? {
        Some((Some(current), ..)) => Err(Error::Exists(current).into()),
        Some((None, last, generation)) => Ok((last, generation)),
        None => Err(Error::NotFound.into()),
    }
}

/// Which version is inserted.
struct Place {
    version: u32,
    generation: u32,
    restored_from: Option<u32>,
    created_unix_ms: i64,
}

async fn insert(
    connection: &Connection,
    tables: Tables,
    new: &NewVersion,
    place: Place,
) -> Result<VersionInfo, Failure> {
    let (version, generation) = (i64::from(place.version), i64::from(place.generation));
    let restored_from = place.restored_from.map(i64::from);
    let update =
        tables.sql("UPDATE $all SET current = $2, last = $2, generation = $3 WHERE key = $1");
    connection
        .query(&update, &[&new.key, &version, &generation])
        .await?;
    let insert = tables.sql(
        "INSERT INTO $versions
         (key, version, generation, name, note, restored_from, created_unix_ms, source)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    );
    connection
        .query(
            &insert,
            &[
                &new.key,
                &version,
                &generation,
                &new.name,
                &new.note,
                &restored_from,
                &place.created_unix_ms,
                &&*new.source,
            ],
        )
        .await?;
    Ok(VersionInfo {
        key: new.key.clone(),
        version: place.version,
        name: new.name.clone(),
        note: new.note.clone(),
        restored_from: place.restored_from,
        created_unix_ms: place.created_unix_ms,
        size_bytes: new.source.len() as u64,
    })
}

/// Columns that [`info`] reads.
const INFO: &str = "v.key, v.version, v.name, v.note, v.restored_from, v.created_unix_ms, \
     octet_length(v.source)::bigint";

fn info(row: &Row) -> Result<VersionInfo, PgError> {
    let restored_from: Option<i64> = row.try_get(4)?;
    Ok(VersionInfo {
        key: row.try_get(0)?,
        version: small(row, 1)?,
        name: row.try_get(2)?,
        note: row.try_get(3)?,
        restored_from: restored_from.and_then(|version| u32::try_from(version).ok()),
        created_unix_ms: row.try_get(5)?,
        size_bytes: super::run_row::number(row, 6)?,
    })
}

async fn get(
    connection: &Connection,
    tables: Tables,
    key: &str,
    version: Option<u32>,
) -> Result<StoredDocument, Failure> {
    // Versions from before a deletion belong to an earlier generation.
    let query = tables.sql(&format!(
        "SELECT {INFO}, v.source FROM $all t
         JOIN $versions v ON v.key = t.key AND v.version = coalesce($2, t.current)
         WHERE t.key = $1 AND t.current IS NOT NULL AND v.generation = t.generation"
    ));
    let version = version.map(i64::from);
    let rows = connection.query(&query, &[&key, &version]).await?;
    let row = rows.first().ok_or(Error::NotFound)?;
    let source: &[u8] = row.try_get(7)?;
    Ok(StoredDocument {
        info: info(row)?,
        source: Arc::from(source),
    })
}

async fn list(
    connection: &Connection,
    tables: Tables,
    wanted: &Listing,
) -> Result<DocumentPage, Failure> {
    let list = tables.sql(
        "SELECT t.key, v.name, v.version, v.created_unix_ms, v.note,
             octet_length(v.source)::bigint, t.labels
         FROM $all t JOIN $versions v ON v.key = t.key AND v.version = t.current
         WHERE t.key > $1 AND ($3 = '' OR strpos(t.labels, $3) > 0) ORDER BY t.key LIMIT $2",
    );
    let after = wanted.after.clone().unwrap_or_default();
    let sought = Labels::sought(wanted.label.as_deref());
    let one_more = i64::from(wanted.limit) + 1;
    let rows = connection
        .query(&list, &[&after, &one_more, &sought])
        .await?;
    let documents = rows.iter().map(|row| {
        Ok(DocumentSummary {
            key: row.try_get(0)?,
            name: row.try_get(1)?,
            version: small(row, 2)?,
            updated_unix_ms: row.try_get(3)?,
            note: row.try_get(4)?,
            size_bytes: super::run_row::number(row, 5)?,
            labels: Labels::read(row.try_get(6)?),
        })
    });
    let mut documents = documents.collect::<Result<Vec<_>, PgError>>()?;
    let more = documents.len() > wanted.limit as usize;
    documents.truncate(wanted.limit as usize);
    Ok(DocumentPage { documents, more })
}

async fn find_labels(
    connection: &Connection,
    tables: Tables,
    key: &str,
    lock: &str,
) -> Result<Labels, Failure> {
    let query = "SELECT labels, labels_revision FROM $all WHERE key = $1 AND current IS NOT NULL";
    let rows = connection
        .query(&(tables.sql(query) + lock), &[&key])
        .await?;
    let row = rows.first().ok_or(Error::NotFound)?;
    Ok(Labels {
        labels: Labels::read(row.try_get(0)?),
        revision: small(row, 1)?,
    })
}

/// Replaces the labels of a document; locks it.
async fn replace_labels(
    connection: &Connection,
    tables: Tables,
    key: &str,
    labels: &[String],
    expected: Option<u32>,
) -> Result<Labels, Failure> {
    let current = find_labels(connection, tables, key, " FOR UPDATE")
        .await?
        .revision;
    if expected.is_some_and(|expected| expected != current) {
        return Err(Error::Stale(current).into());
    }
    let revision = current + 1;
    let update = tables.sql("UPDATE $all SET labels = $2, labels_revision = $3 WHERE key = $1");
    let written = Labels::written(labels);
    connection
        .query(&update, &[&key, &written, &i64::from(revision)])
        .await?;
    Ok(Labels {
        labels: labels.to_vec(),
        revision,
    })
}

async fn list_versions(
    connection: &Connection,
    tables: Tables,
    key: &str,
    before: Option<u32>,
    limit: u32,
) -> Result<Vec<VersionInfo>, Failure> {
    match find_state(connection, tables, key, "").await? {
        Some((Some(_), ..)) => {}
        Some((None, ..)) | None => return Err(Error::NotFound.into()),
    }
    let list = tables.sql(&format!(
        "SELECT {INFO} FROM $all t JOIN $versions v ON v.key = t.key
         WHERE t.key = $1 AND v.generation = t.generation AND v.version < $2
         ORDER BY v.version DESC LIMIT $3"
    ));
    let before = i64::from(before.unwrap_or(u32::MAX));
    let rows = connection
        .query(&list, &[&key, &before, &i64::from(limit)])
        .await?;
    Ok(rows.iter().map(info).collect::<Result<_, _>>()?)
}

impl DocumentStore for Documents {
    fn list(&self, wanted: Listing) -> StoreFuture<'_, DocumentPage> {
        let tables = self.tables;
        self.database.read(move |connection| {
            let wanted = wanted.clone();
            Box::pin(async move { list(connection, tables, &wanted).await })
        })
    }

    fn get(&self, key: String, version: Option<u32>) -> StoreFuture<'_, StoredDocument> {
        let tables = self.tables;
        self.database.read(move |connection| {
            let key = key.clone();
            Box::pin(async move { get(connection, tables, &key, version).await })
        })
    }

    fn current_version(&self, key: String) -> StoreFuture<'_, u32> {
        let tables = self.tables;
        self.database.read(move |connection| {
            let key = key.clone();
            Box::pin(async move {
                let state = find_state(connection, tables, &key, "").await?;
                let current = state.and_then(|(current, ..)| current);
                Ok(current.ok_or(Error::NotFound)?)
            })
        })
    }

    fn create(&self, new: NewVersion) -> StoreFuture<'_, VersionInfo> {
        let (tables, created_unix_ms) = (self.tables, self.database.now_ms() as i64);
        let key = new.key.clone();
        let new = Arc::new(new);
        self.write(&key, move |connection| {
            let new = Arc::clone(&new);
            Box::pin(async move {
                let (last, generation) = reserve(connection, tables, &new.key).await?;
                let place = Place {
                    version: last + 1,
                    generation: generation + 1,
                    restored_from: None,
                    created_unix_ms,
                };
                insert(connection, tables, &new, place).await
            })
        })
    }

    fn update(&self, new: NewVersion, expected: u32) -> StoreFuture<'_, VersionInfo> {
        let (tables, created_unix_ms) = (self.tables, self.database.now_ms() as i64);
        let key = new.key.clone();
        let new = Arc::new(new);
        self.write(&key, move |connection| {
            let new = Arc::clone(&new);
            Box::pin(async move {
                let (last, generation) = expect(connection, tables, &new.key, expected).await?;
                let place = Place {
                    version: last + 1,
                    generation,
                    restored_from: None,
                    created_unix_ms,
                };
                insert(connection, tables, &new, place).await
            })
        })
    }

    fn restore(
        &self,
        key: String,
        version: u32,
        expected: u32,
        note: Option<String>,
    ) -> StoreFuture<'_, VersionInfo> {
        let (tables, created_unix_ms) = (self.tables, self.database.now_ms() as i64);
        let given = Arc::new((key.clone(), note));
        self.write(&key, move |connection| {
            let given = Arc::clone(&given);
            Box::pin(async move {
                let (key, note) = &*given;
                let (last, generation) = expect(connection, tables, key, expected).await?;
                let former = get(connection, tables, key, Some(version)).await?;
                let new = NewVersion {
                    key: key.clone(),
                    name: former.info.name,
                    source: former.source,
                    note: note.clone(),
                };
                let place = Place {
                    version: last + 1,
                    generation,
                    restored_from: Some(version),
                    created_unix_ms,
                };
                insert(connection, tables, &new, place).await
            })
        })
    }

    fn delete(&self, key: String, expected: u32) -> StoreFuture<'_, ()> {
        let tables = self.tables;
        let document = Arc::new(key.clone());
        self.write(&key, move |connection| {
            let key = Arc::clone(&document);
            Box::pin(async move {
                expect(connection, tables, &key, expected).await?;
                // A document that is made anew has no labels of a former one.
                let delete = tables.sql(
                    "UPDATE $all SET current = NULL, labels = '',
                         labels_revision = labels_revision + 1 WHERE key = $1",
                );
                connection.query(&delete, &[&*key]).await?;
                Ok(())
            })
        })
    }

    fn labels(&self, key: String) -> StoreFuture<'_, Labels> {
        let tables = self.tables;
        self.database.read(move |connection| {
            let key = key.clone();
            Box::pin(async move { find_labels(connection, tables, &key, "").await })
        })
    }

    fn set_labels(
        &self,
        key: String,
        labels: Vec<String>,
        expected: Option<u32>,
    ) -> StoreFuture<'_, Labels> {
        let tables = self.tables;
        let given = Arc::new((key.clone(), labels));
        self.write(&key, move |connection| {
            let given = Arc::clone(&given);
            Box::pin(async move {
                let (key, labels) = &*given;
                replace_labels(connection, tables, key, labels, expected).await
            })
        })
    }

    fn versions(
        &self,
        key: String,
        before: Option<u32>,
        limit: u32,
    ) -> StoreFuture<'_, Vec<VersionInfo>> {
        let tables = self.tables;
        self.database.read(move |connection| {
            let key = key.clone();
            Box::pin(async move { list_versions(connection, tables, &key, before, limit).await })
        })
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        self.database.check()
    }
}
