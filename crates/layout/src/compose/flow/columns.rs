//! Text columns: those of the last page of a section, and those above a block that spans them, end
//! at the same height.

use std::sync::Arc;

use platen_document::work;

use super::{Flow, Placed, Repeat};
use crate::compose::{composer::Composer, fragment::MIN_PART};

/// Halvings of the interval in which the height of balanced columns lies; enough for a hundredth of
/// a point.
const STEPS: usize = 20;

/// A stretch of columns on a page, between blocks that span them.
#[derive(Debug, Default)]
pub(super) struct Band {
    /// Top of the columns, in points.
    pub top: f32,
    /// Lower end of the lowest of the columns that are left.
    pub lowest: f32,
    /// What is placed in them, in order. Empty where there is one column only.
    pub placed: Vec<Placed>,
    /// Whether its content must stay: footnotes below their references, table rows above those that
    /// depend on where pages end.
    pub is_fixed: bool,
    /// Lengths of the page's items and words, of the outline, of the anchors and of the boxes of
    /// nodes before the band.
    pub before: [usize; 5],
}

impl Flow<'_> {
    /// Starts a band.
    pub(super) fn start_band(&mut self, top: f32) {
        let page = self.pages.last();
        self.band = Band {
            top,
            lowest: top,
            placed: Vec::new(),
            is_fixed: false,
            before: [
                page.map_or(0, |page| page.items.len()),
                page.map_or(0, |page| page.words.len()),
                self.outline.len(),
                self.anchors.len(),
                self.boxes.len(),
            ],
        };
    }

    /// Moves what is in the columns of the band so that they end at about the same height, and
    /// continues below them.
    pub(super) fn balance(&mut self) {
        let band = std::mem::take(&mut self.band);
        self.band.top = band.top;
        let free = !band.is_fixed && self.repeat.is_empty() && !self.notes.wait();
        if self.columns < 2 || band.placed.is_empty() || self.refused || !free {
            self.y = self.y.max(band.lowest);
            return;
        }
        let full = self.frame().bottom - self.notes.highest() - band.top;
        let columns = assign(&band.placed, usize::from(self.columns), full);
        let [items, words, outline, anchors, boxes] = band.before;
        if let Some(page) = self.pages.last_mut() {
            page.items.truncate(items);
            page.words.truncate(words);
        }
        self.outline.truncate(outline);
        self.anchors.truncate(anchors);
        self.boxes.truncate(boxes);
        let mut lowest = band.top;
        let mut current = None;
        for (placed, column) in band.placed.into_iter().zip(columns) {
            let starts = current != Some(column);
            if starts {
                current = Some(column);
                self.column = column;
                self.y = band.top;
                self.repeat = Arc::clone(&placed.repeat);
                self.draw_repeated();
            } else {
                self.y += placed.gap;
            }
            let (y, height) = (self.y, placed.fragment.height);
            self.draw(placed.fragment.body, y, height, placed.fragment.marks);
            if starts {
                self.redraw_header_rule(y);
            }
            self.y += height;
            lowest = lowest.max(self.y);
        }
        self.repeat = Repeat::default();
        self.y = lowest;
        self.fresh = false;
    }

    /// Width of a text column of the section, in points.
    pub(super) fn text_width(&self) -> f32 {
        self.width_of(self.columns.max(self.spanned))
    }

    pub(super) fn width_of(&self, columns: u8) -> f32 {
        let gaps = f32::from(columns - 1) * self.column_gap;
        ((self.frames[0].width - gaps) / f32::from(columns)).max(1.0)
    }

    /// Height that footnotes take from what is placed now: those of its column, or of the highest
    /// where a block spans all columns.
    pub(super) fn notes_height(&self) -> f32 {
        if self.spanned > 0 {
            self.notes.highest()
        } else {
            self.notes.height(self.column)
        }
    }

    /// Continues pending footnotes at the foot of the current column.
    pub(super) fn continue_notes(&mut self) {
        let room = self.frame().bottom - self.y;
        let whole = self.band.top <= self.frame().top;
        self.notes.go_on(self.column, room, whole);
    }

    /// Draws the footnotes of the page, each at the foot of its column.
    pub(super) fn draw_notes(&mut self) {
        let (frame, width) = (self.frame(), self.text_width());
        let Some(page) = self.pages.last_mut() else {
            return;
        };
        for column in 0..self.columns.max(self.spanned) {
            let dx = f32::from(column) * (width + self.column_gap);
            self.notes
                .draw(column, page, (frame.left, width), frame.bottom, dx);
        }
    }

    /// Starts a block that spans all columns. Returns its left edge and width.
    pub(super) fn begin_span(&mut self, composer: &mut Composer<'_>) -> (f32, f32) {
        self.flush(composer);
        self.balance();
        self.spanned = std::mem::replace(&mut self.columns, 1);
        self.column = 0;
        self.start_band(self.y);
        (self.left(), self.column_width())
    }

    /// Continues in columns below a block that spans them.
    pub(super) fn end_span(&mut self, composer: &mut Composer<'_>) {
        // What stays with the next block needs some space for it below.
        self.reserve = MIN_PART;
        self.flush(composer);
        self.reserve = 0.0;
        self.columns = std::mem::take(&mut self.spanned).max(1);
        // The gap below the block is above all columns.
        self.y += std::mem::take(&mut composer.space_after);
        self.fresh = true;
        self.start_band(self.y);
    }
}

