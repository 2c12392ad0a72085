//! The bound document: template and data combined, before any layout.
//!
//! Conditions and repeats are decided, expressions evaluated, styles resolved and interned. All
//! writers and the paginator read this model. Lengths are in points (1/72 inch).

mod block;
mod chart;
mod figure;
mod form;
mod page_rows;
mod style;
mod table;

pub use self::{
    block::*,
    chart::*,
    figure::*,
    form::*,
    page_rows::{Addends, PageRows, Running},
    style::{
        Align, Baseline, Border, Borders, LineStyle, Sides, Style, StyleId, StyleTable, TabAlign,
        TabLeader, TabStop, VerticalAlign,
    },
    table::*,
};
pub use crate::template::{FoldMarks, StartOn};
use crate::{
    Diagnostic,
    numbering::{Counter, Pattern},
};

/// A template combined with data.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Title, author and other properties.
    pub metadata: Metadata,
    /// BCP 47 tag of the language, such as `de-DE`.
    pub language: String,
    /// Base direction of text and tables.
    pub direction: Direction,
    /// Digits for page numbers.
    pub digits: Digits,
    /// The decimal separator of numbers, which decimal tabs and columns align.
    pub decimal_separator: String,
    /// The styles that [`StyleId`]s refer to.
    pub styles: StyleTable,
    /// Ids of the styles with a fixed meaning.
    pub named: NamedStyles,
    /// Theme colors that writers use besides the styles.
    pub theme: ThemeColors,
    /// Sections in order, at least one.
    pub sections: Vec<Section>,
    /// Footnotes, indexed by [`Inline::Footnote`]. The number of a footnote is its index plus 1.
    pub footnotes: Vec<Footnote>,
    /// Patterns by level of each kind of numbered headings and clauses: the document's own, and
    /// those of sections.
    pub outlines: Vec<Vec<Pattern>>,
    /// The e-invoice that the document presents.
    pub invoice: Option<platen_invoice::Issued>,
    /// Warnings from binding.
    pub warnings: Vec<Diagnostic>,
}

/// Document properties.
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
    /// Creation time, in seconds since 1970-01-01T00:00:00Z.
    pub created_unix_seconds: i64,
}

/// The digits of a language, starting with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits(pub [char; 10]);

impl Default for Digits {
    fn default() -> Self {
        Self(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
    }
}

impl Digits {
    /// Formats a page number in `form`, with these digits if it is decimal.
    #[must_use]
    pub fn page(&self, number: u32, form: Counter) -> String {
        match form {
            Counter::Decimal => self.write(number),
            form => form.write(number),
        }
    }

    /// Formats `number` with these digits.
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

/// Ids of the styles that every document has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedStyles {
    /// Body text.
    pub body: StyleId,
    /// The styles `heading1` to `heading6`.
    pub headings: [StyleId; 6],
    /// Captions of images and tables.
    pub caption: StyleId,
    /// Footnote text.
    pub footnote: StyleId,
    /// Entries of the table of contents.
    pub toc_entry: StyleId,
    /// Labels of key-value pairs.
    pub label: StyleId,
    /// Small text in charts and below barcodes.
    pub small: StyleId,
}

/// Colors of the theme.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThemeColors {
    /// Body text.
    pub text: crate::Color,
    /// Headings and accents.
    pub primary: crate::Color,
    /// Secondary text.
    pub muted: crate::Color,
    /// Rules and borders.
    pub border: crate::Color,
    /// Background of panels and alternate table rows.
    pub surface: crate::Color,
    /// Series colors of charts, at least one.
    pub chart: Vec<crate::Color>,
}

/// Consecutive pages with one page setup.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Name of a slide or sheet.
    pub name: Option<String>,
    /// Page setup.
    pub page: Page,
    /// Header of every page.
    pub header: Vec<Block>,
    /// Footer of every page.
    pub footer: Vec<Block>,
    /// Header of the first page, if it differs.
    pub first_header: Option<Vec<Block>>,
    /// Footer of the first page, if it differs.
    pub first_footer: Option<Vec<Block>>,
    /// Header of even pages, if it differs.
    pub even_header: Option<Vec<Block>>,
    /// Footer of even pages, if it differs.
    pub even_footer: Option<Vec<Block>>,
    /// Header of the last page, if it differs.
    pub last_header: Option<Vec<Block>>,
    /// Footer of the last page, if it differs.
    pub last_footer: Option<Vec<Block>>,
    /// What is behind the text of every page.
    pub background: Background,
    /// What is behind the text of the first page, if it differs.
    pub first_background: Option<Background>,
    /// The body.
    pub body: Vec<Block>,
}

/// What is behind the text of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Background {
    /// Color of the page.
    pub color: Option<crate::Color>,
    /// Image that covers the page.
    pub image: Option<std::sync::Arc<ImageData>>,
    /// Text across the page.
    pub watermark: Option<Watermark>,
    /// Marks for folding.
    pub fold_marks: Option<FoldMarks>,
}

/// Text across a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Watermark {
    /// The text.
    pub text: String,
    /// Its font and color.
    pub style: StyleId,
    /// Font size in points; `None` for as large as fits.
    pub font_size: Option<f32>,
    /// Angle in degrees, counter-clockwise.
    pub angle: f32,
    /// Where shorter lines stand: from 0, at the left, to 1, at the right.
    pub across: f32,
}

impl Watermark {
    /// Part of the page that a watermark without a size covers.
    const PART: f32 = 0.85;
    /// Maximum font size of a watermark without a size, in points.
    const LARGEST: f32 = 160.0;
    /// Height of capitals, as a fraction of the font size.
    pub const CAPITALS: f32 = 0.7;

    /// Distance of lines, as a fraction of the font size: ascent and descent of Helvetica's bounding box
    /// (Adobe Font Metrics).
    pub const LINE: f32 = 1.156;

    /// Font size in points on a page of `width` by `height` points, of a text that is `text` wide
    /// at a font size of one point and has `lines` lines.
    #[must_use]
    pub fn size_on(&self, (width, height): (f32, f32), text: f32, lines: usize) -> f32 {
        let (sin, cos) = self.angle.to_radians().sin_cos();
        let own = Self::CAPITALS + Self::LINE * lines.saturating_sub(1) as f32;
        let (wide, high) = (
            text * cos.abs() + own * sin.abs(),
            text * sin.abs() + own * cos.abs(),
        );
        let fitting = (width / wide.max(0.01)).min(height / high.max(0.01));
        let own = self.font_size;
        own.unwrap_or((fitting * Self::PART).min(Self::LARGEST))
    }
}

/// Page setup in points, with the orientation applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Page {
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
    /// Distance between the text and the edges of the paper.
    pub margins: Sides<f32>,
    /// Number of text columns.
    pub columns: u8,
    /// Gap between text columns.
    pub column_gap: f32,
    /// Number of the first page; `None` continues counting.
    pub first_page_number: Option<u32>,
    /// Form of the page numbers.
    pub numbers: Counter,
    /// Pages on which the section may start.
    pub start_on: StartOn,
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
            numbers: Counter::Decimal,
            start_on: StartOn::Any,
        }
    }
}

/// A footnote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footnote {
    /// The text of the footnote.
    pub content: Vec<Inline>,
}
