//! Lays out blocks on pages. [`layout`] runs the passes; each submodule turns one kind of block
//! into fragments, which a [`flow::Flow`] places on pages.

mod bounds;
mod contents;
mod flow;
mod fragment;
mod furniture;
mod group;
mod list;
mod media;
mod notes;
mod paragraph;
mod room;
mod table;

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use icu_segmenter::{LineSegmenter, options::LineBreakOptions};
use platen_document::{
    Diagnostic,
    bound::{Block, BlockKind, Direction, Document, Inline, Style, StyleId},
    work,
};

pub use self::furniture::HEADING_TARGET;
use self::{
    flow::Flow,
    fragment::{Fragment, Frame, Mark},
};
use crate::{
    page::{Layout, OutlineEntry, TagId, TagKind, Tags},
    shape::Shaper,
    text::{Fields, Hyphenator, Sink, TextContext},
};

/// Maximum number of passes. Page numbers in text and contents normally settle earlier; they might
/// otherwise alternate for ever.
const MAX_PASSES: usize = 4;
/// Maximum number of characters without a glyph that a warning names.
const NAMED_CHARACTERS: usize = 20;

/// Lays out `document` with the fonts of `shaper`. Once `stop` is true, returns early with an
/// unfinished layout.
#[must_use]
pub fn layout(document: &Document, shaper: &mut Shaper, stop: Option<&AtomicBool>) -> Layout {
    shaper.begin(&document.language);
    let mut known = Known::default();
    for pass in 1.. {
        let (layout, needs_numbers) = compose(document, shaper, &known, stop);
        let found = Known {
            outline: layout.outline.clone(),
            page_count: layout.pages.len() as u32,
            numbers: layout.pages.iter().map(|page| page.number).collect(),
        };
        let stopped = stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        if stopped || !needs_numbers || found == known || pass == MAX_PASSES {
            return layout;
        }
        known = found;
    }
    unreachable!("the last pass returns")
}

/// Results of the previous pass.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    outline: Vec<OutlineEntry>,
    page_count: u32,
    numbers: Vec<u32>,
}

fn compose(
    document: &Document,
    shaper: &mut Shaper,
    known: &Known,
    stop: Option<&AtomicBool>,
) -> (Layout, bool) {
    let mut composer = Composer::new(document, shaper, known);
    let mut flow = Flow::new(stop);
    for (index, section) in document.sections.iter().enumerate() {
        let frames = composer.text_frames(section);
        composer.room = (frames[0].bottom - frames[0].top).min(frames[1].bottom - frames[1].top);
        composer.text.fields.page_number = flow.page_number() + u32::from(index > 0);
        flow.flush(&mut composer);
        flow.start_section(index, section, frames);
        let tag = composer.tags.add(TagKind::Section, Tags::DOCUMENT);
        let (left, width) = (flow.left(), flow.column_width());
        composer.blocks(&section.body, left, width, Some(tag), &mut flow);
    }
    flow.finish(&mut composer);
    if flow.refused && !flow.stopped() {
        composer.warn_once(
            Diagnostic::error(
                "too-many-pages",
                "",
                "the document has more than 20,000 pages",
            )
            .with_hint("split the data over several documents"),
        );
    }
    composer.furnish(&mut flow);
    composer.check_bounds(&flow.pages);
    composer.warn_missing();
    composer.tags.nest_headings();
    let layout = Layout {
        pages: flow.pages,
        tags: composer.tags,
        outline: flow.outline,
        anchors: flow.anchors,
        styles: composer.text.styles,
        warnings: composer.text.warnings,
    };
    (layout, composer.needs_numbers)
}

