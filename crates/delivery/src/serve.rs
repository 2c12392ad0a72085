//! Accepts connections from several listeners, up to a limit, until the service stops.

use std::{io, sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use rustix::io::Errno;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch},
    task::JoinSet,
    time::Instant,
};

use crate::{
    Error, Limits, Listener, MakeHandler, Observer, Peer,
    bind::Accepted,
    connection::{self, Protocol, WriteTimeoutIo},
    idle_connections::{IdleConnections, IdleSlot},
    proxy_header::{self, Sender},
    shared::Shared,
    socket::Socket,
    tls,
    upgrade::Transport,
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
/// `make` creates the handler of a connection.
#[must_use]
pub fn serve(
    listeners: Vec<Listener>,
    limits: Limits,
    observer: Arc<dyn Observer>,
    make: MakeHandler,
    stopped: watch::Receiver<()>,
) -> BoxFuture<'static, ()> {
    let slots = ConnectionSlots::new(limits, observer);
    Box::pin(serve_in(slots, listeners, make, stopped))
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
            shared: Arc::new(Shared { limits, observer }),
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

pub(crate) async fn serve_in(
    slots: ConnectionSlots,
    listeners: Vec<Listener>,
    make: MakeHandler,
    stopped: watch::Receiver<()>,
) {
    let mut accepting = JoinSet::new();
    for listener in listeners {
        accepting.spawn(accept(
            listener,
            slots.clone(),
            Arc::clone(&make),
            stopped.clone(),
        ));
    }
    while accepting.join_next().await.is_some() {}
}

async fn accept(
    listener: Listener,
    slots: ConnectionSlots,
    make: MakeHandler,
    mut stopped: watch::Receiver<()>,
) {
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
                // Without descriptors, none of the connections that wait would ever be accepted.
                if is_out_of_descriptors(&error) {
                    slots.idle_connections.evict_one();
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Only now: an idle listener must not hold a slot.
        let Some(permit) = slots.enter().await else {
            break;
        };
        let (give, idle_slot) = oneshot::channel();
        let peer = accepted.peer;
        let connection = converse(
            accepted,
            Arc::clone(&make),
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

/// Whether this process, or the whole system, has no file descriptors left.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE))
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

async fn converse(
    accepted: Accepted,
    make: MakeHandler,
    shared: Arc<Shared>,
    stopped: watch::Receiver<()>,
    (permit, idle_slot): (OwnedSemaphorePermit, oneshot::Receiver<IdleSlot>),
) {
    let Accepted {
        socket,
        peer,
        tls,
        proxies,
    } = accepted;
    let Ok(mut idle_slot) = idle_slot.await else {
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
    // Below TLS, because there a write that waits means a client that does not read.
    let stream = WriteTimeoutIo::new(socket.into_transport(), shared.limits.write_timeout);
    let mut stream: Box<dyn Transport> = Box::new(stream);
    if proxies.is_some_and(|proxies| proxies.trusts(&peer)) {
        match proxy_header::receive(&mut stream, shared.limits.head_timeout).await {
            Ok(Some(Sender::Itself)) => {}
            Ok(Some(Sender::Client(client))) => open.peer = Peer::Tcp(client),
            Ok(None) => return,
            Err(error) => {
                open.cause = Some(Error::ProxyHeader(error));
                return;
            }
        }
        if !idle_slot.pass_to(&open.peer) {
            return;
        }
    }
    let handler = make(&open.peer);
    let greeted = match tls {
        Some(tls) => tls::handshake(stream, &tls, &shared).await,
        None => Ok((stream, Protocol::Http1)),
    };
    let ended = match greeted {
        Ok((stream, protocol)) => {
            connection::converse(stream, protocol, handler, shared, stopped, idle_slot).await
        }
        Err(error) => Err(error),
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
    if let Some(size) = limits.send_buffer_bytes {
        let _ = rustix::net::sockopt::set_socket_send_buffer_size(socket, size);
    }
}
