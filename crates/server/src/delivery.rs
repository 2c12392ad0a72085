//! Adapter between connections and routes: requests in, responses out with bodies that the
//! connection layer can send efficiently.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use axum::Router;
use futures_core::future::BoxFuture;
use hyper::{HeaderMap, Request, Response, StatusCode, header::HeaderValue};
use platen_delivery::{
    Body, BodyHandle, Error, Handler, Limits, Listener, Observer, Origin as Said, Peer as Client,
    Refusal, RequestBody, TrustedProxies,
};
use platen_fault::{Backend, Code, Stage};
use platen_render::chain;
use platen_supervise::{
    AcceptBalancer, Forward, ForwardError, ProcessGroup, Sender, base_url_of, client_of,
    shows_credentials,
};
use tokio::sync::{Semaphore, watch};
use tower_service::Service as _;
use tracing::{debug, info, warn};

use crate::{
    auth::Keys, base_url::BaseUrl, config::Config, flows::Flows, leadership::is_for_leader,
    metrics::Metrics, middleware::Peer, problem::Problem, request_id, root_path,
    throttle::Throttle,
};

/// Timeout of a body that no route reads: this much after the routes' own timeout.
const BODY_GRACE: Duration = Duration::from_secs(5);
/// Maximum number of notifications of key use that the leader receives at once.
const MAX_TELLING: usize = 32;

/// Listeners of a process.
pub(crate) struct Listeners {
    /// Public listeners, for clients.
    pub(crate) public: Vec<Listener>,
    /// Peer listener, for the other processes of the group.
    pub(crate) peers: Option<Listener>,
    /// Balances the connections of the shared listeners between processes.
    pub(crate) balancer: Option<Arc<AcceptBalancer>>,
}

/// Dependencies of connections apart from the routes.
pub(crate) struct Connections {
    pub(crate) keys: Arc<Keys>,
    pub(crate) flows: Arc<Flows>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) group: Option<ProcessGroup>,
}

/// Accepts connections until `stopped` closes, then waits for the open ones.
pub(crate) async fn serve(
    connections: Connections,
    config: &Config,
    mut listeners: Listeners,
    router: Router,
    stopped: watch::Receiver<()>,
) {
    let limits = limits(config);
    if config.exposure.is_protocol_expected {
        for listener in &mut listeners.public {
            listener.expect_proxy_headers(Arc::clone(&config.exposure.trusted));
        }
    }
    let Connections {
        flows,
        keys,
        metrics,
        group,
    } = connections;
    let group = group.as_ref().filter(|group| !group.is_leader());
    let longest = longest_request(config);
    let forward = group.map(|group| Arc::new(Forward::new(group, longest)));
    let watcher = |balancer| {
        let metrics = Arc::clone(&metrics);
        Arc::new(Watcher {
            metrics,
            balancer,
            refusals: Throttle::default(),
        })
    };
    let (all, others) = (watcher(listeners.balancer), watcher(None));
    let service = ConnectionService {
        flows,
        keys,
        router,
        client: Client::Unix,
        proxies: Arc::clone(&config.exposure.trusted),
        root_path: config.gotenberg.root_path.as_str().into(),
        forward,
        telling: Arc::new(Semaphore::new(MAX_TELLING)),
        is_internal: false,
    };
    let inner: Arc<dyn Handler> = Arc::new(ConnectionService {
        forward: None,
        is_internal: true,
        ..service.clone()
    });
    let make = Arc::new(move |client: &Client| -> Arc<dyn Handler> {
        Arc::new(ConnectionService {
            client: *client,
            ..service.clone()
        })
    });
    let public =
        platen_delivery::serve(listeners.public, limits.clone(), all, make, stopped.clone());
    let make = Arc::new(move |_: &Client| Arc::clone(&inner));
    let own = listeners.peers.into_iter().collect();
    let own = platen_delivery::serve(own, limits, others, make, stopped);
    tokio::join!(public, own);
}

