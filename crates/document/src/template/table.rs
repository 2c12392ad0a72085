//! Parts of tables: columns, data rows, groups, totals, and written-out rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Align, Content, Expression, Node, StyleRef, Text, VerticalAlign};
use crate::{Color, Length};

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ColumnSpec {
    /// Array with an element per column: the column is repeated for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<Expression>,
    /// Variable that holds the element of `each` in expressions; `column` by default.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub as_name: Option<String>,
    /// Name of the column in CSV and in references; by default derived from the header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Header text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Content>,
    /// Content of the column in a data row. A string that is a single `{{ expression }}` keeps the
    /// type of its value, so that `format` and spreadsheets see numbers and dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Content>,
    /// Nodes shown in a data row instead of `value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<Node>,
    /// A length, a share such as `2fr`, or `auto`; `auto` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<ColumnWidth>,
    /// Alignment of header and cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Align>,
    /// Format of the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<FormatSpec>,
    /// Content of the column in subtotals and in the grand total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<TotalSpec>,
    /// Style of the column's cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRef>,
    /// Style of the header cell, on top of `tableHeader`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_style: Option<StyleRef>,
    /// Conditional styles of the column's cells in data rows; the first whose condition holds
    /// applies, on top of the row's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cell_styles: Vec<CellStyle>,
    /// Condition; the column is omitted if it is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
    /// What only XLSX shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xlsx: Option<SheetColumnSpec>,
}

/// A column of a spreadsheet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SheetColumnSpec {
    /// Number format of Excel, such as `0.000 "kg"`, instead of the column's `format`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Formula of the column's data cells, in which `{key}` is the cell of that column in the same
    /// row, such as `{quantity}*{price}`. Its result is the column's `value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// Hides the column. Users can show it.
    pub hidden: bool,
}

/// A conditional style for the cells of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CellStyle {
    /// Condition on the row, which is `item` (or the table's `as`), and on the cell's `value`.
    pub when: Expression,
    /// The style.
    pub style: StyleRef,
}

/// Width of a column: a length (`30mm`), a share (`2fr`) or `auto`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ColumnWidth {
    /// According to its content.
    #[default]
    Auto,
    /// A length.
    Fixed(Length),
    /// A share of the remaining width.
    Fraction(f32),
}

impl std::str::FromStr for ColumnWidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "auto" {
            return Ok(Self::Auto);
        }
        if text == "*" {
            return Ok(Self::Fraction(1.0));
        }
        if let Some(share) = text.strip_suffix("fr") {
            return match share.trim().parse::<f32>() {
                Ok(share) if share > 0.0 && share <= 1000.0 => Ok(Self::Fraction(share)),
                _ => Err(format!("`{text}` is not a share: write `1fr` to `1000fr`")),
            };
        }
        let length: Length = text
            .parse()
            .map_err(|reason| format!("{reason}; a column width may also be `auto` or `1fr`"))?;
        if length.to_points() <= 0.0 {
            return Err(format!("`{text}` is not a width: it must be above zero"));
        }
        Ok(Self::Fixed(length))
    }
}

impl std::fmt::Display for ColumnWidth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Fixed(length) => length.fmt(f),
            Self::Fraction(share) => write!(f, "{share}fr"),
        }
    }
}

impl Serialize for ColumnWidth {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ColumnWidth {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for ColumnWidth {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ColumnWidth".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A length (`30mm`), a share of what is left (`2fr`, `*`), or `auto`.",
            "type": "string",
            "examples": ["auto", "30mm", "2fr"]
        })
    }
}

/// Format of a value: a name, or a name with options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum FormatSpec {
    /// One of `text`, `number`, `integer`, `currency`, `percent`, `date`, `time` and `dateTime`.
    Name(FormatName),
    /// A format with options.
    Options {
        /// Kind of format.
        #[serde(rename = "type")]
        name: FormatName,
        /// Number of decimals.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        decimals: Option<u8>,
        /// ISO 4217 code for `currency`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        currency: Option<Text>,
        /// `short`, `medium`, `long` or `full`, for dates and times.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        length: Option<FormatLength>,
    },
}

/// Kind of a value format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FormatName {
    /// Unformatted.
    Text,
    /// A number with the locale's separators.
    Number,
    /// A number without decimals.
    Integer,
    /// An amount of money.
    Currency,
    /// A percentage: 0.19 is shown as 19 %.
    Percent,
    /// A date.
    Date,
    /// A time of day.
    Time,
    /// Date and time.
    DateTime,
}

/// Length of a formatted date or time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FormatLength {
    /// 21.11.26
    Short,
    /// 21.11.2026
    #[default]
    Medium,
    /// 21. November 2026
    Long,
    /// Saturday, 21 November 2026
    Full,
}

/// Content of a total: an aggregate of the column, or text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TotalSpec {
    /// `sum`, `avg`, `min`, `max` or `count` of the column's values.
    Aggregate(Aggregate),
    /// Text with expressions; `rows` is the array of rows that the total covers.
    Text(Text),
}

/// An aggregate of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Aggregate {
    /// Sum.
    Sum,
    /// Arithmetic mean.
    Avg,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Number of values.
    Count,
}

/// Grouping of data rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GroupSpec {
    /// Rows with equal values of this expression form a group, in order of first appearance. The
    /// row is `item` (or the table's `as`).
    pub by: Expression,
    /// Header of the group, none by default; may use `group.key`, `group.rows` and `group.count`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub header: Option<Content>,
    /// Label of the subtotal row; without it there is no such row.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub footer: Option<Content>,
    /// Starts each group on a new page.
    #[serde(default)]
    pub page_break: bool,
}

/// A written-out row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RowSpec {
    /// Cells from the start side.
    pub cells: Vec<CellSpec>,
    /// Condition; the row is omitted if it is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
    /// Style of the row's cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRef>,
}

/// A written-out cell: text, or an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CellSpec {
    /// Text.
    Text(Text),
    /// A cell with options.
    Full(Box<FullCellSpec>),
}

/// A cell with options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FullCellSpec {
    /// Content of the cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Nodes shown instead of `content`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<Node>,
    /// Number of columns covered; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub col_span: Option<u16>,
    /// Number of rows covered; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub row_span: Option<u16>,
    /// Alignment; by default the column's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Align>,
    /// Vertical alignment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertical_align: Option<VerticalAlign>,
    /// Format of the value; by default the column's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<FormatSpec>,
    /// Style of the cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRef>,
}

/// Lines of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TableBorders {
    /// None.
    None,
    /// Below the header, between rows and below the last row.
    #[default]
    Horizontal,
    /// Around every cell.
    All,
    /// Around the table.
    Outer,
}

/// Behavior of a row at the end of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RowBreak {
    /// Moves to the next page as a whole, unless it is taller than a page.
    #[default]
    Keep,
    /// Continues on the next page.
    Allow,
}

/// Background of alternate rows: `true` for the theme's surface color, or a color.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Zebra {
    /// The theme's surface color, or none.
    Default(bool),
    /// This color.
    Color(Color),
}
