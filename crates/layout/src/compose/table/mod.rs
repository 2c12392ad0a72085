//! Tables. Rows are pushed to the output one at a time, so that memory does not grow with their
//! number.

mod decimal;
mod row;
mod turned;
mod widths;

use platen_document::bound::{Block, Cell, Column, ColumnWidth, Inline, Row, RowKind, Table};

use super::{
    composer::{Composer, Output, Place},
    fragment::{Foot, Fragment, Look, Mark},
    group::first_style,
    page_rows::GridFrame,
};
use crate::{
    page::{Artifact, Item, TagId, TagKind},
    text::Sink,
};

/// A table being laid out.
pub(super) struct Grid<'t> {
    pub(super) table: &'t Table,
    place: Place,
    look: Look,
    /// Offset of each column from the start side, and the end of the last.
    edges: Vec<f32>,
    head_tag: Option<TagId>,
    body_tag: Option<TagId>,
    data_rows: usize,
    /// For each column whose cells align at their decimal separators, the widest text behind one, in
    /// points; otherwise 0. Empty if there is no such column.
    tails: Vec<f32>,
    /// Borders that styles have put below the rows laid out last.
    feet: Vec<Foot>,
}

impl<'t> Grid<'t> {
    /// The grid of a table that was laid out before, outside the logical structure.
    pub(super) fn framed(table: &'t Table, frame: &GridFrame) -> Self {
        Self {
            table,
            place: Place {
                tag: None,
                ..frame.place
            },
            look: frame.look,
            edges: frame.edges.clone(),
            head_tag: None,
            body_tag: None,
            data_rows: 0,
            tails: frame.tails.clone(),
            feet: Vec::new(),
        }
    }

    /// Its position and look.
    pub(super) fn frame(&self) -> GridFrame {
        GridFrame {
            place: self.place,
            look: self.look,
            edges: self.edges.clone(),
            tails: self.tails.clone(),
        }
    }

    /// Offset from the start side, and width, of `span` columns starting at `column`.
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
        self.warn_too_wide(table, width);
        let edges = self.column_edges(table, width);
        let head_tag = if table.header.is_empty() {
            None
        } else {
            self.tag(TagKind::TableHead, tag)
        };
        let mut grid = Grid {
            table,
            place,
            look: Look {
                x: place.x,
                width: place.width,
                borders: table.borders,
                border_color: table.border_color,
                zebra: table.zebra,
                tagged: place.tag.is_some(),
            },
            edges,
            head_tag,
            body_tag: self.tag(TagKind::TableBody, tag),
            data_rows: 0,
            tails: self.decimal_tails(table),
            feet: Vec::new(),
        };
        self.table_rows(block, &mut grid, out);
    }

    /// Warns if the fixed columns are wider than the table; all columns are then narrowed.
    fn warn_too_wide(&mut self, table: &Table, width: f32) {
        let fixed = |column: &Column| match column.width {
            ColumnWidth::Fixed(points) => points,
            _ => 0.0,
        };
        let sum: f32 = table.columns.iter().map(fixed).sum();
        if sum > width + 1.0 {
            let millimetres = |points: f32| (points * 25.4 / 72.0).round();
            self.text.warn(
                "columns-too-wide",
                format!(
                    "the columns are {} mm wide, but only {} mm are available: they are narrowed",
                    millimetres(sum),
                    millimetres(width)
                ),
                "make columns narrower, or the page wider",
            );
        }
    }

    fn table_caption(&mut self, caption: &[Inline], place: Place, out: &mut dyn Output) {
        let style = first_style(caption).unwrap_or(self.document.named.caption);
        let tag = self.tag(TagKind::Caption, place.tag);
        let mut fragments = self.paragraph_fragments(caption, style, Place { tag, ..place });
        for fragment in &mut fragments {
            fragment.keep = true;
        }
        if let Some(first) = fragments.front_mut() {
            first.gap = self.space_after;
        }
        if let Some(last) = fragments.back_mut() {
            last.height += 4.0;
        }
        self.space_after = 0.0;
        for fragment in fragments {
            out.push(self, fragment);
        }
    }

    fn table_rows(&mut self, block: &Block, grid: &mut Grid<'_>, out: &mut dyn Output) {
        let style = self.style(block.style);
        let (before, after) = (style.space_before, style.space_after);
        let mut gap = self.space_after.max(before);
        if let Some(id) = &block.id {
            let fragment = Fragment {
                keep: true,
                marks: vec![Mark::Anchor(id.to_string())],
                ..Fragment::default()
            };
            out.push(self, fragment);
        }
        let table = grid.table;
        let repeats = table.repeat_header && !table.header.is_empty();
        let mut repeat: Vec<(Sink, f32)> = Vec::new();
        for mut fragment in self.header_fragments(grid) {
            fragment.keep = true;
            fragment.gap = std::mem::take(&mut gap);
            if repeats {
                repeat.push(repeated(&fragment));
            }
            out.push(self, fragment);
        }
        if repeats {
            out.set_repeat(self, repeat);
        }
        let ends_at = self.begin_page_rows(grid, out);
        let mut start = 0;
        while start < table.rows.len() {
            let end = group_end(&table.rows, start);
            let mut fragment = self.rows_fragment(grid, start..end);
            fragment.gap = std::mem::take(&mut gap);
            fragment.rows_end = end;
            let ends = ends_at.is_some_and(|at| start < at && at <= end);
            let keep = stays_with_next(&table.rows, end - 1);
            fragment.keep = ends || keep;
            out.push(self, fragment);
            if ends {
                out.end_page_rows(self, keep);
            }
            start = end;
        }
        if repeats {
            out.set_repeat(self, Vec::new());
        }
        self.space_after = after;
    }
}

