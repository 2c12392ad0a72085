//! Forwards requests to the leader, the only process that writes to the data folder.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, Uri, Version,
    client::conn::http1::handshake,
    header::{self, HeaderName, HeaderValue},
    http::uri::PathAndQuery,
};
use hyper_util::rt::TokioIo;
use platen_delivery::{Body, OnUpgrade, RequestBody, on_upgrade};
use tokio::net::UnixStream;

use crate::ProcessGroup;

/// Address of the original client. Trusted on the peer socket only.
const CLIENT: HeaderName = HeaderName::from_static("x-platen-client");
/// Scheme and host that the original client used, where a proxy has said so. Trusted on the peer
/// socket only.
const BASE_URL: HeaderName = HeaderName::from_static("x-platen-base-url");
/// Marks a request that only shows the credentials of another one. Trusted on the peer socket only.
const CREDENTIALS_ONLY: HeaderName = HeaderName::from_static("x-platen-credentials-only");
/// Headers by which requests authenticate.
const CREDENTIALS: [HeaderName; 4] = [
    header::AUTHORIZATION,
    header::COOKIE,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-editor-token"),
];
/// How long the leader may take to look at credentials.
const MAX_SHOWING: Duration = Duration::from_secs(5);
/// Added to the longest request time before the leader's response times out.
const GRACE: Duration = Duration::from_secs(30);
/// Hop-by-hop headers (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [HeaderName; 5] = [
    header::CONNECTION,
    header::TE,
    header::UPGRADE,
    header::EXPECT,
    HeaderName::from_static("keep-alive"),
];

/// Who sent a request that is forwarded.
#[derive(Clone, Copy, Debug)]
pub struct Sender<'s> {
    /// Address of the client.
    pub client: SocketAddr,
    /// Scheme and host that the client used, where a trusted proxy has said so.
    pub base_url: Option<&'s str>,
}

/// Forwards requests to the leader.
pub struct Forward {
    leader: PathBuf,
    timeout: Duration,
}

/// Why the leader sent no response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForwardError {
    /// Cannot connect to the leader.
    #[error("the connection failed")]
    Connect(#[source] std::io::Error),
    /// The leader exited during the request.
    #[error("the connection broke off")]
    Broken(#[source] hyper::Error),
    /// The leader's response timed out.
    #[error("there was no response in time")]
    Timeout,
}

impl Forward {
    /// Forwards to the leader of `group`; `longest` is the longest time of a request.
    #[must_use]
    pub fn new(group: &ProcessGroup, longest: Duration) -> Self {
        Self {
            leader: group.leader_socket(),
            timeout: longest + GRACE,
        }
    }

    /// Returns the leader's response to a request of `sender`, and passes `request_id` in the
    /// header `id_header`.
    ///
    /// # Errors
    /// If there is no response.
    pub fn send<'a>(
        &'a self,
        mut request: Request<RequestBody>,
        sender: Sender<'a>,
        (id_header, request_id): (&'static str, &'a str),
    ) -> BoxFuture<'a, Result<Response<Body>, ForwardError>> {
        Box::pin(async move {
            let upgrade = on_upgrade(&mut request);
            let request = prepare(request, sender, (id_header, request_id), upgrade.is_some());
            // GET and HEAD are safe to retry if the leader exits during the request.
            let again = matches!(*request.method(), Method::GET | Method::HEAD).then(|| {
                let mut again = Request::new(RequestBody::default());
                request.method().clone_into(again.method_mut());
                request.uri().clone_into(again.uri_mut());
                request.headers().clone_into(again.headers_mut());
                again
            });
            let first = self.exchange(request).await;
            let answer = match (first, again) {
                (Err(ForwardError::Broken(_)), Some(again)) if upgrade.is_none() => {
                    self.exchange(again).await
                }
                (first, _) => first,
            };
            answer.map(|response| arrived(response, upgrade))
        })
    }

    /// Shows the leader the credentials of a request that this process handles itself.
    ///
    /// # Errors
    /// If there is no response.
    pub fn show_credentials(
        self: Arc<Self>,
        headers: &HeaderMap,
    ) -> BoxFuture<'static, Result<(), ForwardError>> {
        let request = credentials_of(headers);
        Box::pin(async move {
            let showing = tokio::time::timeout(MAX_SHOWING, self.exchange(request));
            showing.await.map_err(|_| ForwardError::Timeout)?.map(drop)
        })
    }

    async fn exchange(
        &self,
        request: Request<RequestBody>,
    ) -> Result<Response<hyper::body::Incoming>, ForwardError> {
        let answering = async {
            let stream = UnixStream::connect(&self.leader)
                .await
                .map_err(ForwardError::Connect)?;
            let (mut sender, connection) = handshake(TokioIo::new(stream))
                .await
                .map_err(ForwardError::Broken)?;
            // The task ends with the response, or when the caller drops it.
            tokio::spawn(connection.with_upgrades());
            sender
                .send_request(request)
                .await
                .map_err(ForwardError::Broken)
        };
        tokio::time::timeout(self.timeout, answering)
            .await
            .map_err(|_| ForwardError::Timeout)?
    }
}

