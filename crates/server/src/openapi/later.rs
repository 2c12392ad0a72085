//! What is said of work that goes on after the answer: the run that it becomes.

use serde_json::{Map, Value as Json, json};

use crate::routes::Route;

/// Operations that always answer so.
const STARTING: [&str; 4] = ["create_run", "start_flow", "retry_run", "call_run_back"];
/// Operations that do where they are asked to.
const ASKED: [(&str, &str); 4] = [
    ("create_render", "Made later, as `async` says."),
    ("create_render_in_format", "Made later, as `async` says."),
    ("convert_document", "Made later, as `async` says."),
    ("call_flow", "Late, where `Prefer: respond-async` was sent."),
];

/// The answer of an operation that only starts a run.
pub(super) fn started(route: &Route) -> Option<Json> {
    let is_one = STARTING.contains(&route.operation);
    is_one.then(|| answer("The run is durable, and goes on."))
}

/// Adds the answer with a run beside the usual one.
pub(super) fn add_answer(route: &Route, answers: &mut Map<String, Json>) {
    let asked = ASKED.iter().find(|(name, _)| *name == route.operation);
    if let Some((_, about)) = asked {
        answers.insert("202".into(), answer(about));
    }
}

fn answer(about: &str) -> Json {
    let text = |about: &str| json!({"type": "string", "description": about});
    let known = "It was begun before: by a request of the same Idempotency-Key, or as the run that goes on.";
    let header = |about: &str| json!({"description": about, "schema": {"type": "string"}});
    json!({
        "description": about,
        "headers": {
            "Location": header("Address of the run."),
            "X-Run-Id": header("Name of the run."),
        },
        "content": {"application/json": {"schema": {
            "type": "object",
            "required": ["run", "address", "known"],
            "properties": {
                "run": text("Name of the run."),
                "address": text("Address of the run."),
                "known": {"type": "boolean", "description": known},
            },
        }}},
    })
}
