//! The result of pagination: pages of positioned items and the logical structure for tagged PDF.
//! Lengths are in points, the origin is the top left corner, the y axis points down.

use std::{ops::Range, sync::Arc};

use platen_document::{
    Color, Diagnostic,
    bound::{Crop, FormField, ImageData, LineStyle, StyleId, StyleTable},
    numbering::Counter,
};

use crate::{figure::Figure, shape::WordId};

/// A laid-out document. Its words are in the [`crate::Shaper`] that laid it out.
#[derive(Debug, Default)]
pub struct Layout {
    /// Pages in order, at least one.
    pub pages: Vec<Page>,
    /// Logical structure; tag 0 is the document.
    pub tags: Tags,
    /// Headings in document order.
    pub outline: Vec<OutlineEntry>,
    /// Targets of `#id` links.
    pub anchors: Vec<Anchor>,
    /// The document's styles, followed by those that layout added.
    pub styles: StyleTable,
    /// Where the nodes of the template are, if they were asked for; outer nodes before those inside
    /// them. A node may have several boxes on a page, as in a repeat.
    pub node_boxes: Vec<NodeBox>,
    /// Warnings, for instance about characters that no font has.
    pub warnings: Vec<Diagnostic>,
}

/// A part of a page that a node of the template has.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeBox {
    /// JSON pointer of the node.
    pub path: Arc<str>,
    /// Index of the page.
    pub page: u32,
    /// Where.
    pub area: Area,
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
    /// The page number.
    pub number: u32,
    /// Form in which it is printed.
    pub form: Counter,
    /// Items in drawing order.
    pub items: Vec<Item>,
    /// Words of the page's texts, indexed by [`TextRun::words`].
    pub words: Vec<PlacedWord>,
}

impl Default for Page {
    fn default() -> Self {
        Self {
            width: 0.0,
            height: 0.0,
            number: 0,
            form: Counter::Decimal,
            items: Vec::new(),
            words: Vec::new(),
        }
    }
}

/// A word placed on a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedWord {
    /// The shaped word.
    pub word: WordId,
    /// Distance of its left edge from that of the run.
    pub x: f32,
    /// Whether a space precedes it in the text.
    pub space: bool,
}

/// An item on a page.
#[derive(Clone, Debug)]
pub enum Item {
    /// Text.
    Text(TextRun),
    /// A filled rectangle.
    Rect {
        /// Left, top, width and height.
        area: Area,
        /// Color.
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
        /// Color.
        color: Color,
        /// Solid, dashed or dotted.
        style: LineStyle,
    },
    /// An image.
    Image {
        /// The encoded image file.
        data: Arc<ImageData>,
        /// Position and size; what remains of the image is stretched to it.
        area: Area,
        /// What is cut off the image before.
        crop: Crop,
    },
    /// The shapes of a chart or barcode. Its texts are separate items.
    Figure {
        /// The shapes.
        figure: Arc<Figure>,
        /// Position of its top left corner.
        at: (f32, f32),
    },
    /// A clickable area.
    Link {
        /// An address, or `#id`.
        target: Arc<str>,
        /// Where.
        area: Area,
        /// Its tag in the logical structure.
        tag: TagId,
    },
    /// A form field to be signed.
    SignatureField {
        /// Name of the form field.
        name: Arc<str>,
        /// Its purpose, for screen readers.
        label: Arc<str>,
        /// Where.
        area: Area,
        /// Its tag in the logical structure.
        tag: TagId,
    },
    /// A form field to fill in.
    FormField {
        /// The field.
        field: Arc<FormField>,
        /// Which part of it.
        part: FieldPart,
        /// Number of the items that follow and show what stands in it.
        shown: u16,
        /// What it shows while it is marked, if it can be.
        mark: Option<Arc<Figure>>,
        /// Where.
        area: Area,
        /// Its tag in the logical structure.
        tag: TagId,
    },
    /// Assigns the following items to this tag, until the next mark.
    Tag(TagId),
    /// Marks the following items as decoration or page furniture, until the next mark.
    Artifact(Artifact),
}

/// A part of a form field that has a place of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPart {
    /// All of it.
    Whole,
    /// The radio button of the option with this index.
    Option(usize),
}

