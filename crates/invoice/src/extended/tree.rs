//! The elements of an invoice as a tree that more is added to.

use roxmltree::{Document, Node};

use crate::xmp::escaped;

/// An element with its content: text, or elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Element {
    /// Its name with the prefix of its namespace, such as `ram:Name`.
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// An element with text.
    pub(super) fn text(name: String, text: String) -> Self {
        Self {
            name,
            text,
            ..Self::default()
        }
    }

    /// Its name without a prefix.
    pub(super) fn local(&self) -> &str {
        self.name.split_once(':').map_or(&self.name, |it| it.1)
    }

    /// The first of its elements with this name.
    pub(super) fn child(&mut self, name: &str) -> Option<&mut Element> {
        self.children.iter_mut().find(|it| it.local() == name)
    }

    /// What follows these names from its elements on.
    pub(super) fn at(&mut self, names: &[&str]) -> Option<&mut Element> {
        match names {
            [] => Some(self),
            [first, rest @ ..] => self.child(first)?.at(rest),
        }
    }

    /// Its elements without those of this name.
    pub(super) fn remove(&mut self, name: &str) {
        self.children.retain(|it| it.local() != name);
    }

    /// The tree of `xml`, if it is well formed.
    pub(super) fn parse(xml: &str) -> Option<Self> {
        let document = Document::parse(xml).ok()?;
        Some(Self::of(document.root_element()))
    }

    fn of(node: Node<'_, '_>) -> Self {
        let tag = node.tag_name();
        let prefix = tag.namespace().and_then(|uri| node.lookup_prefix(uri));
        let name = match prefix {
            Some(prefix) => format!("{prefix}:{}", tag.name()),
            None => tag.name().to_owned(),
        };
        let attributes = node.attributes();
        let children: Vec<_> = node.children().filter(Node::is_element).collect();
        Self {
            name,
            attributes: attributes
                .map(|it| (it.name().to_owned(), it.value().to_owned()))
                .collect(),
            text: match children.is_empty() {
                true => node.text().unwrap_or_default().to_owned(),
                false => String::new(),
            },
            children: children.into_iter().map(Self::of).collect(),
        }
    }

    /// The XML of the invoice `xml` with the elements of this tree: its declaration and its namespaces stay.
    pub(super) fn written(&self, xml: &str) -> String {
        let root = format!("<{}", self.name);
        let start = xml.find(&root).unwrap_or_default();
        let end = xml[start..].find('>').map_or(xml.len(), |it| start + it);
        let mut made = String::with_capacity(xml.len() + xml.len() / 4);
        made.push_str(xml[..end].trim_end_matches('/'));
        made.push_str(">\n");
        for child in &self.children {
            child.write(1, &mut made);
        }
        made.push_str("</");
        made.push_str(&self.name);
        made.push_str(">\n");
        made
    }

    fn write(&self, depth: usize, made: &mut String) {
        let indent = |made: &mut String| (0..depth).for_each(|_| made.push_str("  "));
        indent(made);
        made.push('<');
        made.push_str(&self.name);
        for (name, value) in &self.attributes {
            made.push_str(&format!(
                " {name}=\"{}\"",
                quoted(value).replace('\n', "&#10;").replace('\t', "&#9;")
            ));
        }
        if self.children.is_empty() && self.text.is_empty() {
            made.push_str("/>\n");
            return;
        }
        made.push('>');
        if self.children.is_empty() {
            made.push_str(&quoted(&self.text));
        } else {
            made.push('\n');
            for child in &self.children {
                child.write(depth + 1, made);
            }
            indent(made);
        }
        made.push_str("</");
        made.push_str(&self.name);
        made.push_str(">\n");
    }
}

/// `text` for XML, without the control characters that it does not have.
fn quoted(text: &str) -> String {
    let lawful = |one: &char| {
        matches!(one, '\n' | '\t' | '\r')
            || !(one.is_control() || matches!(one, '\u{fffe}' | '\u{ffff}'))
    };
    let text: String = text.chars().filter(lawful).collect();
    escaped(&text)
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
        .replace('\r', "&#13;")
}
