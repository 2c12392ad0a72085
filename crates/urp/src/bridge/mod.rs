//! A connection to LibreOffice: outgoing calls, incoming calls, references.
//!
//! One task reads; callers write. A reply carries no call id: it answers the newest pending call of
//! its thread. Concurrent calls therefore use separate thread ids.

mod connection;
mod object;
mod options;
mod read;
mod reference;
mod state;

use std::{path::Path, sync::Arc};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    sync::oneshot,
};

pub(crate) use self::object::object_exception;
use self::{connection::Inner, state::Broken};
pub use self::{
    object::{Boxed, Export, Incoming, Object, Outcome, runtime_exception},
    options::Options,
    reference::Reference,
};
use crate::Error;

/// A connection. Dropping it closes the connection.
pub struct Bridge {
    pub(crate) inner: Arc<Inner>,
}

impl Bridge {
    /// Connects to a pipe, that is, a UNIX domain socket.
    ///
    /// # Errors
    /// Nothing listens there, or the handshake fails.
    pub async fn connect_unix(path: &Path, options: Options) -> Result<Self, Error> {
        let connected = UnixStream::connect(path).await;
        let stream = connected.map_err(|source| Error::Connect {
            address: path.display().to_string(),
            source,
        })?;
        let (reader, writer) = stream.into_split();
        Self::start(Box::new(reader), Box::new(writer), options).await
    }

    /// Connects to a host and port.
    ///
    /// # Errors
    /// Nothing listens there, or the handshake fails.
    pub async fn connect_tcp(address: &str, options: Options) -> Result<Self, Error> {
        let connected = TcpStream::connect(address).await;
        let connected = connected.and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        let stream = connected.map_err(|source| Error::Connect {
            address: address.to_owned(),
            source,
        })?;
        let (reader, writer) = stream.into_split();
        Self::start(Box::new(reader), Box::new(writer), options).await
    }

    /// Performs the handshake over any byte stream.
    ///
    /// # Errors
    /// The handshake fails or times out.
    pub async fn start(
        reader: Box<dyn AsyncRead + Send + Unpin>,
        writer: Box<dyn AsyncWrite + Send + Unpin>,
        options: Options,
    ) -> Result<Self, Error> {
        let inner = Arc::new(Inner::new(writer, options));
        let bridge = Self {
            inner: Arc::clone(&inner),
        };
        let (ready, agreed) = oneshot::channel();
        // Only this task reads.
        tokio::spawn(read::run(inner, reader, ready));
        match tokio::time::timeout(options.handshake, agreed).await {
            Ok(Ok(())) => Ok(bridge),
            Ok(Err(_)) => Err(bridge.inner.failure()),
            Err(_) => Err(Error::Silent(options.handshake)),
        }
    }

    /// A reference to an object that is registered under a well-known name, such as
    /// `StarOffice.ComponentContext`.
    ///
    /// # Errors
    /// There is no such object, or the connection is broken.
    pub async fn initial(&self, name: &str, interface: &str) -> Result<Reference, Error> {
        // A well-known name resolves only in a query for `XInterface`.
        let named = Reference::initial(&self.inner, name);
        let object = named.query("com.sun.star.uno.XInterface").await?;
        object.query(interface).await
    }

    /// Makes an object callable by the peer until the export is dropped.
    ///
    /// # Errors
    /// The limit of exported objects is reached.
    pub fn export(&self, object: Arc<dyn Object>) -> Result<Export, Error> {
        object::export(&self.inner, object)
    }

    /// Whether the connection has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.state().broken.is_some()
    }

    /// Number of exported objects.
    #[must_use]
    pub fn exported(&self) -> usize {
        self.inner.state().exports.len()
    }

    /// Sends pending releases, which otherwise wait for the next call.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn flush(&self) -> Result<(), Error> {
        self.inner.flush().await
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.inner.end(Broken::Dropped);
    }
}
