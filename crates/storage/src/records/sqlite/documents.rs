//! Versioned documents in SQLite: the same statements on the tables of each kind.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::database::{Database, now_unix_ms};
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

/// Current version, last version and generation of a document; the current version is `None` if the
/// document is deleted.
fn state(
    connection: &Connection,
    tables: Tables,
    key: &str,
) -> Result<Option<(Option<u32>, u32, u32)>, Error> {
    let mut statement = connection
        .prepare_cached(&tables.sql("SELECT current, last, generation FROM $all WHERE key = ?1"))?;
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    Ok(statement.query_row([key], row).optional()?)
}

/// Last version and generation of a document whose current version must be `expected`.
fn expect(
    connection: &Connection,
    tables: Tables,
    key: &str,
    expected: u32,
) -> Result<(u32, u32), Error> {
    match state(connection, tables, key)? {
        Some((Some(current), last, generation)) if current == expected => Ok((last, generation)),
        Some((Some(current), ..)) => Err(Error::Stale(current)),
        Some((None, ..)) | None => Err(Error::NotFound),
    }
}

fn insert(
    connection: &Connection,
    tables: Tables,
    new: &NewVersion,
    version: u32,
    generation: u32,
    restored_from: Option<u32>,
) -> Result<VersionInfo, Error> {
    let created_unix_ms = now_unix_ms();
    connection
        .prepare_cached(&tables.sql(
            "INSERT INTO $all (key, current, last, generation) VALUES (?1, ?2, ?2, ?3)
             ON CONFLICT (key) DO UPDATE SET current = ?2, last = ?2, generation = ?3",
        ))?
        .execute(params![new.key, version, generation])?;
    connection
        .prepare_cached(&tables.sql(
            "INSERT INTO $versions
             (key, version, generation, name, note, restored_from, created_unix_ms, source)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        ))?
        .execute(params![
            new.key,
            version,
            generation,
            new.name,
            new.note,
            restored_from,
            created_unix_ms,
            &*new.source
        ])?;
    Ok(VersionInfo {
        key: new.key.clone(),
        version,
        name: new.name.clone(),
        note: new.note.clone(),
        restored_from,
        created_unix_ms,
        size_bytes: new.source.len() as u64,
    })
}

/// Columns that [`info`] reads.
const INFO: &str =
    "v.key, v.version, v.name, v.note, v.restored_from, v.created_unix_ms, length(v.source)";

fn info(row: &Row<'_>) -> rusqlite::Result<VersionInfo> {
    Ok(VersionInfo {
        key: row.get(0)?,
        version: row.get(1)?,
        name: row.get(2)?,
        note: row.get(3)?,
        restored_from: row.get(4)?,
        created_unix_ms: row.get(5)?,
        size_bytes: row.get::<_, i64>(6)? as u64,
    })
}

fn get(
    connection: &Connection,
    tables: Tables,
    key: &str,
    version: Option<u32>,
) -> Result<StoredDocument, Error> {
    // Versions from before a deletion belong to an earlier generation.
    let query = format!(
        "SELECT {INFO}, v.source FROM $all t
         JOIN $versions v ON v.key = t.key AND v.version = ifnull(?2, t.current)
         WHERE t.key = ?1 AND t.current IS NOT NULL AND v.generation = t.generation"
    );
    let stored = |row: &Row<'_>| {
        Ok(StoredDocument {
            info: info(row)?,
            source: Arc::from(row.get::<_, Vec<u8>>(7)?),
        })
    };
    connection
        .prepare_cached(&tables.sql(&query))?
        .query_row(params![key, version], stored)
        .optional()?
        .ok_or(Error::NotFound)
}

fn list(connection: &Connection, tables: Tables, wanted: Listing) -> Result<DocumentPage, Error> {
    let mut statement = connection.prepare_cached(&tables.sql(
        "SELECT t.key, v.name, v.version, v.created_unix_ms, v.note, length(v.source), t.labels
         FROM $all t JOIN $versions v ON v.key = t.key AND v.version = t.current
         WHERE t.key > ?1 AND (?3 = '' OR instr(t.labels, ?3) > 0) ORDER BY t.key LIMIT ?2",
    ))?;
    let after = wanted.after.unwrap_or_default();
    let sought = Labels::sought(wanted.label.as_deref());
    let one_more = wanted.limit.saturating_add(1);
    let rows = statement.query_map(params![after, one_more, sought], |row| {
        Ok(DocumentSummary {
            key: row.get(0)?,
            name: row.get(1)?,
            version: row.get(2)?,
            updated_unix_ms: row.get(3)?,
            note: row.get(4)?,
            size_bytes: row.get::<_, i64>(5)? as u64,
            labels: Labels::read(&row.get::<_, String>(6)?),
        })
    })?;
    let mut documents: Vec<DocumentSummary> = rows.collect::<rusqlite::Result<_>>()?;
    let more = documents.len() > wanted.limit as usize;
    documents.truncate(wanted.limit as usize);
    Ok(DocumentPage { documents, more })
}