/// Longest time that the leader may spend on a request.
fn longest_request(config: &Config) -> Duration {
    let longest = config
        .render_timeout_ms
        .max(config.office_timeout_ms)
        .max(config.flow.timeout_ms);
    Duration::from_millis(longest + config.body_timeout_ms)
}

impl From<ForwardError> for Problem {
    fn from(error: ForwardError) -> Self {
        let (code, detail) = match &error {
            ForwardError::Timeout => (
                Code::Timeout(Stage::Forward),
                "the leader process, which stores templates and runs, did not respond in time",
            ),
            _ => (
                Code::BackendUnavailable(Backend::Leader),
                "the leader process, which stores templates and runs, exited during this request: \
                 check whether the request took effect before you send it again",
            ),
        };
        Self {
            cause: Some(chain(&error)),
            ..Self::new(code, detail)
        }
        .retry_after(1)
    }
}

fn limits(config: &Config) -> Limits {
    let head_timeout = Duration::from_millis(config.header_timeout_ms);
    Limits {
        connections: config.max_connections as usize,
        head_bytes: config.max_header_bytes as usize,
        head_timeout,
        ping_interval: head_timeout,
        // The routes' own timeout comes first and answers 408.
        body_timeout: Duration::from_millis(config.body_timeout_ms) + BODY_GRACE,
        write_timeout: Duration::from_millis(config.write_timeout_ms),
        ..Limits::default()
    }
}

/// Unix sockets have no client address: all local processes count as one client.
fn address(client: &Client) -> SocketAddr {
    match client {
        // A socket for both families has clients of IPv4, too, by other addresses.
        Client::Tcp(address) => SocketAddr::new(address.ip().to_canonical(), address.port()),
        Client::Unix => SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
    }
}

/// Request extension: set if a peer process forwarded the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    ForwardedByPeer,
}

/// Passes a connection's requests to the routes.
#[derive(Clone)]
struct ConnectionService {
    flows: Arc<Flows>,
    keys: Arc<Keys>,
    router: Router,
    /// The other end of the connection.
    client: Client,
    proxies: Arc<TrustedProxies>,
    /// Path before Gotenberg's routes.
    root_path: Arc<str>,
    /// Forwards to the leader, if this process is a follower.
    forward: Option<Arc<Forward>>,
    /// Bounds the concurrent notifications of key use to the leader.
    telling: Arc<Semaphore>,
    /// True on the peer listener.
    is_internal: bool,
}

impl ConnectionService {
    /// The client of a request, and the scheme and host that it used. A peer process has found them
    /// out itself.
    fn origin(&self, request: &mut Request<RequestBody>) -> (Peer, Option<BaseUrl>) {
        let connected = Peer(address(&self.client));
        let (peer, base_url) = if self.is_internal {
            let headers = request.headers_mut();
            let peer = client_of(headers).map_or(connected, Peer);
            (peer, base_url_of(headers))
        } else {
            let Said { client, base_url } = self.proxies.origin(&self.client, request);
            let peer = client.map_or(connected, |client| Peer(SocketAddr::new(client, 0)));
            (peer, base_url)
        };
        (peer, base_url.map(|base| BaseUrl(base.into())))
    }

    /// Tells the leader of the key of a request that stays here, if it is to note its use.
    fn tell_of_key(&self, forward: &Arc<Forward>, headers: &HeaderMap) {
        // Of a key that finds no place, the next request tells.
        let Ok(permit) = Arc::clone(&self.telling).try_acquire_owned() else {
            return;
        };
        if !self.keys.is_use_to_tell(headers) {
            return;
        }
        let telling = Arc::clone(forward).show_credentials(headers);
        tokio::spawn(async move {
            if let Err(error) = telling.await {
                let message = "the leader did not hear of the use of an API key";
                debug!(cause = chain(&error), "{message}");
            }
            drop(permit);
        });
    }
}

