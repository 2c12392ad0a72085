//! The HTTP client with its checks. It blocks the calling thread.

use std::{
    io::{self, Read},
    net::{SocketAddr, ToSocketAddrs},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ureq::{
    Agent,
    config::Config as AgentConfig,
    http::{Method, Request, Uri},
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::{Connector, NextTimeout, RustlsConnector, TcpConnector},
    },
};

use crate::{
    HostPattern, UrlRules,
    error::Error,
    is_public,
    stop::{StopConnector, stoppable},
};

/// Number of addresses of a name that are tried before the request fails.
const MAX_ADDRESSES: usize = 8;

/// Which hosts may be reached, and limits on the response.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `example.com`, `*.example.com`, either with `:port`. If empty, no host can be reached.
    pub allowed_hosts: Vec<String>,
    /// URLs that may be reached beside these hosts, and URLs that may not.
    pub urls: UrlRules,
    /// Whether loopback and private addresses may be reached too.
    pub allow_private_addresses: bool,
    /// Timeout of a request.
    pub timeout: Duration,
    /// Maximum size of a response body, in bytes.
    pub max_bytes: u64,
    /// Idle connections kept for reuse.
    pub max_idle_connections: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            urls: UrlRules::default(),
            allow_private_addresses: false,
            timeout: Duration::from_secs(30),
            max_bytes: 10 << 20,
            max_idle_connections: 16,
        }
    }
}

/// A response.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status code.
    pub status: u16,
    /// Headers; those whose values are not text are omitted.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
}

/// How long the caller waits for a response.
#[derive(Clone, Debug, Default)]
pub struct RequestLimits {
    /// Timeout of this request; that of [`Settings`] if `None`.
    pub timeout: Option<Duration>,
    /// The caller sets this to true to cancel the request.
    pub stop: Option<Arc<AtomicBool>>,
}

/// An HTTP client that enforces the allow-list, with its connection pool.
#[derive(Debug)]
pub struct Outbound {
    agent: Agent,
    allowed: Vec<HostPattern>,
    urls: UrlRules,
    max_bytes: u64,
}

impl Outbound {
    /// Creates a client with `settings`.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(settings.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(settings.max_idle_connections)
            .max_idle_age(Duration::from_secs(5))
            .proxy(None)
            .user_agent("platen")
            .allow_non_standard_methods(true)
            .build();
        let guard = Guard {
            resolver: DefaultResolver::default(),
            allow_private: settings.allow_private_addresses,
        };
        let connector =
            ().chain(TcpConnector::default())
                .chain(StopConnector)
                .chain(RustlsConnector::default());
        let allowed = settings.allowed_hosts.iter();
        Self {
            agent: Agent::with_parts(config, connector, guard),
            allowed: allowed.map(|text| HostPattern::parse(text)).collect(),
            urls: settings.urls.clone(),
            max_bytes: settings.max_bytes,
        }
    }

    /// Whether the allow-list contains the host of a URL, or an expression allows the URL, and none
    /// denies it.
    #[must_use]
    pub fn allows(&self, url: &str) -> bool {
        let Ok(uri) = without_fragment(url).parse::<Uri>() else {
            return false;
        };
        let default = match uri.scheme_str() {
            Some("http") => 80,
            Some("https") => 443,
            _ => return false,
        };
        let Some(host) = uri.host() else { return false };
        let port = uri.port_u16().unwrap_or(default);
        let host = host.to_ascii_lowercase();
        let mut hosts = self.allowed.iter();
        let is_listed = hosts.any(|pattern| pattern.matches(&host, port));
        self.urls.allows(&uri, is_listed)
    }

    /// Sends a request and reads the response.
    ///
    /// # Errors
    /// [`Error::NotAllowed`] before anything is sent; otherwise as documented there.
    pub fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Answer, Error> {
        self.send_within(method, url, headers, body, &RequestLimits::default())
    }

    /// Like [`Outbound::send`], within `limits`.
    ///
    /// # Errors
    /// Those of [`Outbound::send`], and [`Error::Stopped`].
    pub fn send_within(
        &self,
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: &[u8],
        limits: &RequestLimits,
    ) -> Result<Answer, Error> {
        let stop = limits.stop.as_ref();
        let send = || self.exchange(method, url, headers, body, limits.timeout);
        stoppable(stop, send).map_err(|error| match (error, stop) {
            (Error::Failed(_), Some(stop)) if stop.load(Ordering::Relaxed) => Error::Stopped,
            (error, _) => error,
        })
    }

    fn exchange(
        &self,
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: &[u8],
        timeout: Option<Duration>,
    ) -> Result<Answer, Error> {
        if !self.allows(url) {
            return Err(Error::NotAllowed(url.chars().take(200).collect()));
        }
        let malformed = |error: &dyn std::fmt::Display| Error::Malformed(error.to_string());
        let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes())
            .map_err(|error| malformed(&error))?;
        let mut request = Request::builder().method(method).uri(without_fragment(url));
        for (name, value) in headers {
            if is_reserved(name) {
                let shown = name.to_ascii_lowercase();
                let text = format!("the header `{shown}` is set by the client itself: omit it");
                return Err(Error::Malformed(text));
            }
            request = request.header(name, value);
        }
        let timeout = timeout.or(self.agent.config().timeouts().global);
        let response = if body.is_empty() {
            let request = request.body(()).map_err(|error| malformed(&error))?;
            let request = self.agent.configure_request(request);
            self.agent.run(request.timeout_global(timeout).build())?
        } else {
            let request = request.body(body).map_err(|error| malformed(&error))?;
            let request = self.agent.configure_request(request);
            self.agent.run(request.timeout_global(timeout).build())?
        };
        let (parts, body) = response.into_parts();
        let headers = parts.headers.iter().filter_map(|(name, value)| {
            let value = value.to_str().ok()?;
            Some((name.as_str().to_owned(), value.to_owned()))
        });
        let headers = headers.collect();
        let mut bytes = Vec::new();
        let mut reader = body.into_reader().take(self.max_bytes + 1);
        reader
            .read_to_end(&mut bytes)
            .map_err(|error| Error::Failed(error.into()))?;
        if bytes.len() as u64 > self.max_bytes {
            return Err(Error::TooLong(self.max_bytes));
        }
        Ok(Answer {
            status: parts.status.as_u16(),
            headers,
            body: bytes,
        })
    }
}

