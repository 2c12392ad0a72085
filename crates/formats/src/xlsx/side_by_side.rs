//! Tables beside each other: which columns of the sheet each table takes, and how wide those are.

use std::collections::{HashMap, HashSet};

use platen_document::bound::{Block, BlockKind, ColumnWidth, Columns, Document, Section, Table};

use crate::{
    metrics::{measured_cells, solve, text_width},
    plain::{cell_text, walk},
};

/// Tables other than the main one widen its columns no further than this, in points.
const WIDENED: f32 = 160.0;
/// Width of the empty column between tables, in points.
const GAP: f32 = 14.0;
/// Width of a column that no table has, in points.
const PLAIN: f32 = 80.0;
/// Columns of the sheet that a column without tables takes.
const PLAIN_COLUMNS: usize = 2;
/// Columns that need more columns of the sheet than this are placed below each other.
const WIDEST: usize = 80;

/// Columns of a sheet, from `first` to before `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Area {
    pub first: u16,
    pub end: u16,
}

/// The columns of the sheet for each of `columns`, if at least two of them hold tables.
pub(super) fn arrange(columns: &Columns) -> Option<Vec<Area>> {
    let mut areas = Vec::with_capacity(columns.columns.len());
    let (mut first, mut with_tables) = (0, 0);
    for column in &columns.columns {
        let mut most = 0;
        walk(&column.body, &mut |block: &Block| {
            if let BlockKind::Table(table) = &block.kind {
                most = most.max(table.columns.len());
            }
        });
        with_tables += usize::from(most > 0);
        let end = first + most.max(PLAIN_COLUMNS);
        if end > WIDEST {
            return None;
        }
        areas.push(Area {
            first: first as u16,
            end: end as u16,
        });
        first = end + 1;
    }
    (with_tables >= 2).then_some(areas)
}

/// Where a table placements on its sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TablePlacement {
    /// Its first column.
    left: usize,
    /// Its part of the width of the page.
    part: f32,
}

/// Tables beside each other by their address, and the columns that those in a row take together.
fn arranged(section: &Section) -> (HashMap<*const Table, TablePlacement>, usize) {
    let mut placements = HashMap::new();
    let mut inner: HashSet<*const Columns> = HashSet::new();
    let mut end = 0;
    walk(&section.body, &mut |block: &Block| {
        let BlockKind::Columns(columns) = &block.kind else {
            return;
        };
        let areas = arrange(columns).filter(|_| !inner.contains(&std::ptr::from_ref(columns)));
        for (column, area) in columns.columns.iter().zip(areas.iter().flatten()) {
            end = end.max(usize::from(area.end));
            walk(&column.body, &mut |block: &Block| match &block.kind {
                BlockKind::Table(table) => {
                    let placement = TablePlacement {
                        left: area.first.into(),
                        part: 1.0 / columns.columns.len() as f32,
                    };
                    placements.insert(std::ptr::from_ref(table.as_ref()), placement);
                }
                BlockKind::Columns(columns) => {
                    inner.insert(columns);
                }
                _ => {}
            });
        }
    });
    (placements, end)
}

/// Widths of a sheet's columns in points: those of the main table, widened for the others, as a
/// number wider than its column would be shown as `###`.
pub(super) fn widths(
    section: &Section,
    main: &Table,
    document: &Document,
    available: f32,
    stacks: bool,
) -> Vec<f32> {
    let (placements, end) = if stacks {
        Default::default()
    } else {
        arranged(section)
    };
    let alone = TablePlacement { left: 0, part: 1.0 };
    let mut widths: Vec<f32> = vec![0.0; end];
    let mut widen = |table: &Table, most: f32, is_main: bool| {
        let placement = placements.get(&std::ptr::from_ref(table)).unwrap_or(&alone);
        let page = is_main.then_some(available * placement.part);
        let natural = natural_widths(table, document, page);
        widths.resize(widths.len().max(placement.left + natural.len()), 0.0);
        for (width, natural) in widths[placement.left..].iter_mut().zip(natural) {
            let most = if *width > 0.0 { most } else { f32::MAX };
            *width = width.max(natural.min(most));
        }
    };
    widen(main, f32::MAX, true);
    walk(&section.body, &mut |block: &Block| {
        if let BlockKind::Table(table) = &block.kind
            && !std::ptr::eq(main, table.as_ref())
        {
            widen(table, WIDENED, false);
        }
    });
    let gaps: HashSet<usize> = placements
        .values()
        .filter_map(|placement| placement.left.checked_sub(1))
        .collect();
    for (column, width) in widths
        .iter_mut()
        .enumerate()
        .filter(|(_, width)| **width == 0.0)
    {
        *width = if gaps.contains(&column) { GAP } else { PLAIN };
    }
    widths
}

/// Column widths that fit the content. Shares refer to `page`, the width of the page, if it is given.
fn natural_widths(table: &Table, document: &Document, page: Option<f32>) -> Vec<f32> {
    let mut natural = vec![(36.0f32, 30.0f32); table.columns.len()];
    measured_cells(table, |column, cell| {
        let style = &document.styles[cell.style];
        let width = cell_text(cell, document)
            .split('\n')
            .map(|line| text_width(line, style.font_size, style.bold))
            .fold(0.0, f32::max);
        // Room for the filter button and the padding of the cell.
        natural[column].0 = natural[column].0.max((width + 16.0).min(300.0));
    });
    let specs: Vec<_> = table.columns.iter().map(|column| column.width).collect();
    let solved = page.map(|page| solve(&specs, &natural, page));
    // A sheet has no page width to respect: columns may be as wide as their content.
    let widths = natural.iter().zip(&specs).enumerate();
    widths
        .map(|(column, ((natural, _), spec))| match spec {
            ColumnWidth::Fixed(width) => width.max(natural.min(90.0)),
            _ => solved.as_ref().map_or(0.0, |all| all[column]).max(*natural),
        })
        .collect()
}
