//! A connection. hyper implements HTTP/1.1 and HTTP/2 over any byte stream; limits, and what happens
//! at the ends of requests and connections, are added here.

mod exchange;
mod io;
mod request_body;
mod screening;
mod stall_guard;
mod timeout_io;
mod traffic;

use std::{
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use hyper::{
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use platen_fault::{Code, Stage, What};
use tokio::sync::watch;

pub use self::request_body::RequestBody;
use self::{
    exchange::Exchanges, io::ConnectionIo, stall_guard::StallMonitor,
    timeout_io::FirstBytesTimeoutIo, traffic::Traffic,
};
pub(crate) use self::{timeout_io::WriteTimeoutIo, traffic::Protocol};
use crate::{
    Error, Handler, Limits, idle_connections::IdleSlot, shared::Shared, upgrade::Transport,
};

/// hyper takes no more of a response body while it holds this many bytes of it. Its minimum is
/// 8 KiB.
const BUFFER_BYTES: usize = 256 << 10;
/// Maximum number of concurrent requests of one connection.
const MAX_STREAMS: u32 = 128;
/// Maximum number of streams that the client has reset and that are still being cleaned up
/// (CVE-2023-44487, "rapid reset").
const MAX_RESET_STREAMS: usize = 20;
/// Bytes of one response buffered for a client that stalls.
const MAX_SEND_BYTES: usize = 64 << 10;

/// Serves the requests of a client until either side closes the connection.
pub(crate) async fn converse(
    stream: Box<dyn Transport>,
    protocol: Protocol,
    handler: Arc<dyn Handler>,
    shared: Arc<Shared>,
    stopped: watch::Receiver<()>,
    idle_slot: IdleSlot,
) -> Result<(), Error> {
    let limits = &shared.limits;
    let traffic = Arc::new(Traffic::new(protocol, idle_slot));
    let monitor = (protocol == Protocol::Http2).then(|| Arc::new(StallMonitor::default()));
    let stream = ConnectionIo::new(stream, Arc::clone(&traffic), limits);
    let exchanges = Exchanges::new(handler, Arc::clone(&shared), traffic, monitor.clone());
    let exchanges = Arc::new(exchanges);
    let service = {
        let exchanges = Arc::clone(&exchanges);
        // The request begins here, not when its future is polled: hyper may look for the end of the
        // client's data in between.
        service_fn(move |request| {
            let under_way = exchanges.traffic.begin();
            Arc::clone(&exchanges).answer(request, under_way)
        })
    };
    let ended = match monitor {
        None => {
            let connection = http1(limits).serve_connection(TokioIo::new(stream), service);
            let connection = pin!(connection.with_upgrades());
            // There is no GOAWAY, so one more request may be in flight: wait for it.
            let grace = limits.stop_timeout;
            let shut_down = http1::UpgradeableConnection::graceful_shutdown;
            drive(connection, shut_down, &exchanges, grace, stopped).await
        }
        Some(monitor) => {
            let stream = FirstBytesTimeoutIo::new(stream, limits.head_timeout);
            let connection = pin!(http2(limits).serve_connection(TokioIo::new(stream), service));
            // Requests that the client has sent before it sees the GOAWAY are still answered.
            let grace = Duration::ZERO;
            let shut_down = http2::Connection::graceful_shutdown;
            let driven = drive(connection, shut_down, &exchanges, grace, stopped);
            tokio::select! {
                ended = driven => ended,
                () = monitor.stalled(limits.write_timeout) => return Err(Error::Stalled),
            }
        }
    };
    ended.or_else(|error| explain(error, &exchanges))
}

/// Runs a connection to its end, which begins `grace` after the service stops.
async fn drive<C>(
    mut connection: Pin<&mut C>,
    shut_down: impl FnOnce(Pin<&mut C>),
    exchanges: &Exchanges,
    grace: Duration,
    mut stopped: watch::Receiver<()>,
) -> hyper::Result<()>
where
    C: Future<Output = hyper::Result<()>>,
{
    tokio::select! {
        ended = connection.as_mut() => return ended,
        _ = stopped.changed() => exchanges.stop(),
    }
    tokio::select! {
        biased;
        () = tokio::time::sleep(grace) => shut_down(connection.as_mut()),
        ended = connection.as_mut() => return ended,
    }
    connection.await
}

/// Why the connection was aborted. hyper has answered a malformed head with a bare status, and one
/// that is late with nothing.
fn explain(error: hyper::Error, exchanges: &Exchanges) -> Result<(), Error> {
    let limits = &exchanges.shared.limits;
    let code = if error.is_timeout() {
        if !exchanges.traffic.has_partial_head() {
            return Ok(());
        }
        Code::Timeout(Stage::Head)
    } else if error.is_parse_too_large() {
        Code::TooLarge(What::Head, limits.head_bytes as u64)
    } else if error.is_parse() {
        Code::InvalidRequest
    } else if error.is_user() {
        return Err(Error::Body(error.into()));
    } else if error.is_incomplete_message() {
        return Err(Error::Gone);
    } else if timeout_io::is_timeout(&error) {
        return Err(Error::Stalled);
    } else {
        return Err(Error::Protocol(error.into()));
    };
    exchanges.shared.observer.refused(code);
    Err(Error::Refused(code))
}

fn http1(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_header_size(limits.head_bytes)
        .max_buf_size(limits.head_bytes.max(BUFFER_BYTES));
    builder
}

fn http2(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_pending_accept_reset_streams(MAX_RESET_STREAMS)
        .max_local_error_reset_streams(MAX_STREAMS as usize)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .max_send_buf_size(MAX_SEND_BYTES)
        .keep_alive_interval(limits.ping_interval)
        .keep_alive_timeout(limits.head_timeout);
    builder
}
