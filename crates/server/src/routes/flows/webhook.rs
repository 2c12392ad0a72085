//! Webhook requests that start flows.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::{Query, State},
    response::Response,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper::{
    HeaderMap, Method,
    header::{CONTENT_TYPE, HeaderValue, LOCATION},
};
use platen_fault::{Code, Resource, Stage};
use platen_flow::model::Trigger;
use platen_runs::{FlowVersion, Lane, MAX_VALUE_DEPTH, Receipt, Request, is_too_deep};
use serde_json::{Map, Value as Json, json};

use super::{super::extract::KeyPath, FlowApi, answer::answer_of};
use crate::{
    accepted_run::{RUN_ID, add_run, idempotency_key, response as accepted},
    auth::{Access, Scope},
    intake::body,
    origin,
    problem::Problem,
    rendering::slots::Slots,
    session,
};

/// Headers hidden from flows.
const HIDDEN: [&str; 5] = [
    "authorization",
    "x-api-key",
    "x-editor-token",
    "cookie",
    "proxy-authorization",
];

/// Starts a flow and responds at once.
pub(crate) async fn start_flow(
    State(api): State<FlowApi>,
    path: KeyPath,
    query: Query<Vec<(String, String)>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let receipt = accept(&api, &path.key, Lane::Async, &query, &headers, body).await?;
    Ok(accepted(&receipt.id, receipt.known))
}

/// Starts a flow and waits for its response.
pub(crate) async fn call_flow(
    State(api): State<FlowApi>,
    path: KeyPath,
    query: Query<Vec<(String, String)>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let arrived = Instant::now();
    let prefer = Prefer::of(&headers);
    let receipt = accept(&api, &path.key, Lane::Sync, &query, &headers, body).await?;
    let limit = Duration::from_millis(api.timeout_ms);
    let limit = prefer.wait.map_or(limit, |wait| wait.min(limit));
    let Some(waiting) = receipt.answer else {
        return Err(Problem::internal(
            "no caller waits for the answer of the run",
        ));
    };
    let left = limit.saturating_sub(arrived.elapsed());
    let mut response = match tokio::time::timeout(left, waiting).await {
        Ok(Ok(answer)) => match answer_of(&answer, receipt.ingress_us, arrived) {
            Ok(response) => response,
            // The caller has to find the run that failed.
            Err(problem) => problem.into_response_of(&receipt.id),
        },
        _ if prefer.respond_async => return Ok(accepted(&receipt.id, receipt.known)),
        _ => {
            let id = &receipt.id;
            let detail = format!(
                "the flow did not answer within {} ms; see /runs/{id}",
                limit.as_millis()
            );
            // The run goes on: the same request with its key gets the answer later.
            Problem::new(Code::Timeout(Stage::Answer), detail)
                .retry_after(1)
                .into_response_of(id)
        }
    };
    add_run(response.headers_mut(), &receipt.id);
    Ok(response)
}

impl Problem {
    /// The response, with the location of its run.
    fn into_response_of(self, id: &str) -> Response {
        let location = HeaderValue::from_str(&format!("/runs/{id}"));
        let mut problem = self;
        if let (Ok(location), Ok(name)) = (location, HeaderValue::from_str(id)) {
            problem = problem.with_header(LOCATION, location);
            problem = problem.with_header(RUN_ID, name);
        }
        axum::response::IntoResponse::into_response(problem)
    }
}

/// The `Prefer` header (RFC 7240).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Prefer {
    /// Respond with the run's location instead of a failure if the result is late.
    respond_async: bool,
    /// How long to wait.
    wait: Option<Duration>,
}

impl Prefer {
    fn of(headers: &HeaderMap) -> Self {
        let mut prefer = Self::default();
        let values = headers.get_all("prefer").iter();
        let texts = values.filter_map(|value| value.to_str().ok());
        for part in texts.flat_map(|text| text.split([',', ';'])).map(str::trim) {
            if part.eq_ignore_ascii_case("respond-async") {
                prefer.respond_async = true;
            } else if let Some(seconds) = part.strip_prefix("wait=") {
                prefer.wait = seconds
                    .trim_matches('"')
                    .parse()
                    .ok()
                    .map(Duration::from_secs);
            }
        }
        prefer
    }
}

