//! Table cells at their columns: a row span occupies positions in the rows below.

use platen_document::bound::{Cell, Row};

/// One position of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot<'a> {
    /// A cell starts here.
    Cell {
        /// First column.
        column: usize,
        /// Columns covered, limited to the table's width.
        span: usize,
        /// The cell.
        cell: &'a Cell,
    },
    /// A cell from a row above continues here.
    Continued {
        /// First column.
        column: usize,
        /// Columns covered.
        span: usize,
        /// The cell.
        cell: &'a Cell,
    },
    /// The row has too few cells to fill this column.
    Missing {
        /// The column.
        column: usize,
    },
}

/// Resolves the row and column spans of a table, row by row.
pub(crate) struct Grid<'a> {
    columns: usize,
    /// Cells that continue below: first column, columns, rows left.
    open: Vec<(usize, usize, u16, &'a Cell)>,
    slots: Vec<Slot<'a>>,
}

impl<'a> Grid<'a> {
    pub fn new(columns: usize) -> Self {
        Self {
            columns: columns.max(1),
            open: Vec::new(),
            slots: Vec::with_capacity(columns),
        }
    }

    /// The positions of the next row. `rows_left` counts this row and those below it; row spans end
    /// there.
    pub fn place(&mut self, row: &'a Row, rows_left: usize) -> &[Slot<'a>] {
        self.slots.clear();
        let above = std::mem::take(&mut self.open);
        let mut continued = above.iter().copied().peekable();
        let mut cells = row.cells.iter();
        let mut column = 0;
        while column < self.columns {
            if let Some((start, span, left, cell)) = continued.next_if(|open| open.0 <= column) {
                debug_assert_eq!(start, column);
                self.slots.push(Slot::Continued { column, span, cell });
                if left > 1 {
                    self.open.push((start, span, left - 1, cell));
                }
                column += span;
                continue;
            }
            let free_until = continued.peek().map_or(self.columns, |open| open.0);
            let Some(cell) = cells.next() else {
                self.slots.push(Slot::Missing { column });
                column += 1;
                continue;
            };
            let span = usize::from(cell.col_span).clamp(1, free_until - column);
            self.slots.push(Slot::Cell { column, span, cell });
            let rows = usize::from(cell.row_span).min(rows_left);
            if rows > 1 {
                let left = u16::try_from(rows - 1).unwrap_or(u16::MAX);
                self.open.push((column, span, left, cell));
            }
            column += span;
        }
        &self.slots
    }
}

#[cfg(test)]
mod tests {
    use platen_document::bound::{RowKind, StyleId};

    use super::*;

    fn row(cells: &[(&str, u16, u16)]) -> Row {
        Row {
            kind: RowKind::Data,
            cells: cells
                .iter()
                .map(|(text, columns, rows)| Cell {
                    col_span: *columns,
                    row_span: *rows,
                    ..Cell::text(*text, StyleId(0))
                })
                .collect(),
            page_break: false,
        }
    }

    #[test]
    fn spans_occupy_later_rows() {
        let rows = [
            row(&[("a", 1, 3), ("b", 2, 1)]),
            row(&[("c", 9, 0)]),
            row(&[]),
            row(&[("d", 1, 1)]),
        ];
        let mut grid = Grid::new(3);
        let seen: Vec<String> = rows
            .iter()
            .enumerate()
            .map(|(index, row)| {
                grid.place(row, rows.len() - index)
                    .iter()
                    .map(|slot| match slot {
                        Slot::Cell { column, span, .. } => format!("cell {column}+{span} "),
                        Slot::Continued { column, span, .. } => format!("on {column}+{span} "),
                        Slot::Missing { column } => format!("none {column} "),
                    })
                    .collect()
            })
            .collect();
        assert_eq!(
            seen,
            [
                "cell 0+1 cell 1+2 ",
                "on 0+1 cell 1+2 ",
                "on 0+1 none 1 none 2 ",
                "cell 0+1 none 1 none 2 "
            ]
        );
    }
}
