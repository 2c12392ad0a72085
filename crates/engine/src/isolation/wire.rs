//! Wire format between the client and a cell. The client sends the template's source first, as a
//! message of its own; then the job: the length of its head in four bytes, little-endian, the head
//! as JSON, data and attachments. A message of the cell is a letter followed by its content.

use std::{sync::Arc, time::Duration};

use platen_document::{
    Diagnostic,
    template::{Orientation, PaperSize},
};
use platen_formats::{
    csv::{CsvOptions, CsvValues},
    pdf::{Attachment, Error as PdfError, Relationship, Standard},
};
use platen_render::{Error as RenderError, Format, PreviewPages, RenderOptions, Rendered, Stage};
use serde::{Deserialize, Serialize};

use crate::Error;

/// Request for an asset; its name follows.
pub(super) const ASSET: u8 = b'a';
/// Request for the fonts of a family; its name follows. The answer has names of assets, as JSON.
pub(super) const FONTS: u8 = b'n';
/// Request for a helper call; name and arguments follow, as JSON.
pub(super) const HELPER: u8 = b'h';
/// Start of a document; its [`Head`] follows.
pub(super) const HEAD: u8 = b'd';
/// A chunk of the document.
pub(super) const PIECE: u8 = b'p';
/// End of the last document.
pub(super) const END: u8 = b'z';
/// Result of a validation; diagnostics follow, as JSON.
pub(super) const REPORT: u8 = b'r';
/// No document; a [`Failure`] follows.
pub(super) const FAILURE: u8 = b'f';

/// Prefix of the bytes of an asset or of the value of a helper. In a response without it, the
/// reason for the failure follows.
pub(super) const FOUND: u8 = 1;

/// Chunk size of a document, in bytes.
pub(super) const PIECE_BYTES: usize = 256 << 10;

/// Stage names, which are constants on both sides.
const STAGES: [&str; 3] = ["bind", "layout", "write"];

const RELATIONSHIPS: [Relationship; 5] = [
    Relationship::Data,
    Relationship::Source,
    Relationship::Alternative,
    Relationship::Supplement,
    Relationship::Unspecified,
];

const STANDARDS: [(Standard, &str); 3] = [
    (Standard::Pdf17, "PDF 1.7"),
    (Standard::PdfA2b, "PDF/A-2b"),
    (Standard::PdfA3b, "PDF/A-3b"),
];

#[derive(Debug, Default, Serialize, Deserialize)]
struct JobHead {
    task: Task,
    data_bytes: usize,
    formats: Vec<String>,
    locale: Option<String>,
    time_zone: Option<String>,
    paper_size: Option<PaperSize>,
    orientation: Option<Orientation>,
    /// Index into [`STANDARDS`].
    standard: Option<usize>,
    untagged: bool,
    page: Option<u32>,
    dots_per_inch: Option<f32>,
    preview: Option<PreviewPages>,
    embed_fonts: bool,
    csv: CsvHead,
    now_unix_seconds: Option<i64>,
    attachments: Vec<AttachmentHead>,
}

/// Table and style of a CSV.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CsvHead {
    table: Option<String>,
    delimiter: char,
    quote_all: bool,
    bom: bool,
    formatted: bool,
}

/// What the cell does with a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Task {
    /// Renders documents.
    #[default]
    Render,
    /// Validates the template.
    Validate,
    /// Validates the template and binds it to the data.
    ValidateData,
}

#[derive(Debug, Serialize, Deserialize)]
struct AttachmentHead {
    name: String,
    media_type: String,
    description: Option<String>,
    relationship: u8,
    size_bytes: usize,
}

/// A job as the cell decodes it.
pub(super) struct Job<'a> {
    pub task: Task,
    pub data: &'a [u8],
    pub formats: Vec<Format>,
    pub options: RenderOptions,
}

/// Encodes a job.
pub(super) fn encode_job(
    task: Task,
    data: &[u8],
    formats: &[Format],
    options: &RenderOptions,
    now_unix_seconds: i64,
) -> Vec<u8> {
    let attachments = &options.attachments;
    let place = |standard: Standard| STANDARDS.iter().position(|(one, _)| *one == standard);
    let head = JobHead {
        task,
        data_bytes: data.len(),
        formats: formats
            .iter()
            .map(|format| format.name().to_owned())
            .collect(),
        locale: options.locale.clone(),
        time_zone: options.time_zone.clone(),
        paper_size: options.paper_size.clone(),
        orientation: options.orientation,
        standard: options.standard.and_then(place),
        untagged: options.untagged,
        page: options.page,
        dots_per_inch: options.dots_per_inch,
        preview: options.preview,
        embed_fonts: options.embed_fonts,
        csv: CsvHead {
            table: options.csv.table.clone(),
            delimiter: options.csv.delimiter,
            quote_all: options.csv.quote_all,
            bom: options.csv.bom,
            formatted: options.csv.values == CsvValues::Formatted,
        },
        now_unix_seconds: Some(now_unix_seconds),
        attachments: attachments.iter().map(attachment_head).collect(),
    };
    let head = serde_json::to_vec(&head).unwrap_or_default();
    let attached: usize = attachments.iter().map(|one| one.bytes.len()).sum();
    let mut job = Vec::with_capacity(4 + head.len() + data.len() + attached);
    job.extend_from_slice(&(head.len() as u32).to_le_bytes());
    job.extend_from_slice(&head);
    job.extend_from_slice(data);
    for attachment in attachments {
        job.extend_from_slice(&attachment.bytes);
    }
    job
}

