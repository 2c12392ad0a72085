//! Checks of sizes and counts: pages with space for text, tables whose spans fit, drawable boxes.

use super::variable_name;
use crate::{
    Diagnostic, Length, pointer,
    template::{CellSpec, Margins, Node, PageSetup, RowSpec, Table},
};

/// Allowed length of a page side, in points.
const PAGE_POINTS: std::ops::RangeInclusive<f32> = 10.0..=14_400.0;
/// Minimum width and height of the text area, in points.
const LEAST_TEXT_POINTS: f32 = 10.0;
/// Maximum number of columns in a table.
pub(crate) const MAX_COLUMNS: usize = 200;
/// Maximum number of group levels.
const MAX_GROUPS: usize = 4;

/// Checks page size and margins of `page`, which inherits from `base`.
pub(crate) fn page(base: &PageSetup, page: &PageSetup, path: &str, found: &mut Vec<Diagnostic>) {
    if page
        .columns
        .is_some_and(|columns| !(1..=6).contains(&columns))
    {
        let path = pointer::join(path, "columns");
        let message = "a page has 1 to 6 text columns";
        found.push(Diagnostic::error("out-of-range", path, message));
    }
    let size = page.size.as_ref().or(base.size.as_ref());
    let Some((width, height)) = size.map_or(Some((595.276, 841.89)), |size| size.dimensions())
    else {
        let path = pointer::join(path, "size");
        found.push(Diagnostic::error(
            "unknown-value",
            path,
            "unknown paper size",
        ));
        return;
    };
    if !PAGE_POINTS.contains(&width) || !PAGE_POINTS.contains(&height) {
        found.push(Diagnostic::error(
            "out-of-range",
            pointer::join(path, "size"),
            "width and height of a page must be 10 to 14400 pt",
        ));
        return;
    }
    let landscape = page.orientation.or(base.orientation).unwrap_or_default()
        == crate::template::Orientation::Landscape;
    let (width, height) = if landscape {
        (height, width)
    } else {
        (width, height)
    };
    let [top, right, bottom, left] = margins(page.margins.as_ref().or(base.margins.as_ref()));
    let negative = [top, right, bottom, left].iter().any(|side| *side < 0.0);
    let columns = f32::from(page.columns.or(base.columns).unwrap_or(1).max(1));
    let gap = page
        .column_gap
        .or(base.column_gap)
        .map_or(17.0, Length::to_points);
    let text_width = (width - left - right - gap * (columns - 1.0)) / columns;
    if negative || gap < 0.0 {
        let path = pointer::join(path, "margins");
        let message = "margins and gaps cannot be below zero";
        found.push(Diagnostic::error("out-of-range", path, message));
    } else if text_width < LEAST_TEXT_POINTS || height - top - bottom < LEAST_TEXT_POINTS {
        let path = pointer::join(path, "margins");
        let message = "the margins leave no room for text";
        found.push(Diagnostic::error("no-text-area", path, message));
    }
}

/// Margins in points: top, right, bottom, left.
pub(crate) fn margins(margins: Option<&Margins>) -> [f32; 4] {
    match margins {
        None => [crate::template::default_margin().to_points(); 4],
        Some(Margins::All(length)) => [length.to_points(); 4],
        Some(Margins::Sides {
            top,
            right,
            bottom,
            left,
        }) => [*top, *right, *bottom, *left].map(Length::to_points),
    }
}

