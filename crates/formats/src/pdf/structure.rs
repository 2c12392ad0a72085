//! The logical structure of a tagged PDF, from the layout's flat tags and the marks on the pages.

use std::num::NonZeroU32;

use krilla::tagging::{
    Identifier, ListNumbering, Node, TableHeaderScope, Tag, TagGroup, TagKind as Kind, TagTree,
};
use platen_layout::page::{TagId, TagKind, Tags};

use super::heading_level;

/// Something below a tag, at its place in reading order.
#[derive(Clone, Copy)]
enum Child {
    /// Marked content, an index into the identifiers.
    Content(u32),
    /// Another tag.
    Tag(TagId),
}

/// Collects marked content by tag.
pub(super) struct Structure<'a> {
    tags: &'a Tags,
    identifiers: Vec<Option<Identifier>>,
    /// Parent, order and child.
    children: Vec<(TagId, u32, Child)>,
    /// Tags that stand below their parent already.
    linked: Vec<bool>,
    order: u32,
}

impl<'a> Structure<'a> {
    pub fn new(tags: &'a Tags) -> Self {
        let mut linked = vec![false; tags.len()];
        linked[0] = true;
        Self {
            tags,
            identifiers: Vec::new(),
            children: Vec::new(),
            linked,
            order: 0,
        }
    }

    pub fn kind(&self, tag: TagId) -> TagKind {
        self.tags.kind(tag)
    }

    /// Alternative text of the figure that a tag is or stands in.
    pub fn alternative(&self, tag: TagId) -> Option<&'a str> {
        let position = |tag: TagId| {
            let alternatives = &self.tags.alternatives;
            alternatives
                .binary_search_by_key(&tag, |(id, _)| *id)
                .ok()
                .map(|index| alternatives[index].1.as_str())
        };
        position(tag).or_else(|| position(self.tags.parent(tag)))
    }

    /// Adds marked content to `tag`.
    pub fn add(&mut self, tag: TagId, identifier: Identifier) {
        let mut child = tag;
        while !self.linked[child.0 as usize] {
            self.linked[child.0 as usize] = true;
            let parent = self.tags.parent(child);
            self.children.push((parent, self.order, Child::Tag(child)));
            child = parent;
        }
        self.identifiers.push(Some(identifier));
        let content = Child::Content((self.identifiers.len() - 1) as u32);
        self.children.push((tag, self.order, content));
        self.order += 1;
    }

    /// Builds the tree. `headings` are the titles of the headings in order.
    pub fn build(mut self, headings: &[&str], tree: &mut TagTree) {
        let mut children = std::mem::take(&mut self.children);
        // Stable: of one parent and one order, the tag comes before what is inside it.
        children.sort_by_key(|(parent, order, _)| (*parent, *order));
        let mut headings = headings.iter();
        for node in self.nodes(TagId(0), &children, &mut headings) {
            tree.push(node);
        }
    }

    fn nodes<'h>(
        &mut self,
        parent: TagId,
        children: &[(TagId, u32, Child)],
        headings: &mut dyn Iterator<Item = &'h &'h str>,
    ) -> Vec<Node> {
        let start = children.partition_point(|(id, ..)| *id < parent);
        let mut nodes = Vec::new();
        for (_, _, child) in children[start..]
            .iter()
            .take_while(|(id, ..)| *id == parent)
        {
            match *child {
                Child::Content(index) => {
                    if let Some(identifier) = self.identifiers[index as usize].take() {
                        nodes.push(Node::from(identifier));
                    }
                }
                Child::Tag(tag) => {
                    let kind = self.group_kind(tag, headings);
                    let inner = self.nodes(tag, children, headings);
                    nodes.push(Node::from(TagGroup::with_children(kind, inner)));
                }
            }
        }
        nodes
    }

    fn group_kind<'h>(&self, tag: TagId, headings: &mut dyn Iterator<Item = &'h &'h str>) -> Kind {
        match self.tags.kind(tag) {
            TagKind::Document => Tag::Part.into(),
            TagKind::Section => Tag::Section.into(),
            TagKind::Division => Tag::Div.into(),
            TagKind::Heading(level) => {
                let title = headings.next().map(|title| (*title).to_owned());
                Tag::Hn(heading_level(level), title).into()
            }
            TagKind::Paragraph => Tag::P.into(),
            TagKind::List(true) => Tag::L(ListNumbering::Decimal).into(),
            TagKind::List(false) => Tag::L(ListNumbering::Disc).into(),
            TagKind::ListItem => Tag::LI.into(),
            TagKind::ListLabel => Tag::Lbl.into(),
            TagKind::ListBody => Tag::LBody.into(),
            TagKind::Table => Tag::Table.into(),
            TagKind::Caption => Tag::Caption.into(),
            TagKind::TableHead => Tag::THead.into(),
            TagKind::TableBody => Tag::TBody.into(),
            TagKind::TableRow => Tag::TR.into(),
            TagKind::TableHeaderCell => {
                let (columns, rows) = self.span(tag);
                Tag::TH(TableHeaderScope::Column)
                    .with_col_span(columns)
                    .with_row_span(rows)
                    .into()
            }
            TagKind::TableCell => {
                let (columns, rows) = self.span(tag);
                Tag::TD.with_col_span(columns).with_row_span(rows).into()
            }
            TagKind::Figure => Tag::Figure(self.alternative(tag).map(str::to_owned)).into(),
            TagKind::Link => Tag::Link.into(),
            TagKind::Note => Tag::Note.into(),
            TagKind::Contents => Tag::TOC.into(),
            TagKind::ContentsItem => Tag::TOCI.into(),
        }
    }

    fn span(&self, tag: TagId) -> (Option<NonZeroU32>, Option<NonZeroU32>) {
        let spans = &self.tags.spans;
        let Ok(index) = spans.binary_search_by_key(&tag, |(id, ..)| *id) else {
            return (None, None);
        };
        let (_, columns, rows) = spans[index];
        let more = |count: u16| NonZeroU32::new(u32::from(count)).filter(|count| count.get() > 1);
        (more(columns), more(rows))
    }
}
