//! PAdES signatures of PDF files (ETSI EN 319 142-1): B-B, B-T, B-LT and B-LTA, by keys from files
//! or any other [`Signer`], and verified. Structures of CMS, timestamps and revocation are written and
//! read here; `ring` signs and verifies, and `x509-cert` reads certificates.
//!
//! What strangers send, files, signatures and answers of authorities, is read without recursion, and
//! chains of certificates are looked for within a number of steps.

mod algorithm;
mod certificate;
mod chain;
mod cms;
mod der;
mod error;
mod key;
mod oid;
mod pem;
mod pkcs12;
mod revocation;
mod sign;
mod time;
mod timestamp;
mod verify;

pub use self::{
    algorithm::{Algorithm, Digest},
    certificate::Certificate,
    chain::Trust,
    error::Error,
    key::{KeyFile, Signer},
    sign::{Level, Signing, add_timestamp, sign},
    verify::{
        CertificateReport, SignatureReport, TimestampReport, Validity, VerificationReport, verify,
    },
};

/// A time in seconds since 1970 as people and programs read it: RFC 3339, in UTC.
#[must_use]
pub fn time_text(seconds: i64) -> String {
    time::text(seconds)
}

/// How authorities are reached: for timestamps, and for what says that certificates were not revoked.
pub trait Network: Send + Sync {
    /// The body of the answer to a GET, or to a POST of a media type and a body, if its status is
    /// 200.
    ///
    /// # Errors
    /// What went wrong, for people.
    fn fetch(&self, address: &str, body: Option<(&str, &[u8])>) -> Result<Vec<u8>, String>;
}
