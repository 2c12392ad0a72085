//! Settings of files that outlive requests: the S3 bucket, and the key of links.

use std::{path::PathBuf, time::Duration};

use platen_outbound::Trust;
use platen_storage::blobs::BucketSettings;
use serde::Serialize;

use super::{ConfigError, Settings, is_on};

/// The bucket of results, custom actions and requests that wait.
#[derive(Clone, Debug, Serialize)]
pub struct S3Config {
    /// Its name; without one, files are in the data folder.
    #[serde(rename = "s3_bucket")]
    pub bucket: Option<String>,
    /// Address of its server; Amazon's if `None`.
    #[serde(rename = "s3_endpoint")]
    pub endpoint: Option<String>,
    /// Its region.
    #[serde(rename = "s3_region")]
    pub region: String,
    /// Prefix of all keys.
    #[serde(rename = "s3_prefix")]
    pub prefix: Option<String>,
    /// Whether its name is in the path of addresses; if `None`, where there is an endpoint.
    #[serde(rename = "s3_path_style")]
    pub is_path_style: Option<bool>,
    /// Identifier of the key.
    #[serde(skip)]
    pub access_key_id: Option<String>,
    /// The key's secret.
    #[serde(skip)]
    pub secret_access_key: Option<String>,
    /// Token of a temporary key.
    #[serde(skip)]
    pub session_token: Option<String>,
    /// PEM file of certificate authorities for its server.
    #[serde(rename = "s3_ca_file")]
    pub ca_file: Option<PathBuf>,
    /// Secret that the key of links is made from; if `None`, the key is in the bucket or in the data
    /// folder.
    #[serde(skip)]
    pub link_secret: Option<String>,
    /// Time limit of an operation with its retries. Milliseconds.
    #[serde(rename = "s3_timeout_ms")]
    pub timeout_ms: u64,
    /// Whether workers fetch archives of custom actions from the bucket.
    #[serde(rename = "piece_redirect")]
    pub is_piece_redirected: bool,
    /// Bytes of the copies on the local disk.
    #[serde(rename = "s3_cache_bytes")]
    pub cache_bytes: u64,
}

impl S3Config {
    pub(super) fn resolve(settings: &Settings) -> Result<Self, ConfigError> {
        let text = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        let config = Self {
            bucket: text(&settings.s3_bucket),
            endpoint: text(&settings.s3_endpoint),
            region: text(&settings.s3_region).unwrap_or_else(|| "us-east-1".to_owned()),
            prefix: text(&settings.s3_prefix),
            is_path_style: settings.s3_path_style,
            access_key_id: text(&settings.s3_access_key_id),
            secret_access_key: text(&settings.s3_secret_access_key),
            session_token: text(&settings.s3_session_token),
            ca_file: settings.s3_ca_file.clone(),
            link_secret: text(&settings.link_secret),
            timeout_ms: settings.s3_timeout_ms.unwrap_or(30_000),
            is_piece_redirected: is_on(settings.piece_redirect),
            cache_bytes: settings.s3_cache_bytes.unwrap_or(1 << 30),
        };
        let is_meant = config.endpoint.is_some() || config.prefix.is_some();
        if config.bucket.is_none() && is_meant {
            return Err(ConfigError::new(
                "S3_ENDPOINT or S3_PREFIX is set, but S3_BUCKET is not",
                "set the name of the bucket, or none of the settings of S3",
            ));
        }
        let has_key = config.access_key_id.is_some() && config.secret_access_key.is_some();
        if config.bucket.is_some() && !has_key {
            return Err(ConfigError::new(
                "S3_BUCKET is set, but its key is not",
                "set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY (or AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY)",
            ));
        }
        let secret = config.link_secret.as_ref();
        if secret.is_some_and(|secret| secret.len() < 32) {
            return Err(ConfigError::new(
                "LINK_SECRET is shorter than 32 characters",
                "generate one with: openssl rand -hex 32",
            ));
        }
        if config.timeout_ms == 0 {
            return Err(ConfigError::new(
                "S3_TIMEOUT_MS is 0",
                "omit the setting for its default",
            ));
        }
        Ok(config)
    }

