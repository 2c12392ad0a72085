//! Native tables, measured and split over as many slides as they need, each with the header.

use std::borrow::Cow;

use platen_document::{
    Color,
    bound::{
        Cell, CellContent, Inline, KeyValue, Row, RowKind, Style, StyleId, Table, TableBorders,
        plain_text,
    },
    work,
};

use super::{
    cell::{Cache, Carried},
    flow::{Flow, Strip, first_style},
    notes::{footnote, notes_in},
    text::Mark,
};
use crate::{
    grid::{Grid, Slot},
    metrics::{column_widths, text_width},
    plain::{blocks_text_by, cell_text, marked_text},
};

/// A header that takes more than this fraction of a slide is not repeated.
const HEADER_PART: f32 = 0.4;
/// Minimum height of a row that is split over slides, in points.
const MIN_ROW: f32 = 30.0;

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
    /// Covered by the cell to the left, which spans `rows` rows.
    FromLeft { rows: usize },
    /// Covered by a cell above: its first column, with the number of columns it spans, or a later
    /// one.
    FromAbove { span: usize, first: bool },
}

#[derive(Clone)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Inlines(Cow<'a, [Inline]>),
}

pub(super) struct SlideRow<'a> {
    pub cells: Vec<SlideCell<'a>>,
    pub height: f32,
    /// Numbers of the footnotes that its cells reference.
    pub notes: Vec<u32>,
    /// Whether a slide may start with this row.
    pub may_break: bool,
    pub starts_slide: bool,
}

/// A measured table.
pub(super) struct SlideTable<'a> {
    pub widths: Vec<f32>,
    pub header: Vec<SlideRow<'a>>,
    pub rows: Vec<SlideRow<'a>>,
    pub borders: TableBorders,
    pub border_color: Color,
    repeat_header: bool,
    /// Space below the table, in points.
    pub after: f32,
}

impl<'a> SlideTable<'a> {
    /// Height of the header and of the rows that must stay with the first one.
    pub fn lead_height(flow: &Flow<'_>, table: &'a Table, strip: Strip) -> f32 {
        // Only the first rows are measured, since a table may have very many.
        const ROWS: usize = 8;
        let measured = Self::measure(flow, table, strip, ROWS);
        let header: f32 = measured.header.iter().map(|row| row.height).sum();
        header + measured.first_rows(0)
    }

    pub fn new(flow: &Flow<'_>, table: &'a Table, strip: Strip) -> Self {
        Self::measure(flow, table, strip, usize::MAX)
    }

