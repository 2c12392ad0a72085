//! Footnotes at the foot of a slide; those that do not fit continue on the next.

use std::collections::VecDeque;

use platen_document::bound::{Block, BlockKind, CellContent, Inline, plain_text};

use super::{flow::Flow, slide::Place, text::Mark};
use crate::plain::walk;

/// Fraction of the content area that footnotes may fill.
pub(super) const NOTES_PART: f32 = 0.5;

/// The footnotes of the current slide.
#[derive(Default)]
pub(super) struct Notes {
    /// Numbers referenced on this slide.
    marked: Vec<u32>,
    /// Their texts, preceded by the remainder of the previous slide's.
    texts: VecDeque<Vec<Inline>>,
    /// Total height, in points.
    pub height: f32,
    /// Whether they need more space than the slide grants them.
    overflows: bool,
}

impl Notes {
    /// Whether some must continue on another slide.
    pub fn go_on(&self) -> bool {
        self.overflows
    }
}

impl Flow<'_> {
    /// Height of a footnote in points; 0 if this slide references it already.
    pub fn note_height(&self, index: u32) -> f32 {
        let Some(note) = self.document.footnotes.get(index as usize) else {
            return 0.0;
        };
        if self.notes.marked.contains(&index) {
            return 0.0;
        }
        self.text_height(&plain_text(&note.content))
    }

    fn text_height(&self, text: &str) -> f32 {
        let style = self.document.named.footnote;
        // The number in front takes some of the width.
        let width = self.geometry.content_width() * 0.97;
        self.typeset.height(text, style, width, Mark::None)
    }

    /// Reserves space at the foot of the slide for the footnotes that `content` references.
    pub fn mark_notes(&mut self, content: &[Inline]) {
        for note in footnotes(content) {
            self.mark_note(note);
        }
    }

    pub fn mark_note(&mut self, index: u32) {
        let Some(note) = self.document.footnotes.get(index as usize) else {
            return;
        };
        if self.notes.marked.contains(&index) {
            return;
        }
        self.notes.height += self.note_height(index);
        self.notes.marked.push(index);
        let style = self.document.named.footnote;
        let mut text = vec![Inline::text(format!("{} ", u64::from(index) + 1), style)];
        text.extend(note.content.iter().cloned());
        self.notes.texts.push_back(text);
        self.measure_notes();
    }

    fn measure_notes(&mut self) {
        let most = (self.geometry.bottom - self.geometry.top) * NOTES_PART;
        self.notes.overflows = self.notes.height > most + 0.01;
    }

    /// Writes as many footnotes as fit on the slide.
    pub fn write_notes(&mut self) {
        let mut notes = std::mem::take(&mut self.notes);
        if notes.texts.is_empty() {
            return;
        }
        let document = self.document;
        let id = document.named.footnote;
        let style = &document.styles[id];
        let most = (self.geometry.bottom - self.geometry.top) * NOTES_PART;
        let width = self.geometry.content_width() * 0.97;
        let mut body = String::new();
        let mut lost_links = false;
        let mut height = 0.0;
        while let Some(text) = notes.texts.pop_front() {
            let needed = self.text_height(&plain_text(&text));
            let (text, rest) = if height + needed > most + 0.01 {
                let spaces = (style.space_before + style.space_after) * self.geometry.scale;
                let free = most - height - spaces;
                let lines = (free / self.typeset.line_height(style)) as usize;
                if lines == 0 && height > 0.0 {
                    notes.texts.push_front(text);
                    break;
                }
                self.typeset.cut_lines(&text, style, width, lines)
            } else {
                (text, Vec::new())
            };
            height += self.text_height(&plain_text(&text));
            let relationships = &mut self.slide.relationships;
            body += &self
                .typeset
                .paragraph(&text, id, Mark::None, relationships, &mut lost_links);
            if !rest.is_empty() {
                notes.texts.push_front(rest);
                break;
            }
        }
        let place = Place {
            x: self.geometry.side,
            y: self.geometry.bottom - height,
            width: self.geometry.content_width(),
            height,
        };
        self.slide.text_box(place, &body, "b");
        // The next slide starts with the remainder.
        self.notes.texts = notes.texts;
        let left = self.notes.texts.iter();
        self.notes.height = left.map(|text| self.text_height(&plain_text(text))).sum();
        self.measure_notes();
    }
}

/// Footnotes that `content` references.
pub(super) fn footnotes(content: &[Inline]) -> Vec<u32> {
    content.iter().filter_map(footnote).collect()
}

pub(super) fn footnote(inline: &Inline) -> Option<u32> {
    match inline {
        Inline::Footnote { index, .. } => Some(*index),
        _ => None,
    }
}

/// Footnotes referenced in blocks that a slide shows as plain text.
pub(super) fn notes_in(blocks: &[Block]) -> Vec<u32> {
    let mut notes = Vec::new();
    let mut add = |content: &[Inline]| notes.extend(content.iter().filter_map(footnote));
    walk(blocks, &mut |block| match &block.kind {
        BlockKind::Heading { content, .. } | BlockKind::Paragraph(content) => add(content),
        BlockKind::List(list) => list.items.iter().for_each(|item| add(&item.content)),
        BlockKind::KeyValue(pairs) => {
            for (key, value) in &pairs.items {
                add(key);
                add(value);
            }
        }
        BlockKind::Table(table) => {
            for cell in (table.header.iter().chain(&table.rows)).flat_map(|row| &row.cells) {
                if let CellContent::Inlines(content) = &cell.content {
                    add(content);
                }
            }
        }
        _ => {}
    });
    // Numbers increase in reading order.
    notes.sort_unstable();
    notes
}
