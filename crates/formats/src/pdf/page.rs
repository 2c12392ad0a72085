//! Pages: content streams with marked content, ISO 32000-1 §7.7.3 and chapter 8.

use std::{collections::HashMap, sync::Arc};

use platen_document::{
    bound::{Document, ImageData},
    work,
};
use platen_layout::{
    Layout, Shaper,
    page::{Area, Artifact, Item, Page, PlacedWord, TagId, TagKind},
};

use super::{
    annotation::{self, AnnotationContext},
    error::Error,
    file::File,
    form::{Forms, Widget},
    graphics::Graphics,
    image, page_label,
    structure::{self, Structure},
    syntax::{Reference, Syntax},
    text::{RunContext, TextWriter},
};

/// Writes pages one by one.
pub(super) struct PageWriter<'a> {
    pub document: &'a Document,
    /// The layout without its pages, which are passed one by one.
    pub layout: &'a Layout,
    /// Heights of all pages in points, since a link may lead to a page that is not written yet.
    pub heights: Vec<f32>,
    /// How the pages are numbered.
    pub labels: Vec<page_label::Range>,
    /// Where the blocks are that links may lead to, by their ids.
    pub targets: HashMap<&'a str, (u32, f32)>,
    shaper: &'a Shaper,
    /// Reserved object numbers of the pages, their tree and the shared resources.
    pub places: PagePlaces,
    pub text: TextWriter,
    pub forms: Forms,
    images: HashMap<*const ImageData, usize>,
    written_images: Vec<image::Written>,
    /// Whether the current page shows a translucent image.
    translucent: bool,
    archival: bool,
    content: Vec<u8>,
}

/// Object numbers that must be known before any page is written.
pub(super) struct PagePlaces {
    pub pages: Vec<Reference>,
    pub nodes: Vec<Reference>,
    pub root: Reference,
    pub resources: Reference,
}

/// Pages below one node of the page tree.
const NODE_PAGES: usize = 64;

impl PagePlaces {
    pub fn reserve(count: usize, file: &mut File) -> Self {
        let mut list = |count: usize| (0..count).map(|_| file.reserve()).collect::<Vec<_>>();
        let nodes = list(count.div_ceil(NODE_PAGES));
        let pages = list(count);
        Self {
            pages,
            nodes,
            root: file.reserve(),
            resources: file.reserve(),
        }
    }

    /// Writes the page tree, ISO 32000-1 §7.7.3.2.
    pub fn write(&self, file: &mut File) {
        for (node, pages) in self.nodes.iter().zip(self.pages.chunks(NODE_PAGES)) {
            let parent = Some(self.root);
            write_node(file, *node, parent, pages, pages.len());
        }
        write_node(file, self.root, None, &self.nodes, self.pages.len());
    }
}

fn write_node(
    file: &mut File,
    node: Reference,
    parent: Option<Reference>,
    kids: &[Reference],
    count: usize,
) {
    work::check();
    file.object(node, |out| {
        out.raw("<</Type/Pages/Count ").integer(count as i64);
        if let Some(parent) = parent {
            out.raw("/Parent ").reference(parent);
        }
        out.raw("/Kids[");
        for kid in kids {
            out.reference(*kid).raw(" ");
        }
        out.raw("]>>");
    });
}

/// What items are drawn on: a page, or the appearance of a field.
#[derive(Clone, Copy)]
pub(super) struct Sheet<'p> {
    /// In points: PDF measures from the bottom.
    pub height: f32,
    /// Words of the texts.
    pub words: &'p [PlacedWord],
}

/// What the following content belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Tag(TagId),
    Artifact(Artifact),
}

/// The open mark of a content stream, and the one that the next item needs.
pub(super) struct Marks<'s, 'a> {
    structure: Option<&'s mut Structure<'a>>,
    wanted: Mark,
    open: Option<Mark>,
}

impl Marks<'_, '_> {
    /// For content that has no structure of its own.
    pub fn none() -> Self {
        Self {
            structure: None,
            wanted: Mark::Artifact(Artifact::Decoration),
            open: None,
        }
    }

    /// Opens the wanted mark, if it is not open already, before something is drawn.
    fn ensure(&mut self, out: &mut Vec<u8>, file: &mut File) {
        if self.open == Some(self.wanted) {
            return;
        }
        self.close(out);
        let Some(structure) = &mut self.structure else {
            return;
        };
        match self.wanted {
            Mark::Tag(tag) => {
                let number = structure.add_content(tag, file);
                out.raw(structure::name(structure.kind(tag)));
                out.raw("<</MCID ").integer(i64::from(number));
                out.raw(">>BDC\n");
            }
            Mark::Artifact(kind) => {
                out.raw(match kind {
                    Artifact::Header => "/Artifact<</Type/Pagination/Subtype/Header>>BDC\n",
                    Artifact::Footer => "/Artifact<</Type/Pagination/Subtype/Footer>>BDC\n",
                    Artifact::Decoration => "/Artifact<</Type/Layout>>BDC\n",
                    Artifact::Repeated => "/Artifact<</Type/Pagination>>BDC\n",
                });
            }
        }
        self.open = Some(self.wanted);
    }

