//! JSON representation of runs.

use platen_runs::{Record, Run, RunState, StepReport};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

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
    /// Progress of a deferred batch while it executes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<BatchProgress>,
    /// Time spent before and around its steps, in microseconds.
    #[serde(skip_serializing_if = "Json::is_null")]
    #[schemars(default)]
    pub(crate) times: Json,
    /// Why it failed: `code`, `message` and `step`.
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
    /// Its steps with their timings, in order of completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Json>>")]
    pub(crate) steps: Option<Vec<StepReport>>,
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

impl RunDocument {
    /// Represents `run` with its output, and with its steps if `records` is given.
    pub(crate) fn new(run: &Run, records: Option<&[Record]>) -> Self {
        let read = |bytes: &Option<std::sync::Arc<[u8]>>| -> Json {
            let read = bytes.as_deref().map(serde_json::from_slice);
            read.and_then(Result::ok).unwrap_or_default()
        };
        let mut details = read(&run.details);
        // A worker wrote them: they may be anything.
        let mut take = |name: &str| {
            let member = details.get_mut(name);
            member.map(Json::take).unwrap_or_default()
        };
        let steps = records.map(|records| {
            let reports = records.iter().filter_map(|record| record.report.clone());
            reports.collect()
        });
        Self {
            times: take("times"),
            error: take("error"),
            output: match records {
                Some(_) => take("output"),
                None => Json::Null,
            },
            answer: run
                .answer
                .as_ref()
                .filter(|_| records.is_some())
                .map(|_| read(&run.answer)),
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
            progress: None,
            times: Json::Null,
            error: Json::Null,
            output: Json::Null,
            answer: None,
            steps: None,
        }
    }
}
