//! Page furniture: headers, footers and footnotes.

use platen_document::bound::{Block, Direction, Inline, Section};

use super::{
    composer::{Composer, Place},
    flow::{Flow, Frame},
    fragment::{Fragment, Mark, stack_height},
    node_boxes::NodeMark,
    notes::NoteLines,
    paragraph::TextBox,
    running_head::RunningHeads,
};
use crate::{
    page::{Artifact, Item, Page, TagKind, Tags},
    text::Sink,
};

/// Distance between header or footer and the text, in points.
const FURNITURE_GAP: f32 = 10.0;
/// Maximum distance of header and footer from the edge of the paper, in points.
const MAX_EDGE: f32 = 34.0;
/// Prefix of the ids of headings: a link to `#`, this and a number leads to the heading with that
/// index.
pub const HEADING_TARGET: &str = "platen-heading-";

impl Composer<'_> {
    /// Text areas of a section's first page and of its other pages.
    pub(super) fn text_frames(&mut self, section: &Section) -> [Frame; 2] {
        let all = |usual: &'_ Vec<Block>, even: &'_ Option<Vec<Block>>, last: &'_ Option<_>| {
            let special = [even, last].into_iter().flatten();
            std::iter::once(usual).chain(special).cloned().collect()
        };
        let headers: Vec<Vec<Block>> =
            all(&section.header, &section.even_header, &section.last_header);
        let footers: Vec<Vec<Block>> =
            all(&section.footer, &section.even_footer, &section.last_footer);
        // Without furniture of its own, the first page may be the last one, or an even one, which is
        // known only when all pages are.
        let first_headers = section.first_header.as_ref().map(std::slice::from_ref);
        let first_footers = section.first_footer.as_ref().map(std::slice::from_ref);
        [
            self.text_frame(
                section,
                first_headers.unwrap_or(&headers),
                first_footers.unwrap_or(&footers),
            ),
            self.text_frame(section, &headers, &footers),
        ]
    }

    /// The text area below the highest of `headers` and above the highest of `footers`.
    fn text_frame(
        &mut self,
        section: &Section,
        headers: &[Vec<Block>],
        footers: &[Vec<Block>],
    ) -> Frame {
        let page = section.page;
        let margins = page.margins;
        let width = (page.width - margins.left - margins.right).max(1.0);
        let mut highest = |all: &[Vec<Block>]| {
            let heights = all.iter();
            heights
                .map(|blocks| self.furniture_height(blocks, margins.left, width))
                .fold(0.0, f32::max)
        };
        let header_height = highest(headers);
        let footer_height = highest(footers);
        let mut top = margins.top;
        if header_height > 0.0 {
            top = top.max(edge(margins.top) + header_height + FURNITURE_GAP);
        }
        let mut bottom = page.height - margins.bottom;
        if footer_height > 0.0 {
            let footer_top = page.height - edge(margins.bottom) - footer_height;
            bottom = bottom.min(footer_top - FURNITURE_GAP);
        }
        // Furniture that leaves no space for text overlaps it; otherwise no page would ever take
        // any text.
        if bottom - top < 36.0 {
            (top, bottom) = (margins.top, page.height - margins.bottom);
            self.warn_once(platen_document::Diagnostic::warning(
                "header-too-tall",
                "/page",
                "header and footer leave no space for text and overlap it",
            ));
        }
        Frame {
            left: margins.left,
            top,
            width,
            bottom: bottom.max(top + 36.0),
        }
    }

    fn furniture_height(&mut self, blocks: &[Block], x: f32, width: f32) -> f32 {
        if blocks.is_empty() {
            return 0.0;
        }
        self.furniture = true;
        let fragments = self.collect(
            blocks,
            Place {
                x,
                width,
                tag: None,
            },
        );
        self.furniture = false;
        stack_height(&fragments)
    }

    /// Draws backgrounds, headers and footers. Runs last, when the number of pages is known.
    /// `counts`: the number of pages of each section.
    pub(super) fn furnish(&mut self, flow: &mut Flow<'_>, counts: &[u32]) {
        let document = self.document;
        self.text.fields.page_count = flow.pages.len() as u32;
        self.furniture = true;
        let mut heads = RunningHeads::new(&flow.outline);
        let mut number = 0;
        for index in 0..flow.pages.len() {
            let origin = flow.origins[index];
            if origin.blank {
                continue;
            }
            number = if origin.first { 1 } else { number + 1 };
            let section = &document.sections[origin.section];
            let page = &mut flow.pages[index];
            self.page = section.page;
            self.text.fields.page_number = page.number;
            self.text.fields.form = page.form;
            self.text.fields.section_number = number;
            self.text.fields.section_count = counts[origin.section];
            self.text.fields.heads = heads.on(index as u32);
            let side = PageSide {
                first: origin.first,
                last: number == counts[origin.section],
                even: page.number.is_multiple_of(2),
            };
            let background = match &section.first_background {
                Some(background) if origin.first => background,
                _ => &section.background,
            };
            self.draw_background(background, page);
            for (blocks, kind) in [
                (side.header(section), Artifact::Header),
                (side.footer(section), Artifact::Footer),
            ] {
                if !blocks.is_empty() {
                    for (node, y, height) in self.draw_furniture(blocks, kind, page) {
                        flow.boxes.add(index as u32, node, 0.0, y, height);
                    }
                }
            }
        }
        self.furniture = false;
    }

    /// Draws a header or a footer. Returns its nodes with their top and height.
    fn draw_furniture(
        &mut self,
        blocks: &[Block],
        kind: Artifact,
        page: &mut Page,
    ) -> Vec<(NodeMark, f32, f32)> {
        let margins = self.page.margins;
        let place = Place {
            x: margins.left,
            width: (page.width - margins.left - margins.right).max(1.0),
            tag: None,
        };
        let fragments = self.collect(blocks, place);
        let height = stack_height(&fragments);
        let top = match kind {
            Artifact::Footer => page.height - edge(margins.bottom) - height,
            _ => edge(margins.top),
        };
        let mut sink = Sink::default();
        sink.items.push(Item::Artifact(kind));
        let Stack { overlays, nodes } = draw_stack(fragments, &mut sink);
        let as_furniture = |sink: &mut Sink| {
            for item in &mut sink.items {
                if matches!(item, Item::Artifact(_)) {
                    *item = Item::Artifact(kind);
                }
            }
        };
        as_furniture(&mut sink);
        sink.append_to(page, 0.0, top);
        for mut overlay in overlays {
            as_furniture(&mut overlay);
            overlay.append_to(page, 0.0, 0.0);
        }
        let moved = nodes
            .into_iter()
            .map(|(node, y, height)| (node, top + y, height));
        moved.collect()
    }

    /// The lines of a footnote with their heights, and below them those of the footnotes in it.
    pub(super) fn footnote(&mut self, index: u32, x: f32, width: f32) -> NoteLines {
        let document = self.document;
        let Some(note) = document.footnotes.get(index as usize) else {
            return NoteLines::new();
        };
        let style = document.named.footnote;
        let note_number = index + 1;
        let tag = Some(self.tags.add(TagKind::Note, Tags::DOCUMENT));
        let indent = 14.0;
        let right_to_left = document.direction == Direction::RightToLeft;
        let text = TextBox {
            x: if right_to_left { x } else { x + indent },
            width: (width - indent).max(1.0),
            align: self.style(style).align,
            first_indent: 0.0,
            style,
            tag,
        };
        let mut paragraph = self.text.paragraph(&note.content, style);
        let lines = self
            .text
            .break_lines(&mut paragraph, text.width, 0.0, style);
        let mut set: NoteLines = lines
            .chunks(1)
            .enumerate()
            .map(|(index, line)| {
                let mut sink = Sink::default();
                if index == 0 {
                    let label = [Inline::text(note_number.to_string(), style)];
                    let label_box = TextBox {
                        x: if right_to_left { x + width - indent } else { x },
                        width: indent,
                        ..text
                    };
                    let mut paragraph = self.text.paragraph(&label, style);
                    let lines = self.text.break_lines(&mut paragraph, indent, 0.0, style);
                    self.draw_lines(&paragraph, &lines, true, label_box, 0.0, &mut sink);
                }
                let height = self.draw_lines(&paragraph, line, index == 0, text, 0.0, &mut sink);
                (sink, height)
            })
            .collect();
        if let Some((_, height)) = set.last_mut() {
            *height += 2.0;
        }
        let inner: Vec<u32> = paragraph.footnotes(&lines).collect();
        // A footnote has a lower number than those in it, so that this ends.
        for note in inner.into_iter().filter(|note| *note > index) {
            set.extend(self.footnote(note, x, width));
        }
        set
    }
}

