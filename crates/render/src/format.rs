//! Output formats: names, media types, file extensions.

use std::str::FromStr;

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// PDF.
    Pdf,
    /// HTML.
    Html,
    /// Word.
    Docx,
    /// PowerPoint.
    Pptx,
    /// Excel.
    Xlsx,
    /// Comma-separated values.
    Csv,
    /// The e-invoice of the document, as XML.
    Xml,
    /// A page as PNG.
    Png,
    /// A page as SVG.
    Svg,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 9] = [
        Self::Pdf,
        Self::Html,
        Self::Docx,
        Self::Pptx,
        Self::Xlsx,
        Self::Csv,
        Self::Xml,
        Self::Png,
        Self::Svg,
    ];

    /// The format's name, which is also its file extension.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Html => "html",
            Self::Docx => "docx",
            Self::Pptx => "pptx",
            Self::Xlsx => "xlsx",
            Self::Csv => "csv",
            Self::Xml => "xml",
            Self::Png => "png",
            Self::Svg => "svg",
        }
    }

    /// The media type, with a character set for text formats.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Html => "text/html; charset=utf-8",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pptx => {
                "application/vnd.openxmlformats-officedocument.presentationml.presentation"
            }
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Xml => "application/xml",
            Self::Png => "image/png",
            Self::Svg => "image/svg+xml",
        }
    }

    /// The format of a file name, by its extension.
    #[must_use]
    pub fn of_file_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        extension.to_ascii_lowercase().parse().ok()
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| {
                format!(
                    "`{name}` is not a format: use pdf, html, docx, pptx, xlsx, csv, xml, png or svg"
                )
            })
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
