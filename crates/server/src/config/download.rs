//! Settings of files that forms name by URL.

use serde::Serialize;

use super::{Settings, is_on};

/// Files that forms name by URL.
#[derive(Clone, Debug, Serialize)]
pub struct DownloadConfig {
    /// Hosts that files may come from.
    #[serde(rename = "download_allowed_hosts")]
    pub allowed_hosts: Vec<String>,
    /// Permits loopback and private addresses for the allowed hosts.
    #[serde(rename = "download_allow_private_addresses")]
    pub allow_private_addresses: bool,
    /// Timeout of all files of a form. Milliseconds.
    #[serde(rename = "download_timeout_ms")]
    pub timeout_ms: u64,
    /// Ignores what forms name.
    #[serde(rename = "api_disable_download_from")]
    pub is_disabled: bool,
}

impl DownloadConfig {
    pub(super) fn resolve(settings: &Settings) -> Self {
        Self {
            allowed_hosts: settings.download_allowed_hosts.clone().unwrap_or_default(),
            allow_private_addresses: is_on(settings.download_allow_private_addresses),
            timeout_ms: settings.download_timeout_ms.unwrap_or(30_000),
            is_disabled: is_on(settings.api_disable_download_from),
        }
    }
}
