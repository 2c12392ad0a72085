//! Table rows that may continue on the next page: between rows, or inside one.

use std::collections::VecDeque;

use platen_document::work;

use super::{
    super::room::Room,
    Lane, MIN_PART, Mark, Stroke,
    rules::{self, Edges, Look},
    take,
};
use crate::{page::Area, text::Sink};

/// Joined rows no taller than this fraction of a page move to the next one as a whole.
const WHOLE_PART: f32 = 1.0 / 3.0;

/// Table rows, laid out but not drawn.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub look: Look,
    pub edges: Edges,
    /// Per row: whether it has the background of alternate rows.
    pub shaded: VecDeque<bool>,
    /// Cells, ordered by their first row.
    pub cells: VecDeque<RowCell>,
    /// Whether rows are kept whole if they fit on a page.
    pub keep: bool,
}

/// A cell of [`Rows`].
#[derive(Clone, Debug)]
pub(crate) struct RowCell {
    /// Index of its first row.
    pub first: usize,
    /// Number of rows that it covers, at least one.
    pub count: usize,
    /// Height of the lane.
    pub height: f32,
    pub lane: Lane,
}

impl RowCell {
    pub fn new(first: usize, count: usize, lane: Lane) -> Self {
        Self {
            first,
            count,
            height: lane.height(),
            lane,
        }
    }

    fn end(&self) -> usize {
        self.first + self.count
    }
}

