//! Tables: columns, rows bound to an array, groups, totals, and rows written by hand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Align, Content, Expression, Node, StyleRef, Text, VerticalAlign};
use crate::{Color, Length};

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ColumnSpec {
    /// Name used by CSV headers and by references; made from the header where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Header text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Content>,
    /// What a bound row shows here. A string that is one `{{ expression }}` keeps its type, so that
    /// `format` and spreadsheet cells work on numbers and dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Content>,
    /// Nodes that a bound row shows here, instead of `value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<Node>,
    /// Width: a length, a share such as `2fr`, or `auto`; `auto` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<ColumnWidth>,
    /// Alignment of header and cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Align>,
    /// How values are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<FormatSpec>,
    /// What group subtotals and the grand total show here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<TotalSpec>,
    /// Style of the column's cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRef>,
    /// Leaves the column out where false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
}

/// Width of a column: a length (`30mm`), a share (`2fr`) or `auto`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ColumnWidth {
    /// As wide as its content needs.
    #[default]
    Auto,
    /// This wide.
    Fixed(Length),
    /// A share of what is left.
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

/// How a value is written: a name, or a name with options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum FormatSpec {
    /// `text`, `number`, `integer`, `currency`, `percent`, `date`, `time` or `dateTime`.
    Name(FormatName),
    /// With options.
    Options {
        /// What kind.
        #[serde(rename = "type")]
        name: FormatName,
        /// Digits after the decimal separator.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        decimals: Option<u8>,
        /// ISO 4217 code for `currency`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        currency: Option<Text>,
        /// `short`, `medium`, `long` or `full` for dates and times.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        length: Option<FormatLength>,
    },
}

/// Kind of a value format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FormatName {
    /// As it is.
    Text,
    /// A number with the locale's separators.
    Number,
    /// A number without fraction.
    Integer,
    /// An amount of money.
    Currency,
    /// A share: 0.19 is written 19 %.
    Percent,
    /// A date.
    Date,
    /// A time of day.
    Time,
    /// Date and time.
    DateTime,
}

/// Length of a written date or time.
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

/// What a total shows: an aggregate of the column, or text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TotalSpec {
    /// `sum`, `avg`, `min`, `max` or `count` of the column's values.
    Aggregate(Aggregate),
    /// Text with expressions; `rows` is the array of rows that the total is about.
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
    /// Smallest.
    Min,
    /// Largest.
    Max,
    /// Number of values.
    Count,
}

/// Grouping of bound rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GroupSpec {
    /// Rows of equal value form a group, in order of first appearance. The row is `item` (or the table's `as`).
    pub by: Expression,
    /// Text over the group; `group.key`, `group.rows` and `group.count` may be used. None where absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub header: Option<Content>,
    /// Label of the subtotal row; no subtotal row where absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub footer: Option<Content>,
    /// Start each group on a new page.
    #[serde(default)]
    pub page_break: bool,
}

/// A row written by hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RowSpec {
    /// Cells from the start side.
    pub cells: Vec<CellSpec>,
    /// Leaves the row out where false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
    /// Style of the row's cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRef>,
}

/// A cell written by hand: text, or an object.
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
    /// What it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Nodes that it shows, instead of `content`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<Node>,
    /// Columns that it covers; 1 where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub col_span: Option<u16>,
    /// Rows that it covers; 1 where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub row_span: Option<u16>,
    /// Alignment; the column's where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Align>,
    /// Vertical alignment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertical_align: Option<VerticalAlign>,
    /// How the value is written; the column's where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<FormatSpec>,
    /// Style.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRef>,
}

/// Which lines a table draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TableBorders {
    /// None.
    None,
    /// Under the header, between rows and under the last row.
    #[default]
    Horizontal,
    /// Around every cell.
    All,
    /// Around the table.
    Outer,
}

/// What a row does at a page's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RowBreak {
    /// Moves to the next page as a whole, unless it is higher than a page.
    #[default]
    Keep,
    /// Continues on the next page.
    Allow,
}

/// Background of every other row: `true` for the theme's surface colour, or a colour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Zebra {
    /// The theme's surface colour, or none.
    Default(bool),
    /// This colour.
    Color(Color),
}
