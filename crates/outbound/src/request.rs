//! The HTTP client with its checks. It blocks the calling thread.

use std::{
    io::Read,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ureq::{
    Agent,
    http::{Method, Request, Uri},
    unversioned::{
        resolver::DefaultResolver,
        transport::{Connector, RustlsConnector},
    },
};

use crate::{
    HostPattern, UrlRules, error::Error, resolve::Guard, stop::stoppable, tcp::TcpConnector,
};

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
    /// Whether a longer body is cut there, and is no error: for who only needs the status.
    pub cuts_body: bool,
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
            cuts_body: false,
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
    cuts_body: bool,
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
        let connector = ().chain(TcpConnector).chain(RustlsConnector::default());
        let allowed = settings.allowed_hosts.iter();
        Self {
            agent: Agent::with_parts(config, connector, guard),
            allowed: allowed.map(|text| HostPattern::parse(text)).collect(),
            urls: settings.urls.clone(),
            max_bytes: settings.max_bytes,
            cuts_body: settings.cuts_body,
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
        let malformed = |error: &dyn std::fmt::Display| Error::Malformed(error.to_string());
        if let Err(error) = without_fragment(url).parse::<Uri>() {
            return Err(malformed(&format_args!("the URL: {error}")));
        }
        if !self.allows(url) {
            return Err(Error::NotAllowed(url.chars().take(200).collect()));
        }
        let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes())
            .map_err(|error| malformed(&error))?;
        let mut request = Request::builder()
            .method(method.clone())
            .uri(without_fragment(url));
        for (name, value) in headers {
            if is_reserved(name) {
                let shown = name.to_ascii_lowercase();
                let text = format!("the header `{shown}` is set by the client itself: omit it");
                return Err(Error::Malformed(text));
            }
            request = request.header(name, value);
        }
        let timeout = timeout.or(self.agent.config().timeouts().global);
        // Servers refuse what may have a body and says no length (411).
        let may_have_body = !matches!(method, Method::GET | Method::HEAD);
        let response = if body.is_empty() && !may_have_body {
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
            if !self.cuts_body {
                return Err(Error::TooLong(self.max_bytes));
            }
            bytes.truncate(self.max_bytes as usize);
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

#[cfg(test)]
mod tests;
