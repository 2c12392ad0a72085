//! Writes the PostgreSQL database, and keeps the progress of the move in it.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};
use tokio_postgres::{Error as PgError, Row as PgRow, RowStream};

use super::{
    tables::{Kind, TABLES, Table},
    value::{Row, Value},
};
use crate::{
    Error,
    records::postgres::{
        PostgresOptions, connect,
        connection::{Column as Parameter, Connection, Connector, Parameters},
        schema,
        trouble::refused,
    },
};

/// The lock of a connection that writes: "move" in ASCII.
const LOCK: i64 = 0x6d_6f_76_65;
/// Pause between two attempts to get it.
const PAUSE: Duration = Duration::from_millis(50);

/// What begins a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// See [`super::Transfer::fingerprint`].
    pub source: String,
    /// Where files go.
    pub files: String,
    /// Whether the character NUL is replaced in texts.
    pub replaces_nul: bool,
}

/// What is in a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing.
    Empty,
    /// Records that no move has written; the first table with some.
    Foreign(String),
    /// What a move has written that has not finished.
    Begun(Start),
    /// What a move has written that has finished, and what happened since.
    Finished(Start),
}

/// The target.
pub(super) struct Target {
    connector: Arc<Connector>,
    connection: Connection,
}

impl Target {
    pub(super) async fn open(url: &str, options: &PostgresOptions) -> Result<Self, Error> {
        let (connector, connection) = connect(url, options).await?;
        schema::migrate(&connection, &connector.address).await?;
        // Another one, because the lock of migrations goes with theirs.
        let (connector, connection) = connect(url, options).await?;
        let target = Self {
            connector,
            connection,
        };
        target.lock(options.connect_within).await?;
        Ok(target)
    }

    /// Waits until the server has ended the session of a move that was killed: what it wrote last may
    /// still be committed. The lock goes with the connection that writes.
    async fn lock(&self, patience: Duration) -> Result<(), Error> {
        let end = Instant::now() + patience;
        let lock = "SELECT pg_try_advisory_lock($1)";
        loop {
            let rows = self.query(lock, &[&LOCK]).await?;
            let is_taken = rows.first().map(|row| row.try_get(0)).transpose();
            if is_taken.map_err(|error| self.refused(error))? == Some(true) {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(Error::InUse);
            }
            sleep(PAUSE).await;
        }
    }

    async fn query(&self, text: &str, parameters: Parameters<'_>) -> Result<Vec<PgRow>, Error> {
        let found = self.connection.query(text, parameters).await;
        found.map_err(|error| self.refused(error))
    }

    async fn execute(&self, text: &str) -> Result<(), Error> {
        let done = self.connection.execute(text).await;
        done.map(drop).map_err(|error| self.refused(error))
    }

    pub(super) fn refused(&self, error: PgError) -> Error {
        refused(error, &self.connector.address)
    }

    pub(super) async fn progress(&self) -> Result<Progress, Error> {
        let move_row = "SELECT source, files, replaces_nul, finished FROM moves";
        if let Some(row) = self.query(move_row, &[]).await?.first() {
            let read = || {
                let start = Start {
                    source: row.try_get(0)?,
                    files: row.try_get(1)?,
                    replaces_nul: row.try_get(2)?,
                };
                Ok((start, row.try_get(3)?))
            };
            return match read().map_err(|error| self.refused(error))? {
                (start, true) => Ok(Progress::Finished(start)),
                (start, false) => Ok(Progress::Begun(start)),
            };
        }
        for Table { name, .. } in &TABLES {
            let any = format!("SELECT 1 FROM {name} LIMIT 1");
            if !self.query(&any, &[]).await?.is_empty() {
                return Ok(Progress::Foreign((*name).to_owned()));
            }
        }
        Ok(Progress::Empty)
    }

    pub(super) async fn begin(&self, start: &Start) -> Result<(), Error> {
        let insert = "INSERT INTO moves (source, files, replaces_nul) VALUES ($1, $2, $3)";
        let Start {
            source,
            files,
            replaces_nul,
        } = start;
        self.query(insert, &[source, files, replaces_nul]).await?;
        Ok(())
    }

    pub(super) async fn forget(&self) -> Result<(), Error> {
        let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        let names = names.join(", ");
        let truncate = format!("TRUNCATE {names}, moves, move_parts");
        self.execute(&truncate).await
    }

    pub(super) async fn finish(&self) -> Result<(), Error> {
        self.execute("UPDATE moves SET finished = true").await
    }

    /// The key of the last row of a table, or the last file of a kind; `None` if all were moved.
    pub(super) async fn part(&self, name: &str) -> Result<Option<Option<String>>, Error> {
        let find = "SELECT after, is_done FROM move_parts WHERE name = $1";
        let rows = self.query(find, &[&name]).await?;
        let Some(row) = rows.first() else {
            return Ok(Some(None));
        };
        let read = || Ok((row.try_get(0)?, row.try_get(1)?));
        match read().map_err(|error| self.refused(error))? {
            (_, true) => Ok(None),
            (after, false) => Ok(Some(after)),
        }
    }

