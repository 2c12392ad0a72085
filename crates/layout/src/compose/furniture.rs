//! Page furniture: headers, footers and footnotes.

use platen_document::bound::{Block, Direction, Inline, Section};

use super::{
    composer::{Composer, Place},
    flow::{Flow, Frame},
    fragment::{Fragment, stack_height},
    notes::NoteLines,
    paragraph::TextBox,
};
use crate::{
    page::{Artifact, Item, TagKind, Tags},
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
        let first_header = section.first_header.as_ref().unwrap_or(&section.header);
        let first_footer = section.first_footer.as_ref().unwrap_or(&section.footer);
        [
            self.text_frame(section, first_header, first_footer),
            self.text_frame(section, &section.header, &section.footer),
        ]
    }

    fn text_frame(&mut self, section: &Section, header: &[Block], footer: &[Block]) -> Frame {
        let page = section.page;
        let margins = page.margins;
        let width = (page.width - margins.left - margins.right).max(1.0);
        let header_height = self.furniture_height(header, margins.left, width);
        let footer_height = self.furniture_height(footer, margins.left, width);
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

    /// Draws headers and footers. Runs last, when the number of pages is known.
    pub(super) fn furnish(&mut self, flow: &mut Flow<'_>) {
        let document = self.document;
        self.text.fields.page_count = flow.pages.len() as u32;
        self.furniture = true;
        for (page, origin) in flow.pages.iter_mut().zip(&flow.origins) {
            let section = &document.sections[origin.section];
            let margins = section.page.margins;
            let width = (page.width - margins.left - margins.right).max(1.0);
            let place = Place {
                x: margins.left,
                width,
                tag: None,
            };
            self.text.fields.page_number = page.number;
            let first = |blocks: &'_ Option<Vec<Block>>| origin.first && blocks.is_some();
            let header = match &section.first_header {
                Some(header) if first(&section.first_header) => header,
                _ => &section.header,
            };
            let footer = match &section.first_footer {
                Some(footer) if first(&section.first_footer) => footer,
                _ => &section.footer,
            };
            for (blocks, kind) in [(header, Artifact::Header), (footer, Artifact::Footer)] {
                if blocks.is_empty() {
                    continue;
                }
                let fragments = self.collect(blocks, place);
                let height = stack_height(&fragments);
                let top = match kind {
                    Artifact::Footer => page.height - edge(margins.bottom) - height,
                    _ => edge(margins.top),
                };
                let mut sink = Sink::default();
                sink.items.push(Item::Artifact(kind));
                draw_stack(fragments, &mut sink);
                for item in &mut sink.items {
                    if matches!(item, Item::Artifact(_)) {
                        *item = Item::Artifact(kind);
                    }
                }
                sink.append_to(page, 0.0, top);
            }
        }
        self.furniture = false;
    }

    /// The lines of a footnote with their heights.
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
        set
    }
}

/// Distance of header or footer from the edge of the paper.
fn edge(margin: f32) -> f32 {
    (margin / 2.0).min(MAX_EDGE)
}

/// Draws fragments on top of each other, from y = 0.
fn draw_stack(fragments: impl IntoIterator<Item = Fragment>, sink: &mut Sink) {
    let mut y = 0.0;
    for (index, fragment) in fragments.into_iter().enumerate() {
        if index > 0 {
            y += fragment.gap;
        }
        fragment.body.draw(y, fragment.height, sink, &mut |_, _| {});
        y += fragment.height;
    }
}
