//! Settings of the servers that the service uses: its database, Redis and its mail server.

use std::path::PathBuf;

use serde::Serialize;

use super::Settings;

/// The PostgreSQL database.
#[derive(Clone, Debug, Serialize)]
pub struct DatabaseConfig {
    /// Its URL; skipped because it contains the password. Without it records are in SQLite.
    #[serde(skip)]
    pub url: Option<String>,
    /// PEM file of certificate authorities for its server.
    #[serde(rename = "database_ca_file")]
    pub ca_file: Option<PathBuf>,
    /// Whether the service migrates its database, this one or SQLite's, when it starts.
    #[serde(rename = "database_migrate")]
    pub migrate: bool,
    /// What carries signals between the services on it.
    #[serde(flatten)]
    pub redis: RedisConfig,
}

/// The Redis server that carries signals between services.
#[derive(Clone, Debug, Serialize)]
pub struct RedisConfig {
    /// Its URL; skipped because it contains the password.
    #[serde(skip)]
    pub url: Option<String>,
    /// PEM file of certificate authorities for it.
    #[serde(rename = "redis_ca_file")]
    pub ca_file: Option<PathBuf>,
}

/// The mail server for flows.
#[derive(Clone, Debug, Serialize)]
pub struct MailConfig {
    /// Its URL; skipped because it contains the password.
    #[serde(skip)]
    pub url: Option<String>,
    /// PEM file of certificate authorities for it.
    #[serde(rename = "smtp_ca_file")]
    pub ca_file: Option<PathBuf>,
    /// Sender address of mail.
    #[serde(rename = "smtp_from")]
    pub from: Option<String>,
}

impl DatabaseConfig {
    pub(super) fn resolve(settings: &Settings) -> Self {
        let url = settings.database_url.clone();
        Self {
            url: url.filter(|url| !url.is_empty()),
            ca_file: settings.database_ca_file.clone(),
            migrate: settings.database_migrate.unwrap_or(true),
            redis: RedisConfig::resolve(settings),
        }
    }
}

impl RedisConfig {
    fn resolve(settings: &Settings) -> Self {
        let url = settings.redis_url.clone();
        Self {
            url: url.filter(|url| !url.is_empty()),
            ca_file: settings.redis_ca_file.clone(),
        }
    }
}

impl MailConfig {
    pub(super) fn resolve(settings: &Settings) -> Self {
        Self {
            url: settings.smtp_url.clone(),
            ca_file: settings.smtp_ca_file.clone(),
            from: settings.smtp_from.clone(),
        }
    }
}