/// Receives fragments.
trait Output {
    /// Takes the next fragment.
    fn push(&mut self, composer: &mut Composer<'_>, fragment: Fragment);

    /// Sets the rows, with their heights, to repeat at the top of each further page; none to stop.
    fn set_repeat(&mut self, composer: &mut Composer<'_>, rows: Vec<(Sink, f32)>);

    /// Printed number of the current page.
    fn page_number(&self) -> u32;
}

/// Collects fragments, for the content of boxes.
#[derive(Default)]
struct Collector {
    pub fragments: VecDeque<Fragment>,
    number: u32,
}

impl Output for Collector {
    fn push(&mut self, _: &mut Composer<'_>, mut fragment: Fragment) {
        fragment.page_break = false;
        self.fragments.push_back(fragment);
    }

    fn set_repeat(&mut self, _: &mut Composer<'_>, _: Vec<(Sink, f32)>) {}

    fn page_number(&self) -> u32 {
        self.number
    }
}

/// Lays out the blocks of one document in one pass.
pub(crate) struct Composer<'a> {
    pub document: &'a Document,
    pub text: TextContext<'a>,
    pub tags: Tags,
    known: &'a Known,
    /// Whether the text shows page numbers, so that another pass may be needed.
    needs_numbers: bool,
    /// Space that the previous block wants below it, in points.
    space_after: f32,
    /// Whether page furniture is being laid out, for which page fields are exact.
    furniture: bool,
    /// Text height of the section's pages, in points.
    room: f32,
    /// Nesting depth of lists at the current block.
    list_level: usize,
}

/// Position of a block, and its parent in the logical structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub x: f32,
    pub width: f32,
    pub tag: Option<TagId>,
}

impl<'a> Composer<'a> {
    fn new(document: &'a Document, shaper: &'a mut Shaper, known: &'a Known) -> Self {
        let page_count = known.page_count.max(1);
        Self {
            document,
            text: TextContext {
                document,
                styles: document.styles.clone(),
                shaper,
                hyphenator: Hyphenator::new(&document.language),
                fields: Fields {
                    page_number: 1,
                    page_count,
                },
                segmenter: LineSegmenter::new_auto(LineBreakOptions::default()),
                word_ids: Vec::new(),
                node: Arc::from(""),
                warnings: Vec::new(),
            },
            tags: Tags::default(),
            known,
            needs_numbers: false,
            space_after: 0.0,
            furniture: false,
            room: f32::MAX,
            list_level: 0,
        }
    }

    fn right_to_left(&self) -> bool {
        self.document.direction == Direction::RightToLeft
    }

    fn style(&self, id: StyleId) -> &Style {
        &self.text.styles[id]
    }

    /// Adds a tag below `parent`; none inside page furniture.
    fn tag(&mut self, kind: TagKind, parent: Option<TagId>) -> Option<TagId> {
        parent.map(|parent| self.tags.add(kind, parent))
    }

    /// Adds a warning unless one with the same code and path exists.
    pub(super) fn warn_once(&mut self, warning: Diagnostic) {
        let known = |other: &Diagnostic| other.code == warning.code && other.path == warning.path;
        if !self.text.warnings.iter().any(known) {
            self.text.warnings.push(warning);
        }
    }

    fn warn_missing(&mut self) {
        for family in self.text.shaper.unknown_families() {
            self.text.warnings.push(
                Diagnostic::warning(
                    "font-not-found",
                    "/theme/fonts",
                    format!("there is no font `{family}`: another one is used"),
                )
                .with_hint("install it, put it into the fonts folder, or name one that is there"),
            );
        }
        let missing = self.text.shaper.missing();
        if missing.is_empty() {
            return;
        }
        let mut named: Vec<String> = missing
            .iter()
            .take(NAMED_CHARACTERS)
            .map(|character| format!("`{character}` (U+{:04X})", *character as u32))
            .collect();
        if missing.len() > NAMED_CHARACTERS {
            named.push(format!("{} more", missing.len() - NAMED_CHARACTERS));
        }
        let message = match missing.len() {
            1 => format!("no font has the character {}", named[0]),
            count => format!("no font has {count} characters: {}", named.join(", ")),
        };
        self.text.warnings.push(
            Diagnostic::warning("missing-glyph", "", message)
                .with_hint("install a font that has them, or put one into the fonts folder"),
        );
    }

    /// Lays out `blocks` one below the other.
    fn blocks(
        &mut self,
        blocks: &[Block],
        x: f32,
        width: f32,
        tag: Option<TagId>,
        out: &mut dyn Output,
    ) {
        for block in blocks {
            if !self.furniture {
                self.text.fields.page_number = out.page_number();
            }
            self.block(block, Place { x, width, tag }, out);
        }
    }

