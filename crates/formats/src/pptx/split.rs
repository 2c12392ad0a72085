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

/// A row in two parts.
struct Parts<'a> {
    head: Vec<SlideCell<'a>>,
    rest: Vec<SlideCell<'a>>,
    /// Columns covered by cells from rows above.
    spans: Vec<usize>,
    /// Height of the first part, in points.
    height: f32,
    /// Whether the second part has text of cells that start in the row.
    goes_on: bool,
    /// Whether a cell is turned.
    turned: bool,
}

impl<'a> SlideTable<'a> {
    /// Splits the row `index` into one of at most `room` points and one with the remainder. Returns
    /// the columns covered by cells from rows above, which now cover one more row.
    ///
    /// A row stays whole if nothing of it would go on: what remained would be as tall again, on
    /// each slide.
    pub fn split_row(&mut self, flow: &Flow<'a>, index: usize, room: f32) -> Vec<usize> {
        let parts = self.parts(flow, index, room);
        let before = self.rows[index].height;
        let may_break = !parts
            .rest
            .iter()
            .any(|cell| matches!(cell, SlideCell::FromAbove { .. }));
        let mut after = SlideRow {
            cells: parts.rest,
            height: 0.0,
            notes: Vec::new(),
            may_break,
            starts_slide: false,
        };
        after.height = self.row_height(flow, &after);
        if !may_break {
            // The part of the spanning cells' height that belongs to this row.
            after.height = after.height.max(before - room);
        }
        if !parts.goes_on && (parts.spans.is_empty() || after.height >= before) {
            if parts.turned {
                // Turned text breaks where its row ends.
                self.rows[index].height = before.min(parts.height);
            }
            return Vec::new();
        }
        let row = &mut self.rows[index];
        row.cells = parts.head;
        row.height = parts.height;
        self.rows.insert(index + 1, after);
        for column in &parts.spans {
            self.lengthen(index, *column);
        }
        parts.spans
    }

    fn parts(&self, flow: &Flow<'_>, index: usize, room: f32) -> Parts<'a> {
        let cells = &self.rows[index].cells;
        let mut parts = Parts {
            head: cells.clone(),
            rest: Vec::with_capacity(cells.len()),
            spans: Vec::new(),
            height: room,
            goes_on: false,
            turned: false,
        };
        for (column, cell) in parts.head.iter_mut().enumerate() {
            let width = spanned_width(cells, column, &self.widths);
            match cell {
                SlideCell::Cell {
                    content,
                    style: id,
                    span,
                    rows,
                    fill,
                } => {
                    let (kept, left) = flow.cut_content(content, *id, width, room);
                    parts.goes_on |= !left.is_empty();
                    if flow.document.styles[*id].turned {
                        parts.turned = true;
                    } else if !kept.is_empty() {
                        // A line taller than the slide runs off it.
                        parts.height = parts.height.max(flow.line_cell(*id));
                    }
                    if *rows == 1 {
                        *content = kept;
                        parts.rest.push(SlideCell::Cell {
                            content: left,
                            style: *id,
                            span: *span,
                            rows: 1,
                            fill: *fill,
                        });
                    } else {
                        *rows += 1;
                        let span = *span;
                        parts
                            .rest
                            .extend((0..span).map(|index| SlideCell::FromAbove {
                                span,
                                first: index == 0,
                            }));
                    }
                }
                // Next to a cell with a row span, these were added together with it.
                SlideCell::FromLeft { rows } if *rows > 1 => *rows += 1,
                SlideCell::FromLeft { rows } => {
                    parts.rest.push(SlideCell::FromLeft { rows: *rows });
                }
                SlideCell::FromAbove { span, first } => {
                    parts.rest.push(SlideCell::FromAbove {
                        span: *span,
                        first: *first,
                    });
                    parts.spans.push(column);
                }
            }
        }
        parts
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

impl Flow<'_> {
    /// Heights that a cell needs of its first row, and of each row below that it spans.
    pub(super) fn shared_height(&self, cell: &SlideCell<'_>, width: f32) -> (f32, f32) {
        let whole = cell_height(self, cell, width);
        let SlideCell::Cell {
            content,
            style: id,
            rows,
            ..
        } = cell
        else {
            return (whole, whole);
        };
        let share = whole / *rows as f32;
        let full = self.geometry.bottom - self.geometry.top;
        if *rows == 1 || whole <= full || self.document.styles[*id].turned {
            return (share, share);
        }
        // A line cannot be distributed over rows that may be on several slides.
        let (_, rest) = self.cut_content(content, *id, width, full);
        let own = if rest.is_empty() {
            whole
        } else {
            share.max(self.line_cell(*id)).min(whole)
        };
        (own, (whole - own) / (*rows - 1) as f32)
    }

    /// Height of a cell with one line.
    fn line_cell(&self, id: StyleId) -> f32 {
        let style = &self.document.styles[id];
        self.typeset.line_height(style) + row_padding(style, self.geometry.scale)
    }

    /// Splits the content of a cell so that the first part is at most `room` points high, but has a
    /// line at least.
    pub(super) fn cut_content<'c>(
        &self,
        content: &Content<'c>,
        id: StyleId,
        width: f32,
        room: f32,
    ) -> (Content<'c>, Content<'c>) {
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
