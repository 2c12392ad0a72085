//! Between connections and routes: requests in, answers out with bodies that connections know.

use std::{
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll},
    time::Duration,
};

use axum::Router;
use hyper::{HeaderMap, Request, Response, header::HeaderValue};
use platen_delivery::{
    Body, BodyHandle, Error, Limits, Listener, Observer, Peer as Client, Refusal, RequestBody,
};
use serde_json::Value as Json;
use tokio::sync::watch;
use tower_service::Service;

use crate::{
    app::App,
    config::{Config, LogLevel},
    middleware::Peer,
    problem::chain,
    request_id,
    team::{
        forward::{Forward, client_of, is_for_owner},
        load::Loads,
    },
};

/// Header lines of one request.
const MAX_HEADERS: usize = 100;

/// A body that no route waits for ends so much later.
const BODY_GRACE: Duration = Duration::from_secs(5);

/// What a process listens on.
pub(crate) struct Doors {
    /// For clients.
    pub(crate) public: Vec<Listener>,
    /// For the other processes that serve together with this one.
    pub(crate) own: Option<Listener>,
    /// Whose turn it is to take from the queues that they share.
    pub(crate) loads: Option<Arc<Loads>>,
}

/// Takes connections until `stopped` closes, then waits for those that are open.
pub(crate) async fn serve(
    app: Arc<App>,
    doors: Doors,
    router: Router,
    stopped: watch::Receiver<()>,
) {
    let limits = limits(&app.config);
    let team = app.team.as_ref().filter(|team| !team.is_owner());
    let forward = team.map(|team| Forward::new(team, &app.config));
    let watcher = |loads| {
        let app = Arc::clone(&app);
        Arc::new(Watcher { app, loads })
    };
    let (all, others) = (watcher(doors.loads), watcher(None));
    let gate = Gate {
        app,
        router,
        peer: Peer(address(&Client::Unix)),
        forward,
        is_own: false,
    };
    let inner = Gate {
        forward: None,
        is_own: true,
        ..gate.clone()
    };
    let make = move |client: &Client| Gate {
        peer: Peer(address(client)),
        ..gate.clone()
    };
    let public = platen_delivery::serve(doors.public, limits.clone(), all, make, stopped.clone());
    let make = move |_: &Client| inner.clone();
    let own = doors.own.into_iter().collect();
    let own = platen_delivery::serve(own, limits, others, make, stopped);
    tokio::join!(public, own);
}

fn limits(config: &Config) -> Limits {
    let head_timeout = Duration::from_millis(config.header_timeout_ms);
    Limits {
        connections: config.max_connections as usize,
        head_bytes: config.max_header_bytes as usize,
        headers: MAX_HEADERS,
        head_timeout,
        idle_timeout: head_timeout,
        // Routes have said 408 by then.
        body_timeout: Duration::from_millis(config.body_timeout_ms) + BODY_GRACE,
        write_timeout: Duration::from_millis(config.write_timeout_ms),
        ..Limits::default()
    }
}

/// Processes of this machine have no address; they are counted as one client.
fn address(client: &Client) -> SocketAddr {
    match client {
        Client::Tcp(address) => *address,
        Client::Unix => SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
    }
}

/// Marks requests of the other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    ByAnother,
}

/// Hands a connection's requests to the routes.
#[derive(Clone)]
struct Gate {
    app: Arc<App>,
    router: Router,
    peer: Peer,
    /// To the owner of the data folder, where that is another process.
    forward: Option<Arc<Forward>>,
    /// The clients are the other processes.
    is_own: bool,
}

impl Service<Request<RequestBody>> for Gate {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let for_owner = is_for_owner(&request);
        if let Some(forward) = self.forward.as_ref().filter(|_| for_owner) {
            let (forward, client) = (Arc::clone(forward), self.peer.0);
            return Box::pin(async move { Ok(forward.send(request, client).await) });
        }
        let mut request = request.map(axum::body::Body::new);
        let mut peer = self.peer;
        if self.is_own {
            peer = client_of(request.headers_mut()).map_or(peer, Peer);
            request.extensions_mut().insert(Asked::ByAnother);
        }
        request.extensions_mut().insert(peer);
        if for_owner && !self.app.flows.is_started() {
            let (app, mut router) = (Arc::clone(&self.app), self.router.clone());
            return Box::pin(async move {
                app.flows.settle().await;
                router.call(request).await.map(BodyHandle::detach)
            });
        }
        let answering = self.router.call(request);
        Box::pin(async move { answering.await.map(BodyHandle::detach) })
    }
}

/// Counts and logs what happens to connections.
struct Watcher {
    app: Arc<App>,
    loads: Option<Arc<Loads>>,
}

impl Observer for Watcher {
    fn opened(&self, _: &Client) {
        self.app.metrics.connections.fetch_add(1, Ordering::Relaxed);
    }

    fn closed(&self, client: &Client, cause: Option<&Error>) {
        self.app.metrics.connections.fetch_sub(1, Ordering::Relaxed);
        self.loads.iter().for_each(|loads| loads.ended());
        if let Some(cause) = cause {
            let fields = [
                ("client", address(client).ip().to_string().into()),
                ("cause", chain(cause).into()),
            ];
            let message = "a connection broke off";
            self.app.log.event(LogLevel::Debug, message, &fields);
        }
    }

    fn not_accepted(&self, cause: &std::io::Error) {
        let fields = [("cause", cause.to_string().into())];
        let message = "a connection was not accepted";
        self.app.log.event(LogLevel::Warn, message, &fields);
    }

    fn certificate_not_read(&self, cause: &std::io::Error) {
        let fields = [("cause", cause.to_string().into())];
        let message = "the certificate cannot be read again; the old one stays";
        self.app.log.event(LogLevel::Warn, message, &fields);
    }

    fn refuse(&self, refusal: Refusal) -> Response<Body> {
        let request_id = request_id::of(&HeaderMap::new());
        self.app.metrics.rejected(refusal.code);
        let fields = [
            ("requestId", Json::from(&*request_id)),
            ("status", refusal.status.as_u16().into()),
            ("code", refusal.code.into()),
        ];
        let message = "a request was refused unread";
        self.app.log.event(LogLevel::Info, message, &fields);
        let mut response = refusal.into_response(Some(&request_id));
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            response.headers_mut().insert(request_id::HEADER, value);
        }
        response
    }
}
