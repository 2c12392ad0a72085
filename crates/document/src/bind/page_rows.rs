//! Rows that depend on where pages end: their labels and the cells that show totals.

use std::sync::Arc;

use super::{
    Binder,
    table::{TableRun, row, wide_cell},
};
use crate::{
    bound::{Cell, PageRows, Row, RowKind},
    expression::Scope,
    template::{Content, TotalSpec},
};

impl<'b> Binder<'b> {
    /// The rows of a table that depend on where pages end, if it has any.
    pub(super) fn page_rows(
        &mut self,
        run: &TableRun<'b>,
        scope: &Scope<'_>,
    ) -> Option<Box<PageRows>> {
        let node = run.node;
        let continued = node.continued.as_ref().map(|label| {
            let style = self.cell_style(run.style, "groupHeader", None, None);
            let content = self.content_at("continued", label, style, scope);
            let cell = wide_cell(content, style, run.columns.len());
            row(RowKind::GroupHeader(0), vec![cell])
        });
        let mut labelled = |token: &str, label: &'b Option<Content>| {
            let label = label.as_ref()?;
            Some(self.page_row(run, token, label, scope))
        };
        let brought_forward = labelled("broughtForward", &node.brought_forward);
        let page_total = labelled("pageTotal", &node.page_total);
        let carried_forward = labelled("carriedForward", &node.carried_forward);
        let rows = [&continued, &brought_forward, &page_total, &carried_forward];
        if rows.iter().all(|row| row.is_none()) {
            return None;
        }
        Some(Box::new(PageRows {
            continued,
            brought_forward,
            page_total,
            carried_forward,
            counted: run.counted,
            locale: Arc::clone(&self.evaluation.shared.locale),
        }))
    }

    /// A row with a label, and empty cells where totals will be.
    fn page_row(
        &mut self,
        run: &TableRun<'b>,
        token: &str,
        label: &'b Content,
        scope: &Scope<'_>,
    ) -> Row {
        let aggregate = |at: usize| match run.columns[at].spec.total {
            Some(TotalSpec::Aggregate(aggregate)) => Some(aggregate),
            _ => None,
        };
        let columns = run.columns.len();
        let first = (0..columns).find(|at| aggregate(*at).is_some());
        let span = first.unwrap_or(columns);
        let style = self.cell_style(run.style, "subtotal", None, None);
        let content = self.content_at(token, label, style, scope);
        let mut cells = Vec::with_capacity(columns);
        if span > 0 {
            cells.push(wide_cell(content, style, span));
        }
        for at in span..columns {
            let align = run.columns[at].align;
            let style = self.cell_style(run.style, "subtotal", align, None);
            cells.push(Cell {
                aggregate: aggregate(at),
                ..Cell::text("", style)
            });
        }
        row(RowKind::Subtotal(0), cells)
    }
}
