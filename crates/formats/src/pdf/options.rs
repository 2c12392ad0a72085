//! What the caller chooses about a PDF: its standard, tags and embedded files.

use std::sync::Arc;

/// The standard that the PDF must satisfy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standard {
    /// PDF 1.7, tagged, and PDF/UA-1 if the document permits it.
    #[default]
    Pdf17,
    /// PDF/A-2b. It allows no attachments other than PDF/A files, and none are accepted here.
    PdfA2b,
    /// PDF/A-3b, which allows attachments of any type.
    PdfA3b,
}

impl Standard {
    /// Name for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pdf17 => "PDF 1.7",
            Self::PdfA2b => "PDF/A-2b",
            Self::PdfA3b => "PDF/A-3b",
        }
    }
}

/// A file embedded in the PDF.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// File name.
    pub name: String,
    /// Media type, such as `application/xml`.
    pub media_type: String,
    /// Description for readers; the file name if absent.
    pub description: Option<String>,
    /// Its relationship to the document.
    pub relationship: Relationship,
    /// Its content.
    pub bytes: Arc<Vec<u8>>,
}

/// How an attachment relates to the document, ISO 32000-2 §7.11.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relationship {
    /// The data that the document presents.
    Data,
    /// The source that the document was made from.
    Source,
    /// The same content in another form.
    Alternative,
    /// Additional material.
    Supplement,
    /// Unspecified.
    #[default]
    Unspecified,
}

/// Options of the PDF writer.
#[derive(Clone, Debug)]
pub struct Options {
    /// The standard to satisfy.
    pub standard: Standard,
    /// Writes the logical structure, which PDF/UA-1 requires.
    pub tagged: bool,
    /// Files to embed.
    pub attachments: Vec<Attachment>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            standard: Standard::Pdf17,
            tagged: true,
            attachments: Vec::new(),
        }
    }
}
