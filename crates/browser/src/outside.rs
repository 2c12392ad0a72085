//! Requests of pages to allowed hosts. This process sends them instead of Chromium, so that the
//! address that was checked is the one that is connected to.

use std::sync::Arc;

use platen_outbound::{Answer, Error, NoConnection, Outbound, RequestLimits, Settings, StopOnDrop};
use tokio::sync::Semaphore;

use crate::config::Config;

/// Maximum number of requests in flight, of all pages together.
const AT_ONCE: usize = 16;
/// Maximum number of requests in flight of one page, so that others come to theirs.
pub(crate) const PER_PAGE: usize = 10;
/// Response headers passed to Chromium; it needs no others.
const PASSED: [&str; 7] = [
    "content-type",
    "location",
    "access-control-allow-origin",
    "access-control-allow-credentials",
    "content-language",
    "content-disposition",
    "last-modified",
];

/// Chromium's name of the error of a request that was denied.
pub(crate) const DENIED: &str = "net::ERR_ACCESS_DENIED";

/// Why there is no response.
#[derive(Debug)]
pub(crate) struct LoadFailure {
    /// Chromium's name of the error.
    pub(crate) error: &'static str,
    /// In plain words.
    pub(crate) reason: String,
}

impl LoadFailure {
    fn of(error: &Error) -> Self {
        let name = match error.no_connection() {
            Some(NoConnection::Denied) => DENIED,
            Some(NoConnection::Refused) => "net::ERR_CONNECTION_REFUSED",
            Some(NoConnection::UnknownHost) => "net::ERR_NAME_NOT_RESOLVED",
            Some(NoConnection::TimedOut) => "net::ERR_TIMED_OUT",
            None => "net::ERR_CONNECTION_FAILED",
        };
        Self {
            error: name,
            reason: error.to_string(),
        }
    }
}

/// Sends requests to allowed hosts.
#[derive(Debug)]
pub(crate) struct Outside {
    client: Outbound,
    at_once: Arc<Semaphore>,
}

impl Outside {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            client: Outbound::new(&Settings {
                allowed_hosts: config.allowed_hosts.clone(),
                urls: config.urls.clone(),
                allow_private_addresses: config.allow_private_addresses,
                timeout: config.response_timeout,
                max_bytes: config.max_response_bytes,
                max_idle_connections: AT_ONCE,
                ..Settings::default()
            }),
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Whether the allow-list contains the host of a URL.
    pub(crate) fn allows(&self, url: &str) -> bool {
        self.client.allows(url)
    }

    /// Sends a request to an allowed host; it ends with the future. Redirects are returned rather
    /// than followed: Chromium requests the next address, which is checked like the first.
    pub(crate) async fn load(
        self: &Arc<Self>,
        method: String,
        url: String,
        headers: Vec<(String, String)>,
    ) -> Result<Answer, LoadFailure> {
        let permit = Arc::clone(&self.at_once).acquire_owned().await;
        let outside = Arc::clone(self);
        let stop = StopOnDrop::default();
        let limits = RequestLimits {
            timeout: None,
            stop: Some(stop.flag()),
        };
        let loading = tokio::task::spawn_blocking(move || {
            let client = &outside.client;
            let answer = client.send_within(&method, &url, &headers, b"", &limits);
            drop(permit);
            answer
        });
        let answer = loading.await.map_err(|error| LoadFailure {
            error: "net::ERR_FAILED",
            reason: error.to_string(),
        })?;
        let mut answer = answer.map_err(|error| LoadFailure::of(&error))?;
        answer
            .headers
            .retain(|(name, _)| PASSED.contains(&name.as_str()));
        Ok(answer)
    }
}
