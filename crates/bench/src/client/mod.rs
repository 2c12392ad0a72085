//! A small HTTP/1.1 client with keep-alive (RFC 9112) over TCP and UNIX sockets, which adds little
//! cost to the load.

mod answer;

use std::{
    io::{self, BufReader, Read, Write},
    net::TcpStream,
    os::{linux::net::SocketAddrExt, unix::net::SocketAddr, unix::net::UnixStream},
    path::PathBuf,
    time::Duration,
};

pub use self::answer::Answer;
use crate::{Error, Outcome};

/// A request that takes longer counts as failed.
const TIMEOUT: Duration = Duration::from_secs(180);
const BUFFER_BYTES: usize = 64 << 10;

/// Address of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Host and port.
    Tcp(String),
    /// A UNIX socket in the file system.
    Unix(PathBuf),
    /// A UNIX socket in Linux's abstract namespace, without the leading zero byte.
    Abstract(String),
}

impl Target {
    /// Parses `http://host:port`, `unix:/path` or `unix:@name`.
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
        let rest = url.strip_prefix("http://");
        match rest.map(|rest| rest.trim_end_matches('/')) {
            Some(host) if host.contains(':') && !host.contains('/') => {
                Ok(Self::Tcp(host.to_owned()))
            }
            _ => Err(Error::argument(
                format!("`{url}` is not a URL"),
                "write it as http://127.0.0.1:3000 or unix:/run/platen.sock",
            )),
        }
    }

    /// Rejects other machines: the harness sends load only to the local machine.
    ///
    /// # Errors
    /// The address is not a loopback address.
    pub fn on_loopback(self) -> Result<Self, Error> {
        let Self::Tcp(host) = &self else {
            return Ok(self);
        };
        let name = host.rsplit_once(':').map_or("", |(name, _)| name);
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let is_local = name == "localhost"
            || name
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        if is_local {
            return Ok(self);
        }
        Err(Error::argument(
            format!("`{host}` is not this machine"),
            "load is sent only to this machine; use an address in 127.0.0.0/8 or ::1",
        ))
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
            Self::Tcp(host) => {
                let stream = TcpStream::connect(host)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                stream.set_nodelay(true)?;
                Stream::Tcp(stream)
            }
            Self::Unix(path) => unix(UnixStream::connect(path)?)?,
            Self::Abstract(name) => {
                let address = SocketAddr::from_abstract_name(name)?;
                unix(UnixStream::connect_addr(&address)?)?
            }
        })
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(host) => write!(formatter, "http://{host}"),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
            Self::Abstract(name) => write!(formatter, "unix:@{name}"),
        }
    }
}

fn unix(stream: UnixStream) -> io::Result<Stream> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(Stream::Unix(stream))
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buffer),
            Self::Unix(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A request that can be sent repeatedly.
#[derive(Clone, Debug)]
pub struct Request {
    bytes: Vec<u8>,
    what: String,
}

impl Request {
    /// Creates a request; `headers` are pairs of name and value.
    #[must_use]
    pub fn new(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Self {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
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
            what: format!("{method} {path}"),
        }
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
        let text: String = String::from_utf8_lossy(&body).chars().take(300).collect();
        Err(Error::answer(
            &self.what,
            format!("answered with {}: {text}", answer.status),
        ))
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
        stream.get_mut().write_all(&request.bytes)?;
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
        for wrong in ["127.0.0.1:80", "https://a:1", "http://a", "http://a:1/b"] {
            assert!(Target::parse(wrong).is_err(), "{wrong}");
        }
        assert!(tcp.on_loopback().is_ok());
        assert!(
            Target::parse("http://[::1]:80")
                .unwrap()
                .on_loopback()
                .is_ok()
        );
        assert!(
            Target::parse("http://10.0.0.1:80")
                .unwrap()
                .on_loopback()
                .is_err()
        );
    }
}
