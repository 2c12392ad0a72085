//! Connections: accepting them, so many at once, HTTP/1.1 with limits on heads and time.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::{Router, body::Body};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
};
use tower_service::Service;

use crate::{app::App, config::LogLevel, middleware::Peer, stream::TimedStream};

/// Header lines of one request.
const MAX_HEADERS: usize = 100;
/// After an accept failed, for example because there are no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// A client that takes nothing of an answer for this long is let go.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// Accepts connections until `stopped` closes, then waits for those that are open.
pub(crate) async fn accept(
    app: Arc<App>,
    listener: TcpListener,
    router: Router,
    mut stopped: watch::Receiver<()>,
) {
    let room = Arc::new(Semaphore::new(app.config.max_connections as usize));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let next = async {
            let permit = Arc::clone(&room).acquire_owned().await.ok()?;
            Some((listener.accept().await, permit))
        };
        let accepted = tokio::select! {
            accepted = next => accepted,
            _ = stopped.changed() => break,
        };
        match accepted {
            Some((Ok((stream, peer)), permit)) => {
                let (app, router, stopped) = (Arc::clone(&app), router.clone(), stopped.clone());
                connections.spawn(async move {
                    app.metrics.connections.fetch_add(1, Ordering::Relaxed);
                    serve_connection(&app, stream, peer, router, stopped).await;
                    app.metrics.connections.fetch_sub(1, Ordering::Relaxed);
                    drop(permit);
                });
            }
            Some((Err(error), _)) => {
                let fields = [("cause", error.to_string().into())];
                app.log
                    .event(LogLevel::Warn, "a connection was not accepted", &fields);
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
            None => break,
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn serve_connection(
    app: &App,
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    mut stopped: watch::Receiver<()>,
) {
    // Answers are written whole; waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let mut router = router.clone();
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Peer(peer));
        async move {
            Ok::<_, Infallible>(
                router
                    .call(request)
                    .await
                    .unwrap_or_else(|never| match never {}),
            )
        }
    });
    let config = &app.config;
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(config.header_timeout_ms))
        .max_buf_size(config.max_header_bytes as usize)
        .max_headers(MAX_HEADERS)
        .keep_alive(true)
        .serve_connection(
            TokioIo::new(TimedStream::new(stream, WRITE_TIMEOUT)),
            service,
        )
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        let fields = [
            ("client", peer.ip().to_string().into()),
            ("cause", crate::problem::chain(&error).into()),
        ];
        app.log
            .event(LogLevel::Debug, "a connection broke off", &fields);
    }
}
