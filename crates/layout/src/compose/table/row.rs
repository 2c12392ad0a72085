//! Table rows: cells side by side, with backgrounds and rules.

use std::{collections::VecDeque, ops::Range};

use platen_document::bound::{Cell, CellContent, Row, RowBreak, RowKind, StyleId, VerticalAlign};

use super::{
    super::{
        composer::{Composer, Place},
        fragment::{
            Body, CellBox, Edges, Foot, Fragment, Frame, Lane, MIN_PART, RowCell, Rows, Stroke,
            draw_backgrounds, draw_rules, offsets, stack_height,
        },
        paragraph::TextBox,
    },
    Grid, span,
    turned::Turned,
};
use crate::{
    page::{Area, TagId, TagKind},
    text::{Line, Paragraph, Sink},
};

/// Rows taller than this, or than a third of a page, are laid out so that they can be split. In
/// points.
const HIGH_ROW: f32 = 200.0;

/// A cell with its text broken into lines, or its blocks laid out.
struct SetCell<'c> {
    cell: &'c Cell,
    /// Rows that it covers, within its group.
    rows: Range<usize>,
    /// Left edge, in points.
    x: f32,
    width: f32,
    height: f32,
    /// Space above the content that brings its first line to the baseline of the row, in points.
    drop: f32,
    /// Space at its right that brings its decimal separator below those of its column, in points.
    shift: f32,
    tag: Option<TagId>,
    content: SetContent,
}

enum SetContent {
    Text(Paragraph, Vec<Line>),
    Turned(Turned),
    Fragments(VecDeque<Fragment>),
}