impl Composer<'_> {
    /// Begins the rows of a table some of which depend on where pages end. Returns the number of
    /// rows after which they end.
    fn begin_page_rows(&mut self, grid: &Grid<'_>, out: &mut dyn Output) -> Option<usize> {
        let rows = grid.table.page_rows.as_deref()?;
        if rows.counted == 0 {
            return None;
        }
        let (index, heights) = self.page_table(grid, rows);
        if out.begin_page_rows(self, index, heights) {
            return Some(rows.counted);
        }
        self.text.warn(
            "page-rows-omitted",
            "a table in a box has no rows that depend on where pages end".to_owned(),
            "put the table directly into the body",
        );
        None
    }
}

/// Index after the last row that row spans join with the row at `start`.
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

/// Maximum number of consecutive totals that stay together; more could fill a page.
const KEPT_TOTALS: usize = 5;

/// Whether a row stays with the next: group headers, and rows before a subtotal or total.
fn stays_with_next(rows: &[Row], index: usize) -> bool {
    let Some(next) = rows.get(index + 1) else {
        return false;
    };
    match (rows[index].kind, next.kind) {
        (RowKind::GroupHeader(_), _) => true,
        (RowKind::Total, RowKind::Total) => {
            let totals = rows.iter().rev().take(KEPT_TOTALS + 1);
            totals.take_while(|row| row.kind == RowKind::Total).count() <= KEPT_TOTALS
        }
        (_, RowKind::Subtotal(_) | RowKind::Total) => true,
        _ => false,
    }
}

/// A copy of a header row for further pages, outside the logical structure.
fn repeated(fragment: &Fragment) -> (Sink, f32) {
    let mut sink = Sink::default();
    let body = fragment.body.clone();
    body.draw(0.0, fragment.height, &mut sink, &mut |_, _, _| {});
    sink.items.retain(|item| !is_interactive(item));
    for item in &mut sink.items {
        if matches!(item, Item::Tag(_)) {
            *item = Item::Artifact(Artifact::Repeated);
        }
    }
    (sink, fragment.height)
}

/// Whether readers can do something with the item, which must stand in the document once.
fn is_interactive(item: &Item) -> bool {
    matches!(
        item,
        Item::Link { .. } | Item::SignatureField { .. } | Item::FormField { .. }
    )
}

/// Number of columns that a cell covers.
fn span(cell: &Cell) -> usize {
    usize::from(cell.col_span.max(1))
}