    pub(super) async fn note_part(&self, name: &str, after: &str) -> Result<(), Error> {
        let note = "INSERT INTO move_parts (name, after) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET after = $2";
        self.query(note, &[&name, &after]).await?;
        Ok(())
    }

    pub(super) async fn end_part(&self, name: &str) -> Result<(), Error> {
        let end = "INSERT INTO move_parts (name, is_done) VALUES ($1, true)
             ON CONFLICT (name) DO UPDATE SET is_done = true";
        self.query(end, &[&name]).await?;
        Ok(())
    }

    /// Writes rows, the last of which has the key `last`, in one transaction.
    pub(super) async fn write(&self, table: &Table, rows: &[Row], last: &str) -> Result<(), Error> {
        let names = Table::list(table.columns, |column| column.name);
        let types = table.columns.iter().enumerate();
        let types = types.map(|(index, it)| format!("${}::{}[]", index + 1, it.kind.sql()));
        let types: Vec<String> = types.collect();
        let insert = format!(
            "INSERT INTO {} ({names}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest({})",
            table.name,
            types.join(", ")
        );
        let kinds = table.columns.iter().enumerate();
        let columns = kinds.map(|(index, column)| parameter(column.kind, rows, index));
        let columns: Vec<Parameter<'_>> = columns.collect();
        self.execute("BEGIN").await?;
        let failed = |error| self.refused(error);
        let statement = self.connection.statement(&insert).await.map_err(failed)?;
        let written = self.connection.send_columns(&statement, &columns).await;
        written.map_err(failed)?;
        self.note_part(table.name, last).await?;
        self.execute("COMMIT").await
    }

    /// Lets the numbers of runs, audit entries and API keys, and the positions of journals, go on behind those
    /// that were moved.
    pub(super) async fn set_sequences(&self) -> Result<(), Error> {
        self.execute(
            "SELECT setval(pg_get_serial_sequence('runs', 'number'), max(number)) FROM runs
             HAVING max(number) > 0;
             SELECT setval(pg_get_serial_sequence('audit', 'number'), max(number)) FROM audit
             HAVING max(number) > 0;
             SELECT setval(pg_get_serial_sequence('api_keys', 'number'), max(number)) FROM api_keys
             HAVING max(number) > 0;
             SELECT setval(pg_get_serial_sequence('journal', 'position'), max(position))
             FROM journal HAVING max(position) > 0;",
        )
        .await?;
        // The plans of services should not be those of empty tables.
        for table in &TABLES {
            self.execute(&format!("ANALYZE {}", table.name)).await?;
        }
        Ok(())
    }

    /// All rows of a table, in the order of its key.
    pub(super) async fn rows(&self, table: &Table) -> Result<RowStream, Error> {
        let names = Table::list(table.columns, |column| column.name);
        let key = Table::list(table.key(), |column| column.name);
        let select = format!("SELECT {names} FROM {} ORDER BY {key}", table.name);
        let rows = self.connection.stream(&select).await;
        rows.map_err(|error| self.refused(error))
    }
}

/// The values of a column as an array.
fn parameter(kind: Kind, rows: &[Row], index: usize) -> Parameter<'_> {
    let values = rows.iter().map(move |row| &row[index]);
    let number = |value: &Value| match value {
        Value::Number(number) => Some(*number),
        _ => None,
    };
    match kind {
        Kind::Number => Box::new(values.map(number).collect::<Vec<_>>()),
        Kind::Small | Kind::Shard => {
            let small = |value| number(value).and_then(|number| i16::try_from(number).ok());
            Box::new(values.map(small).collect::<Vec<_>>())
        }
        Kind::Flag => {
            let flag = |value: &Value| Some(*value == Value::Flag(true));
            Box::new(values.map(flag).collect::<Vec<_>>())
        }
        Kind::Text => {
            let text = |value: &'_ Value| -> Option<String> {
                match value {
                    Value::Text(text) => Some(text.clone()),
                    _ => None,
                }
            };
            Box::new(values.map(text).collect::<Vec<_>>())
        }
        Kind::Bytes => {
            let bytes = values.map(|value| match value {
                Value::Bytes(bytes) => Some(&**bytes),
                _ => None,
            });
            Box::new(bytes.collect::<Vec<_>>())
        }
    }
}

/// A row of the target.
pub(super) fn read(table: &Table, row: &PgRow) -> Result<Row, PgError> {
    let columns = table.columns.iter().enumerate();
    let values = columns.map(|(index, column)| {
        let found = match column.kind {
            Kind::Number => row.try_get::<_, Option<i64>>(index)?.map(Value::Number),
            Kind::Small | Kind::Shard => {
                let small: Option<i16> = row.try_get(index)?;
                small.map(|small| Value::Number(small.into()))
            }
            Kind::Flag => row.try_get::<_, Option<bool>>(index)?.map(Value::Flag),
            Kind::Text => row.try_get::<_, Option<String>>(index)?.map(Value::Text),
            Kind::Bytes => row.try_get::<_, Option<Vec<u8>>>(index)?.map(Value::Bytes),
        };
        Ok(found.unwrap_or(Value::Null))
    });
    values.collect()
}
