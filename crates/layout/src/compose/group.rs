//! Columns, panels and key-value lists.

use std::{collections::VecDeque, sync::Arc};

use platen_document::bound::{
    Align, Block, ColumnWidth, Columns, Inline, KeyValue, PanelRef, StyleId, VerticalAlign,
};

use super::{
    composer::{Composer, Output, Place},
    fragment::{Body, Fragment, Frame, Lane, Lanes, Mark},
    paragraph::{TextBox, framed, lanes_fragment},
};
use crate::{
    page::TagKind,
    text::{Line, Paragraph, Sink},
};

/// Gap between a label and its value, in points.
const KEY_GAP: f32 = 10.0;
/// Gap between pairs side by side, in points.
const PAIR_GAP: f32 = 18.0;

/// A paragraph broken into lines, not yet drawn.
struct Set {
    paragraph: Paragraph,
    lines: Vec<Line>,
    text: TextBox,
    height: f32,
}

impl Composer<'_> {
    pub(super) fn columns(
        &mut self,
        block: &Block,
        columns: &Columns,
        place: Place,
        out: &mut dyn Output,
    ) {
        let tag = self.tag(TagKind::Division, place.tag);
        let count = columns.columns.len();
        let gaps = columns.gap * count.saturating_sub(1) as f32;
        let widths = share(
            columns.columns.iter().map(|column| column.width),
            (place.width - gaps).max(1.0),
        );
        let mut lanes = Vec::with_capacity(count);
        let mut offset = 0.0;
        let mut before = 0.0_f32;
        for (column, width) in columns.columns.iter().zip(widths) {
            let x = self.mirrored(place, offset, width);
            let column_tag = self.tag(TagKind::Division, tag);
            let inside = Place {
                x,
                width,
                tag: column_tag,
            };
            // A lane draws its frame as high as the highest lane.
            let (fragments, frame) = match columns.filled_by(column) {
                Some(panel) => {
                    before = before.max(self.style(panel.block.style).space_before);
                    self.filling(panel, inside)
                }
                None => {
                    let fragments = self.collect(&column.body, inside);
                    before = before.max(fragments.front().map_or(0.0, |first| first.gap));
                    (fragments, Frame::default())
                }
            };
            lanes.push(Lane {
                x,
                width,
                fragments,
                vertical_align: columns.vertical_align,
                frame,
            });
            offset += width + columns.gap;
        }
        // The space above the first blocks is above all columns.
        self.space_after = self.space_after.max(before);
        self.push_block(block, lanes_fragment(Lanes { lanes, whole: true }), out);
    }

    pub(super) fn panel(
        &mut self,
        block: &Block,
        title: Option<&[Inline]>,
        body: &[Block],
        place: Place,
        out: &mut dyn Output,
    ) {
        let frame = self.frame(block.style);
        let fragments = self.panel_content(block, title, body, place);
        self.push_block(block, framed(fragments, frame, place.x, place.width), out);
    }

    /// The content and the frame of a panel that fills its column.
    fn filling(&mut self, panel: PanelRef<'_>, place: Place) -> (VecDeque<Fragment>, Frame) {
        let block = panel.block;
        if place.tag.is_some() {
            self.tags.begin_node(&block.path);
        }
        let outer = (
            std::mem::replace(&mut self.text.node, Arc::clone(&block.path)),
            std::mem::take(&mut self.space_after),
        );
        let mut fragments = self.panel_content(block, panel.title, panel.body, place);
        (self.text.node, self.space_after) = outer;
        if let Some(id) = &block.id {
            if fragments.is_empty() {
                fragments.push_back(Fragment::default());
            }
            let mark = Mark::Anchor(id.to_string());
            fragments.front_mut().expect("one").marks.push(mark);
        }
        (fragments, self.frame(block.style))
    }

    fn panel_content(
        &mut self,
        block: &Block,
        title: Option<&[Inline]>,
        body: &[Block],
        place: Place,
    ) -> VecDeque<Fragment> {
        let tag = self.tag(TagKind::Division, place.tag);
        let frame = self.frame(block.style);
        let inner = Place {
            x: place.x + frame.padding.left,
            width: (place.width - frame.padding.left - frame.padding.right).max(1.0),
            tag,
        };
        let mut fragments = VecDeque::new();
        if let Some(title) = title {
            let style = first_style(title).unwrap_or(block.style);
            let title_tag = self.tag(TagKind::Paragraph, tag);
            let text = TextBox {
                x: inner.x,
                width: inner.width,
                align: self.style(style).align,
                first_indent: 0.0,
                style,
                tag: title_tag,
            };
            fragments = self.lines_as_fragments(title, text);
            for fragment in &mut fragments {
                fragment.keep = true;
            }
        }
        let mut content = self.collect(body, inner);
        if let (false, Some(first)) = (fragments.is_empty(), content.front_mut()) {
            first.gap = first.gap.max(4.0);
        }
        fragments.append(&mut content);
        fragments
    }

    pub(super) fn key_value(
        &mut self,
        block: &Block,
        pairs: &KeyValue,
        place: Place,
        out: &mut dyn Output,
    ) {
        let tag = self.tag(TagKind::List(false), place.tag);
        let columns = usize::from(pairs.columns.max(1));
        let pair_width = (place.width - PAIR_GAP * (columns - 1) as f32) / columns as f32;
        let natural = pairs
            .items
            .iter()
            .map(|(key, _)| self.natural_width(key))
            .fold(0.0_f32, f32::max);
        let key_width = pairs
            .key_width
            .unwrap_or(natural + 0.5)
            .min(pair_width * 0.6);
        let gap = self.style(block.style).font_size * 0.25;
        let mut fragments = VecDeque::new();
        for (index, row) in pairs.items.chunks(columns).enumerate() {
            let mut sets = Vec::with_capacity(row.len() * 2);
            for (column, (key, value)) in row.iter().enumerate() {
                let offset = (pair_width + PAIR_GAP) * column as f32;
                let item = self.tag(TagKind::ListItem, tag);
                let key_box = self.pair_box(key, block.style, place, (offset, key_width));
                let rest = (pair_width - key_width - KEY_GAP).max(1.0);
                let value_at = (offset + key_width + KEY_GAP, rest);
                let value_box = self.pair_box(value, block.style, place, value_at);
                let label = self.tag(TagKind::ListLabel, item);
                let body = self.tag(TagKind::ListBody, item);
                sets.push(self.set(
                    key,
                    TextBox {
                        tag: label,
                        ..key_box
                    },
                ));
                sets.push(self.set(
                    value,
                    TextBox {
                        tag: body,
                        ..value_box
                    },
                ));
            }
            let mut fragment = self.pairs_fragment(sets);
            fragment.gap = if index == 0 { 0.0 } else { gap };
            fragments.push_back(fragment);
        }
        self.push_fragments(block, fragments, out);
    }

    fn pair_box(
        &self,
        content: &[Inline],
        style: StyleId,
        place: Place,
        at: (f32, f32),
    ) -> TextBox {
        TextBox {
            x: self.mirrored(place, at.0, at.1),
            width: at.1,
            align: Align::Start,
            first_indent: 0.0,
            style: first_style(content).unwrap_or(style),
            tag: None,
        }
    }

    /// Labels and values side by side. Tall ones become lanes, which may continue on the next page.
    /// Their first lines have one baseline.
    fn pairs_fragment(&mut self, sets: Vec<Set>) -> Fragment {
        let above = |set: &Set| set.lines.first().map_or(0.0, |line| line.above);
        let baseline = sets.iter().map(above).fold(0.0, f32::max);
        let drop = |set: &Set| baseline - above(set);
        let height = sets
            .iter()
            .map(|set| drop(set) + set.height)
            .fold(0.0, f32::max);
        if height > self.room / 2.0 {
            let lanes = sets.into_iter().map(|set| Lane {
                x: set.text.x,
                width: set.text.width,
                fragments: self.set_fragments(&set, drop(&set)),
                vertical_align: VerticalAlign::Top,
                frame: Frame::default(),
            });
            let lanes = lanes.collect();
            return lanes_fragment(Lanes { lanes, whole: true });
        }
        let mut sink = Sink::default();
        let mut footnotes = Vec::new();
        for set in &sets {
            let top = drop(set);
            self.draw_lines(&set.paragraph, &set.lines, true, set.text, top, &mut sink);
            footnotes.extend(set.paragraph.footnotes(&set.lines));
        }
        Fragment {
            height,
            footnotes,
            body: Body::Solid(sink),
            ..Fragment::default()
        }
    }

    /// One fragment per line, the first one `drop` points lower.
    fn set_fragments(&mut self, set: &Set, drop: f32) -> VecDeque<Fragment> {
        let lines = set.lines.chunks(1).enumerate();
        lines
            .map(|(index, line)| {
                let mut sink = Sink::default();
                let top = if index == 0 { drop } else { 0.0 };
                let height = self.draw_lines(&set.paragraph, line, false, set.text, top, &mut sink);
                Fragment {
                    height: top + height,
                    footnotes: set.paragraph.footnotes(line).collect(),
                    keep: line[0].keep,
                    body: Body::Solid(sink),
                    ..Fragment::default()
                }
            })
            .collect()
    }

    fn set(&mut self, content: &[Inline], text: TextBox) -> Set {
        self.note_fields(content);
        let mut paragraph = self.text.paragraph(content, text.style);
        let lines = self
            .text
            .break_lines(&mut paragraph, text.width, 0.0, text.style);
        let height = lines.iter().map(Line::height).sum();
        Set {
            paragraph,
            lines,
            text,
            height,
        }
    }

    /// Width of `content` when broken only at its own line breaks.
    pub(super) fn natural_width(&mut self, content: &[Inline]) -> f32 {
        let style = first_style(content).unwrap_or_default();
        let mut paragraph = self.text.paragraph(content, style);
        let lines = self.text.break_lines(&mut paragraph, 1e7, 0.0, style);
        lines.iter().map(|line| line.width).fold(0.0, f32::max)
    }

    /// Left edge of a box at `offset` from the start side, which is on the right in right-to-left
    /// text.
    pub(super) fn mirrored(&self, place: Place, offset: f32, width: f32) -> f32 {
        if self.right_to_left() {
            place.x + place.width - offset - width
        } else {
            place.x + offset
        }
    }

    pub(super) fn divider(&mut self, block: &Block, place: Place, out: &mut dyn Output) {
        let platen_document::bound::BlockKind::Divider {
            thickness,
            color,
            line,
        } = block.kind
        else {
            return;
        };
        let mut sink = Sink::default();
        sink.items.push(crate::page::Item::Artifact(
            crate::page::Artifact::Decoration,
        ));
        sink.items.push(crate::page::Item::Line {
            from: (place.x, thickness / 2.0),
            to: (place.x + place.width, thickness / 2.0),
            width: thickness,
            color,
            style: line,
        });
        let fragment = Fragment {
            height: thickness,
            body: Body::Solid(sink),
            ..Fragment::default()
        };
        self.push_block(block, fragment, out);
    }
}