    /// What the client of the bucket needs; `None` without a bucket.
    pub(crate) fn settings(&self, trust: Trust) -> Option<BucketSettings> {
        Some(BucketSettings {
            bucket: self.bucket.clone()?,
            endpoint: self.endpoint.clone(),
            region: self.region.clone(),
            is_path_style: self.is_path_style,
            prefix: self.prefix.clone().unwrap_or_default(),
            access_key_id: self.access_key_id.clone().unwrap_or_default(),
            secret_access_key: self.secret_access_key.clone().unwrap_or_default(),
            session_token: self.session_token.clone(),
            timeout: Duration::from_millis(self.timeout_ms),
            trust,
        })
    }
}

impl Settings {
    /// Takes what these leave open of the bucket from the variables that Amazon's own programs
    /// read. A key of theirs is taken whole or not at all.
    pub(super) fn or_amazon(self, environment: impl Fn(&str) -> Option<String>) -> Self {
        if self.s3_bucket.is_none() {
            return self;
        }
        let variable = |name: &str| {
            let value = environment(name)?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let mut theirs = Self {
            s3_region: variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION")),
            s3_endpoint: variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL")),
            ..Self::default()
        };
        if self.s3_access_key_id.is_none() && self.s3_secret_access_key.is_none() {
            theirs.s3_access_key_id = variable("AWS_ACCESS_KEY_ID");
            theirs.s3_secret_access_key = variable("AWS_SECRET_ACCESS_KEY");
            theirs.s3_session_token = variable("AWS_SESSION_TOKEN");
        }
        self.or(theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(settings: Settings, variables: &[(&str, &str)]) -> Result<S3Config, ConfigError> {
        let environment = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        S3Config::resolve(&settings.or_amazon(environment))
    }

    fn bucket() -> Settings {
        Settings {
            s3_bucket: Some("documents".to_owned()),
            ..Settings::default()
        }
    }

    const AMAZON: [(&str, &str); 4] = [
        ("AWS_ACCESS_KEY_ID", "their-id"),
        ("AWS_SECRET_ACCESS_KEY", "their-secret"),
        ("AWS_SESSION_TOKEN", "their-token"),
        ("AWS_REGION", "eu-west-1"),
    ];

    #[test]
    fn amazons_variables_complete_ours_and_do_not_mix_with_them() {
        let config = with(bucket(), &AMAZON).unwrap();
        assert_eq!(config.access_key_id.as_deref(), Some("their-id"));
        assert_eq!(config.session_token.as_deref(), Some("their-token"));
        assert_eq!(config.region, "eu-west-1");
        let own = Settings {
            s3_access_key_id: Some("id".to_owned()),
            s3_secret_access_key: Some("secret".to_owned()),
            s3_region: Some("us-west-2".to_owned()),
            ..bucket()
        };
        let config = with(own, &AMAZON).unwrap();
        assert_eq!(config.secret_access_key.as_deref(), Some("secret"));
        assert_eq!((config.session_token, &*config.region), (None, "us-west-2"));
        // A machine's key for other things is no reason for a bucket.
        let config = with(Settings::default(), &AMAZON).unwrap();
        assert!(config.settings(Trust::default()).is_none());
    }

    #[test]
    fn half_a_bucket_is_refused() {
        let refused = |settings| with(settings, &[]).unwrap_err();
        assert!(
            refused(bucket())
                .hint
                .unwrap()
                .contains("AWS_ACCESS_KEY_ID")
        );
        let nowhere = Settings {
            s3_endpoint: Some("https://s3.example.com".to_owned()),
            ..Settings::default()
        };
        assert!(refused(nowhere).message.contains("S3_BUCKET"));
        let short = Settings {
            link_secret: Some("short".to_owned()),
            ..Settings::default()
        };
        assert!(refused(short).hint.unwrap().contains("openssl"));
        let half = Settings {
            s3_access_key_id: Some("id".to_owned()),
            ..bucket()
        };
        let error = with(half, &AMAZON).unwrap_err();
        assert!(error.message.contains("key"), "{error}");
    }
}
