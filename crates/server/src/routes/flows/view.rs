//! JSON representation of runs.

use platen_runs::{FlowVersion, Record, Run, RunState};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::captured::{Capture, StepView};
use crate::{deferred::BatchProgress, respond::moment};

/// A run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowRun")]
pub(crate) struct RunDocument {
    /// Its name.
    pub(crate) id: String,
    /// Key of the flow.
    pub(crate) flow: String,
    /// Version of the flow; 0 if the flow is not stored.
    pub(crate) version: u32,
    /// `queued`, `running`, `waiting`, `succeeded`, `failed`, `cancelled`, `timed-out` or `dead`.
    pub(crate) state: &'static str,
    /// `sync` if a caller waits for the answer, else `async`.
    pub(crate) lane: &'static str,
    /// Time of acceptance, RFC 3339.
    pub(crate) created_at: String,
    /// Time when a worker first took it, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<String>,
    /// Time when it finished, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<String>,
    /// End of its current wait, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wakes_at: Option<String>,
    /// Worker that executes it, or did last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worker: Option<String>,
    /// Number of workers lost while they executed it.
    pub(crate) deaths: u32,
    /// Run that this one retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_of: Option<String>,
    /// Whether only one step of the flow is executed, and those before it have the outputs of the
    /// run that this one repeats.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub(crate) is_partial: bool,
    /// Progress of a deferred batch while it executes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<BatchProgress>,
    /// Time spent before and around its steps, in microseconds; lists have it of runs with short outputs.
    #[serde(skip_serializing_if = "Json::is_null")]
    #[schemars(default)]
    pub(crate) times: Json,
    /// Why it failed: `code`, `message` and `step`; lists have it of runs with short outputs.
    #[serde(skip_serializing_if = "Json::is_null")]
    #[schemars(default)]
    pub(crate) error: Json,
    /// Output of the last step, unless the flow has answered.
    #[serde(skip_serializing_if = "Json::is_null")]
    #[schemars(default)]
    pub(crate) output: Json,
    /// Its answer: `status`, `headers` and `body`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Json>,
    /// What started it, shortened and without secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trigger: Option<Json>,
    /// Its steps with their timings, in order of completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) steps: Option<Vec<StepView>>,
}

/// A page of the list of runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunList {
    /// Runs, newest first, without their steps.
    pub(crate) runs: Vec<RunDocument>,
    /// `after` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// Parses the name of a run state.
pub(crate) fn state(name: &str) -> Option<RunState> {
    RunState::ALL
        .into_iter()
        .find(|state| state.as_str() == name)
}

fn at(instant_ms: u64) -> String {
    moment(i64::try_from(instant_ms).unwrap_or(i64::MAX))
}

/// Details of a run: its journal, and its flow if that can be read.
pub(super) struct Details<'a> {
    pub records: &'a [Record],
    pub flow: Option<&'a FlowVersion>,
}

impl RunDocument {
    /// Represents `run` without secrets, and with its output and its steps if `details` are given.
    pub(super) fn new(run: &Run, capture: &Capture<'_>, details: Option<&Details<'_>>) -> Self {
        let read = |bytes: &Option<std::sync::Arc<[u8]>>| -> Json {
            let read = bytes.as_deref().map(serde_json::from_slice);
            read.and_then(Result::ok).unwrap_or_default()
        };
        let stored = read(&run.details);
        // A worker wrote them: they may be anything.
        let masked = |name: &str| stored.get(name).map(|member| capture.mask.value(member));
        let answer = run.answer.as_ref().filter(|_| details.is_some());
        let steps = details.map(|of| capture.steps(run, of.records, of.flow));
        let trigger = details.map(|_| serde_json::from_slice(&run.trigger).unwrap_or_default());
        Self {
            times: stored.get("times").cloned().unwrap_or_default(),
            error: masked("error").unwrap_or_default(),
            output: match details {
                Some(_) => masked("output").unwrap_or_default(),
                None => Json::Null,
            },
            answer: answer.map(|_| capture.answers.value(&read(&run.answer))),
            trigger: trigger.map(|trigger: Json| capture.shown(&trigger)),
            steps,
            ..Self::summary(run)
        }
    }

    fn summary(run: &Run) -> Self {
        Self {
            id: run.id.clone(),
            flow: run.flow.clone(),
            version: run.version,
            state: run.state.as_str(),
            lane: match run.lane {
                platen_runs::Lane::Sync => "sync",
                platen_runs::Lane::Async => "async",
            },
            created_at: at(run.created_ms),
            started_at: run.started_ms.map(at),
            ended_at: run.ended_ms.map(at),
            wakes_at: run.wake_ms.map(at),
            worker: run.worker.clone(),
            deaths: run.worker_losses,
            retry_of: run.retry_of.clone(),
            is_partial: run.version > 0 && run.definition.is_some(),
            progress: None,
            times: Json::Null,
            error: Json::Null,
            output: Json::Null,
            answer: None,
            trigger: None,
            steps: None,
        }
    }
}
