//! Settings of results that are sent.

use serde::Serialize;

use super::{Settings, is_on};

/// How results are sent to addresses of clients.
#[derive(Clone, Debug, Serialize)]
pub struct WebhookConfig {
    /// Hosts that results may be sent to.
    #[serde(rename = "webhook_allowed_hosts")]
    pub allowed_hosts: Vec<String>,
    /// Those hosts may have loopback and private addresses, too.
    #[serde(rename = "webhook_allow_private_addresses")]
    pub allow_private_addresses: bool,
    /// Results for webhooks under way at once.
    #[serde(rename = "webhook_max_queue")]
    pub max_queue: u32,
    /// Tries to send a result after the first.
    #[serde(rename = "webhook_max_retries")]
    pub max_retries: u32,
    /// Wait before the second try, doubled each time.
    #[serde(rename = "webhook_retry_wait_ms")]
    pub retry_wait_ms: u64,
    /// Time of one try.
    #[serde(rename = "webhook_timeout_ms")]
    pub timeout_ms: u64,
}

impl WebhookConfig {
    pub(super) fn resolve(settings: &Settings) -> Self {
        Self {
            allowed_hosts: settings.webhook_allowed_hosts.clone().unwrap_or_default(),
            allow_private_addresses: is_on(settings.webhook_allow_private_addresses),
            max_queue: settings.webhook_max_queue.unwrap_or(16),
            max_retries: settings.webhook_max_retries.unwrap_or(4),
            retry_wait_ms: settings.webhook_retry_wait_ms.unwrap_or(1_000),
            timeout_ms: settings.webhook_timeout_ms.unwrap_or(30_000),
        }
    }
}
