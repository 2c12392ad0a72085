//! Why no PDF was written.

/// Why no PDF was written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The document violates the requested standard.
    #[error("the document cannot be written as {standard}: {reasons}")]
    Standard {
        /// Name of the standard.
        standard: &'static str,
        /// The violations, at most five.
        reasons: String,
    },
    /// An image could not be decoded, or takes too much to draw.
    #[error("an image could not be decoded, or takes too much to draw: {0}")]
    Image(String),
    /// The page of a PDF behind the text cannot be used.
    #[error("the PDF in the background cannot be used")]
    Background(#[from] platen_pdf::Error),
    /// A font could not be embedded.
    #[error("a font could not be embedded: {0}")]
    Font(String),
    /// An attachment has the name of the e-invoice.
    #[error("the e-invoice is embedded as `{0}`: give the attachment of that name another one")]
    InvoiceName(String),
    /// The file would exceed 4 GiB.
    #[error("the PDF would be larger than 4 GiB")]
    TooLarge,
}
