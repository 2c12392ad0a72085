//! Intercepts the requests of one page: answers from memory, forwards to allowed hosts, denies the
//! rest. Also dismisses dialogs and records console lines and exceptions.

use std::{sync::Arc, time::Instant};

use base64::{Engine, engine::general_purpose::STANDARD};
use percent_encoding::percent_decode_str;
use platen_outbound::Answer;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinSet};

use super::{
    cookies,
    page_state::{PageState, push_bounded},
};
use crate::{
    devtools::{Connection, Event, Events},
    options::File,
    outside::{DENIED, LoadFailure, Outside},
};

/// Origin of documents: a name that never resolves (RFC 2606, section 2).
pub(crate) const ORIGIN: &str = "http://platen.invalid/";
/// Largest file that a page gets, in bytes: in base64, it is one message (see
/// [`MAX_SENT`](crate::devtools::MAX_SENT)).
const MAX_FILE_BYTES: usize = 64 << 20;
/// Chromium's name of the error of a request that an extension or a client of DevTools ends.
const BLOCKED: &str = "net::ERR_BLOCKED_BY_CLIENT";

pub(crate) struct RequestInterceptor {
    pub(crate) connection: Connection,
    pub(crate) session: String,
    pub(crate) frame: String,
    pub(crate) page_state: Arc<PageState>,
    pub(crate) outside: Arc<Outside>,
    /// Requests of this page to allowed hosts, as many as may be in flight.
    pub(crate) at_once: Semaphore,
    pub(crate) max_requests: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    request_id: String,
    request: PausedRequest,
    resource_type: String,
    frame_id: Option<String>,
}

#[derive(Deserialize)]
struct PausedRequest {
    url: String,
    method: String,
    headers: std::collections::BTreeMap<String, String>,
}

/// What to do with a request.
enum Decision {
    Found(File),
    Blank,
    Missing,
    Outside,
    Denied,
}

impl RequestInterceptor {
    /// Handles events until the session ends.
    pub(crate) async fn run(self, mut events: Events) {
        let interceptor = Arc::new(self);
        let mut loads = JoinSet::new();
        while let Some(event) = events.recv().await {
            while loads.try_join_next().is_some() {}
            interceptor.handle(&event, &mut loads).await;
        }
        // The browser has exited, or the page has exceeded the limit of buffered events.
        interceptor.page_state.change(|state| state.crashed = true);
    }

    async fn handle(self: &Arc<Self>, event: &Event, loads: &mut JoinSet<()>) {
        match event.method.as_str() {
            "Fetch.requestPaused" => {
                if let Some(paused) = event.params() {
                    self.answer(paused, loads).await;
                }
            }
            "Page.documentOpened" => self.opened(event),
            "Page.frameNavigated" => self.navigated(event),
            "Page.loadEventFired" => self.page_state.change(|state| state.loaded |= state.opened),
            "Page.javascriptDialogOpening" => self.close_dialog(event),
            "Inspector.targetCrashed" => self.page_state.change(|state| state.crashed = true),
            "Runtime.consoleAPICalled" => self.console(event),
            "Runtime.exceptionThrown" => self.exception(event),
            _ => {}
        }
    }

    fn opened(&self, event: &Event) {
        let params: Option<Value> = event.params();
        let is_main = params.is_some_and(|params| params["frame"]["id"] == self.frame.as_str());
        if is_main {
            self.page_state.change(|state| state.opened = true);
        }
    }

    fn navigated(&self, event: &Event) {
        let Some(params) = event.params::<Value>() else {
            return;
        };
        let frame = &params["frame"];
        if frame["id"] != self.frame.as_str() {
            return;
        }
        self.page_state.change(|state| {
            if let Some(url) = frame["unreachableUrl"].as_str() {
                state.not_loaded.get_or_insert_with(|| url.to_owned());
            }
            state.opened |= state.address.is_some();
        });
    }

    fn close_dialog(&self, event: &Event) {
        let params: Value = event.params().unwrap_or_default();
        let message = params["message"].as_str().unwrap_or_default().to_owned();
        self.page_state
            .change(|state| push_bounded(&mut state.report.dialogs, message));
        let params = json!({ "accept": false });
        self.send("Page.handleJavaScriptDialog", params);
    }

