//! Whether PDF files satisfy a standard, by its name.

use platen_document::work;
use platen_pdf::{FileError, Limits, Validation};
use serde_json::Value as Json;

use super::{PdfChangeError, archive, wrong};

/// Whether the PDF file `bytes` satisfies `standard` (`pdf-a-2b` or `pdf-a-3b`), PDF/UA-1 where
/// `accessible`, or without both what it claims to.
///
/// # Errors
/// There is no such standard, or the file cannot be read.
pub fn validate_pdf(
    bytes: &[u8],
    standard: Option<&str>,
    accessible: bool,
) -> Result<Validation, PdfChangeError> {
    let standard = standard.map(|name| serde_json::from_value(Json::from(name)));
    let standard = standard
        .transpose()
        .map_err(|_| wrong("`standard` is neither `pdf-a-2b` nor `pdf-a-3b`"))?;
    let how = match (standard, accessible) {
        (None, false) => None,
        _ => Some(archive(standard, accessible)?),
    };
    let found = platen_pdf::validate(bytes, how.as_ref(), &Limits::default(), &work::look);
    found.map_err(|error| PdfChangeError::Pdf(FileError { name: None, error }))
}
