//! Native tables, measured and cut into as many slides as they need, each with the header.

use platen_document::{
    Color,
    bound::{
        Cell, CellContent, Inline, KeyValue, Row, RowKind, StyleId, Table, TableBorders, plain_text,
    },
    work,
};

use super::{
    cell::Cache,
    flow::{Flow, Strip, first_style},
    text::Mark,
};
use crate::{
    grid::{Grid, Slot},
    metrics::{column_widths, line_count, text_width},
    plain::{blocks_text, cell_text},
};

/// A cell of a slide's table.
#[derive(Clone)]
pub(super) enum SlideCell<'a> {
    Cell {
        content: Content<'a>,
        style: StyleId,
        span: usize,
        rows: usize,
        fill: Option<Color>,
    },
    /// Covered from the left, by a cell over so many rows.
    FromLeft { rows: usize },
    /// Covered from above: the first column of a cell over so many columns, or one after it.
    FromAbove { span: usize, first: bool },
}

#[derive(Clone)]
pub(super) enum Content<'a> {
    Text(std::borrow::Cow<'a, str>),
    Inlines(&'a [Inline]),
}

pub(super) struct SlideRow<'a> {
    pub cells: Vec<SlideCell<'a>>,
    pub height: f32,
    /// A slide may begin with this row.
    may_break: bool,
    starts_slide: bool,
}

/// A table, measured.
pub(super) struct SlideTable<'a> {
    pub widths: Vec<f32>,
    pub header: Vec<SlideRow<'a>>,
    pub rows: Vec<SlideRow<'a>>,
    pub borders: TableBorders,
    pub border_color: Color,
    repeat_header: bool,
    /// Space after the table.
    pub after: f32,
}

impl<'a> SlideTable<'a> {
    pub fn new(flow: &Flow<'_>, table: &'a Table, strip: Strip) -> Self {
        let scale = flow.geometry.scale;
        // Solved at the size of paper and enlarged with the text.
        let widths: Vec<f32> = column_widths(table, flow.document, strip.width / scale)
            .iter()
            .map(|width| width * scale)
            .collect();
        let mut grid = Grid::new(table.columns.len());
        let header = table
            .header
            .iter()
            .enumerate()
            .map(|(index, row)| {
                let slots = grid.place(row, table.header.len() - index);
                slide_row(flow, row, slots, &widths, None)
            })
            .collect();
        let mut grid = Grid::new(table.columns.len());
        let mut data_rows = 0usize;
        let rows = table
            .rows
            .iter()
            .enumerate()
            .map(|(index, row)| {
                data_rows = if row.kind == RowKind::Data {
                    data_rows + 1
                } else {
                    0
                };
                let striped = data_rows > 0 && data_rows.is_multiple_of(2);
                let slots = grid.place(row, table.rows.len() - index);
                let mut placed =
                    slide_row(flow, row, slots, &widths, table.zebra.filter(|_| striped));
                // A subtotal stays with the row before, a row with the group header before it.
                let before = index.checked_sub(1).map(|before| table.rows[before].kind);
                placed.may_break &= !matches!(row.kind, RowKind::Subtotal(_) | RowKind::Total)
                    && !matches!(before, Some(RowKind::GroupHeader(_)));
                placed
            })
            .collect();
        Self {
            widths,
            header,
            rows,
            borders: table.borders,
            border_color: table.border_color,
            repeat_header: table.repeat_header,
            after: 10.0,
        }
    }

    /// Labels and values as a table without lines.
    pub fn pairs(flow: &Flow<'_>, pairs: &'a KeyValue, id: StyleId, strip: Strip) -> Self {
        let scale = flow.geometry.scale;
        let across = usize::from(pairs.columns.max(1));
        let pair = strip.width / across as f32;
        let widest = pairs
            .items
            .iter()
            .map(|(key, _)| {
                let style = &flow.document.styles[first_style(key).unwrap_or(id)];
                text_width(&plain_text(key), style.font_size * scale, true)
            })
            .fold(0.0, f32::max);
        let key = pairs
            .key_width
            .map_or(widest + 14.0, |width| width * scale)
            .min(pair * 0.6);
        let widths: Vec<f32> = (0..across).flat_map(|_| [key, pair - key]).collect();
        let cell = |content: &'a [Inline]| SlideCell::Cell {
            content: Content::Inlines(content),
            style: id,
            span: 1,
            rows: 1,
            fill: None,
        };
        let rows = pairs
            .items
            .chunks(across)
            .map(|chunk| {
                let mut cells: Vec<_> = chunk
                    .iter()
                    .flat_map(|(key, value)| [cell(key), cell(value)])
                    .collect();
                cells.resize_with(across * 2, || cell(&[]));
                let height = cells
                    .iter()
                    .zip(&widths)
                    .map(|(cell, width)| cell_height(flow, cell, *width))
                    .fold(0.0, f32::max);
                SlideRow {
                    cells,
                    height,
                    may_break: true,
                    starts_slide: false,
                }
            })
            .collect();
        Self {
            widths,
            header: Vec::new(),
            rows,
            borders: TableBorders::None,
            border_color: Color::BLACK,
            repeat_header: false,
            after: 8.0,
        }
    }

    /// Height of the row `first` and of those that stay with it: a group's header with its row.
    fn first_rows(&self, first: usize) -> f32 {
        let mut rows = self.rows.iter().skip(first);
        let height = rows.next().map_or(0.0, |row| row.height);
        height
            + rows
                .take_while(|row| !row.may_break)
                .map(|row| row.height)
                .sum::<f32>()
    }

    pub fn height(&self) -> f32 {
        self.header
            .iter()
            .chain(&self.rows)
            .map(|row| row.height)
            .sum()
    }
}

