//! DOCX: WordprocessingML (ECMA-376-1 §17), generated as text.
//!
//! Named styles become Word styles; direct formatting records only how a block differs from its
//! named style. Elements follow the order of the schema's sequences, because Word rejects others.

mod background;
mod block;
mod drawing;
mod form;
mod layout_table;
mod number;
mod numbering;
mod paragraph;
mod paragraph_properties;
mod positioned;
mod section;
mod settings;
mod styles;
mod table;
mod tabs;

use std::fmt::Write as _;

use platen_document::bound::{
    Background, BlockKind, Direction, Document, Inline, Section, StyleId,
};
use rustc_hash::FxHashMap;

use self::{numbering::Numbering, styles::Styles};
use crate::{
    Error, Written, block_losses,
    ooxml::{self, ChartParts, DECLARATION, Media, Package, Relationships},
    page_losses::{self, PageFeature},
    plain::walk,
    report::Report,
};

const NAMESPACES: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
     xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" \
     xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\" \
     xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
     xmlns:pic=\"http://schemas.openxmlformats.org/drawingml/2006/picture\" \
     xmlns:mc=\"http://schemas.openxmlformats.org/markup-compatibility/2006\" \
     xmlns:w14=\"http://schemas.microsoft.com/office/word/2010/wordml\" mc:Ignorable=\"w14\"";

/// Information that the document does not carry.
#[derive(Clone, Copy, Debug, Default)]
pub struct DocxOptions<'a> {
    /// Printed page numbers of the body's headings, in document order, for the table of contents.
    /// An entry without one shows its number once Word has updated its fields.
    pub heading_pages: &'a [String],
}

/// Writes `document` as DOCX.
///
/// # Errors
/// A part cannot be encoded or packed.
pub fn write(document: &Document, options: &DocxOptions<'_>) -> Result<Written, Error> {
    let mut writer = Writer::new(document);
    writer.heading_pages = options.heading_pages.to_vec();
    writer.collect_headings();
    let mut kept = vec![
        PageFeature::Even,
        PageFeature::Numbers,
        PageFeature::StartOn,
        PageFeature::RunningHeads,
        PageFeature::SectionCounts,
    ];
    if settings::page_color(document).is_some() {
        kept.push(PageFeature::Color);
    }
    kept.extend([PageFeature::Watermark, PageFeature::FoldMarks]);
    let images = |section: &Section| {
        let own = section.background.image.clone();
        let first = section.first_background.as_ref();
        own.into_iter().chain(first.and_then(|it| it.image.clone()))
    };
    let mut images = document.sections.iter().flat_map(images);
    if images.all(|image| background::is_placeable(&image)) {
        kept.push(PageFeature::Image);
    }
    let color = |background: &Background| background.color;
    let plain = |section: &Section| {
        let first = section.first_background.as_ref();
        first.is_none_or(|first| color(first) == color(&section.background))
    };
    if document.sections.iter().all(plain) {
        kept.push(PageFeature::FirstBackground);
    }
    page_losses::report(&mut writer.report, document, "DOCX", &kept);
    block_losses::report(&mut writer.report, document, "DOCX", false);
    writer.sections()?;
    writer.finish()
}

/// The story being written. Footnotes and charts exist only in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Story {
    Body,
    /// A header or footer.
    Margin,
    Footnote,
}

/// An entry of the table of contents.
struct TocHeading {
    /// Index of its section.
    section: usize,
    level: u8,
    content: Vec<Inline>,
    bookmark: String,
}

/// A finished header or footer part.
struct MarginPart {
    file: String,
    xml: String,
    relationships: Relationships,
}

