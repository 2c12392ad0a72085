//! Splits rows and cells that are taller than a slide; the remainder continues on the next.

use std::borrow::Cow;

use platen_document::bound::{StyleId, plain_text};

use super::{
    flow::Flow,
    table::{Content, SlideCell, SlideRow, SlideTable, cell_height, row_padding},
    text,
};
use crate::metrics::{line_count, lines_end};

impl<'a> Content<'a> {
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Inlines(content) => content.is_empty(),
        }
    }

    pub fn line_count(&self, size: f32, bold: bool, width: f32) -> usize {
        match self {
            Self::Text(text) => line_count(text, size, bold, width),
            Self::Inlines(content) => line_count(&plain_text(content), size, bold, width),
        }
    }

    /// Splits after `lines` lines.
    fn cut(&self, size: f32, bold: bool, width: f32, lines: usize) -> (Self, Self) {
        match self {
            Self::Text(text) => {
                let (head, tail) = text.split_at(lines_end(text, size, bold, width, lines));
                let head = head.strip_suffix('\n').unwrap_or(head);
                let owned = |part: &str| Self::Text(Cow::Owned(part.to_owned()));
                (owned(head), owned(tail))
            }
            Self::Inlines(content) => {
                let end = lines_end(&plain_text(content), size, bold, width, lines);
                let (head, tail) = text::cut(content, end);
                (Self::Inlines(head.into()), Self::Inlines(tail.into()))
            }
        }
    }
}

impl<'a> SlideTable<'a> {
    /// Splits the row `index` into one of at most `room` points and one with the remainder. Returns
    /// the columns covered by cells from rows above, which now cover one more row.
    pub fn split_row(&mut self, flow: &Flow<'a>, index: usize, room: f32) -> Vec<usize> {
        let row = &mut self.rows[index];
        let mut rest = Vec::with_capacity(row.cells.len());
        let mut spans = Vec::new();
        for column in 0..row.cells.len() {
            let width = spanned_width(&row.cells, column, &self.widths);
            match &mut row.cells[column] {
                SlideCell::Cell {
                    content,
                    style: id,
                    span,
                    rows: 1,
                    fill,
                } => {
                    let (head, tail) = flow.cut_content(content, *id, width, room);
                    *content = head;
                    rest.push(SlideCell::Cell {
                        content: tail,
                        style: *id,
                        span: *span,
                        rows: 1,
                        fill: *fill,
                    });
                }
                SlideCell::Cell { span, rows, .. } => {
                    *rows += 1;
                    let span = *span;
                    rest.extend((0..span).map(|index| SlideCell::FromAbove {
                        span,
                        first: index == 0,
                    }));
                }
                // Next to a cell with a row span, these were added together with it.
                SlideCell::FromLeft { rows } if *rows > 1 => *rows += 1,
                SlideCell::FromLeft { rows } => rest.push(SlideCell::FromLeft { rows: *rows }),
                SlideCell::FromAbove { span, first } => {
                    rest.push(SlideCell::FromAbove {
                        span: *span,
                        first: *first,
                    });
                    spans.push(column);
                }
            }
        }
        let may_break = !rest
            .iter()
            .any(|cell| matches!(cell, SlideCell::FromAbove { .. }));
        let mut after = SlideRow {
            cells: rest,
            height: 0.0,
            notes: Vec::new(),
            may_break,
            starts_slide: false,
        };
        after.height = self.row_height(flow, &after);
        if !after.may_break {
            // The part of the spanning cells' height that belongs to this row.
            after.height = after.height.max(self.rows[index].height - room);
        }
        self.rows[index].height = room;
        self.rows.insert(index + 1, after);
        for column in &spans {
            self.lengthen(index, *column);
        }
        spans
    }

    /// Extends the cell above that covers `column` of the row `index` by one row.
    fn lengthen(&mut self, index: usize, column: usize) {
        for row in self.rows[..index].iter_mut().rev() {
            match &mut row.cells[column] {
                SlideCell::Cell { rows, .. } | SlideCell::FromLeft { rows } => {
                    *rows += 1;
                    return;
                }
                SlideCell::FromAbove { .. } => {}
            }
        }
    }

    fn row_height(&self, flow: &Flow<'_>, row: &SlideRow<'_>) -> f32 {
        let heights = row.cells.iter().enumerate().map(|(column, cell)| {
            let width = spanned_width(&row.cells, column, &self.widths);
            cell_height(flow, cell, width)
        });
        heights.fold(0.0, f32::max)
    }
}

/// Width of the cell that starts at `column`, in points.
pub(super) fn spanned_width(cells: &[SlideCell<'_>], column: usize, widths: &[f32]) -> f32 {
    let span = match &cells[column] {
        SlideCell::Cell { span, .. } | SlideCell::FromAbove { span, .. } => *span,
        SlideCell::FromLeft { .. } => 1,
    };
    widths[column..(column + span).min(widths.len())]
        .iter()
        .sum()
}

impl<'a> Flow<'a> {
    /// Splits the content of a cell so that the first part is at most `room` points high.
    pub(super) fn cut_content(
        &self,
        content: &Content<'a>,
        id: StyleId,
        width: f32,
        room: f32,
    ) -> (Content<'a>, Content<'a>) {
        let style = &self.document.styles[id];
        let scale = self.geometry.scale;
        let inner = width - (style.padding.left + style.padding.right) * scale;
        let (size, bold) = (style.font_size * scale, style.bold);
        let free = room - row_padding(style, scale);
        let lines = (free / self.typeset.line_height(style) + 0.01) as usize;
        if content.line_count(size, bold, inner) <= lines || content.is_empty() {
            return (content.clone(), Content::Text("".into()));
        }
        content.cut(size, bold, inner, lines.max(1))
    }
}
