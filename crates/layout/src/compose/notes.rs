//! Footnotes at the foot of a column; one that does not fit there goes on at the next.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{
    flow::append,
    room::{FOOTNOTE_GAP, NoteHeight},
};
use crate::{
    page::{Artifact, Item, Page},
    text::Sink,
};

/// Part of a column that footnotes of the columns before may fill.
const CARRIED_PART: f32 = 0.75;

/// A footnote, line by line, each with its height.
pub(super) type NoteLines = Vec<(Sink, f32)>;

/// Footnotes laid out, and those at the foot of the column at hand.
#[derive(Default)]
pub(super) struct Notes {
    /// Laid out; their marks are not placed yet.
    set: FxHashMap<u32, NoteLines>,
    /// Lines whose marks are placed, waiting for room.
    waiting: VecDeque<(Sink, f32)>,
    /// Lines at the foot of the column.
    foot: NoteLines,
    height: f32,
}

impl Notes {
    /// Remembers a footnote until its mark is placed.
    pub fn set(&mut self, note: u32, lines: impl FnOnce() -> NoteLines) {
        self.set.entry(note).or_insert_with(lines);
    }

    /// How high a footnote is whose mark is not placed yet.
    pub fn height_of(&self, note: u32) -> NoteHeight {
        let lines = self.set.get(&note).map_or(&[][..], Vec::as_slice);
        NoteHeight::of(lines.iter().map(|(_, height)| *height))
    }

    /// Height of the foot with the gap above; 0 where there is none.
    pub fn height(&self) -> f32 {
        self.height
    }

    /// True where lines wait for the next column.
    pub fn wait(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Places footnotes whose marks have been placed, as far as `room` reaches.
    pub fn begin(&mut self, notes: &[u32], room: f32) {
        for note in notes {
            self.waiting
                .extend(self.set.remove(note).unwrap_or_default());
        }
        self.fill(room);
    }

    /// Goes on in a new column, of which `room` is left.
    pub fn go_on(&mut self, room: f32) {
        self.fill(room * CARRIED_PART);
        if self.foot.is_empty()
            && let Some((line, height)) = self.waiting.pop_front()
        {
            // Higher than the room for it: it must stand somewhere.
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

    /// Draws the foot, moved by `dx`, above `bottom`; the rule above it is as long as a third of
    /// the column of this left edge and width.
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
            append(page, content, dx, y);
            y += height;
        }
    }
}
