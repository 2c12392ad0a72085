//! Accepts connections from several listeners, up to a limit, until the service stops.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use http::{Request, Response};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch},
    task::JoinSet,
    time::Instant,
};
use tower_service::Service;

use crate::{
    Body, Error, Limits, Listener, Observer, Peer, RequestBody,
    bind::Accepted,
    h1::Connection,
    idle_connections::{IdleConnections, IdleSlot},
    shared::Shared,
    socket::Socket,
    tls,
    writers::Writers,
};

/// Pause after a failed accept, for example when there are no file descriptors left: an immediate
/// retry would spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long to wait for a free slot before an idle connection is evicted.
const EVICT_AFTER: Duration = Duration::from_millis(20);
/// At shutdown, connections are accepted until none has come for this long: the kernel has
/// completed the handshakes of those in its queue and would reset them.
const LAST_ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// Upper limit of that phase. Connections already in the queue by then are still accepted, up to
/// [`MAX_LAST_ACCEPTS`]: a busy machine takes longer to empty a full queue.
const LAST_ACCEPT_TIMEOUT: Duration = Duration::from_millis(300);
/// The longest queue that the kernel keeps by default (`net.core.somaxconn`).
const MAX_LAST_ACCEPTS: u32 = 4096;

/// Accepts connections from `listeners` until `stopped` changes or closes; then closes the
/// listeners, lets every connection finish its response, and returns once all are closed.
///
/// `make` creates the service of a connection.
pub async fn serve<M, S>(
    listeners: Vec<Listener>,
    limits: Limits,
    observer: Arc<dyn Observer>,
    make: M,
    stopped: watch::Receiver<()>,
) where
    M: Fn(&Peer) -> S + Clone + Send + Sync + 'static,
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    serve_in(
        ConnectionSlots::new(limits, observer),
        listeners,
        make,
        stopped,
    )
    .await;
}

/// Slots for connections, shared by several calls of [`serve_in`].
#[derive(Clone)]
pub(crate) struct ConnectionSlots {
    shared: Arc<Shared>,
    connections: Arc<Semaphore>,
    idle_connections: Arc<IdleConnections>,
}

impl ConnectionSlots {
    pub(crate) fn new(limits: Limits, observer: Arc<dyn Observer>) -> Self {
        Self {
            connections: Arc::new(Semaphore::new(limits.connections)),
            idle_connections: Arc::default(),
            shared: Arc::new(Shared {
                writers: Writers::new(limits.writer_threads),
                limits,
                observer,
            }),
        }
    }
}

impl ConnectionSlots {
    /// Takes a free slot. If there is none, evicts an idle connection to get one.
    async fn enter(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(permit) = Arc::clone(&self.connections).try_acquire_owned() {
                return Some(permit);
            }
            let permit = Arc::clone(&self.connections).acquire_owned();
            if !self.idle_connections.evict_one() {
                return permit.await.ok();
            }
            if let Ok(permit) = tokio::time::timeout(EVICT_AFTER, permit).await {
                return permit.ok();
            }
        }
    }
}

pub(crate) async fn serve_in<M, S>(
    slots: ConnectionSlots,
    listeners: Vec<Listener>,
    make: M,
    stopped: watch::Receiver<()>,
) where
    M: Fn(&Peer) -> S + Clone + Send + Sync + 'static,
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    let mut accepting = JoinSet::new();
    for listener in listeners {
        accepting.spawn(accept(
            listener,
            slots.clone(),
            make.clone(),
            stopped.clone(),
        ));
    }
    while accepting.join_next().await.is_some() {}
}

async fn accept<M, S>(
    listener: Listener,
    slots: ConnectionSlots,
    make: M,
    mut stopped: watch::Receiver<()>,
) where
    M: Fn(&Peer) -> S + Send + Sync + 'static,
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    let mut connections = JoinSet::new();
    // A receiver that has not seen the stop, for connections that are accepted after it.
    let unseen = stopped.clone();
    let mut last = None;
    let mut left = MAX_LAST_ACCEPTS;
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = match last {
            None => tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stopped.changed() => {
                    last = Some(Instant::now() + LAST_ACCEPT_TIMEOUT);
                    continue;
                }
            },
            Some(end) => match accept_last(&listener, end, &mut left).await {
                Some(accepted) => accepted,
                None => break,
            },
        };
        let accepted = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                slots.shared.observer.not_accepted(&error);
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Only now: an idle listener must not hold a slot.
        let Some(permit) = slots.enter().await else {
            break;
        };
        let service = make(&accepted.peer);
        let (give, idle_slot) = oneshot::channel();
        let peer = accepted.peer;
        let connection = converse(
            accepted,
            service,
            Arc::clone(&slots.shared),
            unseen.clone(),
            (permit, idle_slot),
        );
        let connection = connections.spawn(connection);
        let idle_slot = IdleSlot::new(Arc::clone(&slots.idle_connections), &peer, connection);
        idle_slot.wait();
        // Sending fails only if the runtime has ended the task before it started.
        let _ = give.send(idle_slot);
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Accepts a connection that was made before the stop; `None` once the queue is empty.
async fn accept_last(
    listener: &Listener,
    end: Instant,
    left: &mut u32,
) -> Option<io::Result<Accepted>> {
    let mut pause = LAST_ACCEPT_PAUSE;
    if Instant::now() >= end {
        *left = left.checked_sub(1)?;
        pause = Duration::ZERO;
    }
    tokio::time::timeout(pause, listener.accept()).await.ok()
}

async fn converse<S>(
    accepted: Accepted,
    service: S,
    shared: Arc<Shared>,
    stopped: watch::Receiver<()>,
    (permit, idle_slot): (OwnedSemaphorePermit, oneshot::Receiver<IdleSlot>),
) where
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    let Accepted { socket, peer, tls } = accepted;
    let Ok(idle_slot) = idle_slot.await else {
        return;
    };
    // A guard, so that the connection is also reported as closed if its task is dropped.
    let mut open = Open {
        shared: Arc::clone(&shared),
        peer,
        cause: None,
    };
    shared.observer.opened(&peer);
    prepare(&socket, &shared.limits);
    let ended = match (tls, socket) {
        (Some(tls), Socket::Tcp(stream)) => {
            tls::converse(stream, tls, service, shared, stopped, idle_slot).await
        }
        (_, socket) => {
            Connection::new(socket, service, shared, stopped, idle_slot)
                .serve()
                .await
        }
    };
    open.cause = ended.err();
    drop(open);
    drop(permit);
}

struct Open {
    shared: Arc<Shared>,
    peer: Peer,
    cause: Option<Error>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.shared.observer.closed(&self.peer, self.cause.as_ref());
    }
}

fn prepare(socket: &Socket, limits: &Limits) {
    if let Socket::Tcp(stream) = socket {
        // Responses are written whole, so Nagle's algorithm would only delay them.
        let _ = stream.set_nodelay(true);
    }
    if let (Some(size), Some(descriptor)) = (limits.send_buffer_bytes, socket.descriptor()) {
        let _ = rustix::net::sockopt::set_socket_send_buffer_size(descriptor, size);
    }
}
