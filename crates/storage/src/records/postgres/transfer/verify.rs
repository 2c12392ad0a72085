//! Compares a table of both databases, row by row.

use std::{future::poll_fn, pin::Pin};

use futures_core::Stream;
use sha2::{Digest as _, Sha256};
use tokio_postgres::RowStream;

use super::{
    source::{Source, key_of},
    tables::Table,
    target::{Target, read},
    value::{Row, Value},
};
use crate::Error;

/// A table that was compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// Number of rows, of the source and of the target.
    pub rows: [u64; 2],
    /// SHA-256 of all rows in the order of their keys, of the source and of the target.
    pub digests: [String; 2],
    /// The first row that is not the same.
    pub difference: Option<Difference>,
}

/// A row that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its key, as JSON.
    pub key: String,
    /// What is wrong with it.
    pub what: &'static str,
}

impl Compared {
    /// Whether both have the same rows.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.difference.is_none()
            && self.rows[0] == self.rows[1]
            && self.digests[0] == self.digests[1]
    }
}

/// Rows that were read, and their digest.
#[derive(Default)]
struct Sum {
    rows: u64,
    hasher: Sha256,
}

impl Sum {
    fn add(&mut self, row: &Row) {
        self.rows += 1;
        row.iter().for_each(|value| value.digest(&mut self.hasher));
    }

    fn finish(self) -> (u64, String) {
        let digest = self.hasher.finalize();
        let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        (self.rows, digest)
    }
}

/// The rows of the source, batch after batch.
struct Rows<'s> {
    source: &'s Source,
    table: &'s Table,
    replaces_nul: bool,
    after: Option<String>,
    held: std::vec::IntoIter<Vec<Value>>,
}

impl Rows<'_> {
    fn next(&mut self) -> Result<Option<Row>, Error> {
        if let Some(row) = self.held.next() {
            return Ok(Some(row));
        }
        let batch = self
            .source
            .batch(self.table, self.after.as_deref(), self.replaces_nul)?;
        let Some(last) = batch.last_key else {
            return Ok(None);
        };
        self.after = Some(last);
        self.held = batch.rows.into_iter();
        Ok(self.held.next())
    }
}

/// Compares a table of both, and finds the first row that is not the same.
pub(super) async fn compare(
    source: &Source,
    target: &Target,
    table: &Table,
    replaces_nul: bool,
) -> Result<Compared, Error> {
    let mut ours = Rows {
        source,
        table,
        replaces_nul,
        after: None,
        held: Vec::new().into_iter(),
    };
    let mut theirs = Box::pin(target.rows(table).await?);
    // A stream that has ended must not be asked again.
    let mut has_ended = false;
    let (mut source_sum, mut target_sum) = (Sum::default(), Sum::default());
    let mut difference = None;
    loop {
        let our = ours.next()?;
        let their = match has_ended {
            true => None,
            false => next(theirs.as_mut(), target, table).await?,
        };
        has_ended |= their.is_none();
        our.iter().for_each(|row| source_sum.add(row));
        their.iter().for_each(|row| target_sum.add(row));
        let found = match (&our, &their) {
            (None, None) => break,
            (Some(our), Some(their)) if our == their => None,
            (Some(our), their) => Some(Difference {
                key: key_of(table, our),
                what: match their {
                    Some(their) if key_of(table, their) == key_of(table, our) => {
                        "is not the same in the target"
                    }
                    _ => "is not in its place in the target",
                },
            }),
            (None, Some(their)) => Some(Difference {
                key: key_of(table, their),
                what: "is not in the source",
            }),
        };
        difference = difference.or(found);
    }
    let (source_sum, target_sum) = (source_sum.finish(), target_sum.finish());
    Ok(Compared {
        name: table.name.to_owned(),
        rows: [source_sum.0, target_sum.0],
        digests: [source_sum.1, target_sum.1],
        difference,
    })
}

async fn next(
    mut rows: Pin<&mut RowStream>,
    target: &Target,
    table: &Table,
) -> Result<Option<Row>, Error> {
    let next = poll_fn(|context| rows.as_mut().poll_next(context)).await;
    let row = next.map(|row| row.and_then(|row| read(table, &row)));
    row.transpose().map_err(|error| target.refused(error))
}
