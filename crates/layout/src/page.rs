//! What the paginator makes: pages of placed items, and the logical structure that tagged PDF
//! needs. Points, origin at the top left, y downwards.

use std::{ops::Range, sync::Arc};

use platen_document::{
    Color, Diagnostic,
    bound::{ImageData, LineStyle, StyleId, StyleTable},
};

use crate::{figure::Figure, shape::WordId};

/// A document laid out. Its words live in the [`crate::Shaper`] that laid it out.
#[derive(Debug, Default)]
pub struct Layout {
    /// Pages in order; at least one.
    pub pages: Vec<Page>,
    /// Logical structure; tag 0 is the document.
    pub tags: Tags,
    /// Headings in order.
    pub outline: Vec<OutlineEntry>,
    /// Places that `#id` links lead to.
    pub anchors: Vec<Anchor>,
    /// Styles of the texts: the document's, with those that layout adds.
    pub styles: StyleTable,
    /// Warnings, such as characters that no font has.
    pub warnings: Vec<Diagnostic>,
}

/// A page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
    /// Number that the page shows.
    pub number: u32,
    /// Items in drawing order.
    pub items: Vec<Item>,
    /// Words of the page's texts; [`TextRun::words`] points into this.
    pub words: Vec<PlacedWord>,
}

/// A word on a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedWord {
    /// The word.
    pub word: WordId,
    /// Distance of its left edge from the run's.
    pub x: f32,
    /// True where a space stands before it in the text.
    pub space: bool,
}

/// Something on a page.
#[derive(Clone, Debug)]
pub enum Item {
    /// Text.
    Text(TextRun),
    /// A filled rectangle.
    Rect {
        /// Left, top, width and height.
        area: Area,
        /// Colour.
        color: Color,
    },
    /// A straight line.
    Line {
        /// Start.
        from: (f32, f32),
        /// End.
        to: (f32, f32),
        /// Thickness.
        width: f32,
        /// Colour.
        color: Color,
        /// How it is drawn.
        style: LineStyle,
    },
    /// A picture.
    Image {
        /// The picture.
        data: Arc<ImageData>,
        /// Where.
        area: Area,
    },
    /// The shapes of a chart or barcode; its texts are items of their own.
    Figure {
        /// The shapes.
        figure: Arc<Figure>,
        /// Left and top.
        at: (f32, f32),
    },
    /// An area that leads somewhere when clicked.
    Link {
        /// Address, or `#id`.
        target: Arc<str>,
        /// Where.
        area: Area,
        /// The link's tag.
        tag: TagId,
    },
    /// A form field that waits for a signature.
    SignatureField {
        /// Name of the field.
        name: Arc<str>,
        /// What it is for, to be read aloud.
        label: Arc<str>,
        /// Where.
        area: Area,
        /// The field's tag.
        tag: TagId,
    },
    /// What follows belongs to this tag, until the next mark.
    Tag(TagId),
    /// What follows is decoration or page furniture, until the next mark.
    Artifact(Artifact),
}

/// Kinds of content outside the logical structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Artifact {
    /// Page header.
    Header,
    /// Page footer.
    Footer,
    /// Lines and backgrounds.
    Decoration,
    /// Repeated table headers and the like.
    Repeated,
}

/// Left, top, width and height of a rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// Left.
    pub x: f32,
    /// Top.
    pub y: f32,
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
}

/// Words of one style on one baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct TextRun {
    /// Left edge.
    pub x: f32,
    /// Baseline.
    pub y: f32,
    /// Width with the spaces between.
    pub width: f32,
    /// Font size; smaller than the style's for superscripts.
    pub size: f32,
    /// Style: colour, underline, letter spacing.
    pub style: StyleId,
    /// Words in [`Page::words`].
    pub words: Range<u32>,
    /// Turned by 90 degrees counter-clockwise around its start.
    pub rotated: bool,
}

/// Index of a tag in [`Tags`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagId(pub u32);

