//! Rows of a table: cells side by side with backgrounds and lines.

use std::{collections::VecDeque, ops::Range};

use platen_document::{
    Color,
    bound::{
        Cell, CellContent, LineStyle, Row, RowBreak, RowKind, StyleId, TableBorders, VerticalAlign,
    },
};

use super::{
    super::{
        Composer, Place,
        paragraph::{TextBox, lanes_piece},
        piece::{Body, Frame, Lane, Lanes, Piece, stack_height},
    },
    Grid, has_row_lines, span,
};
use crate::{
    page::{Area, Artifact, Item, TagId, TagKind},
    text::{Line, Paragraph, Sink},
};

/// Thickness of the lines between rows.
const RULE: f32 = 0.5;

/// A cell with its text broken into lines, or its blocks laid out.
struct SetCell<'c> {
    cell: &'c Cell,
    /// Row within the group, and rows covered.
    rows: Range<usize>,
    /// Left edge and width.
    x: f32,
    width: f32,
    height: f32,
    tag: Option<TagId>,
    content: SetContent,
}

enum SetContent {
    Text(Paragraph, Vec<Line>),
    Pieces(VecDeque<Piece>),
}

impl Composer<'_> {
    /// The pieces of rows that row spans join: one, or several lanes where a row may break.
    pub(super) fn rows_pieces(&mut self, grid: &mut Grid<'_>, rows: Range<usize>) -> Vec<Piece> {
        let table = grid.table;
        let joined = &table.rows[rows.clone()];
        let shaded: Vec<bool> = joined
            .iter()
            .map(|row| {
                let data = row.kind == RowKind::Data;
                let odd = grid.data_rows % 2 == 1;
                grid.data_rows += usize::from(data);
                data && odd
            })
            .collect();
        let last = rows.end > grid.last_row;
        let mut pieces = self.rows_piece(grid, joined, &shaded, false, last);
        for piece in &mut pieces {
            piece.page_break = joined[0].page_break;
        }
        pieces
    }

    /// The pieces of header rows, one for each group of rows that row spans join.
    pub(super) fn span_groups(
        &mut self,
        grid: &mut Grid<'_>,
        rows: &[Row],
        header: bool,
    ) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < rows.len() {
            let end = super::group_end(rows, start);
            let shaded = vec![false; end - start];
            pieces.extend(self.rows_piece(grid, &rows[start..end], &shaded, header, false));
            start = end;
        }
        pieces
    }

    fn rows_piece(
        &mut self,
        grid: &Grid<'_>,
        rows: &[Row],
        shaded: &[bool],
        header: bool,
        last: bool,
    ) -> Vec<Piece> {
        let parent = if header { grid.head_tag } else { grid.body_tag };
        let (cells, heights) = self.set_rows(grid, rows, parent, header);
        let total: f32 = heights.iter().sum();
        // A single row that may break, or that may be higher than a page, becomes lanes.
        let breakable = rows.len() == 1 && !header;
        let high = total > 200.0;
        if breakable && (high || (grid.table.row_break == RowBreak::Allow && total > 40.0)) {
            return vec![self.lanes_row(grid, &rows[0], cells, shaded[0], last)];
        }
        let mut sink = Sink::default();
        let mut footnotes = Vec::new();
        let tops = offsets(&heights);
        self.draw_backgrounds(grid, rows, &cells, &tops, shaded, &mut sink);
        let areas: Vec<Area> = cells.iter().map(|set| set.area(&tops)).collect();
        for set in cells {
            self.draw_cell(set, &tops, &mut sink, &mut footnotes);
        }
        draw_rules(grid, rows, &tops, &areas, (header, last), &mut sink);
        vec![Piece {
            height: total,
            footnotes,
            body: Body::Solid(sink),
            ..Piece::default()
        }]
    }

    /// Lays out the cells of joined rows and finds the rows' heights.
    fn set_rows<'c>(
        &mut self,
        grid: &Grid<'_>,
        rows: &'c [Row],
        parent: Option<TagId>,
        header: bool,
    ) -> (Vec<SetCell<'c>>, Vec<f32>) {
        let columns = grid.table.columns.len();
        let mut covered = vec![0_usize; columns];
        let mut cells = Vec::with_capacity(columns * rows.len());
        let mut heights = vec![0.0_f32; rows.len()];
        for (index, row) in rows.iter().enumerate() {
            let row_tag = self.tag(TagKind::TableRow, parent);
            let mut column = 0;
            for cell in &row.cells {
                while column < columns && covered[column] > 0 {
                    column += 1;
                }
                let rows_covered = usize::from(cell.row_span.max(1)).min(rows.len() - index);
                for covered in covered.iter_mut().skip(column).take(span(cell)) {
                    *covered = rows_covered;
                }
                let is_header = header || row.kind == RowKind::Header;
                let set = self.set_cell(
                    grid,
                    cell,
                    (column, index),
                    rows_covered,
                    row_tag,
                    is_header,
                );
                if rows_covered == 1 {
                    heights[index] = heights[index].max(set.height);
                }
                cells.push(set);
                column += span(cell);
            }
            for covered in &mut covered {
                *covered = covered.saturating_sub(1);
            }
        }
        for set in cells.iter().filter(|set| set.rows.len() > 1) {
            let sum: f32 = heights[set.rows.clone()].iter().sum();
            if let (true, Some(last)) = (set.height > sum, heights.get_mut(set.rows.end - 1)) {
                *last += set.height - sum;
            }
        }
        (cells, heights)
    }

    fn set_cell<'c>(
        &mut self,
        grid: &Grid<'_>,
        cell: &'c Cell,
        (column, row): (usize, usize),
        rows_covered: usize,
        row_tag: Option<TagId>,
        header: bool,
    ) -> SetCell<'c> {
        let (offset, width) = grid.extent(column, span(cell));
        let x = self.mirrored(grid.place, offset, width);
        let kind = if header {
            TagKind::TableHeaderCell
        } else {
            TagKind::TableCell
        };
        let tag = self.tag(kind, row_tag);
        if let (Some(tag), true) = (tag, cell.col_span > 1 || cell.row_span > 1) {
            self.tags.spans.push((tag, cell.col_span, cell.row_span));
        }
        let padding = self.style(cell.style).padding;
        let inner = (width - padding.left - padding.right).max(1.0);
        let (content, height) = match &cell.content {
            CellContent::Text(text) => {
                let paragraph = self.text.text_paragraph(text, cell.style);
                self.set_lines(paragraph, inner, cell.style)
            }
            CellContent::Inlines(inlines) => {
                self.note_fields(inlines);
                let paragraph = self.text.paragraph(inlines, cell.style);
                self.set_lines(paragraph, inner, cell.style)
            }
            CellContent::Blocks(blocks) => {
                let place = Place {
                    x: x + padding.left,
                    width: inner,
                    tag,
                };
                let pieces = self.collect(blocks, place);
                let height = stack_height(&pieces);
                (SetContent::Pieces(pieces), height)
            }
        };
        SetCell {
            cell,
            rows: row..row + rows_covered,
            x,
            width,
            height: height + padding.top + padding.bottom,
            tag,
            content,
        }
    }

    fn set_lines(
        &mut self,
        mut paragraph: Paragraph,
        width: f32,
        style: StyleId,
    ) -> (SetContent, f32) {
        let lines = self.text.break_lines(&mut paragraph, width, 0.0, style);
        let height = lines.iter().map(Line::height).sum();
        (SetContent::Text(paragraph, lines), height)
    }

    fn draw_backgrounds(
        &self,
        grid: &Grid<'_>,
        rows: &[Row],
        cells: &[SetCell<'_>],
        tops: &[f32],
        shaded: &[bool],
        sink: &mut Sink,
    ) {
        let start = sink.items.len();
        if let Some(color) = grid.table.zebra {
            for index in (0..rows.len()).filter(|index| shaded[*index]) {
                let area = Area {
                    x: grid.place.x,
                    y: tops[index],
                    width: grid.place.width,
                    height: tops[index + 1] - tops[index],
                };
                sink.items.push(Item::Rect { area, color });
            }
        }
        for set in cells {
            let Some(color) = self.style(set.cell.style).background else {
                continue;
            };
            let area = set.area(tops);
            // Neighbours of one colour are one rectangle: no hairline shows between them.
            if let Some(Item::Rect {
                area: last,
                color: same,
            }) = sink.items.last_mut()
            {
                let touches = (last.x + last.width - area.x).abs() < 0.01;
                if *same == color && touches && last.y == area.y && last.height == area.height {
                    last.width += area.width;
                    continue;
                }
            }
            sink.items.push(Item::Rect { area, color });
        }
        if sink.items.len() > start && grid.place.tag.is_some() {
            sink.items
                .insert(start, Item::Artifact(Artifact::Decoration));
        }
    }

    fn draw_cell(
        &mut self,
        set: SetCell<'_>,
        tops: &[f32],
        sink: &mut Sink,
        footnotes: &mut Vec<u32>,
    ) {
        let area = set.area(tops);
        let style = self.style(set.cell.style);
        let (padding, align, borders) = (style.padding, style.align, style.borders);
        let free = area.height - set.height;
        let top = area.y + padding.top + aligned(style.vertical_align, free);
        match set.content {
            SetContent::Text(paragraph, lines) => {
                let text = TextBox {
                    x: set.x + padding.left,
                    width: (set.width - padding.left - padding.right).max(1.0),
                    align,
                    first_indent: 0.0,
                    style: set.cell.style,
                    tag: set.tag,
                };
                self.draw_lines(&paragraph, &lines, true, text, top, sink);
                footnotes.extend(paragraph.atoms.iter().filter_map(|atom| atom.footnote));
            }
            SetContent::Pieces(pieces) => {
                let mut y = top;
                for (index, mut piece) in pieces.into_iter().enumerate() {
                    y += if index > 0 { piece.gap } else { 0.0 };
                    footnotes.append(&mut piece.footnotes);
                    piece.body.draw(y, piece.height, sink, &mut |_, _| {});
                    y += piece.height;
                }
            }
        }
        let frame = Frame {
            borders,
            ..Frame::default()
        };
        frame.draw_borders(area, sink);
    }

    /// A row whose cells may go on at the next page.
    fn lanes_row(
        &mut self,
        grid: &Grid<'_>,
        row: &Row,
        cells: Vec<SetCell<'_>>,
        shaded: bool,
        last: bool,
    ) -> Piece {
        let zebra = grid.table.zebra.filter(|_| shaded);
        let mut lanes = Vec::with_capacity(cells.len());
        for set in cells {
            let style = self.style(set.cell.style);
            let mut frame = Frame {
                background: style.background.or(zebra),
                borders: style.borders,
                padding: style.padding,
            };
            let lines = has_row_lines(grid.table.borders)
                || (last && grid.table.borders == TableBorders::Outer);
            if lines && frame.borders.bottom.is_none() {
                frame.borders.bottom = Some(rule(grid, row.kind));
            }
            let vertical_align = style.vertical_align;
            lanes.push(Lane {
                x: set.x,
                width: set.width,
                pieces: self.cell_pieces(set),
                vertical_align,
                frame,
            });
        }
        lanes_piece(Lanes {
            lanes,
            whole: grid.table.row_break == RowBreak::Keep,
        })
    }

    /// A cell's lines as pieces of their own.
    fn cell_pieces(&mut self, set: SetCell<'_>) -> VecDeque<Piece> {
        let style = self.style(set.cell.style);
        let padding = style.padding;
        let text = TextBox {
            x: set.x + padding.left,
            width: (set.width - padding.left - padding.right).max(1.0),
            align: style.align,
            first_indent: 0.0,
            style: set.cell.style,
            tag: set.tag,
        };
        match set.content {
            SetContent::Pieces(pieces) => pieces,
            SetContent::Text(paragraph, lines) => lines
                .chunks(1)
                .map(|line| {
                    let mut sink = Sink::default();
                    let height = self.draw_lines(&paragraph, line, false, text, 0.0, &mut sink);
                    let footnotes = paragraph.atoms[line[0].atoms.clone()]
                        .iter()
                        .filter_map(|atom| atom.footnote)
                        .collect();
                    Piece {
                        height,
                        footnotes,
                        body: Body::Solid(sink),
                        ..Piece::default()
                    }
                })
                .collect(),
        }
    }
}