fn attachment_head(attachment: &Attachment) -> AttachmentHead {
    let place = RELATIONSHIPS
        .iter()
        .position(|one| *one == attachment.relationship);
    AttachmentHead {
        name: attachment.name.clone(),
        media_type: attachment.media_type.clone(),
        description: attachment.description.clone(),
        relationship: place.unwrap_or(RELATIONSHIPS.len() - 1) as u8,
        size_bytes: attachment.bytes.len(),
    }
}

/// Decodes the job in `message`; `None` if it is malformed.
pub(super) fn decode_job(message: &[u8]) -> Option<Job<'_>> {
    let (length, rest) = message.split_first_chunk::<4>()?;
    let (head, mut rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let head: JobHead = serde_json::from_slice(head).ok()?;
    let mut take = |size: usize| -> Option<&[u8]> {
        let (taken, left) = rest.split_at_checked(size)?;
        rest = left;
        Some(taken)
    };
    let data = take(head.data_bytes)?;
    let mut attachments = Vec::with_capacity(head.attachments.len());
    for attachment in head.attachments {
        attachments.push(Attachment {
            name: attachment.name,
            media_type: attachment.media_type,
            description: attachment.description,
            relationship: *RELATIONSHIPS.get(usize::from(attachment.relationship))?,
            bytes: Arc::new(take(attachment.size_bytes)?.to_vec()),
        });
    }
    let formats = head.formats.iter().map(|name| name.parse().ok());
    Some(Job {
        task: head.task,
        data,
        formats: formats.collect::<Option<_>>()?,
        options: RenderOptions {
            locale: head.locale,
            time_zone: head.time_zone,
            paper_size: head.paper_size,
            orientation: head.orientation,
            standard: match head.standard {
                Some(place) => Some(STANDARDS.get(place)?.0),
                None => None,
            },
            untagged: head.untagged,
            attachments,
            page: head.page,
            dots_per_inch: head.dots_per_inch,
            preview: head.preview,
            embed_fonts: head.embed_fonts,
            csv: CsvOptions {
                table: head.csv.table,
                delimiter: head.csv.delimiter,
                quote_all: head.csv.quote_all,
                bom: head.csv.bom,
                values: if head.csv.formatted {
                    CsvValues::Formatted
                } else {
                    CsvValues::Raw
                },
                ..CsvOptions::default()
            },
            now_unix_seconds: head.now_unix_seconds,
            assets: None,
            stored: None,
            stop: None,
        },
    })
}

/// Metadata sent before the bytes of a document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Head {
    format: String,
    pages: Option<u32>,
    warnings: Vec<Diagnostic>,
    /// Index into [`STAGES`] and nanoseconds.
    stages: Vec<(usize, u64)>,
    pub size_bytes: usize,
}

impl Head {
    pub fn of(rendered: &Rendered) -> Self {
        let stage = |stage: &Stage| {
            let place = STAGES.iter().position(|name| *name == stage.name)?;
            Some((place, stage.duration.as_nanos() as u64))
        };
        Self {
            format: rendered.format.name().to_owned(),
            pages: rendered.pages,
            warnings: rendered.warnings.clone(),
            stages: rendered.stages.iter().filter_map(stage).collect(),
            size_bytes: rendered.bytes.len(),
        }
    }

    /// The document without its bytes.
    pub fn into_rendered(self) -> Option<Rendered> {
        let stage = |(place, nanoseconds): (usize, u64)| {
            Some(Stage {
                name: STAGES.get(place)?,
                duration: Duration::from_nanos(nanoseconds),
            })
        };
        Some(Rendered {
            bytes: Vec::new(),
            format: self.format.parse().ok()?,
            pages: self.pages,
            warnings: self.warnings,
            stages: self.stages.into_iter().filter_map(stage).collect(),
        })
    }
}

/// Why there is no document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Failure {
    Mistakes(Vec<Diagnostic>),
    Data(String),
    NoSuchPage {
        page: u32,
        pages: u32,
    },
    /// The template has no e-invoice.
    NoInvoice,
    /// An attachment has the name of the e-invoice.
    InvoiceName(String),
    PictureTooLarge,
    Standard {
        name: String,
        reasons: String,
    },
    Image(String),
    Bug(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Data(reason) => Self::Data(reason),
            Error::Render(error) => error.into(),
            other => Self::Bug(platen_render::chain(&other)),
        }
    }
}