    fn measure(flow: &Flow<'_>, table: &'a Table, strip: Strip, most: usize) -> Self {
        let scale = flow.geometry.scale;
        // Solved at paper size and enlarged together with the text.
        let widths: Vec<f32> = column_widths(table, flow.document, strip.width / scale)
            .iter()
            .map(|width| width * scale)
            .collect();
        let mut grid = Grid::new(table.columns.len());
        let mut shares = vec![0.0; widths.len()];
        let header = table
            .header
            .iter()
            .enumerate()
            .map(|(index, row)| {
                let slots = grid.place(row, table.header.len() - index);
                slide_row(flow, row, slots, &widths, &mut shares, None)
            })
            .collect();
        let mut grid = Grid::new(table.columns.len());
        let mut data_rows = 0usize;
        let rows = table
            .rows
            .iter()
            .take(most)
            .enumerate()
            .map(|(index, row)| {
                data_rows = if row.kind == RowKind::Data {
                    data_rows + 1
                } else {
                    0
                };
                let striped = data_rows > 0 && data_rows.is_multiple_of(2);
                let slots = grid.place(row, table.rows.len() - index);
                let zebra = table.zebra.filter(|_| striped);
                let mut placed = slide_row(flow, row, slots, &widths, &mut shares, zebra);
                // A subtotal stays with the row above it, and a group header with the row below it.
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

    /// Builds a borderless table of labels and values.
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
            content: Content::Inlines(content.into()),
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
                let marked = chunk
                    .iter()
                    .flat_map(|(key, value)| key.iter().chain(value));
                SlideRow {
                    cells,
                    height,
                    notes: marked.filter_map(footnote).collect(),
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

    /// Footnotes of the row `index`; the first row includes those of the header.
    fn row_notes(&self, index: usize) -> Vec<u32> {
        let header = self.header.iter().filter(|_| index == 0);
        let row = self.rows.get(index);
        let rows = header.chain(row);
        rows.flat_map(|row| row.notes.iter().copied()).collect()
    }

    /// Height of the row `first` and of the rows that stay with it.
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
    shares: &mut [f32],
    zebra: Option<Color>,
) -> SlideRow<'a> {
    let mut cells = Vec::with_capacity(widths.len());
    let mut height = 0.0f32;
    let mut may_break = true;
    let mut notes = Vec::new();
    for slot in slots {
        match *slot {
            Slot::Cell { column, span, cell } => {
                let rows = usize::from(cell.row_span.max(1));
                let placed = SlideCell::Cell {
                    content: content(cell, flow),
                    style: cell.style,
                    span,
                    rows,
                    fill: flow.document.styles[cell.style].background.or(zebra),
                };
                let width: f32 = widths[column..column + span].iter().sum();
                let (own, below) = flow.shared_height(&placed, width);
                shares[column] = below;
                height = height.max(own);
                cells.push(placed);
                cells.extend((1..span).map(|_| SlideCell::FromLeft { rows }));
                match &cell.content {
                    CellContent::Text(_) => {}
                    CellContent::Inlines(content) => {
                        notes.extend(content.iter().filter_map(footnote));
                    }
                    CellContent::Blocks(blocks) => notes.extend(notes_in(blocks)),
                }
            }
            Slot::Continued { column, span, .. } => {
                may_break = false;
                height = height.max(shares[column]);
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
        notes,
        may_break,
        starts_slide: row.page_break,
    }
}

fn content<'a>(cell: &'a Cell, flow: &Flow<'_>) -> Content<'a> {
    match &cell.content {
        CellContent::Inlines(content) => Content::Inlines(content.as_ref().into()),
        CellContent::Blocks(blocks) => {
            Content::Text(blocks_text_by(blocks, flow.document, &mut marked_text).into())
        }
        CellContent::Text(_) => Content::Text(cell_text(cell, flow.document)),
    }
}

pub(super) fn cell_height(flow: &Flow<'_>, cell: &SlideCell<'_>, width: f32) -> f32 {
    work::check();
    let SlideCell::Cell {
        content,
        style,
        rows,
        ..
    } = cell
    else {
        return 0.0;
    };
    let style = &flow.document.styles[*style];
    let scale = flow.geometry.scale;
    if style.turned {
        let text = match content {
            Content::Text(text) => text_width(text, style.font_size * scale, style.bold),
            Content::Inlines(content) => {
                text_width(&plain_text(content), style.font_size * scale, style.bold)
            }
        };
        return text * 1.1 + row_padding(style, scale);
    }
    let inner = width - (style.padding.left + style.padding.right) * scale;
    let mut lines = content.line_count(style.font_size * scale, style.bold, inner);
    if *rows > 1 && lines > *rows {
        // If its rows are split over several slides, the last line on each may be partly empty.
        lines += 2 + lines / 8;
    }
    lines as f32 * flow.typeset.line_height(style) + row_padding(style, scale)
}

pub(super) fn row_padding(style: &Style, scale: f32) -> f32 {
    (style.padding.top + style.padding.bottom).max(2.0) * scale
}

impl<'a> Flow<'a> {
    pub(super) fn table(
        &mut self,
        table: &'a Table,
        _style: StyleId,
        strip: Strip,
    ) -> Result<(), crate::Error> {
        self.close_text_in(strip);
        if table.page_rows.is_some() {
            let path = self.path;
            self.report.warn(
                "page-rows-omitted",
                path,
                "slides have no rows that depend on where the table continues",
            );
        }
        if let Some(caption) = &table.caption {
            let first: f32 = 60.0;
            if strip.breaks && self.room() < first {
                self.next_slide();
            }
            self.paragraph(caption, self.document.named.caption, Mark::None, strip);
            self.close_text_in(strip);
        }
        for cell in (table.header.iter().chain(&table.rows)).flat_map(|row| &row.cells) {
            if let CellContent::Blocks(blocks) = &cell.content {
                let path = blocks.first().map_or("", |block| &block.path);
                self.report.warn(
                    "cell-flattened",
                    path,
                    "table cells on slides can hold only text",
                );
            }
        }
        let measured = SlideTable::new(self, table, strip);
        self.place_table(measured, strip);
        Ok(())
    }

    /// Writes a table on as many slides as it needs.
    pub(super) fn place_table(&mut self, mut table: SlideTable<'a>, strip: Strip) {
        let header: f32 = table.header.iter().map(|row| row.height).sum();
        let full = self.geometry.bottom - self.geometry.top;
        let repeats = table.repeat_header && header < full * HEADER_PART;
        let mut cache = Cache::default();
        let mut carried: Vec<Option<Carried<'a>>> = vec![None; table.widths.len()];
        let mut first = 0;
        while first < table.rows.len() || (first == 0 && !table.header.is_empty()) {
            let with_header = first == 0 || repeats;
            let used = if with_header { header } else { 0.0 };
            let notes = table.row_notes(first);
            let needed = used + table.first_rows(first);
            if strip.breaks && needed > self.room_with(&notes) && self.y > self.geometry.top {
                self.next_slide();
            }
            let room = self.room_with(&notes) - used;
            if strip.breaks
                && table
                    .rows
                    .get(first)
                    .is_some_and(|row| row.height > room + 0.5)
            {
                for column in table.split_row(self, first, room.max(MIN_ROW)) {
                    if let Some(carried) = &mut carried[column] {
                        carried.rows += 1;
                    }
                }
            }
            let last = self.last_row(&table, first, used, strip);
            let rows = table.rows[first..last].iter();
            let header_notes = table.header.iter().filter(|_| first == 0);
            for note in header_notes.chain(rows).flat_map(|row| &row.notes) {
                self.mark_note(*note);
            }
            self.write_rows(
                &table,
                with_header,
                first..last,
                strip,
                &mut cache,
                &mut carried,
            );
            self.report_overhang();
            if last >= table.rows.len() {
                break;
            }
            first = last;
            self.next_slide();
        }
    }

    /// Index after the last row that fits on the slide.
    fn last_row(&self, table: &SlideTable<'_>, first: usize, used: f32, strip: Strip) -> usize {
        if !strip.breaks {
            return table.rows.len();
        }
        let mut height = used;
        let mut last = first;
        let mut good = first;
        let mut notes = Vec::new();
        while let Some(row) = table.rows.get(last) {
            height += row.height;
            notes.extend(&row.notes);
            let starts = row.starts_slide && last > first;
            if row.may_break && last > first {
                good = last;
            }
            if starts || (height > self.room_with(&notes) + 0.5 && last > first) {
                // If no row permits a break, break anywhere rather than run off the slide.
                return if good > first { good } else { last };
            }
            last += 1;
        }
        last
    }
}
