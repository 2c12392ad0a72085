//! A node of any kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Barcode, Chart, Columns, Conditional, Divider, Expression, Footnote, FormField, Heading, Image,
    KeyValue, List, PageBreak, Panel, Paragraph, Positioned, Repeat, RichText, Section,
    SignatureField, Spacer, StyleRef, Table, TableOfContents, Text, Use,
};

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
    /// The nodes of a macro.
    Use(Use),
    /// A table of contents.
    TableOfContents(TableOfContents),
    /// Content at a fixed position.
    Positioned(Positioned),
    /// A footnote.
    Footnote(Footnote),
    /// A place to sign.
    SignatureField(SignatureField),
    /// A field to fill in.
    FormField(Box<FormField>),
    /// Text in Markdown or HTML.
    RichText(Box<RichText>),
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
            Node::Use($inner) => $value,
            Node::TableOfContents($inner) => $value,
            Node::Positioned($inner) => $value,
            Node::Footnote($inner) => $value,
            Node::SignatureField($inner) => $value,
            Node::FormField($inner) => $value,
            Node::RichText($inner) => $value,
        }
    };
}

impl Node {
    /// Id of the node.
    #[must_use]
    pub fn id(&self) -> Option<&Text> {
        of_every_node!(self, node => node.id.as_ref())
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
