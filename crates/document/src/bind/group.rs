//! Row groups with headers and subtotals, and grand totals.

use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::{
    Binder,
    cell::is_numeric,
    table::{TableRun, row, wide_cell},
};
use crate::{
    bound::{Aggregate, Cell, CellContent, RowKind, Value, ValueFormat, plain_text},
    expression::{Entry, Failure, Scope, Sum},
    template::{Content, TotalSpec},
};

/// Running aggregates of a column.
#[derive(Clone, Debug, Default)]
pub(super) struct Accumulator {
    sum: Sum,
    least: Option<f64>,
    most: Option<f64>,
    /// Number of non-empty cells.
    filled: usize,
    /// Number of non-empty cells that are not numbers.
    words: usize,
}

/// Running aggregates of all columns.
#[derive(Clone, Debug)]
pub(super) struct Totals {
    pub(super) columns: Vec<Accumulator>,
}

impl Totals {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns: vec![Accumulator::default(); columns],
        }
    }
}

impl Accumulator {
    pub(super) fn add(&mut self, cell: &Cell) {
        let number = match cell.value {
            Value::Number(number) => number,
            Value::Empty if matches!(&cell.content, CellContent::Text(text) if text.is_empty()) => {
                return;
            }
            _ => {
                self.filled += 1;
                self.words += 1;
                return;
            }
        };
        self.filled += 1;
        self.sum.add(number);
        self.least = Some(self.least.map_or(number, |least| least.min(number)));
        self.most = Some(self.most.map_or(number, |most| most.max(number)));
    }

    fn value(&self, aggregate: Aggregate) -> Result<Option<f64>, Failure> {
        if aggregate != Aggregate::Count && self.words > 0 {
            return Err(Failure::new(
                "not-a-number",
                "the column's total needs numbers, but it holds other values",
            ));
        }
        match aggregate {
            Aggregate::Sum => self.sum.total(),
            Aggregate::Avg => self.sum.mean(),
            Aggregate::Min => Ok(self.least),
            Aggregate::Max => Ok(self.most),
            Aggregate::Count => Ok(Some(self.filled as f64)),
        }
    }
}

impl<'b> Binder<'b> {
    /// Binds `rows`, grouped by the levels from `level` on.
    pub(super) fn grouped(
        &mut self,
        run: &mut TableRun<'b>,
        rows: &[&Json],
        level: usize,
        scope: &Scope<'_>,
    ) {
        let Some(spec) = run.node.groups.get(level) else {
            for value in rows {
                if self.stopped() {
                    return;
                }
                self.data_row(run, value, scope);
            }
            return;
        };
        let groups = self.groups(run, rows, level, scope);
        for (index, (key, rows)) in groups.iter().enumerate() {
            if self.stopped() {
                return;
            }
            run.totals[level + 1] = Totals::new(run.columns.len());
            let group = scope.with("group", Entry::Group { key, rows });
            let scope = group.with("rows", Entry::Rows(rows));
            let kind_level = u8::try_from(level).unwrap_or(u8::MAX);
            let first = run.rows.len();
            if let Some(header) = &spec.header {
                let style = self.cell_style(run.style, "groupHeader", None, None);
                let content = self.item("groups", level, |binder| {
                    binder.content_at("header", header, style, &scope)
                });
                let cell = wide_cell(content, style, run.columns.len());
                run.rows
                    .push(row(RowKind::GroupHeader(kind_level), vec![cell]));
            }
            self.grouped(run, rows, level + 1, &scope);
            if let Some(footer) = &spec.footer {
                let totals = run.totals[level + 1].clone();
                let kind = RowKind::Subtotal(kind_level);
                self.item("groups", level, |binder| {
                    binder.total_row(run, kind, "footer", footer, &totals, &scope);
                });
            }
            if spec.page_break
                && index > 0
                && let Some(first) = run.rows.get_mut(first)
            {
                first.page_break = true;
            }
        }
    }

