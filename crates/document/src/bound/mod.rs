//! The bound document: what template and data together say, before any layout.
//!
//! Conditions and repeats are decided, expressions evaluated, styles resolved and interned.
//! Every writer and the paginator read this one model. Lengths are points (1/72 inch).

mod block;
mod style;
mod table;

pub use self::{
    block::*,
    style::{
        Align, Baseline, Border, Borders, LineStyle, Sides, Style, StyleId, StyleTable,
        VerticalAlign,
    },
    table::*,
};
use crate::Diagnostic;

/// A document with its data.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Title, author and so on.
    pub metadata: Metadata,
    /// BCP 47 tag of the language, such as `de-DE`.
    pub language: String,
    /// Direction of text and tables.
    pub direction: Direction,
    /// Digits that pages are numbered with.
    pub digits: Digits,
    /// Styles by id.
    pub styles: StyleTable,
    /// Ids of the styles that Platen itself names; see [`NamedStyles`].
    pub named: NamedStyles,
    /// Colours of the theme that writers need beyond the styles.
    pub theme: ThemeColors,
    /// Sections in order; at least one.
    pub sections: Vec<Section>,
    /// Footnotes; [`Inline::Footnote`] holds an index into this. Numbered by index, from 1.
    pub footnotes: Vec<Footnote>,
    /// Warnings found while binding.
    pub warnings: Vec<Diagnostic>,
}

/// Properties of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Title; never empty.
    pub title: String,
    /// Author.
    pub author: Option<String>,
    /// Subject.
    pub subject: Option<String>,
    /// Keywords.
    pub keywords: Vec<String>,
    /// When the document was made, in seconds since 1970-01-01T00:00:00Z.
    pub created_unix_seconds: i64,
}

/// The digits of a language, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits(pub [char; 10]);

impl Default for Digits {
    fn default() -> Self {
        Self(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
    }
}

impl Digits {
    /// `number` in these digits.
    #[must_use]
    pub fn write(&self, number: u32) -> String {
        number
            .to_string()
            .bytes()
            .map(|digit| self.0[usize::from(digit - b'0')])
            .collect()
    }
}

/// Base direction of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Left to right.
    #[default]
    LeftToRight,
    /// Right to left.
    RightToLeft,
}

/// Ids of the styles that exist in every document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedStyles {
    /// Body text.
    pub body: StyleId,
    /// `heading1` to `heading6`.
    pub headings: [StyleId; 6],
    /// Captions of images and tables.
    pub caption: StyleId,
    /// Footnote text.
    pub footnote: StyleId,
    /// Entries of the table of contents.
    pub toc_entry: StyleId,
    /// Labels of key-value pairs.
    pub label: StyleId,
    /// Small text drawn in charts and under barcodes.
    pub small: StyleId,
}

/// Colours of the theme.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThemeColors {
    /// Text.
    pub text: crate::Color,
    /// Headings and accents.
    pub primary: crate::Color,
    /// Secondary text.
    pub muted: crate::Color,
    /// Rules and borders.
    pub border: crate::Color,
    /// Panel and zebra background.
    pub surface: crate::Color,
    /// Series of charts; never empty.
    pub chart: Vec<crate::Color>,
}

/// A run of pages with one page set-up.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Title of the slide, name of the sheet.
    pub name: Option<String>,
    /// Page set-up.
    pub page: Page,
    /// Top of every page.
    pub header: Vec<Block>,
    /// Bottom of every page.
    pub footer: Vec<Block>,
    /// Top of the first page where it differs.
    pub first_header: Option<Vec<Block>>,
    /// Bottom of the first page where it differs.
    pub first_footer: Option<Vec<Block>>,
    /// The content.
    pub body: Vec<Block>,
}

/// Page set-up, in points, orientation applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Page {
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
    /// Distance of the text from the paper's edges.
    pub margins: Sides<f32>,
    /// Number of text columns.
    pub columns: u8,
    /// Gap between text columns.
    pub column_gap: f32,
    /// Number of the first page; goes on counting where `None`.
    pub first_page_number: Option<u32>,
}

impl Default for Page {
    fn default() -> Self {
        Self {
            width: 595.276,
            height: 841.89,
            margins: Sides::all(56.69),
            columns: 1,
            column_gap: 17.0,
            first_page_number: None,
        }
    }
}

/// A footnote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footnote {
    /// What it says.
    pub content: Vec<Inline>,
}
