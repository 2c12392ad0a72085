//! What pages may load from allowed hosts is loaded here, not by Chromium, so that the address
//! that was checked is the very address that is connected to.

use std::{
    io::Read,
    net::{SocketAddr, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use tokio::sync::Semaphore;
use ureq::{
    Agent,
    config::Config as AgentConfig,
    http::Uri,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::{DefaultConnector, NextTimeout},
    },
};

use crate::{
    address::{HostPattern, is_public},
    config::Config,
};

/// Answers loaded at once, all pages together.
const AT_ONCE: usize = 16;
/// Headers of an answer that Chromium is told; it needs no others.
const PASSED: [&str; 7] = [
    "content-type",
    "location",
    "access-control-allow-origin",
    "access-control-allow-credentials",
    "content-language",
    "content-disposition",
    "last-modified",
];

/// An answer of an allowed host.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// The way outside.
#[derive(Debug)]
pub(crate) struct Outside {
    agent: Agent,
    allowed: Vec<HostPattern>,
    max_bytes: u64,
    at_once: Arc<Semaphore>,
}

/// Gives only addresses that may be reached.
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
        let mut allowed = self.resolver.empty();
        let may_be_reached = |address: &SocketAddr| self.allow_private || is_public(address.ip());
        for address in addresses.filter(may_be_reached).take(8) {
            allowed.push(address);
        }
        if allowed.is_empty() {
            return Err(ureq::Error::HostNotFound);
        }
        Ok(allowed)
    }
}

impl Outside {
    pub(crate) fn new(config: &Config) -> Self {
        let settings = Agent::config_builder()
            .timeout_global(Some(config.response_timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(AT_ONCE)
            .max_idle_age(Duration::from_secs(5))
            .proxy(None)
            .user_agent("platen")
            .build();
        let guard = Guard {
            resolver: DefaultResolver::default(),
            allow_private: config.allow_private_addresses,
        };
        let agent = Agent::with_parts(settings, DefaultConnector::default(), guard);
        let allowed = config.allowed_hosts.iter();
        Self {
            agent,
            allowed: allowed.map(|text| HostPattern::parse(text)).collect(),
            max_bytes: config.max_response_bytes,
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Whether the allow-list has the host of an address.
    pub(crate) fn allows(&self, url: &str) -> bool {
        let Ok(uri) = url.split('#').next().unwrap_or(url).parse::<Uri>() else {
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
        self.allowed
            .iter()
            .any(|pattern| pattern.matches(&host, port))
    }

    /// Loads from an allowed host. Redirects are answers: Chromium asks again, and the next
    /// address is checked as the first was.
    pub(crate) async fn load(
        self: &Arc<Self>,
        url: String,
        headers: Vec<(String, String)>,
    ) -> Result<Answer, String> {
        if !self.allows(&url) {
            return Err("not in the allow-list".to_owned());
        }
        let permit = Arc::clone(&self.at_once).acquire_owned().await;
        let outside = Arc::clone(self);
        let loading = tokio::task::spawn_blocking(move || {
            let answer = outside.load_now(&url, &headers);
            drop(permit);
            answer
        });
        let answer = loading.await.map_err(|error| error.to_string())?;
        answer.map_err(|error| error.to_string())
    }

    fn load_now(&self, url: &str, headers: &[(String, String)]) -> Result<Answer, ureq::Error> {
        let url = url.split('#').next().unwrap_or(url);
        let mut request = self.agent.get(url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let response = request.call()?;
        let (parts, body) = response.into_parts();
        let passed = parts.headers.iter().filter_map(|(name, value)| {
            let is_passed = PASSED.contains(&name.as_str());
            let value = value.to_str().ok().filter(|_| is_passed)?;
            Some((name.as_str().to_owned(), value.to_owned()))
        });
        let headers = passed.collect();
        let mut bytes = Vec::new();
        let mut reader = body.into_reader().take(self.max_bytes + 1);
        reader.read_to_end(&mut bytes)?;
        if bytes.len() as u64 > self.max_bytes {
            return Err(ureq::Error::BodyExceedsLimit(self.max_bytes));
        }
        Ok(Answer {
            status: parts.status.as_u16(),
            headers,
            body: bytes,
        })
    }
}