    /// Gives a tag its place among those around it, before it has content.
    fn claim(&mut self, tag: TagId, file: &mut File) {
        if let Some(structure) = &mut self.structure {
            structure.link(tag, file);
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.open.take().is_some() {
            out.raw("EMC\n");
        }
    }

    fn want(&mut self, mark: Mark, out: &mut Vec<u8>, file: &mut File) {
        self.wanted = mark;
        // A cell without content still needs an element in its row.
        if let (Mark::Tag(tag), Some(structure)) = (mark, &self.structure) {
            let kind = structure.kind(tag);
            if matches!(kind, TagKind::TableCell | TagKind::TableHeaderCell) {
                self.ensure(out, file);
            }
        }
    }

    /// Records the bounding box of a figure.
    fn place_figure(&mut self, area: Area, page_height: f32) {
        if let (Mark::Tag(tag), Some(structure)) = (self.wanted, &mut self.structure) {
            structure.place_figure(tag, area, page_height);
        }
    }
}

impl<'a> PageWriter<'a> {
    pub fn new(
        document: &'a Document,
        layout: &'a Layout,
        pages: &[Page],
        shaper: &'a Shaper,
        places: PagePlaces,
        archival: bool,
    ) -> Self {
        Self {
            document,
            layout,
            heights: pages.iter().map(|page| page.height).collect(),
            labels: page_label::ranges(pages),
            targets: annotation::targets(layout),
            shaper,
            places,
            text: TextWriter::default(),
            forms: Forms::default(),
            images: HashMap::new(),
            written_images: Vec::new(),
            translucent: false,
            archival,
            content: Vec::new(),
        }
    }

    /// Writes the page with the given index, and its structure if the document is tagged.
    ///
    /// # Errors
    /// [`Error::Image`] if an image is broken.
    pub fn write(
        &mut self,
        file: &mut File,
        (index, page): (usize, &Page),
        mut structure: Option<&mut Structure<'a>>,
    ) -> Result<(), Error> {
        let mut out = std::mem::take(&mut self.content);
        out.clear();
        self.text.begin_page();
        self.translucent = false;
        let mut marks = Marks {
            structure: structure.as_deref_mut(),
            wanted: Mark::Artifact(Artifact::Decoration),
            open: None,
        };
        let mut graphics = Graphics::new(page.height);
        let sheet = Sheet {
            height: page.height,
            words: &page.words,
        };
        let mut waiting = Vec::new();
        let mut rest = page.items.as_slice();
        while let [item, after @ ..] = rest {
            rest = after;
            match item {
                Item::Tag(tag) => marks.want(Mark::Tag(*tag), &mut out, file),
                Item::Artifact(kind) => marks.wanted = Mark::Artifact(*kind),
                Item::Link { .. } => waiting.push((item, [].as_slice())),
                Item::SignatureField { tag, .. } => {
                    marks.claim(*tag, file);
                    waiting.push((item, [].as_slice()));
                }
                Item::FormField { tag, shown, .. } => {
                    marks.claim(*tag, file);
                    let (shown, others) = rest.split_at(rest.len().min(usize::from(*shown)));
                    waiting.push((item, shown));
                    rest = others;
                }
                other => {
                    marks.ensure(&mut out, file);
                    self.draw(&mut out, file, sheet, other, &mut graphics, &mut marks)?;
                }
            }
        }
        marks.close(&mut out);
        let mut annotations = Vec::new();
        for (item, shown) in waiting {
            let context = AnnotationContext {
                file,
                structure: structure.as_deref_mut(),
                page: index,
            };
            annotations.extend(self.interactive(item, shown, page, context)?);
        }
        if let Some(structure) = structure {
            structure.end_page(file);
        }
        let content = file.reserve();
        file.quick_stream(content, "", &out);
        self.content = out;
        self.page_object(file, (index, page), content, &annotations);
        Ok(())
    }

    /// Writes a link or field, of which `shown` shows the value.
    fn interactive(
        &mut self,
        item: &Item,
        shown: &[Item],
        page: &Page,
        context: AnnotationContext<'_, 'a>,
    ) -> Result<Option<Reference>, Error> {
        let Item::FormField {
            field,
            part,
            area,
            tag,
            mark,
            ..
        } = item
        else {
            return Ok(self.annotation(item, context));
        };
        let widget = Widget {
            field,
            part: *part,
            area: *area,
            tag: *tag,
            shown,
            mark: mark.as_deref(),
        };
        self.form_field(&widget, page, context).map(Some)
    }

