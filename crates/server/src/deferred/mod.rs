//! Deferred requests: the client gets its answer at once, and a durable run executes the request.
//!
//! `?async=true` asks for it on the routes that [`layer::handle`] wraps, and Gotenberg's webhook
//! headers on the forms. The request is stored (`RequestStore`); the run sends it through the
//! same routes again (`Replayer`), so that nothing of its options can be lost. A kill of the
//! service loses nothing: the run starts again, and its receiver may get a result twice.

pub mod layer;
mod progress;
mod replayer;
mod request_store;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{extract::Request as HttpRequest, response::Response};
use futures_core::future::BoxFuture;
use platen_fault::{Backend, Code, Facts, Resource, Stage, What};
use platen_runs::{Answer, DEFERRED_FLOW, Dispatcher, FlowVersion, Lane, Request, Run, RunState};
use serde_json::{Value as Json, json};
use tracing::{Instrument as _, Span};

use self::{progress::ProgressRegistry, request_store::RequestHead};
pub(crate) use self::{
    progress::{BatchProgress, Progress},
    replayer::Replayer,
    request_store::{RequestStore, limits},
};
use crate::{
    accepted_run::{self, own_idempotency_key},
    intake::{
        Intake,
        content::{self, Content},
    },
    middleware::Context,
    operation::{Route, query},
    problem::Problem,
};

/// Interval of sweeps.
const SWEEP_INTERVAL: Duration = Duration::from_secs(300);

/// Request extension: the request was deferred and is executed now.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Name of the request, the same in each attempt.
    pub name: Arc<str>,
    /// Counts the items of this attempt.
    pub(crate) progress: Arc<Progress>,
}

/// Accepts requests to be executed later.
pub struct DeferredRequests {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) store: Arc<RequestStore>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) progress: Arc<ProgressRegistry>,
}

/// A request that has arrived.
struct Received {
    head: RequestHead,
    body: Content,
    /// The key that its caller marks it with.
    idempotency: Option<String>,
    /// How long its execution may take.
    timeout: Duration,
    arrived: Instant,
}

/// A run that will execute a request.
#[derive(Clone, Debug)]
pub struct Accepted {
    id: String,
    is_known: bool,
}

impl Accepted {
    /// 202 with the address of the run.
    #[must_use]
    pub fn into_response(self) -> Response {
        accepted_run::response(&self.id, self.is_known)
    }
}

impl DeferredRequests {
    /// Stores a request durably and queues a run that executes it within `timeout`. `limit` is the
    /// largest body, with the setting that says so.
    ///
    /// # Errors
    /// As reading its body; `overloaded requests` if too many requests wait.
    pub fn accept<'a>(
        &'a self,
        request: HttpRequest,
        limit: (u64, &'a str),
        timeout: Duration,
    ) -> BoxFuture<'a, Result<Accepted, Problem>> {
        Box::pin(async move {
            let arrived = Instant::now();
            let (mut parts, body) = request.into_parts();
            let context = parts.extensions.remove::<Context>();
            let context = context.ok_or_else(|| Problem::internal("the request has no context"))?;
            let idempotency = own_idempotency_key(&parts.headers, context.client)?;
            let body = content::read(&self.intake, &parts.headers, body, limit).await?;
            let received = Received {
                head: RequestHead {
                    method: parts.method,
                    uri: parts.uri,
                    headers: parts.headers,
                    context,
                },
                body,
                idempotency,
                timeout,
                arrived,
            };
            let (dispatcher, store) = (Arc::clone(&self.dispatcher), Arc::clone(&self.store));
            // In a task of its own: a client that leaves meanwhile leaves the request with its run,
            // or neither.
            let queued = queue(dispatcher, store, received).instrument(Span::current());
            let queued = tokio::spawn(queued).await;
            queued.unwrap_or_else(|error| Err(Problem::internal(error.to_string())))
        })
    }

    /// Waits until the run has executed the request.
    ///
    /// # Errors
    /// What the request met.
    pub fn end<'a>(&'a self, accepted: &'a Accepted) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async move {
            let answer = self.dispatcher.wait(&accepted.id).await?.await;
            let answer = answer.map_err(|_| Problem::internal("the run has no answer"))?;
            match answer.state {
                RunState::Running | RunState::Succeeded => Ok(()),
                _ => Err(problem_of(&answer)),
            }
        })
    }

    /// Progress of the batch that a run executes now.
    pub(crate) fn progress(&self, run: &Run) -> Option<BatchProgress> {
        if run.state != RunState::Running {
            return None;
        }
        self.progress.of(&request_of(run)?)
    }

    /// Lets the request of a run that was cancelled make room for others, which its execution would
    /// have done.
    pub(crate) async fn cancelled(&self, run: &Run) {
        let Some(name) = request_of(run) else {
            return;
        };
        let store = Arc::clone(&self.store);
        // If this fails, the request expires by itself.
        let _ = tokio::task::spawn_blocking(move || store.end(&name, true)).await;
    }
}