/// The column of each fragment: the columns are as low as possible, and fragments stay in order.
fn assign(placed: &[Placed], columns: usize, full: f32) -> Vec<u8> {
    let total: f32 = placed.iter().map(|it| it.gap + it.fragment.height).sum();
    let (mut low, mut high) = (total / columns as f32 * 0.5, full.max(1.0));
    // Where even full columns do not hold it, it was placed across their ends.
    let mut best = fill(placed, high);
    if best.last().is_none_or(|last| usize::from(*last) >= columns) {
        return placed.iter().map(|it| it.column).collect();
    }
    for _ in 0..STEPS {
        work::check();
        let middle = (low + high) / 2.0;
        let filled = fill(placed, middle);
        if filled
            .last()
            .is_some_and(|last| usize::from(*last) < columns)
        {
            best = filled;
            high = middle;
        } else {
            low = middle;
        }
    }
    best
}

/// The column of each fragment if columns are `height` points high.
fn fill(placed: &[Placed], height: f32) -> Vec<u8> {
    let mut columns = vec![0; placed.len()];
    let (mut column, mut y) = (0_u8, 0.0);
    let mut start = 0;
    while start < placed.len() {
        // Fragments that stay together.
        let kept = placed[start..]
            .iter()
            .take_while(|it| it.fragment.keep)
            .count();
        let end = (start + kept + 1).min(placed.len());
        let chain = &placed[start..end];
        let inner: f32 = chain.iter().map(|it| it.gap + it.fragment.height).sum();
        let inner = inner - chain[0].gap;
        let repeated: f32 = chain[0].repeat.iter().map(|(_, height)| height).sum();
        let needed = if start > 0 {
            chain[0].gap + inner
        } else {
            repeated + inner
        };
        if start > 0 && y + needed > height + 0.01 {
            column = column.saturating_add(1);
            y = repeated + inner;
        } else {
            y += needed;
        }
        // Content higher than the columns needs higher ones.
        if y > height + 0.01 {
            return vec![u8::MAX; placed.len()];
        }
        columns[start..end].fill(column);
        start = end;
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{compose::fragment::Fragment, text::Sink};

    fn placed(heights: &[(f32, bool)]) -> Vec<Placed> {
        let one = |(height, keep): &(f32, bool)| Placed {
            gap: 2.0,
            column: 0,
            fragment: Fragment {
                height: *height,
                keep: *keep,
                ..Fragment::default()
            },
            repeat: Repeat::default(),
        };
        heights.iter().map(one).collect()
    }

    #[test]
    fn columns_are_even() {
        let lines = placed(&[(10.0, false); 10]);
        assert_eq!(assign(&lines, 2, 500.0), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
        let lines = placed(&[(10.0, false); 7]);
        assert_eq!(assign(&lines, 3, 500.0), [0, 0, 0, 1, 1, 1, 2]);
    }

    #[test]
    fn repeated_headers_take_space_in_the_columns_that_rows_start() {
        let mut rows = placed(&[(10.0, false); 9]);
        for row in &mut rows[1..] {
            row.repeat = Arc::new([(Sink::default(), 30.0)]);
        }
        assert_eq!(assign(&rows, 2, 500.0), [0, 0, 0, 0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn what_stays_together_is_in_one_column() {
        let mut heights = [(10.0, false); 10];
        heights[4].1 = true;
        let columns = assign(&placed(&heights), 2, 500.0);
        assert_eq!(columns[4], columns[5]);
        assert!(columns.is_sorted());
    }
}
