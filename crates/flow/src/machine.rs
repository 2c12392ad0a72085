//! A run as a state machine: a journal goes in, what is to be done next comes out.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use platen_fault::Code;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::{CompiledFlow, model::Step, walk::Walk};

/// Something that happened in a run. All of them in order are its journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Entry {
    /// A step was started.
    Started {
        /// Its path, such as `each[2].send`.
        path: String,
        /// From 1.
        attempt: u32,
    },
    /// A step ended well.
    Succeeded {
        /// Its path.
        path: String,
        /// What it gave.
        output: Json,
    },
    /// An attempt of a step failed.
    Failed {
        /// Its path.
        path: String,
        /// Why.
        error: StepError,
        /// When, in milliseconds since 1970: the next attempt is reckoned from here.
        at_ms: u64,
    },
    /// A wait began.
    Waiting {
        /// Its path.
        path: String,
        /// When it ends; `None` where only a callback ends it.
        until_ms: Option<u64>,
    },
    /// A wait ended.
    Resumed {
        /// Its path.
        path: String,
        /// What the callback was called with.
        payload: Json,
    },
    /// The run was cancelled.
    Cancelled,
    /// The run took too long.
    TimedOut,
}

/// Why a step failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepError {
    /// A code of [`platen_fault::CODES`], such as `code-thrown`. Text, as a journal may be older or
    /// newer than the table.
    pub code: String,
    /// A sentence.
    pub message: String,
    /// Another attempt may go better.
    pub retryable: bool,
    /// What was going on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// What was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// What does not work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// What is too large, too many or full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The limit: in bytes for memory and sizes, in milliseconds for processor time, else a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl StepError {
    /// A failure with its code's facts; whether another attempt may go better follows from its
    /// fault.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let facts = code.facts();
        Self {
            code: code.name().to_owned(),
            message: message.into(),
            retryable: code.fault().is_retryable(),
            stage: facts.stage.map(|stage| stage.as_str().to_owned()),
            resource: facts.resource.map(|resource| resource.as_str().to_owned()),
            backend: facts.backend.map(|backend| backend.as_str().to_owned()),
            what: facts.what.map(|what| what.as_str().to_owned()),
            limit: facts.limit,
        }
    }

    /// The same failure, whose cause is known to pass or to stay.
    #[must_use]
    pub fn with_retry(self, retryable: bool) -> Self {
        Self { retryable, ..self }
    }
}

/// A step to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its path.
    pub path: String,
    /// From 1.
    pub attempt: u32,
    /// Not before this instant, in milliseconds since 1970.
    pub not_before_ms: Option<u64>,
    /// Name of the step, by which [`Machine::step`] finds it.
    pub step: String,
    /// Its input, expressions evaluated.
    pub input: Json,
}

/// What the owner of a run is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Execute a step, and record it in the journal.
    Do(Task),
    /// Put [`Entry::Waiting`] into the journal.
    Wait {
        /// Path of the wait.
        path: String,
        /// As in [`Entry::Waiting`], of this instant.
        delay_ms: Option<u64>,
        /// An instant that the flow names.
        until: Option<Json>,
    },
    /// Give the answer, and put [`Entry::Succeeded`] into the journal.
    Respond {
        /// Path of the step.
        path: String,
        /// `status`, `headers` and `body`.
        answer: Json,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Finish {
    /// With the output of its last step.
    Succeeded(Json),
    /// At a step that failed for good.
    Failed {
        /// Path of the step.
        path: String,
        /// Why.
        error: StepError,
    },
    /// Cancelled.
    Cancelled,
    /// It took too long.
    TimedOut,
}

/// What is next in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Next {
    /// What is to be done now; steps that were started already are not among them.
    pub commands: Vec<Command>,
    /// How the run ended, if it did.
    pub finish: Option<Finish>,
    /// The earliest end of a wait.
    pub wake_ms: Option<u64>,
}

