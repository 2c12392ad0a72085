//! Pages to PDF 1.7 with `krilla`: subset fonts, links, bookmarks, metadata, tagged structure
//! (PDF/UA-1, ISO 14289-1), PDF/A-2b and -3b (ISO 19005), attachments.

mod page;
mod structure;
mod text;

use std::{
    collections::HashMap,
    num::NonZeroU16,
    sync::{Arc, Mutex, PoisonError},
};

use krilla::{
    SerializeSettings,
    configure::{Accessibility, Archival, Configuration, ConfigurationBuilder, PdfVersion},
    destination::XyzDestination,
    embed::{AssociationKind, EmbeddedFile, MimeType},
    error::KrillaError,
    geom::Point,
    metadata::{DateTime, Metadata, TextDirection},
    outline::{Outline, OutlineNode},
    tagging::TagTree,
    text::Font,
};
use platen_document::{
    Diagnostic,
    bound::{Direction, Document},
};
use platen_layout::{FaceId, Layout, Shaper, page::OutlineEntry};

use self::{page::PageWriter, structure::Structure};

/// The most structure elements that are written: krilla holds about 750 bytes for each, and a
/// document of 100,000 rows has 600,000.
const MAX_TAGS: usize = 200_000;

/// What the PDF must satisfy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standard {
    /// PDF 1.7, tagged, to PDF/UA-1 where the document allows it.
    #[default]
    Pdf17,
    /// PDF/A-2b.
    PdfA2b,
    /// PDF/A-3b, which allows attachments of any type.
    PdfA3b,
}

/// A file inside the PDF.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// File name.
    pub name: String,
    /// Media type, such as `application/xml`.
    pub media_type: String,
    /// What it is.
    pub description: Option<String>,
    /// How it relates to the document.
    pub relationship: Relationship,
    /// Its content.
    pub bytes: Arc<Vec<u8>>,
}

/// How an attachment relates to the document, ISO 32000-2 section 7.11.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relationship {
    /// Data that the document shows.
    Data,
    /// What the document was made from.
    Source,
    /// The same in another form.
    Alternative,
    /// Something more.
    Supplement,
    /// Not said.
    #[default]
    Unspecified,
}

/// How a PDF is written.
#[derive(Clone, Debug)]
pub struct Options {
    /// What it must satisfy.
    pub standard: Standard,
    /// Writes the logical structure. PDF/UA-1 needs it.
    pub tagged: bool,
    /// Files inside.
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

/// Why no PDF could be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The document breaks the standard that was asked for.
    #[error("the document cannot be written as {standard}: {reasons}")]
    Standard {
        /// Its name.
        standard: &'static str,
        /// What breaks it.
        reasons: String,
    },
    /// A picture could not be decoded.
    #[error("an image could not be decoded: {0}")]
    Image(String),
    /// A font could not be embedded.
    #[error("a font could not be embedded: {0}")]
    Font(String),
    /// Something else.
    #[error("the PDF could not be written: {0}")]
    Other(String),
}

/// Fonts as krilla wants them, prepared once and shared by all documents.
#[derive(Default)]
pub struct FontCache(Mutex<HashMap<FaceId, Option<Font>>>);

impl FontCache {
    fn get(&self, face: FaceId, shaper: &Shaper) -> Option<Font> {
        let mut fonts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        fonts
            .entry(face)
            .or_insert_with(|| {
                let data = shaper.library().face(face)?;
                let bytes: Arc<dyn AsRef<[u8]> + Send + Sync> = Arc::new(data.bytes.clone());
                Font::new(bytes.into(), data.index)
            })
            .clone()
    }
}

