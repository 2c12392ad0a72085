//! What most formats cannot express of single blocks, wherever they are.

use platen_document::bound::{Align, Block, BlockKind, Document, Table};

use crate::{plain::walk, report::Report};

/// Rows of a table that are searched for an alignment; those below look like them.
const SEARCHED_ROWS: usize = 8;

/// Reports columns that `format` aligns at the end instead of at decimal separators and, unless
/// `keeps_spans`, blocks that no longer span all text columns.
pub(crate) fn report(report: &mut Report, document: &Document, format: &str, keeps_spans: bool) {
    let decimal = document
        .styles
        .iter()
        .any(|(_, style)| style.align == Align::Decimal);
    let spans = !keeps_spans && document.styles.iter().any(|(_, style)| style.column_span);
    if !decimal && !spans {
        return;
    }
    for section in &document.sections {
        let in_columns = spans && section.page.columns > 1;
        walk(&section.body, &mut |block: &Block| {
            if in_columns && document.styles[block.style].column_span {
                let message = format!("in {format}, no block spans all text columns");
                report.warn("column-span-omitted", &block.path, message);
            }
            if let BlockKind::Table(table) = &block.kind
                && decimal
                && has_decimal(table, document)
            {
                let message = format!("{format} aligns these numbers at their end");
                report.warn("decimal-align-omitted", &block.path, message);
            }
        });
    }
}

fn has_decimal(table: &Table, document: &Document) -> bool {
    let rows = table
        .header
        .iter()
        .chain(table.rows.iter().take(SEARCHED_ROWS));
    let mut cells = rows.flat_map(|row| &row.cells);
    cells.any(|cell| document.styles[cell.style].align == Align::Decimal)
}
