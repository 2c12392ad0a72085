//! Errors of a rendering, and their codes.

use platen_document::{Diagnostic, diagnostic::Source, work::Interruption};
use platen_fault::{Code, Stage, What};

/// Largest picture of a page, in pixels.
const MAX_PICTURE_PIXELS: u64 = 64_000_000;

/// Errors of a rendering.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Errors in the template or the data.
    #[error("the template or the data has {} error{}", count(.0), if count(.0) == 1 { "" } else { "s" })]
    Mistakes(Vec<Diagnostic>),
    /// The options ask for something the format does not support.
    #[error(transparent)]
    Pdf(platen_formats::pdf::Error),
    /// A writer failed.
    #[error("the document could not be written")]
    Write(#[source] platen_formats::Error),
    /// The document has no such page.
    #[error("the document has {pages} page{}, so there is no page {page}", if *.pages == 1 { "" } else { "s" })]
    NoSuchPage {
        /// Requested page, from 1.
        page: u32,
        /// Number of pages in the document.
        pages: u32,
    },
    /// The template has no section `invoice`.
    #[error("the template has no e-invoice: add a section `invoice` to write XML")]
    NoInvoice,
    /// The picture of a page would be too large.
    #[error(
        "the image would have more than 64 million pixels, or a drawing on the page takes too much: request fewer dots per inch"
    )]
    PictureTooLarge,
    /// The rendering exceeded its memory limit.
    #[error("rendering exceeded its memory limit of {limit_bytes} bytes")]
    Memory {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The job was stopped: it timed out, or the client disconnected.
    #[error("job stopped: timed out, or the client disconnected")]
    Stopped,
    /// A bug. The message goes to the log.
    #[error("internal error: {0}")]
    Bug(String),
}

/// Largest Office file, in bytes: what a ZIP file without extensions holds.
const MAX_PACKAGE_BYTES: u64 = 4 << 30;

/// Number of errors, without the warnings in the same list.
fn count(mistakes: &[Diagnostic]) -> usize {
    mistakes.iter().filter(|found| found.is_error()).count()
}

impl From<platen_formats::Error> for Error {
    fn from(error: platen_formats::Error) -> Self {
        match error {
            platen_formats::Error::Author(mistake) => Self::Mistakes(vec![mistake]),
            other => Self::Write(other),
        }
    }
}

impl From<platen_formats::pdf::Error> for Error {
    fn from(error: platen_formats::pdf::Error) -> Self {
        match error {
            // The author named the file; which section of pages has it, the writer does not know.
            platen_formats::pdf::Error::Background(reason) => {
                let message = format!("the PDF in the background cannot be used: {reason}");
                Self::Mistakes(vec![
                    Diagnostic::error("invalid-image", "/page/background", message)
                        .with_hint("store a PDF file that is whole and not encrypted"),
                ])
            }
            other => Self::Pdf(other),
        }
    }
}

impl From<Interruption> for Error {
    fn from(interruption: Interruption) -> Self {
        match interruption {
            Interruption::Stopped => Self::Stopped,
            Interruption::Memory { limit_bytes } => Self::Memory { limit_bytes },
            // Callers that set these limits map them to their own errors first.
            Interruption::Steps { .. } | Interruption::Stack { .. } => {
                Self::Bug("a bound of another computation was reached".to_owned())
            }
        }
    }
}

impl Error {
    /// The error's stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        use platen_formats::pdf::Error as Pdf;
        match self {
            Self::Mistakes(mistakes) => of_mistakes(mistakes),
            Self::NoSuchPage { .. } | Self::NoInvoice => Code::InvalidOption,
            Self::Pdf(Pdf::InvoiceName(_)) => Code::InvalidOption,
            Self::Write(platen_formats::Error::PackageSize) => {
                Code::TooLarge(What::Document, MAX_PACKAGE_BYTES)
            }
            Self::PictureTooLarge => Code::TooLarge(What::Picture, MAX_PICTURE_PIXELS),
            Self::Pdf(Pdf::Standard { .. }) => Code::StandardNotMet,
            Self::Pdf(Pdf::Image(_)) => Code::InvalidTemplate,
            Self::Memory { limit_bytes } => Code::MemoryLimit(Stage::Render, *limit_bytes),
            Self::Stopped => Code::Timeout(Stage::Render),
            Self::Pdf(_) | Self::Write(_) | Self::Bug(_) => Code::InternalError,
        }
    }
}

/// The code for errors of the template's author: `invalid-data` only if nothing else is wrong.
#[must_use]
pub fn of_mistakes(mistakes: &[Diagnostic]) -> Code {
    let mut errors = mistakes.iter().filter(|found| found.is_error());
    match errors.all(|found| found.source == Source::Data) {
        true => Code::InvalidData,
        false => Code::InvalidTemplate,
    }
}

/// An error with its chain of causes.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        said += &format!(": {cause}");
        source = cause.source();
    }
    said
}
