//! Render options of a request in addition to its template and data, the same over HTTP and in
//! flows.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use platen_document::template::{Orientation, PaperSize};
use platen_fault::{Code, What};
use platen_formats::csv::{CsvOptions, CsvValues, is_separator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Attachment, Relationship, RenderOptions, Standard};

/// Most attachments of one PDF.
const MAX_ATTACHMENTS: usize = 50;

/// Why options are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OptionsError {
    /// The error's stable code.
    pub code: Code,
    /// One sentence for people.
    pub message: String,
}

fn invalid(message: impl Into<String>) -> OptionsError {
    OptionsError {
        code: Code::InvalidOption,
        message: message.into(),
    }
}

/// Options that override the template.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Options")]
pub struct DocumentOptions {
    /// BCP 47 locale, such as `de-DE`.
    locale: Option<String>,
    /// IANA time zone, such as `Europe/Berlin`.
    time_zone: Option<String>,
    /// Paper.
    paper_size: Option<PaperSize>,
    /// Orientation of the paper.
    orientation: Option<Orientation>,
    /// Page of a PNG or SVG, from 1.
    page: Option<u32>,
    /// Resolution of a PNG in dots per inch; 144 by default.
    dpi: Option<f32>,
    /// Name of the table for a CSV; by default the first.
    table: Option<String>,
    /// CSV options.
    #[serde(default)]
    csv: CsvStyle,
    /// HTML options.
    #[serde(default)]
    html: HtmlStyle,
    /// File name; by default the template's key with the format's extension.
    pub filename: Option<String>,
    /// Whether a browser displays or downloads the file.
    pub disposition: Option<Disposition>,
    /// Time of `now()` and of the file's dates; by default the current time.
    now: Option<Moment>,
    /// PDF options.
    #[serde(default)]
    pdf: PdfOptions,
}

/// HTML options.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HtmlStyle {
    /// Where readers get the fonts from; `named` by default.
    fonts: Option<HtmlFonts>,
}

/// Where readers of an HTML file get its fonts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum HtmlFonts {
    /// From their system, by name.
    Named,
    /// From the file, which brings what it uses of them.
    Embedded,
}

/// CSV options.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CsvStyle {
    /// Character between fields: `,` by default, `;` for Excel in most of Europe, or a tab.
    separator: Option<char>,
    /// Starts the file with a byte order mark, without which Excel does not recognize UTF-8.
    bom: Option<bool>,
    /// Which fields are quoted; those that need it by default.
    quote: Option<Quote>,
    /// How numbers, dates and truth values are written; `raw` by default.
    values: Option<CsvForm>,
}

/// Which fields of a CSV are quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Quote {
    /// Those with a separator, a quotation mark or a line end.
    Needed,
    /// All.
    All,
}

/// How typed values of a CSV are written.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum CsvForm {
    /// For programs: a decimal point, no grouping, ISO 8601 dates.
    Raw,
    /// For readers, as in the other formats.
    Formatted,
}

impl CsvStyle {
    fn into_writer(self, table: Option<String>) -> Result<CsvOptions, OptionsError> {
        let separator = self.separator.unwrap_or(',');
        if !is_separator(separator) {
            return Err(invalid(
                "`csv.separator` must be one character such as `,`, `;`, `|` or a tab",
            ));
        }
        Ok(CsvOptions {
            table,
            delimiter: separator,
            quote_all: self.quote == Some(Quote::All),
            bom: self.bom.unwrap_or_default(),
            values: match self.values {
                Some(CsvForm::Formatted) => CsvValues::Formatted,
                Some(CsvForm::Raw) | None => CsvValues::Raw,
            },
            ..CsvOptions::default()
        })
    }
}

/// Whether a browser displays or downloads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Disposition {
    /// Display.
    Inline,
    /// Download.
    Attachment,
}

/// A point in time: RFC 3339, or seconds since 1970.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Moment {
    /// Seconds since 1970-01-01T00:00:00Z.
    Seconds(i64),
    /// RFC 3339.
    Text(String),
}

/// PDF options.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PdfOptions {
    /// Standard; PDF/UA-1 by default.
    standard: Option<StandardName>,
    /// Tags the logical structure; true by default.
    tagged: Option<bool>,
    /// Attached files, at most 50.
    #[serde(default)]
    attachments: Vec<AttachmentRequest>,
}

