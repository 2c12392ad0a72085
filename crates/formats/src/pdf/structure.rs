//! The logical structure of a tagged PDF, ISO 32000-1 §14.7, built from the layout's flat list of
//! tags and the marks on the pages.

use platen_document::work;
use platen_layout::page::{Area, TagId, TagKind, Tags};

use super::{
    file::File,
    syntax::{Reference, Syntax},
};

/// Entries in one leaf of the parent tree.
const LEAF_ENTRIES: usize = 256;

/// A child of a structure element.
#[derive(Clone, Copy)]
enum Child {
    /// Marked content: page index and number on that page.
    Content(u32, u32),
    /// An annotation: index into `annotations`.
    Annotation(u32),
    /// Another element.
    Tag(TagId),
}

/// An annotation that belongs to an element.
struct Annotated {
    page: u32,
    annotation: Reference,
    tag: TagId,
}

/// Collects marked content by tag while pages are written.
pub(super) struct Structure<'a> {
    tags: &'a Tags,
    /// Element of each tag; 0 as long as the tag is empty. Empty tags are not written.
    elements: Vec<Reference>,
    /// Pairs of parent and child; those of one parent are in reading order.
    children: Vec<(TagId, Child)>,
    annotations: Vec<Annotated>,
    /// Tag of each piece of marked content on the current page.
    page_tags: Vec<TagId>,
    /// The array of each page in the parent tree.
    page_arrays: Vec<Reference>,
    /// Bounding boxes of figures on their page, from the bottom left.
    boxes: Vec<(TagId, [f32; 4])>,
}

impl<'a> Structure<'a> {
    pub fn new(tags: &'a Tags, file: &mut File) -> Self {
        let mut elements = vec![Reference::default(); tags.len()];
        elements[0] = file.reserve();
        Self {
            tags,
            elements,
            children: Vec::new(),
            annotations: Vec::new(),
            page_tags: Vec::new(),
            page_arrays: Vec::new(),
            boxes: Vec::new(),
        }
    }

    pub fn kind(&self, tag: TagId) -> TagKind {
        self.tags.kind(tag)
    }

    /// Alternative text of a figure, or of the figure that directly contains the tag.
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

    /// Adds marked content on the current page to `tag`. Returns its number (MCID).
    pub fn add_content(&mut self, tag: TagId, file: &mut File) -> u32 {
        self.link(tag, file);
        let number = self.page_tags.len() as u32;
        self.page_tags.push(tag);
        let page = self.page_arrays.len() as u32;
        self.children.push((tag, Child::Content(page, number)));
        number
    }

    /// Adds an annotation on the current page to `tag`. Returns its key in the parent tree.
    pub fn add_annotation(
        &mut self,
        tag: TagId,
        annotation: Reference,
        page_count: usize,
        file: &mut File,
    ) -> usize {
        self.link(tag, file);
        let index = self.annotations.len();
        self.annotations.push(Annotated {
            page: self.page_arrays.len() as u32,
            annotation,
            tag,
        });
        self.children.push((tag, Child::Annotation(index as u32)));
        page_count + index
    }

    /// Records the bounding box of the figure `tag`; ignored for other tags.
    pub fn place_figure(&mut self, tag: TagId, area: Area, page_height: f32) {
        if self.kind(tag) == TagKind::Figure && self.boxes.last().is_none_or(|(id, _)| *id != tag) {
            let top = page_height - area.y;
            let edges = [area.x, top - area.height, area.x + area.width, top];
            self.boxes.push((tag, edges));
        }
    }

    /// Puts a tag below its parent, after what stands there so far; once.
    pub fn link(&mut self, tag: TagId, file: &mut File) {
        let mut child = tag;
        while self.elements[child.0 as usize] == Reference::default() {
            self.elements[child.0 as usize] = file.reserve();
            let parent = self.tags.parent(child);
            self.children.push((parent, Child::Tag(child)));
            child = parent;
        }
    }

