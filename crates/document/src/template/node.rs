//! The nodes of a template's body.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Align, ChartKind, ColumnBox, ColumnSpec, Content, Expression, Fit, FormatSpec, GroupSpec,
    KeyValueItem, LineStyle, ListItem, PageSetup, RowBreak, RowSpec, RowStyle, SeriesSpec,
    StyleRef, Symbology, TableBorders, Text, VerticalAlign, Zebra,
};
use crate::{Color, Length};

/// Defines node structs, each with the properties that every node has.
macro_rules! nodes {
    ($( $(#[$meta:meta])* $name:ident { $( $(#[$field_meta:meta])* $field:ident : $type:ty, )* } )*) => { $(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            /// Name of the node, target of `#id` links; unique in the template.
            #[serde(skip_serializing_if = "Option::is_none", default)]
            pub id: Option<String>,
            /// Leaves the node out where false.
            #[serde(skip_serializing_if = "Option::is_none", default)]
            pub when: Option<Expression>,
            /// Named style or properties.
            #[serde(skip_serializing_if = "Option::is_none", default)]
            pub style: Option<StyleRef>,
            $( $(#[$field_meta])* pub $field : $type, )*
        }
    )* };
}

nodes! {
    /// A heading. Levels 1 to 6; makes a bookmark and a table-of-contents entry.
    Heading {
        /// 1 to 6; 1 where absent.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 6))]
        level: u8,
        /// What it says.
        content: Content,
    }

    /// A paragraph.
    Paragraph {
        /// What it says.
        content: Content,
    }

    /// A bulleted or numbered list.
    List {
        /// Numbered instead of bulleted.
        #[serde(default)]
        ordered: bool,
        /// Number of the first item.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        start: Option<u32>,
        /// Items written by hand.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        items: Vec<ListItem>,
        /// Array that the list repeats over, instead of `items`; each element is `item`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        each: Option<Expression>,
        /// What each element of `each` shows.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        item: Option<ListItem>,
    }

    /// A table, bound to an array, written by hand, or both.
    Table {
        /// Name; selects the table for CSV and names the sheet's table.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<String>,
        /// Caption above the table.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        caption: Option<Content>,
        /// Array of the bound rows.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rows: Option<Expression>,
        /// Name of the row in expressions; `item` where absent.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none", default)]
        as_name: Option<String>,
        /// Shows a bound row only where true.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        row_when: Option<Expression>,
        /// Style of a bound row, by expressions: the first rule that holds wins.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        row_styles: Vec<RowStyle>,
        /// Columns from the start side.
        columns: Vec<ColumnSpec>,
        /// Header rows written by hand, above the columns' headers.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        header_rows: Vec<RowSpec>,
        /// Rows written by hand, below the bound rows.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        body_rows: Vec<RowSpec>,
        /// Rows written by hand, below the totals; `rows` is the array of bound rows.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        footer_rows: Vec<RowSpec>,
        /// Groups, outermost first; at most 4.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        groups: Vec<GroupSpec>,
        /// Label of the grand total row; the row is left out where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        total: Option<Content>,
        /// What is shown where there are no rows.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        empty: Option<Content>,
        /// Leaves the header out where false.
        #[serde(default = "yes")]
        show_header: bool,
        /// Repeats the header on every page.
        #[serde(default = "yes")]
        repeat_header: bool,
        /// What a row does at a page's end.
        #[serde(default)]
        row_break: RowBreak,
        /// Which lines are drawn.
        #[serde(default)]
        borders: TableBorders,
        /// Background of every other row.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        zebra: Option<Zebra>,
        /// Width of the table; the width of the text where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        width: Option<Length>,
    }

    /// Content side by side.
    Columns {
        /// The columns.
        columns: Vec<ColumnBox>,
        /// Gap between columns; 6 mm where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        gap: Option<Length>,
        /// Vertical alignment of the columns.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        vertical_align: Option<VerticalAlign>,
    }

    /// Content in a box, with background, border and padding from its style.
    Panel {
        /// Title.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        title: Option<Content>,
        /// The content.
        body: Vec<Node>,
    }

    /// Labels with values, in one or more columns.
    KeyValue {
        /// The pairs.
        items: Vec<KeyValueItem>,
        /// Pairs side by side; 1 where absent.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 6))]
        columns: u8,
        /// Width of the labels; as wide as the widest where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        key_width: Option<Length>,
    }

    /// A PNG, JPEG, GIF or WebP image.
    Image {
        /// Name of an asset, or a `data:` URL.
        source: Text,
        /// What the image shows, for those who cannot see it. Empty for decoration.
        alt: Text,
        /// Width; from the height or the image's own resolution where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        width: Option<Length>,
        /// Height.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        height: Option<Length>,
        /// How the image fits where both width and height are given.
        #[serde(default)]
        fit: Fit,
        /// Alignment.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        align: Option<Align>,
        /// Caption below.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        caption: Option<Content>,
        /// Address that the image links to.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        link: Option<Text>,
    }

    /// A barcode, drawn as vectors.
    Barcode {
        /// Which symbology.
        symbology: Symbology,
        /// What it encodes.
        value: Text,
        /// Width; what 0.33 mm modules give where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        width: Option<Length>,
        /// Height; the width for two-dimensional codes, 15 mm for others where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        height: Option<Length>,
        /// Alignment.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        align: Option<Align>,
        /// Writes the value below; for one-dimensional codes the default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        show_value: Option<bool>,
        /// What the code is for, for those who cannot see it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        alt: Option<Text>,
    }

    /// A chart, drawn as vectors in PDF and HTML, native in DOCX, PPTX and XLSX.
    Chart {
        /// Which kind.
        chart: ChartKind,
        /// Title.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        title: Option<Text>,
        /// Array with an element for each category.
        rows: Expression,
        /// Category of a row; the row is `item`.
        category: Text,
        /// Series; a pie shows the first.
        series: Vec<SeriesSpec>,
        /// Width; the width of the text where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        width: Option<Length>,
        /// Height; 70 mm where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        height: Option<Length>,
        /// How values are written at the axis and as labels.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        format: Option<FormatSpec>,
        /// Title of the category axis.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        category_title: Option<Text>,
        /// Title of the value axis.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        value_title: Option<Text>,
        /// Shows the legend; where there are several series by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        legend: Option<bool>,
        /// Writes each value.
        #[serde(default)]
        labels: bool,
        /// What the chart shows, for those who cannot see it.
        alt: Text,
    }

    /// A horizontal rule.
    Divider {
        /// Thickness; 0.75 pt where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        thickness: Option<Length>,
        /// Colour; the theme's border colour where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        color: Option<Color>,
        /// How it is drawn.
        #[serde(default)]
        line: LineStyle,
    }

    /// Empty space.
    Spacer {
        /// Height.
        height: Length,
    }

    /// Goes on at the next page; in PPTX at the next slide.
    PageBreak {}

    /// Content with its own page set-up; starts a page, in PPTX a slide, in XLSX a sheet.
    Section {
        /// Title of the slide, name of the sheet.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<Text>,
        /// Page set-up; what is absent is the template's.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        page: Option<PageSetup>,
        /// The content.
        body: Vec<Node>,
    }

    /// Content that depends on a condition.
    Conditional {
        /// The condition.
        condition: Expression,
        /// Content where it holds.
        then: Vec<Node>,
        /// Content where it does not.
        #[serde(rename = "else", skip_serializing_if = "Vec::is_empty", default)]
        otherwise: Vec<Node>,
    }

    /// Content for each element of an array.
    Repeat {
        /// The array.
        each: Expression,
        /// Name of the element in expressions; `item` where absent. `loop.index` counts from 1.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none", default)]
        as_name: Option<String>,
        /// The content.
        body: Vec<Node>,
        /// Content between elements.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        separator: Vec<Node>,
        /// Content where the array is empty.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        empty: Vec<Node>,
    }

    /// A table of contents from the headings, with page numbers.
    TableOfContents {
        /// Title.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        title: Option<Content>,
        /// Deepest heading level listed; 3 where absent.
        #[serde(default = "three")]
        #[schemars(range(min = 1, max = 6))]
        depth: u8,
    }

    /// A footnote anchored at the end of the block before it.
    Footnote {
        /// What it says.
        content: Content,
    }

    /// A place to sign: a line with a label.
    SignatureField {
        /// Field name; unique in the document.
        name: String,
        /// Text under the line.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label: Option<Text>,
        /// Width; 70 mm where absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        width: Option<Length>,
        /// Height over the line; 15 mm where absent.
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

/// A node of the body.
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
    /// Content side by side.
    Columns(Columns),
    /// Content in a box.
    Panel(Panel),
    /// Labels with values.
    KeyValue(KeyValue),
    /// An image.
    Image(Box<Image>),
    /// A barcode.
    Barcode(Box<Barcode>),
    /// A chart.
    Chart(Box<Chart>),
    /// A rule.
    Divider(Divider),
    /// Empty space.
    Spacer(Spacer),
    /// A page break.
    PageBreak(PageBreak),
    /// Content with its own page set-up.
    Section(Box<Section>),
    /// Content that depends on a condition.
    Conditional(Conditional),
    /// Content for each element of an array.
    Repeat(Repeat),
    /// A table of contents.
    TableOfContents(TableOfContents),
    /// A footnote.
    Footnote(Footnote),
    /// A place to sign.
    SignatureField(SignatureField),
}

/// Applies the same to the struct of every node.
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
    /// Name of the node.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        of_every_node!(self, node => node.id.as_deref())
    }

    /// The condition on which the node is there.
    #[must_use]
    pub fn when(&self) -> Option<&Expression> {
        of_every_node!(self, node => node.when.as_ref())
    }

    /// The style of the node.
    #[must_use]
    pub fn style(&self) -> Option<&StyleRef> {
        of_every_node!(self, node => node.style.as_ref())
    }
}