/// The name of the request that a run executes; `None` for a run of another flow.
fn request_of(run: &Run) -> Option<String> {
    if run.flow != DEFERRED_FLOW {
        return None;
    }
    let trigger: Json = serde_json::from_slice(&run.trigger).ok()?;
    trigger["request"].as_str().map(str::to_owned)
}

/// Stores a request and accepts the run that executes it. A request without a run is removed.
async fn queue(
    dispatcher: Arc<Dispatcher>,
    store: Arc<RequestStore>,
    received: Received,
) -> Result<Accepted, Problem> {
    let Received {
        head,
        body,
        idempotency,
        timeout,
        arrived,
    } = received;
    // Two forms of the same content differ, in their boundaries, so a repeated key is checked
    // against the address only.
    let same = json!({"method": head.method.as_str(), "uri": head.uri.to_string()});
    let path = head.uri.path().to_owned();
    let files = Arc::clone(&store);
    let stored = tokio::task::spawn_blocking(move || files.put(&head, &body)).await;
    let name = stored.map_err(|error| Problem::internal(error.to_string()))??;
    let trigger = json!({"request": name, "path": path}).to_string();
    let receipt = async {
        let request = Request {
            flow: Arc::new(flow(timeout)?),
            lane: Lane::Async,
            idempotency: idempotency.map(|key| (key, same)),
            trigger: Arc::from(trigger.into_bytes()),
            queue_timeout_ms: None,
            arrived,
        };
        dispatcher.accept(request).await.map_err(Problem::from)
    };
    let receipt = receipt.await;
    let is_unused = match &receipt {
        Ok(receipt) => receipt.known,
        // A store that did not answer may have the run: its request expires by itself.
        Err(problem) => !matches!(problem.code, Code::BackendUnavailable(_)),
    };
    if is_unused {
        tokio::task::spawn_blocking(move || store.remove(&name));
    }
    receipt.map(|receipt| Accepted {
        id: receipt.id,
        is_known: receipt.known,
    })
}

/// The problem that a deferred request met, as its client would have got it.
pub(crate) fn problem_of(answer: &Answer) -> Problem {
    let details: Json = serde_json::from_slice(&answer.details).unwrap_or_default();
    let error = &details["error"];
    let word = |name: &str| error[name].as_str().unwrap_or_default();
    let facts = Facts {
        stage: Stage::parse(word("stage")),
        resource: Resource::parse(word("resource")),
        backend: Backend::parse(word("backend")),
        what: What::parse(word("what")),
        limit: error["limit"].as_u64(),
    };
    let code = Code::parse(word("code"), &facts);
    Problem::new(code.unwrap_or(Code::RunFailed), word("message"))
}

/// Removes requests whose retention has ended, until it is dropped.
pub(crate) async fn sweep_expired(store: Arc<RequestStore>) {
    let mut interval = tokio::time::interval(SWEEP_INTERVAL);
    loop {
        interval.tick().await;
        let store = Arc::clone(&store);
        let _ = tokio::task::spawn_blocking(move || store.sweep()).await;
    }
}

/// Declares `?async=true` of a route.
#[must_use]
pub fn declared<S>(route: Route<S>) -> Route<S> {
    let schema = json!({"type": "boolean", "default": false});
    let about =
        "Renders asynchronously: 202 with the location of a run, whose output is the document.";
    let route = route.parameter(query("async", schema, about));
    accepted_run::declared(
        route,
        "Accepted for asynchronous processing, because of `async`.",
    )
}