    fn console(&self, event: &Event) {
        let params: Value = event.params().unwrap_or_default();
        let kind = params["type"].as_str().unwrap_or("log");
        let words = params["args"]
            .as_array()
            .into_iter()
            .flatten()
            .map(
                |argument| match (&argument["value"], argument["description"].as_str()) {
                    (Value::String(text), _) => text.clone(),
                    (Value::Null, Some(description)) => description.to_owned(),
                    (value, _) => value.to_string(),
                },
            );
        let line = format!("{kind}: {}", words.collect::<Vec<_>>().join(" "));
        self.page_state
            .change(|state| push_bounded(&mut state.report.console, line));
    }

    fn exception(&self, event: &Event) {
        let params: Value = event.params().unwrap_or_default();
        let details = &params["exceptionDetails"];
        let text = details["exception"]["description"].as_str();
        let text = text.or(details["text"].as_str()).unwrap_or("exception");
        let line = text.lines().next().unwrap_or_default().to_owned();
        self.page_state
            .change(|state| push_bounded(&mut state.report.exceptions, line));
    }

    async fn answer(self: &Arc<Self>, paused: Paused, loads: &mut JoinSet<()>) {
        let file = self.file(&paused).await;
        match self.decide(&paused, file) {
            Decision::Found(file) if file.bytes.len() > MAX_FILE_BYTES => {
                let url = paused.request.url.as_str();
                let path = file_path(url.strip_prefix(ORIGIN).unwrap_or(url));
                let line = format!("{path}: larger than {MAX_FILE_BYTES} bytes");
                self.page_state.change(|state| {
                    let kind = &paused.resource_type;
                    state
                        .report
                        .push_failed(kind, "net::ERR_FILE_TOO_BIG", &line);
                    push_bounded(&mut state.report.missing, line);
                });
                self.fulfil(&paused.request_id, 413, &[], &[]).await;
            }
            Decision::Found(file) => {
                let headers = [("content-type".to_owned(), file.media_type)];
                self.fulfil(&paused.request_id, 200, &headers, &file.bytes)
                    .await;
            }
            Decision::Blank => {
                let headers = [("content-type".to_owned(), "text/html".to_owned())];
                self.fulfil(&paused.request_id, 200, &headers, &[]).await;
            }
            Decision::Missing => self.fulfil(&paused.request_id, 404, &[], &[]).await,
            Decision::Denied => self.deny(&paused),
            Decision::Outside => {
                let interceptor = Arc::clone(self);
                loads.spawn(async move { interceptor.load(paused).await });
            }
        }
    }

    /// The file that a request asks for. Reading it may block.
    async fn file(&self, paused: &Paused) -> Option<File> {
        let path = file_path(paused.request.url.strip_prefix(ORIGIN)?);
        let files = self.page_state.change(|state| state.files.clone())?;
        let read = tokio::task::spawn_blocking(move || files.file(&path));
        read.await.ok().flatten()
    }

    fn decide(&self, paused: &Paused, file: Option<File>) -> Decision {
        let url = paused.request.url.as_str();
        self.page_state.change(|state| {
            state.requests += 1;
            state.last_request = Some(Instant::now());
            let kind = &paused.resource_type;
            if state.requests > self.max_requests {
                return Decision::Denied;
            }
            if let Some(path) = url.strip_prefix(ORIGIN) {
                let path = file_path(path);
                if let Some(file) = file {
                    return Decision::Found(file);
                }
                let is_main = paused.frame_id.as_deref() == Some(self.frame.as_str());
                if path.is_empty() && is_main && paused.resource_type == "Document" {
                    return Decision::Blank;
                }
                if path != "favicon.ico" {
                    let report = &mut state.report;
                    report.push_failed(kind, "net::ERR_FILE_NOT_FOUND", &path);
                    push_bounded(&mut report.missing, path);
                }
                return Decision::Missing;
            }
            let report = &mut state.report;
            if !self.outside.allows(url) {
                report.push_failed(kind, DENIED, url);
                push_bounded(&mut report.denied, url);
                return Decision::Denied;
            }
            let method = paused.request.method.as_str();
            if !matches!(method, "GET" | "HEAD") {
                let line = format!("{url}: pages may only send GET and HEAD, not {method}");
                report.push_failed(kind, BLOCKED, &line);
                push_bounded(&mut report.missing, line);
                return Decision::Denied;
            }
            state.in_flight += 1;
            Decision::Outside
        })
    }