fn slide_row<'a>(
    flow: &Flow<'_>,
    row: &'a Row,
    slots: &[Slot<'a>],
    widths: &[f32],
    zebra: Option<Color>,
) -> SlideRow<'a> {
    let mut cells = Vec::with_capacity(widths.len());
    let mut height = 0.0f32;
    let mut may_break = true;
    for slot in slots {
        match *slot {
            Slot::Cell { column, span, cell } => {
                let placed = SlideCell::Cell {
                    content: content(cell, flow),
                    style: cell.style,
                    span,
                    rows: usize::from(cell.row_span.max(1)),
                    fill: flow.document.styles[cell.style].background.or(zebra),
                };
                let width: f32 = widths[column..column + span].iter().sum();
                // The height of a cell over several rows is shared by them.
                height =
                    height.max(cell_height(flow, &placed, width) / f32::from(cell.row_span.max(1)));
                cells.push(placed);
                let rows = usize::from(cell.row_span.max(1));
                cells.extend((1..span).map(|_| SlideCell::FromLeft { rows }));
            }
            Slot::Continued { span, .. } => {
                may_break = false;
                cells.extend((0..span).map(|index| SlideCell::FromAbove {
                    span,
                    first: index == 0,
                }));
            }
            Slot::Missing { .. } => cells.push(SlideCell::Cell {
                content: Content::Text("".into()),
                style: flow.document.named.body,
                span: 1,
                rows: 1,
                fill: None,
            }),
        }
    }
    SlideRow {
        cells,
        height,
        may_break,
        starts_slide: row.page_break,
    }
}

fn content<'a>(cell: &'a Cell, flow: &Flow<'_>) -> Content<'a> {
    match &cell.content {
        CellContent::Inlines(content) => Content::Inlines(content),
        CellContent::Blocks(blocks) => Content::Text(blocks_text(blocks, flow.document).into()),
        CellContent::Text(_) => Content::Text(cell_text(cell, flow.document)),
    }
}

fn cell_height(flow: &Flow<'_>, cell: &SlideCell<'_>, width: f32) -> f32 {
    work::check();
    let SlideCell::Cell { content, style, .. } = cell else {
        return 0.0;
    };
    let style = &flow.document.styles[*style];
    let scale = flow.geometry.scale;
    let inner = width - (style.padding.left + style.padding.right) * scale;
    let lines = match content {
        Content::Text(text) => line_count(text, style.font_size * scale, style.bold, inner),
        Content::Inlines(content) => line_count(
            &plain_text(content),
            style.font_size * scale,
            style.bold,
            inner,
        ),
    };
    lines as f32 * flow.typeset.line_height(style)
        + (style.padding.top + style.padding.bottom).max(2.0) * scale
}

impl<'a> Flow<'a> {
    pub(super) fn table(
        &mut self,
        table: &'a Table,
        _style: StyleId,
        strip: Strip,
    ) -> Result<(), crate::Error> {
        self.close_text_in(strip);
        if let Some(caption) = &table.caption {
            let first: f32 = 60.0;
            if strip.breaks && self.room() < first {
                self.next_slide();
            }
            self.paragraph(caption, self.document.named.caption, Mark::None, strip);
            self.close_text_in(strip);
        }
        for cell in table
            .header
            .iter()
            .chain(&table.rows)
            .flat_map(|row| &row.cells)
        {
            self.note_losses(cell);
        }
        let measured = SlideTable::new(self, table, strip);
        self.place_table(measured, strip);
        Ok(())
    }

    /// Marks footnotes and reports what cells of slides cannot hold.
    fn note_losses(&mut self, cell: &'a Cell) {
        match &cell.content {
            CellContent::Text(_) => {}
            CellContent::Inlines(content) => self.mark_notes(content),
            CellContent::Blocks(blocks) => {
                let path = blocks.first().map_or("", |block| &block.path);
                self.report.warn(
                    "cell-flattened",
                    path,
                    "a slide's table cell holds text only",
                );
            }
        }
    }

    /// Writes a table, on as many slides as it needs.
    pub(super) fn place_table(&mut self, table: SlideTable<'a>, strip: Strip) {
        let header: f32 = table.header.iter().map(|row| row.height).sum();
        let mut cache = Cache::default();
        let mut first = 0;
        while first < table.rows.len() || (first == 0 && !table.header.is_empty()) {
            let with_header = first == 0 || table.repeat_header;
            let used = if with_header { header } else { 0.0 };
            let needed = used + table.first_rows(first);
            if strip.breaks && needed > self.room() && self.y > self.geometry.top {
                self.next_slide();
            }
            let last = self.last_row(&table, first, used, strip);
            self.write_rows(&table, with_header, first..last, strip, &mut cache);
            if last >= table.rows.len() {
                break;
            }
            first = last;
            self.next_slide();
        }
    }

    /// The row after the last one that fits.
    fn last_row(&self, table: &SlideTable<'_>, first: usize, used: f32, strip: Strip) -> usize {
        if !strip.breaks {
            return table.rows.len();
        }
        let mut height = used;
        let mut last = first;
        let mut good = first;
        while let Some(row) = table.rows.get(last) {
            height += row.height;
            let starts = row.starts_slide && last > first;
            if row.may_break && last > first {
                good = last;
            }
            if starts || (height > self.room() && last > first) {
                // Without a good place to break, any row is better than the slide's edge.
                return if good > first { good } else { last };
            }
            last += 1;
        }
        last
    }
}
