//! Settings of signatures of PDF files.

use std::path::PathBuf;

use platen_engine::{Reach, Signatures};
use serde::Serialize;

use super::{ConfigError, Settings, is_on};

/// Signing keys, and the authorities that are asked and trusted.
#[derive(Clone, Debug, Serialize)]
pub struct SignatureConfig {
    /// Folder of the keys.
    #[serde(rename = "signature_keys_dir")]
    pub keys_dir: Option<PathBuf>,
    /// PEM file with the authorities that are trusted.
    #[serde(rename = "signature_trust_file")]
    pub trust_file: Option<PathBuf>,
    /// Address of the timestamp authority.
    pub timestamp_url: Option<String>,
    /// Hosts that are asked for revocation.
    #[serde(rename = "signature_allowed_hosts")]
    pub allowed_hosts: Vec<String>,
    /// Permits loopback and private addresses for these hosts and the timestamp authority.
    #[serde(rename = "signature_allow_private_addresses")]
    pub allow_private_addresses: bool,
}

impl SignatureConfig {
    pub(super) fn resolve(settings: &Settings) -> Self {
        Self {
            keys_dir: settings.signature_keys_dir.clone(),
            trust_file: settings.signature_trust_file.clone(),
            timestamp_url: settings.timestamp_url.clone(),
            allowed_hosts: settings.signature_allowed_hosts.clone().unwrap_or_default(),
            allow_private_addresses: is_on(settings.signature_allow_private_addresses),
        }
    }

    /// Reads the keys and the trusted certificates.
    ///
    /// # Errors
    /// A file cannot be read or used.
    pub(crate) fn open(&self) -> Result<Signatures, ConfigError> {
        let reach = Reach::Hosts(self.allowed_hosts.clone(), self.allow_private_addresses);
        let mut signatures = Signatures::new(self.timestamp_url.clone(), reach);
        if let Some(folder) = &self.keys_dir {
            signatures.add_folder(folder).map_err(|problem| {
                ConfigError::new(
                    format!("SIGNATURE_KEYS_DIR: {problem}"),
                    "name a folder of keys in PEM, or in PKCS #12 with their passwords",
                )
            })?;
        }
        if let Some(path) = &self.trust_file {
            signatures.add_trust(path).map_err(|problem| {
                ConfigError::new(
                    format!("SIGNATURE_TRUST_FILE: {problem}"),
                    "name a PEM file with certificates of authorities",
                )
            })?;
        }
        Ok(signatures)
    }
}
