//! How a run ended, as the one who waits for it is told.

use std::sync::Arc;

use platen_engine::flow::{Finish, Report};
use platen_storage::runs::{Ending, Run, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Where the milliseconds of a run went before its first step, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Times {
    /// From the request's arrival until the row was durable.
    pub ingress_us: u64,
    /// Until a slot had the run.
    pub queue_us: u64,
    /// Until the slot had the flow, the journal and everything else to begin.
    pub provision_us: u64,
    /// From the first step to the end.
    pub run_us: u64,
}

/// How a run ended, or what it answered while it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Its last state; `Running` where it goes on after its answer.
    pub state: RunState,
    /// `status`, `headers` and `body`, where the flow has answered.
    pub answer: Option<Arc<[u8]>>,
    /// Output, error and times, JSON.
    pub details: Arc<[u8]>,
}

impl Answer {
    /// Of a run that is over, or that has answered.
    #[must_use]
    pub fn of(run: &Run) -> Option<Self> {
        if !run.state.is_end() && run.answer.is_none() {
            return None;
        }
        Some(Self {
            state: run.state,
            answer: run.answer.clone(),
            details: run.details.clone().unwrap_or_default(),
        })
    }
}

/// The end of a run that a worker brought to it.
pub(crate) fn ending(report: &Report, finish: &Finish, times: Times) -> Ending {
    let times = Times {
        run_us: report.duration.as_micros() as u64,
        ..times
    };
    let (state, mut details) = match finish {
        Finish::Succeeded(output) => (RunState::Succeeded, json!({"output": output})),
        Finish::Failed { path, error } => {
            let error = json!({
                "code": error.code, "message": error.message, "step": path,
            });
            (RunState::Failed, json!({"error": error}))
        }
        Finish::Cancelled => (RunState::Cancelled, json!({})),
        Finish::TimedOut => {
            let message = "the run took longer than its flow allows";
            let error = json!({"code": "run-timeout", "message": message});
            (RunState::TimedOut, json!({"error": error}))
        }
    };
    // What was answered already is not kept twice.
    if report.answer.is_some() {
        details["output"] = Json::Null;
    }
    details["times"] = serde_json::to_value(times).unwrap_or_default();
    Ending {
        state,
        answer: report.answer.as_ref().map(bytes),
        details: bytes(&details),
    }
}

/// The end of a run that nobody brought to it.
pub(crate) fn stopped(state: RunState, code: &str, message: &str) -> Ending {
    let details = json!({"error": {"code": code, "message": message}});
    Ending {
        state,
        answer: None,
        details: bytes(&details),
    }
}

pub(crate) fn bytes(value: &Json) -> Arc<[u8]> {
    Arc::from(value.to_string().into_bytes())
}
