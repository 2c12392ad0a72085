//! How fragments come into the flow, and the table rows that depend on where pages end.

use std::collections::VecDeque;

use super::{
    super::{
        composer::{Composer, Output},
        fragment::Fragment,
        page_rows::{Active, Heights, PageRowsMark},
        room::Room,
    },
    Flow,
};
use crate::text::Sink;

impl Flow<'_> {
    /// Ends what the current column holds, with the rows below the last row of a table that
    /// continues in the next.
    pub(super) fn leave_column(&mut self) {
        let (page, dx) = (self.pages.len() - 1, self.column_offset());
        if let Some(active) = self.active
            && let Some(placed) = active.leave(page, dx, self.y)
        {
            self.page_rows.push(placed);
            self.y += active.heights.foot();
        }
        self.band.lowest = self.band.lowest.max(self.y);
    }

    /// Height that the rows at the foot of the page need of a table that begins in `chain`.
    pub(super) fn foot_begun(&self, chain: &VecDeque<Fragment>) -> f32 {
        let mut marks = chain.iter().filter_map(|fragment| fragment.page_rows);
        let begun = marks.find_map(|mark| match mark {
            PageRowsMark::Begin(_, heights) if self.holds_page_rows(heights) => Some(heights),
            _ => None,
        });
        begun.map_or(0.0, Heights::foot)
    }

    /// Finds whether the rows of a table end in this column: whether those at the start of `chain`,
    /// up to the end of the rows, fit whole. If one of them goes on in the next column, totals are
    /// carried forward, which takes space here.
    pub(super) fn weigh_end<'f>(&mut self, chain: impl Iterator<Item = &'f Fragment> + Clone) {
        let Some(active) = &mut self.active else {
            return;
        };
        let is_end = |fragment: &Fragment| matches!(fragment.page_rows, Some(PageRowsMark::End));
        let Some(end) = chain.clone().position(is_end) else {
            return;
        };
        let mut rows = chain.take(end);
        let Some(first) = rows.next() else {
            return;
        };
        active.ends = true;
        let gap = if self.fresh { 0.0 } else { first.gap };
        let mut height = first.height;
        let mut notes = Vec::new();
        first.notes(&mut notes);
        for row in rows {
            height += row.gap + row.height;
            row.notes(&mut notes);
        }
        let heights = |note| self.notes.height_of(note);
        let mut room = Room::new(self.room() - gap, self.notes_height() > 0.0, &heights);
        let ends = room.admit(height, &notes);
        if let Some(active) = &mut self.active {
            active.ends = ends;
        }
    }

    /// Whether the rows at the ends of a page leave space for others; otherwise they are omitted.
    fn holds_page_rows(&self, heights: Heights) -> bool {
        heights.top + heights.total + heights.carried < self.full_height() * 0.5
    }

    /// Begins or ends the rows of a table some of which depend on where pages end.
    pub(super) fn change_page_rows(&mut self, mark: PageRowsMark) {
        match mark {
            PageRowsMark::Begin(table, heights) => {
                let fits = self.holds_page_rows(heights);
                self.active = fits.then(|| Active::new(table, heights));
            }
            PageRowsMark::End => {
                if let Some(active) = self.active.take() {
                    let (page, dx) = (self.pages.len() - 1, self.column_offset());
                    self.page_rows.push(active.end(page, dx, self.y));
                    self.y += active.heights.total;
                }
            }
        }
    }
}

impl Output for Flow<'_> {
    fn push(&mut self, composer: &mut Composer<'_>, fragment: Fragment) {
        if fragment.page_break && !self.chain.is_empty() {
            self.flush(composer);
        }
        let mut notes = Vec::new();
        fragment.notes(&mut notes);
        let (left, width) = (self.left(), self.text_width());
        for note in notes {
            self.notes
                .set(note, || composer.footnote(note, left, width));
        }
        let keep = fragment.keep;
        self.chain.push_back(fragment);
        if !keep {
            self.flush(composer);
        }
    }

    fn set_repeat(&mut self, composer: &mut Composer<'_>, rows: Vec<(Sink, f32)>) {
        let fragment = Fragment {
            keep: true,
            repeat: Some(rows),
            ..Fragment::default()
        };
        self.push(composer, fragment);
    }

    fn begin_page_rows(
        &mut self,
        composer: &mut Composer<'_>,
        table: usize,
        heights: Heights,
    ) -> bool {
        let fragment = Fragment {
            keep: true,
            page_rows: Some(PageRowsMark::Begin(table, heights)),
            ..Fragment::default()
        };
        self.push(composer, fragment);
        true
    }

    fn end_page_rows(&mut self, composer: &mut Composer<'_>, keep: bool) {
        let fragment = Fragment {
            keep,
            page_rows: Some(PageRowsMark::End),
            ..Fragment::default()
        };
        self.push(composer, fragment);
    }

    fn page_number(&self) -> u32 {
        Flow::page_number(self)
    }

    fn span_columns(&mut self, composer: &mut Composer<'_>) -> Option<(f32, f32)> {
        (self.columns > 1).then(|| self.begin_span(composer))
    }

    fn end_span(&mut self, composer: &mut Composer<'_>) {
        Flow::end_span(self, composer);
    }
}
