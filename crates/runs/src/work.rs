//! Does a run: from what a slot was given to an end, a sleep, or nothing at all.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use platen_engine::flow::{
    Cancellation, Entry, FlowRunner, Journal, Progress, Record, RunOptions, Stop, Surroundings,
    model::StoreScope,
};
use platen_storage::runs::{Hold, Write};
use serde_json::Value as Json;

use crate::{
    Link,
    answer::{Times, bytes, ending},
    catalogue::Catalogued,
    fault,
    identity::now_ms,
};

/// Records that are kept back at most.
const MAX_KEPT_BACK: usize = 64;

/// A run that a slot was given.
pub(crate) struct Assignment {
    pub id: String,
    pub epoch: u32,
    pub flow: Arc<Catalogued>,
    pub trigger: Json,
    pub journal: Vec<Entry>,
    /// How long it was worked on already, in milliseconds.
    pub worked_ms: u64,
    pub created_ms: u64,
    /// For the callback address in `run`.
    pub token: String,
    pub secrets: BTreeMap<String, String>,
    pub times: Times,
    pub suspend_after: Duration,
    pub cancel: Cancellation,
    /// When the slot had it.
    pub taken: Instant,
}

/// Does `assignment` as far as it goes. Blocks the thread that calls it.
///
/// # Errors
/// Why it had to stop: the run is somebody else's now, or the store is gone.
pub(crate) fn work(
    assignment: Assignment,
    runner: &FlowRunner,
    link: &dyn Link,
) -> Result<(), Stop> {
    fault::point("working");
    let mut journal = Buffered {
        id: &assignment.id,
        epoch: assignment.epoch,
        link,
        records: Vec::new(),
    };
    let surroundings = Distant {
        id: &assignment.id,
        epoch: assignment.epoch,
        link,
    };
    let options = RunOptions {
        trigger: assignment.trigger,
        id: assignment.id.clone(),
        callback: Some(format!(
            "/runs/{}/callback/{}",
            assignment.id, assignment.token
        )),
        started_unix_seconds: Some((assignment.created_ms / 1000) as i64),
        cancel: assignment.cancel.clone(),
        secrets: assignment.secrets,
        journal: assignment.journal,
        worked: Duration::from_millis(assignment.worked_ms),
        suspend_after: Some(assignment.suspend_after),
    };
    let times = Times {
        provision_us: assignment.taken.elapsed().as_micros() as u64,
        ..assignment.times
    };
    let flow = &assignment.flow.loaded;
    let report = runner.run(flow, &options, &surroundings, &mut journal)?;
    let write = journal.write();
    match &report.progress {
        Progress::Suspended(wake_ms) => link.suspend(write, *wake_ms),
        Progress::Ended(finish) => link.finish(write, ending(&report, finish, times)),
    }
}

/// Keeps records back until somebody must know them.
struct Buffered<'a> {
    id: &'a str,
    epoch: u32,
    link: &'a dyn Link,
    records: Vec<Record>,
}

impl Buffered<'_> {
    fn write(&mut self) -> Write {
        let records = std::mem::take(&mut self.records);
        let records = (!records.is_empty()).then(|| {
            let json = serde_json::to_vec(&records).unwrap_or_default();
            Arc::from(json)
        });
        write(self.id, self.epoch, records)
    }
}

fn write(id: &str, epoch: u32, records: Option<Arc<[u8]>>) -> Write {
    Write {
        id: id.to_owned(),
        epoch,
        now_ms: now_ms(),
        records,
    }
}

impl Journal for Buffered<'_> {
    fn append(&mut self, record: Record) -> Result<(), Stop> {
        self.records.push(record);
        match self.records.len() {
            MAX_KEPT_BACK.. => self.flush(false),
            _ => Ok(()),
        }
    }

    fn flush(&mut self, durable: bool) -> Result<(), Stop> {
        if self.records.is_empty() && !durable {
            return Ok(());
        }
        let write = self.write();
        self.link.append(write, durable)?;
        fault::point("journalled");
        Ok(())
    }

    fn respond(&mut self, answer: &Json) -> Result<(), Stop> {
        let write = self.write();
        self.link.respond(write, bytes(answer))
    }
}

/// What belongs to the app, as steps ask for it.
struct Distant<'a> {
    id: &'a str,
    epoch: u32,
    link: &'a dyn Link,
}

impl Distant<'_> {
    fn hold(&self) -> Hold {
        Hold {
            id: self.id.to_owned(),
            epoch: self.epoch,
            now_ms: now_ms(),
        }
    }
}

impl Surroundings for Distant<'_> {
    fn get(&self, scope: StoreScope, key: &str) -> Result<Option<Json>, String> {
        self.link.kept(self.hold(), scope, key)
    }

    fn put(&self, scope: StoreScope, key: &str, value: Option<Json>) -> Result<(), String> {
        let write = write(self.id, self.epoch, None);
        self.link.keep(write, scope, key, value)
    }

    fn template(&self, key: &str) -> Result<Option<Arc<[u8]>>, String> {
        self.link.template(self.hold(), key)
    }
}