    /// Completes the current page.
    pub fn end_page(&mut self, file: &mut File) {
        let elements = &self.elements;
        let tags = &mut self.page_tags;
        let array = file.add(|out| {
            out.push(b'[');
            for tag in tags.drain(..) {
                out.reference(elements[tag.0 as usize]).raw(" ");
            }
            out.push(b']');
        });
        self.page_arrays.push(array);
    }

    /// Writes the structure and returns its root. Adds violations of PDF/UA-1 to `findings`.
    pub fn write(
        mut self,
        file: &mut File,
        pages: &[Reference],
        findings: &mut Vec<String>,
    ) -> Reference {
        let root = file.reserve();
        let mut children = std::mem::take(&mut self.children);
        // A stable sort: the children of one parent stay in reading order.
        children.sort_by_key(|(parent, _)| *parent);
        self.boxes.sort_by_key(|(tag, _)| *tag);
        let mut notes = Vec::new();
        for family in children.chunk_by(|one, other| one.0 == other.0) {
            let tag = family[0].0;
            let kind = self.tags.kind(tag);
            if kind == TagKind::Figure && self.alternative(tag).is_none() {
                findings.push("a figure has no alternative text".to_owned());
            }
            if kind == TagKind::Note {
                notes.push(tag);
            }
            let parent = match tag {
                Tags::DOCUMENT => root,
                inner => self.elements[self.tags.parent(inner).0 as usize],
            };
            file.object(self.elements[tag.0 as usize], |out| {
                self.element(out, tag, parent, family, pages);
            });
        }
        let parents = self.parent_tree(file);
        let next_key = self.page_arrays.len() + self.annotations.len();
        file.object(root, |out| {
            out.raw("<</Type/StructTreeRoot/K ")
                .reference(self.elements[0]);
            out.raw("/ParentTree ").reference(parents);
            out.raw("/ParentTreeNextKey ").integer(next_key as i64);
            if !notes.is_empty() {
                out.raw("/IDTree<</Names[");
                for note in &notes {
                    note_id(out, *note);
                    out.reference(self.elements[note.0 as usize]);
                }
                out.raw("]>>");
            }
            out.raw(">>");
        });
        root
    }

    fn element(
        &self,
        out: &mut Vec<u8>,
        tag: TagId,
        parent: Reference,
        family: &[(TagId, Child)],
        pages: &[Reference],
    ) {
        work::check();
        let kind = self.tags.kind(tag);
        out.raw("<</S").raw(name(kind)).raw("/P ").reference(parent);
        let home = family.iter().find_map(|(_, child)| match child {
            Child::Content(page, _) => Some(*page),
            _ => None,
        });
        if let Some(page) = home {
            out.raw("/Pg ").reference(pages[page as usize]);
        }
        out.raw("/K[");
        for (_, child) in family {
            match *child {
                Child::Content(page, number) if Some(page) == home => {
                    out.integer(i64::from(number)).raw(" ");
                }
                Child::Content(page, number) => {
                    out.raw("<</Type/MCR/Pg ").reference(pages[page as usize]);
                    out.raw("/MCID ").integer(i64::from(number)).raw(">>");
                }
                Child::Annotation(index) => {
                    let annotated = &self.annotations[index as usize];
                    out.raw("<</Type/OBJR/Pg ");
                    out.reference(pages[annotated.page as usize]);
                    out.raw("/Obj ").reference(annotated.annotation).raw(">>");
                }
                Child::Tag(inner) => {
                    out.reference(self.elements[inner.0 as usize]).raw(" ");
                }
            }
        }
        out.raw("]");
        self.attributes(out, tag, kind);
        out.raw(">>");
    }

