//! Why a PDF file was not worked on.

use platen_fault::{Code, What};

/// Why a PDF file was not worked on. All of them are the caller's, but for [`Error::NotWritten`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is none.
    #[error("this is not a PDF file")]
    NotPdf,
    /// The file is encrypted, be it without a password.
    #[error("the PDF file is encrypted")]
    Encrypted,
    /// The file cannot be read.
    #[error("the PDF file is damaged")]
    Broken(#[from] lopdf::Error),
    /// The file reads, but is not as the standard says.
    #[error("the PDF file is damaged: {0}")]
    Malformed(&'static str),
    /// The file is too large.
    #[error("the PDF file has {count} {what}, more than {most}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much.
        count: usize,
        /// The bound.
        most: usize,
    },
    /// Nothing was given.
    #[error("there is no PDF file")]
    Nothing,
    /// Pages are named that the file has not, or not as pages are named.
    #[error("`{0}` names no pages of the file; pages are named as in 1-3,7")]
    BadPages(String),
    /// A field of the metadata cannot be written, or not so.
    #[error("the metadata `{name}` {problem}")]
    BadMetadata {
        /// The field.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A form field has a value that no appearance shows.
    #[error("the form field `{0}` has a value but no appearance, and none can be made")]
    NoAppearance(String),
    /// The result cannot be written.
    #[error("the PDF file cannot be written")]
    NotWritten(#[source] std::io::Error),
}

impl Error {
    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::NotPdf | Self::Nothing => Code::NotPdf,
            Self::Encrypted => Code::DocumentEncrypted,
            Self::Broken(_) | Self::Malformed(_) => Code::DocumentDamaged,
            Self::TooLarge { most, .. } => Code::TooLarge(What::Pdf, *most as u64),
            Self::BadPages(_) | Self::BadMetadata { .. } => Code::InvalidOption,
            Self::NoAppearance(_) => Code::FieldWithoutAppearance,
            Self::NotWritten(_) => Code::InternalError,
        }
    }
}
