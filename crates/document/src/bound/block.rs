//! Blocks and inline content of a bound document.

use std::sync::Arc;

use super::{StyleId, Table, VerticalAlign};
pub use crate::template::{ChartKind, Symbology};
use crate::{
    Color,
    template::{Align, LineStyle},
};

/// A block of a bound document.
#[derive(Clone, Debug)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Text and box style: alignment, spaces, indents, borders, keeps.
    pub style: StyleId,
    /// Name for `#id` links.
    pub id: Option<Box<str>>,
    /// RFC 6901 pointer of its node in the template, for warnings.
    pub path: Arc<str>,
}

/// Kinds of block.
#[derive(Clone, Debug)]
pub enum BlockKind {
    /// A heading of level 1 to 6.
    Heading {
        /// 1 to 6.
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
    /// Content side by side.
    Columns(Columns),
    /// Content in a box; background, borders and padding are in the block's style.
    Panel {
        /// Title, in its own style.
        title: Option<Vec<Inline>>,
        /// The content.
        body: Vec<Block>,
    },
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
        /// Thickness in points.
        thickness: f32,
        /// Colour.
        color: Color,
        /// How it is drawn.
        line: LineStyle,
    },
    /// Empty space of this height in points.
    Spacer(f32),
    /// Goes on at the next page or slide.
    PageBreak,
    /// A table of contents.
    TableOfContents {
        /// Title.
        title: Option<Vec<Inline>>,
        /// Deepest heading level listed.
        depth: u8,
    },
    /// A place to sign.
    Signature(Signature),
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
        /// Address, or `#id` of a block.
        link: Option<Arc<str>>,
    },
    /// A line break.
    Break,
    /// Number of the page.
    PageNumber(StyleId),
    /// Number of pages of the document.
    PageCount(StyleId),
    /// Mark of the footnote with this index in [`super::Document::footnotes`].
    Footnote {
        /// Index of the footnote.
        index: u32,
        /// Style of the text around it.
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

/// The plain text of `content`; page fields and footnote marks are left out.
#[must_use]
pub fn plain_text(content: &[Inline]) -> String {
    let mut plain = String::new();
    for inline in content {
        match inline {
            Inline::Text { text, .. } => plain.push_str(text),
            Inline::Break => plain.push('\n'),
            Inline::PageNumber(_) | Inline::PageCount(_) | Inline::Footnote { .. } => {}
        }
    }
    plain
}

/// A list.
#[derive(Clone, Debug)]
pub struct List {
    /// Numbered instead of bulleted.
    pub ordered: bool,
    /// Number of the first item.
    pub start: u32,
    /// Items in order.
    pub items: Vec<ListItem>,
}

impl List {
    /// What stands before the item `index` of a list that is nested in `level` others: numbers are
    /// followed by letters, and those by Roman numerals, as in the Office formats.
    #[must_use]
    pub fn label(&self, level: usize, index: usize) -> String {
        if !self.ordered {
            return ["•", "–", "▪"][level % 3].to_owned();
        }
        let number = u64::from(self.start) + index as u64;
        match level % 3 {
            1 if number > 0 => format!("{}.", letters(number)),
            2 if (1..4_000).contains(&number) => format!("{}.", roman(number)),
            _ => format!("{number}."),
        }
    }
}

/// `a` to `z`, then `aa`, `bb`: a letter once more for each time round.
fn letters(number: u64) -> String {
    let letter = char::from(b'a' + ((number - 1) % 26) as u8);
    let times = ((number - 1) / 26 + 1).min(16) as usize;
    letter.to_string().repeat(times)
}

fn roman(mut number: u64) -> String {
    const NUMERALS: [(u64, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    let mut written = String::new();
    for (value, numeral) in NUMERALS {
        while number >= value {
            written.push_str(numeral);
            number -= value;
        }
    }
    written
}

/// An item of a list.
#[derive(Clone, Debug)]
pub struct ListItem {
    /// What it says.
    pub content: Vec<Inline>,
    /// Blocks below it.
    pub body: Vec<Block>,
}

/// Content side by side.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The columns from the start side.
    pub columns: Vec<ColumnBox>,
    /// Gap between columns, in points.
    pub gap: f32,
    /// Vertical alignment of the columns.
    pub vertical_align: VerticalAlign,
}

/// One of several columns side by side.
#[derive(Clone, Debug)]
pub struct ColumnBox {
    /// Width.
    pub width: super::ColumnWidth,
    /// The content.
    pub body: Vec<Block>,
}

/// Labels with values.
#[derive(Clone, Debug, Default)]
pub struct KeyValue {
    /// Labels and values.
    pub items: Vec<(Vec<Inline>, Vec<Inline>)>,
    /// For each of `items`, the typed value and its format where it has them; shorter where those
    /// at the end have none.
    pub typed: Vec<Option<(super::Value, super::ValueFormat)>>,
    /// Pairs side by side.
    pub columns: u8,
    /// Width of the labels in points; as wide as the widest where `None`.
    pub key_width: Option<f32>,
}

/// An image.
#[derive(Clone, Debug)]
pub struct Image {
    /// The picture.
    pub data: Arc<ImageData>,
    /// Drawn width in points.
    pub width: f32,
    /// Drawn height in points.
    pub height: f32,
    /// Description; empty for decoration.
    pub alt: String,
    /// Alignment.
    pub align: Align,
    /// Caption below.
    pub caption: Option<Vec<Inline>>,
    /// Address, or `#id` of a block.
    pub link: Option<Arc<str>>,
}

/// The bytes of a picture, checked while binding: the header is sound and the size is within bounds.
#[derive(Clone, PartialEq, Eq)]
pub struct ImageData {
    /// The encoded picture.
    pub bytes: Arc<[u8]>,
    /// Its encoding.
    pub format: ImageFormat,
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
}

impl std::fmt::Debug for ImageData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} {}x{} px, {} bytes",
            self.format,
            self.width_px,
            self.height_px,
            self.bytes.len()
        )
    }
}

