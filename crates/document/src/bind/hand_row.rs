//! Table rows written out in the template, with spans.

use super::{
    Binder,
    table::{ColumnPlan, TableRun, row},
};
use crate::{
    bound::{Cell, CellContent, Row, RowKind, StyleId, Value, ValueFormat},
    expression::{CompiledText, Failure, Scope},
    template::{CellSpec, Content, FullCellSpec, RowSpec},
};

impl<'b> Binder<'b> {
    /// Binds the written-out rows in the field `token`. Conditions may omit rows and columns inside
    /// a span; the span then shrinks.
    pub(super) fn hand_rows(
        &mut self,
        run: &TableRun<'b>,
        token: &str,
        specs: &'b [RowSpec],
        kind: RowKind,
        scope: &Scope<'_>,
    ) -> Vec<Row> {
        let mut shown = Vec::with_capacity(specs.len());
        for (index, spec) in specs.iter().enumerate() {
            shown.push(self.item(token, index, |binder| {
                binder.holds("when", spec.when.as_ref(), scope)
            }));
        }
        // Per column of the template: how many more rows a cell above covers, and whether that cell
        // is shown.
        let mut covered = vec![(0_usize, true); run.node.columns.len()];
        let mut rows = Vec::new();
        for (index, spec) in specs.iter().enumerate() {
            if self.stopped() {
                break;
            }
            let cells = self.item(token, index, |binder| {
                binder.hand_row(run, spec, kind, &shown[index..], &mut covered, scope)
            });
            if shown[index] {
                rows.push(row(kind, cells));
            }
            for (rows, _) in &mut covered {
                *rows = rows.saturating_sub(1);
            }
        }
        rows
    }

    fn hand_row(
        &mut self,
        run: &TableRun<'b>,
        spec: &'b RowSpec,
        kind: RowKind,
        shown: &[bool],
        covered: &mut [(usize, bool)],
        scope: &Scope<'_>,
    ) -> Vec<Cell> {
        let mut specs = spec.cells.iter().enumerate();
        let mut cells = Vec::new();
        let mut column = 0;
        // A column with `each` has several plans, or none.
        let plans = |at: usize| run.columns.iter().filter(move |plan| plan.index == at);
        while column < covered.len() {
            if covered[column].0 > 0 {
                if !covered[column].1 {
                    self.blank_cells(run, spec, kind, column, &mut cells);
                }
                column += 1;
                continue;
            }
            let Some((index, cell)) = specs.next() else {
                self.blank_cells(run, spec, kind, column, &mut cells);
                column += 1;
                continue;
            };
            // The first element of a repeated column decides how far its cells reach.
            let plan = plans(column).next();
            let first = self.item("cells", index, |binder| {
                plan.map_or(Some(cell), |plan| {
                    plan.within(scope, |scope| binder.dynamic_cell(cell, scope))
                })
            });
            let (wide, high) = spans(first.unwrap_or(cell));
            let wide = wide.min(covered.len() - column);
            covered[column..column + wide].fill((high, shown[0]));
            let spanned: Vec<_> = (column..column + wide).flat_map(plans).collect();
            let row_span = shown.iter().take(high).filter(|shown| **shown).count();
            // A cell of its own for each element, or one that covers them all.
            let single = wide == 1 && spanned.len() > 1;
            let made = spanned.len().min(if single { usize::MAX } else { 1 });
            for (nth, plan) in spanned.iter().take(made).enumerate() {
                if !shown[0] {
                    break;
                }
                let mut made = self.item("cells", index, |binder| {
                    plan.within(scope, |scope| {
                        let cell = match nth {
                            0 => first,
                            _ => first.and_then(|_| binder.dynamic_cell(cell, scope)),
                        };
                        binder.hand_cell(run, cell, spec, kind, plan, scope)
                    })
                });
                let col_span = if single { 1 } else { spanned.len() };
                made.col_span = u16::try_from(col_span).unwrap_or(u16::MAX);
                made.row_span = u16::try_from(row_span.max(1)).unwrap_or(u16::MAX);
                cells.push(made);
            }
            column += wide;
        }
        cells
    }

