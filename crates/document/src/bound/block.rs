//! Blocks and inline content of a bound document.

use std::sync::Arc;

use super::{Barcode, Chart, FormField, Image, Signature, StyleId, Table, VerticalAlign};
use crate::{
    Color,
    numbering::{Counter, Pattern},
    template::{ContentsOf, LineStyle},
};

/// A block of a bound document.
#[derive(Clone, Debug)]
pub struct Block {
    /// Kind and content.
    pub kind: BlockKind,
    /// Style of text and box: alignment, spacing, indents, borders, keeps.
    pub style: StyleId,
    /// Target name for `#id` links.
    pub id: Option<Box<str>>,
    /// RFC 6901 pointer to its node in the template, for warnings.
    pub path: Arc<str>,
}

/// Kinds of block.
#[derive(Clone, Debug)]
pub enum BlockKind {
    /// A heading.
    Heading {
        /// Level, 1 to 6.
        level: u8,
        /// What it says.
        content: Vec<Inline>,
    },
    /// A paragraph.
    Paragraph(Vec<Inline>),
    /// A list.
    List(List),
    /// A table.
    Table(Box<Table>),
    /// Boxes side by side.
    Columns(Columns),
    /// A box. Background, borders and padding come from the block's style.
    Panel {
        /// The title, bold.
        title: Option<Vec<Inline>>,
        /// The content.
        body: Vec<Block>,
    },
    /// Content at a fixed position of its page.
    Positioned(Positioned),
    /// Labels with values.
    KeyValue(KeyValue),
    /// An image.
    Image(Image),
    /// A barcode.
    Barcode(Barcode),
    /// A chart.
    Chart(Box<Chart>),
    /// A horizontal rule.
    Divider {
        /// Thickness, in points.
        thickness: f32,
        /// Color.
        color: Color,
        /// Solid, dashed or dotted.
        line: LineStyle,
    },
    /// Vertical space, in points.
    Spacer(f32),
    /// Continues on the next page or slide.
    PageBreak,
    /// A table of contents.
    TableOfContents {
        /// Title.
        title: Option<Vec<Inline>>,
        /// Maximum heading level listed.
        depth: u8,
        /// What it lists; in a bound document always headings.
        of: ContentsOf,
    },
    /// A place to sign.
    Signature(Signature),
    /// A field to fill in.
    FormField(Arc<FormField>),
}

/// Inline content.
#[derive(Clone, Debug, PartialEq)]
pub enum Inline {
    /// Text without line feeds.
    Text {
        /// The text.
        text: Box<str>,
        /// Its style.
        style: StyleId,
        /// An address, or the `#id` of a block.
        link: Option<Arc<str>>,
    },
    /// A line break.
    Break,
    /// The automatic number of a heading, clause or caption, at its start.
    Number(Box<Number>),
    /// The page number.
    PageNumber(StyleId),
    /// The total number of pages.
    PageCount(StyleId),
    /// Another value that only the page knows.
    PageField {
        /// Which value.
        field: PageField,
        /// Its style.
        style: StyleId,
    },
    /// The numbers of the pages with the blocks of these ids, each page once.
    PageOf {
        /// Ids of the blocks, at least one.
        targets: Box<[Box<str>]>,
        /// Its style.
        style: StyleId,
    },
    /// Reference to a footnote.
    Footnote {
        /// Index in [`super::Document::footnotes`].
        index: u32,
        /// Style of the surrounding text.
        style: StyleId,
    },
}

impl Inline {
    /// Text in `style`, without a link.
    #[must_use]
    pub fn text(text: impl Into<Box<str>>, style: StyleId) -> Self {
        Self::Text {
            text: text.into(),
            style,
            link: None,
        }
    }
}

/// A value that only the page knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageField {
    /// The number of the page within its section.
    SectionNumber,
    /// The number of pages of the section.
    SectionCount,
    /// The first heading of this level, 1 to 6, on the page, or else the last before it.
    RunningHead(u8),
}

/// An automatic number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The number as it is printed, such as `(a)` or `Figure 3:`.
    pub text: Box<str>,
    /// The number in full, with those of the levels above that it does not repeat: `7.2(a)`.
    pub full: Box<str>,
    /// Its style.
    pub style: StyleId,
    /// What it counts.
    pub series: Counted,
}

/// What an automatic number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Headings and clauses.
    Outline {
        /// Index in [`super::Document::outlines`].
        outline: u16,
        /// Level, from 0.
        level: u8,
    },
    /// Captions of images and charts.
    Figures,
    /// Captions of tables.
    Tables,
}

impl Number {
    /// The space between the number and the text that follows it on the same line.
    #[must_use]
    pub fn gap(&self) -> &'static str {
        match self.series {
            Counted::Outline { .. } => "\u{a0}\u{a0}",
            Counted::Figures | Counted::Tables => "\u{a0}",
        }
    }
}

/// The automatic number at the start of `content`.
#[must_use]
pub fn leading_number(content: &[Inline]) -> Option<&Number> {
    match content.first() {
        Some(Inline::Number(number)) => Some(number),
        _ => None,
    }
}

/// The plain text of `content`, without page fields and footnote references.
#[must_use]
pub fn plain_text(content: &[Inline]) -> String {
    let mut plain = String::new();
    for inline in content {
        match inline {
            Inline::Text { text, .. } => plain.push_str(&text.replace('\t', " ")),
            Inline::Break => plain.push('\n'),
            Inline::Number(number) => {
                plain.push_str(&number.text);
                plain.push(' ');
            }
            Inline::PageNumber(_)
            | Inline::PageCount(_)
            | Inline::PageField { .. }
            | Inline::PageOf { .. }
            | Inline::Footnote { .. } => {}
        }
    }
    plain
}

