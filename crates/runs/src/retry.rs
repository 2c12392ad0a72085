//! Executes steps of a run that is over again, as a new run.

use std::{collections::BTreeMap, sync::Arc};

use futures_core::future::BoxFuture;
use platen_flow::{Entry, StepError, model::Flow};
use platen_storage::runs::{Lane, NewRun, Run};
use serde_json::json;

use crate::{
    Dispatcher, Error,
    accept::trace,
    clock::now_ms,
    execution::Record,
    flow_cache::FlowVersion,
    identity::{name, token},
};

/// The steps that a retry executes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry<'a> {
    /// Those that have not succeeded.
    #[default]
    Failed,
    /// A step at the top level of the flow, and all after it.
    From(&'a str),
    /// One step, at any depth. Steps before it without an output are skipped.
    Only {
        /// Its name.
        step: &'a str,
        /// The version of the flow whose step it is; that of the run by default.
        version: Option<u32>,
    },
}

/// What a new run begins with.
struct Start {
    version: u32,
    definition: Option<Arc<[u8]>>,
    journal: Vec<Record>,
}

impl Dispatcher {
    /// Repeats a run that is over as a new one, whose other steps keep their outputs.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotEnded`], [`Error::Retry`].
    pub fn retry<'a>(
        &'a self,
        id: &'a str,
        retry: Retry<'a>,
    ) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let run = self.get(id).await?;
            if !run.state.is_end() {
                return Err(Error::NotEnded);
            }
            self.admit(Lane::Async).await?;
            let start = match retry {
                Retry::Failed => self.from(&run, None).await?,
                Retry::From(step) => self.from(&run, Some(step)).await?,
                Retry::Only { step, version } => self.only(&run, step, version).await?,
            };
            let now_ms = now_ms();
            let new = NewRun {
                id: name(now_ms),
                flow: run.flow,
                version: start.version,
                definition: start.definition,
                lane: Lane::Async,
                trigger: run.trigger,
                idempotency: None,
                deadline_ms: None,
                created_ms: now_ms,
                token: token(),
                retry_of: Some(run.id),
                trace: trace(),
                journal: serde_json::to_vec(&start.journal).ok().map(Arc::from),
            };
            let id = new.id.clone();
            self.store.accept(new).await?;
            let run = self.get(&id).await?;
            self.enqueue(crate::dispatcher::queued(&run));
            Ok(id)
        })
    }

    /// The flow of a run, as it was executed.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Flow`].
    pub async fn flow_of(&self, run: &Run) -> Result<Arc<FlowVersion>, Error> {
        match &run.definition {
            Some(source) => self.flow_cache.read(source, run.version).await,
            None => self.flow_cache.get(&run.flow, run.version).await,
        }
    }

    /// The records of a run, for a new one whose time limit starts at zero.
    async fn records(&self, run: &Run) -> Result<Vec<Record>, Error> {
        let mut records = self.journal(&run.id).await?;
        for record in &mut records {
            record.worked_ms = 0;
        }
        Ok(records)
    }

    async fn from(&self, run: &Run, step: Option<&str>) -> Result<Start, Error> {
        let flow = self.flow_of(run).await?;
        let flow = flow.loaded.flow();
        let steps = &flow.steps;
        let repeated = match step {
            None => steps.len(),
            Some(step) => {
                let position = steps.iter().position(|known| known.name == step);
                position.ok_or_else(|| {
                    Error::Retry(format!("the flow has no step `{step}` at its top level"))
                })?
            }
        };
        let before = |path: &str| {
            let top = names_in(path).next().unwrap_or_default();
            let is_before = steps[..repeated].iter().any(|step| step.name == top);
            // The new run needs an answer of its own, and to make it again changes nothing else.
            let name = names_in(path).last().unwrap_or_default();
            is_before && !flow.is_answer(name)
        };
        let mut journal = self.records(run).await?;
        journal.retain(|record| match &record.entry {
            Entry::Succeeded { path, .. } | Entry::Resumed { path, .. } => before(path),
            Entry::Waiting { .. }
            | Entry::Started { .. }
            | Entry::Failed { .. }
            | Entry::Cancelled
            | Entry::TimedOut => false,
        });
        Ok(Start {
            version: run.version,
            definition: run.definition.clone(),
            journal,
        })
    }

    async fn only(&self, run: &Run, step: &str, version: Option<u32>) -> Result<Start, Error> {
        let flow = match version {
            Some(version) => self.version(&run.flow, version).await?,
            None => self.flow_of(run).await?,
        };
        let mut cut: Flow = flow.loaded.flow().clone();
        if !cut.execute_only(step) {
            return Err(Error::Retry(format!("the flow has no step `{step}`")));
        }
        let source = serde_json::to_vec(&cut).map_err(|error| Error::Retry(error.to_string()))?;
        Ok(Start {
            version: version.unwrap_or(run.version),
            definition: Some(Arc::from(source)),
            journal: before(&cut, step, self.records(run).await?),
        })
    }
}

/// The names in the path of a step, such as `each` and `send` of `each[2].send`.
fn names_in(path: &str) -> impl Iterator<Item = &str> {
    path.split('.')
        .map(|part| part.split('[').next().unwrap_or_default())
}

/// The outputs of the steps before `step`, of the records of a run. A failure after which the flow
/// continues is an output as well.
fn before(flow: &Flow, step: &str, records: Vec<Record>) -> Vec<Record> {
    let names = flow.step_names();
    let is_before = |path: &str| {
        names_in(path).all(|name| names.contains(name) && name != step)
            && !names_in(path)
                .last()
                .is_some_and(|name| flow.is_container(name))
    };
    // A failure counts if no later attempt succeeded.
    let mut failed: BTreeMap<String, Record> = BTreeMap::new();
    let mut kept = Vec::new();
    for record in records {
        match &record.entry {
            Entry::Succeeded { path, .. } | Entry::Resumed { path, .. } if is_before(path) => {
                failed.remove(path);
                kept.push(record);
            }
            Entry::Failed { path, .. } if is_before(path) => {
                failed.insert(path.clone(), record);
            }
            _ => {}
        }
    }
    for record in failed.into_values() {
        if let Entry::Failed { path, error, .. } = &record.entry
            && let Some(entry) = output_of_failure(flow, path, error)
        {
            kept.push(Record { entry, ..record });
        }
    }
    kept
}

/// The output of the step that continues after a failure: the one that failed, or one around it.
fn output_of_failure(flow: &Flow, path: &str, error: &StepError) -> Option<Entry> {
    let mut at = path;
    let mut message = error.message.clone();
    loop {
        if names_in(at)
            .last()
            .is_some_and(|name| flow.continues_on_failure(name))
        {
            let output = json!({"error": {"code": error.code, "message": message}});
            let path = at.to_owned();
            return Some(Entry::Succeeded { path, output });
        }
        message = format!("{at}: {message}");
        let (outer, _) = at.rsplit_once('.')?;
        // An item of a loop is no step.
        let item = outer
            .strip_suffix(']')
            .and_then(|outer| outer.rsplit_once('['));
        at = item.map_or(outer, |(list, _)| list);
    }
}