/// Writes `layout` of `document` as a PDF; the same input gives the same bytes.
/// Returns it with warnings.
///
/// # Errors
///
/// [`Error::Standard`] where PDF/A was asked for and cannot be kept. PDF/UA-1 that cannot be kept
/// is a warning.
pub fn write(
    document: &Document,
    layout: &Layout,
    shaper: &Shaper,
    fonts: &FontCache,
    options: &Options,
) -> Result<(Vec<u8>, Vec<Diagnostic>), Error> {
    let mut warnings = Vec::new();
    if options.tagged && layout.tags.len() > MAX_TAGS {
        warnings.push(
            Diagnostic::warning(
                "pdf-untagged",
                "",
                format!("the PDF is not tagged: it has more than {MAX_TAGS} structure elements"),
            )
            .with_hint("split the data over several documents to keep them accessible"),
        );
        let untagged = Options {
            tagged: false,
            ..options.clone()
        };
        return write_with(document, layout, shaper, fonts, &untagged, false)
            .map(|bytes| (bytes, warnings))
            .map_err(|error| convert(error, options.standard));
    }
    let accessible = options.tagged && options.attachments.is_empty();
    match write_with(document, layout, shaper, fonts, options, accessible) {
        Ok(bytes) => return Ok((bytes, warnings)),
        Err(KrillaError::Validation(findings)) if accessible => {
            let reasons = reasons(&findings);
            warnings.push(
                Diagnostic::warning(
                    "pdf-ua",
                    "",
                    format!("the PDF is tagged, but is not PDF/UA-1: {reasons}"),
                )
                .with_hint("mend what is named to make the document accessible to all"),
            );
        }
        Err(error) => return Err(convert(error, options.standard)),
    }
    write_with(document, layout, shaper, fonts, options, false)
        .map(|bytes| (bytes, warnings))
        .map_err(|error| convert(error, options.standard))
}

fn write_with(
    document: &Document,
    layout: &Layout,
    shaper: &Shaper,
    fonts: &FontCache,
    options: &Options,
    accessible: bool,
) -> Result<Vec<u8>, KrillaError> {
    let settings = SerializeSettings {
        enable_tagging: options.tagged,
        configuration: configuration(options.standard, accessible),
        ..SerializeSettings::default()
    };
    let mut pdf = krilla::Document::new_with(settings);
    let mut structure = Structure::new(&layout.tags);
    let mut writer = PageWriter::new(document, layout, shaper, fonts, options.tagged);
    for index in 0..layout.pages.len() {
        writer.write(&mut pdf, index, &mut structure)?;
    }
    if options.tagged {
        let headings: Vec<&str> = layout.outline.iter().map(|entry| &*entry.title).collect();
        let mut tree = TagTree::new().with_lang(Some(document.language.clone()));
        structure.build(&headings, &mut tree);
        pdf.set_tag_tree(tree);
    }
    if !layout.outline.is_empty() || accessible {
        pdf.set_outline(outline(&layout.outline, &document.metadata.title));
    }
    pdf.set_metadata(metadata(document));
    for attachment in &options.attachments {
        let _ = pdf.embed_file(embedded(attachment, document));
    }
    pdf.finish()
}

fn configuration(standard: Standard, accessible: bool) -> Configuration {
    let mut builder = ConfigurationBuilder::new().with_version(PdfVersion::Pdf17);
    match standard {
        Standard::Pdf17 => {}
        Standard::PdfA2b => builder = builder.with_archival_validator(Archival::A2_B),
        Standard::PdfA3b => builder = builder.with_archival_validator(Archival::A3_B),
    }
    if accessible {
        builder = builder.with_accessibility_validator(Accessibility::UA1);
    }
    builder.finish().unwrap_or_default()
}

fn metadata(document: &Document) -> Metadata {
    let source = &document.metadata;
    let mut metadata = Metadata::new()
        .title(source.title.clone())
        .creator("Platen".to_owned())
        .producer("Platen".to_owned())
        .language(document.language.clone())
        .creation_date(date_time(source.created_unix_seconds))
        .text_direction(match document.direction {
            Direction::LeftToRight => TextDirection::LeftToRight,
            Direction::RightToLeft => TextDirection::RightToLeft,
        });
    if let Some(author) = &source.author {
        metadata = metadata.authors(vec![author.clone()]);
    }
    if let Some(subject) = &source.subject {
        metadata = metadata.description(subject.clone());
    }
    if !source.keywords.is_empty() {
        metadata = metadata.keywords(source.keywords.clone());
    }
    metadata
}

/// Days since 1970-01-01 to year, month and day. Source: H. Hinnant, "chrono-compatible low-level
/// date algorithms", `civil_from_days`.
fn civil(days: i64) -> (i64, u8, u8) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_index + 2) / 5 + 1) as u8;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    } as u8;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

fn date_time(unix_seconds: i64) -> DateTime {
    let (year, month, day) = civil(unix_seconds.div_euclid(86_400));
    let second = unix_seconds.rem_euclid(86_400);
    DateTime::new(year.clamp(0, 9999) as u16)
        .month(month)
        .day(day)
        .hour((second / 3600) as u8)
        .minute((second / 60 % 60) as u8)
        .second((second % 60) as u8)
        .utc_offset_hour(0)
        .utc_offset_minute(0)
}

