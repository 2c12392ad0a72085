//! Taking connections: so many at once, from several listeners, until the service stops.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use http::{Request, Response};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch},
    task::JoinSet,
    time::Instant,
};
use tower_service::Service;

use crate::{
    Body, Error, Limits, Listener, Refusal, RequestBody,
    bind::Accepted,
    crowd::{Crowd, Place},
    h1::Connection,
    socket::Socket,
    tls,
    writers::Writers,
};

/// After an accept failed, for example because there are no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long the room that a connection has left is waited for, before another is let go.
const ROOM_PAUSE: Duration = Duration::from_millis(20);
/// When the service stops, connections are taken until none has come for so long: the kernel has
/// told those in its queue that they are connected, and would reset them.
const LAST_PAUSE: Duration = Duration::from_millis(20);
/// ... and for so long at most. What is in the queue then is still taken, as far as it has come by now
/// and is not more than [`LAST_CONNECTIONS`]: a busy machine takes longer for a full queue.
const LAST_TIME: Duration = Duration::from_millis(300);
/// As many as the kernel keeps in a queue, where nobody has changed its settings.
const LAST_CONNECTIONS: u32 = 4096;

/// Who is on the other side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// An address of the network.
    Tcp(SocketAddr),
    /// A process of this machine.
    Unix,
}

/// Is told what happens to connections.
pub trait Observer: Send + Sync + 'static {
    /// A connection was taken.
    fn opened(&self, _peer: &Peer) {}

    /// It has ended; with the reason where it broke off.
    fn closed(&self, _peer: &Peer, _cause: Option<&Error>) {}

    /// A connection could not be taken.
    fn not_accepted(&self, _cause: &io::Error) {}

    /// The files of a certificate have changed and cannot be used; the old ones are.
    fn certificate_not_read(&self, _cause: &io::Error) {}

    /// The answer to a request that cannot be handed to the service.
    fn refuse(&self, refusal: Refusal) -> Response<Body> {
        refusal.into_response(None)
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    pub(crate) writers: Writers,
    pub(crate) observer: Arc<dyn Observer>,
}

/// Takes connections from `listeners` until `stopped` changes or closes; then closes the
/// listeners, lets every connection finish its answer, and returns when all have ended.
///
/// `make` makes the service of a connection.
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
    serve_in(Room::new(limits, observer), listeners, make, stopped).await;
}

/// What several calls of [`serve_in`] share: bounds of all their connections.
#[derive(Clone)]
pub(crate) struct Room {
    shared: Arc<Shared>,
    connections: Arc<Semaphore>,
    crowd: Arc<Crowd>,
}

impl Room {
    pub(crate) fn new(limits: Limits, observer: Arc<dyn Observer>) -> Self {
        Self {
            connections: Arc::new(Semaphore::new(limits.connections)),
            crowd: Arc::default(),
            shared: Arc::new(Shared {
                writers: Writers::new(limits.writer_threads),
                limits,
                observer,
            }),
        }
    }
}

impl Room {
    /// Room for a connection; where there is none, of one that only waits.
    async fn enter(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(permit) = Arc::clone(&self.connections).try_acquire_owned() {
                return Some(permit);
            }
            let permit = Arc::clone(&self.connections).acquire_owned();
            if !self.crowd.let_one_go() {
                return permit.await.ok();
            }
            if let Ok(permit) = tokio::time::timeout(ROOM_PAUSE, permit).await {
                return permit.ok();
            }
        }
    }
}

pub(crate) async fn serve_in<M, S>(
    room: Room,
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
            room.clone(),
            make.clone(),
            stopped.clone(),
        ));
    }
    while accepting.join_next().await.is_some() {}
}

async fn accept<M, S>(listener: Listener, room: Room, make: M, mut stopped: watch::Receiver<()>)
where
    M: Fn(&Peer) -> S + Send + Sync + 'static,
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    let mut connections = JoinSet::new();
    // One that has not seen the stop, for those that are taken after it.
    let unseen = stopped.clone();
    let mut last = None;
    let mut left = LAST_CONNECTIONS;
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = match last {
            None => tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stopped.changed() => {
                    last = Some(Instant::now() + LAST_TIME);
                    continue;
                }
            },
            Some(end) if Instant::now() < end => {
                match tokio::time::timeout(LAST_PAUSE, listener.accept()).await {
                    Ok(accepted) => accepted,
                    Err(_) => break,
                }
            }
            Some(_) => {
                left -= 1;
                let waiting = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
                match waiting {
                    Ok(accepted) if left > 0 => accepted,
                    _ => break,
                }
            }
        };
        let accepted = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                room.shared.observer.not_accepted(&error);
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Only now: listeners that nobody connects to must not hold room.
        let Some(permit) = room.enter().await else {
            break;
        };
        let service = make(&accepted.peer);
        let (give, place) = oneshot::channel();
        let peer = accepted.peer;
        let connection = converse(
            accepted,
            service,
            Arc::clone(&room.shared),
            unseen.clone(),
            (permit, place),
        );
        let connection = connections.spawn(connection);
        let place = Place::new(Arc::clone(&room.crowd), &peer, connection);
        place.wait();
        // It ends before it begins only with the runtime.
        let _ = give.send(place);
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn converse<S>(
    accepted: Accepted,
    service: S,
    shared: Arc<Shared>,
    stopped: watch::Receiver<()>,
    (permit, place): (OwnedSemaphorePermit, oneshot::Receiver<Place>),
) where
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    let Accepted { socket, peer, tls } = accepted;
    let Ok(place) = place.await else { return };
    // Counted down also where the task is dropped.
    let mut open = Open {
        shared: Arc::clone(&shared),
        peer,
        cause: None,
    };
    shared.observer.opened(&peer);
    prepare(&socket, &shared.limits);
    let ended = match (tls, socket) {
        (Some(tls), Socket::Tcp(stream)) => {
            tls::converse(stream, tls, service, shared, stopped, place).await
        }
        (_, socket) => {
            Connection::new(socket, service, shared, stopped, place)
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
        // Answers are written whole; waiting for more would only delay them.
        let _ = stream.set_nodelay(true);
    }
    if let (Some(size), Some(descriptor)) = (limits.send_buffer_bytes, socket.descriptor()) {
        let _ = rustix::net::sockopt::set_socket_send_buffer_size(descriptor, size);
    }
}