/// The flow of a run that executes a request.
fn flow(timeout: Duration) -> Result<FlowVersion, Problem> {
    let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    let flow = json!({
        "kind": "flow", "key": DEFERRED_FLOW, "name": "Deferred request",
        "trigger": {"type": "manual"}, "timeoutMs": timeout_ms,
        "steps": [
            {"name": "request", "type": "piece", "piece": "request", "action": "replay",
                "input": {"request": "{{ trigger.request }}"}},
            {"name": "reply", "type": "respond",
                "headers": "{{ steps.request.output.headers }}",
                "body": "{{ steps.request.output.body }}"},
        ],
    });
    Ok(FlowVersion::read(
        Arc::from(flow.to_string().into_bytes()),
        0,
    )?)
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{self, Write},
        sync::mpsc::{Receiver, Sender, channel},
    };

    use axum::body::Body;
    use hyper::Method;
    use parking_lot::Mutex;
    use platen_runs::RunFilter;
    use platen_storage::{
        SqliteStore,
        blobs::{BlobError, RequestFiles, RequestFolder},
    };
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

    use super::*;
    use crate::{
        config::{Config, Settings},
        rate_limit::Client,
    };

    /// How long something may take that happens at once.
    const LONG: Duration = Duration::from_secs(60);

    /// Files that are stored once the test lets them, and say what happens.
    struct Slow {
        files: RequestFolder,
        events: UnboundedSender<&'static str>,
        go_on: Mutex<Receiver<()>>,
    }

    impl RequestFiles for Slow {
        fn put(
            &self,
            size_bytes: u64,
            write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
        ) -> Result<String, BlobError> {
            self.events.send("put").unwrap();
            self.go_on.lock().recv().unwrap();
            self.files.put(size_bytes, write)
        }

        fn open(&self, name: &str, patience: Duration) -> Result<File, BlobError> {
            self.files.open(name, patience)
        }

        fn remove(&self, name: &str) {
            self.files.remove(name);
            self.events.send("remove").unwrap();
        }

        fn end(&self, name: &str, has_failed: bool) {
            self.files.end(name, has_failed);
        }

        fn sweep(&self) {
            self.files.sweep();
        }
    }

    struct Case {
        folder: tempfile::TempDir,
        requests: DeferredRequests,
        events: UnboundedReceiver<&'static str>,
        go_on: Sender<()>,
    }

    impl Case {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let config = Config::load(None, |_| None, Settings::default()).unwrap();
            let store = SqliteStore::open(folder.path()).unwrap();
            let settings = platen_runs::Settings::default();
            let (happens, events) = unbounded_channel();
            let (go_on, waits) = channel();
            let files = Slow {
                files: RequestFolder::new(folder.path().join("deferred"), limits(&config)),
                events: happens,
                go_on: Mutex::new(waits),
            };
            let requests = DeferredRequests {
                dispatcher: Dispatcher::new(
                    store.runs(),
                    store.flows(),
                    store.templates(),
                    settings,
                ),
                store: Arc::new(RequestStore::new(Arc::new(files))),
                intake: Arc::new(Intake::new(&config, Arc::default())),
                progress: Arc::default(),
            };
            Self {
                folder,
                requests,
                events,
                go_on,
            }
        }

        /// Sends a request, and leaves while it is stored.
        async fn leave(&mut self) {
            let mut request = HttpRequest::new(Body::from("{}"));
            *request.method_mut() = Method::POST;
            *request.uri_mut() = "/render/batch".parse().unwrap();
            request.extensions_mut().insert(Context {
                client: Client::Key(1),
                request_id: "r1".into(),
                base_url: None,
            });
            let limit = (1 << 20, "MAX_BODY_BYTES");
            let mut accepting = self.requests.accept(request, limit, LONG);
            tokio::select! {
                _ = &mut accepting => panic!("it is not stored yet"),
                event = self.events.recv() => assert_eq!(event, Some("put")),
            }
            drop(accepting);
            self.go_on.send(()).unwrap();
        }
    }

    #[tokio::test]
    async fn a_client_that_leaves_leaves_its_request_with_a_run() {
        let mut case = Case::new();
        case.leave().await;
        let dispatcher = &case.requests.dispatcher;
        let filter = RunFilter {
            limit: 9,
            ..RunFilter::default()
        };
        let accepted = async {
            loop {
                let runs = dispatcher.list(filter.clone()).await.unwrap();
                if let Some(run) = runs.first() {
                    return run.id.clone();
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let id = tokio::time::timeout(LONG, accepted).await.unwrap();
        let run = dispatcher.get(&id).await.unwrap();
        let name = request_of(&run).unwrap();
        assert!(case.requests.store.get(&name, LONG).is_ok());
        // Once it is cancelled, its request makes room.
        let file = |extension: &str| {
            let name = format!("deferred/{name}{extension}");
            case.folder.path().join(name).exists()
        };
        assert!(file("") && !file(".failed"));
        dispatcher.cancel(&id).await.unwrap();
        case.requests.cancelled(&run).await;
        assert!(!file("") && file(".failed"));
    }

    #[tokio::test]
    async fn a_client_that_leaves_leaves_no_request_without_a_run() {
        let mut case = Case::new();
        case.requests.dispatcher.drain();
        case.leave().await;
        let event = tokio::time::timeout(LONG, case.events.recv()).await;
        assert_eq!(event.unwrap(), Some("remove"));
        let left = std::fs::read_dir(case.folder.path().join("deferred")).unwrap();
        assert_eq!(left.count(), 0);
    }
}