struct Writer<'a> {
    document: &'a Document,
    report: Report,
    styles: Styles<'a>,
    numbering: Numbering,
    media: Media,
    charts: Vec<ChartParts>,
    margins: Vec<MarginPart>,
    headings: Vec<TocHeading>,
    /// Page numbers of `headings`; shorter if some are unknown.
    heading_pages: Vec<String>,
    /// Bookmark names by block id.
    bookmarks: FxHashMap<&'a str, String>,
    headings_written: usize,
    /// Bookmarks that the next paragraph holds.
    waiting: Vec<String>,
    bookmarks_written: u32,
    drawings_written: u32,
    rtl: bool,
    /// The story being written, its XML so far and its relationships.
    story: Story,
    out: String,
    relationships: Relationships,
    /// Path of the current block, for warnings.
    path: &'a str,
    /// Whether the next paragraph stays on the page of the one after it.
    keep_with_next: bool,
    /// Whether the next block is the first of a column, whose space above is above all columns.
    at_top: bool,
    /// Whether the next paragraph starts a page.
    break_before: bool,
    /// Index of the section being written.
    section: usize,
    /// Width and height of the section's pages, in points.
    page_size: (f32, f32),
    /// Width of the column, panel or cell that is written into, in points.
    column_width: f32,
    /// Nesting depth of lists at the current block.
    list_level: usize,
    /// The list that a list inside of its current item belongs to.
    enclosing_list: Option<usize>,
}

impl<'a> Writer<'a> {
    fn new(document: &'a Document) -> Self {
        let mut relationships = Relationships::default();
        for (kind, target) in [
            ("styles", "styles.xml"),
            ("settings", "settings.xml"),
            ("fontTable", "fontTable.xml"),
            ("theme", "theme/theme1.xml"),
            ("numbering", "numbering.xml"),
            ("footnotes", "footnotes.xml"),
        ] {
            relationships.add(kind, target);
        }
        Self {
            document,
            report: Report::default(),
            styles: Styles::new(document),
            numbering: Numbering::default(),
            media: Media::default(),
            charts: Vec::new(),
            margins: Vec::new(),
            headings: Vec::new(),
            heading_pages: Vec::new(),
            bookmarks: FxHashMap::default(),
            headings_written: 0,
            waiting: Vec::new(),
            bookmarks_written: 0,
            drawings_written: 0,
            rtl: document.direction == Direction::RightToLeft,
            story: Story::Body,
            out: String::with_capacity(64 * 1024),
            relationships,
            path: "",
            keep_with_next: false,
            at_top: false,
            break_before: false,
            section: 0,
            page_size: (0.0, 0.0),
            column_width: 0.0,
            enclosing_list: None,
            list_level: 0,
        }
    }

    /// Names the bookmarks of headings and block ids, in the order in which blocks are written.
    fn collect_headings(&mut self) {
        let document = self.document;
        for (index, section) in document.sections.iter().enumerate() {
            walk(&section.body, &mut |block| {
                if let Some(id) = &block.id {
                    let number = self.bookmarks.len() + 1;
                    // Bookmark names are limited to 40 letters, digits and underscores.
                    let name: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
                    let name = format!("id{number}_{}", name.get(..24).unwrap_or(&name));
                    self.bookmarks.entry(id).or_insert(name);
                }
                if let BlockKind::Heading { level, content } = &block.kind {
                    let bookmark = format!("_Toc{:08}", self.headings.len() + 1);
                    let content = content.clone();
                    self.headings.push(TocHeading {
                        section: index,
                        level: *level,
                        content,
                        bookmark,
                    });
                }
            });
        }
    }

