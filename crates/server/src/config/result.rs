//! Settings of stored results.

use serde::Serialize;

use super::{ConfigError, Settings, is_on};

/// Storage of results.
#[derive(Clone, Debug, Serialize)]
pub struct ResultConfig {
    /// Bytes of all stored results; 0 disables storage.
    #[serde(rename = "results_max_bytes")]
    pub max_bytes: u64,
    /// Default retention of a result. Seconds.
    #[serde(rename = "results_ttl_seconds")]
    pub ttl_seconds: u64,
    /// Longest retention that a request may ask for. Seconds.
    #[serde(rename = "results_max_ttl_seconds")]
    pub max_ttl_seconds: u64,
    /// Interval between two sweeps. Seconds.
    #[serde(rename = "results_sweep_seconds")]
    pub sweep_seconds: u64,
    /// Bytes of frequently requested results in the memory cache.
    #[serde(rename = "results_cache_bytes")]
    pub cache_bytes: u64,
    /// Whether links lead on to the bucket.
    #[serde(rename = "result_redirect")]
    pub is_redirected: bool,
    /// Public base URL of the service, the prefix of links. Without it, links start with a slash.
    pub public_url: Option<String>,
}

impl ResultConfig {
    pub(super) fn resolve(settings: &Settings) -> Result<Self, ConfigError> {
        let max_ttl_seconds = settings.results_max_ttl_seconds.unwrap_or(7 * 86_400);
        let config = Self {
            max_bytes: settings.results_max_bytes.unwrap_or(10 << 30),
            ttl_seconds: settings
                .results_ttl_seconds
                .unwrap_or(max_ttl_seconds.min(86_400)),
            max_ttl_seconds,
            sweep_seconds: settings.results_sweep_seconds.unwrap_or(60),
            cache_bytes: settings.results_cache_bytes.unwrap_or(64 << 20),
            is_redirected: is_on(settings.result_redirect),
            public_url: settings.public_url.as_deref().map(base).transpose()?,
        };
        if config.ttl_seconds > max_ttl_seconds {
            return Err(ConfigError::new(
                "results_ttl_seconds is above results_max_ttl_seconds",
                "raise results_max_ttl_seconds, or lower results_ttl_seconds",
            ));
        }
        if config.ttl_seconds == 0 || config.sweep_seconds == 0 {
            return Err(ConfigError::new(
                "results_ttl_seconds or results_sweep_seconds is 0",
                "omit the setting for its default; results_max_bytes = 0 disables storage",
            ));
        }
        Ok(config)
    }
}

/// Validates a base URL that paths can be appended to.
fn base(url: &str) -> Result<String, ConfigError> {
    let url = url.trim_end_matches('/');
    let has_host = ["http://", "https://"].iter().any(|scheme| {
        url.strip_prefix(scheme)
            .is_some_and(|host| !host.is_empty())
    });
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic());
    if has_host && is_plain && !url.contains(['?', '#']) {
        return Ok(url.to_owned());
    }
    Err(ConfigError::new(
        format!("PUBLIC_URL `{url}` is not a base URL"),
        "set the URL that clients use, such as https://documents.example.com",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_agree_and_addresses_are_addresses() {
        let with = |settings: Settings| ResultConfig::resolve(&settings);
        let short = with(Settings {
            results_max_ttl_seconds: Some(60),
            public_url: Some("https://a.example/base/".to_owned()),
            ..Settings::default()
        });
        let short = short.unwrap();
        assert_eq!(short.ttl_seconds, 60);
        assert_eq!(short.public_url.unwrap(), "https://a.example/base");
        let apart = with(Settings {
            results_ttl_seconds: Some(61),
            results_max_ttl_seconds: Some(60),
            ..Settings::default()
        });
        assert!(apart.is_err());
        for bad in [
            "a.example",
            "https://",
            "https://a/?b",
            "ftp://a",
            "https://a b",
        ] {
            let public_url = Some(bad.to_owned());
            let read = with(Settings {
                public_url,
                ..Settings::default()
            });
            assert!(read.is_err(), "{bad}");
        }
    }
}
