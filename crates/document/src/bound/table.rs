//! Bound tables. A hundred thousand rows are held, so rows and cells are kept small.

use super::{Block, Inline, StyleId};
use crate::Color;
pub use crate::template::{Aggregate, FormatLength, RowBreak, TableBorders};

/// A table with its rows.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Name, for CSV and for the sheet's table.
    pub name: Option<String>,
    /// Caption above.
    pub caption: Option<Vec<Inline>>,
    /// Columns from the start side; at least one.
    pub columns: Vec<Column>,
    /// Header rows.
    pub header: Vec<Row>,
    /// Group headers, data rows, subtotals, totals and rows by hand, in order.
    pub rows: Vec<Row>,
    /// Repeats the header on every page.
    pub repeat_header: bool,
    /// What a row does at a page's end.
    pub row_break: RowBreak,
    /// Which lines are drawn.
    pub borders: TableBorders,
    /// Colour of the lines.
    pub border_color: Color,
    /// Background of every other data row.
    pub zebra: Option<Color>,
    /// Width in points; the width of the text where `None`.
    pub width: Option<f32>,
}

/// A column.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Name for CSV: the spec's key, else the header's text.
    pub key: String,
    /// Width.
    pub width: ColumnWidth,
    /// Format of values in bound rows.
    pub format: ValueFormat,
}

/// Width of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ColumnWidth {
    /// As wide as its content needs.
    #[default]
    Auto,
    /// This wide, in points.
    Fixed(f32),
    /// A share of what is left.
    Fraction(f32),
}

/// A row. Spanned-over positions hold no cell.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is.
    pub kind: RowKind,
    /// Cells from the start side.
    pub cells: Box<[Cell]>,
    /// Starts a new page, for groups that ask for it.
    pub page_break: bool,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// Column headers.
    Header,
    /// A bound row, or one by hand in the body.
    Data,
    /// Text over a group; 0 is the outermost level. Stays with the next row.
    GroupHeader(u8),
    /// Subtotal of a group; 0 is the outermost level. Stays with the row before.
    Subtotal(u8),
    /// Grand total, or a row by hand in the footer.
    Total,
}

/// A cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What it shows.
    pub content: CellContent,
    /// The value behind a text, for spreadsheets.
    pub value: Value,
    /// Style of its text and box: alignment, padding, background.
    pub style: StyleId,
    /// Columns that it covers, from 1.
    pub col_span: u16,
    /// Rows that it covers, from 1.
    pub row_span: u16,
    /// The aggregate that this cell shows, for live formulas: of the group's data rows in a
    /// subtotal, of all data rows in a total.
    pub aggregate: Option<Aggregate>,
    /// The format of the value where it is not the column's.
    pub format: Option<Box<ValueFormat>>,
}

/// What a cell shows.
#[derive(Clone, Debug)]
pub enum CellContent {
    /// Text in the cell's style, without line feeds.
    Text(Box<str>),
    /// Inline content.
    Inlines(Box<[Inline]>),
    /// Blocks.
    Blocks(Box<[Block]>),
}

impl Default for CellContent {
    fn default() -> Self {
        Self::Text(Box::default())
    }
}

impl Cell {
    /// A cell of one column and row with `text`.
    #[must_use]
    pub fn text(text: impl Into<Box<str>>, style: StyleId) -> Self {
        Self {
            content: CellContent::Text(text.into()),
            value: Value::Empty,
            style,
            col_span: 1,
            row_span: 1,
            aggregate: None,
            format: None,
        }
    }
}

/// A typed value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Value {
    /// None, or the cell's text is all there is.
    #[default]
    Empty,
    /// A finite number.
    Number(f64),
    /// True or false.
    Bool(bool),
    /// Days since 1970-01-01.
    Date(i32),
    /// Seconds since 1970-01-01T00:00:00 in the document's time zone.
    DateTime(i64),
    /// Seconds since midnight.
    Time(i32),
}

/// How values of a column are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ValueFormat {
    /// As text.
    #[default]
    Text,
    /// A number with this many decimals; as many as needed where `None`.
    Number {
        /// Digits after the decimal separator.
        decimals: Option<u8>,
    },
    /// Money.
    Currency {
        /// ISO 4217 code.
        code: String,
        /// Digits after the decimal separator.
        decimals: u8,
    },
    /// A share: 0.19 is written 19 %.
    Percent {
        /// Digits after the decimal separator.
        decimals: u8,
    },
    /// A date.
    Date(FormatLength),
    /// A time of day.
    Time(FormatLength),
    /// Date and time.
    DateTime(FormatLength),
}
