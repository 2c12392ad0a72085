//! The nodes in the body of a template.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Align, AxisSpec, ChartKind, ColumnBox, ColumnSpec, Content, ContentsOf, ErrorCorrection,
    Expression, Fit, FormatSpec, GroupSpec, KeyValueItem, LabelContent, LineStyle, ListItem, Node,
    Numbering, PageSetup, RowBreak, RowSpec, RowStyle, SeriesSpec, StyleRef, Symbology,
    TableBorders, TargetSpec, Text, VerticalAlign, Zebra,
};
use crate::{Color, Length};

/// Defines the node structs with the properties common to all nodes.
macro_rules! nodes {
    ($( $(#[$meta:meta])* $name:ident { $( $(#[$field_meta:meta])* $field:ident : $type:ty, )* } )*) => { $(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            /// Id of the node, unique in the template: the target of `#id` links and of `ref('id')`.
            #[serde(skip_serializing_if = "Option::is_none", default)]
            pub id: Option<Text>,
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
        /// Whether it has an automatic number, if `numbering` has a pattern for its level; true by
        /// default.
        #[serde(default = "yes")]
        numbered: bool,
    }

    /// A paragraph.
    Paragraph {
        /// Text of the paragraph.
        content: Content,
        /// Makes it a clause of this level, from 1 to 9: it has an automatic number by the pattern
        /// of its level in `numbering.headings`, counted together with the headings.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        #[schemars(range(min = 1, max = 9))]
        clause: Option<u8>,
    }

    /// A bulleted or numbered list.
    List {
        /// Numbers the items instead of using bullets.
        #[serde(default)]
        ordered: bool,
        /// Number of the first item; 1 by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        start: Option<u32>,
        /// Mark of the items: a pattern of numbers such as `(a)`, `§ 1` or `lowerRoman`, the name
        /// `checkBox` or `checkedBox`, or any other text, such as `–`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mark: Option<String>,
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
        /// Name that selects the table for CSV, and names the table in a sheet. With an expression,
        /// repeated tables have names of their own.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<Text>,
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
        /// Text of a row at the top of every page on which the table continues, such as
        /// `continued`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        continued: Option<Content>,
        /// Label of a row at the top of every page on which the table continues, with the totals
        /// of the rows on the pages before.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        brought_forward: Option<Content>,
        /// Label of a row at the foot of every page that the table leaves, with the totals of all
        /// rows so far.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        carried_forward: Option<Content>,
        /// Label of a row at the foot of the table's part on every page, with the totals of the
        /// rows on this page.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        page_total: Option<Content>,
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
        /// Whether the panel of each column that holds nothing else is as high as the highest column.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        equal_height: bool,
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
        /// The image shown instead if `source` is empty, unknown or damaged: a name or `data:` URL.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        fallback: Option<Text>,
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
        /// Caption below the chart.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        caption: Option<Content>,
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
        /// Numbers of the headings and clauses in the section, counted on their own; sections with
        /// the same numbers count together. Captions count through the document.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        numbering: Option<Numbering>,
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

    /// The nodes of a macro.
    Use {
        /// Name of the macro.
        #[serde(rename = "macro")]
        name: String,
        /// Values of its parameters. Text that is one expression keeps the type of its value.
        #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
        with: std::collections::BTreeMap<String, Text>,
    }

    /// A table of contents of the headings, with page numbers.
    TableOfContents {
        /// Title.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        title: Option<Content>,
        /// What it lists: headings, the captions of figures or tables, notes, or the terms of the
        /// index; headings by default.
        #[serde(default)]
        of: ContentsOf,
        /// Maximum heading level listed; 3 by default.
        #[serde(default = "three")]
        #[schemars(range(min = 1, max = 6))]
        depth: u8,
    }

    /// Content at a fixed position of the page that it is on, outside the flow of the text.
    Positioned {
        /// Distance from the left edge of the page.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        left: Option<Length>,
        /// Distance from the top edge of the page.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        top: Option<Length>,
        /// Distance from the right edge of the page, if `left` or `width` is not given.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        right: Option<Length>,
        /// Distance from the bottom edge of the page, instead of `top`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        bottom: Option<Length>,
        /// Width; by default the rest of the page.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        width: Option<Length>,
        /// Height of the box; by default that of its content.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        height: Option<Length>,
        /// The content.
        body: Vec<Node>,
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
