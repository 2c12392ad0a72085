//! Errors of signing and of verifying signatures.

use platen_fault::Code;

use crate::der::DerError;

/// Why a file was not signed, or its signatures not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The PDF file cannot be read or written.
    #[error(transparent)]
    Pdf(#[from] platen_pdf::Error),
    /// A key or its certificates cannot be used.
    #[error("the key {0}")]
    BadKey(String),
    /// Certificates that are trusted cannot be read.
    #[error("the trusted certificates {0}")]
    BadTrust(&'static str),
    /// The key did not sign.
    #[error("the key did not sign: {0}")]
    NotSigned(String),
    /// The level needs a timestamp, and there is nobody to ask for one.
    #[error("the signature needs a timestamp, and no authority is named that makes one")]
    NoAuthority,
    /// No timestamp was given, or one that does not hold.
    #[error("the timestamp: {0}")]
    Timestamp(String),
    /// What says that certificates were not revoked is missing.
    #[error("the revocation of `{name}`: {problem}")]
    Revocation {
        /// Subject of the certificate.
        name: String,
        /// What is wrong.
        problem: String,
    },
}

impl Error {
    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Pdf(error) => error.code(),
            Self::BadKey(_) | Self::BadTrust(_) | Self::NoAuthority => Code::InvalidOption,
            Self::NotSigned(_) | Self::Timestamp(_) | Self::Revocation { .. } => {
                Code::RequestFailed
            }
        }
    }
}

/// A structure inside of a signature cannot be read.
impl From<DerError> for Error {
    fn from(_: DerError) -> Self {
        Self::Pdf(platen_pdf::Error::Malformed(
            "a signature in it cannot be read",
        ))
    }
}
