//! What a format cannot express of the page setup.

use platen_document::{
    bound::{
        Background, Block, BlockKind, CellContent, Document, Inline, PageField, Section, StartOn,
    },
    numbering::Counter,
};

use crate::{plain::walk, report::Report};

/// A part of the page setup that a format may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageFeature {
    /// Headers and footers of even pages.
    Even,
    /// Headers and footers of last pages.
    Last,
    /// The color of the page.
    Color,
    /// An image behind the text.
    Image,
    /// Text across the page.
    Watermark,
    /// Marks for folding.
    FoldMarks,
    /// Another background on the first page.
    FirstBackground,
    /// The form of page numbers.
    Numbers,
    /// Sections that start on odd or even pages.
    StartOn,
    /// The current heading in headers and footers.
    RunningHeads,
    /// The number of the page within its section.
    SectionNumbers,
    /// The number of pages of the section.
    SectionCounts,
}

impl PageFeature {
    const ALL: [(Self, &'static str); 12] = [
        (Self::Even, "headers and footers of even pages"),
        (Self::Last, "headers and footers of last pages"),
        (Self::Color, "the color of pages"),
        (Self::Image, "the image behind pages"),
        (Self::Watermark, "the watermark"),
        (Self::FoldMarks, "fold marks"),
        (Self::FirstBackground, "the background of first pages"),
        (Self::Numbers, "the form of page numbers"),
        (Self::StartOn, "the start of sections on odd or even pages"),
        (Self::RunningHeads, "running heads"),
        (Self::SectionNumbers, "page numbers within sections"),
        (Self::SectionCounts, "the number of pages of sections"),
    ];

    fn is_in(self, document: &Document) -> bool {
        match self {
            Self::RunningHeads => {
                shows(document, |field| matches!(field, PageField::RunningHead(_)))
            }
            Self::SectionNumbers => shows(document, |field| field == PageField::SectionNumber),
            Self::SectionCounts => shows(document, |field| field == PageField::SectionCount),
            _ => document.sections.iter().any(|section| self.is_of(section)),
        }
    }

    fn is_of(self, section: &Section) -> bool {
        let own = &section.background;
        let first = section.first_background.as_ref();
        let any = |has: fn(&Background) -> bool| has(own) || first.is_some_and(has);
        match self {
            Self::Even => section.even_header.is_some() || section.even_footer.is_some(),
            Self::Last => section.last_header.is_some() || section.last_footer.is_some(),
            Self::Color => any(|background| background.color.is_some()),
            Self::Image => any(|background| background.image.is_some()),
            Self::Watermark => any(|background| background.watermark.is_some()),
            Self::FoldMarks => any(|background| background.fold_marks.is_some()),
            Self::FirstBackground => first.is_some(),
            Self::Numbers => section.page.numbers != Counter::Decimal,
            Self::StartOn => section.page.start_on != StartOn::Any,
            Self::RunningHeads | Self::SectionNumbers | Self::SectionCounts => false,
        }
    }
}

/// Reports the parts of the page setup that a format, named `format`, lacks; it has `kept`.
pub(crate) fn report(report: &mut Report, document: &Document, format: &str, kept: &[PageFeature]) {
    let lost: Vec<&str> = PageFeature::ALL
        .iter()
        .filter(|(feature, _)| !kept.contains(feature) && feature.is_in(document))
        .map(|(_, name)| *name)
        .collect();
    if !lost.is_empty() {
        let message = format!(
            "{format} cannot have all of the page setup: {}",
            lost.join(", ")
        );
        report.warn("page-setup-omitted", "/page", message);
    }
}

/// Whether headers or footers of `document` show a field of this kind.
fn shows(document: &Document, wanted: fn(PageField) -> bool) -> bool {
    let mut found = false;
    let mut look = |content: &[Inline]| {
        found |= content.iter().any(|inline| match inline {
            Inline::PageField { field, .. } => wanted(*field),
            _ => false,
        });
    };
    for blocks in document.sections.iter().flat_map(furniture) {
        walk(blocks, &mut |block| match &block.kind {
            BlockKind::Heading { content, .. } | BlockKind::Paragraph(content) => look(content),
            BlockKind::Table(table) => {
                for cell in table.rows.iter().flat_map(|row| &row.cells) {
                    if let CellContent::Inlines(content) = &cell.content {
                        look(content);
                    }
                }
            }
            _ => {}
        });
    }
    found
}

/// The headers and footers of a section.
pub(crate) fn furniture(section: &Section) -> impl Iterator<Item = &[Block]> {
    let optional = [
        &section.first_header,
        &section.first_footer,
        &section.even_header,
        &section.even_footer,
        &section.last_header,
        &section.last_footer,
    ];
    let always = [&section.header, &section.footer];
    let optional = optional.into_iter().flatten();
    always.into_iter().chain(optional).map(Vec::as_slice)
}
