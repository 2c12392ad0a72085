//! Whether the rows of a tagged table fit together, and its cells have heads (ISO 14289-1, 7.2 and 7.5).

use std::collections::HashSet;

use lopdf::{Document, Object};

use super::structure::{Element, attribute};
use crate::open::{array, value};

/// Maximum number of columns.
const MAX_COLUMNS: usize = 10_000;
/// How many heads that a cell names are looked at.
const MAX_HEADERS: usize = 100;
/// Maximum number of places of cells, by rows and columns, of all tables.
const MAX_PLACES: usize = 16_000_000;

/// What is known of all tables of a file.
pub(super) struct Tables {
    /// How many places may still be looked at.
    left: usize,
    /// What elements are called.
    identifiers: Option<HashSet<Vec<u8>>>,
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            left: MAX_PLACES,
            identifiers: None,
        }
    }
}

/// Checks a table.
pub(super) fn check(
    document: &Document,
    all: &[Element<'_>],
    table: &Element<'_>,
    tables: &mut Tables,
    refuse: &mut dyn FnMut(String),
) {
    let mut rows: Vec<usize> = Vec::new();
    for kid in &table.kids {
        match all[*kid].kind.as_str() {
            "TR" => rows.push(*kid),
            "THead" | "TBody" | "TFoot" => {
                let kids = all[*kid].kids.iter();
                rows.extend(kids.filter(|row| all[**row].kind == "TR"));
            }
            _ => {}
        }
    }
    let Some(grid) = Grid::of(document, all, &rows, &mut tables.left) else {
        refuse("tables whose cells do not fit together".to_owned());
        return;
    };
    let width = grid.rows.first().map_or(0, Vec::len);
    if grid
        .rows
        .iter()
        .any(|row| row.len() != width || row.contains(&None))
    {
        refuse("tables whose rows have different numbers of columns".to_owned());
        return;
    }
    if !grid.has_heads(document, all, &mut tables.identifiers) {
        refuse("cells of tables that no head belongs to: give `TH` a `Scope`".to_owned());
    }
}

/// The cells of a table by rows and columns.
struct Grid {
    rows: Vec<Vec<Option<usize>>>,
}

impl Grid {
    /// `None` where cells overlap, or reach too far.
    fn of(
        document: &Document,
        all: &[Element<'_>],
        rows: &[usize],
        left: &mut usize,
    ) -> Option<Self> {
        let mut grid = Self {
            rows: vec![Vec::new(); rows.len()],
        };
        for (row, element) in rows.iter().enumerate() {
            let mut column = 0;
            for cell in &all[*element].kids {
                let span = |key: &[u8]| {
                    let said = attribute(document, all[*cell].entries, b"Table", key);
                    let said = said.and_then(|it| it.as_i64().ok()).unwrap_or(1);
                    usize::try_from(said).ok().filter(|it| *it > 0)
                };
                let (high, wide) = (span(b"RowSpan")?, span(b"ColSpan")?);
                while grid.rows[row].get(column).is_some_and(Option::is_some) {
                    column += 1;
                }
                *left = left.checked_sub(high.checked_mul(wide)?)?;
                let is_within = row + high <= rows.len() && column + wide <= MAX_COLUMNS;
                if !is_within {
                    return None;
                }
                for line in &mut grid.rows[row..row + high] {
                    if line.len() < column + wide {
                        *left = left.checked_sub(column + wide - line.len())?;
                        line.resize(column + wide, None);
                    }
                    for place in &mut line[column..column + wide] {
                        if place.replace(*cell).is_some() {
                            return None;
                        }
                    }
                }
                column += wide;
            }
        }
        Some(grid)
    }

    /// Whether every cell has a head: by what it says itself, or by a head of its row or column that says
    /// where it counts. A table without heads needs none.
    fn has_heads(
        &self,
        document: &Document,
        all: &[Element<'_>],
        identifiers: &mut Option<HashSet<Vec<u8>>>,
    ) -> bool {
        let scope = |cell: usize| {
            let said = attribute(document, all[cell].entries, b"Table", b"Scope");
            said.and_then(|it| it.as_name().ok())
        };
        let is_head = |cell: usize, way: &[u8]| {
            all[cell].kind == "TH" && scope(cell).is_some_and(|it| it == way || it == b"Both")
        };
        let mut cells = self.rows.iter().flatten().flatten();
        if !cells.any(|cell| all[*cell].kind == "TH") {
            return true;
        }
        let mut by_column: HashSet<usize> = HashSet::new();
        for row in &self.rows {
            let cells = || row.iter().flatten().copied();
            by_column.extend(
                cells()
                    .enumerate()
                    .filter(|(_, cell)| is_head(*cell, b"Column"))
                    .map(|(column, _)| column),
            );
            let has_row_head = cells().any(|cell| is_head(cell, b"Row"));
            for (column, cell) in cells().enumerate() {
                if all[cell].kind != "TD" || has_row_head || by_column.contains(&column) {
                    continue;
                }
                let heads = attribute(document, all[cell].entries, b"Table", b"Headers");
                let heads = array(document, heads);
                // Many cells may have the same long list.
                let heads = &heads[..heads.len().min(MAX_HEADERS)];
                let known = identifiers.get_or_insert_with(|| names(document, all));
                let is_known = |head: &Object| head.as_str().is_ok_and(|id| known.contains(id));
                if heads.is_empty() || !heads.iter().all(is_known) {
                    return false;
                }
            }
        }
        true
    }
}

/// What elements are called.
fn names(document: &Document, all: &[Element<'_>]) -> HashSet<Vec<u8>> {
    all.iter()
        .filter_map(|element| value(document, element.entries, b"ID")?.as_str().ok())
        .map(<[u8]>::to_vec)
        .collect()
}
