//! Bulleted and numbered lists.

use platen_document::bound::{Align, Block, Inline, List};

use super::{
    block::Collector,
    composer::{Composer, Output, Place},
    fragment::{Body, Fragment},
    paragraph::TextBox,
};
use crate::{
    page::TagKind,
    text::{Placement, Sink},
};

/// Gap between label and text, in points.
const LABEL_GAP: f32 = 5.0;

impl Composer<'_> {
    pub(super) fn list(&mut self, block: &Block, list: &List, place: Place, out: &mut dyn Output) {
        let tag = self.tag(TagKind::List(list.ordered), place.tag);
        let style = block.style;
        let size = self.style(style).font_size;
        let level = self.list_level;
        let mut label_width = 0.0_f32;
        for index in widest(list.items.len()) {
            label_width = label_width.max(self.text.measure(&list.label(level, index), style));
        }
        let indent = (label_width + LABEL_GAP).max(size * 1.6);
        let right_to_left = self.right_to_left();
        let inner_x = if right_to_left {
            place.x
        } else {
            place.x + indent
        };
        let width = (place.width - indent).max(1.0);
        let mut fragments = std::collections::VecDeque::new();
        for (index, item) in list.items.iter().enumerate() {
            let item_tag = self.tag(TagKind::ListItem, tag);
            let label_tag = self.tag(TagKind::ListLabel, item_tag);
            let body_tag = self.tag(TagKind::ListBody, item_tag);
            let text = TextBox {
                x: inner_x,
                width,
                align: self.style(style).align,
                first_indent: 0.0,
                style,
                tag: body_tag,
            };
            let mut lines = self.lines_as_fragments(&item.content, text);
            let place_label = TextBox {
                x: if right_to_left {
                    place.x + width + LABEL_GAP
                } else {
                    place.x
                },
                width: indent - LABEL_GAP,
                align: if list.ordered {
                    Align::End
                } else {
                    Align::Start
                },
                tag: label_tag,
                ..text
            };
            if let Some(first) = lines.front_mut() {
                self.draw_label(&list.label(level, index), place_label, first);
                if index > 0 {
                    first.gap = size * 0.25;
                }
            }
            let mut collector = Collector {
                number: self.text.fields.page_number,
                ..Collector::default()
            };
            self.space_after = 0.0;
            self.list_level += 1;
            self.blocks(&item.body, inner_x, width, body_tag, &mut collector);
            self.list_level -= 1;
            fragments.append(&mut lines);
            if let Some(first) = collector.fragments.front_mut() {
                first.gap = first.gap.max(size * 0.25);
            }
            fragments.append(&mut collector.fragments);
        }
        self.push_fragments(block, fragments, out);
    }

    fn draw_label(&mut self, label: &str, text: TextBox, fragment: &mut Fragment) {
        let mut paragraph = self
            .text
            .paragraph(&[Inline::text(label, text.style)], text.style);
        let lines = self
            .text
            .break_lines(&mut paragraph, f32::MAX, 0.0, text.style);
        let Body::Solid(content) = std::mem::take(&mut fragment.body) else {
            return;
        };
        let mut sink = Sink::default();
        if let Some(tag) = text.tag {
            sink.items.push(crate::page::Item::Tag(tag));
        }
        for line in &lines {
            let placement = Placement {
                x: text.x,
                width: text.width,
                baseline: line.above,
                align: text.align,
                style: text.style,
                tag: text.tag,
            };
            self.text
                .emit_line(&paragraph, line, placement, &mut self.tags, &mut sink);
        }
        sink.append(content, 0.0, 0.0);
        fragment.body = Body::Solid(sink);
    }
}

/// The items whose labels are measured: the first 40 and the last. Labels of letters or Roman
/// numerals do not grow steadily with the number.
fn widest(count: usize) -> impl Iterator<Item = usize> {
    const MEASURED: usize = 40;
    (0..count.min(MEASURED)).chain(count.checked_sub(1))
}
