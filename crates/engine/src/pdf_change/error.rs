//! Why PDF files were not changed.

use std::fmt;

use platen_fault::Code;
use platen_pdf::FileError;

use crate::Error;

/// Why files were not changed.
#[derive(Debug)]
pub enum PdfChangeError {
    /// A file is no PDF, or cannot be changed in this way.
    Pdf(FileError),
    /// A stamp cannot be drawn.
    Stamp(Error),
    /// A file is not signed.
    Signature(platen_pades::Error),
    /// The list of changes is wrong.
    Wrong(String),
}

impl fmt::Display for PdfChangeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pdf(error) => error.fmt(formatter),
            Self::Stamp(error) => write!(formatter, "the stamp: {error}"),
            Self::Signature(error) => error.fmt(formatter),
            Self::Wrong(message) => formatter.write_str(message),
        }
    }
}

impl std::error::Error for PdfChangeError {}

impl PdfChangeError {
    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Pdf(error) => error.error.code(),
            Self::Stamp(error) => error.code(),
            Self::Signature(error) => error.code(),
            Self::Wrong(_) => Code::InvalidOption,
        }
    }
}

impl From<FileError> for PdfChangeError {
    fn from(error: FileError) -> Self {
        Self::Pdf(error)
    }
}

/// The list of changes is wrong.
pub(super) fn wrong(message: impl Into<String>) -> PdfChangeError {
    PdfChangeError::Wrong(message.into())
}