/// Accepts a run of the flow in the path.
async fn accept(
    api: &FlowApi,
    key: &str,
    lane: Lane,
    query: &[(String, String)],
    headers: &HeaderMap,
    body: Body,
) -> Result<Receipt, Problem> {
    let arrived = Instant::now();
    let flow = api.flows.dispatcher.flow(key).await;
    let open = flow.as_ref().is_ok_and(|flow| {
        matches!(
            flow.loaded.flow().trigger,
            Trigger::Webhook { open: true, .. }
        )
    });
    // Callers without a key must not learn which flows exist.
    if !open {
        admit(api, headers)?;
    }
    let flow = flow?;
    if !matches!(flow.loaded.flow().trigger, Trigger::Webhook { .. }) {
        let detail = "the trigger of this flow is no webhook: POST /flows/{key}/runs starts it";
        return Err(Problem::new(Code::NotFound(Resource::Webhook), detail));
    }
    let (bytes, room) = body::read(&api.intake, headers, body).await?;
    let (bytes, _room) = match is_json(headers, &bytes) {
        true => body::weighed_trigger(&api.intake, bytes, room).await?,
        false => (bytes, room),
    };
    let content = shallow(content(headers, &bytes)?)?;
    let content = checked(&api.slots, &flow, content)
        .await
        .map_err(|problem| {
            let detail = match problem.diagnostics.is_empty() {
                true => problem.detail,
                false => "the body is not what the flow expects".to_owned(),
            };
            Problem { detail, ..problem }
        })?;
    let fields = query.iter().cloned();
    let fields: Map<String, Json> = fields.map(|(name, value)| (name, value.into())).collect();
    // Leave out the headers: proxies and clients change them between retries.
    let mut trigger = Map::new();
    trigger.insert("body".to_owned(), content);
    trigger.insert("query".to_owned(), Json::Object(fields));
    let key = idempotency_key(headers)?;
    let idempotency = key.map(|key| (key, Json::Object(trigger.clone())));
    trigger.insert("headers".to_owned(), Json::Object(visible(headers)));
    let queue_timeout_ms = (lane == Lane::Sync).then_some(api.timeout_ms);
    let request = Request {
        flow,
        lane,
        trigger: Arc::from(Json::Object(trigger).to_string().into_bytes()),
        idempotency,
        queue_timeout_ms,
        arrived,
    };
    let accept = api.flows.dispatcher.accept(request).await;
    accept.map_err(|error| {
        let problem = Problem::from(error);
        api.metrics.rejected(problem.code.name());
        problem
    })
}

/// Checks who starts a flow that is not open.
fn admit(api: &FlowApi, headers: &HeaderMap) -> Result<(), Problem> {
    if !api.keys.are_needed() {
        origin::check_page(&Method::POST, headers, &api.origins)?;
    }
    if api.keys.is_session(headers) {
        session::check_origin(&Method::POST, headers)?;
    }
    let checked = api.keys.check(headers, Access::scope(Scope::Render));
    checked.map(drop)
}

/// Validates trigger input against the flow's schema. Validation may take long: it runs off the
/// async threads, with the limits of a rendering.
pub(super) async fn checked(
    slots: &Slots,
    flow: &Arc<FlowVersion>,
    input: Json,
) -> Result<Json, Problem> {
    if !flow.loaded.has_schema() {
        return Ok(input);
    }
    let flow = Arc::clone(flow);
    let check = move |_: &_| match flow.loaded.check(&input) {
        mistakes if mistakes.is_empty() => Ok(input),
        mistakes => Err(Problem::mistakes(mistakes)),
    };
    slots.check(check).await
}

