//! Conventions of all Gotenberg forms: trace header, status codes and webhook delivery.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::{
    HeaderMap, StatusCode,
    header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderName, HeaderValue},
};
use platen_fault::{Code, Fault, Stage, What};
use platen_outbound::is_reserved;
use platen_server::{
    deferred::Replay,
    middleware::{Context, GOTENBERG_TRACE as TRACE, gotenberg_trace},
    problem::Problem,
    respond::moment,
};
use serde_json::json;
use tokio::task::JoinSet;
use tracing::Instrument as _;

use crate::api::FormApi;
use crate::webhook::{Parcel, ParcelKind};

/// Name of the header by which receivers tell a delivery from its repetition.
const KEY: &str = "idempotency-key";
/// Largest result that a webhook delivers, in bytes.
const MAX_RESULT_BYTES: usize = 512 << 20;

/// Webhook target of a result.
#[derive(Clone, Debug)]
struct Hook {
    url: String,
    error_url: Option<String>,
    /// URL of the events: a result was delivered, or why there is none.
    events_url: Option<String>,
    method: String,
    error_method: String,
    headers: Vec<(String, String)>,
}

/// Middleware around every form.
pub(crate) async fn handle(
    State(api): State<FormApi>,
    mut request: Request,
    next: Next,
) -> Response {
    let trace_header = api.trace_header.clone();
    if request.extensions().get::<Replay>().is_none() {
        rename(request.headers_mut(), &trace_header, &TRACE);
    }
    let context = request.extensions().get::<Context>();
    let request_id = context.map(|context| Arc::clone(&context.request_id));
    let request_id = request_id.unwrap_or_else(|| "".into());
    let trace = gotenberg_trace(request.headers(), &request_id);
    let is_plain = !wants_json(request.headers());
    let replay = request.extensions().get::<Replay>().cloned();
    let answer = match (Hook::of(&api, request.headers()), replay) {
        (Ok(None), _) => Ok(next.run(request).await),
        (Ok(Some(_)), None) => accept(&api, request).await,
        (Ok(Some(hook)), Some(replay)) => {
            let sender = Sender {
                api,
                hook,
                replay,
                request_id,
            };
            sender.make_and_deliver(request, next, trace.clone()).await
        }
        (Err(problem), _) => Err(problem),
    };
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    finish(&mut response, trace);
    if let Some(problem) = response.extensions_mut().get_mut::<Problem>()
        && is_plain
    {
        problem.is_plain = true;
        problem.detail = in_gotenbergs_words(problem);
    }
    if let Some(problem) = response.extensions_mut().get_mut::<Problem>() {
        for (name, _) in &mut problem.headers {
            if *name == TRACE {
                name.clone_from(&trace_header);
            }
        }
    }
    rename(response.headers_mut(), &TRACE, &trace_header);
    response
}

/// Gives a header another name; one of that name goes.
fn rename(headers: &mut HeaderMap, from: &HeaderName, to: &HeaderName) {
    if from == to {
        return;
    }
    headers.remove(to);
    if let Some(value) = headers.remove(from) {
        headers.insert(to, value);
    }
}

/// Whether the client asks for errors as JSON; Gotenberg's are text.
fn wants_json(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(ACCEPT).iter();
    accepted.any(|types| {
        types
            .as_bytes()
            .windows(4)
            .any(|it| it.eq_ignore_ascii_case(b"json"))
    })
}

fn finish(response: &mut Response, trace: Option<HeaderValue>) {
    let problem = response.extensions_mut().get_mut::<Problem>();
    match (problem, trace) {
        (Some(problem), trace) => {
            as_gotenberg(problem);
            problem.headers.extend(trace.map(|trace| (TRACE, trace)));
        }
        (None, Some(trace)) => drop(response.headers_mut().insert(TRACE, trace)),
        (None, None) => {}
    }
}

/// Maps a problem to Gotenberg's status codes: 429 for a full queue, 503 for a timeout, 409 for
/// exceptions in the page, 400 for documents that cannot be loaded or read.
fn as_gotenberg(problem: &mut Problem) {
    problem.status = match (problem.code, problem.code.fault()) {
        (Code::Overloaded(What::Queue | What::Requests), _) => StatusCode::TOO_MANY_REQUESTS,
        (Code::PageException | Code::PageStatus | Code::ResourceFailed, _) => StatusCode::CONFLICT,
        // Gotenberg has no status for a slow request: 408 stays.
        (Code::Timeout(Stage::Head | Stage::Body), _) => return,
        (_, Fault::Timeout) => StatusCode::SERVICE_UNAVAILABLE,
        (_, Fault::Content | Fault::Limit) => StatusCode::BAD_REQUEST,
        (_, Fault::Backend) => StatusCode::INTERNAL_SERVER_ERROR,
        _ => return,
    };
}

