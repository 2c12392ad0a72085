//! Table rows that depend on where pages end: carried forward, brought forward, page totals.

use std::sync::Arc;

use super::{Aggregate, Cell, CellContent, Row, RowKind, Table, Value, ValueFormat};
use crate::{expression::Sum, locale::Locale};

/// Rows that depend on where pages end. Their cells with an aggregate show it only once pages are
/// known; until then they are empty.
#[derive(Clone, Debug)]
pub struct PageRows {
    /// At the top of every page on which the table continues.
    pub continued: Option<Row>,
    /// Below it, with the totals of the rows on the pages before.
    pub brought_forward: Option<Row>,
    /// At the foot of the table's part on every page, with the totals of the rows on this page.
    pub page_total: Option<Row>,
    /// Below it on every page that the table leaves, with the totals of all rows so far.
    pub carried_forward: Option<Row>,
    /// Number of the table's rows, from the first, that may count; rows written out in the
    /// template follow them.
    pub counted: usize,
    pub(crate) locale: Arc<Locale>,
}

/// What a row adds to the totals of the columns with one: nothing, a number, or
/// [`f64::NAN`] for a value that is no number.
pub type Addends = Box<[Option<f64>]>;

impl PageRows {
    /// What the row `index` of `table` adds to each column; `None` if it does not count.
    #[must_use]
    pub fn addends(&self, table: &Table, index: usize) -> Option<Addends> {
        let row = &table.rows[index];
        let counts = index < self.counted && row.kind == RowKind::Data;
        counts.then(|| row.cells.iter().map(addend).collect())
    }

    /// `row` with the totals of `running` for the columns of `table`.
    #[must_use]
    pub fn filled(&self, row: &Row, table: &Table, running: &Running) -> Row {
        let mut row = row.clone();
        let mut column = 0;
        for cell in &mut row.cells {
            if let (Some(aggregate), Some(total)) = (cell.aggregate, running.columns.get(column)) {
                let format = &table.columns[column].format;
                let text = total.write(aggregate, format, &self.locale);
                cell.content = CellContent::Text(text.into());
            }
            column += usize::from(cell.col_span.max(1));
        }
        row
    }
}

fn addend(cell: &Cell) -> Option<f64> {
    match (cell.value, &cell.content) {
        (Value::Number(number), _) => Some(number),
        (Value::Empty, CellContent::Text(text)) if text.is_empty() => None,
        _ => Some(f64::NAN),
    }
}

/// Totals of a table's columns over rows added one by one.
#[derive(Clone, Debug, Default)]
pub struct Running {
    columns: Vec<Total>,
}

#[derive(Clone, Debug, Default)]
struct Total {
    sum: Sum,
    least: Option<f64>,
    most: Option<f64>,
    filled: usize,
}

impl Running {
    /// Adds a row.
    pub fn add(&mut self, row: &[Option<f64>]) {
        self.columns
            .resize(row.len().max(self.columns.len()), Total::default());
        for (total, addend) in self.columns.iter_mut().zip(row) {
            if let Some(number) = addend {
                total.add(*number);
            }
        }
    }
}

impl Total {
    fn add(&mut self, number: f64) {
        self.filled += 1;
        if !number.is_nan() {
            self.sum.add(number);
            self.least = Some(self.least.map_or(number, |least| least.min(number)));
            self.most = Some(self.most.map_or(number, |most| most.max(number)));
        }
    }

    fn write(&self, aggregate: Aggregate, format: &ValueFormat, locale: &Locale) -> String {
        let count = ValueFormat::Number { decimals: Some(0) };
        let plain = ValueFormat::Number { decimals: None };
        let value = match aggregate {
            Aggregate::Sum => self.sum.total().ok().flatten(),
            Aggregate::Avg => self.sum.mean().ok().flatten(),
            Aggregate::Min => self.least,
            Aggregate::Max => self.most,
            Aggregate::Count => Some(self.filled as f64),
        };
        let format = match format {
            _ if aggregate == Aggregate::Count => &count,
            ValueFormat::Number { .. }
            | ValueFormat::Currency { .. }
            | ValueFormat::Percent { .. } => format,
            _ => &plain,
        };
        value
            .and_then(|value| locale.format_value(Value::Number(value), format))
            .unwrap_or_default()
    }
}