/// Logical structure, ISO 32000-2 section 14.8.4, as flat arrays: half a million cells are common.
#[derive(Debug)]
pub struct Tags {
    kinds: Vec<TagKind>,
    parents: Vec<TagId>,
    /// Alternative texts of figures, by tag.
    pub alternatives: Vec<(TagId, String)>,
    /// Columns and rows that cells cover where not one, by tag.
    pub spans: Vec<(TagId, u16, u16)>,
    /// Pointers of the template's nodes, by the first tag that each has made, ascending.
    nodes: Vec<(TagId, Arc<str>)>,
}

impl Default for Tags {
    fn default() -> Self {
        Self {
            kinds: vec![TagKind::Document],
            parents: vec![TagId(0)],
            alternatives: Vec::new(),
            spans: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

impl Tags {
    /// The root.
    pub const DOCUMENT: TagId = TagId(0);

    /// A new tag below `parent`.
    pub fn add(&mut self, kind: TagKind, parent: TagId) -> TagId {
        let id = TagId(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.parents.push(parent);
        id
    }

    /// Gives headings the level at which they are nested: authors choose a level by its look, but
    /// ISO 14289-1 section 7.4.2 wants the first to be of level 1 and none to be skipped.
    pub(crate) fn nest_headings(&mut self) {
        let mut open: Vec<u8> = Vec::new();
        for kind in &mut self.kinds {
            if let TagKind::Heading(level) = kind {
                open.retain(|above| *above < *level);
                open.push(*level);
                *level = open.len() as u8;
            }
        }
    }

    /// Says that the next tag is made for the node of the template that `path` points at.
    pub(crate) fn begin_node(&mut self, path: &Arc<str>) {
        let next = TagId(self.kinds.len() as u32);
        match self.nodes.last_mut() {
            // The block before has made no tag.
            Some((tag, known)) if *tag == next => *known = Arc::clone(path),
            _ => self.nodes.push((next, Arc::clone(path))),
        }
    }

    /// Pointer of the template's node that a tag was made for.
    #[must_use]
    pub fn node(&self, mut id: TagId) -> Option<&str> {
        while id != Self::DOCUMENT {
            if let Ok(index) = self.nodes.binary_search_by_key(&id, |(tag, _)| *tag) {
                return Some(&self.nodes[index].1);
            }
            id = self.parent(id);
        }
        None
    }

    /// Number of tags.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Never true: the document is always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Kind of a tag.
    #[must_use]
    pub fn kind(&self, id: TagId) -> TagKind {
        self.kinds[id.0 as usize]
    }

    /// Parent of a tag; the document is its own.
    #[must_use]
    pub fn parent(&self, id: TagId) -> TagId {
        self.parents[id.0 as usize]
    }
}

/// Kinds of structure element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagKind {
    /// The document.
    Document,
    /// A section.
    Section,
    /// A box.
    Division,
    /// A heading of this level: how deep it is nested.
    Heading(u8),
    /// A paragraph.
    Paragraph,
    /// A list; true for a numbered one.
    List(bool),
    /// An item of a list.
    ListItem,
    /// Bullet or number.
    ListLabel,
    /// Content of an item.
    ListBody,
    /// A table.
    Table,
    /// Caption of a table or figure.
    Caption,
    /// Rows of the header.
    TableHead,
    /// Rows of the body.
    TableBody,
    /// A row.
    TableRow,
    /// A header cell.
    TableHeaderCell,
    /// A cell.
    TableCell,
    /// A picture, chart or barcode.
    Figure,
    /// A link.
    Link,
    /// A form field.
    Form,
    /// A footnote.
    Note,
    /// A table of contents.
    Contents,
    /// An entry of it.
    ContentsItem,
}

/// A heading for bookmarks and the table of contents.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlineEntry {
    /// 1 to 6.
    pub level: u8,
    /// What it says.
    pub title: String,
    /// Index of its page.
    pub page: u32,
    /// Its top on that page.
    pub y: f32,
}

/// The place of a block with an id.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// The id.
    pub id: String,
    /// Index of its page.
    pub page: u32,
    /// Its top on that page.
    pub y: f32,
}
