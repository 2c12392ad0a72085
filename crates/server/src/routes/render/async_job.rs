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
    let step = json!({
        "name": "document", "type": "convert", "file": "{{ trigger.file }}", "to": to,
        "options": options,
    });
    let trigger = json!({"file": file.to_value()});
    accept(flows, idempotency, "async-convert", step, trigger, webhook).await
}

async fn accept(
    flows: &Flows,
    idempotency: Option<String>,
    key: &str,
    mut step: Json,
    trigger: Json,
    webhook: Option<WebhookRequest>,
) -> Result<Response, Problem> {
    let arrived = Instant::now();
    let reply = json!({"name": "reply", "type": "respond", "body": "{{ steps.document.output }}"});
    let mut steps = vec![reply];
    let mut secrets = Vec::new();
    if let Some(webhook) = webhook {
        if !flows.allows(&webhook.url) {
            let detail = "the host of the webhook is not in FLOW_ALLOWED_HOSTS";
            return Err(Problem::new(Code::AddressDenied, detail));
        }
        // The webhook reports failures, too.
        step["continueOnFailure"] = json!(true);
        let mut deliver = json!({
            "name": "deliver", "type": "http", "method": "POST", "url": webhook.url,
            "headers": webhook.headers, "body": "{{ steps.document.output }}", "describe": true,
            "retry": {"attempts": ATTEMPTS, "backoffMs": 1000},
        });
        if flows.has_webhook_secret() {
            secrets.push(WEBHOOK_SECRET);
            deliver["signWith"] = json!(WEBHOOK_SECRET);
        }
        steps.push(deliver);
    }
    steps.insert(0, step);
    let flow = json!({
        "kind": "flow", "key": key, "name": key, "trigger": {"type": "manual"},
        "secrets": secrets, "steps": steps,
    });
    let version = FlowVersion::read(Arc::from(flow.to_string().into_bytes()), 0)?;
    let bytes: Arc<[u8]> = Arc::from(trigger.to_string().into_bytes());
    let request = Request {
        flow: Arc::new(version),
        lane: Lane::Async,
        // The flow has what the trigger has not: template, format, target and webhook.
        idempotency: idempotency.map(|key| (key, Json::Array(vec![flow, trigger]))),
        trigger: bytes,
        queue_timeout_ms: None,
        arrived,
    };
    let receipt = flows.dispatcher.accept(request).await?;
    Ok(accepted(&receipt.id, receipt.known))
}
