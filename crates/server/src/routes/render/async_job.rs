//! Asynchronous rendering and conversion: a durable run of a one-step flow, with the location of
//! its result and an optional webhook.

use std::{sync::Arc, time::Instant};

use axum::response::Response;
use platen_fault::{Code, What};
use platen_runs::{FlowVersion, Lane, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::{
    accepted_run::{MAX_FILE_BYTES, response as accepted},
    flows::{Flows, WEBHOOK_SECRET},
    problem::Problem,
    results::OutputRequest,
};

/// Attempts to deliver a webhook.
const ATTEMPTS: u32 = 6;

/// Delivery of the result: inline, or by an asynchronous run.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Delivery {
    #[serde(default, rename = "async")]
    pub(crate) is_async: bool,
}

/// Webhook that receives a result.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WebhookRequest {
    /// URL at a host in FLOW_ALLOWED_HOSTS. It receives the document, or `{"error": …}`.
    pub(crate) url: String,
    /// Additional headers.
    #[serde(default)]
    pub(crate) headers: Map<String, Json>,
}

/// Rejects `output.store` for an asynchronous job: its run already stores the result.
pub(crate) fn check_output(output: Option<OutputRequest>) -> Result<(), Problem> {
    if output.is_none_or(|output| !output.store) {
        return Ok(());
    }
    let detail = "`output` is not available with `async`: omit it, and read GET /runs/{id}/output";
    Err(Problem::new(Code::UnsupportedOption, detail))
}

/// Accepts a validated render request. `idempotency` is the key that its caller marks it with.
pub(crate) async fn render(
    flows: &Flows,
    idempotency: Option<String>,
    mut request: Json,
    format: &str,
    webhook: Option<WebhookRequest>,
) -> Result<Response, Problem> {
    let data = request["data"].take();
    let mut step = json!({
        "name": "document", "type": "render", "format": format, "data": "{{ trigger.data }}",
    });
    if !request["options"].is_null() {
        step["options"] = json!("{{ trigger.options }}");
    }
    let options = request["options"].take();
    match (request["template"].as_str(), request["version"].as_u64()) {
        (Some(key), Some(version)) => step["template"] = json!(format!("{key}@{version}")),
        (Some(key), None) => step["template"] = json!(key),
        (None, _) => step["definition"] = request["definition"].take(),
    }
    let trigger = json!({"data": data, "options": options});
    accept(flows, idempotency, "async-render", step, trigger, webhook).await
}

/// The problem for a file that is too large for a run.
pub(crate) fn too_large() -> Problem {
    let detail = format!(
        "files of more than {MAX_FILE_BYTES} bytes are not converted asynchronously: omit `async`"
    );
    Problem::new(Code::TooLarge(What::File, MAX_FILE_BYTES), detail)
}

/// Accepts the conversion of a file. `idempotency` is the key that its caller marks it with.
pub(crate) async fn convert(
    flows: &Flows,
    idempotency: Option<String>,
    (name, bytes): (&str, &[u8]),
    to: &str,
    options: Map<String, Json>,
    webhook: Option<WebhookRequest>,
) -> Result<Response, Problem> {
    let file = platen_runs::execution::File {
        name: name.to_owned(),
        media_type: "application/octet-stream".to_owned(),
        bytes: bytes.to_vec(),
    };
    let (step, trigger) = conversion(&file, to, options);
    accept(flows, idempotency, "async-convert", step, trigger, webhook).await
}

/// The step that converts a file, and the trigger of its flow.
fn conversion(
    file: &platen_runs::execution::File,
    to: &str,
    options: Map<String, Json>,
) -> (Json, Json) {
    let step = json!({
        "name": "document", "type": "convert", "file": "{{ trigger.file }}", "to": to,
        "options": "{{ trigger.options }}",
    });
    let mut trigger = json!({"options": options});
    // Moved in: `json!` would copy it.
    trigger["file"] = file.to_value();
    (step, trigger)
}

