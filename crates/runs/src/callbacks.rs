//! Callbacks: payloads from outside that end the waits of runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures_core::future::BoxFuture;
use platen_flow::Entry;
use platen_storage::{Error as StoreError, runs::RunState};
use serde_json::Value as Json;

use crate::{Dispatcher, Error, dispatcher::queued, execution::Record, fault};

/// Callbacks of a run that came before their waits, at most, and the size of their payloads from
/// which on none is kept, in bytes: nothing says that these waits will come.
const MAX_EARLY: usize = 10_000;
const MAX_EARLY_BYTES: usize = 16 << 20;

impl Dispatcher {
    /// Ends a wait of a run from outside. `step` is optional if only one wait is open.
    ///
    /// # Errors
    /// [`Error::NotFound`], also for a wrong token; [`Error::Ended`]; [`Error::Retry`] if not
    /// exactly one wait is open and none is named, or if the named one takes no callback now.
    pub fn call_back<'a>(
        &'a self,
        id: &'a str,
        token: &'a str,
        step: Option<String>,
        payload: Json,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let run = self.head(id).await?;
            match run.token == token {
                true if run.state.is_end() => return Err(Error::Ended),
                true => {}
                false => return Err(StoreError::NotFound.into()),
            }
            let state = loop {
                // Before the journal is read, so that no callback goes unseen in between.
                let seen = self.store.callbacks(id.to_owned()).await?;
                let path = self.wait_to_end(id, step.as_deref()).await?;
                let payload = payload.clone();
                let entry = Entry::Resumed { path, payload };
                let records = serde_json::to_vec(&[Record::now(entry)]).unwrap_or_default();
                let (id, token) = (id.to_owned(), token.to_owned());
                match self
                    .store
                    .call_back(id, token, Arc::from(records), seen)
                    .await
                {
                    // Each time around, a callback of this run was stored.
                    Err(StoreError::Called) => {}
                    state => break state?,
                }
            };
            fault::point("called-back");
            if state == RunState::Queued {
                let run = self.head(id).await?;
                self.enqueue(queued(&run));
            }
            Ok(())
        })
    }

    /// Refuses a callback for what does not wait for one: its payload would become the output of a
    /// step that the caller has no say in.
    async fn check_waits(&self, id: &str, path: &str) -> Result<(), Error> {
        let run = self.get(id).await?;
        let flow = self.flow_of(&run).await?;
        match flow.loaded.flow().waits_for_callback(path) {
            true => Ok(()),
            false => Err(Error::Retry(format!(
                "the flow has no step `{path}` that waits for a callback"
            ))),
        }
    }

    /// The wait that a callback ends: the one named, if it has not had its callback; else the only
    /// open one.
    async fn wait_to_end(&self, id: &str, step: Option<&str>) -> Result<String, Error> {
        let (mut open, mut timed) = (BTreeSet::new(), BTreeSet::new());
        let mut over = BTreeMap::new();
        for record in self.journal(id).await? {
            match record.entry {
                Entry::Waiting {
                    path,
                    until_ms: None,
                } => drop(open.insert(path)),
                Entry::Waiting { path, .. } => drop(timed.insert(path)),
                Entry::Resumed { path, payload } => drop(over.insert(path, payload)),
                _ => {}
            }
        }
        // The end of a pause is recorded as a callback is.
        over.retain(|path, _| !timed.contains(path));
        if let Some(step) = step {
            if over.contains_key(step) {
                return Err(Error::Retry(format!("{step} was called back before")));
            }
            if !open.contains(step) {
                // Its wait may not have been written yet.
                self.check_waits(id, step).await?;
                if !has_room(&open, &over) {
                    return Err(Error::Retry(format!(
                        "{step} does not wait yet, and too much was called back too early: try again later"
                    )));
                }
            }
            return Ok(step.to_owned());
        }
        open.retain(|path| !over.contains_key(path));
        match <[String; 1]>::try_from(Vec::from_iter(open)) {
            Ok([path]) => Ok(path),
            Err(open) if open.is_empty() => Err(Error::Retry(
                "no wait of the run is open: it was called back before, or has not come to a wait"
                    .to_owned(),
            )),
            Err(open) => Err(Error::Retry(format!(
                "{} waits are open; name one with `?step=`",
                open.len()
            ))),
        }
    }
}

/// Whether one more callback may come before its wait, beside those in `over` that did.
fn has_room(open: &BTreeSet<String>, over: &BTreeMap<String, Json>) -> bool {
    let early = over.iter().filter(|(path, _)| !open.contains(*path));
    let (mut count, mut bytes) = (0, 0);
    for (_, payload) in early {
        count += 1;
        bytes += payload.to_string().len();
    }
    count < MAX_EARLY && bytes < MAX_EARLY_BYTES
}