impl From<RenderError> for Failure {
    fn from(error: RenderError) -> Self {
        match error {
            RenderError::Mistakes(mistakes) => Self::Mistakes(mistakes),
            RenderError::NoSuchPage { page, pages } => Self::NoSuchPage { page, pages },
            RenderError::NoInvoice => Self::NoInvoice,
            RenderError::Pdf(PdfError::InvoiceName(name)) => Self::InvoiceName(name),
            RenderError::PictureTooLarge => Self::PictureTooLarge,
            RenderError::Pdf(PdfError::Standard { standard, reasons }) => Self::Standard {
                name: standard.to_owned(),
                reasons,
            },
            RenderError::Pdf(PdfError::Image(reason)) => Self::Image(reason),
            RenderError::Bug(reason) => Self::Bug(reason),
            other => Self::Bug(platen_render::chain(&other)),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Render(match failure {
            Failure::Data(reason) => return Self::Data(reason),
            Failure::Mistakes(mistakes) => RenderError::Mistakes(mistakes),
            Failure::NoSuchPage { page, pages } => RenderError::NoSuchPage { page, pages },
            Failure::NoInvoice => RenderError::NoInvoice,
            Failure::InvoiceName(name) => RenderError::Pdf(PdfError::InvoiceName(name)),
            Failure::PictureTooLarge => RenderError::PictureTooLarge,
            Failure::Standard { name, reasons } => {
                let known = STANDARDS.iter().find(|(_, known)| *known == name);
                let standard = known.map_or("the standard", |(_, known)| known);
                RenderError::Pdf(PdfError::Standard { standard, reasons })
            }
            Failure::Image(reason) => RenderError::Pdf(PdfError::Image(reason)),
            Failure::Bug(reason) => RenderError::Bug(reason),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_come_back() {
        let csv = CsvOptions {
            table: Some("items".to_owned()),
            delimiter: ';',
            quote_all: true,
            bom: true,
            values: CsvValues::Formatted,
            ..CsvOptions::default()
        };
        let options = RenderOptions {
            locale: Some("de-DE".to_owned()),
            standard: Some(Standard::PdfA3b),
            attachments: vec![Attachment {
                name: "a.xml".to_owned(),
                media_type: "application/xml".to_owned(),
                description: None,
                relationship: Relationship::Source,
                bytes: Arc::new(b"<a/>".to_vec()),
            }],
            page: Some(2),
            dots_per_inch: Some(72.0),
            preview: Some(PreviewPages { first: 2, count: 3 }),
            embed_fonts: true,
            csv: csv.clone(),
            ..RenderOptions::default()
        };
        let formats = [Format::Pdf, Format::Csv];
        let bytes = encode_job(Task::Render, b"[]", &formats, &options, 7);
        let job = decode_job(&bytes).unwrap();
        assert_eq!(job.data, b"[]");
        assert_eq!(job.formats, formats);
        assert_eq!(job.options.locale.as_deref(), Some("de-DE"));
        assert_eq!(job.options.standard, Some(Standard::PdfA3b));
        assert_eq!(job.options.now_unix_seconds, Some(7));
        assert!(job.options.embed_fonts);
        assert_eq!(job.options.csv, csv);
        assert_eq!(job.options.preview, options.preview);
        let attachment = &job.options.attachments[0];
        assert_eq!(attachment.relationship, Relationship::Source);
        assert_eq!(**attachment.bytes, *b"<a/>");
        assert!(decode_job(&bytes[..bytes.len() - 1]).is_none());
        assert!(decode_job(b"\xff\xff\xff\xff").is_none());
        let bytes = encode_job(Task::Render, b"", &[], &RenderOptions::default(), 0);
        let job = decode_job(&bytes).unwrap();
        assert_eq!(job.options.standard, None, "none was asked for");
    }

    #[test]
    fn failures_keep_their_kind() {
        let back = |error: RenderError| match Error::from(Failure::from(error)) {
            Error::Render(error) => error,
            other => panic!("{other:?}"),
        };
        let standard = PdfError::Standard {
            standard: "PDF/A-2b",
            reasons: "no title".to_owned(),
        };
        let text = "the document cannot be written as PDF/A-2b: no title";
        assert_eq!(back(RenderError::Pdf(standard)).to_string(), text);
        let mistakes = vec![Diagnostic::error("unknown-field", "/b", "c")];
        match back(RenderError::Mistakes(mistakes.clone())) {
            RenderError::Mistakes(same) => assert_eq!(same, mistakes),
            other => panic!("{other:?}"),
        }
        let page = RenderError::NoSuchPage { page: 3, pages: 1 };
        assert!(matches!(
            back(page),
            RenderError::NoSuchPage { page: 3, pages: 1 }
        ));
        assert!(matches!(
            back(RenderError::PictureTooLarge),
            RenderError::PictureTooLarge
        ));
    }
}
