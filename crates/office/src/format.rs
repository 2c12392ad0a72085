//! Kinds of documents, target formats, and LibreOffice's filters for both.

use std::borrow::Cow;

/// Kind of an opened document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// A text document.
    Text,
    /// A web page.
    Web,
    /// A spreadsheet.
    Sheet,
    /// A presentation.
    Slides,
    /// A drawing or an image.
    Drawing,
    /// A formula.
    Formula,
}

impl Family {
    /// A name for messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text document",
            Self::Web => "web page",
            Self::Sheet => "spreadsheet",
            Self::Slides => "presentation",
            Self::Drawing => "drawing",
            Self::Formula => "formula",
        }
    }
}

/// A target format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the formats")]
pub enum Target {
    Pdf,
    Docx,
    Odt,
    Rtf,
    Xlsx,
    Ods,
    Csv,
    Pptx,
    Odp,
    Odg,
    Html,
    Txt,
    Png,
    Jpg,
    Svg,
    Epub,
}

/// The format of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The extension of its files, without the dot.
    pub extension: Cow<'static, str>,
    /// Its media type.
    pub media_type: Cow<'static, str>,
}

impl Format {
    /// Whether it is PDF.
    #[must_use]
    pub fn is_pdf(&self) -> bool {
        self.extension == Target::Pdf.extension()
    }
}

impl From<Target> for Format {
    fn from(target: Target) -> Self {
        Self {
            extension: Cow::Borrowed(target.extension()),
            media_type: Cow::Borrowed(target.media_type()),
        }
    }
}

/// Targets with extension and media type.
const TARGETS: [(Target, &str, &str); 16] = {
    use Target::*;
    [
        (Pdf, "pdf", "application/pdf"),
        (
            Docx,
            "docx",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (Odt, "odt", "application/vnd.oasis.opendocument.text"),
        (Rtf, "rtf", "application/rtf"),
        (
            Xlsx,
            "xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ),
        (Ods, "ods", "application/vnd.oasis.opendocument.spreadsheet"),
        (Csv, "csv", "text/csv; charset=utf-8"),
        (
            Pptx,
            "pptx",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        ),
        (
            Odp,
            "odp",
            "application/vnd.oasis.opendocument.presentation",
        ),
        (Odg, "odg", "application/vnd.oasis.opendocument.graphics"),
        (Html, "html", "text/html; charset=utf-8"),
        (Txt, "txt", "text/plain; charset=utf-8"),
        (Png, "png", "image/png"),
        (Jpg, "jpg", "image/jpeg"),
        (Svg, "svg", "image/svg+xml"),
        (Epub, "epub", "application/epub+zip"),
    ]
};

/// Options of LibreOffice's CSV export: comma, double quote, UTF-8, from the first line, cells as
/// displayed.
const CSV_OPTIONS: &str = "44,34,76,1,,0,false,true,false";

impl Target {
    /// All targets.
    pub fn all() -> impl Iterator<Item = Self> {
        TARGETS.iter().map(|(target, _, _)| *target)
    }

    /// Finds a target by its extension, without the dot and in any case.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        let same = |it: &&(Self, &str, &str)| it.1.eq_ignore_ascii_case(extension);
        TARGETS.iter().find(same).map(|it| it.0)
    }

    fn row(self) -> &'static (Self, &'static str, &'static str) {
        let row = TARGETS.iter().find(|it| it.0 == self);
        row.unwrap_or(&TARGETS[0])
    }

    /// Its extension, without the dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        self.row().1
    }

    /// Its media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        self.row().2
    }

    /// The export filter and its options; `None` if documents of this kind cannot be converted.
    pub(crate) fn filter(self, family: Family) -> Option<(&'static str, Option<&'static str>)> {
        use Family::{Drawing, Formula, Sheet, Slides, Text, Web};
        let filter = match (self, family) {
            (Self::Pdf, Text) => "writer_pdf_Export",
            (Self::Pdf, Web) => "writer_web_pdf_Export",
            (Self::Pdf, Sheet) => "calc_pdf_Export",
            (Self::Pdf, Slides) => "impress_pdf_Export",
            (Self::Pdf, Drawing) => "draw_pdf_Export",
            (Self::Pdf, Formula) => "math_pdf_Export",
            (Self::Docx, Text) => "MS Word 2007 XML",
            (Self::Odt, Text) => "writer8",
            (Self::Odt, Web) => "writerweb8_writer",
            (Self::Rtf, Text) => "Rich Text Format",
            (Self::Epub, Text) => "EPUB",
            (Self::Html, Text) => return Some(("HTML (StarWriter)", Some("EmbedImages"))),
            (Self::Html, Web) => return Some(("HTML", Some("EmbedImages"))),
            (Self::Html, Sheet) => return Some(("HTML (StarCalc)", Some("EmbedImages"))),
            (Self::Txt, Text) => return Some(("Text (encoded)", Some("UTF8,LF"))),
            (Self::Txt, Web) => {
                return Some(("Text (encoded) (StarWriter/Web)", Some("UTF8,LF")));
            }
            (Self::Xlsx, Sheet) => "Calc MS Excel 2007 XML",
            (Self::Ods, Sheet) => "calc8",
            (Self::Csv, Sheet) => {
                return Some(("Text - txt - csv (StarCalc)", Some(CSV_OPTIONS)));
            }
            (Self::Pptx, Slides) => "Impress MS PowerPoint 2007 XML",
            (Self::Odp, Slides) => "impress8",
            (Self::Odg, Drawing) => "draw8",
            (Self::Png, Text) => "writer_png_Export",
            (Self::Png, Web) => "writer_web_png_Export",
            (Self::Png, Sheet) => "calc_png_Export",
            (Self::Png, Slides) => "impress_png_Export",
            (Self::Png, Drawing) => "draw_png_Export",
            (Self::Jpg, Text) => "writer_jpg_Export",
            (Self::Jpg, Web) => "writer_web_jpg_Export",
            (Self::Jpg, Sheet) => "calc_jpg_Export",
            (Self::Jpg, Slides) => "impress_jpg_Export",
            (Self::Jpg, Drawing) => "draw_jpg_Export",
            (Self::Svg, Slides) => "impress_svg_Export",
            (Self::Svg, Drawing) => "draw_svg_Export",
            _ => return None,
        };
        Some((filter, None))
    }
}