/// Kinds of content outside the logical structure (artifacts).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Artifact {
    /// Page header.
    Header,
    /// Page footer.
    Footer,
    /// Rules and backgrounds.
    Decoration,
    /// Repeated table headers and similar.
    Repeated,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// Left edge.
    pub x: f32,
    /// Top edge.
    pub y: f32,
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
}

impl Area {
    /// The area of a whole image of which this area shows what `crop` leaves.
    #[must_use]
    pub fn uncropped(self, crop: Crop) -> Self {
        let width = self.width / (1.0 - 2.0 * crop.sides);
        let height = self.height / (1.0 - 2.0 * crop.ends);
        Self {
            x: self.x - width * crop.sides,
            y: self.y - height * crop.ends,
            width,
            height,
        }
    }
}

/// Words of one style on one baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct TextRun {
    /// Left edge.
    pub x: f32,
    /// Baseline.
    pub y: f32,
    /// Width including the spaces between words.
    pub width: f32,
    /// Font size; smaller than that of the style for superscripts.
    pub size: f32,
    /// Style, for color, underline and letter spacing.
    pub style: StyleId,
    /// Range in [`Page::words`].
    pub words: Range<u32>,
    /// Points added behind each glyph of a justified line, beside the letter spacing of the style.
    pub tracking: f32,
    /// Whether it is rotated by 90 degrees counter-clockwise about its start.
    pub rotated: bool,
}

/// Index of a tag in [`Tags`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagId(pub u32);

/// The logical structure (ISO 32000-2 §14.8.4) as flat arrays: half a million table cells are
/// common.
#[derive(Debug)]
pub struct Tags {
    kinds: Vec<TagKind>,
    parents: Vec<TagId>,
    /// Alternative texts of figures, sorted by tag.
    pub alternatives: Vec<(TagId, String)>,
    /// Columns and rows of cells that span several, sorted by tag.
    pub spans: Vec<(TagId, u16, u16)>,
    /// JSON pointers of template nodes, by the first tag that each created, in ascending order.
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

    /// Adds a tag below `parent`.
    pub fn add(&mut self, kind: TagKind, parent: TagId) -> TagId {
        let id = TagId(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.parents.push(parent);
        id
    }

    /// Replaces heading levels by nesting depths. Authors choose a level by its look, but ISO
    /// 14289-1 §7.4.2 requires the first to be 1 and none to be skipped.
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

    /// Sorts the alternative texts: that of a tag may be known only when it is drawn, behind those of
    /// tags that were added later.
    pub(crate) fn sort_alternatives(&mut self) {
        self.alternatives.sort_by_key(|(tag, _)| *tag);
    }

    /// Records that the following tags belong to the template node at `path`.
    pub(crate) fn begin_node(&mut self, path: &Arc<str>) {
        let next = TagId(self.kinds.len() as u32);
        match self.nodes.last_mut() {
            // The previous node created no tag.
            Some((tag, known)) if *tag == next => *known = Arc::clone(path),
            _ => self.nodes.push((next, Arc::clone(path))),
        }
    }

    /// JSON pointer of the template node that a tag belongs to.
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

    /// Always false, since the document itself is a tag.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Kind of a tag.
    #[must_use]
    pub fn kind(&self, id: TagId) -> TagKind {
        self.kinds[id.0 as usize]
    }

    /// Parent of a tag; the document is its own parent.
    #[must_use]
    pub fn parent(&self, id: TagId) -> TagId {
        self.parents[id.0 as usize]
    }
}

/// Kinds of structure elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagKind {
    /// The document.
    Document,
    /// A section.
    Section,
    /// A generic container.
    Division,
    /// A heading, with its nesting depth.
    Heading(u8),
    /// A paragraph.
    Paragraph,
    /// A list; true if it is numbered.
    List(bool),
    /// An item of a list.
    ListItem,
    /// Bullet or number.
    ListLabel,
    /// The content of an item.
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

/// A heading, for bookmarks and the table of contents.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlineEntry {
    /// Level, 1 to 6.
    pub level: u8,
    /// Plain text.
    pub title: String,
    /// Index of its page.
    pub page: u32,
    /// Its top on that page, in points.
    pub y: f32,
}

/// The position of a block that has an id.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// The id.
    pub id: String,
    /// Index of its page.
    pub page: u32,
    /// Its top on that page, in points.
    pub y: f32,
}
