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
    Body, Error, Limits, Listener, Observer, Peer as Client, Refusal, RequestBody, uncarry,
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
};

/// Header lines of one request.
const MAX_HEADERS: usize = 100;

/// A body that no route waits for ends so much later.
const BODY_GRACE: Duration = Duration::from_secs(5);

/// Takes connections until `stopped` closes, then waits for those that are open.
pub(crate) async fn serve(
    app: Arc<App>,
    listeners: Vec<Listener>,
    router: Router,
    stopped: watch::Receiver<()>,
) {
    let limits = limits(&app.config);
    let watcher = Arc::new(Watcher(app));
    let make = move |client: &Client| Gate {
        router: router.clone(),
        peer: Peer(address(client)),
    };
    platen_delivery::serve(listeners, limits, watcher, make, stopped).await;
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

/// Hands a connection's requests to the routes.
#[derive(Clone)]
struct Gate {
    router: Router,
    peer: Peer,
}

impl Service<Request<RequestBody>> for Gate {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let mut request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(self.peer);
        let answering = self.router.call(request);
        Box::pin(async move { answering.await.map(uncarry) })
    }
}

/// Counts and logs what happens to connections.
struct Watcher(Arc<App>);

impl Observer for Watcher {
    fn opened(&self, _: &Client) {
        self.0.metrics.connections.fetch_add(1, Ordering::Relaxed);
    }

    fn closed(&self, client: &Client, cause: Option<&Error>) {
        self.0.metrics.connections.fetch_sub(1, Ordering::Relaxed);
        if let Some(cause) = cause {
            let fields = [
                ("client", address(client).ip().to_string().into()),
                ("cause", chain(cause).into()),
            ];
            let message = "a connection broke off";
            self.0.log.event(LogLevel::Debug, message, &fields);
        }
    }

    fn not_accepted(&self, cause: &std::io::Error) {
        let fields = [("cause", cause.to_string().into())];
        let message = "a connection was not accepted";
        self.0.log.event(LogLevel::Warn, message, &fields);
    }

    fn certificate_not_read(&self, cause: &std::io::Error) {
        let fields = [("cause", cause.to_string().into())];
        let message = "the certificate cannot be read again; the old one stays";
        self.0.log.event(LogLevel::Warn, message, &fields);
    }

    fn refuse(&self, refusal: Refusal) -> Response<Body> {
        let request_id = request_id::of(&HeaderMap::new());
        self.0.metrics.rejected(refusal.code);
        let fields = [
            ("requestId", Json::from(&*request_id)),
            ("status", refusal.status.as_u16().into()),
            ("code", refusal.code.into()),
        ];
        let message = "a request was refused unread";
        self.0.log.event(LogLevel::Info, message, &fields);
        let mut response = refusal.into_response(Some(&request_id));
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            response.headers_mut().insert(request_id::HEADER, value);
        }
        response
    }
}
