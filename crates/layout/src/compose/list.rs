//! Bulleted and numbered lists.

use std::sync::Arc;

use platen_document::bound::{Align, Block, CHECK_BOX, CHECKED_BOX, Inline, List, StyleId};

use super::{
    block::Collector,
    composer::{Composer, Output, Place},
    fragment::{Body, Fragment},
    paragraph::TextBox,
};
use crate::{
    figure::{Figure, Shape},
    page::{Item, TagKind},
    text::{Placement, Sink},
};

/// Gap between label and text, in points.
const LABEL_GAP: f32 = 5.0;
/// Side of a check box as a multiple of the font size.
const CHECK_BOX_SIZE: f32 = 0.8;

impl Composer<'_> {
    pub(super) fn list(&mut self, block: &Block, list: &List, place: Place, out: &mut dyn Output) {
        let tag = self.tag(TagKind::List(list.ordered), place.tag);
        let style = block.style;
        let size = self.style(style).font_size;
        let level = self.list_level;
        let label_width = self.label_width(list, style);
        let indent = (label_width + LABEL_GAP).max(size * 1.6);
        let right_to_left = self.right_to_left();
        let inner_x = if right_to_left {
            place.x
        } else {
            place.x + indent
        };
        let width = (place.width - indent).max(1.0);
        let mut fragments = std::collections::VecDeque::new();
        // The space that the block above wants below it; the items use the field for their own.
        let above = self.space_after;
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
        self.space_after = above;
        self.push_fragments(block, fragments, out);
    }

    /// Width of the widest label, in points.
    fn label_width(&mut self, list: &List, style: StyleId) -> f32 {
        let level = self.list_level;
        let size = self.style(style).font_size;
        let mut label_width = 0.0_f32;
        for index in widest(list.items.len()) {
            let label = list.label(level, index);
            let width = match label.as_str() {
                CHECK_BOX | CHECKED_BOX => size * CHECK_BOX_SIZE,
                label => self.text.measure(label, style),
            };
            label_width = label_width.max(width);
        }
        label_width
    }

    /// Draws `label` beside the first line of `fragment`.
    pub(super) fn draw_label(&mut self, label: &str, text: TextBox, fragment: &mut Fragment) {
        if matches!(label, CHECK_BOX | CHECKED_BOX) {
            return self.draw_check_box(label, text, fragment);
        }
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
            sink.items.push(Item::Tag(tag));
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

impl Composer<'_> {
    /// Draws a check box, which few fonts have, as lines.
    fn draw_check_box(&mut self, label: &str, text: TextBox, fragment: &mut Fragment) {
        let (above, _) = self.text.extents(text.style);
        let style = self.style(text.style);
        let (size, color) = (style.font_size * CHECK_BOX_SIZE, style.color);
        let line = |points: &[(f32, f32)]| Shape::Line {
            points: points.iter().map(|(x, y)| (x * size, y * size)).collect(),
            width: size * 0.09,
            color,
            dash: None,
        };
        let mut shapes = vec![line(&[
            (0.05, 0.05),
            (0.95, 0.05),
            (0.95, 0.95),
            (0.05, 0.95),
            (0.05, 0.05),
            (0.95, 0.05),
        ])];
        if label == CHECKED_BOX {
            shapes.push(line(&[(0.22, 0.52), (0.42, 0.74), (0.78, 0.24)]));
        }
        let Body::Solid(content) = std::mem::take(&mut fragment.body) else {
            return;
        };
        let mut sink = Sink::default();
        if let Some(tag) = text.tag {
            sink.items.push(Item::Tag(tag));
            self.tags.alternatives.push((tag, label.to_owned()));
        }
        let x = match text.align {
            Align::End => text.x + text.width - size,
            _ => text.x,
        };
        let figure = Arc::new(Figure {
            width: size,
            height: size,
            shapes,
        });
        let at = (x, above - size * 0.92);
        sink.items.push(Item::Figure { figure, at });
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
