//! The way to the app: TCP, TLS where its address says `https`, and an upgrade of HTTP/1.1 (RFC
//! 9110, section 7.8).

use std::{fmt, io, sync::Arc, time::Duration};

use platen_outbound::{TlsRefusal, Trust};
use platen_runs::protocol::UPGRADE;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};
use ureq::http::Uri;

use super::super::{TLS_HINT, advice};
use crate::report::Failure;

/// How long all may take, from the first packet to the app's answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest answer.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// What an alert of TLS begins with (RFC 8446, section 5.1); no answer of HTTP does.
const ALERT: u8 = 21;

/// A connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Why there is no connection.
#[derive(Debug)]
pub enum Unconnected {
    /// The app does not take this worker.
    Refused(String),
    /// Somebody has to change something, on one side or the other.
    Mistaken {
        /// What is wrong.
        message: String,
        /// What helps.
        hint: &'static str,
    },
    /// It may be there later.
    Failed(io::Error),
}

impl From<io::Error> for Unconnected {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Where the app is, and who is trusted to be it.
pub struct App {
    /// Host and port.
    authority: String,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl fmt::Display for App {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        write!(formatter, "{scheme}://{}", self.authority)
    }
}

impl App {
    /// The app at an address.
    pub fn new(address: &str, trust: &Trust) -> Result<Self, Failure> {
        let (is_secure, host, port) = parts(address).ok_or_else(|| {
            let hint = "use https://HOST, https://HOST:PORT or http://HOST:PORT";
            Failure::caller(format!("`{address}` is not the URL of a service"), hint)
        })?;
        let authority = format!("{host}:{port}");
        if !is_secure {
            let tls = None;
            return Ok(Self { authority, tls });
        }
        // Brackets of IPv6 are no part of the name in a certificate.
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned());
        let name = name.map_err(|_| {
            let hint = "certificates are issued for DNS names and IP addresses";
            Failure::caller(format!("`{host}` is not a host name"), hint)
        })?;
        let config = trust.client_config();
        let config = config.map_err(|error| Failure::internal(&error))?;
        Ok(Self {
            authority,
            tls: Some((TlsConnector::from(Arc::new(config)), name)),
        })
    }

    /// A connection that speaks the workers' protocol. The token goes only to an app whose
    /// certificate was taken.
    pub async fn connect(&self, token: &str) -> Result<Box<dyn Stream>, Unconnected> {
        let connecting = async {
            let stream = self.greet().await?;
            self.ask(stream, token).await
        };
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
        connected.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    async fn greet(&self) -> Result<Box<dyn Stream>, Unconnected> {
        let stream = TcpStream::connect(&self.authority).await?;
        stream.set_nodelay(true)?;
        let Some((connector, name)) = &self.tls else {
            return Ok(Box::new(stream));
        };
        match connector.connect(name.clone(), stream).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(match TlsRefusal::within(&error) {
                Some(refusal) => Unconnected::Mistaken {
                    message: refusal.to_string(),
                    hint: advice(&refusal),
                },
                None => Unconnected::Failed(error),
            }),
        }
    }

    async fn ask(
        &self,
        mut stream: Box<dyn Stream>,
        token: &str,
    ) -> Result<Box<dyn Stream>, Unconnected> {
        let request = format!(
            "GET /workers/connection HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\n\
             Upgrade: {UPGRADE}\r\nAuthorization: Bearer {token}\r\n\r\n",
            self.authority
        );
        stream.write_all(request.as_bytes()).await?;
        stream.flush().await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() >= MAX_HEAD_BYTES {
                return Err(io::Error::from(io::ErrorKind::InvalidData).into());
            }
            // What follows the head belongs to the protocol.
            head.push(stream.read_u8().await?);
            if head == [ALERT] && self.tls.is_none() {
                let message = "the server speaks TLS on this port".to_owned();
                let hint = TLS_HINT;
                return Err(Unconnected::Mistaken { message, hint });
            }
        }
        let head = String::from_utf8_lossy(&head);
        let line = head.lines().next().unwrap_or_default();
        match line.split_whitespace().nth(1) {
            Some("101") => Ok(stream),
            Some("401" | "403" | "404") => Err(Unconnected::Refused(format!(
                "it answered `{line}`: does the token match its WORKER_TOKEN?"
            ))),
            _ => Err(io::Error::other(format!("it answered `{line}`")).into()),
        }
    }
}

/// Whether an address is one of TLS, its host and its port.
fn parts(address: &str) -> Option<(bool, String, u16)> {
    let uri = address.parse::<Uri>().ok()?;
    let (is_secure, usual) = match uri.scheme_str()? {
        "https" => (true, 443),
        "http" => (false, 80),
        _ => return None,
    };
    let host = uri.host().filter(|host| !host.is_empty())?;
    let plain = match uri.port_u16() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    // No user, no port that is none, and nothing after it.
    let is_whole = uri.authority()?.as_str() == plain && matches!(uri.path(), "" | "/");
    let port = uri.port_u16().unwrap_or(usual);
    (is_whole && uri.query().is_none()).then(|| (is_secure, host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let read = |text: &str| App::new(text, &Trust::default()).map(|app| app.to_string());
        for (text, known) in [
            ("http://localhost:3000/", "http://localhost:3000"),
            ("http://app.internal", "http://app.internal:80"),
            ("https://app.internal", "https://app.internal:443"),
            ("https://10.0.0.5:3443", "https://10.0.0.5:3443"),
            ("https://[::1]", "https://[::1]:443"),
        ] {
            assert_eq!(read(text).unwrap(), known);
        }
        for wrong in [
            "localhost:3000",
            "ftp://a",
            "http://",
            "https://",
            "http://a b",
            "http://a/\r\nX: y",
            "https://a/path",
            "https://a?b",
            "https://user@a",
            "https://a:99999",
            "https://-",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
