//! Reads the SQLite database.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use rusqlite::{Connection, Row as SqliteRow, params_from_iter, types::Value as SqliteValue};
use serde_json::Value as Json;

use super::{
    Amount, RecordPlan,
    tables::{Kind, TABLES, Table},
    value::{Row, Value},
};
use crate::{Error, SqliteStore, records::postgres::shard::shard_of};

/// Most rows of a batch.
const MAX_ROWS: usize = 2_000;
/// A batch ends with the row that makes it this large. Bytes.
const MAX_BYTES: usize = 8 << 20;

/// The source.
pub(super) struct Source {
    connection: Connection,
    path: PathBuf,
}

/// Rows that follow one another.
pub(super) struct Batch {
    pub rows: Vec<Row>,
    /// The key of the last one, as JSON; `None` if there is no row.
    pub last_key: Option<String>,
}

impl Source {
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        SqliteStore::require_current(folder)?;
        let (connection, path) = SqliteStore::read_only(folder)?;
        Ok(Self { connection, path })
    }

    /// Size and time of the database and of its log, of which an empty one is as good as none.
    pub(super) fn fingerprint(&self) -> Result<String, Error> {
        let mut log = self.path.as_os_str().to_owned();
        log.push("-wal");
        let (database, log) = (of_file(&self.path)?, of_file(Path::new(&log))?);
        Ok(format!("{database} {log}"))
    }

    pub(super) fn plan(&self) -> Result<RecordPlan, Error> {
        let mut plan = RecordPlan::default();
        for table in &TABLES {
            let size = |column: &super::tables::Column| match column.kind {
                Kind::Text | Kind::Bytes => {
                    format!("ifnull(length(CAST({} AS BLOB)), 0)", column.source)
                }
                _ => "8".to_owned(),
            };
            let sizes: Vec<String> = table.columns.iter().map(size).collect();
            let texts = table.columns.iter().filter(|it| it.kind == Kind::Text);
            let texts: Vec<_> = texts.collect();
            let nul = |column: &&super::tables::Column| {
                format!(", ifnull(sum(instr({}, char(0)) > 0), 0)", column.source)
            };
            let nuls: String = texts.iter().map(nul).collect();
            let statement = format!(
                "SELECT count(*), ifnull(sum({}), 0){nuls} FROM {} WHERE {}",
                sizes.join(" + "),
                table.source,
                table.filter
            );
            let counts: Vec<i64> = self.connection.query_row(&statement, [], |row| {
                (0..2 + texts.len()).map(|index| row.get(index)).collect()
            })?;
            plan.amounts.push(Amount {
                name: table.name.to_owned(),
                count: counts[0] as u64,
                bytes: counts[1] as u64,
            });
            for (column, count) in texts.iter().zip(&counts[2..]) {
                let is_key = table.key().iter().any(|key| key.name == column.name);
                let found = match is_key || column.name == "id" {
                    true => &mut plan.irreplaceable,
                    false => &mut plan.replaceable,
                };
                if *count > 0 {
                    found.push((format!("{}.{}", table.name, column.name), *count as u64));
                }
            }
        }
        Ok(plan)
    }

    /// The rows after the key `after`, as many as a batch takes.
    pub(super) fn batch(
        &self,
        table: &Table,
        after: Option<&str>,
        replaces_nul: bool,
    ) -> Result<Batch, Error> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        self.each(table, after, replaces_nul, |row| {
            bytes += row.iter().map(Value::size_bytes).sum::<usize>();
            rows.push(row);
            rows.len() < MAX_ROWS && bytes < MAX_BYTES
        })?;
        let last_key = rows.last().map(|row| key_of(table, row));
        Ok(Batch { rows, last_key })
    }

    /// Calls `found` with each row after the key `after`, until it returns false.
    fn each(
        &self,
        table: &Table,
        after: Option<&str>,
        replaces_nul: bool,
        mut found: impl FnMut(Row) -> bool,
    ) -> Result<(), Error> {
        let mut statement = self
            .connection
            .prepare_cached(&select(table, after.is_some()))?;
        let key: Vec<Json> = match after {
            Some(after) => serde_json::from_str(after)
                .map_err(|error| Error::Damaged(format!("the progress of the move: {error}")))?,
            None => Vec::new(),
        };
        let key = key.into_iter().map(|part| match part {
            Json::Number(number) => SqliteValue::Integer(number.as_i64().unwrap_or_default()),
            Json::String(text) => SqliteValue::Text(text),
            _ => SqliteValue::Null,
        });
        let mut rows = statement.query(params_from_iter(key))?;
        while let Some(row) = rows.next()? {
            if !found(read(table, row, replaces_nul)?) {
                break;
            }
        }
        Ok(())
    }
}

/// The key of a row, as JSON.
pub(super) fn key_of(table: &Table, row: &Row) -> String {
    let key: Vec<Json> = row[..table.keys].iter().map(Value::to_json).collect();
    Json::from(key).to_string()
}

fn of_file(path: &Path) -> io::Result<String> {
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok("0".to_owned()),
        found => found?,
    };
    if found.len() == 0 {
        return Ok("0".to_owned());
    }
    let modified = found.modified()?.duration_since(UNIX_EPOCH);
    let modified = modified.map_or(0, |since| since.as_nanos());
    Ok(format!("{}@{modified}", found.len()))
}

fn select(table: &Table, is_after: bool) -> String {
    let columns = Table::list(table.columns, |column| column.source);
    let key = Table::list(table.key(), |column| column.source);
    let after = match (is_after, table.keys) {
        (false, _) => String::new(),
        (true, 1) => format!(" AND {key} > ?1"),
        (true, _) => format!(" AND ({key}) > (?1, ?2)"),
    };
    let Table { source, filter, .. } = table;
    format!("SELECT {columns} FROM {source} WHERE {filter}{after} ORDER BY {key}")
}

fn read(table: &Table, row: &SqliteRow<'_>, replaces_nul: bool) -> Result<Row, Error> {
    let mut values = Vec::with_capacity(table.columns.len());
    for (index, column) in table.columns.iter().enumerate() {
        let value = match row.get::<_, SqliteValue>(index)? {
            SqliteValue::Null => Value::Null,
            SqliteValue::Integer(number) if column.kind == Kind::Flag => Value::Flag(number != 0),
            SqliteValue::Integer(number) => Value::Number(number),
            SqliteValue::Text(id) if column.kind == Kind::Shard => {
                Value::Number(shard_of(&id).into())
            }
            SqliteValue::Text(text) if text.contains('\0') => {
                match replaces_nul && index >= table.keys {
                    true => Value::Text(text.replace('\0', "\u{fffd}")),
                    false => return Err(Error::Nul),
                }
            }
            SqliteValue::Text(text) => Value::Text(text),
            SqliteValue::Blob(bytes) => Value::Bytes(bytes),
            SqliteValue::Real(_) => {
                let place = format!("{}.{} is a fraction", table.name, column.name);
                return Err(Error::Damaged(place));
            }
        };
        values.push(value);
    }
    Ok(values)
}
