//! Ends of runs that the store itself decides.

use std::sync::Arc;

use platen_fault::Code;

use super::runs::{Ending, RunState};

/// How a run ends whose last worker was `worker`, after too many `losses` of workers.
pub(super) fn dead_lettered(worker: Option<&str>, losses: u32) -> Ending {
    let worker = worker.unwrap_or("unknown");
    let message = format!(
        "run dead-lettered: {losses} workers crashed or timed out while executing it, the last one was \
         {worker}; it is not retried automatically"
    );
    let code = Code::DeadLettered.name();
    let details = serde_json::json!({"error": {"code": code, "message": message}});
    Ending {
        state: RunState::Dead,
        answer: None,
        details: Arc::from(details.to_string().into_bytes()),
    }
}
