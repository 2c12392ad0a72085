//! Journals of runs, as those read them who do not execute the runs.

use std::sync::Arc;

use crate::{Dispatcher, Error, Record};

impl Dispatcher {
    /// The journal of a run.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn journal(&self, id: &str) -> Result<Vec<Record>, Error> {
        let lists = self.store.journal(id.to_owned()).await?;
        Ok(records(&lists))
    }

    /// The next records of a run behind a position, and theirs; `None` behind the last. The first are behind 0.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn journal_after(
        &self,
        id: &str,
        position: i64,
    ) -> Result<Option<(i64, Vec<Record>)>, Error> {
        let next = self.store.journal_after(id.to_owned(), position).await?;
        Ok(next.map(|(position, list)| (position, records(&[list]))))
    }
}

/// Concatenates lists of records.
pub(crate) fn records(lists: &[Arc<[u8]>]) -> Vec<Record> {
    let read = |list: &Arc<[u8]>| serde_json::from_slice::<Vec<Record>>(list).unwrap_or_default();
    lists.iter().flat_map(read).collect()
}
