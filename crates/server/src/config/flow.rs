//! Settings of flows.

use std::path::PathBuf;

use serde::Serialize;

use super::Settings;

/// Settings of flow execution.
#[derive(Clone, Debug, Serialize)]
pub struct FlowConfig {
    /// Concurrent runs in this process.
    #[serde(rename = "flow_slots")]
    pub slots: u32,
    /// How long a request waits for the response of a flow. Milliseconds.
    #[serde(rename = "flow_timeout_ms")]
    pub timeout_ms: u64,
    /// Queue limit of runs whose caller waits.
    #[serde(rename = "flow_sync_queue")]
    pub sync_queue: u32,
    /// Queue limit of runs without a waiting caller.
    #[serde(rename = "flow_async_queue")]
    pub async_queue: u32,
    /// A worker without a heartbeat for this long loses its runs. Milliseconds.
    #[serde(rename = "flow_lease_ms")]
    pub lease_ms: u64,
    /// Lost workers after which a run is dead-lettered.
    #[serde(rename = "flow_max_deaths")]
    pub max_deaths: u32,
    /// Retention of finished runs. Hours.
    #[serde(rename = "flow_retention_hours")]
    pub retention_hours: u32,
    /// Hosts that flows may connect to.
    #[serde(rename = "flow_allowed_hosts")]
    pub allowed_hosts: Vec<String>,
    /// Permits private addresses for the allowed hosts.
    #[serde(rename = "flow_allow_private_addresses")]
    pub allow_private_addresses: bool,
    /// TOML file with secrets.
    #[serde(rename = "flow_secrets_file")]
    pub secrets_file: Option<PathBuf>,
}

impl FlowConfig {
    pub(super) fn resolve(settings: &Settings, cores: u32) -> Self {
        Self {
            // Runs spend about half of their time waiting for the disk, hence more slots than
            // cores.
            slots: settings.flow_slots.unwrap_or(cores * 4),
            timeout_ms: settings.flow_timeout_ms.unwrap_or(30_000),
            sync_queue: settings.flow_sync_queue.unwrap_or(1_024),
            async_queue: settings.flow_async_queue.unwrap_or(100_000),
            lease_ms: settings.flow_lease_ms.unwrap_or(10_000),
            max_deaths: settings.flow_max_deaths.unwrap_or(2).max(1),
            retention_hours: settings.flow_retention_hours.unwrap_or(168),
            allowed_hosts: settings.flow_allowed_hosts.clone().unwrap_or_default(),
            allow_private_addresses: settings.flow_allow_private_addresses.unwrap_or(false),
            secrets_file: settings.flow_secrets_file.clone(),
        }
    }
}