pub(super) fn table(table: &Table, path: &str, found: &mut Vec<Diagnostic>) {
    let mut mistake = |field: &str, message: String| {
        let path = pointer::join(path, field);
        found.push(Diagnostic::error("out-of-range", path, message));
    };
    if table.columns.is_empty() || table.columns.len() > MAX_COLUMNS {
        mistake("columns", format!("a table has 1 to {MAX_COLUMNS} columns"));
    }
    if table.groups.len() > MAX_GROUPS {
        mistake(
            "groups",
            format!("a table has at most {MAX_GROUPS} levels of groups"),
        );
    }
    if table.width.is_some_and(|width| width.to_points() <= 0.0) {
        mistake("width", "a table's width must be above zero".to_owned());
    }
    if let Some(name) = &table.as_name {
        variable_name(name, pointer::join(path, "as"), found);
    }
    for (index, column) in table.columns.iter().enumerate() {
        if let Some(name) = &column.as_name {
            let path = pointer::join(&pointer::join(path, "columns"), index);
            variable_name(name, pointer::join(&path, "as"), found);
        }
    }
    if table.rows.is_none() && (!table.groups.is_empty() || table.row_when.is_some()) {
        let field = if table.groups.is_empty() {
            "rowWhen"
        } else {
            "groups"
        };
        let message = "this needs `rows`, the array that the table is bound to";
        let path = pointer::join(path, field);
        found.push(Diagnostic::error("missing-field", path, message));
    }
    for (field, rows) in [
        ("headerRows", &table.header_rows),
        ("bodyRows", &table.body_rows),
        ("footerRows", &table.footer_rows),
    ] {
        spans(
            rows,
            table.columns.len(),
            &pointer::join(path, field),
            found,
        );
    }
}

/// Checks that the spans of written-out rows stay within the table.
fn spans(rows: &[RowSpec], columns: usize, path: &str, found: &mut Vec<Diagnostic>) {
    let mut covered = vec![0_usize; columns];
    for (index, row) in rows.iter().enumerate() {
        let path = pointer::join(path, index);
        let mut column = 0;
        for (cell_index, cell) in row.cells.iter().enumerate() {
            let (wide, high) = match cell {
                CellSpec::Text(_) => (1, 1),
                CellSpec::Full(cell) => (
                    usize::from(cell.col_span.unwrap_or(1)),
                    usize::from(cell.row_span.unwrap_or(1)),
                ),
            };
            while covered.get(column).is_some_and(|rows| *rows > 0) {
                column += 1;
            }
            let path = || pointer::join(&pointer::join(&path, "cells"), cell_index);
            let free = |at: usize| covered.get(at).is_some_and(|rows| *rows == 0);
            if wide == 0 || high == 0 || index + high > rows.len() {
                let message = "a cell covers at least one row, and no more than there are";
                found.push(Diagnostic::error("invalid-span", path(), message));
                break;
            }
            if !(column..column + wide).all(free) {
                let message = format!("the row has more cells than the table's {columns} columns");
                found.push(Diagnostic::error("invalid-span", path(), message));
                break;
            }
            covered[column..column + wide].fill(high);
            column += wide;
        }
        for rows in &mut covered {
            *rows = rows.saturating_sub(1);
        }
    }
}

/// Checks the sizes of drawings.
pub(super) fn sizes(node: &Node, path: &str, found: &mut Vec<Diagnostic>) {
    let mut above_zero = |field: &str, length: Option<Length>| {
        if length.is_some_and(|length| !(0.1..=14_400.0).contains(&length.to_points())) {
            let path = pointer::join(path, field);
            let message = format!("`{field}` must be 0.1 to 14400 pt");
            found.push(Diagnostic::error("out-of-range", path, message));
        }
    };
    match node {
        Node::Image(image) => {
            above_zero("width", image.width);
            above_zero("height", image.height);
        }
        Node::Barcode(barcode) => {
            above_zero("width", barcode.width);
            above_zero("height", barcode.height);
        }
        Node::Chart(chart) => {
            above_zero("width", chart.width);
            above_zero("height", chart.height);
        }
        Node::SignatureField(field) => {
            above_zero("width", field.width);
            above_zero("height", field.height);
        }
        Node::FormField(field) => {
            above_zero("width", field.width);
            above_zero("height", field.height);
        }
        Node::Divider(divider) => above_zero("thickness", divider.thickness),
        Node::Spacer(spacer) => above_zero("height", Some(spacer.height)),
        _ => {}
    }
}