impl Handler for ConnectionService {
    fn handle(&self, mut request: Request<RequestBody>) -> BoxFuture<'static, Response<Body>> {
        if self.is_internal && shows_credentials(request.headers()) {
            self.keys.note_use(request.headers());
            let mut answer = Response::new(Body::empty());
            *answer.status_mut() = StatusCode::NO_CONTENT;
            return Box::pin(std::future::ready(answer));
        }
        root_path::take_off(&mut request, &self.root_path);
        let (peer, base_url) = self.origin(&mut request);
        let for_leader = is_for_leader(&request);
        if let Some(forward) = self.forward.as_ref().filter(|_| for_leader) {
            let forward = Arc::clone(forward);
            return Box::pin(async move {
                let sender = Sender {
                    client: peer.0,
                    base_url: base_url.as_ref().map(|base| &*base.0),
                };
                let request_id = request_id::of(request.headers());
                let id = (request_id::HEADER, &*request_id);
                match forward.send(request, sender, id).await {
                    Ok(response) => response,
                    Err(error) => {
                        let problem = Problem::from(error);
                        BodyHandle::detach(problem.into_document_response(&request_id))
                    }
                }
            });
        }
        if let Some(forward) = &self.forward {
            self.tell_of_key(forward, request.headers());
        }
        let mut request = request.map(axum::body::Body::new);
        let extensions = request.extensions_mut();
        if self.is_internal {
            extensions.insert(Origin::ForwardedByPeer);
        }
        extensions.insert(peer);
        if let Some(base_url) = base_url {
            extensions.insert(base_url);
        }
        let (flows, mut router) = (Arc::clone(&self.flows), self.router.clone());
        let must_wait = for_leader && !flows.is_started();
        Box::pin(async move {
            if must_wait {
                flows.settle().await;
            }
            let Ok(response) = router.call(request).await;
            BodyHandle::detach(response)
        })
    }
}

/// Counts and logs connection events.
struct Watcher {
    metrics: Arc<Metrics>,
    balancer: Option<Arc<AcceptBalancer>>,
    /// Of lines about refused connections of proxies.
    refusals: Throttle,
}

impl Observer for Watcher {
    fn opened(&self, _: &Client) {
        self.metrics.connections.fetch_add(1, Ordering::Relaxed);
    }

    fn closed(&self, client: &Client, cause: Option<&Error>) {
        self.metrics.connections.fetch_sub(1, Ordering::Relaxed);
        self.balancer.iter().for_each(|balancer| balancer.ended());
        if let Some(cause) = cause {
            let client = address(client).ip().to_string();
            if let Error::ProxyHeader(cause) = cause {
                self.metrics.rejected("proxy-header");
                if let Some(more) = self.refusals.pass(Instant::now()) {
                    let message = "connection of a trusted proxy refused: see PROXY_PROTOCOL";
                    warn!(client, cause = chain(cause), more, "{message}");
                }
                return;
            }
            debug!(client, cause = chain(cause), "connection aborted");
        }
    }

    fn not_accepted(&self, cause: &std::io::Error) {
        warn!(%cause, "connection not accepted");
    }

    fn certificate_not_read(&self, cause: &std::io::Error) {
        warn!(%cause, "certificate not reloaded; the previous one stays");
    }

    fn refused(&self, code: Code) {
        self.metrics.rejected(code.name());
        info!(
            status = code.status(),
            code = code.name(),
            "malformed request refused"
        );
    }

    fn refuse(&self, refusal: Refusal) -> Response<Body> {
        let request_id = request_id::of(&HeaderMap::new());
        self.metrics.rejected(refusal.code.name());
        info!(
            requestId = &*request_id,
            status = refusal.status().as_u16(),
            code = refusal.code.name(),
            "malformed request refused"
        );
        let mut response = refusal.into_response(Some(&request_id));
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            response.headers_mut().insert(request_id::HEADER, value);
        }
        response
    }
}