fn labels(connection: &Connection, tables: Tables, key: &str) -> Result<Labels, Error> {
    let query = "SELECT labels, labels_revision FROM $all WHERE key = ?1 AND current IS NOT NULL";
    let read = |row: &Row<'_>| {
        Ok(Labels {
            labels: Labels::read(&row.get::<_, String>(0)?),
            revision: row.get(1)?,
        })
    };
    connection
        .prepare_cached(&tables.sql(query))?
        .query_row([key], read)
        .optional()?
        .ok_or(Error::NotFound)
}

impl DocumentStore for Documents {
    fn list(&self, wanted: Listing) -> StoreFuture<'_, DocumentPage> {
        let tables = self.tables;
        self.database
            .read(move |connection| list(connection, tables, wanted))
    }

    fn get(&self, key: String, version: Option<u32>) -> StoreFuture<'_, StoredDocument> {
        let tables = self.tables;
        self.database
            .read(move |connection| get(connection, tables, &key, version))
    }

    fn current_version(&self, key: String) -> StoreFuture<'_, u32> {
        let tables = self.tables;
        self.database
            .read(move |connection| match state(connection, tables, &key)? {
                Some((Some(current), ..)) => Ok(current),
                Some((None, ..)) | None => Err(Error::NotFound),
            })
    }

    fn create(&self, new: NewVersion) -> StoreFuture<'_, VersionInfo> {
        let tables = self.tables;
        self.database.write(
            move |transaction| match state(transaction, tables, &new.key)? {
                Some((Some(current), ..)) => Err(Error::Exists(current)),
                Some((None, last, generation)) => {
                    insert(transaction, tables, &new, last + 1, generation + 1, None)
                }
                None => insert(transaction, tables, &new, 1, 1, None),
            },
        )
    }

    fn update(&self, new: NewVersion, expected: u32) -> StoreFuture<'_, VersionInfo> {
        let tables = self.tables;
        self.database.write(move |transaction| {
            let (last, generation) = expect(transaction, tables, &new.key, expected)?;
            insert(transaction, tables, &new, last + 1, generation, None)
        })
    }

    fn restore(
        &self,
        key: String,
        version: u32,
        expected: u32,
        note: Option<String>,
    ) -> StoreFuture<'_, VersionInfo> {
        let tables = self.tables;
        self.database.write(move |transaction| {
            let (last, generation) = expect(transaction, tables, &key, expected)?;
            let former = get(transaction, tables, &key, Some(version))?;
            let new = NewVersion {
                key,
                name: former.info.name,
                source: former.source,
                note,
            };
            insert(
                transaction,
                tables,
                &new,
                last + 1,
                generation,
                Some(version),
            )
        })
    }

    fn delete(&self, key: String, expected: u32) -> StoreFuture<'_, ()> {
        let tables = self.tables;
        self.database.write(move |transaction| {
            expect(transaction, tables, &key, expected)?;
            // A document that is made anew has no labels of a former one.
            let delete = "UPDATE $all SET current = NULL, labels = '',
                 labels_revision = labels_revision + 1 WHERE key = ?1";
            transaction.execute(&tables.sql(delete), [&key])?;
            Ok(())
        })
    }

    fn labels(&self, key: String) -> StoreFuture<'_, Labels> {
        let tables = self.tables;
        self.database
            .read(move |connection| labels(connection, tables, &key))
    }

    fn set_labels(
        &self,
        key: String,
        wanted: Vec<String>,
        expected: Option<u32>,
    ) -> StoreFuture<'_, Labels> {
        let tables = self.tables;
        self.database.write(move |transaction| {
            let current = labels(transaction, tables, &key)?.revision;
            if expected.is_some_and(|expected| expected != current) {
                return Err(Error::Stale(current));
            }
            let revision = current + 1;
            let update = "UPDATE $all SET labels = ?2, labels_revision = ?3 WHERE key = ?1";
            transaction.execute(
                &tables.sql(update),
                params![key, Labels::written(&wanted), revision],
            )?;
            Ok(Labels {
                labels: wanted.clone(),
                revision,
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
            match state(connection, tables, &key)? {
                Some((Some(_), ..)) => {}
                Some((None, ..)) | None => return Err(Error::NotFound),
            }
            let query = format!(
                "SELECT {INFO} FROM $all t JOIN $versions v ON v.key = t.key
                 WHERE t.key = ?1 AND v.generation = t.generation AND v.version < ?2
                 ORDER BY v.version DESC LIMIT ?3"
            );
            let mut statement = connection.prepare_cached(&tables.sql(&query))?;
            let before = before.unwrap_or(u32::MAX);
            let rows = statement.query_map(params![key, before, limit], info)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        self.database.check()
    }
}