/// The text of an error as Gotenberg has it, where ours differs. A client that accepts JSON gets ours.
fn in_gotenbergs_words(problem: &Problem) -> String {
    let detail = problem.detail.as_str();
    match problem.code {
        // Gotenberg does not say which address a page or a form may not reach.
        Code::AddressDenied => "Forbidden".to_owned(),
        Code::PageException => {
            let thrown = detail.strip_prefix("the page threw: ").unwrap_or(detail);
            let lines = thrown.replace("; ", "\n");
            format!("Chromium console exceptions:\n{lines}")
        }
        _ => detail.to_owned(),
    }
}

fn invalid(detail: impl Into<String>) -> Problem {
    Problem::new(Code::InvalidRequest, detail)
}

impl Hook {
    /// Reads the webhook headers.
    fn of(api: &FormApi, headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        let text = |name: &str| match headers.get(name).map(HeaderValue::to_str) {
            None => Ok(None),
            Some(Ok(text)) if text.trim().is_empty() => Ok(None),
            Some(Ok(text)) => Ok(Some(text.trim().to_owned())),
            Some(Err(_)) => Err(invalid(format!("the header `{name}` is not text"))),
        };
        if api.webhooks.is_disabled {
            return Ok(None);
        }
        let Some(url) = text("gotenberg-webhook-url")? else {
            return Ok(None);
        };
        let error_url = text("gotenberg-webhook-error-url")?;
        let events_url = text("gotenberg-webhook-events-url")?;
        if error_url.is_none() && events_url.is_none() {
            return Err(invalid(
                "at least one of the headers `Gotenberg-Webhook-Error-Url` and \
                 `Gotenberg-Webhook-Events-Url` is needed",
            ));
        }
        let method = |name: &str| match text(name)?.map(|it| it.to_ascii_uppercase()) {
            None => Ok("POST".to_owned()),
            Some(method) if ["POST", "PUT", "PATCH"].contains(&method.as_str()) => Ok(method),
            Some(_) => Err(invalid(format!(
                "the header `{name}` is not POST, PUT or PATCH"
            ))),
        };
        let extra = text("gotenberg-webhook-extra-http-headers")?;
        let extra: BTreeMap<String, String> = match extra {
            None => BTreeMap::new(),
            Some(text) => serde_json::from_str(&text).map_err(|_| {
                invalid("the header `Gotenberg-Webhook-Extra-Http-Headers` is not JSON of texts")
            })?,
        };
        if let Some(name) = extra.keys().find(|name| is_reserved(name)) {
            let detail = format!(
                "the header `Gotenberg-Webhook-Extra-Http-Headers` names `{name}`, which the \
                 sender sets itself"
            );
            return Err(invalid(detail));
        }
        for (kind, url) in [
            (ParcelKind::Result, Some(&url)),
            (ParcelKind::Error, error_url.as_ref()),
            (ParcelKind::Error, events_url.as_ref()),
        ] {
            if let Some(url) = url.filter(|url| !api.webhooks.allows(kind, url)) {
                let shown: String = url.chars().take(200).collect();
                let detail = format!("{shown} is not at an allowed host (WEBHOOK_ALLOWED_HOSTS)");
                return Err(Problem::new(Code::AddressDenied, detail));
            }
        }
        Ok(Some(Self {
            url,
            error_url,
            events_url,
            method: method("gotenberg-webhook-method")?,
            error_method: method("gotenberg-webhook-error-method")?,
            headers: extra.into_iter().collect(),
        }))
    }
}

