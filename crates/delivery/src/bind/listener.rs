//! A socket that is listened on, of whatever kind.

use std::{
    fmt, io,
    net::{SocketAddr, ToSocketAddrs},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr as UnixAddress, UnixListener as StdUnixListener},
    },
    sync::Arc,
};

use tokio::net::{TcpListener, TcpSocket, UnixListener};

use super::{
    Bind, Endpoint, Family,
    inherited::{activated, is_unix},
    queue::{AcceptPolicy, SharedQueue},
    unix::{self, SocketFile},
};
use crate::{Peer, socket::Socket, tls::Tls};

/// Connections that wait in the kernel's queue.
const BACKLOG: u32 = 1_024;

/// Why an address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {bind}")]
pub struct ListenError {
    /// The address.
    pub bind: Box<Bind>,
    /// Why.
    pub source: io::Error,
}

/// Whether other sockets may listen on the same port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// The port is this socket's alone.
    #[default]
    Alone,
    /// `SO_REUSEPORT`: the kernel spreads connections over all that listen.
    Port,
}

/// A socket that is listened on.
#[derive(Debug)]
pub struct Listener {
    kind: Kind,
    tls: Option<Arc<Tls>>,
    file: Option<SocketFile>,
    queue: Option<SharedQueue>,
}

#[derive(Debug)]
enum Kind {
    Tcp(TcpListener),
    Unix(UnixListener),
}

pub(crate) struct Accepted {
    pub(crate) socket: Socket,
    pub(crate) peer: Peer,
    pub(crate) tls: Option<Arc<Tls>>,
}

impl Listener {
    /// Listens on `bind`; a name or the service manager may stand for several sockets. It must be
    /// called inside a runtime, whose the sockets are from then on.
    ///
    /// # Errors
    /// Where the address is taken or may not be used, or a certificate cannot be read.
    pub fn bind(bind: &Bind, sharing: Sharing) -> Result<Vec<Self>, ListenError> {
        open(bind, sharing).map_err(|source| ListenError {
            bind: Box::new(bind.clone()),
            source,
        })
    }

    /// Listens with a socket that another process has opened, and given with
    /// [`receive_fds`](super::receive_fds); `bind` is what it was opened for.
    ///
    /// # Errors
    /// Where it is not listened on, or a certificate cannot be read.
    pub fn from_socket(socket: OwnedFd, bind: &Bind) -> Result<Self, ListenError> {
        let tls = tls_of(bind).and_then(|tls| Self::adopt(socket, tls));
        tls.map_err(|source| ListenError {
            bind: Box::new(bind.clone()),
            source,
        })
    }

    fn adopt(socket: OwnedFd, tls: Option<Arc<Tls>>) -> io::Result<Self> {
        let kind = if is_unix(socket.as_fd())? {
            let listener = StdUnixListener::from(socket);
            listener.set_nonblocking(true)?;
            Kind::Unix(UnixListener::from_std(listener)?)
        } else {
            let listener = std::net::TcpListener::from(socket);
            listener.set_nonblocking(true)?;
            Kind::Tcp(TcpListener::from_std(listener)?)
        };
        Ok(Self {
            kind,
            tls,
            file: None,
            queue: None,
        })
    }

    /// Accepts connections only when `policy` allows it, or after some milliseconds in which no
    /// other process accepted them: several processes share the queue.
    ///
    /// # Errors
    /// Where the system has no room for another descriptor.
    pub fn share_accepts(&mut self, policy: Arc<dyn AcceptPolicy>) -> io::Result<()> {
        self.queue = Some(SharedQueue::new(
            self.as_fd().try_clone_to_owned()?,
            policy,
        )?);
        Ok(())
    }