    fn is_page(&self, paused: &Paused) -> bool {
        let is_main = paused.frame_id.as_deref() == Some(self.frame.as_str());
        is_main && paused.resource_type == "Document"
    }

    fn deny(&self, paused: &Paused) {
        let is_page = self.is_page(paused);
        if is_page {
            let url = paused.request.url.clone();
            self.page_state
                .change(|state| state.not_loaded.get_or_insert(url).clone());
        }
        // `Aborted` leaves the page as it was; `BlockedByClient` would print an error page.
        let reason = if is_page {
            "Aborted"
        } else {
            "BlockedByClient"
        };
        let params = json!({ "requestId": paused.request_id, "errorReason": reason });
        self.send("Fetch.failRequest", params);
    }

    async fn load(&self, paused: Paused) {
        // One page must not take all that all pages have.
        let _permit = self.at_once.acquire().await;
        let url = paused.request.url.clone();
        let method = paused.request.method.clone();
        let headers = self.headers_for(&paused.request);
        let answer = self.outside.load(method, url.clone(), headers).await;
        if let Ok(answer) = &answer {
            let is_page = self.is_page(&paused);
            self.page_state.change(|state| match is_page {
                true => state.report.status = Some(answer.status),
                false => state.report.push_status(&url, answer.status),
            });
        }
        match answer {
            Ok(Answer {
                status,
                headers,
                body,
            }) => {
                self.fulfil(&paused.request_id, status, &headers, &body)
                    .await
            }
            Err(failure) if failure.error == DENIED => {
                self.page_state.change(|state| {
                    let kind = &paused.resource_type;
                    state.report.push_failed(kind, DENIED, &url);
                    push_bounded(&mut state.report.denied, url);
                });
                self.deny(&paused);
            }
            Err(LoadFailure { error, reason }) => {
                let line = format!("{url}: {reason}");
                self.page_state.change(|state| {
                    let kind = &paused.resource_type;
                    state.report.push_failed(kind, error, &line);
                    push_bounded(&mut state.report.missing, line);
                });
                let params =
                    json!({ "requestId": paused.request_id, "errorReason": "ConnectionFailed" });
                self.send("Fetch.failRequest", params);
            }
        }
        self.page_state.change(|state| {
            state.in_flight -= 1;
            state.last_request = Some(Instant::now());
        });
    }

    fn headers_for(&self, request: &PausedRequest) -> Vec<(String, String)> {
        let state = self.page_state.state();
        let passed = request.headers.iter().filter(|(name, _)| {
            let name = name.to_ascii_lowercase();
            ["accept", "accept-language", "referer", "origin"].contains(&name.as_str())
        });
        let mut headers: Vec<_> = passed
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        headers.extend(
            state
                .headers
                .iter()
                .filter_map(|header| header.of(&request.url)),
        );
        let cookies = cookies::header_for(&state.cookies, &request.url);
        headers.extend(cookies.map(|cookies| ("cookie".to_owned(), cookies)));
        headers
    }

    async fn fulfil(&self, id: &str, status: u16, headers: &[(String, String)], body: &[u8]) {
        let headers: Vec<Value> = headers
            .iter()
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        let params = json!({
            "requestId": id,
            "responseCode": status,
            "responseHeaders": headers,
            "body": STANDARD.encode(body),
        });
        let session = Some(self.session.as_str());
        // This fails if the page has navigated away by now, which needs no handling.
        let _ = self
            .connection
            .call(session, "Fetch.fulfillRequest", params)
            .await;
    }

    fn send(&self, method: &str, params: Value) {
        if !self.connection.send(Some(&self.session), method, &params) {
            let (connection, session) = (self.connection.clone(), self.session.clone());
            let method = method.to_owned();
            tokio::spawn(async move {
                let _ = connection.call(Some(&session), &method, params).await;
            });
        }
    }
}

/// The file name in a path of the virtual origin, percent-decoded.
fn file_path(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    percent_decode_str(path).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read() {
        assert_eq!(file_path("a%20b/c.css?x=1#y"), "a b/c.css");
        assert_eq!(file_path("100%"), "100%");
    }
}
