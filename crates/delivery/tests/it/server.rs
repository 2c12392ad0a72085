//! A server for one test.

use std::{
    convert::Infallible,
    future::poll_fn,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body::{Body as _, Frame, SizeHint};
use platen_delivery::{
    Bind, Body, Error, Handler, Limits, MakeHandler, Observer, Peer, Refusal, RequestBody, Shards,
    on_upgrade,
};
use platen_fault::Code;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What the server has observed.
#[derive(Debug, Default)]
pub struct Seen {
    pub open: AtomicUsize,
    pub requests: AtomicUsize,
    pub broken: AtomicUsize,
    pub refused: AtomicUsize,
}

impl Observer for Seen {
    fn opened(&self, _: &Peer) {
        self.open.fetch_add(1, Ordering::SeqCst);
    }

    fn closed(&self, _: &Peer, cause: Option<&Error>) {
        self.open.fetch_sub(1, Ordering::SeqCst);
        self.broken
            .fetch_add(usize::from(cause.is_some()), Ordering::SeqCst);
    }

    fn refused(&self, _: Code) {
        self.refused.fetch_add(1, Ordering::SeqCst);
    }

    fn refuse(&self, refusal: Refusal) -> Response<Body> {
        self.refused.fetch_add(1, Ordering::SeqCst);
        refusal.into_response(None)
    }
}

/// Answers by the path of the request.
#[derive(Clone)]
pub struct Routes(pub Arc<Seen>);

pub struct Server {
    pub seen: Arc<Seen>,
    shards: Option<Shards>,
}

/// Limits that keep tests short.
pub fn limits() -> Limits {
    Limits {
        head_timeout: Duration::from_millis(400),
        ping_interval: Duration::from_secs(20),
        write_timeout: Duration::from_millis(400),
        body_timeout: Duration::from_millis(400),
        half_closed_timeout: Duration::from_secs(1),
        linger_timeout: Duration::from_millis(500),
        ..Limits::default()
    }
}

impl Server {
    pub fn start(limits: Limits) -> Self {
        Self::on(&["127.0.0.1:0".parse().unwrap()], limits)
    }

    pub fn on(binds: &[Bind], limits: Limits) -> Self {
        let seen = Arc::new(Seen::default());
        let make = making(Routes(Arc::clone(&seen)));
        let observer = Arc::clone(&seen) as Arc<dyn Observer>;
        let shards = Shards::start(binds, 2, limits, observer, make).unwrap();
        Self {
            seen,
            shards: Some(shards),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.shards.as_ref().unwrap().addresses()[0]
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream
    }

    /// Sends `bytes`; returns everything received until the server closes.
    pub fn send(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        rest(&mut stream)
    }

    pub fn stop(&mut self) {
        if let Some(shards) = self.shards.take() {
            shards.stop();
        }
    }

    pub fn wait_until(&self, mut done: impl FnMut(&Seen) -> bool) {
        until(|| match done(&self.seen) {
            true => Ok(()),
            false => Err(format!("{:?}", self.seen)),
        });
    }
}

/// Waits until `look` finds what it wants, which nothing announces. The time limit is only a safety
/// net.
pub fn until(mut look: impl FnMut() -> Result<(), String>) {
    let start = Instant::now();
    while let Err(seen) = look() {
        assert!(start.elapsed() < Duration::from_secs(60), "never: {seen}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Everything received until the other side closes.
pub fn rest(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads exactly `count` bytes.
pub fn exactly(stream: &mut impl Read, count: usize) -> String {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads one head, byte by byte.
pub fn head(stream: &mut impl Read) -> String {
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        text.push_str(&exactly(stream, 1));
    }
    text
}

pub fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").into_bytes()
}

/// Resident memory of this process, in bytes.
pub fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().nth(1));
    kibibytes.unwrap().parse::<usize>().unwrap() * 1_024
}

async fn collect(body: RequestBody) -> Result<Vec<u8>, platen_delivery::BoxError> {
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        if let Ok(data) = frame?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes)
}

/// A body of two frames, then trailers.
struct Trailing(u8);

impl http_body::Body for Trailing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0 += 1;
        Poll::Ready(match self.0 {
            1 | 2 => Some(Ok(Frame::data(Bytes::from_static(b"ab")))),
            3 => {
                let mut trailers = HeaderMap::new();
                trailers.insert("x-pages", HeaderValue::from_static("7"));
                trailers.insert("x-secret", HeaderValue::from_static("no"));
                Some(Ok(Frame::trailers(trailers)))
            }
            _ => None,
        })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

async fn answer(mut request: Request<RequestBody>) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let mut parts = path[1..].split('/');
    let name = parts.next().unwrap_or_default();
    let number: usize = parts.next().map_or(0, |text| text.parse().unwrap());
    let mut response = Response::new(Body::empty());
    *response.body_mut() = match name {
        "hello" => Body::from("hello"),
        "echo" => match collect(request.into_body()).await {
            Ok(bytes) => Body::from(bytes),
            Err(error) => {
                *response.status_mut() = StatusCode::BAD_REQUEST;
                Body::from(error.to_string())
            }
        },
        "bytes" => Body::from(vec![b'x'; number]),
        "segments" => Body::segments(vec![Bytes::from_static(b"0123456789"); number]),
        // Blocks its thread, and with it everything that the thread would accept.
        "block" => {
            std::thread::sleep(Duration::from_millis(number as u64));
            Body::from("blocked")
        }
        // Models work that takes time.
        "slow" => {
            tokio::time::sleep(Duration::from_millis(number as u64)).await;
            Body::from("slept")
        }
        "endless" => {
            let (sender, body) = Body::channel(2);
            tokio::spawn(async move {
                while sender.send(Bytes::from(vec![b'y'; 64 << 10])).await.is_ok() {}
            });
            body
        }
        // Models a source that is slower than its client.
        "channel" => {
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move {
                for _ in 0..number {
                    let _ = sender.send(Bytes::from_static(b"part")).await;
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            });
            body
        }
        // Models a source that never sends: longer than any test.
        "silent" => {
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(600)).await;
                drop(sender);
            });
            body
        }
        "broken" => {
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move {
                let _ = sender.send(Bytes::from_static(b"part")).await;
                sender.fail("the source failed").await;
            });
            body
        }
        "trailers" => {
            let value = HeaderValue::from_static("x-pages");
            response.headers_mut().insert("trailer", value);
            Body::stream(Trailing(0))
        }
        "upgrade" => {
            if let Some(upgrade) = on_upgrade(&mut request) {
                *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
                tokio::spawn(async move {
                    let mut connection = upgrade.await.unwrap();
                    let mut word = [0; 4];
                    connection.read_exact(&mut word).await.unwrap();
                    connection.write_all(&word).await.unwrap();
                });
            }
            Body::empty()
        }
        _ => {
            *response.status_mut() = StatusCode::NOT_FOUND;
            Body::from("nothing")
        }
    };
    response
}

impl Handler for Routes {
    fn handle(&self, request: Request<RequestBody>) -> BoxFuture<'static, Response<Body>> {
        self.0.requests.fetch_add(1, Ordering::SeqCst);
        Box::pin(answer(request))
    }
}

/// Gives every connection the same routes.
pub fn making(routes: Routes) -> MakeHandler {
    let routes: Arc<dyn Handler> = Arc::new(routes);
    Arc::new(move |_: &Peer| Arc::clone(&routes))
}