    fn page_object(
        &self,
        file: &mut File,
        (index, page): (usize, &Page),
        content: Reference,
        annotations: &[Reference],
    ) {
        let places = &self.places;
        file.object(places.pages[index], |out| {
            out.raw("<</Type/Page/Parent ");
            out.reference(places.nodes[index / NODE_PAGES]);
            out.raw("/MediaBox[0 0 ")
                .length(page.width.max(3.0))
                .raw(" ");
            out.length(page.height.max(3.0)).raw("]/Contents ");
            out.reference(content);
            out.raw("/Resources ").reference(places.resources);
            if self.translucent {
                out.raw("/Group<</S/Transparency/CS/DeviceRGB>>");
            }
            out.raw("/Tabs/S/StructParents ").integer(index as i64);
            if !annotations.is_empty() {
                out.raw("/Annots[");
                for annotation in annotations {
                    out.reference(*annotation).raw(" ");
                }
                out.push(b']');
            }
            out.raw(">>");
        });
    }

    pub fn draw(
        &mut self,
        out: &mut Vec<u8>,
        file: &mut File,
        sheet: Sheet<'_>,
        item: &Item,
        graphics: &mut Graphics,
        marks: &mut Marks<'_, '_>,
    ) -> Result<(), Error> {
        work::check();
        match item {
            Item::Text(run) => {
                let style = &self.layout.styles[run.style];
                graphics.fill(out, style.color);
                let mut context = RunContext {
                    shaper: self.shaper,
                    file,
                    page_height: sheet.height,
                    letter_spacing: style.letter_spacing,
                };
                let words = &sheet.words[run.words.start as usize..run.words.end as usize];
                // Text in another language says so, ISO 32000-1 §14.9.2.
                if let Some(lang) = &style.lang {
                    out.raw("/Span<</Lang").text(lang).raw(">>BDC\n");
                }
                self.text.draw(out, run, words, &mut context);
                if style.lang.is_some() {
                    out.raw("EMC\n");
                }
            }
            Item::Rect { area, color } => graphics.rectangle(out, *area, *color),
            Item::Line {
                from,
                to,
                width,
                color,
                style,
            } => graphics.line(out, *from, *to, *width, *color, *style),
            Item::Image { data, area, crop } => {
                marks.place_figure(*area, sheet.height);
                let index = self.image(file, data)?;
                self.translucent |= self.written_images[index].translucent;
                graphics.image(out, index, *area, *crop);
            }
            Item::Figure { figure, at } => {
                let area = Area {
                    x: at.0,
                    y: at.1,
                    width: figure.width,
                    height: figure.height,
                };
                marks.place_figure(area, sheet.height);
                graphics.figure(out, figure, *at);
            }
            Item::Link { .. }
            | Item::SignatureField { .. }
            | Item::FormField { .. }
            | Item::Tag(_)
            | Item::Artifact(_) => {}
        }
        Ok(())
    }

    fn image(&mut self, file: &mut File, data: &Arc<ImageData>) -> Result<usize, Error> {
        if let Some(index) = self.images.get(&Arc::as_ptr(data)) {
            return Ok(*index);
        }
        let written = image::write(file, data, self.archival)?;
        self.forms.unproven |= !written.archival;
        let index = self.written_images.len();
        self.written_images.push(written);
        self.images.insert(Arc::as_ptr(data), index);
        Ok(index)
    }

    /// Writes a destination on a page, ISO 32000-1 §12.3.2.2.
    pub fn destination(&self, out: &mut Vec<u8>, page: u32, y: f32) {
        let height = self.heights[page as usize];
        out.push(b'[');
        out.reference(self.places.pages[page as usize]);
        out.raw("/XYZ 0 ").length(height - y).raw(" null]");
    }

    /// Writes what all pages share: fonts, the resource dictionary and the page tree. Returns true
    /// if the license of a font forbids embedding.
    ///
    /// # Errors
    /// [`Error::Font`] if a font is broken.
    pub fn finish(&self, file: &mut File) -> Result<bool, Error> {
        let restricted = self.text.fonts.write(file)?;
        self.forms.write(file);
        file.object(self.places.resources, |out| {
            out.raw("<<");
            self.text.fonts.resources(out);
            out.raw("/XObject<<");
            for (index, image) in self.written_images.iter().enumerate() {
                out.raw("/I").integer(index as i64).raw(" ");
                out.reference(image.reference);
            }
            out.raw(">>>>");
        });
        self.places.write(file);
        Ok(restricted)
    }
}