/// Refuses a value that is nested too deep for a run.
pub(super) fn shallow(value: Json) -> Result<Json, Problem> {
    if !is_too_deep(&value) {
        return Ok(value);
    }
    let detail = format!(
        "the body nests lists and objects deeper than {MAX_VALUE_DEPTH} levels: nest them less, or send them as text"
    );
    Err(Problem::new(Code::InvalidRequest, detail))
}

/// Whether a body is parsed as JSON. Many clients send JSON without its media type.
fn is_json(headers: &HeaderMap, bytes: &[u8]) -> bool {
    match plain_type(headers).as_str() {
        "" => matches!(bytes.trim_ascii_start().first(), Some(b'[' | b'{')),
        plain => plain == "application/json" || plain.ends_with("+json"),
    }
}

/// The media type without its parameters, in lower case.
fn plain_type(headers: &HeaderMap) -> String {
    let media_type = headers.get(CONTENT_TYPE);
    let media_type = media_type.and_then(|value| value.to_str().ok());
    let plain = media_type.unwrap_or_default().split(';').next();
    plain.unwrap_or_default().trim().to_ascii_lowercase()
}

/// Parses the body of a request as JSON, a form, text, or a file.
fn content(headers: &HeaderMap, bytes: &[u8]) -> Result<Json, Problem> {
    let media_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let plain = plain_type(headers);
    if bytes.is_empty() {
        return Ok(Json::Null);
    }
    if plain == "application/json" || plain.ends_with("+json") {
        return body::parse(bytes);
    }
    if plain == "application/x-www-form-urlencoded" {
        let uri = format!("/?{}", String::from_utf8_lossy(bytes));
        let fields = uri
            .parse()
            .ok()
            .and_then(|uri| Query::<Vec<(String, String)>>::try_from_uri(&uri).ok());
        let fields = fields.ok_or_else(|| {
            Problem::new(Code::InvalidRequest, "the form is not URL-encoded text")
        })?;
        let fields = fields.0.into_iter();
        return Ok(Json::Object(
            fields.map(|(name, value)| (name, value.into())).collect(),
        ));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if plain.is_empty() || plain.starts_with("text/") || plain.contains("xml") => {
            let json = is_json(headers, bytes).then(|| serde_json::from_str(text).ok());
            Ok(json.flatten().unwrap_or_else(|| Json::from(text)))
        }
        _ => Ok(json!({"$file": {
            "name": "body",
            "mediaType": media_type.unwrap_or("application/octet-stream"),
            "sizeBytes": bytes.len(),
            "base64": STANDARD.encode(bytes),
        }})),
    }
}

/// Headers that a flow may see.
fn visible(headers: &HeaderMap) -> Map<String, Json> {
    let shown = headers
        .iter()
        .filter(|(name, _)| !HIDDEN.contains(&name.as_str()));
    shown
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.into())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_become_values() {
        let of = |media_type: &'static str, bytes: &[u8]| {
            let mut headers = HeaderMap::new();
            if !media_type.is_empty() {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
            }
            content(&headers, bytes)
        };
        assert_eq!(
            of("application/json", b"{\"a\":1}").unwrap(),
            json!({"a": 1})
        );
        assert!(of("application/json", b"{\"a\":").is_err());
        assert_eq!(of("", b"{\"a\":1}").unwrap(), json!({"a": 1}));
        assert_eq!(of("", b"hello").unwrap(), json!("hello"));
        let form = of("application/x-www-form-urlencoded", b"a=1&b=x+y");
        assert_eq!(form.unwrap(), json!({"a": "1", "b": "x y"}));
        let file = of("application/pdf", b"%PDF-1.7\xff").unwrap();
        assert_eq!(file["$file"]["mediaType"], "application/pdf");
        assert_eq!(of("text/plain", b"").unwrap(), Json::Null);
    }

    #[test]
    fn preferences_are_read() {
        let of = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("prefer", HeaderValue::from_static(value));
            Prefer::of(&headers)
        };
        let both = of("respond-async, wait=10");
        assert!(both.respond_async && both.wait == Some(Duration::from_secs(10)));
        assert_eq!(of("handling=strict"), Prefer::default());
    }
}