/// A list.
#[derive(Clone, Debug)]
pub struct List {
    /// Whether it is numbered rather than bulleted.
    pub ordered: bool,
    /// Number of the first item.
    pub start: u32,
    /// How the marks of the items are written; `None` for the usual ones, which depend on the level.
    pub mark: Option<Pattern>,
    /// Items in order.
    pub items: Vec<ListItem>,
}

/// Mark of a list item that is a check box.
pub const CHECK_BOX: &str = "☐";
/// Mark of a list item that is a checked check box.
pub const CHECKED_BOX: &str = "☑";

/// Bullets by nesting level.
pub const BULLETS: [&str; 3] = ["•", "–", "▪"];
/// Counters of numbered lists by nesting level.
pub const COUNTERS: [Counter; 3] = [Counter::Decimal, Counter::LowerAlpha, Counter::LowerRoman];

impl List {
    /// Label of the item `index` in a list nested inside `level` others. Numbers are followed by
    /// letters and those by Roman numerals, as in the Office formats.
    #[must_use]
    pub fn label(&self, level: usize, index: usize) -> String {
        if let Some(mark) = self.items.get(index).and_then(|item| item.mark.as_ref()) {
            return mark.to_string();
        }
        let number = self.number(index);
        match (&self.mark, self.ordered) {
            (Some(mark), _) => mark.write(&[number]),
            (None, false) => BULLETS[level % 3].to_owned(),
            (None, true) => format!("{}.", COUNTERS[level % 3].write(number)),
        }
    }

    /// Number of the item `index`.
    #[must_use]
    pub fn number(&self, index: usize) -> u32 {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        self.start.saturating_add(index)
    }
}

/// An item of a list.
#[derive(Clone, Debug)]
pub struct ListItem {
    /// The text of the item.
    pub content: Vec<Inline>,
    /// Blocks below the text.
    pub body: Vec<Block>,
    /// Mark of this item instead of the list's.
    pub mark: Option<Box<str>>,
}

/// Boxes side by side.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The columns, from the start side.
    pub columns: Vec<ColumnBox>,
    /// Gap between columns, in points.
    pub gap: f32,
    /// Vertical alignment of the columns.
    pub vertical_align: VerticalAlign,
    /// Whether columns that are one panel are all as high as the highest.
    pub equal_height: bool,
}

impl Columns {
    /// The panel that is all of `column`, if it is to be as high as the other columns.
    #[must_use]
    pub fn filled_by<'a>(&self, column: &'a ColumnBox) -> Option<PanelRef<'a>> {
        match column.body.as_slice() {
            [block] if self.equal_height => match &block.kind {
                BlockKind::Panel { title, body } => Some(PanelRef {
                    block,
                    title: title.as_deref(),
                    body,
                }),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A panel of a bound document.
#[derive(Clone, Copy, Debug)]
pub struct PanelRef<'a> {
    /// Its block, with style and id.
    pub block: &'a Block,
    /// The title, bold.
    pub title: Option<&'a [Inline]>,
    /// The content.
    pub body: &'a [Block],
}

/// One of several columns side by side.
#[derive(Clone, Debug)]
pub struct ColumnBox {
    /// Width.
    pub width: super::ColumnWidth,
    /// The content.
    pub body: Vec<Block>,
}

/// Content at a fixed position of its page. Lengths are in points; box properties come from the
/// block's style.
#[derive(Clone, Debug, Default)]
pub struct Positioned {
    /// Distance from the left edge of the page, or else from its right edge.
    pub left: Option<f32>,
    /// Distance from the top edge of the page, or else from its bottom edge.
    pub top: Option<f32>,
    /// Distance from the right edge of the page.
    pub right: Option<f32>,
    /// Distance from the bottom edge of the page.
    pub bottom: Option<f32>,
    /// Width; `None` for the rest of the page.
    pub width: Option<f32>,
    /// Height of the box; `None` for that of its content.
    pub height: Option<f32>,
    /// The content.
    pub body: Vec<Block>,
}

impl Positioned {
    /// Left edge and width on a page that is `page_width` points wide.
    #[must_use]
    pub fn extent(&self, page_width: f32) -> (f32, f32) {
        let right = self.right.unwrap_or(0.0);
        match (self.left, self.width) {
            (Some(left), Some(width)) => (left, width.max(1.0)),
            (None, Some(width)) if self.right.is_some() => (page_width - right - width, width),
            (None, Some(width)) => (0.0, width.max(1.0)),
            (left, None) => {
                let left = left.unwrap_or(0.0);
                (left, (page_width - right - left).max(1.0))
            }
        }
    }
}

/// Labels with values.
#[derive(Clone, Debug, Default)]
pub struct KeyValue {
    /// Pairs of label and value.
    pub items: Vec<(Vec<Inline>, Vec<Inline>)>,
    /// For each of `items`, its typed value and format, if any. May be shorter than `items`.
    pub typed: Vec<Option<(super::Value, super::ValueFormat)>>,
    /// Number of pairs side by side.
    pub columns: u8,
    /// Width of the labels in points; `None` fits the widest.
    pub key_width: Option<f32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_nested_lists_differ() {
        let list = List {
            ordered: true,
            start: 1,
            mark: None,
            items: Vec::new(),
        };
        let labels = |level| [0, 3, 8, 26].map(|index| list.label(level, index));
        assert_eq!(labels(0), ["1.", "4.", "9.", "27."]);
        assert_eq!(labels(1), ["a.", "d.", "i.", "aa."]);
        assert_eq!(labels(2), ["i.", "iv.", "ix.", "xxvii."]);
        assert_eq!(labels(3), labels(0));
    }
}
