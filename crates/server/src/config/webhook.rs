//! Settings of deferred requests and of the delivery of their results.

use serde::Serialize;

use super::{Settings, is_on};

/// Deferred requests, and webhook delivery of their results.
#[derive(Clone, Debug, Serialize)]
pub struct WebhookConfig {
    /// Bytes of all requests on disk that are executed later; more get 503.
    pub deferred_max_bytes: u64,
    /// Hosts that receive results.
    #[serde(rename = "webhook_allowed_hosts")]
    pub allowed_hosts: Vec<String>,
    /// Permits loopback and private addresses for the allowed hosts.
    #[serde(rename = "webhook_allow_private_addresses")]
    pub allow_private_addresses: bool,
    /// Answers forms with a webhook after the delivery.
    #[serde(rename = "webhook_enable_sync_mode")]
    pub is_synchronous: bool,
    /// Ignores the headers of webhooks.
    #[serde(rename = "webhook_disable")]
    pub is_disabled: bool,
    /// Deferred requests in execution at once, with their deliveries.
    #[serde(rename = "webhook_max_queue")]
    pub max_queue: u32,
    /// Retries after the first attempt.
    #[serde(rename = "webhook_max_retries")]
    pub max_retries: u32,
    /// Delay before the first retry; doubles each time. Milliseconds.
    #[serde(rename = "webhook_retry_wait_ms")]
    pub retry_wait_ms: u64,
    /// Timeout of one attempt. Milliseconds.
    #[serde(rename = "webhook_timeout_ms")]
    pub timeout_ms: u64,
}

impl WebhookConfig {
    pub(super) fn resolve(settings: &Settings) -> Self {
        Self {
            deferred_max_bytes: settings.deferred_max_bytes.unwrap_or(4 << 30),
            allowed_hosts: settings.webhook_allowed_hosts.clone().unwrap_or_default(),
            allow_private_addresses: is_on(settings.webhook_allow_private_addresses),
            is_synchronous: is_on(settings.webhook_enable_sync_mode),
            is_disabled: is_on(settings.webhook_disable),
            max_queue: settings.webhook_max_queue.unwrap_or(16),
            max_retries: settings.webhook_max_retries.unwrap_or(4),
            retry_wait_ms: settings.webhook_retry_wait_ms.unwrap_or(1_000),
            timeout_ms: settings.webhook_timeout_ms.unwrap_or(30_000),
        }
    }
}
