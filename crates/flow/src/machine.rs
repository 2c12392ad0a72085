//! A run as a state machine: takes a journal, and returns what to do next.

use std::collections::BTreeMap;
use std::sync::Arc;

use platen_fault::Code;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::{
    CompiledFlow,
    model::Step,
    walk::{MAX_ITEMS_OF_RUN, Walk},
};

/// An event of a run. All events in order form its journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Entry {
    /// An attempt of a step started.
    Started {
        /// Path of the step, such as `each[2].send`.
        path: String,
        /// Number of the attempt, from 1.
        attempt: u32,
    },
    /// A step succeeded.
    Succeeded {
        /// Path of the step.
        path: String,
        /// Output of the step.
        output: Json,
    },
    /// An attempt of a step failed.
    Failed {
        /// Path of the step.
        path: String,
        /// Reason.
        error: StepError,
        /// Time of the failure, in milliseconds since 1970; the backoff starts here.
        at_ms: u64,
    },
    /// A wait started.
    Waiting {
        /// Path of the step.
        path: String,
        /// When it ends, in milliseconds since 1970; `None` if only a callback ends it.
        until_ms: Option<u64>,
    },
    /// A wait ended.
    Resumed {
        /// Path of the step.
        path: String,
        /// Payload of the callback.
        payload: Json,
    },
    /// The run was cancelled.
    Cancelled,
    /// The run exceeded its timeout.
    TimedOut,
}

/// Why a step failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepError {
    /// A code of [`platen_fault::CODES`], such as `code-thrown`. Text, as a journal may be older or
    /// newer than the table.
    pub code: String,
    /// Message.
    pub message: String,
    /// Whether another attempt may succeed.
    pub retryable: bool,
    /// Facts that go with the code. Boxed, as few steps fail and every result has room for an error.
    #[serde(flatten)]
    pub facts: Box<StepFacts>,
}

/// What tells the cases of a code apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepFacts {
    /// Phase in which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// What was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Backend that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// What is too large, too numerous or full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The limit: bytes for memory and sizes, milliseconds for CPU time, otherwise a count.
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
            facts: Box::new(StepFacts {
                stage: facts.stage.map(|stage| stage.as_str().to_owned()),
                resource: facts.resource.map(|resource| resource.as_str().to_owned()),
                backend: facts.backend.map(|backend| backend.as_str().to_owned()),
                what: facts.what.map(|what| what.as_str().to_owned()),
                limit: facts.limit,
            }),
        }
    }

    /// The same failure, whose cause is known to pass or to stay.
    #[must_use]
    pub fn with_retry(self, retryable: bool) -> Self {
        Self { retryable, ..self }
    }
}

/// A step to execute.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Path of the step.
    pub path: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Earliest start, in milliseconds since 1970.
    pub not_before_ms: Option<u64>,
    /// Name of the step, for [`Machine::step`].
    pub step: String,
    /// Input of the step, with expressions evaluated.
    pub input: Json,
}

/// What the executor of a run must do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Execute a step and record it in the journal.
    Do(Task),
    /// Record [`Entry::Waiting`] in the journal.
    Wait {
        /// Path of the step.
        path: String,
        /// Duration of the wait from now on, in milliseconds.
        delay_ms: Option<u64>,
        /// Time of its end, as the flow's expression gives it.
        until: Option<Json>,
    },
    /// Send the answer and record [`Entry::Succeeded`].
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
    /// Succeeded, with the output of its last step.
    Succeeded(Json),
    /// A step failed for good.
    Failed {
        /// Path of the step.
        path: String,
        /// Reason.
        error: StepError,
    },
    /// Cancelled.
    Cancelled,
    /// Exceeded its timeout.
    TimedOut,
}

/// The next actions of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Next {
    /// What to do now. Steps already running are not repeated here.
    pub commands: Vec<Command>,
    /// How the run ended, if it has.
    pub finish: Option<Finish>,
    /// The earliest end of a wait, in milliseconds since 1970.
    pub wake_ms: Option<u64>,
}

/// What the journal says about a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub attempts: u32,
    pub running: bool,
    pub output: Option<Json>,
    pub failure: Option<(StepError, u64)>,
    pub waiting: Option<Option<u64>>,
}