/// Encoding of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF; its first frame.
    Gif,
    /// WebP.
    WebP,
}

/// A barcode, already encoded.
#[derive(Clone, Debug)]
pub struct Barcode {
    /// Symbology.
    pub symbology: Symbology,
    /// What it encodes.
    pub value: String,
    /// Its modules.
    pub modules: Modules,
    /// Drawn width in points, quiet zone included.
    pub width: f32,
    /// Drawn height in points, without the text below.
    pub height: f32,
    /// Alignment.
    pub align: Align,
    /// Text below.
    pub text: Option<Vec<Inline>>,
    /// Description.
    pub alt: String,
}

/// Dark and light modules of a barcode, row by row, quiet zone included. One-dimensional codes
/// have one row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modules {
    /// Modules in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `width * height` values, true for dark.
    pub dark: Vec<bool>,
}

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Kind.
    pub kind: ChartKind,
    /// Title.
    pub title: Option<String>,
    /// Categories.
    pub categories: Vec<String>,
    /// Series.
    pub series: Vec<Series>,
    /// Width in points; the width of the text where `None`.
    pub width: Option<f32>,
    /// Height in points.
    pub height: f32,
    /// How values are written.
    pub format: super::ValueFormat,
    /// Title of the category axis.
    pub category_title: Option<String>,
    /// Title of the value axis.
    pub value_title: Option<String>,
    /// Shows the legend.
    pub legend: bool,
    /// Writes each value.
    pub labels: bool,
    /// Ticks of the value axis in ascending order, with their text: at least two, the first and
    /// last bound the axis. For a pie: empty.
    pub ticks: Vec<(f64, String)>,
    /// Description.
    pub alt: String,
}

/// A series of a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// A value for each category; `None` leaves a gap.
    pub values: Vec<Option<f64>>,
    /// The values as written, parallel to `values`.
    pub labels: Vec<String>,
    /// Colour. A pie takes the theme's chart colours, one a slice.
    pub color: Color,
}

/// A place to sign.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Field name.
    pub name: String,
    /// Text under the line.
    pub label: Option<Vec<Inline>>,
    /// Width in points.
    pub width: f32,
    /// Height over the line in points.
    pub height: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_nested_lists_differ() {
        let list = List {
            ordered: true,
            start: 1,
            items: Vec::new(),
        };
        let labels = |level| [0, 3, 8, 26].map(|index| list.label(level, index));
        assert_eq!(labels(0), ["1.", "4.", "9.", "27."]);
        assert_eq!(labels(1), ["a.", "d.", "i.", "aa."]);
        assert_eq!(labels(2), ["i.", "iv.", "ix.", "xxvii."]);
        assert_eq!(labels(3), labels(0));
    }
}
