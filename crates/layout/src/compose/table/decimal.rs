//! Columns whose numbers align at their decimal separators.

use platen_document::{
    bound::{Align, Cell, CellContent, Inline, StyleId, Table},
    work,
};

use super::{super::composer::Composer, span};
use crate::text::decimal_place;

impl Composer<'_> {
    /// For each column, the widest text behind a decimal separator in cells with the alignment
    /// `decimal`, in points. Empty if there are no such cells.
    pub(super) fn decimal_tails(&mut self, table: &Table) -> Vec<f32> {
        let aligned = |cell: &Cell| self.style(cell.style).align == Align::Decimal;
        let rows = || table.rows.iter();
        // A column has one alignment in nearly all its rows.
        if !rows().take(8).flat_map(|row| &row.cells).any(aligned) {
            return Vec::new();
        }
        let mut tails = vec![0.0_f32; table.columns.len()];
        for row in rows() {
            work::check();
            let mut column = 0;
            for cell in &row.cells {
                let tail = match span(cell) {
                    1 => self.decimal_tail(cell),
                    _ => None,
                };
                if let (Some(tail), Some(widest)) = (tail, tails.get_mut(column)) {
                    *widest = widest.max(tail);
                }
                column += span(cell);
            }
        }
        tails
    }

    /// Distance of a cell's text from the right edge at which its decimal separator stands below
    /// those of its column, whose widest text behind one is `widest`. `room` is the cell's width.
    pub(super) fn decimal_shift(&mut self, cell: &Cell, widest: f32, room: f32) -> f32 {
        let Some(tail) = self.decimal_tail(cell) else {
            return 0.0;
        };
        let width = text_of(cell).map_or(0.0, |(text, style)| self.text.measure(text, style));
        (widest - tail).min(room - width).max(0.0)
    }

    /// Width of a cell's text from its decimal separator on. `None` if it has no number or another
    /// alignment.
    fn decimal_tail(&mut self, cell: &Cell) -> Option<f32> {
        if self.style(cell.style).align != Align::Decimal {
            return None;
        }
        let (text, style) = text_of(cell)?;
        let place = decimal_place(text, &self.document.decimal_separator)?;
        Some(self.text.measure(&text[place..], style))
    }
}

/// The text of a cell that has one only, with its style.
fn text_of(cell: &Cell) -> Option<(&str, StyleId)> {
    match &cell.content {
        CellContent::Text(text) => Some((text, cell.style)),
        CellContent::Inlines(content) => match content.as_ref() {
            [Inline::Text { text, style, .. }] => Some((text, *style)),
            _ => None,
        },
        CellContent::Blocks(_) => None,
    }
}
