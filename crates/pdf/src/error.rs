//! Errors of PDF processing.

use platen_fault::{Code, What};

/// Why a PDF file could not be processed. All are the caller's fault, except [`Error::NotWritten`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input is not a PDF file.
    #[error("this is not a PDF file")]
    NotPdf,
    /// The file is encrypted, even if the password is empty.
    #[error("the PDF file is encrypted")]
    Encrypted,
    /// The file cannot be parsed.
    #[error("the PDF file is damaged")]
    Broken(#[from] lopdf::Error),
    /// The file can be parsed, but violates the standard.
    #[error("the PDF file is damaged: {0}")]
    Malformed(&'static str),
    /// The object with this number, which others refer to, cannot be parsed.
    #[error("the PDF file is damaged: its object {0} cannot be read")]
    Unreadable(u32),
    /// The file exceeds a limit.
    #[error("the PDF file has {count} {what}, more than {most}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The actual number.
        count: usize,
        /// The limit.
        most: usize,
    },
    /// No file was given.
    #[error("there is no PDF file")]
    Nothing,
    /// The page ranges are invalid, or name pages that the file does not have.
    #[error("`{0}` selects no pages of the file; write pages as in 1-3,7")]
    BadPages(String),
    /// A metadata field is unknown or has an invalid value.
    #[error("the metadata `{name}` {problem}")]
    BadMetadata {
        /// The field.
        name: String,
        /// The problem.
        problem: &'static str,
    },
    /// A form field has a value but no appearance, and none can be generated.
    #[error("the form field `{0}` has a value but no appearance, and none can be made")]
    NoAppearance(String),
    /// Pages cannot be turned by this angle.
    #[error("pages are turned by 90, 180 or 270 degrees, not by {0}")]
    BadAngle(u16),
    /// A bookmark cannot be written.
    #[error("the bookmark `{title}` {problem}")]
    BadBookmark {
        /// What it says.
        title: String,
        /// The problem.
        problem: &'static str,
    },
    /// A file cannot be attached.
    #[error("the attached file `{name}` {problem}")]
    BadAttachment {
        /// Its name.
        name: String,
        /// The problem.
        problem: &'static str,
    },
    /// A file is not attached.
    #[error("no attached file is named `{name}`; there are {known}")]
    NotAttached {
        /// The name.
        name: String,
        /// The names of those that are.
        known: String,
    },
    /// Pages cannot be drawn on new ones in this way.
    #[error("{0}")]
    BadPlacement(String),
    /// A password cannot be used, or is the wrong one.
    #[error("the password {0}")]
    BadPassword(&'static str),
    /// The file is archival, and such files are never encrypted (ISO 19005-2, 6.1.3).
    #[error("a PDF/A file cannot be encrypted")]
    Archival,
    /// The file cannot become archival or accessible.
    #[error("the file cannot be made {standard}: {reasons}")]
    NotArchival {
        /// Name of the standard.
        standard: &'static str,
        /// The rules that it breaks.
        reasons: String,
    },
    /// A change would break a signature.
    #[error(
        "the PDF file is signed, and this would break its signature; `flatten` draws what is to be \
         seen of it and removes it"
    )]
    Signed,
    /// A signature cannot be made.
    #[error("the signature {0}")]
    BadSignature(String),
    /// The picture of a stamp cannot be drawn.
    #[error("the stamp {0}")]
    BadStamp(&'static str),
    /// Fields cannot be filled in.
    #[error("{0}")]
    BadField(String),
    /// An area that is to be redacted is none of the file's.
    #[error("an area to redact: {0}")]
    BadRegion(String),
    /// What is in an area cannot be taken out for certain.
    #[error("the area cannot be redacted: {0}")]
    NotRedacted(String),
    /// The file cannot be made smaller in this way.
    #[error("`optimize` {0}")]
    BadOptimization(&'static str),
    /// The result could not be written.
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
            Self::Broken(_) | Self::Malformed(_) | Self::Unreadable(_) => Code::DocumentDamaged,
            Self::TooLarge { most, .. } => Code::TooLarge(What::Pdf, *most as u64),
            Self::BadPages(_)
            | Self::BadMetadata { .. }
            | Self::BadAngle(_)
            | Self::BadBookmark { .. }
            | Self::BadAttachment { .. }
            | Self::NotAttached { .. }
            | Self::BadPlacement(_)
            | Self::BadPassword(_)
            | Self::Archival
            | Self::BadSignature(_)
            | Self::BadStamp(_)
            | Self::BadOptimization(_)
            | Self::BadRegion(_)
            | Self::BadField(_) => Code::InvalidOption,
            Self::NotRedacted(_) => Code::NotRedacted,
            Self::Signed => Code::DocumentSigned,
            Self::NotArchival { .. } => Code::StandardNotMet,
            Self::NoAppearance(_) => Code::FieldWithoutAppearance,
            Self::NotWritten(_) => Code::InternalError,
        }
    }
}
