//! Tables of contents: headings with the page numbers found by the previous pass.

use std::{collections::VecDeque, sync::Arc};

use platen_document::bound::{Align, Block, BlockKind, Inline, Positioned, plain_text};

use super::{
    composer::{Composer, Output, Place},
    fragment::{Body, Fragment},
    paragraph::TextBox,
};
use crate::{
    page::{Area, Item, TagId, TagKind},
    text::{Placement, Sink},
};

/// Indent per level, in points.
const LEVEL_INDENT: f32 = 14.0;

/// A line of a table of contents.
struct Entry {
    level: u8,
    title: String,
    /// Printed number of its page, once known.
    number: Option<String>,
    /// Index among all headings.
    index: usize,
}

impl Composer<'_> {
    pub(super) fn contents(
        &mut self,
        block: &Block,
        title: Option<&[Inline]>,
        depth: u8,
        place: Place,
        out: &mut dyn Output,
    ) {
        self.needs_numbers = true;
        let tag = self.tag(TagKind::Contents, place.tag);
        let mut fragments = VecDeque::new();
        if let Some(title) = title {
            let style = super::group::first_style(title).unwrap_or(block.style);
            let title_tag = self.tag(TagKind::Caption, tag);
            let mut lines = self.paragraph_fragments(
                title,
                style,
                Place {
                    tag: title_tag,
                    ..place
                },
            );
            for fragment in &mut lines {
                fragment.keep = true;
            }
            fragments.append(&mut lines);
        }
        let entries = self.entries(depth);
        if entries.is_empty() {
            self.text.warn(
                "contents-empty",
                "the table of contents has no entries: there are no headings for it".into(),
                "use `heading` nodes, or a greater `depth`",
            );
        }
        for (index, entry) in entries.iter().enumerate() {
            let item = self.tag(TagKind::ContentsItem, tag);
            let mut fragment = self.entry(entry, Place { tag: item, ..place });
            fragment.gap = if index == 0 { 6.0 } else { 2.0 };
            fragments.push_back(fragment);
        }
        self.push_fragments(block, fragments, out);
    }

    /// The headings down to `depth`.
    fn entries(&self, depth: u8) -> Vec<Entry> {
        let numbers = &self.known.numbers;
        if self.known.page_count > 0 {
            return (self.known.outline.iter().enumerate())
                .filter(|(_, heading)| heading.level <= depth)
                .map(|(index, heading)| Entry {
                    level: heading.level,
                    title: heading.title.clone(),
                    number: numbers.get(heading.page as usize).cloned(),
                    index,
                })
                .collect();
        }
        let mut entries = Vec::new();
        for section in &self.document.sections {
            headings(&section.body, depth, &mut entries);
        }
        entries
    }

    fn entry(&mut self, entry: &Entry, place: Place) -> Fragment {
        let Entry {
            level,
            title,
            number,
            index,
        } = entry;
        let style = self.document.named.toc_entry;
        // The first pass reserves the width of three digits.
        let number = number.clone().unwrap_or_else(|| "000".to_owned());
        let indent = LEVEL_INDENT * f32::from(level.saturating_sub(1));
        let number_width = self.text.measure(&number, style);
        let width = (place.width - indent - number_width - 12.0).max(20.0);
        let link = self.tag(TagKind::Link, place.tag);
        let text = TextBox {
            x: self.mirrored(place, indent, width),
            width,
            align: Align::Start,
            first_indent: 0.0,
            style,
            tag: link,
        };
        let content = [Inline::text(title.as_str(), style)];
        let mut paragraph = self.text.paragraph(&content, style);
        let lines = self.text.break_lines(&mut paragraph, width, 0.0, style);
        let mut sink = Sink::default();
        let height = self.draw_lines(&paragraph, &lines, true, text, 0.0, &mut sink);
        let Some(last) = lines.last() else {
            return Fragment::default();
        };
        let baseline = height - last.below;
        let used = indent + last.width + 4.0;
        let leader = (place.width - used - number_width - 4.0).max(0.0);
        self.leader(place, (used, leader), baseline, &mut sink);
        sink.items.extend(link.map(Item::Tag));
        self.right_text(&number, place, baseline, link, &mut sink);
        if let Some(tag) = link {
            let area = Area {
                x: place.x,
                y: 0.0,
                width: place.width,
                height,
            };
            let target = Arc::from(format!("#{}{index}", super::furniture::HEADING_TARGET));
            sink.items.push(Item::Link { target, area, tag });
        }
        Fragment {
            height,
            body: Body::Solid(sink),
            ..Fragment::default()
        }
    }

    /// Draws dots from the text to the number, on a grid so that they align across lines.
    fn leader(
        &mut self,
        place: Place,
        (offset, width): (f32, f32),
        baseline: f32,
        sink: &mut Sink,
    ) {
        let style = self.document.named.toc_entry;
        let step = self.text.measure(". ", style).max(1.0);
        let first = (offset / step).ceil() * step;
        let count = ((offset + width - first) / step).floor();
        if count < 2.0 || place.tag.is_none() {
            return;
        }
        let dots = vec!["."; count as usize].join(" ");
        let x = self.mirrored(place, first, count * step);
        sink.items
            .push(Item::Artifact(crate::page::Artifact::Decoration));
        self.line_at(&dots, x, count * step, Align::Left, baseline, None, sink);
    }

    fn right_text(
        &mut self,
        text: &str,
        place: Place,
        baseline: f32,
        tag: Option<TagId>,
        sink: &mut Sink,
    ) {
        self.line_at(text, place.x, place.width, Align::End, baseline, tag, sink);
    }

    #[allow(clippy::too_many_arguments)]
    fn line_at(
        &mut self,
        text: &str,
        x: f32,
        width: f32,
        align: Align,
        baseline: f32,
        tag: Option<TagId>,
        sink: &mut Sink,
    ) {
        let style = self.document.named.toc_entry;
        let mut paragraph = self.text.paragraph(&[Inline::text(text, style)], style);
        let lines = self.text.break_lines(&mut paragraph, 1e7, 0.0, style);
        if let Some(line) = lines.first() {
            let placement = Placement {
                x,
                width,
                baseline,
                align,
                style,
                tag,
            };
            self.text
                .emit_line(&paragraph, line, placement, &mut self.tags, sink);
        }
    }
}

/// Collects the headings of `blocks` in reading order.
fn headings(blocks: &[Block], depth: u8, entries: &mut Vec<Entry>) {
    for block in blocks {
        match &block.kind {
            BlockKind::Heading { level, content } if *level <= depth => {
                entries.push(Entry {
                    level: *level,
                    title: plain_text(content).replace('\n', " "),
                    number: None,
                    index: entries.len(),
                });
            }
            BlockKind::Positioned(Positioned { body, .. }) | BlockKind::Panel { body, .. } => {
                headings(body, depth, entries);
            }
            BlockKind::Columns(columns) => {
                for column in &columns.columns {
                    headings(&column.body, depth, entries);
                }
            }
            _ => {}
        }
    }
}
