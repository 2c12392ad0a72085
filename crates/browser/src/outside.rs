//! Requests of pages to allowed hosts. This process sends them instead of Chromium, so that the
//! address that was checked is the one that is connected to.

use std::sync::Arc;

use platen_outbound::{Answer, Outbound, Settings};
use tokio::sync::Semaphore;

use crate::config::Config;

/// Maximum number of requests in flight, of all pages together.
const AT_ONCE: usize = 16;
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
            }),
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Whether the allow-list contains the host of a URL.
    pub(crate) fn allows(&self, url: &str) -> bool {
        self.client.allows(url)
    }

    /// Sends a request to an allowed host. Redirects are returned rather than followed: Chromium
    /// requests the next address, which is checked like the first.
    pub(crate) async fn load(
        self: &Arc<Self>,
        url: String,
        headers: Vec<(String, String)>,
    ) -> Result<Answer, String> {
        let permit = Arc::clone(&self.at_once).acquire_owned().await;
        let outside = Arc::clone(self);
        let loading = tokio::task::spawn_blocking(move || {
            let answer = outside.client.send("GET", &url, &headers, b"");
            drop(permit);
            answer
        });
        let answer = loading.await.map_err(|error| error.to_string())?;
        let mut answer = answer.map_err(|error| error.to_string())?;
        answer
            .headers
            .retain(|(name, _)| PASSED.contains(&name.as_str()));
        Ok(answer)
    }
}