/// A standard for PDF files.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
enum StandardName {
    /// PDF/UA-1 on PDF 1.7.
    #[serde(rename = "ua-1", alias = "pdfua-1", alias = "pdf-ua-1")]
    Ua1,
    /// PDF/A-2b.
    #[serde(rename = "pdfa-2b", alias = "a-2b", alias = "pdf-a-2b")]
    A2b,
    /// PDF/A-3b.
    #[serde(rename = "pdfa-3b", alias = "a-3b", alias = "pdf-a-3b")]
    A3b,
}

/// A file attached to a PDF.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AttachmentRequest {
    /// File name.
    name: String,
    /// Media type; `application/octet-stream` by default.
    media_type: Option<String>,
    /// Description.
    description: Option<String>,
    /// How it relates to the document.
    relationship: Option<RelationshipName>,
    /// Content in base64.
    content_base64: String,
}

/// How an attachment relates to the document, ISO 32000-2 section 7.11.3.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RelationshipName {
    /// Data shown in the document.
    Data,
    /// Source of the document.
    Source,
    /// An alternative representation.
    Alternative,
    /// Supplementary content.
    Supplement,
    /// Unspecified.
    Unspecified,
}

impl DocumentOptions {
    /// Converts to the engine's options. [`attachments`] decodes the attachments separately,
    /// because decoding takes time.
    ///
    /// # Errors
    /// For values out of range.
    pub fn into_engine(self) -> Result<(RenderOptions, Vec<AttachmentRequest>), OptionsError> {
        if self.pdf.attachments.len() > MAX_ATTACHMENTS {
            return Err(OptionsError {
                code: Code::TooLarge(What::Attachments, MAX_ATTACHMENTS as u64),
                message: format!("at most {MAX_ATTACHMENTS} attachments"),
            });
        }
        if self.dpi.is_some_and(|dpi| !(10.0..=1_200.0).contains(&dpi)) {
            return Err(invalid("`dpi` must be 10 to 1200"));
        }
        let options = RenderOptions {
            locale: self.locale,
            time_zone: self.time_zone,
            paper_size: self.paper_size,
            orientation: self.orientation,
            standard: self.pdf.standard.map(|standard| match standard {
                StandardName::Ua1 => Standard::Pdf17,
                StandardName::A2b => Standard::PdfA2b,
                StandardName::A3b => Standard::PdfA3b,
            }),
            untagged: self.pdf.tagged == Some(false),
            page: self.page,
            dots_per_inch: self.dpi,
            embed_fonts: self.html.fonts == Some(HtmlFonts::Embedded),
            csv: self.csv.into_writer(self.table)?,
            now_unix_seconds: self.now.map(|now| seconds(&now)).transpose()?,
            ..RenderOptions::default()
        };
        Ok((options, self.pdf.attachments))
    }
}

fn seconds(moment: &Moment) -> Result<i64, OptionsError> {
    match moment {
        Moment::Seconds(seconds) => Ok(*seconds),
        Moment::Text(text) => text
            .parse::<Timestamp>()
            .map(Timestamp::as_second)
            .map_err(|_| {
                let detail =
                    "`now` must be RFC 3339, such as 2026-11-21T15:00:00Z, or seconds since 1970";
                invalid(detail)
            }),
    }
}

/// Decodes the content of attachments.
///
/// # Errors
/// If the content of one is not valid base64.
pub fn attachments(requests: Vec<AttachmentRequest>) -> Result<Vec<Attachment>, OptionsError> {
    requests.into_iter().map(attachment).collect()
}

fn attachment(request: AttachmentRequest) -> Result<Attachment, OptionsError> {
    let bytes = STANDARD.decode(&request.content_base64).map_err(|error| {
        let name: String = request.name.chars().take(80).collect();
        let detail = format!("the content of the attachment `{name}` is not base64: {error}");
        invalid(detail)
    })?;
    let media_type = request.media_type;
    Ok(Attachment {
        name: request.name,
        media_type: media_type.unwrap_or_else(|| "application/octet-stream".to_owned()),
        description: request.description,
        relationship: match request.relationship {
            Some(RelationshipName::Data) => Relationship::Data,
            Some(RelationshipName::Source) => Relationship::Source,
            Some(RelationshipName::Alternative) => Relationship::Alternative,
            Some(RelationshipName::Supplement) => Relationship::Supplement,
            Some(RelationshipName::Unspecified) | None => Relationship::Unspecified,
        },
        bytes: Arc::new(bytes),
    })
}
