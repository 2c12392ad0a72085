//! The benchmark fixture served by hyper alone, as a user of hyper would write it: one runtime of tokio
//! with several threads, one socket, `Full` for a string, streams for the other bodies. Beside
//! [`bench_fixture`](crate::bench_fixture) it shows what Platen's transport costs or saves.

use std::{
    convert::Infallible,
    future::Future,
    io,
    net::SocketAddr,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr as UnixAddress, UnixListener as StdUnixListener},
    },
    path::PathBuf,
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, Stream};
use http::{HeaderValue, Request, Response, StatusCode, header::CONTENT_LENGTH};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    fs::File,
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::{TcpListener, UnixListener},
    runtime::{Builder, Runtime},
};

use crate::{
    Bind,
    bench_fixture::{BenchFixture, Kind, configuration, delay},
};

/// Size of a piece of a file, in bytes.
const PIECE_BYTES: usize = 64 << 10;
/// Pause after a connection could not be accepted, as when there are too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

type HyperBody = BoxBody<Bytes, io::Error>;

/// A running server, which ends when it is dropped.
#[derive(Debug)]
pub struct BenchHyper {
    _runtime: Runtime,
    address: Option<SocketAddr>,
}

impl BenchHyper {
    /// Serves the fixture at one address with `threads` threads.
    ///
    /// # Errors
    /// The address is taken, it is one of TLS or of systemd, or a thread cannot be started.
    pub fn start(fixture: &BenchFixture, bind: &Bind, threads: usize) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads.max(1))
            .enable_all()
            .build()?;
        let fixture = fixture.clone();
        let listening = runtime.block_on(Listening::open(bind))?;
        let address = listening.address();
        runtime.spawn(listening.accept(fixture));
        Ok(Self {
            _runtime: runtime,
            address,
        })
    }

    /// The network address; `None` of a UNIX socket.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }
}

enum Listening {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listening {
    async fn open(bind: &Bind) -> io::Result<Self> {
        match bind {
            Bind::Tcp(endpoint) => {
                let address = (endpoint.host.as_str(), endpoint.port);
                TcpListener::bind(address).await.map(Self::Tcp)
            }
            Bind::Unix { path, .. } => UnixListener::bind(path).map(Self::Unix),
            Bind::Abstract(name) => {
                let address = UnixAddress::from_abstract_name(name)?;
                let listener = StdUnixListener::bind_addr(&address)?;
                listener.set_nonblocking(true)?;
                UnixListener::from_std(listener).map(Self::Unix)
            }
            Bind::Tls { .. } | Bind::Activated(_) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "--hyper listens on tcp:// and unix:// only; leave out --hyper for TLS and systemd",
            )),
        }
    }

    fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            Self::Unix(_) => None,
        }
    }

    async fn accept(self, fixture: BenchFixture) {
        loop {
            let accepted = match &self {
                Self::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
                    // An answer of several writes would otherwise wait for acknowledgements.
                    let _ = stream.set_nodelay(true);
                    drop(tokio::spawn(connection(stream, fixture.clone())));
                }),
                Self::Unix(listener) => listener.accept().await.map(|(stream, _)| {
                    drop(tokio::spawn(connection(stream, fixture.clone())));
                }),
            };
            if accepted.is_err() {
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Serves one connection until its client closes it.
fn connection<S>(stream: S, fixture: BenchFixture) -> impl Future<Output = ()> + Send
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| answer(fixture.clone(), request));
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    async move {
        // A client that breaks off is seen by the client.
        let _ = serving.await;
    }
}

async fn answer(
    fixture: BenchFixture,
    request: Request<Incoming>,
) -> Result<Response<HyperBody>, Infallible> {
    let (text, wait) = delay(request.headers()).unwrap_or_default();
    let made = match configuration(request.headers()) {
        Some((kind, kilobytes)) => body(&fixture, kind, kilobytes, text).await,
        None => Err(io::ErrorKind::InvalidInput.into()),
    };
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    let Ok((body, length)) = made else {
        let empty = Full::default().map_err(|never| match never {}).boxed();
        let mut response = Response::new(empty);
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        return Ok(response);
    };
    let mut response = Response::new(body);
    *response.headers_mut() = fixture.headers().clone();
    if let Some(length) = length {
        let length = HeaderValue::from(length);
        response.headers_mut().insert(CONTENT_LENGTH, length);
    }
    Ok(response)
}

/// The body and its length in bytes, unless it is sent in chunks of an unknown number.
async fn body(
    fixture: &BenchFixture,
    kind: Kind,
    kilobytes: usize,
    delay: &str,
) -> io::Result<(HyperBody, Option<usize>)> {
    let made = fixture.made(kilobytes, delay);
    let length = made.whole.len();
    Ok(match kind {
        Kind::String => {
            let full = Full::new(made.whole).map_err(|never| match never {});
            (full.boxed(), Some(length))
        }
        Kind::Array | Kind::Chunks => {
            let parts = made.parts;
            let next = (0..parts.len()).map(move |index| Ok(Frame::data(parts[index].clone())));
            let streamed = BodyExt::boxed(StreamBody::new(stream::iter(next)));
            (streamed, (kind == Kind::Array).then_some(length))
        }
        Kind::File => {
            let pieces = pieces(fixture.path(kilobytes, &made.whole)?).await?;
            (BodyExt::boxed(StreamBody::new(pieces)), Some(length))
        }
    })
}

/// A file in pieces.
async fn pieces(
    path: PathBuf,
) -> io::Result<impl Stream<Item = io::Result<Frame<Bytes>>> + Send + Sync> {
    let file = File::open(path).await?;
    Ok(stream::try_unfold(file, |mut file| async move {
        let mut piece = BytesMut::with_capacity(PIECE_BYTES);
        let read = file.read_buf(&mut piece).await?;
        Ok((read > 0).then(|| (Frame::data(piece.freeze()), file)))
    }))
}