/// Removes and returns the client address that a peer process sent. Call it on the peer socket
/// only.
pub fn client_of(headers: &mut HeaderMap) -> Option<SocketAddr> {
    headers.remove(CLIENT)?.to_str().ok()?.parse().ok()
}

/// Removes and returns the scheme and host that a peer process sent. Call it on the peer socket
/// only.
pub fn base_url_of(headers: &mut HeaderMap) -> Option<String> {
    let value = headers.remove(BASE_URL)?;
    value.to_str().ok().map(str::to_owned)
}

/// True for a request that only shows credentials. Call it on the peer socket only.
#[must_use]
pub fn shows_credentials(headers: &HeaderMap) -> bool {
    headers.contains_key(CREDENTIALS_ONLY)
}

fn credentials_of(headers: &HeaderMap) -> Request<RequestBody> {
    let mut request = Request::new(RequestBody::default());
    let shown = request.headers_mut();
    for name in CREDENTIALS {
        for value in headers.get_all(&name) {
            shown.append(name.clone(), value.clone());
        }
    }
    let fixed = [
        (header::HOST, "localhost"),
        (header::CONNECTION, "close"),
        (CREDENTIALS_ONLY, "true"),
    ];
    for (name, value) in fixed {
        shown.insert(name, HeaderValue::from_static(value));
    }
    request
}

fn prepare(
    mut request: Request<RequestBody>,
    sender: Sender<'_>,
    (id_header, request_id): (&'static str, &str),
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
    if let Ok(client) = HeaderValue::try_from(sender.client.to_string()) {
        headers.insert(CLIENT, client);
    }
    headers.remove(CREDENTIALS_ONLY);
    headers.remove(BASE_URL);
    if let Some(Ok(base_url)) = sender.base_url.map(HeaderValue::from_str) {
        headers.insert(BASE_URL, base_url);
    }
    if let Ok(id) = HeaderValue::try_from(request_id) {
        headers.insert(id_header, id);
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
                // Either side may close the connection.
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

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::UnixListener,
    };

    use super::*;

    #[tokio::test]
    async fn the_leader_sees_the_credentials_of_a_request_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let group = ProcessGroup {
            index: 1,
            count: 2,
            folder: folder.path().to_owned(),
        };
        let leader = UnixListener::bind(group.leader_socket()).unwrap();
        let forward = Arc::new(Forward::new(&group, Duration::ZERO));
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-api-key", "plt_a_b"),
            ("cookie", "a=b"),
            ("content-length", "1000000"),
            ("gotenberg-webhook-url", "http://a.example"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let showing = tokio::spawn(forward.show_credentials(&headers));
        let (mut stream, _) = leader.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        showing.await.unwrap().unwrap();
        let head = String::from_utf8(head).unwrap();
        assert!(head.starts_with("GET / HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("x-api-key: plt_a_b\r\n"), "{head}");
        assert!(head.contains("cookie: a=b\r\n"), "{head}");
        assert!(!head.contains("1000000") && !head.contains("a.example"));
        assert!(shows_credentials(credentials_of(&headers).headers()));
    }

    #[test]
    fn connections_of_clients_are_not_passed_on() {
        let request = Request::builder()
            .uri("https://example.com/runs?a=1")
            .header("keep-alive", "5")
            .header("te", "trailers")
            .header("x-platen-client", "6.6.6.6:1")
            .header("x-platen-base-url", "https://evil.example")
            .header("x-platen-credentials-only", "true")
            .body(RequestBody::default());
        let sender = Sender {
            client: SocketAddr::from(([1, 2, 3, 4], 5)),
            base_url: None,
        };
        let mut sent = prepare(request.unwrap(), sender, ("x-request-id", "id"), false);
        assert_eq!(sent.uri(), "/runs?a=1");
        assert_eq!(sent.headers()["host"], "example.com");
        assert_eq!(sent.headers()["connection"], "close");
        assert!(!sent.headers().contains_key("te"));
        assert_eq!(client_of(sent.headers_mut()), Some(sender.client));
        assert_eq!(base_url_of(sent.headers_mut()), None);
        assert!(!shows_credentials(sent.headers()));
        let sender = Sender {
            base_url: Some("https://a.example"),
            ..sender
        };
        let request = Request::new(RequestBody::default());
        let mut sent = prepare(request, sender, ("x-request-id", "id"), false);
        let base_url = base_url_of(sent.headers_mut());
        assert_eq!(base_url.as_deref(), Some("https://a.example"));
    }
}
