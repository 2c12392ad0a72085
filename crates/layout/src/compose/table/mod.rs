//! Tables: rows go to the output one at a time, so that a hundred thousand of them stay cheap.

mod row;
mod widths;

use std::collections::VecDeque;

use platen_document::bound::{Block, Cell, Inline, Row, RowKind, Table, TableBorders};

use super::{Composer, Output, Place, group::first_style, piece::Piece};
use crate::{
    page::{Artifact, Item, TagId, TagKind},
    text::Sink,
};

/// A table being laid out.
pub(super) struct Grid<'t> {
    table: &'t Table,
    place: Place,
    /// Left offset of each column from the start side, and the end of the last.
    edges: Vec<f32>,
    head_tag: Option<TagId>,
    body_tag: Option<TagId>,
    data_rows: usize,
    last_row: usize,
}

impl Grid<'_> {
    /// Offset from the start side and width of `span` columns from `column`.
    fn extent(&self, column: usize, span: usize) -> (f32, f32) {
        let last = self.edges.len() - 1;
        let start = self.edges[column.min(last)];
        let end = self.edges[(column + span).min(last)];
        (start, (end - start).max(1.0))
    }
}

impl Composer<'_> {
    pub(super) fn table(
        &mut self,
        block: &Block,
        table: &Table,
        place: Place,
        out: &mut dyn Output,
    ) {
        let tag = self.tag(TagKind::Table, place.tag);
        let width = table
            .width
            .map_or(place.width, |width| width.min(place.width));
        let place = Place {
            x: self.mirrored(place, 0.0, width),
            width,
            tag,
        };
        if let Some(caption) = &table.caption {
            self.table_caption(caption, place, out);
        }
        let edges = self.column_edges(table, width);
        let head_tag = if table.header.is_empty() {
            None
        } else {
            self.tag(TagKind::TableHead, tag)
        };
        let mut grid = Grid {
            table,
            place,
            edges,
            head_tag,
            body_tag: self.tag(TagKind::TableBody, tag),
            data_rows: 0,
            last_row: table.rows.len().saturating_sub(1),
        };
        self.table_rows(block, &mut grid, out);
    }

    fn table_caption(&mut self, caption: &[Inline], place: Place, out: &mut dyn Output) {
        let style = first_style(caption).unwrap_or(self.document.named.caption);
        let tag = self.tag(TagKind::Caption, place.tag);
        let mut pieces = self.paragraph_pieces(caption, style, Place { tag, ..place });
        for piece in &mut pieces {
            piece.keep = true;
        }
        if let Some(first) = pieces.front_mut() {
            first.gap = self.space_after;
        }
        if let Some(last) = pieces.back_mut() {
            last.height += 4.0;
        }
        self.space_after = 0.0;
        for piece in pieces {
            out.push(self, piece);
        }
    }

    fn table_rows(&mut self, block: &Block, grid: &mut Grid<'_>, out: &mut dyn Output) {
        let style = self.style(block.style);
        let (before, after) = (style.space_before, style.space_after);
        let mut gap = self.space_after.max(before);
        if let Some(id) = &block.id {
            let piece = Piece {
                keep: true,
                marks: vec![super::Mark::Anchor(id.to_string())],
                ..Piece::default()
            };
            out.push(self, piece);
        }
        let table = grid.table;
        let repeats = table.repeat_header && !table.header.is_empty();
        let mut repeat: VecDeque<(Sink, f32)> = VecDeque::new();
        for mut piece in self.span_groups(grid, &table.header, true) {
            piece.keep = true;
            piece.gap = std::mem::take(&mut gap);
            if repeats {
                repeat.extend(repeated(&piece));
            }
            out.push(self, piece);
        }
        let mut waiting = repeats.then_some(repeat);
        let mut start = 0;
        while start < table.rows.len() {
            let end = group_end(&table.rows, start);
            let pieces = self.rows_pieces(grid, start..end);
            for mut piece in pieces {
                piece.gap = std::mem::take(&mut gap);
                let last = end == table.rows.len();
                piece.keep = !last && stays_with_next(&table.rows, end - 1);
                let settled = !piece.keep;
                out.push(self, piece);
                if let (true, Some(rows)) = (settled, waiting.take_if(|_| settled)) {
                    out.set_repeat(self, rows.into());
                }
            }
            start = end;
        }
        if repeats {
            out.set_repeat(self, Vec::new());
        }
        self.space_after = after;
    }
}

/// Index after the rows that row spans join with the row at `start`.
fn group_end(rows: &[Row], start: usize) -> usize {
    let mut end = start + 1;
    let mut index = start;
    while index < end && index < rows.len() {
        for cell in &rows[index].cells {
            end = end.max(index + usize::from(cell.row_span.max(1)));
        }
        index += 1;
    }
    end.min(rows.len())
}

/// True for group headers, and for rows before a subtotal or total.
fn stays_with_next(rows: &[Row], index: usize) -> bool {
    if matches!(rows[index].kind, RowKind::GroupHeader(_)) {
        return true;
    }
    matches!(
        rows.get(index + 1).map(|row| row.kind),
        Some(RowKind::Subtotal(_) | RowKind::Total)
    ) && rows[index].kind == RowKind::Data
}

/// A header row for further pages: the same, outside the logical structure.
fn repeated(piece: &Piece) -> Option<(Sink, f32)> {
    let super::piece::Body::Solid(sink) = &piece.body else {
        return None;
    };
    let mut sink = sink.clone();
    sink.items
        .retain(|item| !matches!(item, Item::Link { .. } | Item::SignatureField { .. }));
    for item in &mut sink.items {
        if matches!(item, Item::Tag(_)) {
            *item = Item::Artifact(Artifact::Repeated);
        }
    }
    Some((sink, piece.height))
}

/// True where the table draws lines between rows.
fn has_row_lines(borders: TableBorders) -> bool {
    matches!(borders, TableBorders::Horizontal | TableBorders::All)
}

/// Columns that a cell covers.
fn span(cell: &Cell) -> usize {
    usize::from(cell.col_span.max(1))
}