/// Bookmarks of the headings; a document without headings has one with its title.
fn outline(entries: &[OutlineEntry], title: &str) -> Outline {
    fn node(entry: &OutlineEntry) -> OutlineNode {
        let destination = XyzDestination::new(entry.page as usize, Point::from_xy(0.0, entry.y));
        OutlineNode::new(entry.title.clone(), destination)
    }
    fn close(stack: &mut Vec<(u8, OutlineNode)>, level: u8, outline: &mut Outline) {
        while stack.last().is_some_and(|(open, _)| *open >= level) {
            if let Some((_, child)) = stack.pop() {
                match stack.last_mut() {
                    Some((_, parent)) => parent.push_child(child),
                    None => outline.push_child(child),
                }
            }
        }
    }
    let mut outline = Outline::new();
    if entries.is_empty() {
        let top = XyzDestination::new(0, Point::from_xy(0.0, 0.0));
        outline.push_child(OutlineNode::new(title.to_owned(), top));
        return outline;
    }
    let mut stack: Vec<(u8, OutlineNode)> = Vec::new();
    for entry in entries {
        close(&mut stack, entry.level, &mut outline);
        stack.push((entry.level, node(entry)));
    }
    close(&mut stack, 0, &mut outline);
    outline
}

fn embedded(attachment: &Attachment, document: &Document) -> EmbeddedFile {
    EmbeddedFile {
        path: attachment.name.clone(),
        mime_type: MimeType::new(&attachment.media_type),
        description: Some(
            attachment
                .description
                .clone()
                .unwrap_or_else(|| attachment.name.clone()),
        ),
        association_kind: match attachment.relationship {
            Relationship::Data => AssociationKind::Data,
            Relationship::Source => AssociationKind::Source,
            Relationship::Alternative => AssociationKind::Alternative,
            Relationship::Supplement => AssociationKind::Supplement,
            Relationship::Unspecified => AssociationKind::Unspecified,
        },
        data: Arc::clone(&attachment.bytes).into(),
        modification_date: Some(date_time(document.metadata.created_unix_seconds)),
        compress: None,
        location: None,
    }
}

fn reasons(
    findings: &[(
        krilla::configure::ValidationError,
        krilla::configure::Validators,
    )],
) -> String {
    let mut names: Vec<String> = findings
        .iter()
        .map(|(finding, _)| describe(finding))
        .collect();
    names.sort();
    names.dedup();
    names.truncate(5);
    names.join("; ")
}

fn describe(finding: &krilla::configure::ValidationError) -> String {
    use krilla::configure::ValidationError as Finding;
    match finding {
        Finding::ContainsNotDefGlyph(_, _, text) => format!("no font has a glyph for `{text}`"),
        Finding::NoDocumentTitle => "the document has no title".to_owned(),
        Finding::NoDocumentLanguage => "the document has no language".to_owned(),
        Finding::MissingAltText(_) => "a figure has no alternative text".to_owned(),
        Finding::RestrictedLicense(_) => "a font's licence forbids embedding".to_owned(),
        Finding::EmbeddedFile(..) => "it does not allow attachments of this kind".to_owned(),
        other => {
            let name = format!("{other:?}");
            name.split(['(', ' ']).next().unwrap_or_default().to_owned()
        }
    }
}

fn convert(error: KrillaError, standard: Standard) -> Error {
    match error {
        KrillaError::Validation(findings) => Error::Standard {
            standard: match standard {
                Standard::Pdf17 => "PDF 1.7",
                Standard::PdfA2b => "PDF/A-2b",
                Standard::PdfA3b => "PDF/A-3b",
            },
            reasons: reasons(&findings),
        },
        KrillaError::Image(_, _, reason) => Error::Image(reason),
        KrillaError::Font(_, reason) => Error::Font(reason),
        other => Error::Other(format!("{other:?}").chars().take(300).collect()),
    }
}

/// A heading level as krilla wants it.
fn heading_level(level: u8) -> NonZeroU16 {
    NonZeroU16::new(u16::from(level.max(1))).unwrap_or(NonZeroU16::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn civil_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(20_778), (2026, 11, 21));
        assert_eq!(civil(-1), (1969, 12, 31));
        assert_eq!(civil(11_016), (2000, 2, 29));
    }
}