    /// Adds the cells of a column for which the row has none.
    fn blank_cells(
        &mut self,
        run: &TableRun<'b>,
        spec: &RowSpec,
        kind: RowKind,
        column: usize,
        cells: &mut Vec<Cell>,
    ) {
        for plan in run.columns.iter().filter(|plan| plan.index == column) {
            let style = self.hand_style(run, kind, plan, None, spec);
            cells.push(Cell::text("", style));
        }
    }

    fn hand_style(
        &mut self,
        run: &TableRun<'b>,
        kind: RowKind,
        plan: &ColumnPlan<'_>,
        cell: Option<&FullCellSpec>,
        row: &RowSpec,
    ) -> StyleId {
        let name = match kind {
            RowKind::Header => "tableHeader",
            RowKind::Total => "tableTotal",
            _ => "tableCell",
        };
        let align = cell.and_then(|cell| cell.align).or(plan.align);
        let style = self.cell_style(run.style, name, align, row.style.as_ref());
        let Some(cell) = cell else {
            return style;
        };
        let sheet = self.sheet;
        let mut style = self.styles[style].clone();
        style.vertical_align = cell.vertical_align.unwrap_or(style.vertical_align);
        if let Some(own) = &cell.style {
            sheet.overlay_ref(&mut style, own);
        }
        self.styles.intern(style)
    }

    fn hand_cell(
        &mut self,
        run: &TableRun<'b>,
        cell: Option<&'b CellSpec>,
        row: &RowSpec,
        kind: RowKind,
        plan: &ColumnPlan<'_>,
        scope: &Scope<'_>,
    ) -> Cell {
        let (text, cell) = match cell {
            None => (None, None),
            Some(CellSpec::Text(text)) => (Some(text), None),
            Some(CellSpec::Full(cell)) => match &cell.content {
                Some(Content::Text(text)) if cell.body.is_empty() => (Some(text), Some(&**cell)),
                _ => (None, Some(&**cell)),
            },
        };
        let style = self.hand_style(run, kind, plan, cell, row);
        let column_format = match kind {
            RowKind::Header => ValueFormat::default(),
            _ => plan.format.clone(),
        };
        let given = cell.and_then(|cell| cell.format.as_ref());
        let format = given.map(|format| self.value_format(format, scope));
        if let Some(text) = text.and_then(|text| self.compiled.text(text)) {
            let wanted = format.clone().unwrap_or_else(|| {
                // A text below a column of numbers is legitimate.
                self.fitting(text, &column_format, scope)
            });
            let mut made = self.text_cell(text, &wanted, style, scope);
            if made.format.is_none() && wanted != column_format && made.value != Value::Empty {
                made.format = Some(Box::new(wanted));
            }
            return made;
        }
        let content = match cell {
            Some(cell) if !cell.body.is_empty() => {
                let inside = self.cell_place(style, plan.width, run.place);
                let blocks = self.nodes_at("body", &cell.body, inside, scope);
                CellContent::Blocks(blocks.into_boxed_slice())
            }
            Some(FullCellSpec {
                content: Some(content),
                ..
            }) => {
                let content = self.content_at("content", content, style, scope);
                CellContent::Inlines(content.into_boxed_slice())
            }
            _ => CellContent::default(),
        };
        Cell {
            content,
            ..Cell::text("", style)
        }
    }

    /// `format` if the text is a single expression whose value fits it, otherwise plain text.
    fn fitting(&self, text: &CompiledText, format: &ValueFormat, scope: &Scope<'_>) -> ValueFormat {
        let Some(expression) = text.single().filter(|_| *format != ValueFormat::Text) else {
            return ValueFormat::Text;
        };
        let made: Result<_, Failure> = expression
            .evaluate(scope, &self.evaluation)
            .and_then(|value| value.format(format, &self.evaluation.shared));
        match made {
            Ok(_) => format.clone(),
            Err(_) => ValueFormat::Text,
        }
    }
}

/// Number of columns and rows that a cell covers.
fn spans(cell: &CellSpec) -> (usize, usize) {
    let count = |span: Option<u16>| usize::from(span.unwrap_or(1)).max(1);
    match cell {
        CellSpec::Text(_) => (1, 1),
        CellSpec::Full(cell) => (count(cell.col_span), count(cell.row_span)),
    }
}
