//! A small HTTP/1.1 client with keep-alive (RFC 9112) over TCP and UNIX sockets, which adds little
//! cost to the load.

mod answer;
mod stream;

use std::{
    borrow::Cow,
    io::{self, BufReader, Write},
    os::{linux::net::SocketAddrExt, unix::net::SocketAddr, unix::net::UnixStream},
    path::PathBuf,
};

pub use self::answer::Answer;
use self::stream::Stream;
use crate::{Error, Outcome};

const BUFFER_BYTES: usize = 64 << 10;
/// The host of services on this machine.
const LOCALHOST: &str = "localhost";

/// Address of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Host and port.
    Tcp(String),
    /// Host and port, over TLS.
    Tls(String),
    /// A UNIX socket in the file system.
    Unix(PathBuf),
    /// A UNIX socket in Linux's abstract namespace, without the leading zero byte.
    Abstract(String),
}

impl Target {
    /// Parses `http://host:port`, `https://host`, `unix:/path` or `unix:@name`.
    ///
    /// # Errors
    /// The URL has another form.
    pub fn parse(url: &str) -> Result<Self, Error> {
        if let Some(name) = url.strip_prefix("unix:@") {
            return Ok(Self::Abstract(name.to_owned()));
        }
        if let Some(path) = url.strip_prefix("unix:") {
            return Ok(Self::Unix(path.into()));
        }
        for (scheme, port) in [("http://", 80), ("https://", 443)] {
            let Some(host) = url.strip_prefix(scheme) else {
                continue;
            };
            let host = host.trim_end_matches('/');
            let is_host = !host.is_empty() && !host.contains(['/', '@', '?', ' ']);
            if is_host {
                let has_port = host
                    .rsplit_once(':')
                    .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
                let host = match has_port {
                    true => host.to_owned(),
                    false => format!("{host}:{port}"),
                };
                return Ok(match port {
                    443 => Self::Tls(host),
                    _ => Self::Tcp(host),
                });
            }
        }
        Err(Error::argument(
            format!("`{url}` is not a URL"),
            "write it as http://127.0.0.1:3000, https://platen.example.com or \
             unix:/run/platen.sock, without a path",
        ))
    }

    /// Host and port of a TCP address.
    fn host(&self) -> Option<&str> {
        match self {
            Self::Tcp(host) | Self::Tls(host) => Some(host),
            Self::Unix(_) | Self::Abstract(_) => None,
        }
    }

    /// Whether it is on this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let Some(host) = self.host() else {
            return true;
        };
        let name = host.rsplit_once(':').map_or("", |(name, _)| name);
        let name = name.trim_start_matches('[').trim_end_matches(']');
        name == "localhost"
            || name
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }

    /// Rejects other machines.
    ///
    /// # Errors
    /// The address is not a loopback address.
    pub(crate) fn on_this_machine(self) -> Result<Self, Error> {
        match self.is_local() {
            true => Ok(self),
            false => Err(Error::argument(
                format!("{self} is not this machine"),
                "wrk sends as many requests as it can: use an address in 127.0.0.0/8 or ::1",
            )),
        }
    }

    /// Connects.
    ///
    /// # Errors
    /// Nothing listens at the address.
    pub fn connect(&self) -> Result<Connection, Error> {
        let failed =
            |error: io::Error| Error::program(self.to_string(), format!("cannot connect: {error}"));
        let stream = self.open().map_err(failed)?;
        Ok(Connection {
            target: self.clone(),
            stream: Some(BufReader::with_capacity(BUFFER_BYTES, stream)),
        })
    }

    fn open(&self) -> io::Result<Stream> {
        Ok(match self {
            Self::Tcp(host) => Stream::tcp(host)?,
            Self::Tls(host) => Stream::tls(host)?,
            Self::Unix(path) => Stream::unix(UnixStream::connect(path)?)?,
            Self::Abstract(name) => {
                let address = SocketAddr::from_abstract_name(name)?;
                Stream::unix(UnixStream::connect_addr(&address)?)?
            }
        })
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(host) => write!(formatter, "http://{host}"),
            Self::Tls(host) => write!(formatter, "https://{host}"),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
            Self::Abstract(name) => write!(formatter, "unix:@{name}"),
        }
    }
}

/// A request that can be sent repeatedly.
#[derive(Clone, Debug)]
pub struct Request {
    bytes: Vec<u8>,
    /// Where the name of the host is in `bytes`.
    host_at: usize,
    what: String,
}