    /// Its address, where it has one in the network.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.kind {
            Kind::Tcp(listener) => listener.local_addr().ok(),
            Kind::Unix(_) => None,
        }
    }

    /// Leaves the file of a UNIX socket where it is when this listener ends, because another
    /// process listens on.
    pub fn leave_file(&mut self) {
        if let Some(file) = self.file.take() {
            std::mem::forget(file);
        }
    }

    /// Another socket for `address`, which this one listens on too.
    pub(crate) fn beside(&self, address: SocketAddr) -> io::Result<Self> {
        let only = rustix::net::sockopt::ipv6_v6only(self).unwrap_or(false);
        let family = if only { Family::V6 } else { Family::Any };
        Ok(Self {
            kind: Kind::Tcp(tcp(address, family, Sharing::Port)?),
            tls: self.tls.clone(),
            file: None,
            queue: None,
        })
    }

    /// The same with another descriptor.
    pub(crate) fn again(&self, socket: OwnedFd) -> io::Result<Self> {
        Self::adopt(socket, self.tls.clone())
    }

    pub(crate) async fn accept(&self) -> io::Result<Accepted> {
        let (socket, peer) = match (&self.queue, &self.kind) {
            (Some(queue), _) => queue.accept().await?,
            (None, Kind::Tcp(listener)) => {
                let (stream, peer) = listener.accept().await?;
                (Socket::Tcp(stream), Peer::Tcp(peer))
            }
            (None, Kind::Unix(listener)) => (Socket::Unix(listener.accept().await?.0), Peer::Unix),
        };
        let tls = self.tls.clone();
        Ok(Accepted { socket, peer, tls })
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls.is_some() { "tls://" } else { "" };
        match &self.kind {
            Kind::Tcp(listener) => match listener.local_addr() {
                Ok(address) => write!(f, "{scheme}{address}"),
                Err(_) => f.write_str("tcp"),
            },
            Kind::Unix(listener) => {
                let address = listener.local_addr().ok();
                let path = address.as_ref().and_then(|address| address.as_pathname());
                let name = address
                    .as_ref()
                    .and_then(|address| address.as_abstract_name());
                match (path, name) {
                    (Some(path), _) => write!(f, "unix://{}", path.display()),
                    (_, Some(name)) => write!(f, "unix://@{}", name.escape_ascii()),
                    _ => f.write_str("unix"),
                }
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.kind {
            Kind::Tcp(listener) => listener.as_fd(),
            Kind::Unix(listener) => listener.as_fd(),
        }
    }
}

fn tls_of(bind: &Bind) -> io::Result<Option<Arc<Tls>>> {
    match bind {
        Bind::Tls {
            certificate, key, ..
        } => Tls::load(certificate, key).map(|tls| Some(Arc::new(tls))),
        _ => Ok(None),
    }
}

fn open(bind: &Bind, sharing: Sharing) -> io::Result<Vec<Listener>> {
    let tls = tls_of(bind)?;
    let (listener, file) = match bind {
        Bind::Tcp(endpoint) | Bind::Tls { endpoint, .. } => {
            let made = all_tcp(endpoint, sharing)?
                .into_iter()
                .map(|listener| Listener {
                    kind: Kind::Tcp(listener),
                    tls: tls.clone(),
                    file: None,
                    queue: None,
                });
            return Ok(made.collect());
        }
        Bind::Activated(name) => {
            let sockets = activated(name.as_deref())?;
            let adopt = |socket| Listener::adopt(socket, None);
            return sockets.into_iter().map(adopt).collect();
        }
        Bind::Unix { path, mode } => {
            let (listener, file) = unix::bind(path, *mode)?;
            (listener, Some(file))
        }
        Bind::Abstract(name) => {
            let address = UnixAddress::from_abstract_name(name)?;
            (StdUnixListener::bind_addr(&address)?, None)
        }
    };
    listener.set_nonblocking(true)?;
    Ok(vec![Listener {
        kind: Kind::Unix(UnixListener::from_std(listener)?),
        tls,
        file,
        queue: None,
    }])
}

/// What a host stands for. A port of the kernel's choice can be had for one address only.
fn addresses(endpoint: &Endpoint) -> io::Result<Vec<SocketAddr>> {
    let mut found: Vec<SocketAddr> = Vec::new();
    for address in (endpoint.host.as_str(), endpoint.port).to_socket_addrs()? {
        let fits = match endpoint.family {
            Family::Any => true,
            Family::V4 => address.is_ipv4(),
            Family::V6 => address.is_ipv6(),
        };
        if fits && !found.contains(&address) {
            found.push(address);
        }
    }
    if endpoint.port == 0 {
        found.truncate(1);
    }
    if found.is_empty() {
        let message = "the host has no such address";
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, message));
    }
    Ok(found)
}

/// A name may stand for an address that this machine does not have; one is enough.
fn all_tcp(endpoint: &Endpoint, sharing: Sharing) -> io::Result<Vec<TcpListener>> {
    let mut listeners = Vec::new();
    let mut missing = None;
    for address in addresses(endpoint)? {
        match tcp(address, endpoint.family, sharing) {
            Ok(listener) => listeners.push(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => missing = Some(error),
            Err(error) => return Err(error),
        }
    }
    match missing {
        Some(error) if listeners.is_empty() => Err(error),
        _ => Ok(listeners),
    }
}

fn tcp(address: SocketAddr, family: Family, sharing: Sharing) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    if family == Family::V6 {
        rustix::net::sockopt::set_ipv6_v6only(&socket, true)?;
    }
    socket.set_reuseaddr(true)?;
    if sharing == Sharing::Port {
        socket.set_reuseport(true)?;
    }
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