    /// Writes the attributes of an element, ISO 32000-1 §14.8.5.
    fn attributes(&self, out: &mut Vec<u8>, tag: TagId, kind: TagKind) {
        match kind {
            TagKind::List(numbered) => {
                let numbering = if numbered { "Decimal" } else { "Disc" };
                out.raw("/A<</O/List/ListNumbering/")
                    .raw(numbering)
                    .raw(">>");
            }
            TagKind::TableHeaderCell | TagKind::TableCell => {
                let spans = &self.tags.spans;
                let (columns, rows) = spans
                    .binary_search_by_key(&tag, |(id, ..)| *id)
                    .map_or((1, 1), |index| (spans[index].1, spans[index].2));
                let header = kind == TagKind::TableHeaderCell;
                if header || columns > 1 || rows > 1 {
                    out.raw("/A<</O/Table");
                    if header {
                        out.raw("/Scope/Column");
                    }
                    if columns > 1 {
                        out.raw("/ColSpan ").integer(i64::from(columns));
                    }
                    if rows > 1 {
                        out.raw("/RowSpan ").integer(i64::from(rows));
                    }
                    out.raw(">>");
                }
            }
            TagKind::Figure => {
                if let Some(alternative) = self.alternative(tag) {
                    out.raw("/Alt").text(alternative);
                }
                if let Ok(index) = self.boxes.binary_search_by_key(&tag, |(id, _)| *id) {
                    out.raw("/A<</O/Layout/Placement/Block/BBox[");
                    for edge in self.boxes[index].1 {
                        out.length(edge).raw(" ");
                    }
                    out.raw("]>>");
                }
            }
            TagKind::ListLabel => {
                if let Some(alternative) = self.alternative(tag) {
                    out.raw("/ActualText").text(alternative);
                }
            }
            TagKind::Note => {
                out.raw("/ID");
                note_id(out, tag);
            }
            _ => {}
        }
    }

    /// Maps keys of pages and annotations back to elements, ISO 32000-1 §14.7.4.4.
    fn parent_tree(&self, file: &mut File) -> Reference {
        let annotated = (self.annotations.iter()).map(|one| self.elements[one.tag.0 as usize]);
        let targets: Vec<Reference> = self.page_arrays.iter().copied().chain(annotated).collect();
        let mut leaves = Vec::new();
        for (index, leaf) in targets.chunks(LEAF_ENTRIES).enumerate() {
            let first = index * LEAF_ENTRIES;
            leaves.push(file.add(|out| {
                out.raw("<</Limits[").integer(first as i64).raw(" ");
                out.integer((first + leaf.len() - 1) as i64).raw("]/Nums[");
                for (offset, target) in leaf.iter().enumerate() {
                    out.integer((first + offset) as i64).raw(" ");
                    out.reference(*target).raw(" ");
                }
                out.raw("]>>");
            }));
        }
        file.add(|out| {
            out.raw("<</Kids[");
            for leaf in &leaves {
                out.reference(*leaf).raw(" ");
            }
            out.raw("]>>");
        })
    }
}

fn note_id(out: &mut Vec<u8>, tag: TagId) {
    out.raw(&format!("(note{:08})", tag.0));
}

/// Standard structure types, ISO 32000-1 §14.8.4.
pub(super) fn name(kind: TagKind) -> &'static str {
    match kind {
        TagKind::Document => "/Document",
        TagKind::Section => "/Sect",
        TagKind::Division => "/Div",
        TagKind::Heading(level) => match level {
            0 | 1 => "/H1",
            2 => "/H2",
            3 => "/H3",
            4 => "/H4",
            5 => "/H5",
            _ => "/H6",
        },
        TagKind::Paragraph => "/P",
        TagKind::List(_) => "/L",
        TagKind::ListItem => "/LI",
        TagKind::ListLabel => "/Lbl",
        TagKind::ListBody => "/LBody",
        TagKind::Table => "/Table",
        TagKind::Caption => "/Caption",
        TagKind::TableHead => "/THead",
        TagKind::TableBody => "/TBody",
        TagKind::TableRow => "/TR",
        TagKind::TableHeaderCell => "/TH",
        TagKind::TableCell => "/TD",
        TagKind::Figure => "/Figure",
        TagKind::Link => "/Link",
        TagKind::Form => "/Form",
        TagKind::Note => "/Note",
        TagKind::Contents => "/TOC",
        TagKind::ContentsItem => "/TOCI",
    }
}