async fn accept(
    flows: &Flows,
    idempotency: Option<String>,
    key: &str,
    step: Json,
    mut trigger: Json,
    webhook: Option<WebhookRequest>,
) -> Result<Response, Problem> {
    let arrived = Instant::now();
    let is_denied = |webhook: &WebhookRequest| !flows.allows(&webhook.url);
    if webhook.as_ref().is_some_and(is_denied) {
        let detail = "the host of the webhook is not in FLOW_ALLOWED_HOSTS";
        return Err(Problem::new(Code::AddressDenied, detail));
    }
    let is_signed = flows.has_webhook_secret();
    let flow = flow_of(key, step, &mut trigger, webhook, is_signed);
    let version = FlowVersion::read(Arc::from(flow.to_string().into_bytes()), 0)?;
    let bytes: Arc<[u8]> = Arc::from(trigger.to_string().into_bytes());
    let request = Request {
        flow: Arc::new(version),
        lane: Lane::Async,
        // The flow has what the trigger has not: template, format and target.
        idempotency: idempotency.map(|key| (key, Json::Array(vec![flow, trigger]))),
        trigger: bytes,
        queue_timeout_ms: None,
        arrived,
    };
    let receipt = flows.dispatcher.accept(request).await?;
    Ok(accepted(&receipt.id, receipt.known))
}

/// The flow of one step and of the delivery of its output. Texts of a caller go into `trigger`: in
/// the flow they would be expressions.
fn flow_of(
    key: &str,
    mut step: Json,
    trigger: &mut Json,
    webhook: Option<WebhookRequest>,
    is_signed: bool,
) -> Json {
    let reply = json!({"name": "reply", "type": "respond", "body": "{{ steps.document.output }}"});
    let mut steps = vec![reply];
    let mut secrets = Vec::new();
    if let Some(webhook) = webhook {
        trigger["webhook"] = json!({"url": webhook.url, "headers": webhook.headers});
        // The webhook reports failures, too.
        step["continueOnFailure"] = json!(true);
        let mut deliver = json!({
            "name": "deliver", "type": "http", "method": "POST",
            "url": "{{ trigger.webhook.url }}", "headers": "{{ trigger.webhook.headers }}",
            "body": "{{ steps.document.output }}", "describe": true,
            "retry": {"attempts": ATTEMPTS, "backoffMs": 1000},
        });
        if is_signed {
            secrets.push(WEBHOOK_SECRET);
            deliver["signWith"] = json!(WEBHOOK_SECRET);
        }
        steps.push(deliver);
    }
    steps.insert(0, step);
    json!({
        "kind": "flow", "key": key, "name": key, "trigger": {"type": "manual"},
        "secrets": secrets, "steps": steps,
    })
}

#[cfg(test)]
mod tests {
    use platen_flow::{Command, Entry, Machine};

    use super::*;

    #[test]
    fn texts_of_a_caller_are_no_expressions() {
        let text = "{{ 1 + 1 }}";
        let named = |name: &str| Map::from_iter([(name.to_owned(), json!(text))]);
        let file = platen_runs::execution::File {
            name: text.to_owned(),
            media_type: "application/octet-stream".to_owned(),
            bytes: b"text".to_vec(),
        };
        let (step, mut trigger) = conversion(&file, "pdf", named("open_password"));
        let webhook = WebhookRequest {
            url: "https://hook.example/{{1}}".to_owned(),
            headers: named("x-order"),
        };
        let flow = flow_of("async-convert", step, &mut trigger, Some(webhook), false);
        let flow = FlowVersion::read(Arc::from(flow.to_string().into_bytes()), 0).unwrap();
        let mut machine = Machine::new(flow.loaded.compiled(), trigger, Json::Null, 0);
        let mut inputs = Vec::new();
        while let Some(command) = machine.proceed().commands.pop() {
            let path = match command {
                Command::Do(task) => {
                    inputs.push(task.input);
                    task.path
                }
                Command::Respond { path, .. } | Command::Wait { path, .. } => path,
            };
            let output = Json::Null;
            machine.apply(Entry::Succeeded { path, output });
        }
        let [convert, deliver] = &inputs[..] else {
            panic!("{inputs:?}");
        };
        assert_eq!(convert["file"], file.to_value());
        assert_eq!(convert["options"], json!({"open_password": text}));
        assert_eq!(deliver["url"], "https://hook.example/{{1}}");
        assert_eq!(deliver["headers"], json!({"x-order": text}));
    }
}
