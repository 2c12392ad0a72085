//! Moves all records from a SQLite database into an empty PostgreSQL database, and compares both.
//!
//! Rows go in batches, each in one transaction with the key of its last row: a move that was killed
//! goes on behind it. Until it has finished, no store of the target opens. The source is only read.

mod source;
mod tables;
mod target;
mod value;
mod verify;

use std::path::Path;

use self::{source::Source, tables::TABLES, target::Target};
pub use self::{
    target::{Progress, Start},
    verify::{Compared, Difference},
};
use super::PostgresOptions;
use crate::Error;

/// Rows of a table, or files of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amount {
    /// What they are.
    pub name: String,
    /// How many.
    pub count: u64,
    /// Bytes of their content.
    pub bytes: u64,
}

/// What a move would do with the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordPlan {
    /// Rows by table.
    pub amounts: Vec<Amount>,
    /// Columns with texts that contain the character NUL, and how many, where it can be replaced.
    pub replaceable: Vec<(String, u64)>,
    /// The same where it cannot, because the text is a key.
    pub irreplaceable: Vec<(String, u64)>,
}

/// A move between two databases that nobody else uses. Its methods read the source in place, so they
/// belong on a thread of their own.
pub struct Transfer {
    source: Source,
    target: Target,
}

impl Transfer {
    /// Opens the SQLite database in `folder` for reading, and the database at `url`, whose schema it
    /// migrates.
    ///
    /// # Errors
    /// Those of [`super::PostgresStore::migrate`] and [`crate::SqliteStore::require_current`].
    pub async fn open(folder: &Path, url: &str, options: &PostgresOptions) -> Result<Self, Error> {
        let source = Source::open(folder)?;
        let target = Target::open(url, options).await?;
        Ok(Self { source, target })
    }

    /// Counts the records of the SQLite database in `folder`.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn plan(folder: &Path) -> Result<RecordPlan, Error> {
        Source::open(folder)?.plan()
    }

    /// What is in the target.
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn progress(&self) -> Result<Progress, Error> {
        self.target.progress().await
    }

    /// Begins a move into an empty target.
    ///
    /// # Errors
    /// The target cannot be written.
    pub async fn begin(&self, start: &Start) -> Result<(), Error> {
        self.target.begin(start).await
    }

    /// Empties the target, which holds nothing but what a move has written.
    ///
    /// # Errors
    /// The target cannot be written.
    pub async fn forget(&self) -> Result<(), Error> {
        self.target.forget().await
    }

    /// What identifies the state of the source: it changes with every write.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn fingerprint(&self) -> Result<String, Error> {
        self.source.fingerprint()
    }

    /// Moves the records that are not yet in the target; `moved` is told the table and the number of
    /// rows after every batch.
    ///
    /// # Errors
    /// The source cannot be read, or the target not be written; what was moved stays.
    pub async fn run(
        &self,
        replaces_nul: bool,
        mut moved: impl FnMut(&'static str, u64),
    ) -> Result<(), Error> {
        for table in &TABLES {
            let Some(mut after) = self.target.part(table.name).await? else {
                continue;
            };
            loop {
                let batch = self.source.batch(table, after.as_deref(), replaces_nul)?;
                let Some(last) = batch.last_key else {
                    break;
                };
                self.target.write(table, &batch.rows, &last).await?;
                moved(table.name, batch.rows.len() as u64);
                after = Some(last);
            }
            self.target.end_part(table.name).await?;
        }
        self.target.set_sequences().await
    }

    /// The last file that was moved of a kind; `None` if all were.
    ///
    /// # Errors
    /// The target cannot be read.
    pub async fn files_after(&self, kind: &str) -> Result<Option<Option<String>>, Error> {
        self.target.part(kind).await
    }

    /// Notes that files of a kind were moved up to this one, or all of them.
    ///
    /// # Errors
    /// The target cannot be written.
    pub async fn note_files(&self, kind: &str, last: Option<&str>) -> Result<(), Error> {
        match last {
            Some(last) => self.target.note_part(kind, last).await,
            None => self.target.end_part(kind).await,
        }
    }

    /// Compares every row of both databases, table by table.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub async fn compare(&self, replaces_nul: bool) -> Result<Vec<Compared>, Error> {
        let mut compared = Vec::with_capacity(TABLES.len());
        for table in &TABLES {
            let found = verify::compare(&self.source, &self.target, table, replaces_nul).await?;
            compared.push(found);
        }
        Ok(compared)
    }

    /// Lets stores of the target open.
    ///
    /// # Errors
    /// The target cannot be written.
    pub async fn finish(&self) -> Result<(), Error> {
        self.target.finish().await
    }
}
