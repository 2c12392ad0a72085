//! Totals as live formulas: the rows that they refer to, and which columns allow them.

use platen_document::bound::{Aggregate, CellContent, RowKind, Table, Value};

/// Number of group levels that get an outline.
pub(super) const LEVELS: usize = 4;

/// Row ranges that totals refer to, and the columns for which a formula is possible.
pub(super) struct Spans {
    /// First row of the current group, by level.
    pub starts: [u32; LEVELS],
    /// First row of the body, and the row after the last one before the totals.
    pub body: u32,
    pub end: u32,
    /// The table's first column on the sheet.
    pub first_column: u16,
    /// Columns whose data cells are all numbers or empty.
    pub live: Vec<bool>,
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
pub(super) fn live_columns(table: &Table) -> Vec<bool> {
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
    let counts = aggregate == Aggregate::Count;
    if !counts
        && !spans
            .live
            .get(usize::from(column - spans.first_column))
            .copied()
            .unwrap_or(false)
    {
        return None;
    }
    let (first, end) = match kind {
        RowKind::Subtotal(level) => (spans.starts[usize::from(level).min(LEVELS - 1)], row),
        RowKind::Total => (spans.body, spans.end.min(row)),
        _ => return None,
    };
    if end <= first {
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
