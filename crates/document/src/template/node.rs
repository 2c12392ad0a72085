//! The nodes in the body of a template.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Align, AxisSpec, ChartKind, ColumnBox, ColumnSpec, Content, ErrorCorrection, Expression, Fit,
    FormatSpec, GroupSpec, KeyValueItem, LabelContent, LineStyle, ListItem, PageSetup, RowBreak,
    RowSpec, RowStyle, SeriesSpec, StyleRef, Symbology, TableBorders, TargetSpec, Text,
    VerticalAlign, Zebra,
};
use crate::{Color, Length};

/// Defines the node structs with the properties common to all nodes.
macro_rules! nodes {
    ($( $(#[$meta:meta])* $name:ident { $( $(#[$field_meta:meta])* $field:ident : $type:ty, )* } )*) => { $(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            /// Id of the node, unique in the template: the target of `#id` links.
            #[serde(skip_serializing_if = "Option::is_none", default)]
            pub id: Option<String>,
            /// Condition; the node is omitted if it is false.
            #[serde(skip_serializing_if = "Option::is_none", default)]
            pub when: Option<Expression>,
            /// Named style, or properties.
            #[serde(skip_serializing_if = "Option::is_none", default)]
            pub style: Option<StyleRef>,
            $( $(#[$field_meta])* pub $field : $type, )*
        }
    )* };
}

nodes! {
    /// A heading. It creates a bookmark and an entry in the table of contents.
    Heading {
        /// Level from 1 to 6; 1 by default.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 6))]
        level: u8,
        /// Text of the heading.
        content: Content,
    }

    /// A paragraph.
    Paragraph {
        /// Text of the paragraph.
        content: Content,
    }

    /// A bulleted or numbered list.
    List {
        /// Numbers the items instead of using bullets.
        #[serde(default)]
        ordered: bool,
        /// Number of the first item; 1 by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        start: Option<u32>,
        /// The items, unless `each` supplies them.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        items: Vec<ListItem>,
        /// Array to repeat over instead of `items`; each element is `item`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        each: Option<Expression>,
        /// The item shown for each element of `each`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        item: Option<ListItem>,
    }

    /// A table: bound to an array, written out, or both.
    Table {
        /// Name that selects the table for CSV, and names the table in a sheet.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<String>,
        /// Caption above the table.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        caption: Option<Content>,
        /// Array with an element per data row.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rows: Option<Expression>,
        /// Variable that holds the row in expressions; `item` by default.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none", default)]
        as_name: Option<String>,
        /// Condition for a data row; the row is omitted if it is false.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        row_when: Option<Expression>,
        /// Conditional styles of data rows; the first whose condition holds applies.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        row_styles: Vec<RowStyle>,
        /// Columns from the start side.
        columns: Vec<ColumnSpec>,
        /// Header rows above those of the columns.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        header_rows: Vec<RowSpec>,
        /// Rows below the data rows.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        body_rows: Vec<RowSpec>,
        /// Rows below the totals; `rows` is the array of data rows.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        footer_rows: Vec<RowSpec>,
        /// Groups of data rows, outermost first; at most 4.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        groups: Vec<GroupSpec>,
        /// Label of the grand total row; without it there is no such row.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        total: Option<Content>,
        /// Text shown if there are no rows.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        empty: Option<Content>,
        /// Shows the header; true by default.
        #[serde(default = "yes")]
        show_header: bool,
        /// Repeats the header on every page; true by default.
        #[serde(default = "yes")]
        repeat_header: bool,
        /// Whether rows may break across pages.
        #[serde(default)]
        row_break: RowBreak,
        /// Lines to draw.
        #[serde(default)]
        borders: TableBorders,
        /// Background of alternate rows.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        zebra: Option<Zebra>,
        /// Width of the table; the text width by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        width: Option<Length>,
    }

    /// Boxes side by side.
    Columns {
        /// The columns.
        columns: Vec<ColumnBox>,
        /// Gap between columns; 6 mm by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        gap: Option<Length>,
        /// Vertical alignment of the columns.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        vertical_align: Option<VerticalAlign>,
    }

    /// A box; its style supplies background, border and padding.
    Panel {
        /// Title.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        title: Option<Content>,
        /// Content of the box.
        body: Vec<Node>,
    }

    /// Labels with values, in one or more columns.
    KeyValue {
        /// The pairs.
        items: Vec<KeyValueItem>,
        /// Pairs side by side; 1 by default.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 6))]
        columns: u8,
        /// Width of the labels; by default that of the widest.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        key_width: Option<Length>,
    }

    /// A PNG, JPEG, GIF or WebP image.
    Image {
        /// Name of an asset, or a `data:` URL.
        source: Text,
        /// Alternative text for readers who cannot see the image; empty for decoration.
        alt: Text,
        /// Width; by default from the height, or from the image's pixels at 96 dpi.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        width: Option<Length>,
        /// Height; by default in proportion to the width.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        height: Option<Length>,
        /// How the image fits if both width and height are given.
        #[serde(default)]
        fit: Fit,
        /// Alignment.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        align: Option<Align>,
        /// Caption below the image.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        caption: Option<Content>,
        /// Address that the image links to.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        link: Option<Text>,
    }

    /// A barcode, drawn as vectors.
    Barcode {
        /// Symbology.
        symbology: Symbology,
        /// Value to encode.
        value: Text,
        /// Error correction of a QR code; M by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        error_correction: Option<ErrorCorrection>,
        /// Width; by default from modules of 0.33 mm.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        width: Option<Length>,
        /// Height; by default in proportion for two-dimensional codes, and 15 mm for others.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        height: Option<Length>,
        /// Alignment.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        align: Option<Align>,
        /// Shows the value below the code; by default for one-dimensional codes.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        show_value: Option<bool>,
        /// Alternative text for readers who cannot see the code.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        alt: Option<Text>,
    }

    /// A chart: vectors in PDF and HTML, native in DOCX, PPTX and XLSX.
    Chart {
        /// Kind of chart.
        chart: ChartKind,
        /// Title.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        title: Option<Text>,
        /// Array with an element per category.
        rows: Expression,
        /// Category of an element, which is `item`.
        category: Text,
        /// Series; a pie or doughnut shows only the first.
        series: Vec<SeriesSpec>,
        /// Width; the text width by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        width: Option<Length>,
        /// Height; 70 mm by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        height: Option<Length>,
        /// Format of the values, at the axis and in labels.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        format: Option<FormatSpec>,
        /// Bars grow from the start of the line; categories are below each other.
        #[serde(default)]
        horizontal: bool,
        /// Title of the category axis.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        category_title: Option<Text>,
        /// Title of the value axis.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        value_title: Option<Text>,
        /// The value axis.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        value_axis: Option<AxisSpec>,
        /// The second value axis; it is there if a series or target uses it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        secondary_axis: Option<AxisSpec>,
        /// The horizontal axis of a `scatter`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        x_axis: Option<AxisSpec>,
        /// Lines at values to compare with.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        targets: Vec<TargetSpec>,
        /// Shows the legend; by default with several series and for pies.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        legend: Option<bool>,
        /// Labels each value.
        #[serde(default)]
        labels: bool,
        /// What labels say; `value` by default, `percent` for `percentBar`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label_content: Option<LabelContent>,
        /// Alternative text for readers who cannot see the chart.
        alt: Text,
    }

    /// A horizontal rule.
    Divider {
        /// Thickness; 0.75 pt by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        thickness: Option<Length>,
        /// Color; by default the theme's border color.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        color: Option<Color>,
        /// Solid, dashed or dotted.
        #[serde(default)]
        line: LineStyle,
    }

    /// Vertical space.
    Spacer {
        /// Height.
        height: Length,
    }

    /// A page break; in PPTX a slide break.
    PageBreak {}

    /// Content with its own page setup. It starts a page, in PPTX a slide, in XLSX a sheet.
    Section {
        /// Title of the slide or name of the sheet.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<Text>,
        /// Page setup; properties not given come from the template.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        page: Option<PageSetup>,
        /// Content of the section.
        body: Vec<Node>,
    }

    /// Content that depends on a condition.
    Conditional {
        /// The condition.
        condition: Expression,
        /// Content if the condition is true.
        then: Vec<Node>,
        /// Content if it is false.
        #[serde(rename = "else", skip_serializing_if = "Vec::is_empty", default)]
        otherwise: Vec<Node>,
    }

    /// Content repeated for each element of an array.
    Repeat {
        /// The array.
        each: Expression,
        /// Variable that holds the element in expressions; `item` by default. `loop.index` counts
        /// from 1.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none", default)]
        as_name: Option<String>,
        /// Content for each element.
        body: Vec<Node>,
        /// Content between elements.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        separator: Vec<Node>,
        /// Content if the array is empty.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        empty: Vec<Node>,
    }

    /// A table of contents of the headings, with page numbers.
    TableOfContents {
        /// Title.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        title: Option<Content>,
        /// Maximum heading level listed; 3 by default.
        #[serde(default = "three")]
        #[schemars(range(min = 1, max = 6))]
        depth: u8,
    }

    /// A footnote, referenced at the end of the previous block.
    Footnote {
        /// Text of the footnote.
        content: Content,
    }

    /// A place to sign: a line with a label.
    SignatureField {
        /// Name of the form field, unique in the document.
        name: String,
        /// Text below the line.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label: Option<Text>,
        /// Width; 70 mm by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        width: Option<Length>,
        /// Height above the line; 15 mm by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        height: Option<Length>,
    }
}

fn one() -> u8 {
    1
}

fn three() -> u8 {
    3
}

fn yes() -> bool {
    true
}

/// A node in the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Node {
    /// A heading.
    Heading(Heading),
    /// A paragraph.
    #[serde(rename = "text")]
    Paragraph(Paragraph),
    /// A list.
    List(List),
    /// A table.
    Table(Box<Table>),
    /// Boxes side by side.
    Columns(Columns),
    /// A box.
    Panel(Panel),
    /// Labels with values.
    KeyValue(KeyValue),
    /// An image.
    Image(Box<Image>),
    /// A barcode.
    Barcode(Box<Barcode>),
    /// A chart.
    Chart(Box<Chart>),
    /// A horizontal rule.
    Divider(Divider),
    /// Vertical space.
    Spacer(Spacer),
    /// A page break.
    PageBreak(PageBreak),
    /// Content with its own page setup.
    Section(Box<Section>),
    /// Content that depends on a condition.
    Conditional(Conditional),
    /// Content repeated for each element of an array.
    Repeat(Repeat),
    /// A table of contents.
    TableOfContents(TableOfContents),
    /// A footnote.
    Footnote(Footnote),
    /// A place to sign.
    SignatureField(SignatureField),
}

/// Evaluates an expression for the struct of any node.
macro_rules! of_every_node {
    ($node:expr, $inner:ident => $value:expr) => {
        match $node {
            Node::Heading($inner) => $value,
            Node::Paragraph($inner) => $value,
            Node::List($inner) => $value,
            Node::Table($inner) => $value,
            Node::Columns($inner) => $value,
            Node::Panel($inner) => $value,
            Node::KeyValue($inner) => $value,
            Node::Image($inner) => $value,
            Node::Barcode($inner) => $value,
            Node::Chart($inner) => $value,
            Node::Divider($inner) => $value,
            Node::Spacer($inner) => $value,
            Node::PageBreak($inner) => $value,
            Node::Section($inner) => $value,
            Node::Conditional($inner) => $value,
            Node::Repeat($inner) => $value,
            Node::TableOfContents($inner) => $value,
            Node::Footnote($inner) => $value,
            Node::SignatureField($inner) => $value,
        }
    };
}

impl Node {
    /// Id of the node.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        of_every_node!(self, node => node.id.as_deref())
    }

    /// Condition of the node.
    #[must_use]
    pub fn when(&self) -> Option<&Expression> {
        of_every_node!(self, node => node.when.as_ref())
    }

    /// Style of the node.
    #[must_use]
    pub fn style(&self) -> Option<&StyleRef> {
        of_every_node!(self, node => node.style.as_ref())
    }
}