    /// The fragments of `blocks` inside a box.
    fn collect(&mut self, blocks: &[Block], place: Place) -> VecDeque<Fragment> {
        let mut collector = Collector {
            number: self.text.fields.page_number,
            ..Collector::default()
        };
        let outer = std::mem::take(&mut self.space_after);
        self.blocks(blocks, place.x, place.width, place.tag, &mut collector);
        self.space_after = outer;
        collector.fragments
    }

    fn block(&mut self, block: &Block, place: Place, out: &mut dyn Output) {
        work::check();
        if place.tag.is_some() {
            self.tags.begin_node(&block.path);
        }
        let outer = std::mem::replace(&mut self.text.node, Arc::clone(&block.path));
        self.block_kind(block, place, out);
        self.text.node = outer;
    }

    fn block_kind(&mut self, block: &Block, place: Place, out: &mut dyn Output) {
        match &block.kind {
            BlockKind::Heading { level, content } => {
                self.heading(block, *level, content, place, out)
            }
            BlockKind::Paragraph(content) => self.paragraph_block(block, content, place, out),
            BlockKind::List(list) => self.list(block, list, place, out),
            BlockKind::Table(table) => self.table(block, table, place, out),
            BlockKind::Columns(columns) => self.columns(block, columns, place, out),
            BlockKind::Panel { title, body } => {
                self.panel(block, title.as_deref(), body, place, out)
            }
            BlockKind::KeyValue(pairs) => self.key_value(block, pairs, place, out),
            BlockKind::Image(image) => self.image(block, image, place, out),
            BlockKind::Barcode(barcode) => self.barcode(block, barcode, place, out),
            BlockKind::Chart(chart) => self.chart(block, chart, place, out),
            BlockKind::Divider { .. } => self.divider(block, place, out),
            BlockKind::Spacer(height) => {
                let fragment = Fragment {
                    height: *height,
                    ..Fragment::default()
                };
                self.push_block(block, fragment, out);
            }
            BlockKind::PageBreak => {
                let fragment = Fragment {
                    page_break: true,
                    keep: true,
                    ..Fragment::default()
                };
                self.space_after = 0.0;
                out.push(self, fragment);
            }
            BlockKind::TableOfContents { title, depth } => {
                self.contents(block, title.as_deref(), *depth, place, out);
            }
            BlockKind::Signature(signature) => self.signature(block, signature, place, out),
        }
    }

    /// Pushes the only fragment of a block, with its spacing, keeps and anchor.
    fn push_block(&mut self, block: &Block, mut fragment: Fragment, out: &mut dyn Output) {
        if let fragment::Body::Lanes(lanes) = &mut fragment.body {
            lanes.whole |= self.style(block.style).keep_together;
        }
        self.push_fragments(block, VecDeque::from([fragment]), out);
    }

    /// Pushes the fragments of a block, with its spacing, keeps and anchor.
    fn push_fragments(
        &mut self,
        block: &Block,
        fragments: VecDeque<Fragment>,
        out: &mut dyn Output,
    ) {
        let style = self.style(block.style);
        let (before, after) = (style.space_before, style.space_after);
        let (keep_next, keep_together) = (style.keep_with_next, style.keep_together);
        let count = fragments.len();
        for (index, mut fragment) in fragments.into_iter().enumerate() {
            if index == 0 {
                fragment.gap = self.space_after.max(before);
                if let Some(id) = &block.id {
                    fragment.marks.push(Mark::Anchor(id.to_string()));
                }
            }
            let last = index + 1 == count;
            fragment.keep |= if last { keep_next } else { keep_together };
            out.push(self, fragment);
        }
        self.space_after = after;
    }

    /// Background, borders and padding of a style.
    fn frame(&self, style: StyleId) -> Frame {
        let style = self.style(style);
        Frame {
            background: style.background,
            borders: style.borders,
            padding: style.padding,
        }
    }

    /// Records whether `content` shows page numbers, which need another pass.
    fn note_fields(&mut self, content: &[Inline]) {
        if self.furniture {
            return;
        }
        self.needs_numbers |= content
            .iter()
            .any(|inline| matches!(inline, Inline::PageNumber(_) | Inline::PageCount(_)));
    }
}
