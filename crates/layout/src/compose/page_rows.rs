//! Table rows that depend on where pages end. The flow keeps space for them and records where they
//! are; they are drawn when all pages are known, because their totals are known only then.

use platen_document::bound::{Addends, PageRows, Row, Running, Table};

use super::{composer::Composer, flow::Flow, table::Grid};
use crate::{
    page::{Artifact, Item},
    text::Sink,
};

/// Heights of the rows at the ends of a table's part on a page, in points.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heights {
    /// At the top of a page on which the table continues.
    pub top: f32,
    /// The totals of the page.
    pub total: f32,
    /// The totals carried forward.
    pub carried: f32,
}

impl Heights {
    /// Height of the rows at the foot of a page that the table leaves.
    pub fn foot(self) -> f32 {
        self.total + self.carried
    }
}

/// A change of the table whose rows depend on pages.
#[derive(Clone, Copy, Debug)]
pub(super) enum PageRowsMark {
    /// The rows of the table with this index follow.
    Begin(usize, Heights),
    /// The rows that count have ended.
    End,
}

/// The table whose rows are being placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    /// Index in [`Composer::page_tables`].
    table: usize,
    pub heights: Heights,
    /// Number of rows placed so far.
    pub rows_end: usize,
    /// Number of rows placed before the current column.
    before: usize,
    /// Whether the rest of the rows fits into the column, so that nothing is carried forward.
    pub ends: bool,
}

/// Rows at one end of a table's part on a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedRows {
    table: usize,
    /// Index of the page.
    page: usize,
    /// Horizontal distance of the text column from the first.
    dx: f32,
    y: f32,
    /// Number of rows above.
    rows_end: usize,
    at: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Top,
    Foot,
    LastFoot,
}

impl Active {
    pub fn new(table: usize, heights: Heights) -> Self {
        Self {
            table,
            heights,
            rows_end: 0,
            before: 0,
            ends: false,
        }
    }

    /// Height that the rows at the foot of the page need.
    pub fn foot(&self) -> f32 {
        if self.ends {
            self.heights.total
        } else {
            self.heights.foot()
        }
    }

    /// The rows at the top of a new column at (`dx`, `y`) of `page`, and their height.
    pub fn enter(&mut self, page: usize, dx: f32, y: f32) -> Option<(PlacedRows, f32)> {
        self.before = self.rows_end;
        let placed = self.placed(page, dx, y, End::Top);
        (self.rows_end > 0).then_some((placed, self.heights.top))
    }

    /// The rows below the last one in a column that the table leaves, if it has rows there.
    pub fn leave(&self, page: usize, dx: f32, y: f32) -> Option<PlacedRows> {
        (self.rows_end > self.before).then(|| self.placed(page, dx, y, End::Foot))
    }

    /// The rows below the last one of all.
    pub fn end(&self, page: usize, dx: f32, y: f32) -> PlacedRows {
        self.placed(page, dx, y, End::LastFoot)
    }

    fn placed(&self, page: usize, dx: f32, y: f32, at: End) -> PlacedRows {
        PlacedRows {
            table: self.table,
            page,
            dx,
            y,
            rows_end: self.rows_end,
            at,
        }
    }
}

/// What drawing the rows of a table needs.
pub(super) struct PageTable {
    /// The table without its rows.
    shape: Table,
    rows: PageRows,
    /// What each row adds to the totals; `None` for those that do not count.
    addends: Vec<Option<Addends>>,
    frame: GridFrame,
}

/// Position and look of a table.
pub(super) struct GridFrame {
    pub place: super::composer::Place,
    pub look: super::fragment::Look,
    pub edges: Vec<f32>,
    pub tails: Vec<f32>,
}

impl Composer<'_> {
    /// Registers a table whose rows depend on pages. Returns its index and the heights of the rows.
    pub(super) fn page_table(&mut self, grid: &Grid<'_>, rows: &PageRows) -> (usize, Heights) {
        let table = grid.table;
        let addends: Vec<_> = (0..table.rows.len())
            .map(|index| rows.addends(table, index))
            .collect();
        let mut all = Running::default();
        addends.iter().flatten().for_each(|row| all.add(row));
        let made = PageTable {
            shape: Table {
                columns: table.columns.clone(),
                ..Table::default()
            },
            rows: rows.clone(),
            addends,
            frame: grid.frame(),
        };
        let mut height = |row: &Option<Row>| match row {
            // The totals of all rows are the widest.
            Some(row) => self.page_row(&made, row, &all).1,
            None => 0.0,
        };
        let heights = Heights {
            top: height(&rows.continued) + height(&rows.brought_forward),
            total: height(&rows.page_total),
            carried: height(&rows.carried_forward),
        };
        self.page_tables.push(made);
        (self.page_tables.len() - 1, heights)
    }

    /// Draws the recorded rows. Runs when all other content is placed.
    pub(super) fn draw_page_rows(&mut self, flow: &mut Flow<'_>) {
        let tables = std::mem::take(&mut self.page_tables);
        let mut all = Running::default();
        let mut page = Running::default();
        let (mut current, mut done) = (usize::MAX, 0);
        for placed in std::mem::take(&mut flow.page_rows) {
            let table = &tables[placed.table];
            if placed.table != current {
                (current, done) = (placed.table, 0);
                (all, page) = (Running::default(), Running::default());
            }
            let end = placed.rows_end.min(table.addends.len());
            for row in table.addends[done.min(end)..end].iter().flatten() {
                all.add(row);
                page.add(row);
            }
            done = end;
            let rows = &table.rows;
            let shown = match placed.at {
                End::Top => [(&rows.continued, &all), (&rows.brought_forward, &all)],
                End::Foot => [(&rows.page_total, &page), (&rows.carried_forward, &all)],
                End::LastFoot => [(&rows.page_total, &page), (&None, &all)],
            };
            let mut y = placed.y;
            for (row, running) in shown {
                let Some(row) = row else { continue };
                let (sink, height) = self.page_row(table, row, running);
                if let Some(page) = flow.pages.get_mut(placed.page) {
                    sink.append_to(page, placed.dx, y);
                }
                y += height;
            }
            if placed.at != End::Top {
                page = Running::default();
            }
        }
    }

    /// A row with its totals, outside the logical structure, and its height.
    fn page_row(&mut self, table: &PageTable, row: &Row, running: &Running) -> (Sink, f32) {
        let row = table.rows.filled(row, &table.shape, running);
        let mut grid = Grid::framed(&table.shape, &table.frame);
        let fragment = self.single_row(&mut grid, std::slice::from_ref(&row));
        let mut sink = Sink::default();
        sink.items.push(Item::Artifact(Artifact::Repeated));
        fragment
            .body
            .draw(0.0, fragment.height, &mut sink, &mut |_, _, _| {});
        (sink, fragment.height)
    }
}
