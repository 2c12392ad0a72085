//! Requests that change what is stored, or ask for runs, on their way to the process that owns the
//! data folder.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, Uri, Version,
    client::conn::http1::handshake,
    header::{self, HeaderName, HeaderValue},
    http::uri::PathAndQuery,
};
use hyper_util::rt::TokioIo;
use platen_delivery::{Body, BodyHandle, OnUpgrade, RequestBody, on_upgrade};
use platen_fault::{Backend, Code, Stage};
use tokio::net::UnixStream;

use super::Team;
use crate::{config::Config, problem::Problem, request_id};

/// Names the client whose request is passed on; believed on a process's own socket only.
const CLIENT: HeaderName = HeaderName::from_static("x-platen-client");
/// Besides the time that a request may take anyway.
const GRACE: Duration = Duration::from_secs(30);
/// Of a connection, not of a request (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [HeaderName; 5] = [
    header::CONNECTION,
    header::TE,
    header::UPGRADE,
    header::EXPECT,
    HeaderName::from_static("keep-alive"),
];

/// The way to the owner of the data folder.
pub(crate) struct Forward {
    owner: PathBuf,
    patience: Duration,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the connection failed")]
    Connect(#[source] std::io::Error),
    #[error("the connection broke off")]
    Broken(#[source] hyper::Error),
    #[error("there was no answer in time")]
    Silent,
}

impl Forward {
    pub(crate) fn new(team: &Team, config: &Config) -> Arc<Self> {
        let longest = config
            .render_timeout_ms
            .max(config.office_timeout_ms)
            .max(config.flow.timeout_ms);
        let patience = Duration::from_millis(longest + config.body_timeout_ms) + GRACE;
        Arc::new(Self {
            owner: team.owner(),
            patience,
        })
    }

    /// The owner's answer to a request of `client`.
    pub(crate) async fn send(
        &self,
        mut request: Request<RequestBody>,
        client: SocketAddr,
    ) -> Response<Body> {
        let request_id = request_id::of(request.headers());
        let upgrade = on_upgrade(&mut request);
        let request = prepare(request, client, &request_id, upgrade.is_some());
        // What only reads may be asked again where the owner ended in the middle of it.
        let again = matches!(*request.method(), Method::GET | Method::HEAD).then(|| {
            let mut again = Request::new(RequestBody::default());
            request.method().clone_into(again.method_mut());
            request.uri().clone_into(again.uri_mut());
            request.headers().clone_into(again.headers_mut());
            again
        });
        let first = self.exchange(request).await;
        let answer = match (first, again) {
            (Err(Failure::Broken(_)), Some(again)) if upgrade.is_none() => {
                self.exchange(again).await
            }
            (first, _) => first,
        };
        match answer {
            Ok(response) => arrived(response, upgrade),
            Err(failure) => {
                BodyHandle::detach(problem(&failure).into_document_response(&request_id))
            }
        }
    }

    async fn exchange(
        &self,
        request: Request<RequestBody>,
    ) -> Result<Response<hyper::body::Incoming>, Failure> {
        let answering = async {
            let stream = UnixStream::connect(&self.owner)
                .await
                .map_err(Failure::Connect)?;
            let (mut sender, connection) = handshake(TokioIo::new(stream))
                .await
                .map_err(Failure::Broken)?;
            // It ends with the answer, or where nobody waits for that any more.
            tokio::spawn(connection.with_upgrades());
            sender.send_request(request).await.map_err(Failure::Broken)
        };
        tokio::time::timeout(self.patience, answering)
            .await
            .map_err(|_| Failure::Silent)?
    }
}

/// Whether a request is for the owner of the data folder.
pub(crate) fn is_for_owner<B>(request: &Request<B>) -> bool {
    let path = request.uri().path();
    let first = path.trim_start_matches('/').split('/').next();
    match first.unwrap_or_default() {
        "flows" | "webhooks" | "runs" | "workers" | "pieces" => true,
        "templates" => {
            let reads = ["/validate", "/diff"].iter().any(|end| path.ends_with(end));
            !reads && !matches!(*request.method(), Method::GET | Method::HEAD)
        }
        // Renderings and conversions that nobody waits for are runs.
        "render" | "convert" => {
            let query = request.uri().query().unwrap_or_default();
            query.split('&').any(|part| {
                let (name, value) = part.split_once('=').unwrap_or((part, ""));
                name == "async" && value != "false"
            })
        }
        _ => false,
    }
}

/// The client that another process names, on a process's own socket.
pub(crate) fn client_of(headers: &mut HeaderMap) -> Option<SocketAddr> {
    headers.remove(CLIENT)?.to_str().ok()?.parse().ok()
}

fn prepare(
    mut request: Request<RequestBody>,
    client: SocketAddr,
    request_id: &str,
    upgrades: bool,
) -> Request<RequestBody> {
    let path = request.uri().path_and_query().cloned();
    let authority = request.uri().authority().map(ToString::to_string);
    *request.uri_mut() = Uri::from(path.unwrap_or_else(|| PathAndQuery::from_static("/")));
    *request.version_mut() = Version::HTTP_11;
    let headers = request.headers_mut();
    if let Some(Ok(host)) = authority.map(HeaderValue::try_from) {
        headers.entry(header::HOST).or_insert(host);
    }
    if upgrades {
        headers.remove(header::EXPECT);
    } else {
        HOP_BY_HOP
            .iter()
            .for_each(|name| drop(headers.remove(name)));
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if let Ok(client) = HeaderValue::try_from(client.to_string()) {
        headers.insert(CLIENT, client);
    }
    if let Ok(id) = HeaderValue::try_from(request_id) {
        headers.insert(request_id::HEADER, id);
    }
    request
}

fn arrived(
    mut response: Response<hyper::body::Incoming>,
    upgrade: Option<OnUpgrade>,
) -> Response<Body> {
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let theirs = hyper::upgrade::on(&mut response);
        if let Some(ours) = upgrade {
            tokio::spawn(async move {
                let (Ok(mut ours), Ok(theirs)) = (ours.await, theirs.await) else {
                    return;
                };
                // Ends with either side.
                let mut theirs = TokioIo::new(theirs);
                let _ = tokio::io::copy_bidirectional(&mut ours, &mut theirs).await;
            });
        }
        return response.map(|_| Body::empty());
    }
    for name in [header::CONNECTION, header::TRANSFER_ENCODING] {
        response.headers_mut().remove(name);
    }
    *response.version_mut() = Version::HTTP_11;
    response.map(Body::stream)
}

fn problem(failure: &Failure) -> Problem {
    let (code, detail) = match failure {
        Failure::Silent => (
            Code::Timeout(Stage::Forward),
            "the process that keeps templates and runs has not answered in time",
        ),
        Failure::Connect(_) | Failure::Broken(_) => (
            Code::BackendUnavailable(Backend::Leader),
            "the process that keeps templates and runs ended while it had this request: look \
             whether it took effect before you send it again",
        ),
    };
    Problem {
        cause: Some(platen_render::chain(failure)),
        ..Problem::new(code, detail)
    }
    .retry_after(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_the_data_folder_goes_to_its_owner() {
        let asks = |method: &str, uri: &str| {
            let request = Request::builder().method(method).uri(uri).body(());
            is_for_owner(&request.unwrap())
        };
        assert!(asks("POST", "/templates") && asks("DELETE", "/templates/a"));
        assert!(asks("POST", "/templates/a/versions/1/restore"));
        assert!(!asks("GET", "/templates/a/preview.png") && !asks("POST", "/templates/a/validate"));
        assert!(
            asks("POST", "/webhooks/a/sync") && asks("GET", "/runs") && asks("PUT", "/pieces/a/1")
        );
        assert!(asks("POST", "/render?async=true") && asks("POST", "/render/pdf?a&async"));
        assert!(!asks("POST", "/render") && !asks("POST", "/render?async=false"));
        assert!(!asks("GET", "/health/live") && !asks("GET", "/runsomething"));
    }

    #[test]
    fn connections_of_clients_are_not_passed_on() {
        let request = Request::builder()
            .uri("https://example.com/runs?a=1")
            .header("keep-alive", "5")
            .header("te", "trailers")
            .header("x-platen-client", "6.6.6.6:1")
            .body(RequestBody::default());
        let client = SocketAddr::from(([1, 2, 3, 4], 5));
        let mut sent = prepare(request.unwrap(), client, "id", false);
        assert_eq!(sent.uri(), "/runs?a=1");
        assert_eq!(sent.headers()["host"], "example.com");
        assert_eq!(sent.headers()["connection"], "close");
        assert!(!sent.headers().contains_key("te"));
        assert_eq!(client_of(sent.headers_mut()), Some(client));
    }
}
