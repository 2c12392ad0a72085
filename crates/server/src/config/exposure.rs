//! Settings of what stands between the service and strangers.

use std::sync::Arc;

use platen_delivery::TrustedProxies;
use serde::Serialize;

use super::{ConfigError, EditorConfig, OidcConfig, Settings, is_on};

/// Proxies in front of the service, and how weak its settings may be.
#[derive(Clone, Debug, Serialize)]
pub struct ExposureConfig {
    /// Addresses and networks of the proxies, as written.
    #[serde(rename = "trusted_proxies")]
    pub entries: Vec<String>,
    /// The same, for comparisons.
    #[serde(skip)]
    pub trusted: Arc<TrustedProxies>,
    /// Whether the connections of these proxies begin with a header of the PROXY protocol.
    #[serde(rename = "proxy_protocol")]
    pub is_protocol_expected: bool,
    /// Origins of pages whose scripts may call the service; `*` for all.
    #[serde(rename = "cors_allowed_origins")]
    pub allowed_origins: Vec<String>,
    /// The editor in pages of other sites.
    #[serde(flatten)]
    pub editor: EditorConfig,
    /// Sign-in by an identity provider.
    #[serde(flatten)]
    pub oidc: OidcConfig,
    /// Whether weak settings are refused.
    #[serde(rename = "harden_production")]
    pub refuses_weak_settings: bool,
}

impl ExposureConfig {
    pub(super) fn resolve(settings: &Settings) -> Result<Self, ConfigError> {
        let entries = settings.trusted_proxies.clone().unwrap_or_default();
        let trusted = TrustedProxies::parse(&entries).map_err(|error| {
            ConfigError::new(
                format!("TRUSTED_PROXIES: {error}"),
                "list addresses and networks, such as 10.0.0.5,10.1.0.0/16,fd00::/8,unix",
            )
        })?;
        let is_protocol_expected = is_on(settings.proxy_protocol);
        if is_protocol_expected && trusted.is_empty() {
            return Err(ConfigError::new(
                "PROXY_PROTOCOL is on, but no proxy is trusted",
                "name the addresses of the load balancers in TRUSTED_PROXIES",
            ));
        }
        Ok(Self {
            entries,
            trusted: Arc::new(trusted),
            is_protocol_expected,
            allowed_origins: settings.cors_allowed_origins.clone().unwrap_or_default(),
            editor: EditorConfig::resolve(settings)?,
            oidc: OidcConfig::resolve(settings)?,
            refuses_weak_settings: is_on(settings.harden_production),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(proxies: &[&str], protocol: bool) -> Result<ExposureConfig, ConfigError> {
        let proxies = proxies.iter().map(|&entry| entry.to_owned());
        ExposureConfig::resolve(&Settings {
            trusted_proxies: Some(proxies.collect()),
            proxy_protocol: Some(protocol),
            ..Settings::default()
        })
    }

    #[test]
    fn proxies_are_addresses_and_the_protocol_needs_some() {
        let config = read(&["10.0.0.0/8", "unix"], true).unwrap();
        assert!(config.trusted.trusts_address([10, 1, 2, 3].into()));
        assert!(config.is_protocol_expected);
        let error = read(&["10.0.0.1/8"], false).unwrap_err();
        assert!(error.message.contains("TRUSTED_PROXIES: `10.0.0.1/8`"));
        assert!(error.hint.is_some());
        let error = read(&[], true).unwrap_err();
        assert!(error.hint.unwrap().contains("TRUSTED_PROXIES"));
        assert!(read(&[], false).unwrap().trusted.is_empty());
    }
}