/// Distance of header or footer from the edge of the paper.
fn edge(margin: f32) -> f32 {
    (margin / 2.0).min(MAX_EDGE)
}

/// What fragments on top of each other have besides what they draw.
#[derive(Default)]
struct Stack {
    /// Content at fixed positions.
    overlays: Vec<Sink>,
    /// Nodes of the template, with their top and height.
    nodes: Vec<(NodeMark, f32, f32)>,
}

/// Draws fragments on top of each other, from y = 0.
fn draw_stack(fragments: impl IntoIterator<Item = Fragment>, sink: &mut Sink) -> Stack {
    let mut stack = Stack::default();
    let mut placed = |marks: Vec<Mark>, y: f32, height: f32| {
        for mark in marks {
            match mark {
                Mark::Overlay(sink) => stack.overlays.push(sink),
                Mark::Node(node) => stack.nodes.push((node, y, height)),
                Mark::Heading { .. } | Mark::Anchor(_) => {}
            }
        }
    };
    let mut y = 0.0;
    for (index, fragment) in fragments.into_iter().enumerate() {
        if index > 0 {
            y += fragment.gap;
        }
        placed(fragment.marks, y, fragment.height);
        fragment.body.draw(y, fragment.height, sink, &mut placed);
        y += fragment.height;
    }
    stack
}

/// What decides the header and footer of a page.
#[derive(Clone, Copy, Debug)]
struct PageSide {
    first: bool,
    last: bool,
    even: bool,
}

impl PageSide {
    fn header(self, section: &Section) -> &[Block] {
        let (first, last) = (&section.first_header, &section.last_header);
        self.pick(&section.header, first, last, &section.even_header)
    }

    fn footer(self, section: &Section) -> &[Block] {
        let (first, last) = (&section.first_footer, &section.last_footer);
        self.pick(&section.footer, first, last, &section.even_footer)
    }

    fn pick<'s>(
        self,
        usual: &'s [Block],
        first: &'s Option<Vec<Block>>,
        last: &'s Option<Vec<Block>>,
        even: &'s Option<Vec<Block>>,
    ) -> &'s [Block] {
        match (first, last, even) {
            (Some(blocks), ..) if self.first => blocks,
            (_, Some(blocks), _) if self.last => blocks,
            (.., Some(blocks)) if self.even => blocks,
            _ => usual,
        }
    }
}
