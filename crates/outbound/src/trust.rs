//! Certificate authorities that TLS clients trust (RFC 5280), and explanations of refused servers.

use std::{
    error::Error as StdError,
    fs,
    io::{self, Read},
    path::Path,
    sync::{Arc, OnceLock},
};

use rustls::{
    CertificateError, ClientConfig, Error as TlsError, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Maximum size of a file; a system's whole set of authorities is many times smaller.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Trusted certificate authorities: either those of the system (`SSL_CERT_FILE` and `SSL_CERT_DIR`,
/// or its own store), or those of a file and no others. On a system without a store, such as a bare
/// container, those that Mozilla trusted when Platen was built.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    authorities: Option<Arc<[CertificateDer<'static>]>>,
}

impl Trust {
    /// Trusts only the certificates in a PEM file, which may be authorities or a server's own.
    ///
    /// # Errors
    /// The file cannot be read, or contains no certificate.
    pub fn only(file: &Path) -> io::Result<Self> {
        let invalid = |cause: String| io::Error::new(io::ErrorKind::InvalidData, cause);
        let mut text = Vec::new();
        let opened = fs::File::open(file)?;
        opened.take(MAX_FILE_BYTES + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            let cause = format!("it is larger than {MAX_FILE_BYTES} bytes");
            return Err(invalid(cause));
        }
        let found = CertificateDer::pem_slice_iter(&text)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| invalid(format!("it is not PEM: {error}")))?;
        // The bundles of whole systems contain a few unusable certificates.
        let usable = |one: &CertificateDer<'static>| RootCertStore::empty().add(one.clone());
        let authorities: Arc<[_]> = found
            .into_iter()
            .filter(|one| usable(one).is_ok())
            .collect();
        if authorities.is_empty() {
            return Err(invalid("it contains no certificate".to_owned()));
        }
        Ok(Self {
            authorities: Some(authorities),
        })
    }

    /// The certificates of the file, in DER; `None` if those of the system are trusted.
    #[must_use]
    pub fn authorities(&self) -> Option<&[CertificateDer<'static>]> {
        self.authorities.as_deref()
    }

    /// Configuration for HTTP/1.1 clients that manage their own connections.
    ///
    /// # Errors
    /// None known: unusable certificates have been removed before.
    pub fn client_config(&self) -> io::Result<ClientConfig> {
        let mut roots = RootCertStore::empty();
        match &self.authorities {
            None => match trusted_by_system() {
                [] => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
                known => {
                    roots.add_parsable_certificates(known.iter().cloned());
                }
            },
            Some(known) => {
                roots.add_parsable_certificates(known.iter().cloned());
            }
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    /// Configuration for `ureq` agents.
    #[must_use]
    pub fn agent_config(&self) -> TlsConfig {
        let known = self.authorities.as_deref().unwrap_or(trusted_by_system());
        let roots = match known {
            [] => RootCerts::WebPki,
            known => RootCerts::from(
                known
                    .iter()
                    .map(|one| Certificate::from_der(one).to_owned())
                    .collect::<Vec<_>>(),
            ),
        };
        TlsConfig::builder().root_certs(roots).build()
    }
}

/// The authorities that this system trusts, read once; empty if it has no store.
#[must_use]
pub fn trusted_by_system() -> &'static [CertificateDer<'static>] {
    static FOUND: OnceLock<Vec<CertificateDer<'static>>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let found = rustls_native_certs::load_native_certs().certs;
        let usable = |one: &CertificateDer<'static>| RootCertStore::empty().add(one.clone());
        found
            .into_iter()
            .filter(|one| usable(one).is_ok())
            .collect()
    })
}