impl SetCell<'_> {
    fn area(&self, tops: &[f32]) -> Area {
        let y = tops[self.rows.start];
        Area {
            x: self.x,
            y,
            width: self.width,
            height: tops[self.rows.end] - y,
        }
    }
}

/// Offset of content with `free` room around it.
fn aligned(align: VerticalAlign, free: f32) -> f32 {
    match align {
        VerticalAlign::Top => 0.0,
        VerticalAlign::Middle => free / 2.0,
        VerticalAlign::Bottom => free,
    }
}

/// Top of each row, and the bottom of the last.
fn offsets(heights: &[f32]) -> Vec<f32> {
    let mut tops = Vec::with_capacity(heights.len() + 1);
    let mut top = 0.0;
    tops.push(top);
    for height in heights {
        top += height;
        tops.push(top);
    }
    tops
}

fn rule(grid: &Grid<'_>, kind: RowKind) -> platen_document::bound::Border {
    platen_document::bound::Border {
        width: if kind == RowKind::Header {
            RULE * 2.0
        } else {
            RULE
        },
        color: grid.table.border_color,
        style: LineStyle::Solid,
    }
}

/// Lines of the table around and between rows.
fn draw_rules(
    grid: &Grid<'_>,
    rows: &[Row],
    tops: &[f32],
    areas: &[Area],
    (header, last): (bool, bool),
    sink: &mut Sink,
) {
    let borders = grid.table.borders;
    if borders == TableBorders::None {
        return;
    }
    let color: Color = grid.table.border_color;
    let (left, right) = (grid.place.x, grid.place.x + grid.place.width);
    let bottom = tops[tops.len() - 1];
    if grid.place.tag.is_some() {
        sink.items.push(Item::Artifact(Artifact::Decoration));
    }
    let mut line = |from: (f32, f32), to: (f32, f32), width: f32| {
        sink.items.push(Item::Line {
            from,
            to,
            width,
            color,
            style: LineStyle::Solid,
        });
    };
    if borders == TableBorders::Horizontal || (borders == TableBorders::Outer && last) {
        line(
            (left, bottom),
            (right, bottom),
            if header { RULE * 2.0 } else { RULE },
        );
    }
    if borders == TableBorders::Horizontal {
        // Inside joined rows only where no cell covers both sides.
        for (index, top) in tops.iter().enumerate().take(tops.len() - 1).skip(1) {
            if rows[index - 1].cells.iter().all(|cell| cell.row_span <= 1) {
                line((left, *top), (right, *top), RULE);
            }
        }
    }
    if borders == TableBorders::All {
        for area in areas {
            let (end, foot) = (area.x + area.width, area.y + area.height);
            line((area.x, area.y), (area.x, foot), RULE);
            line((end, area.y), (end, foot), RULE);
            line((area.x, foot), (end, foot), RULE);
        }
    }
    if borders == TableBorders::Outer {
        line((left, 0.0), (left, bottom), RULE);
        line((right, 0.0), (right, bottom), RULE);
    }
    if header && matches!(borders, TableBorders::All | TableBorders::Outer) {
        line((left, 0.0), (right, 0.0), RULE);
    }
}