    fn footnotes(&mut self) -> Result<(String, Relationships), Error> {
        let document_out = std::mem::take(&mut self.out);
        let document_relationships = std::mem::take(&mut self.relationships);
        self.story = Story::Footnote;
        let _ = write!(
            self.out,
            "{DECLARATION}<w:footnotes {NAMESPACES}>\
             <w:footnote w:type=\"separator\" w:id=\"-1\"><w:p><w:pPr><w:spacing w:after=\"0\" \
             w:line=\"240\" w:lineRule=\"auto\"/></w:pPr><w:r><w:separator/></w:r></w:p></w:footnote>\
             <w:footnote w:type=\"continuationSeparator\" w:id=\"0\"><w:p><w:pPr>\
             <w:spacing w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/></w:pPr><w:r>\
             <w:continuationSeparator/></w:r></w:p></w:footnote>"
        );
        let style: StyleId = self.document.named.footnote;
        for (index, footnote) in self.document.footnotes.iter().enumerate() {
            let _ = write!(self.out, "<w:footnote w:id=\"{}\">", index + 1);
            self.footnote_paragraph(&footnote.content, style);
            self.out.push_str("</w:footnote>");
        }
        self.out.push_str("</w:footnotes>");
        let xml = std::mem::replace(&mut self.out, document_out);
        let relationships = std::mem::replace(&mut self.relationships, document_relationships);
        Ok((xml, relationships))
    }

    fn finish(mut self) -> Result<Written, Error> {
        let (footnotes, footnote_relationships) = self.footnotes()?;
        let mut package = Package::default();
        let mut root = Relationships::default();
        root.add("officeDocument", "word/document.xml");
        root.add("core-properties", "docProps/core.xml");
        root.add("extended-properties", "docProps/app.xml");
        package.add_common("_rels/.rels", "", root.to_xml());
        package.add(
            "word/document.xml",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
            std::mem::take(&mut self.out),
        );
        package.add_relationships("word/document.xml", &self.relationships);
        package.add_common(
            "word/styles.xml",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml",
            self.styles.to_xml(),
        );
        package.add_common(
            "word/settings.xml",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.settings+xml",
            settings::settings(self.document),
        );
        package.add_common(
            "word/fontTable.xml",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.fontTable+xml",
            settings::font_table(self.document),
        );
        package.add_common(
            "word/theme/theme1.xml",
            "application/vnd.openxmlformats-officedocument.theme+xml",
            ooxml::theme(self.document),
        );
        package.add_common(
            "word/numbering.xml",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml",
            self.numbering.to_xml(),
        );
        package.add(
            "word/footnotes.xml",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml",
            footnotes,
        );
        package.add_relationships("word/footnotes.xml", &footnote_relationships);
        self.add_margins(&mut package);
        self.add_charts(&mut package);
        for (name, bytes) in self.media.files() {
            package.add(format!("word/media/{name}"), "", bytes);
        }
        package.add(
            "docProps/core.xml",
            "application/vnd.openxmlformats-package.core-properties+xml",
            ooxml::core_properties(self.document),
        );
        package.add_common(
            "docProps/app.xml",
            "application/vnd.openxmlformats-officedocument.extended-properties+xml",
            ooxml::app_properties(),
        );
        Ok(self.report.finish(package.finish()?))
    }

    fn add_margins(&mut self, package: &mut Package) {
        for part in std::mem::take(&mut self.margins) {
            let name = format!("word/{}", part.file);
            let kind = if part.file.starts_with("header") {
                "application/vnd.openxmlformats-officedocument.wordprocessingml.header+xml"
            } else {
                "application/vnd.openxmlformats-officedocument.wordprocessingml.footer+xml"
            };
            package.add_relationships(&name, &part.relationships);
            package.add(name, kind, part.xml);
        }
    }

    fn add_charts(&mut self, package: &mut Package) {
        for (index, chart) in std::mem::take(&mut self.charts).into_iter().enumerate() {
            let number = index + 1;
            let name = format!("word/charts/chart{number}.xml");
            let workbook = format!("Microsoft_Excel_Sheet{number}.xlsx");
            let mut relationships = Relationships::default();
            relationships.add("package", format!("../embeddings/{workbook}"));
            package.add_relationships(&name, &relationships);
            package.add(
                name,
                "application/vnd.openxmlformats-officedocument.drawingml.chart+xml",
                chart.xml,
            );
            package.add(format!("word/embeddings/{workbook}"), "", chart.workbook);
        }
    }
}