/// Stores the form and answers 204: a durable run makes its document and delivers it. In the
/// synchronous mode the answer comes after that, and is the error if there is one.
async fn accept(api: &FormApi, request: Request) -> Result<Response, Problem> {
    let limit = (api.intake.form_max_body_bytes, "FORM_MAX_BODY_BYTES");
    // A failed result is followed by its error, and both by an event.
    let deliveries = api.webhooks.longest().saturating_mul(3);
    let timeout = (api.render_timeout + api.office_timeout).saturating_add(deliveries);
    let accepted = api.deferred.accept(request, limit, timeout).await;
    let accepted = accepted.inspect_err(|problem| api.metrics.rejected(problem.code.name()))?;
    if api.webhooks.is_synchronous {
        api.deferred.end(&accepted).await?;
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Headers and bytes of a result.
type Made = (Vec<(String, String)>, Bytes);

async fn parcel_of(mut response: Response) -> Result<Made, Problem> {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        return Err(problem);
    }
    let (parts, body) = response.into_parts();
    let headers = [CONTENT_TYPE, CONTENT_DISPOSITION, TRACE].into_iter();
    let headers = headers.filter_map(|name| {
        let value = parts.headers.get(&name)?.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    });
    let headers = headers.collect();
    let body = Limited::new(body, MAX_RESULT_BYTES).collect().await;
    let body = body.map_err(|error| Problem::internal(format!("a result: {error}")))?;
    Ok((headers, body.to_bytes()))
}

/// Replaces our headers with the client's headers of the same name.
fn replace(headers: &mut Vec<(String, String)>, given: Vec<(String, String)>) {
    headers.retain(|(name, _)| {
        !given
            .iter()
            .any(|(other, _)| other.eq_ignore_ascii_case(name))
    });
    headers.extend(given);
}

/// What a problem says to people.
fn message_of(problem: &Problem) -> &str {
    match problem.detail.as_str() {
        "" => problem.status.canonical_reason().unwrap_or("Error"),
        detail => detail,
    }
}

/// A deferred form whose result goes to a webhook.
struct Sender {
    api: FormApi,
    hook: Hook,
    replay: Replay,
    request_id: Arc<str>,
}

impl Sender {
    /// Makes the document of a form and delivers it, or the error.
    ///
    /// # Errors
    /// Why there is no document, or that it could not be delivered.
    async fn make_and_deliver(
        self,
        request: Request,
        next: Next,
        trace: Option<HeaderValue>,
    ) -> Result<Response, Problem> {
        // In a task of its own: a handler's panic ends only this task, and the client still
        // receives an error. The set ends the task if the run is cancelled.
        let mut work = JoinSet::new();
        let told = trace.clone();
        work.spawn(
            async move {
                let mut response = next.run(request).await;
                finish(&mut response, trace);
                parcel_of(response).await
            }
            .in_current_span(),
        );
        let made = match work.join_next().await {
            Some(Ok(made)) => made,
            Some(Err(error)) => Err(Problem::internal(error.to_string())),
            None => Err(Problem::internal("a form has no result")),
        };
        let problem = match self.deliver(made).await {
            Ok(()) => {
                self.tell(told.as_ref(), None).await;
                return Ok(StatusCode::NO_CONTENT.into_response());
            }
            Err(problem) => problem,
        };
        self.deliver_error(&problem).await;
        self.tell(told.as_ref(), Some(&problem)).await;
        Err(problem)
    }

    async fn deliver(&self, made: Result<Made, Problem>) -> Result<(), Problem> {
        let (headers, body) = made?;
        let target = (ParcelKind::Result, &*self.hook.method, &*self.hook.url);
        match self.send(target, headers, body).await {
            true => Ok(()),
            false => {
                let detail = "the result could not be delivered";
                Err(Problem::new(Code::RequestFailed, detail))
            }
        }
    }

    /// Tells what became of the form, after the result or the error was sent. That it cannot be told
    /// changes nothing of either.
    async fn tell(&self, trace: Option<&HeaderValue>, problem: Option<&Problem>) {
        let Some(url) = &self.hook.events_url else {
            return;
        };
        let id = trace.and_then(|trace| trace.to_str().ok());
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_millis() as i64);
        let mut event = json!({
            "event": if problem.is_some() { "webhook.error" } else { "webhook.success" },
            "correlationId": id.unwrap_or_default(),
            "timestamp": moment(now),
        });
        if let Some(problem) = problem {
            let message = message_of(problem);
            event["error"] = json!({"status": problem.status.as_u16(), "message": message});
        }
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        // Not that of the result, which may go to the same address.
        headers.push((KEY.to_owned(), format!("{}-event", self.replay.name)));
        headers.extend(id.map(|id| (TRACE.as_str().to_owned(), id.to_owned())));
        let target = (ParcelKind::Error, "POST", url.as_str());
        self.send(target, headers, event.to_string().into()).await;
    }

    async fn deliver_error(&self, problem: &Problem) {
        let Some(url) = &self.hook.error_url else {
            return;
        };
        let status = problem.status;
        let message = message_of(problem);
        let code = problem.code.name();
        let body = json!({"status": status.as_u16(), "code": code, "message": message});
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let trace = problem.headers.iter().find(|(name, _)| *name == TRACE);
        headers.extend(trace.and_then(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        }));
        let target = (ParcelKind::Error, &*self.hook.error_method, url.as_str());
        self.send(target, headers, body.to_string().into()).await;
    }

    async fn send(
        &self,
        (kind, method, url): (ParcelKind, &str, &str),
        mut headers: Vec<(String, String)>,
        body: Bytes,
    ) -> bool {
        // A kill of the service between a delivery and its record leads to a second one: the
        // receiver can tell by this key.
        if !headers.iter().any(|(name, _)| name == KEY) {
            headers.push((KEY.to_owned(), self.replay.name.to_string()));
        }
        for (name, _) in &mut headers {
            if name == TRACE.as_str() {
                *name = self.api.trace_header.to_string();
            }
        }
        replace(&mut headers, self.hook.headers.clone());
        let parcel = Parcel {
            kind,
            method: method.to_owned(),
            url: url.to_owned(),
            headers,
            body,
        };
        self.api.webhooks.send(parcel, &self.request_id).await
    }
}