/// Why a TLS connection failed. Retrying fails in the same way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsRefusal {
    /// The certificate was not signed by a trusted authority.
    #[error("the server's certificate is not issued by a trusted authority")]
    NotTrusted,
    /// The certificate is for other names.
    #[error("the server's certificate is for another name: {0}")]
    OtherName(String),
    /// The certificate has another problem.
    #[error("the server's certificate is rejected: {0}")]
    Certificate(String),
    /// The server does not speak TLS.
    #[error("the server does not speak TLS on this port")]
    NoTls,
    /// There is no TLS version, algorithm or protocol that both sides support.
    #[error("the TLS handshake failed: {0}")]
    Disagreement(String),
}

impl TlsRefusal {
    /// The refusal that `error` is, or that caused it.
    #[must_use]
    pub fn within(error: &(dyn StdError + 'static)) -> Option<Self> {
        if let Some(error) = error.downcast_ref::<TlsError>() {
            return Some(Self::of(error));
        }
        // Neither type returns the error that it holds from `source()`.
        let held: Option<&(dyn StdError + 'static)> =
            match (error.downcast_ref(), error.downcast_ref::<io::Error>()) {
                (Some(ureq::Error::Io(error)), _) => Some(error),
                (Some(ureq::Error::Rustls(error)), _) => Some(error),
                (_, Some(error)) => error.get_ref().map(|held| held as _),
                _ => None,
            };
        held.or_else(|| error.source()).and_then(Self::within)
    }

    fn of(error: &TlsError) -> Self {
        match error {
            TlsError::InvalidCertificate(wrong) => match wrong {
                // `BadSignature` occurs if a trusted authority has the same name as the one that
                // signed.
                CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                    Self::NotTrusted
                }
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => {
                    Self::OtherName(wrong.to_string())
                }
                other if format!("{other:?}").contains("CaUsedAsEndEntity") => Self::Certificate(
                    "it is a CA certificate (CA:TRUE), which a server must not present".to_owned(),
                ),
                other => Self::Certificate(other.to_string()),
            },
            TlsError::InvalidMessage(_) => Self::NoTls,
            other => Self::Disagreement(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_certificates() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        let only = |text: &str| {
            fs::write(&file, text).unwrap();
            Trust::only(&file)
        };
        let made = rcgen::generate_simple_self_signed(vec!["a.example".to_owned()]).unwrap();
        let pem = made.cert.pem();
        let two = only(&format!("a comment\n{pem}{pem}")).unwrap();
        assert_eq!(two.authorities().unwrap().len(), 2);
        assert_eq!(
            two.client_config().unwrap().alpn_protocols,
            [b"http/1.1".to_vec()]
        );
        let key = made.signing_key.serialize_pem();
        let broken = pem.replace("MII", "NII");
        for wrong in ["", "no PEM", &key, &broken, &pem[..pem.len() / 2]] {
            assert!(only(wrong).is_err(), "{wrong}");
        }
        assert!(Trust::only(&folder.path().join("none")).is_err());
        assert!(Trust::default().authorities().is_none());
    }

    #[test]
    fn refusals_are_found_wherever_they_are() {
        let wrong = || TlsError::InvalidCertificate(CertificateError::UnknownIssuer);
        let wrapped = || io::Error::new(io::ErrorKind::InvalidData, wrong());
        assert_eq!(TlsRefusal::within(&wrong()), Some(TlsRefusal::NotTrusted));
        assert_eq!(TlsRefusal::within(&wrapped()), Some(TlsRefusal::NotTrusted));
        for error in [ureq::Error::Io(wrapped()), ureq::Error::Rustls(wrong())] {
            assert_eq!(TlsRefusal::within(&error), Some(TlsRefusal::NotTrusted));
            let outer = crate::Error::Failed(error);
            assert_eq!(TlsRefusal::within(&outer), Some(TlsRefusal::NotTrusted));
        }
        let other = ureq::Error::Io(io::ErrorKind::ConnectionReset.into());
        assert_eq!(TlsRefusal::within(&other), None);
        assert_eq!(TlsRefusal::within(&ureq::Error::HostNotFound), None);
    }
}
