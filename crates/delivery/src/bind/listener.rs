//! A listening socket: TCP, TLS or UNIX.

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
use crate::{Peer, TrustedProxies, socket::Socket, tls::Tls};

/// Length of the kernel's queue of connections that are not accepted yet.
const BACKLOG: u32 = 1_024;

/// An address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {bind}")]
pub struct ListenError {
    /// The address.
    pub bind: Box<Bind>,
    /// The cause.
    pub source: io::Error,
}

/// Whether other sockets may listen on the same port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// This socket alone uses the port.
    #[default]
    Alone,
    /// Sets `SO_REUSEPORT`: the kernel distributes connections among all sockets that listen on the
    /// port.
    Port,
}

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    kind: Kind,
    tls: Option<Arc<Tls>>,
    file: Option<SocketFile>,
    queue: Option<SharedQueue>,
    proxies: Option<Arc<TrustedProxies>>,
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
    /// Proxies whose connections begin with a header of the PROXY protocol.
    pub(crate) proxies: Option<Arc<TrustedProxies>>,
}

impl Listener {
    /// Listens on `bind`. A host name or the service manager may yield several sockets. Must be
    /// called inside a tokio runtime, which the sockets are registered with.
    ///
    /// # Errors
    /// The address is taken or not permitted, or a certificate cannot be read.
    pub fn bind(bind: &Bind, sharing: Sharing) -> Result<Vec<Self>, ListenError> {
        open(bind, sharing).map_err(|source| ListenError {
            bind: Box::new(bind.clone()),
            source,
        })
    }

    /// Adopts a listening socket that another process has opened and passed with
    /// [`receive_fds`](super::receive_fds). `bind` is the address that it was opened for.
    ///
    /// # Errors
    /// The socket does not listen, or a certificate cannot be read.
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
            proxies: None,
        })
    }

    /// Expects a header of the PROXY protocol, version 2, at the beginning of each connection of
    /// `proxies`, before TLS. Other connections have none.
    pub fn expect_proxy_headers(&mut self, proxies: Arc<TrustedProxies>) {
        self.proxies = Some(proxies);
    }

    /// Shares the accept queue with other processes: accepts only when `policy` permits it, or
    /// after 4 ms in which no other process has accepted the connection.
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub fn share_accepts(&mut self, policy: Arc<dyn AcceptPolicy>) -> io::Result<()> {
        self.queue = Some(SharedQueue::new(
            self.as_fd().try_clone_to_owned()?,
            policy,
        )?);
        Ok(())
    }

    /// The network address; `None` for a UNIX socket.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.kind {
            Kind::Tcp(listener) => listener.local_addr().ok(),
            Kind::Unix(_) => None,
        }
    }

    /// Keeps the file of a UNIX socket when this listener is dropped, because another process
    /// listens on it.
    pub fn leave_file(&mut self) {
        if let Some(file) = self.file.take() {
            std::mem::forget(file);
        }
    }

    /// Another listening socket for `address`, which this one listens on too (`SO_REUSEPORT`).
    pub(crate) fn beside(&self, address: SocketAddr) -> io::Result<Self> {
        let only = rustix::net::sockopt::ipv6_v6only(self).unwrap_or(false);
        let family = if only { Family::V6 } else { Family::Any };
        Ok(Self {
            kind: Kind::Tcp(tcp(address, family, Sharing::Port)?),
            tls: self.tls.clone(),
            file: None,
            queue: None,
            proxies: self.proxies.clone(),
        })
    }

    /// A listener with the same configuration for another descriptor of the socket.
    pub(crate) fn again(&self, socket: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            proxies: self.proxies.clone(),
            ..Self::adopt(socket, self.tls.clone())?
        })
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
        Ok(Accepted {
            socket,
            peer,
            tls: self.tls.clone(),
            proxies: self.proxies.clone(),
        })
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
                    proxies: None,
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
        proxies: None,
    }])
}

/// Resolves a host. With port 0 only one address is returned: each would get a different port.
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
        let message = "the host name has no such address";
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, message));
    }
    Ok(found)
}

/// Listens on every address of the endpoint. A name may resolve to an address that this machine
/// does not have; one that works is enough.
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
