//! Connections over TCP, TLS and UNIX sockets.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    sync::{Arc, OnceLock},
    time::Duration,
};

use platen_outbound::Trust;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

/// A request that takes longer counts as failed.
const TIMEOUT: Duration = Duration::from_secs(180);

/// An open connection.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
    Unix(UnixStream),
}

impl Stream {
    pub(super) fn tcp(host: &str) -> io::Result<Self> {
        Ok(Self::Tcp(open(host)?))
    }

    /// Over TLS, with the authorities that the system trusts.
    pub(super) fn tls(host: &str) -> io::Result<Self> {
        let stream = open(host)?;
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let name = name
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let name = name.try_into().map_err(io::Error::other)?;
        let connection = ClientConnection::new(config()?, name).map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(StreamOwned::new(connection, stream))))
    }

    pub(super) fn unix(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(Self::Unix(stream))
    }
}

fn open(host: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn config() -> io::Result<Arc<ClientConfig>> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let config = Arc::new(Trust::default().client_config()?);
    Ok(Arc::clone(CONFIG.get_or_init(|| config)))
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buffer),
            Self::Tls(stream) => stream.write(buffer),
            Self::Unix(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tls(stream) => stream.flush(),
            Self::Tcp(_) | Self::Unix(_) => Ok(()),
        }
    }
}