impl Composer<'_> {
    /// The fragment of body rows that row spans join.
    pub(super) fn rows_fragment(&mut self, grid: &mut Grid<'_>, rows: Range<usize>) -> Fragment {
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
        let edges = Edges {
            header: false,
            first: rows.start == 0 && table.header.is_empty(),
            last: rows.end == table.rows.len(),
            below_header: rows.start == 0,
            above: std::mem::take(&mut grid.feet),
        };
        let mut fragment = self.joined_rows(grid, joined, shaded, edges);
        fragment.page_break = joined[0].page_break;
        fragment
    }

    /// The fragment of a row that is not one of the table's.
    pub(in super::super) fn single_row(&mut self, grid: &mut Grid<'_>, row: &[Row]) -> Fragment {
        let edges = Edges {
            last: true,
            ..Edges::default()
        };
        self.joined_rows(grid, row, vec![false], edges)
    }

    /// The fragments of the header, one for each group of rows joined by row spans.
    pub(super) fn header_fragments(&mut self, grid: &mut Grid<'_>) -> Vec<Fragment> {
        let table = grid.table;
        let rows = &table.header;
        let mut fragments = Vec::new();
        let mut start = 0;
        while start < rows.len() {
            let end = super::group_end(rows, start);
            let edges = Edges {
                header: true,
                first: start == 0,
                last: end == rows.len() && table.rows.is_empty(),
                below_header: start > 0,
                above: std::mem::take(&mut grid.feet),
            };
            let shaded = vec![false; end - start];
            fragments.push(self.joined_rows(grid, &rows[start..end], shaded, edges));
            start = end;
        }
        fragments
    }

    fn joined_rows(
        &mut self,
        grid: &mut Grid<'_>,
        rows: &[Row],
        shaded: Vec<bool>,
        edges: Edges,
    ) -> Fragment {
        let parent = if edges.header {
            grid.head_tag
        } else {
            grid.body_tag
        };
        let (cells, heights) = self.set_rows(grid, rows, parent, edges.header);
        let lowest = cells.iter().filter(|set| set.rows.end == rows.len());
        let foot = |set: &SetCell<'_>| {
            let border = self.style(set.cell.style).borders.bottom;
            border.map(|border| Foot {
                x: set.x,
                width: set.width,
                border,
            })
        };
        grid.feet = lowest.filter_map(foot).collect();
        let total: f32 = heights.iter().sum();
        let allow = grid.table.row_break == RowBreak::Allow && !edges.header;
        let joined = rows.len() > 1 && !edges.header;
        let blocks = |set: &SetCell<'_>| matches!(set.content, SetContent::Fragments(_));
        let high = total > HIGH_ROW.min(self.room / 3.0);
        let breaks = joined || high || (allow && total > MIN_PART);
        if breaks || cells.iter().any(blocks) {
            return self.breakable_rows(grid, cells, shaded, edges);
        }
        let mut sink = Sink::default();
        let mut footnotes = Vec::new();
        let tops = offsets(&heights);
        let boxes: Vec<CellBox> = cells
            .iter()
            .map(|set| CellBox {
                area: set.area(&tops),
                background: self.style(set.cell.style).background,
                borders: self.style(set.cell.style).borders,
            })
            .collect();
        let painted = draw_backgrounds(grid.look, &tops, &shaded, &boxes, &mut sink);
        for set in cells {
            self.draw_cell(set, &tops, &mut sink, &mut footnotes);
        }
        draw_rules(grid.look, &edges, &tops, &boxes, painted, &mut sink);
        Fragment {
            height: total,
            footnotes,
            body: Body::Solid(sink),
            ..Fragment::default()
        }
    }

    /// Rows that may be split; they are drawn once it is known which part is on which page.
    fn breakable_rows(
        &mut self,
        grid: &Grid<'_>,
        cells: Vec<SetCell<'_>>,
        shaded: Vec<bool>,
        edges: Edges,
    ) -> Fragment {
        let cells = cells
            .into_iter()
            .map(|set| {
                let style = self.style(set.cell.style);
                let mut frame = Frame {
                    background: style.background,
                    borders: style.borders,
                    padding: style.padding,
                };
                frame.padding.top += set.drop;
                let vertical_align = style.vertical_align;
                let (x, width, rows) = (set.x, set.width, set.rows.clone());
                let lane = Lane {
                    x,
                    width,
                    fragments: self.cell_fragments(set),
                    vertical_align,
                    frame,
                };
                RowCell::new(rows.start, rows.len(), lane)
            })
            .collect();
        let rows = Rows {
            look: grid.look,
            keep: edges.header || grid.table.row_break == RowBreak::Keep,
            edges,
            shaded: shaded.into(),
            cells,
        };
        Fragment {
            height: rows.height(),
            body: Body::Rows(Box::new(rows)),
            ..Fragment::default()
        }
    }

    /// Lays out the cells of joined rows and computes the rows' heights.
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
            let first = cells.len();
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
                cells.push(set);
                column += span(cell);
            }
            self.align_baselines(&mut cells[first..]);
            for set in cells[first..].iter().filter(|set| set.rows.len() == 1) {
                heights[index] = heights[index].max(set.height);
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
        let tail = grid.tails.get(column).copied().unwrap_or_default();
        let shift = match span(cell) {
            1 if tail > 0.0 => self.decimal_shift(cell, tail, inner),
            _ => 0.0,
        };
        let (content, height) = match &cell.content {
            CellContent::Text(text) => {
                let paragraph = self.text.text_paragraph(text, cell.style);
                self.set_text(paragraph, inner, cell.style, tag)
            }
            CellContent::Inlines(inlines) => {
                self.note_fields(inlines);
                let paragraph = self.text.paragraph(inlines, cell.style);
                self.set_text(paragraph, inner, cell.style, tag)
            }
            CellContent::Blocks(blocks) => {
                let place = Place {
                    x: x + padding.left,
                    width: inner,
                    tag,
                };
                let fragments = self.collect(blocks, place);
                let height = stack_height(&fragments);
                (SetContent::Fragments(fragments), height)
            }
        };
        SetCell {
            cell,
            rows: row..row + rows_covered,
            x,
            width,
            height: height + padding.top + padding.bottom,
            drop: 0.0,
            shift,
            tag,
            content,
        }
    }

    /// Brings the first lines of cells that start in one row to the same baseline.
    fn align_baselines(&self, cells: &mut [SetCell<'_>]) {
        let baseline = |set: &SetCell<'_>| match &set.content {
            SetContent::Text(_, lines) => {
                let style = self.style(set.cell.style);
                let top = style.vertical_align == VerticalAlign::Top;
                top.then(|| style.padding.top + lines.first().map_or(0.0, |line| line.above))
            }
            SetContent::Turned(_) | SetContent::Fragments(_) => None,
        };
        let lowest = cells.iter().filter_map(baseline).fold(0.0, f32::max);
        for set in cells {
            if let Some(own) = baseline(set)
                && lowest - own > 0.01
            {
                set.drop = lowest - own;
                set.height += set.drop;
            }
        }
    }

    fn set_text(
        &mut self,
        mut paragraph: Paragraph,
        width: f32,
        style: StyleId,
        tag: Option<TagId>,
    ) -> (SetContent, f32) {
        if self.style(style).turned {
            let turned = self.turned(paragraph, style, tag);
            let height = turned.length;
            return (SetContent::Turned(turned), height);
        }
        let lines = self.text.break_lines(&mut paragraph, width, 0.0, style);
        let height = lines.iter().map(Line::height).sum();
        (SetContent::Text(paragraph, lines), height)
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
        let top = area.y + padding.top + set.drop + aligned(style.vertical_align, free);
        match set.content {
            SetContent::Text(paragraph, lines) => {
                let text = TextBox {
                    x: set.x + padding.left,
                    width: (set.width - padding.left - padding.right - set.shift).max(1.0),
                    align,
                    first_indent: 0.0,
                    style: set.cell.style,
                    tag: set.tag,
                };
                self.draw_lines(&paragraph, &lines, true, text, top, sink);
                footnotes.extend(paragraph.footnotes(&lines));
            }
            SetContent::Turned(turned) => {
                let inner = (set.width - padding.left - padding.right).max(1.0);
                let x = set.x + padding.left + self.aligned(align, inner - turned.breadth);
                footnotes.extend(turned.footnotes);
                sink.append(turned.sink, x, top);
            }
            // Cells with blocks only occur in breakable rows, which draw them.
            SetContent::Fragments(_) => {}
        }
        let frame = Frame {
            borders,
            ..Frame::default()
        };
        frame.draw_borders(area, Stroke::Centered, sink);
    }

    /// The content of a cell as fragments, one per line of text.
    fn cell_fragments(&mut self, set: SetCell<'_>) -> VecDeque<Fragment> {
        let style = self.style(set.cell.style);
        let padding = style.padding;
        let text = TextBox {
            x: set.x + padding.left,
            width: (set.width - padding.left - padding.right - set.shift).max(1.0),
            align: style.align,
            first_indent: 0.0,
            style: set.cell.style,
            tag: set.tag,
        };
        match set.content {
            SetContent::Fragments(fragments) => fragments,
            SetContent::Turned(turned) => {
                let mut sink = Sink::default();
                let x = text.x + self.aligned(text.align, text.width - turned.breadth);
                sink.append(turned.sink, x, 0.0);
                VecDeque::from([Fragment {
                    height: turned.length,
                    footnotes: turned.footnotes,
                    body: Body::Solid(sink),
                    ..Fragment::default()
                }])
            }
            SetContent::Text(paragraph, lines) => lines
                .chunks(1)
                .map(|line| {
                    let mut sink = Sink::default();
                    let height = self.draw_lines(&paragraph, line, false, text, 0.0, &mut sink);
                    let footnotes = paragraph.footnotes(line).collect();
                    Fragment {
                        height,
                        footnotes,
                        keep: line[0].keep,
                        body: Body::Solid(sink),
                        ..Fragment::default()
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

/// Offset of content with `free` points of space around it.
fn aligned(align: VerticalAlign, free: f32) -> f32 {
    match align {
        VerticalAlign::Top => 0.0,
        VerticalAlign::Middle => free / 2.0,
        VerticalAlign::Bottom => free,
    }
}
