//! Errors of the writers.

use platen_document::Diagnostic;

/// Why a writer produced no file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The document cannot be written in this format unless its author changes it.
    #[error("{0}")]
    Author(Diagnostic),
    /// The XLSX library failed.
    #[error("the workbook could not be made")]
    Workbook(#[from] rust_xlsxwriter::XlsxError),
    /// The OOXML package could not be put together again.
    #[error("the package could not be made")]
    Package(#[from] zip::result::ZipError),
    /// The OOXML package would exceed what a ZIP file holds: 4 GiB, and 65,534 parts.
    #[error("the package would be larger than 4 GiB, or have more than 65,534 parts")]
    PackageSize,
    /// The compressor failed.
    #[error("the package could not be compressed")]
    Compression(#[from] std::io::Error),
    /// An image could not be encoded as PNG.
    #[error("a picture could not be encoded")]
    Picture(#[from] png::EncodingError),
}