    /// Groups the rows by equal value, in order of first appearance.
    fn groups<'s>(
        &mut self,
        run: &TableRun<'b>,
        rows: &[&'s Json],
        level: usize,
        scope: &Scope<'_>,
    ) -> Vec<(Json, Vec<&'s Json>)> {
        let Some(by) = self.compiled.expression(&run.node.groups[level].by) else {
            return Vec::new();
        };
        let mut places: FxHashMap<String, usize> = FxHashMap::default();
        let mut groups: Vec<(Json, Vec<&'s Json>)> = Vec::new();
        for (index, value) in rows.iter().enumerate() {
            if self.stopped() {
                break;
            }
            let scope = scope
                .with(run.item_name(), Entry::Json(value))
                .at(index, rows.len());
            let key = match by.evaluate(&scope, &self.evaluation) {
                Ok(key) => key.into_json(),
                Err(failure) => {
                    self.item("groups", level, |binder| {
                        binder.below("by", |binder| binder.report(failure, &scope));
                    });
                    continue;
                }
            };
            let place = *places.entry(key.to_string()).or_insert_with(|| {
                groups.push((key, Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push(value);
        }
        groups
    }

    /// Adds a row with a label and the aggregates of the columns.
    pub(super) fn total_row(
        &mut self,
        run: &mut TableRun<'b>,
        kind: RowKind,
        token: &str,
        label: &'b Content,
        totals: &Totals,
        scope: &Scope<'_>,
    ) {
        let name = match kind {
            RowKind::Subtotal(_) => "subtotal",
            _ => "tableTotal",
        };
        let has_total = |at: usize| run.columns[at].spec.total.is_some();
        let first = (0..run.columns.len()).find(|at| has_total(*at));
        let span = first.unwrap_or(run.columns.len());
        let label_style = self.cell_style(run.style, name, None, None);
        let content = self.content_at(token, label, label_style, scope);
        let mut cells = Vec::with_capacity(run.columns.len());
        if span > 0 {
            cells.push(wide_cell(content, label_style, span));
        } else if !plain_text(&content).trim().is_empty() {
            self.below(token, |binder| {
                binder.warn(
                    "no-room-for-label",
                    "the first column has a total, so the row's label is omitted",
                );
            });
        }
        // The pointer of a subtotal is that of its group, but the columns belong to the table.
        let path = self.path.clone();
        if let RowKind::Subtotal(_) = kind {
            let table = path.rfind("/groups/").unwrap_or(path.len());
            self.path.truncate(table);
        }
        for at in span..run.columns.len() {
            let plan = &run.columns[at];
            let style = self.cell_style(run.style, name, plan.align, None);
            let cell = match &plan.spec.total {
                None => Cell::text("", style),
                Some(total) => self.item("columns", plan.index, |binder| {
                    binder.below("total", |binder| match total {
                        TotalSpec::Text(text) => match binder.compiled.text(text) {
                            Some(text) => plan.within(scope, |scope| {
                                binder.text_cell(text, &plan.format, style, scope)
                            }),
                            None => Cell::text("", style),
                        },
                        TotalSpec::Aggregate(aggregate) => {
                            let value = totals.columns[at].value(*aggregate);
                            binder.aggregate_cell(*aggregate, value, &plan.format, style, scope)
                        }
                    })
                }),
            };
            cells.push(cell);
        }
        self.path = path;
        run.rows.push(row(kind, cells));
    }

    fn aggregate_cell(
        &mut self,
        aggregate: Aggregate,
        value: Result<Option<f64>, Failure>,
        format: &ValueFormat,
        style: crate::bound::StyleId,
        scope: &Scope<'_>,
    ) -> Cell {
        let value = match value {
            Ok(Some(value)) => value,
            Ok(None) => return Cell::text("", style),
            Err(failure) => {
                self.report(failure, scope);
                return Cell::text("", style);
            }
        };
        let count = ValueFormat::Number { decimals: Some(0) };
        let plain = ValueFormat::Number { decimals: None };
        let written = match aggregate {
            Aggregate::Count => &count,
            _ if is_numeric(format) => format,
            _ => &plain,
        };
        let locale = &self.evaluation.shared.locale;
        let text = locale
            .format_value(Value::Number(value), written)
            .unwrap_or_default();
        Cell {
            value: Value::Number(value),
            aggregate: Some(aggregate),
            format: (written != format).then(|| Box::new(written.clone())),
            ..Cell::text(text, style)
        }
    }
}