impl Request {
    /// Creates a request; `headers` are pairs of name and value.
    #[must_use]
    pub fn new(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Self {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: ");
        let host_at = head.len();
        head.push_str(LOCALHOST);
        head.push_str("\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() || method != "GET" {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        Self {
            bytes,
            host_at,
            what: format!("{method} {path}"),
        }
    }

    /// The bytes that are sent; other machines get their own name in `Host`.
    fn bytes_for(&self, host: Option<&str>) -> Cow<'_, [u8]> {
        let Some(host) = host else {
            return Cow::Borrowed(&self.bytes);
        };
        let at = self.host_at;
        let before = &self.bytes[..at];
        let after = &self.bytes[at + LOCALHOST.len()..];
        Cow::Owned([before, host.as_bytes(), after].concat())
    }

    /// A GET request.
    #[must_use]
    pub fn get(path: &str) -> Self {
        Self::new("GET", path, &[], &[])
    }

    /// A request with JSON, and an API key if the service requires one.
    #[must_use]
    pub fn json(method: &str, path: &str, key: Option<&str>, body: &[u8]) -> Self {
        let mut headers = vec![("Content-Type", "application/json")];
        headers.extend(key.map(|key| ("X-Api-Key", key)));
        Self::new(method, path, &headers, body)
    }

    /// Sends the request on a new connection and reads the whole response.
    ///
    /// # Errors
    /// There is no response.
    pub fn fetch(&self, target: &Target) -> Result<(Answer, Vec<u8>), Error> {
        let mut connection = target.connect()?;
        let mut body = Vec::new();
        let answer = connection.exchange(self, Some(&mut body));
        let answer = answer.map_err(|error| Error::answer(&self.what, error.to_string()))?;
        Ok((answer, body))
    }

    /// Like [`Request::fetch`], but only for responses with one of these statuses.
    ///
    /// # Errors
    /// There is no response, or it has another status.
    pub fn expect(&self, target: &Target, statuses: &[u16]) -> Result<Vec<u8>, Error> {
        let (answer, body) = self.fetch(target)?;
        if statuses.contains(&answer.status) {
            return Ok(body);
        }
        Err(Error::Refused {
            what: self.what.clone(),
            status: answer.status,
            body: String::from_utf8_lossy(&body).chars().take(300).collect(),
        })
    }
}

/// A keep-alive connection, opened anew if the service has closed it.
#[derive(Debug)]
pub struct Connection {
    target: Target,
    stream: Option<BufReader<Stream>>,
}

impl Connection {
    /// Sends a request and reads the response; its body into `body`, if given.
    ///
    /// # Errors
    /// The connection fails, or the response is not HTTP.
    pub fn exchange(
        &mut self,
        request: &Request,
        body: Option<&mut Vec<u8>>,
    ) -> io::Result<Answer> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::with_capacity(BUFFER_BYTES, self.target.open()?),
        };
        let host = self.target.host().filter(|_| !self.target.is_local());
        stream.get_mut().write_all(&request.bytes_for(host))?;
        stream.get_mut().flush()?;
        let answer = Answer::read(&mut stream, body)?;
        if !answer.closes {
            self.stream = Some(stream);
        }
        Ok(answer)
    }

    /// Sends a request. Successful with status 200.
    pub fn send(&mut self, request: &Request) -> Outcome {
        match self.exchange(request, None) {
            Ok(answer) => answer.outcome(),
            Err(_) => Outcome::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let tcp = Target::parse("http://127.0.0.1:80/").unwrap();
        assert_eq!(tcp, Target::Tcp("127.0.0.1:80".to_owned()));
        assert_eq!(
            Target::parse("unix:@a").unwrap(),
            Target::Abstract("a".to_owned())
        );
        assert_eq!(Target::parse("unix:/a").unwrap().to_string(), "unix:/a");
        let tls = Target::parse("https://a.example/").unwrap();
        assert_eq!(tls, Target::Tls("a.example:443".to_owned()));
        for wrong in ["127.0.0.1:80", "http://", "http://a:1/b", "http://me@a"] {
            assert!(Target::parse(wrong).is_err(), "{wrong}");
        }
        assert!(tcp.is_local() && Target::parse("http://[::1]:80").unwrap().is_local());
        for far in [
            "http://10.0.0.1:80",
            "http://localhost.example",
            "https://[2001:db8::1]",
        ] {
            assert!(!Target::parse(far).unwrap().is_local(), "{far}");
        }
    }

    #[test]
    fn other_machines_get_their_own_name() {
        let request = Request::json("POST", "/x", None, b"{}");
        let text = |host| String::from_utf8(request.bytes_for(host).into_owned()).unwrap();
        assert!(text(None).starts_with("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-"));
        let there = text(Some("a.example:443"));
        assert!(there.starts_with("POST /x HTTP/1.1\r\nHost: a.example:443\r\nContent-"));
        assert!(there.ends_with("\r\n\r\n{}"));
    }
}
