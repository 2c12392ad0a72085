//! TLS: handshakes that negotiate HTTP/2 or HTTP/1.1 (ALPN, RFC 7301), and certificates that are
//! reloaded when their files change.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

use crate::{Error, connection::Protocol, shared::Shared, upgrade::Transport};

/// How often, at most, the certificate files are checked for changes: otherwise each connection
/// would cost two `stat` calls.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Upper limit for the size of a certificate or key file, far above that of any real one.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Inode, size and modification time of a file.
type Stamp = (u64, u64, i64, i64);

/// A certificate and its private key, reloaded when the files change.
#[derive(Debug)]
pub(crate) struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    config: Arc<ServerConfig>,
    stamps: [Stamp; 2],
    looked: Instant,
}

impl Tls {
    pub(crate) fn load(certificate: &Path, key: &Path) -> io::Result<Self> {
        let stamps = [stamp(certificate)?, stamp(key)?];
        let state = State {
            config: read(certificate, key)?,
            stamps,
            looked: Instant::now(),
        };
        Ok(Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            state: Mutex::new(state),
        })
    }

    /// The acceptor for the next connection. If the files have changed and cannot be used (they may
    /// be half written), the old certificate stays in use and the reason is returned as well.
    pub(crate) fn acceptor(&self) -> (TlsAcceptor, Option<io::Error>) {
        let mut state = self.state.lock();
        let mut failure = None;
        if state.looked.elapsed() >= POLL_INTERVAL {
            state.looked = Instant::now();
            failure = self.refresh(&mut state).err();
        }
        (TlsAcceptor::from(Arc::clone(&state.config)), failure)
    }

    fn refresh(&self, state: &mut State) -> io::Result<()> {
        let stamps = [stamp(&self.certificate)?, stamp(&self.key)?];
        if stamps != state.stamps {
            state.config = read(&self.certificate, &self.key)?;
            state.stamps = stamps;
        }
        Ok(())
    }
}

/// Completes the handshake, within the timeout of a request head. HTTP/2 is spoken only if the
/// client has negotiated it (RFC 9113, section 3.3).
pub(crate) async fn handshake(
    stream: Box<dyn Transport>,
    tls: &Tls,
    shared: &Shared,
) -> Result<(Box<dyn Transport>, Protocol), Error> {
    let (acceptor, failure) = tls.acceptor();
    if let Some(failure) = failure {
        shared.observer.certificate_not_read(&failure);
    }
    let stream = tokio::time::timeout(shared.limits.head_timeout, acceptor.accept(stream))
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))
        .flatten()
        .map_err(Error::Tls)?;
    let protocol = match stream.get_ref().1.alpn_protocol() {
        Some(b"h2") => Protocol::Http2,
        _ => Protocol::Http1,
    };
    Ok((Box::new(stream), protocol))
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    let found = fs::metadata(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    if found.len() > MAX_FILE_BYTES {
        return Err(invalid(path, "the file is too large"));
    }
    Ok((found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
}

fn invalid(path: &Path, cause: impl std::fmt::Display) -> io::Error {
    let message = format!("{}: {cause}", path.display());
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn read(certificate: &Path, key: &Path) -> io::Result<Arc<ServerConfig>> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| invalid(certificate, error))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| invalid(key, error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| invalid(certificate, error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