/// What is known of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub attempts: u32,
    pub running: bool,
    pub output: Option<Json>,
    pub failure: Option<(StepError, u64)>,
    pub waiting: Option<Option<u64>>,
}

/// What is known of a loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopState {
    /// Outputs of the items that are over.
    pub outputs: Vec<Option<Json>>,
    /// Items before this one are over.
    pub first_open: usize,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) flow: Arc<CompiledFlow>,
    pub(crate) records: BTreeMap<String, Record>,
    /// Loops by path, so that long ones are not walked from their start again.
    pub(crate) loops: HashMap<String, LoopState>,
    data: Json,
    /// The instant that `now()` is for the whole run, in seconds since 1970.
    pub(crate) started_unix_seconds: i64,
    stopped: Option<Finish>,
}

impl Machine {
    /// A run of `flow` that `trigger` started; `run` is what expressions may know of it.
    #[must_use]
    pub fn new(
        flow: Arc<CompiledFlow>,
        trigger: Json,
        run: Json,
        started_unix_seconds: i64,
    ) -> Self {
        Self {
            flow,
            records: BTreeMap::new(),
            loops: HashMap::new(),
            data: json!({"trigger": trigger, "run": run, "steps": {}}),
            started_unix_seconds,
            stopped: None,
        }
    }

    /// The flow's step of a name.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&Step> {
        crate::walk::find(&self.flow.steps, name)
    }

    /// Takes note of something that happened. What does not fit the state, such as a second end of
    /// a step, changes nothing.
    pub fn apply(&mut self, entry: &Entry) {
        match entry {
            Entry::Started { path, attempt } => {
                let record = self.record(path);
                record.attempts = record.attempts.max(*attempt);
                record.running = true;
                record.failure = None;
            }
            Entry::Succeeded { path, output }
            | Entry::Resumed {
                path,
                payload: output,
            } => {
                let record = self.record(path);
                record.running = false;
                record.output.get_or_insert_with(|| output.clone());
            }
            Entry::Failed { path, error, at_ms } => {
                let record = self.record(path);
                record.running = false;
                if record.output.is_none() {
                    record.failure = Some((error.clone(), *at_ms));
                }
            }
            Entry::Waiting { path, until_ms } => {
                self.record(path).waiting.get_or_insert(*until_ms);
            }
            Entry::Cancelled => {
                self.stopped.get_or_insert(Finish::Cancelled);
            }
            Entry::TimedOut => {
                self.stopped.get_or_insert(Finish::TimedOut);
            }
        }
    }

    /// Steps that were started and are not known to have ended are done again, as the same
    /// attempt: their owner is gone.
    pub fn recover(&mut self) {
        for record in self.records.values_mut().filter(|record| record.running) {
            record.running = false;
            record.attempts = record.attempts.saturating_sub(1);
        }
    }

    /// The output of the step at `path`, once it has one.
    #[must_use]
    pub fn output(&self, path: &str) -> Option<&Json> {
        self.records.get(path)?.output.as_ref()
    }

    /// Waits that are not over: their paths and when they end by themselves.
    pub fn waits(&self) -> impl Iterator<Item = (&str, Option<u64>)> {
        self.records.iter().filter_map(|(path, record)| {
            let until_ms = record.waiting.filter(|_| record.output.is_none())?;
            Some((path.as_str(), until_ms))
        })
    }

    fn record(&mut self, path: &str) -> &mut Record {
        if !self.records.contains_key(path) {
            self.records.insert(path.to_owned(), Record::default());
        }
        self.records.entry(path.to_owned()).or_default()
    }

    /// What is next.
    pub fn proceed(&mut self) -> Next {
        if let Some(finish) = &self.stopped {
            return Next {
                finish: Some(finish.clone()),
                ..Next::default()
            };
        }
        let flow = Arc::clone(&self.flow);
        let mut data = self.data.clone();
        let mut walk = Walk::new(self);
        let ended = walk.steps(&flow.steps, "", &mut data);
        let mut next = walk.next;
        next.finish = ended;
        next
    }
}