/// Style of the first inline that has one.
pub(super) fn first_style(content: &[Inline]) -> Option<StyleId> {
    content.iter().find_map(|inline| match inline {
        Inline::Text { style, .. }
        | Inline::PageField { style, .. }
        | Inline::PageOf { style, .. }
        | Inline::PageNumber(style)
        | Inline::PageCount(style)
        | Inline::Footnote { style, .. } => Some(*style),
        Inline::Number(number) => Some(number.style),
        Inline::Break => None,
    })
}

/// Widths of boxes within `room` points: fixed ones first, the rest in proportion to their shares.
fn share(widths: impl Iterator<Item = ColumnWidth> + Clone, room: f32) -> Vec<f32> {
    let parts = |width: ColumnWidth| match width {
        ColumnWidth::Fixed(_) => 0.0,
        ColumnWidth::Fraction(share) => share,
        ColumnWidth::Auto => 1.0,
    };
    let fixed: f32 = widths
        .clone()
        .map(|width| {
            if let ColumnWidth::Fixed(points) = width {
                points
            } else {
                0.0
            }
        })
        .sum();
    let shares: f32 = widths.clone().map(parts).sum();
    let scale = if fixed > room { room / fixed } else { 1.0 };
    let left = (room - fixed).max(0.0);
    widths
        .map(|width| match width {
            ColumnWidth::Fixed(points) => points * scale,
            other => (left * parts(other) / shares.max(0.001)).max(1.0),
        })
        .collect()
}
