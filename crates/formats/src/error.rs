//! Why a writer made nothing.

use platen_document::Diagnostic;

/// Why a writer made nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The document cannot be written in this format; its author can change that.
    #[error("{0}")]
    Author(Diagnostic),
    /// The workbook could not be made.
    #[error("the workbook could not be made")]
    Workbook(#[from] rust_xlsxwriter::XlsxError),
    /// The package could not be made.
    #[error("the package could not be made")]
    Package(#[from] zip::result::ZipError),
    /// The package could not be compressed.
    #[error("the package could not be compressed")]
    Compression(#[from] std::io::Error),
    /// A picture could not be encoded.
    #[error("a picture could not be encoded")]
    Picture(#[from] png::EncodingError),
}
