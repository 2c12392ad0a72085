//! A TLS connection. hyper implements the protocols inside; the limits are the same as without TLS.

use std::{
    convert::Infallible,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderValue, Request, Response, Version,
    header::{CONNECTION, UPGRADE},
};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{net::TcpStream, sync::watch};
use tokio_rustls::server::TlsStream;
use tower_service::Service;

use super::{
    Tls,
    stall_guard::{StallGuardedBody, StallMonitor},
    timeout_io::{FirstBytesTimeoutIo, WriteTimeoutIo},
};
use crate::{
    Body, Error, Limits, RequestBody,
    idle_connections::IdleSlot,
    shared::Shared,
    upgrade::{self, Upgraded},
};

/// Maximum number of concurrent requests of one connection.
const MAX_STREAMS: u32 = 128;
/// Maximum number of streams that the client has reset and that are still being cleaned up
/// (CVE-2023-44487, "rapid reset").
const MAX_RESET_STREAMS: usize = 20;
/// Bytes of one response buffered for a client that stalls.
const MAX_SEND_BYTES: usize = 64 << 10;

/// Completes the TLS handshake, then serves the client's requests.
pub(crate) async fn converse<S>(
    stream: TcpStream,
    tls: Arc<Tls>,
    service: S,
    shared: Arc<Shared>,
    mut stopped: watch::Receiver<()>,
    idle_slot: IdleSlot,
) -> Result<(), Error>
where
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    let limits = &shared.limits;
    let stream = handshake(stream, &tls, &shared).await?;
    let has_goaway = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let stream = FirstBytesTimeoutIo::new(stream, limits.head_timeout);
    let monitor = Arc::new(StallMonitor::default());
    let stopping = Arc::new(AtomicBool::new(false));
    let requests = Arc::new(Requests::new(idle_slot));
    let service = {
        let (monitor, stopping) = (Arc::clone(&monitor), Arc::clone(&stopping));
        service_fn(move |request: Request<Incoming>| {
            let monitor = (request.version() == Version::HTTP_2).then(|| Arc::clone(&monitor));
            let one = Requests::begin(&requests);
            answer(
                service.clone(),
                request,
                monitor,
                Arc::clone(&stopping),
                one,
            )
        })
    };
    let builder = builder(limits);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let mut stalled = std::pin::pin!(monitor.stalled(limits.write_timeout));
    tokio::select! {
        ended = connection.as_mut() => return ended.map_err(Error::Protocol),
        () = stalled.as_mut() => return Err(timed_out()),
        _ = stopped.changed() => stopping.store(true, Ordering::Relaxed),
    }
    // HTTP/1.1 has no GOAWAY, so one more request may be in flight: wait for it. With HTTP/2,
    // requests that the client has sent before it sees the GOAWAY are still answered.
    let grace = match has_goaway {
        true => Duration::ZERO,
        false => limits.stop_timeout,
    };
    tokio::select! {
        biased;
        () = tokio::time::sleep(grace) => connection.as_mut().graceful_shutdown(),
        ended = connection.as_mut() => return ended.map_err(Error::Protocol),
        () = stalled.as_mut() => return Err(timed_out()),
    }
    tokio::select! {
        ended = connection => ended.map_err(Error::Protocol),
        () = stalled => Err(timed_out()),
    }
}

/// Completes the handshake, within the timeout of a request head.
async fn handshake(
    stream: TcpStream,
    tls: &Tls,
    shared: &Shared,
) -> Result<TlsStream<WriteTimeoutIo<TcpStream>>, Error> {
    let limits = &shared.limits;
    let (acceptor, failure) = tls.acceptor();
    if let Some(failure) = failure {
        shared.observer.certificate_not_read(&failure);
    }
    let stream = WriteTimeoutIo::new(stream, limits.write_timeout);
    tokio::time::timeout(limits.head_timeout, acceptor.accept(stream))
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))
        .flatten()
        .map_err(|error| Error::Protocol(error.into()))
}

fn timed_out() -> Error {
    Error::Protocol(io::Error::from(io::ErrorKind::TimedOut).into())
}

/// Requests of one connection in flight: without any the connection is idle and may be evicted.
struct Requests {
    idle_slot: IdleSlot,
    count: AtomicUsize,
}

/// A request in flight. Dropped when its response was sent or aborted.
pub(super) struct UnderWay(Arc<Requests>);

impl Requests {
    fn new(idle_slot: IdleSlot) -> Self {
        Self {
            idle_slot,
            count: AtomicUsize::new(0),
        }
    }

    fn begin(all: &Arc<Self>) -> UnderWay {
        if all.count.fetch_add(1, Ordering::AcqRel) == 0 {
            // If the connection was evicted just now, its task ends before anything is answered.
            all.idle_slot.begin();
        }
        UnderWay(Arc::clone(all))
    }
}

#[cfg(test)]
impl UnderWay {
    /// A request on a connection of its own.
    pub(super) fn alone() -> Self {
        let connection = tokio::spawn(async {}).abort_handle();
        let idle_slot = IdleSlot::new(Arc::default(), &crate::Peer::Unix, connection);
        Requests::begin(&Arc::new(Requests::new(idle_slot)))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.idle_slot.wait();
        }
    }
}

/// Calls the service. Its response is monitored if there is a [`StallMonitor`], and closes the
/// connection if it is the last one of HTTP/1.1 before the stop.
async fn answer<S>(
    mut service: S,
    request: Request<Incoming>,
    monitor: Option<Arc<StallMonitor>>,
    stopping: Arc<AtomicBool>,
    one: UnderWay,
) -> Result<Response<StallGuardedBody>, Infallible>
where
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>,
{
    let mut response = service.call(taken(request)).await?;
    if monitor.is_none() && stopping.load(Ordering::Relaxed) {
        let close = HeaderValue::from_static("close");
        // A response that switches protocols keeps its `Connection`.
        response.headers_mut().entry(CONNECTION).or_insert(close);
    }
    Ok(response.map(|body| StallGuardedBody::new(body, monitor, one)))
}

fn builder(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(limits.head_bytes.max(8_192))
        .max_headers(limits.headers);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_pending_accept_reset_streams(MAX_RESET_STREAMS)
        .max_local_error_reset_streams(MAX_STREAMS as usize)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .max_send_buf_size(MAX_SEND_BYTES)
        .keep_alive_interval(limits.idle_timeout)
        .keep_alive_timeout(limits.head_timeout);
    builder
}

/// Converts hyper's request to the type that services expect.
fn taken(mut request: Request<Incoming>) -> Request<RequestBody> {
    let switch = request.headers().contains_key(UPGRADE).then(|| {
        let theirs = hyper::upgrade::on(&mut request);
        (upgrade::offer(&mut request), theirs)
    });
    if let Some((switch, theirs)) = switch {
        tokio::spawn(async move {
            if let Ok(upgraded) = theirs.await {
                let transport = Box::new(TokioIo::new(upgraded));
                let _ = switch.send(Upgraded::new(transport, Bytes::new()));
            }
        });
    }
    request.map(|body| RequestBody::other(Box::pin(crate::body::boxed(body))))
}