impl Rows {
    pub fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.cells.iter().map(|cell| &cell.lane)
    }

    pub fn height(&self) -> f32 {
        self.tops().last().copied().unwrap_or(0.0)
    }

    /// Whether a fragment of this `height` moves to the next page as a whole, if a page offers
    /// `full` points.
    pub fn stays_whole(&self, height: f32, full: f32) -> bool {
        if self.edges.header || self.shaded.len() == 1 {
            self.keep && height <= full
        } else {
            self.keep && height <= full * WHOLE_PART
        }
    }

    /// Whether it may be split inside a box that is itself split.
    pub fn breaks_inside_boxes(&self) -> bool {
        !self.keep || self.shaded.len() > 1
    }

    /// Minimum height that must be placed together at the end of a page. Adds the footnotes
    /// referenced in that part.
    pub fn lead(&self, full: f32, notes: &mut Vec<u32>) -> f32 {
        let own = |cell: &&RowCell| cell.first == 0 && cell.count == 1;
        let first = self.cells.iter().take_while(|cell| cell.first == 0);
        let mut height = 0.0_f32;
        if self.breaks_in_row(0, full) {
            for cell in first {
                height = height.max(cell.lane.lead(full, notes));
            }
            return height;
        }
        for cell in first {
            cell.lane
                .fragments
                .iter()
                .for_each(|fragment| fragment.notes(notes));
        }
        let heights = self.cells.iter().filter(own).map(|cell| cell.height);
        heights.fold(0.0, f32::max)
    }

    /// Whether `row` may be split. With `keep`, only if it is taller than a page.
    fn breaks_in_row(&self, row: usize, full: f32) -> bool {
        let high = |cell: &RowCell| cell.first == row && cell.count == 1 && cell.height > full;
        !self.keep || self.cells.iter().any(high)
    }

    /// Top of each row, and the bottom of the last. Whatever a spanning cell needs beyond the
    /// height of its rows is added to the last of them.
    fn tops(&self) -> Vec<f32> {
        work::check();
        let mut heights = vec![0.0_f32; self.shaded.len()];
        for cell in self.cells.iter().filter(|cell| cell.count == 1) {
            heights[cell.first] = heights[cell.first].max(cell.height);
        }
        for cell in self.cells.iter().filter(|cell| cell.count > 1) {
            let sum: f32 = heights[cell.first..cell.end()].iter().sum();
            heights[cell.end() - 1] += (cell.height - sum).max(0.0);
        }
        offsets(&heights)
    }

    /// Takes the rows that fit into `room`, and part of the next one if it may be split. With
    /// `force`, takes something however little space there is. Returns the part and the rest.
    pub fn split(mut self, room: &mut Room<'_>, force: bool) -> (Option<Self>, Option<Self>) {
        let tops = self.tops();
        let whole = self.fitting_rows(&tops, room);
        if whole == self.shaded.len() {
            return (Some(self), None);
        }
        let left = room.free() - tops[whole];
        let forced = force && whole == 0;
        let opens = |cell: &&RowCell| cell.first == whole && !cell.lane.fragments.is_empty();
        let fits = |cell: &RowCell| cell.lane.lead(room.height, &mut Vec::new()) <= left + 0.01;
        let allowed = !self.keep && left >= MIN_PART && self.cells.iter().filter(opens).all(fits);
        let inside = forced || allowed;
        let taken = whole + usize::from(inside);
        if taken == 0 {
            return (None, Some(self));
        }
        let mut part = Self {
            look: self.look,
            edges: self.edges.clone(),
            shaded: self.shaded.iter().copied().take(taken).collect(),
            cells: VecDeque::new(),
            keep: self.keep,
        };
        part.edges.last = false;
        let mut rest = VecDeque::new();
        while self.cells.front().is_some_and(|cell| cell.first < taken)
            && let Some(mut cell) = self.cells.pop_front()
        {
            if cell.end() <= whole {
                part.cells.push_back(cell);
                continue;
            }
            let mut lane = cell.lane.shape();
            let depth = tops[cell.first] + lane.frame.vertical_padding();
            let fragments = &mut cell.lane.fragments;
            lane.fragments = if cell.first == whole {
                take(fragments, room, depth, forced)
            } else {
                // Its footnotes were counted with its first row.
                let end = if inside { room.free() } else { tops[whole] };
                take(fragments, &mut Room::without_notes(end), depth, false)
            };
            part.cells
                .push_back(RowCell::new(cell.first, taken - cell.first, lane));
            rest.push_back(RowCell::new(whole, cell.end() - whole, cell.lane));
        }
        rest.append(&mut self.cells);
        for cell in &mut rest {
            cell.first -= whole;
        }
        self.cells = rest;
        self.shaded.drain(..whole);
        self.edges.first = false;
        self.edges.above.clear();
        (Some(part), Some(self))
    }

    /// Number of rows that fit into `room` together with the footnotes of the cells that start in
    /// them.
    fn fitting_rows(&self, tops: &[f32], room: &mut Room<'_>) -> usize {
        let mut cells = self.cells.iter().peekable();
        let mut notes = Vec::new();
        for row in 0..self.shaded.len() {
            notes.clear();
            while let Some(cell) = cells.next_if(|cell| cell.first == row) {
                cell.lane
                    .fragments
                    .iter()
                    .for_each(|fragment| fragment.notes(&mut notes));
            }
            if !room.admit(tops[row + 1], &notes) {
                return row;
            }
        }
        self.shaded.len()
    }

    /// Draws the rows from `y` on, stretched to `height`.
    pub fn draw(
        self,
        y: f32,
        height: f32,
        sink: &mut Sink,
        placed: &mut dyn FnMut(Vec<Mark>, f32, f32),
    ) {
        let mut tops: Vec<f32> = self.tops().into_iter().map(|top| y + top).collect();
        if let Some(last) = tops.last_mut() {
            *last = last.max(y + height);
        }
        let area = |cell: &RowCell| Area {
            x: cell.lane.x,
            y: tops[cell.first],
            width: cell.lane.width,
            height: tops[cell.end()] - tops[cell.first],
        };
        let boxes: Vec<rules::CellBox> = (self.cells.iter())
            .map(|cell| rules::CellBox {
                area: area(cell),
                background: cell.lane.frame.background,
                borders: cell.lane.frame.borders,
            })
            .collect();
        let shaded: Vec<bool> = self.shaded.iter().copied().collect();
        let painted = rules::draw_backgrounds(self.look, &tops, &shaded, &boxes, sink);
        for (mut cell, drawn) in self.cells.into_iter().zip(&boxes) {
            cell.lane.frame.background = None;
            cell.lane.draw(
                drawn.area.y,
                drawn.area.height,
                Stroke::Centered,
                sink,
                placed,
            );
        }
        rules::draw_rules(self.look, &self.edges, &tops, &boxes, painted, sink);
    }
}

/// Top of each row, and the bottom of the last.
pub(crate) fn offsets(heights: &[f32]) -> Vec<f32> {
    let mut tops = Vec::with_capacity(heights.len() + 1);
    let mut top = 0.0;
    tops.push(top);
    for height in heights {
        top += height;
        tops.push(top);
    }
    tops
}
