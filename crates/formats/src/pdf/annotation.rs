//! Links and signature fields, ISO 32000-1 §12.5 and §12.7.

use std::collections::HashMap;

use platen_document::work;
use platen_layout::{
    HEADING_TARGET, Layout,
    page::{Area, Item, TagId},
};

use super::{
    file::File,
    page::PageWriter,
    structure::Structure,
    syntax::{Reference, Syntax},
};

/// State outside the page writer that an annotation changes.
pub(super) struct AnnotationContext<'c, 'a> {
    pub file: &'c mut File,
    pub structure: Option<&'c mut Structure<'a>>,
    /// Page index.
    pub page: usize,
}

impl AnnotationContext<'_, '_> {
    /// Adds an annotation to the structure. Returns its key in the parent tree; `None` without
    /// tags.
    pub fn attach(&mut self, tag: TagId, reference: Reference, page_count: usize) -> Option<usize> {
        let structure = self.structure.as_deref_mut()?;
        Some(structure.add_annotation(tag, reference, page_count, self.file))
    }
}

impl<'a> PageWriter<'a> {
    /// Writes a link or field. `None` for a link whose target does not exist.
    pub fn annotation(
        &mut self,
        item: &Item,
        context: AnnotationContext<'_, 'a>,
    ) -> Option<Reference> {
        match item {
            Item::Link { target, area, tag } => self.link(target, *area, *tag, context),
            Item::SignatureField {
                name,
                label,
                area,
                tag,
            } => Some(self.signature_field(name, label, *area, *tag, context)),
            _ => None,
        }
    }

    fn link(
        &self,
        link: &str,
        area: Area,
        tag: TagId,
        mut context: AnnotationContext<'_, 'a>,
    ) -> Option<Reference> {
        let inner = match link.strip_prefix('#') {
            Some(id) => Some(self.place_of(id)?),
            None => None,
        };
        let reference = context.file.reserve();
        let alternative = (context.structure.as_ref()).and_then(|all| all.alternative(tag));
        let description = alternative.unwrap_or(match inner {
            Some(_) => &self.document.metadata.title,
            None => link,
        });
        let key = context.attach(tag, reference, self.places.pages.len());
        context.file.object(reference, |out| {
            out.raw("<</Type/Annot/Subtype/Link/F 4/Border[0 0 0]");
            self.rectangle(out, area, context.page);
            out.raw("/Contents").text(description);
            parent_key(out, key);
            match inner {
                Some((page, y)) => {
                    out.raw("/Dest");
                    self.destination(out, page, y);
                }
                None => {
                    out.raw("/A<</S/URI/URI").text(&ascii_address(link));
                    out.raw(">>");
                }
            }
            out.raw(">>");
        });
        Some(reference)
    }

    /// Writes an empty signature field with its widget, ISO 32000-1 §12.7.4.5.
    fn signature_field(
        &mut self,
        name: &str,
        label: &str,
        area: Area,
        tag: TagId,
        mut context: AnnotationContext<'_, 'a>,
    ) -> Reference {
        let reference = context.file.reserve();
        let key = context.attach(tag, reference, self.places.pages.len());
        let name = self.forms.name(name);
        let appearance = context.file.reserve();
        let mut entries = Vec::new();
        entries.raw("/Type/XObject/Subtype/Form/Resources<<>>/BBox[0 0 ");
        entries.length(area.width).raw(" ").length(area.height);
        entries.raw("]");
        let entries = String::from_utf8_lossy(&entries).into_owned();
        context.file.plain_stream(appearance, &entries, b"");
        context.file.object(reference, |out| {
            out.raw("<</Type/Annot/Subtype/Widget/FT/Sig/F 4/T");
            out.text(&name).raw("/TU").text(label).raw("/P ");
            out.reference(self.places.pages[context.page]);
            self.rectangle(out, area, context.page);
            parent_key(out, key);
            out.raw("/AP<</N ").reference(appearance).raw(">>>>");
        });
        self.forms.fields.push(reference);
        reference
    }

    pub fn rectangle(&self, out: &mut Vec<u8>, area: Area, page: usize) {
        let height = self.heights[page];
        out.raw("/Rect[").length(area.x).raw(" ");
        out.length(height - area.y - area.height.max(0.1)).raw(" ");
        out.length(area.x + area.width.max(0.1)).raw(" ");
        out.length(height - area.y).raw("]");
    }

    /// Page index and vertical position of a link's target.
    fn place_of(&self, id: &str) -> Option<(u32, f32)> {
        if let Some(index) = id.strip_prefix(HEADING_TARGET) {
            let entry = self.layout.outline.get(index.parse::<usize>().ok()?)?;
            return Some((entry.page, entry.y));
        }
        self.targets.get(id).copied()
    }
}

/// Page indexes and vertical positions of the blocks that links may lead to, by their ids.
pub(super) fn targets(layout: &Layout) -> HashMap<&str, (u32, f32)> {
    let mut targets = HashMap::with_capacity(layout.anchors.len());
    for anchor in &layout.anchors {
        work::check();
        // The first block of an id counts.
        targets
            .entry(anchor.id.as_str())
            .or_insert((anchor.page, anchor.y));
    }
    targets
}

pub(super) fn parent_key(out: &mut Vec<u8>, key: Option<usize>) {
    if let Some(key) = key {
        out.raw("/StructParent ").integer(key as i64);
    }
}

/// A link's address in ASCII, as ISO 32000-1 §12.6.4.7 requires, percent-encoded.
pub(super) fn ascii_address(link: &str) -> String {
    let mut address = String::with_capacity(link.len());
    for character in link.chars() {
        if character.is_ascii() {
            address.push(character);
        } else {
            let mut buffer = [0; 4];
            for byte in character.encode_utf8(&mut buffer).bytes() {
                address.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    address
}