/// Headers that determine the host and the framing of a message. A caller who could set them would
/// reach other hosts behind an allowed address, or smuggle a second request.
const RESERVED: [&str; 9] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether only the client itself may set a header (RFC 9110, sections 7.2 and 7.6.1).
#[must_use]
pub fn is_reserved(header: &str) -> bool {
    RESERVED
        .iter()
        .any(|name| header.trim().eq_ignore_ascii_case(name))
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

/// A resolver that returns only permitted addresses.
#[derive(Debug, Default)]
struct Guard {
    resolver: DefaultResolver,
    allow_private: bool,
}

impl Resolver for Guard {
    fn resolve(
        &self,
        uri: &Uri,
        _: &AgentConfig,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(ureq::Error::HostNotFound);
        };
        let name = DefaultResolver::host_and_port(scheme, authority);
        let addresses = name.ok_or(ureq::Error::HostNotFound)?.to_socket_addrs()?;
        let addresses: Vec<SocketAddr> = addresses.collect();
        let mut allowed = self.resolver.empty();
        let may_be_reached = |address: &&SocketAddr| self.allow_private || is_public(address.ip());
        for address in addresses.iter().filter(may_be_reached).take(MAX_ADDRESSES) {
            allowed.push(*address);
        }
        match (allowed.is_empty(), addresses.is_empty()) {
            (false, _) => Ok(allowed),
            (true, true) => Err(ureq::Error::HostNotFound),
            (true, false) => {
                let kind = io::ErrorKind::PermissionDenied;
                Err(io::Error::new(kind, "the address of the host is private").into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, net::TcpListener};

    use super::*;

    /// A server that answers one request with its request line. The thread returns the number of
    /// requests.
    fn server() -> (u16, std::thread::JoinHandle<usize>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let served = std::thread::spawn(move || {
            let Ok((mut stream, _)) = listener.accept() else {
                return 0;
            };
            let mut request = [0; 2048];
            let read = stream.read(&mut request).unwrap_or_default();
            if read == 0 {
                return 0;
            }
            let line = String::from_utf8_lossy(&request[..read]);
            let line = line.lines().next().unwrap_or_default();
            let head = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n";
            let answer = format!("{head}content-length: {}\r\n\r\n{line}", line.len());
            let _ = stream.write_all(answer.as_bytes());
            1
        });
        (port, served)
    }

    #[test]
    fn allowed_hosts_are_reached_and_redirects_are_answers() {
        let (port, served) = server();
        let client = Outbound::new(&Settings {
            allowed_hosts: vec![format!("127.0.0.1:{port}")],
            allow_private_addresses: true,
            ..Settings::default()
        });
        let url = format!("http://127.0.0.1:{port}/a#b");
        let answer = client.send("post", &url, &[], b"x").expect("an answer");
        assert_eq!(answer.status, 302);
        assert_eq!(answer.body, b"POST /a HTTP/1.1");
        assert_eq!(served.join().ok(), Some(1));
    }

    #[test]
    fn nothing_else_is_reached() {
        let (port, served) = server();
        let url = format!("http://localhost:{port}/");
        let none = Outbound::new(&Settings::default());
        assert!(matches!(
            none.send("GET", &url, &[], b""),
            Err(Error::NotAllowed(_))
        ));
        // The name is allowed, but its address is not public.
        let named = Outbound::new(&Settings {
            allowed_hosts: vec![format!("localhost:{port}")],
            ..Settings::default()
        });
        assert!(matches!(
            named.send("GET", &url, &[], b""),
            Err(Error::Failed(_))
        ));
        // Ends the server, which no request has reached.
        drop(std::net::TcpStream::connect(("127.0.0.1", port)));
        assert_eq!(served.join().ok(), Some(0));
    }

    struct Silent {
        url: String,
        client: Outbound,
        /// Receives when the request has arrived.
        asked: std::sync::mpsc::Receiver<()>,
        served: std::thread::JoinHandle<()>,
    }

    /// A server that accepts one connection and stays silent as long as the client waits.
    fn silent() -> Silent {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let host = listener.local_addr().expect("an address").to_string();
        let (sender, asked) = std::sync::mpsc::channel();
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let _ = stream.read(&mut [0; 1024]);
            let _ = sender.send(());
            let mut all = Vec::new();
            let _ = stream.read_to_end(&mut all);
        });
        let client = Outbound::new(&Settings {
            allowed_hosts: vec![host.clone()],
            allow_private_addresses: true,
            timeout: Duration::from_secs(600),
            ..Settings::default()
        });
        Silent {
            url: format!("http://{host}/"),
            client,
            asked,
            served,
        }
    }

    #[test]
    fn a_request_that_is_given_up_ends() {
        let Silent {
            url,
            client,
            asked,
            served,
        } = silent();
        let limits = RequestLimits {
            stop: Some(Arc::default()),
            ..RequestLimits::default()
        };
        let stop = limits.stop.clone().unwrap_or_default();
        let sent = std::thread::scope(|scope| {
            let sending = scope.spawn(|| client.send_within("GET", &url, &[], b"", &limits));
            asked.recv().expect("a request");
            stop.store(true, Ordering::Relaxed);
            sending.join().expect("it does not panic")
        });
        assert!(matches!(sent, Err(Error::Stopped)), "{sent:?}");
        // The other side notices the end of the connection.
        served.join().expect("it ends");
        let again = client.send_within("GET", &url, &[], b"", &limits);
        assert!(matches!(again, Err(Error::Stopped)), "{again:?}");
    }

    #[test]
    fn a_request_ends_at_its_own_time() {
        let Silent {
            url,
            client,
            served,
            ..
        } = silent();
        let limits = RequestLimits {
            timeout: Some(Duration::from_millis(120)),
            ..RequestLimits::default()
        };
        let sent = client.send_within("GET", &url, &[], b"", &limits);
        let is_late = matches!(sent, Err(Error::Failed(ureq::Error::Timeout(_))));
        assert!(is_late, "{sent:?}");
        served.join().expect("it ends");
    }

    #[test]
    fn headers_of_the_client_itself_cannot_be_set() {
        let (port, served) = server();
        let client = Outbound::new(&Settings {
            allowed_hosts: vec![format!("127.0.0.1:{port}")],
            allow_private_addresses: true,
            ..Settings::default()
        });
        let url = format!("http://127.0.0.1:{port}/");
        for name in ["Host", "content-length", "Transfer-Encoding", "CONNECTION"] {
            let header = [(name.to_owned(), "0".to_owned())];
            let sent = client.send("POST", &url, &header, b"body");
            assert!(matches!(sent, Err(Error::Malformed(_))), "{name}: {sent:?}");
        }
        // Ends the server, which no request has reached.
        drop(std::net::TcpStream::connect(("127.0.0.1", port)));
        assert_eq!(served.join().ok(), Some(0));
    }

    #[test]
    fn malformed_requests_are_named() {
        let client = Outbound::new(&Settings {
            allowed_hosts: vec!["example.com".to_owned()],
            ..Settings::default()
        });
        let header = [("a b".to_owned(), "c".to_owned())];
        let sent = client.send("GET", "http://example.com/", &header, b"");
        assert!(matches!(sent, Err(Error::Malformed(_))), "{sent:?}");
        assert!(!client.allows("ftp://example.com/"));
        assert!(!client.allows("http://example.com.evil.test/"));
    }
}
