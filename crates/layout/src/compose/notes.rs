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

/// Maximum number of text columns of a page.
pub(super) const MAX_COLUMNS: u8 = 6;

/// Footnotes that are laid out, pending, or at the feet of the page's columns.
#[derive(Default)]
pub(super) struct Notes {
    /// Laid out; their references are not placed yet.
    set: FxHashMap<u32, NoteLines>,
    /// Lines whose references are placed, waiting for space.
    waiting: VecDeque<(Sink, f32)>,
    /// Lines at the feet of the columns. They are drawn when the page is complete, because below a
    /// block that spans all columns, each column goes on.
    feet: [Foot; MAX_COLUMNS as usize],
}

/// Footnotes at the foot of a column.
#[derive(Default)]
struct Foot {
    lines: NoteLines,
    /// Height including the gap above; 0 if there are none.
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

    /// Height of the notes in a column including the gap above; 0 if there are none.
    pub fn height(&self, column: u8) -> f32 {
        self.feet[usize::from(column)].height
    }

    /// Height of the notes in the column where they are highest.
    pub fn highest(&self) -> f32 {
        let heights = self.feet.iter().map(|foot| foot.height);
        heights.fold(0.0, f32::max)
    }

    /// Whether lines are waiting for the next column.
    pub fn wait(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Places the footnotes of references just placed in a column, as far as `room` permits.
    pub fn begin(&mut self, notes: &[u32], column: u8, room: f32) {
        for note in notes {
            self.waiting
                .extend(self.set.remove(note).unwrap_or_default());
        }
        self.fill(column, room);
    }

    /// Continues pending notes in a new column that offers `room` points. `force`: one line is
    /// placed even if it is higher than that, because no other column offers more.
    pub fn go_on(&mut self, column: u8, room: f32, force: bool) {
        self.fill(column, room * CARRIED_PART);
        let foot = &mut self.feet[usize::from(column)];
        if force
            && foot.lines.is_empty()
            && let Some((line, height)) = self.waiting.pop_front()
        {
            foot.height = FOOTNOTE_GAP + height;
            foot.lines.push((line, height));
        }
    }

    fn fill(&mut self, column: u8, room: f32) {
        let foot = &mut self.feet[usize::from(column)];
        while let Some((_, height)) = self.waiting.front() {
            let gap = if foot.lines.is_empty() {
                FOOTNOTE_GAP
            } else {
                0.0
            };
            if foot.height + gap + height > room + 0.02 {
                break;
            }
            foot.height += gap + height;
            foot.lines.extend(self.waiting.pop_front());
        }
    }

    /// Draws the notes of a column above `bottom`, moved by `dx`. The rule above them is a third of
    /// the column's width.
    pub fn draw(
        &mut self,
        column: u8,
        page: &mut Page,
        (left, width): (f32, f32),
        bottom: f32,
        dx: f32,
    ) {
        let Foot { lines, height } = std::mem::take(&mut self.feet[usize::from(column)]);
        if lines.is_empty() {
            return;
        }
        let mut y = bottom - height + FOOTNOTE_GAP;
        page.items.push(Item::Artifact(Artifact::Decoration));
        page.items.push(Item::Line {
            from: (left + dx, y - FOOTNOTE_GAP / 2.0),
            to: (left + dx + width / 3.0, y - FOOTNOTE_GAP / 2.0),
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
