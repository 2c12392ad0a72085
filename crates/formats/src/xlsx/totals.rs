//! Totals as live formulas: the rows that they refer to, and which columns allow them.

use std::ops::Range;

use platen_document::bound::{Aggregate, CellContent, RowKind, Table, Value};

/// Number of group levels that get an outline.
pub(super) const LEVELS: usize = 4;

/// Row ranges that totals refer to, and the columns for which a formula is possible.
pub(super) struct Spans {
    /// First row of the current group, by level.
    starts: [u32; LEVELS],
    /// First row of the body, and the row after the last one that a total counts.
    body: u32,
    end: u32,
    /// The table's first column on the sheet.
    first_column: u16,
    /// Columns whose data cells are all numbers or empty.
    live: Vec<bool>,
    /// Rows of group headers, from the top. Their text stands in the table's first column.
    headers: Vec<u32>,
}

impl Spans {
    /// Those of a table whose body begins at the row `body`.
    pub fn new(table: &Table, body: u32, first_column: u16) -> Self {
        let is_header = |kind: RowKind| matches!(kind, RowKind::GroupHeader(_));
        let rows = (body..).zip(&table.rows);
        Self {
            starts: [body; LEVELS],
            body,
            end: body + leading_rows(table).saturating_sub(table.uncounted as u32),
            first_column,
            live: live_columns(table),
            headers: rows
                .filter(|(_, row)| is_header(row.kind))
                .map(|(at, _)| at)
                .collect(),
        }
    }

    /// Begins the next group of `level`, and of the levels inside of it, at the row `start`.
    pub fn begin(&mut self, level: u8, start: u32) {
        self.starts
            .iter_mut()
            .skip(level.into())
            .for_each(|own| *own = start);
    }

    /// Whether a formula over `rows` of a column of the table computes what the document shows.
    fn agrees(&self, aggregate: Aggregate, column: usize, rows: &Range<u32>) -> bool {
        if aggregate != Aggregate::Count {
            return self.live.get(column).copied().unwrap_or(false);
        }
        // Excel would count the texts of group headers, too.
        let next = self.headers.partition_point(|header| *header < rows.start);
        let headed = (self.headers.get(next)).is_some_and(|header| rows.contains(header));
        column > 0 || !headed
    }
}

/// Rows before the first total.
pub(super) fn leading_rows(table: &Table) -> u32 {
    table
        .rows
        .iter()
        .take_while(|row| row.kind != RowKind::Total)
        .count() as u32
}

/// Columns in which a formula computes what the document shows: every data cell is a number or
/// empty.
fn live_columns(table: &Table) -> Vec<bool> {
    let mut live = vec![true; table.columns.len()];
    for row in table.rows.iter().filter(|row| row.kind == RowKind::Data) {
        let mut column = 0;
        for cell in &row.cells {
            let empty = matches!(&cell.content, CellContent::Text(text) if text.is_empty());
            if !matches!(cell.value, Value::Number(_)) && !empty && column < live.len() {
                live[column] = false;
            }
            column += usize::from(cell.col_span.max(1));
        }
    }
    live
}

/// The formula of a total. `SUBTOTAL` excludes nested subtotals; its functions below 100 include
/// folded rows, as the printed total does.
pub(super) fn total(
    aggregate: Aggregate,
    kind: RowKind,
    column: u16,
    row: u32,
    spans: &Spans,
) -> Option<String> {
    let (first, end) = match kind {
        RowKind::Subtotal(level) => (spans.starts[usize::from(level).min(LEVELS - 1)], row),
        RowKind::Total => (spans.body, spans.end.min(row)),
        _ => return None,
    };
    let inside = usize::from(column - spans.first_column);
    if end <= first || !spans.agrees(aggregate, inside, &(first..end)) {
        return None;
    }
    let function = match aggregate {
        Aggregate::Sum => 9,
        Aggregate::Avg => 1,
        Aggregate::Min => 5,
        Aggregate::Max => 4,
        Aggregate::Count => 3,
    };
    let letters = rust_xlsxwriter::utility::column_number_to_name(column);
    Some(format!(
        "=SUBTOTAL({function},{letters}{}:{letters}{end})",
        first + 1
    ))
}