/// State of a loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopState {
    /// The items, as they were when the loop began.
    pub items: Option<Arc<Vec<Json>>>,
    /// Outputs of the completed items.
    pub outputs: Vec<Option<Json>>,
    /// Number of leading items that are complete.
    pub first_open: usize,
    /// Number of completed items, with those of the loops inside of them.
    pub items_done: u64,
}

/// The state machine of a run.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) flow: Arc<CompiledFlow>,
    pub(crate) records: BTreeMap<String, Record>,
    /// State of loops by path, so that each call need not start at their first item.
    pub(crate) loops: BTreeMap<String, LoopState>,
    /// Number of items of the loops in steps of the outermost list that have ended. It follows from the journal, so
    /// that a run reaches its limit at the same place after a restart.
    pub(crate) items_done: u64,
    /// Maximum number of items in all loops together.
    pub(crate) max_items: u64,
    /// What expressions see. Outputs of steps stay in it once a step of the outermost list has ended.
    data: Json,
    /// Result of `now()` throughout the run, in seconds since 1970.
    pub(crate) started_unix_seconds: i64,
    stopped: Option<Finish>,
}

impl Machine {
    /// A run of `flow` started by `trigger`. Expressions see `run` under that name.
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
            loops: BTreeMap::new(),
            items_done: 0,
            max_items: MAX_ITEMS_OF_RUN,
            data: json!({"trigger": trigger, "run": run, "steps": {}}),
            started_unix_seconds,
            stopped: None,
        }
    }

    /// The flow's step with this name.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&Step> {
        crate::walk::find(&self.flow.steps, name)
    }

    /// Applies an event. Events that do not fit the state, such as a second end of a step, are
    /// ignored.
    pub fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Started { path, attempt } => {
                let record = self.record(path);
                record.attempts = record.attempts.max(attempt);
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
                record.output.get_or_insert(output);
            }
            Entry::Failed { path, error, at_ms } => {
                let record = self.record(path);
                record.running = false;
                if record.output.is_none() {
                    record.failure = Some((error, at_ms));
                }
            }
            Entry::Waiting { path, until_ms } => {
                self.record(path).waiting.get_or_insert(until_ms);
            }
            Entry::Cancelled => {
                self.stopped.get_or_insert(Finish::Cancelled);
            }
            Entry::TimedOut => {
                self.stopped.get_or_insert(Finish::TimedOut);
            }
        }
    }

    /// Reverts steps that were started but have not ended, so that they are repeated as the same
    /// attempt: their executor is gone.
    pub fn recover(&mut self) {
        for record in self.records.values_mut().filter(|record| record.running) {
            record.running = false;
            record.attempts = record.attempts.saturating_sub(1);
        }
    }

    /// Output of the step at `path`, if it has ended.
    #[must_use]
    pub fn output(&self, path: &str) -> Option<&Json> {
        self.records.get(path)?.output.as_ref()
    }

    /// Pending waits: path, and when they end by themselves.
    pub fn waits(&self) -> impl Iterator<Item = (&str, Option<u64>)> {
        self.records.iter().filter_map(|(path, record)| {
            let until_ms = record.waiting.filter(|_| record.output.is_none())?;
            Some((path.as_str(), until_ms))
        })
    }

    fn record(&mut self, path: String) -> &mut Record {
        self.records.entry(path).or_default()
    }

    /// Decides what to do next. May unwind where [`platen_document::work::check`] ends it; after that, the machine
    /// takes nothing but [`Entry::Cancelled`] and [`Entry::TimedOut`].
    pub fn proceed(&mut self) -> Next {
        if let Some(finish) = &self.stopped {
            return Next {
                finish: Some(finish.clone()),
                ..Next::default()
            };
        }
        let flow = Arc::clone(&self.flow);
        let mut data = self.data.take();
        let mut walk = Walk::new(self);
        let ended = walk.steps(&flow.steps, &mut data);
        let mut next = walk.next;
        next.finish = ended;
        self.data = data;
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of `steps` whose loops have at most `max_items` items.
    fn machine(steps: &Json, trigger: &Json, max_items: u64) -> Machine {
        let source = json!({"kind": "flow", "key": "test", "name": "Test",
            "trigger": {"type": "manual"}, "steps": steps});
        let flow = crate::parse_flow(source.to_string().as_bytes()).expect("a flow");
        let flow = crate::compile(flow).expect("a flow without mistakes");
        let mut machine = Machine::new(Arc::new(flow), trigger.clone(), Json::Null, 0);
        machine.max_items = max_items;
        machine
    }

    /// A loop over `trigger` whose item is named as the loop is.
    fn each(name: &str, steps: &Json) -> Json {
        json!({"name": name, "type": "loop", "items": "trigger", "as": name, "steps": steps})
    }

    fn skipped(name: &str) -> Json {
        json!({"name": name, "type": "piece", "piece": "test", "action": "echo",
            "skipIf": "trigger"})
    }

    #[test]
    fn the_items_of_all_loops_are_bounded_together() {
        let trigger = json!([1, 2, 3, 4]);
        let inner = each("inner", &json!([skipped("a")]));
        let steps = json!([
            each("outer", &json!([inner])),
            each("last", &json!([skipped("b")]))
        ]);
        let ended = |max_items| machine(&steps, &trigger, max_items).proceed().finish;
        // Four items with four inside of each, and then four.
        let nulls = json!([null, null, null, null]);
        assert_eq!(ended(24), Some(Finish::Succeeded(nulls)));
        for (max_items, at, inside) in [
            (23, "last", ""),
            (19, "outer", ""),
            (18, "outer", "outer[3].inner: "),
        ] {
            let Some(Finish::Failed { path, error }) = ended(max_items) else {
                panic!("{max_items}: it did not fail");
            };
            assert_eq!((&*path, &*error.code), (at, "expression-failed"));
            let message =
                format!("{inside}the loops of a run have at most {max_items} items together");
            assert_eq!(error.message, message);
        }
    }

    #[test]
    fn items_of_failed_loops_do_not_count() {
        // The third item fails: a number is no list.
        let mut fails = json!({"name": "fails", "type": "loop", "items": "outer",
            "steps": [skipped("a")]});
        fails["skipIf"] = json!("inner < 3");
        let mut inner = each("inner", &json!([fails]));
        inner["continueOnFailure"] = json!(true);
        let steps = json!([each("outer", &json!([inner]))]);
        // Two of the inner loop while it is traversed, and three of the outer one by then.
        let ended = machine(&steps, &json!([1, 2, 3, 4]), 5).proceed().finish;
        let Some(Finish::Succeeded(outputs)) = ended else {
            panic!("{ended:?}");
        };
        let outputs = outputs.as_array().expect("a list");
        assert_eq!(outputs.len(), 4);
        for (index, output) in outputs.iter().enumerate() {
            let message =
                format!("outer[{index}].inner[2].fails: the items of the loop are not a list");
            assert_eq!(output["error"]["message"], message);
        }
    }

    #[test]
    fn another_machine_counts_the_same_items() {
        let inner = each("inner", &json!([skipped("a")]));
        let say = json!({"name": "say", "type": "piece", "piece": "test", "action": "echo"});
        let steps = json!([each("outer", &json!([inner, say]))]);
        // Exactly what the loops have in the end.
        let fresh = || machine(&steps, &json!([1, 2, 3]), 12);
        let mut first = fresh();
        let mut journal = Vec::new();
        for item in 0..3 {
            let next = first.proceed();
            assert_eq!(next.commands.len(), 1);
            let mut second = fresh();
            journal
                .iter()
                .cloned()
                .for_each(|entry| second.apply(entry));
            assert_eq!(second.proceed(), next);
            let inside = format!("outer[{item}].inner");
            for machine in [&first, &second] {
                let known: Vec<&str> = machine.loops.keys().map(String::as_str).collect();
                assert_eq!(
                    known,
                    ["outer", inside.as_str()],
                    "no loops of earlier items"
                );
            }
            let entry = Entry::Succeeded {
                path: format!("outer[{item}].say"),
                output: json!(item),
            };
            first.apply(entry.clone());
            journal.push(entry);
        }
        let finish = first.proceed().finish;
        assert_eq!(finish, Some(Finish::Succeeded(json!([0, 1, 2]))));
    }
}
