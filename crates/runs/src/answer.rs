//! The answer of a run, as its caller receives it.

use std::sync::Arc;

use platen_fault::{Code, Stage};
use platen_flow::{Finish, StepError};
use platen_storage::runs::{Ending, Run, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::execution::Report;

/// Time spent before the first step, in µs, by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Times {
    /// From the request's arrival until the row was durable.
    pub ingress_us: u64,
    /// Until a slot took the run.
    pub queue_us: u64,
    /// Until the slot had the flow and the journal, and could start.
    pub provision_us: u64,
    /// From the first step to the end.
    pub run_us: u64,
}

/// How a run ended, or the answer it gave before its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The last state; `Running` if the run continues after its answer.
    pub state: RunState,
    /// `status`, `headers` and `body`, if the flow has answered.
    pub answer: Option<Arc<[u8]>>,
    /// Output, error and times, JSON.
    pub details: Arc<[u8]>,
}

impl Answer {
    /// The answer of a run that has ended or answered; `None` for any other.
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

/// The ending that a slot reports.
pub(crate) fn ending(report: &Report, finish: &Finish, times: Times) -> Ending {
    let times = Times {
        run_us: report.duration.as_micros() as u64,
        ..times
    };
    let (state, mut details) = match finish {
        Finish::Succeeded(output) => (RunState::Succeeded, json!({"output": output})),
        Finish::Failed { path, error } => {
            let mut error = described(error);
            error["step"] = json!(path);
            (RunState::Failed, json!({"error": error}))
        }
        Finish::Cancelled => (RunState::Cancelled, json!({})),
        Finish::TimedOut => {
            let error = StepError::new(Code::Timeout(Stage::Run), "run timed out");
            (RunState::TimedOut, json!({"error": described(&error)}))
        }
    };
    // The row holds the answer already.
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

/// The ending of a run that did not end by itself.
pub(crate) fn stopped(state: RunState, code: Code, message: &str) -> Ending {
    let details = json!({"error": described(&StepError::new(code, message))});
    Ending {
        state,
        answer: None,
        details: bytes(&details),
    }
}

/// An error as the answer of a run has it; whether to retry is over with the run.
fn described(error: &StepError) -> Json {
    let mut described = json!(error);
    if let Some(members) = described.as_object_mut() {
        members.remove("retryable");
    }
    described
}

pub(crate) fn bytes(value: &Json) -> Arc<[u8]> {
    Arc::from(value.to_string().into_bytes())
}
