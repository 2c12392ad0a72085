//! Footnotes at the foot of a column; those that do not fit continue in the next.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::room::{FOOTNOTE_GAP, NoteHeight};
use crate::{
    page::{Artifact, Item, Page},
    text::Sink,
};

/// Fraction of a column that footnotes carried over from earlier columns may fill.
const CARRIED_PART: f32 = 0.75;

/// The lines of a footnote, each with its height.
pub(super) type NoteLines = Vec<(Sink, f32)>;

/// Footnotes that are laid out, pending, or at the foot of the current column.
#[derive(Default)]
pub(super) struct Notes {
    /// Laid out; their references are not placed yet.
    set: FxHashMap<u32, NoteLines>,
    /// Lines whose references are placed, waiting for space.
    waiting: VecDeque<(Sink, f32)>,
    /// Lines at the foot of the current column.
    foot: NoteLines,
    height: f32,
}

impl Notes {
    /// Remembers a footnote until its reference is placed.
    pub fn set(&mut self, note: u32, lines: impl FnOnce() -> NoteLines) {
        self.set.entry(note).or_insert_with(lines);
    }

    /// Height of a footnote whose reference is not placed yet.
    pub fn height_of(&self, note: u32) -> NoteHeight {
        let lines = self.set.get(&note).map_or(&[][..], Vec::as_slice);
        NoteHeight::of(lines.iter().map(|(_, height)| *height))
    }

    /// Height of the notes in the column including the gap above; 0 if there are none.
    pub fn height(&self) -> f32 {
        self.height
    }

    /// Whether lines are waiting for the next column.
    pub fn wait(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Places the footnotes of references just placed, as far as `room` permits.
    pub fn begin(&mut self, notes: &[u32], room: f32) {
        for note in notes {
            self.waiting
                .extend(self.set.remove(note).unwrap_or_default());
        }
        self.fill(room);
    }

    /// Continues pending notes in a new column that offers `room` points.
    pub fn go_on(&mut self, room: f32) {
        self.fill(room * CARRIED_PART);
        if self.foot.is_empty()
            && let Some((line, height)) = self.waiting.pop_front()
        {
            // A line taller than the space for notes: it must be placed somewhere.
            self.height = FOOTNOTE_GAP + height;
            self.foot.push((line, height));
        }
    }

    fn fill(&mut self, room: f32) {
        while let Some((_, height)) = self.waiting.front() {
            let gap = if self.foot.is_empty() {
                FOOTNOTE_GAP
            } else {
                0.0
            };
            if self.height + gap + height > room + 0.02 {
                break;
            }
            self.height += gap + height;
            self.foot.extend(self.waiting.pop_front());
        }
    }

    /// Draws the notes above `bottom`, moved by `dx`. The rule above them is a third of the
    /// column's width.
    pub fn draw(&mut self, page: &mut Page, (left, width): (f32, f32), bottom: f32, dx: f32) {
        let lines = std::mem::take(&mut self.foot);
        let height = std::mem::take(&mut self.height);
        if lines.is_empty() {
            return;
        }
        let mut y = bottom - height + FOOTNOTE_GAP;
        page.items.push(Item::Artifact(Artifact::Decoration));
        page.items.push(Item::Line {
            from: (left, y - FOOTNOTE_GAP / 2.0),
            to: (left + width / 3.0, y - FOOTNOTE_GAP / 2.0),
            width: 0.5,
            color: platen_document::Color::from_rgb(0x80_8080),
            style: platen_document::bound::LineStyle::Solid,
        });
        for (content, height) in lines {
            content.append_to(page, dx, y);
            y += height;
        }
    }
}
