//! Bound tables. They may have a hundred thousand rows in memory, so rows and cells are compact.

use super::{Block, Inline, PageRows, StyleId};
use crate::Color;
pub use crate::template::{Aggregate, FormatLength, RowBreak, TableBorders};

/// A table with its rows.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Name by which CSV output selects it, and name of the table in a sheet.
    pub name: Option<String>,
    /// Caption above it.
    pub caption: Option<Vec<Inline>>,
    /// Columns from the start side, at least one.
    pub columns: Vec<Column>,
    /// Header rows.
    pub header: Vec<Row>,
    /// Body rows in order: group headers, data, subtotals, totals and written-out rows.
    pub rows: Vec<Row>,
    /// How many of the rows before the first total, from the last, no total counts: those that the
    /// template writes out, and the one that says that there are no data.
    pub uncounted: usize,
    /// Whether the header repeats on every page.
    pub repeat_header: bool,
    /// Whether rows may break across pages.
    pub row_break: RowBreak,
    /// Which lines are drawn.
    pub borders: TableBorders,
    /// Color of the lines.
    pub border_color: Color,
    /// Background of alternate data rows.
    pub zebra: Option<Color>,
    /// Width in points; `None` fills the text width.
    pub width: Option<f32>,
    /// Rows that depend on where pages end.
    pub page_rows: Option<Box<PageRows>>,
}

/// A column.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Column name in CSV: the template's `key`, or else the text of the header.
    pub key: String,
    /// Width.
    pub width: ColumnWidth,
    /// Format of values in data rows.
    pub format: ValueFormat,
    /// What only a spreadsheet shows.
    pub sheet: Option<Box<SheetColumn>>,
}

/// A column of a spreadsheet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SheetColumn {
    /// Number format of Excel (ECMA-376-1 §18.8.31).
    pub format: Option<String>,
    /// Formula of data cells, without the equals sign; empty if there is none.
    pub formula: Vec<FormulaPart>,
    /// Whether the column is hidden.
    pub hidden: bool,
}

/// A part of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormulaPart {
    /// Functions, operators, constants.
    Text(String),
    /// The cell of a column, counted from 0, in the same row.
    Column(usize),
}

/// Width of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ColumnWidth {
    /// According to its content.
    #[default]
    Auto,
    /// In points.
    Fixed(f32),
    /// A share of the remaining width.
    Fraction(f32),
}

/// A row. Positions covered by a span from elsewhere have no cell.
#[derive(Clone, Debug)]
pub struct Row {
    /// Role of the row.
    pub kind: RowKind,
    /// Cells from the start side.
    pub cells: Box<[Cell]>,
    /// Whether it starts a new page, for groups with a page break.
    pub page_break: bool,
}

/// Role of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// Column headers.
    Header,
    /// A data row, or a written-out row of the body.
    Data,
    /// Header of a group, kept with the next row. Level 0 is the outermost.
    GroupHeader(u8),
    /// Subtotal of a group, kept with the previous row. Level 0 is the outermost.
    Subtotal(u8),
    /// Grand total, or a written-out row of the footer.
    Total,
}

/// A cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Visible content.
    pub content: CellContent,
    /// The typed value behind a text, for spreadsheets and CSV.
    pub value: Value,
    /// Style of text and box: alignment, padding, background.
    pub style: StyleId,
    /// Number of columns covered, from 1.
    pub col_span: u16,
    /// Number of rows covered, from 1.
    pub row_span: u16,
    /// The aggregate that the cell shows, for live formulas: over the group's data rows in a
    /// subtotal, over all data rows in a total.
    pub aggregate: Option<Aggregate>,
    /// Format of the value, if it differs from the column's.
    pub format: Option<Box<ValueFormat>>,
}

/// Content of a cell.
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
    /// A single cell with `text`.
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
    /// No value, or text only.
    #[default]
    Empty,
    /// A finite number.
    Number(f64),
    /// A Boolean.
    Bool(bool),
    /// Days since 1970-01-01.
    Date(i32),
    /// Seconds since 1970-01-01T00:00:00, in local time of the document's time zone.
    DateTime(i64),
    /// Seconds since midnight.
    Time(i32),
}

/// Format of values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ValueFormat {
    /// Text.
    #[default]
    Text,
    /// A number; `None` shows as many decimals as needed.
    Number {
        /// Number of decimals.
        decimals: Option<u8>,
    },
    /// An amount of money.
    Currency {
        /// ISO 4217 code.
        code: String,
        /// Number of decimals.
        decimals: u8,
    },
    /// A percentage: 0.19 is shown as 19 %.
    Percent {
        /// Number of decimals.
        decimals: u8,
    },
    /// A date.
    Date(FormatLength),
    /// A time of day.
    Time(FormatLength),
    /// Date and time.
    DateTime(FormatLength),
}
