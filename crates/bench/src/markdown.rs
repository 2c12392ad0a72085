//! Markdown tables, and the formatting of figures in them.

use std::fmt::Write as _;

use crate::{Cell, Times};

/// A part of a report: the content between two markers.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Id in the marker, such as `render/cells`.
    pub id: String,
    /// Title.
    pub title: String,
    /// Content in Markdown.
    pub body: String,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    #[must_use]
    pub fn new(head: &[&str]) -> Self {
        Self {
            head: head.iter().map(|text| (*text).to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// A table of cells: with columns for the precision and for failures after these.
    #[must_use]
    pub fn of_cells(head: &[&str]) -> Self {
        let mut table = Self::new(head);
        let last = ["n, 95 % interval of the median", "Failures"];
        table.head.extend(last.map(str::to_owned));
        table
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Adds the figures of a cell after its name, to a table of cells; for a void cell, `void` instead of figures.
    pub fn cell(&mut self, cell: &Cell, name: Vec<String>, figures: impl FnOnce() -> Vec<String>) {
        let mut row = name;
        if cell.is_void() {
            let missing = self.head.len().saturating_sub(row.len() + 1);
            row.extend(std::iter::repeat_n("void".to_owned(), missing));
        } else {
            row.extend(figures());
            row.push(precision(cell));
        }
        row.push(cell.failures_of_requests());
        self.row(row);
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Converts the table to a block.
    #[must_use]
    pub fn block(&self, id: &str, title: &str) -> Block {
        Block {
            id: id.to_owned(),
            title: title.to_owned(),
            body: self.to_string(),
        }
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(formatter, "| {} |", self.head.join(" | "))?;
        writeln!(formatter, "|{}", "---|".repeat(self.head.len()))?;
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|text| text.replace('|', "\\|")).collect();
            writeln!(formatter, "| {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}

/// Shown if a figure does not apply, such as the pages of a spreadsheet.
pub const NONE: &str = "-";
/// Shown if a figure is missing.
pub const MISSING: &str = "not measured";

/// Number of values of a cell and the 95 % interval of their median; `(bound)` where the measurement
/// ended before the interval was narrow.
#[must_use]
pub fn precision(cell: &Cell) -> String {
    maybe(cell.interval, |interval| interval.to_string())
}

/// Formats milliseconds, with digits according to their size; `-` where some were lost, so that fewer
/// than none are left.
#[must_use]
pub fn ms(value: f64) -> String {
    match value {
        it if it < 0.0 => "-".to_owned(),
        it if it >= 100.0 => format!("{it:.0} ms"),
        it if it >= 10.0 => format!("{it:.1} ms"),
        it => format!("{it:.2} ms"),
    }
}

/// Formats milliseconds; in microseconds below one.
#[must_use]
pub fn fine(value: f64) -> String {
    match value {
        it if it < 1.0 => format!("{:.0} µs", it * 1e3),
        it => ms(it),
    }
}

/// Formats a rate per second.
#[must_use]
pub fn rate(value: f64) -> String {
    match value {
        it if it >= 1_000.0 => thousands(it.round() as u64),
        it if it >= 100.0 => format!("{it:.0}"),
        it if it >= 1.0 => format!("{it:.1}"),
        it => format!("{it:.2}"),
    }
}

/// Formats a size in kB, MB or GB (powers of 1,000).
#[must_use]
pub fn size(bytes: Option<u64>) -> String {
    match bytes {
        None => NONE.to_owned(),
        Some(bytes) if bytes >= 1_000_000_000 => format!("{:.1} GB", bytes as f64 / 1e9),
        Some(bytes) if bytes >= 1_000_000 => format!("{:.2} MB", bytes as f64 / 1e6),
        Some(bytes) => format!("{:.1} kB", bytes as f64 / 1e3),
    }
}

/// Formats p50, p95 and p99.
#[must_use]
pub fn percentiles(times: Option<&Times>) -> Vec<String> {
    match times {
        Some(times) => vec![ms(times.p50), ms(times.p95), ms(times.p99)],
        None => vec![MISSING.to_owned(); 3],
    }
}

/// Formats a figure that should exist.
#[must_use]
pub fn maybe<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| MISSING.to_owned(), show)
}

fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        let _ = write!(text, "{digit}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        load::Load,
        name::{Document, RenderName},
    };

    #[test]
    fn a_void_cell_shows_no_figure() {
        let mut cell = Cell::new(
            RenderName::Cells {
                document: Document::Pdf1p,
            },
            &Load::closed(1, 0, 1),
        );
        cell.requests = 500;
        cell.failures = 3;
        cell.rps = 77.0;
        let mut table = Table::of_cells(&["Cell", "RPS", "p50"]);
        table.cell(&cell, vec!["pdf-1p".to_owned()], || {
            vec!["77".to_owned(), "1 ms".to_owned()]
        });
        let text = table.to_string();
        assert!(
            text.contains("| pdf-1p | void | void | void | 3/500 |"),
            "{text}"
        );
        assert!(!text.contains("77"));
    }

    #[test]
    fn figures() {
        assert_eq!(rate(1_234_567.0), "1,234,567");
        assert_eq!(rate(12.34), "12.3");
        assert_eq!(ms(0.123_4), "0.12 ms");
        assert_eq!([fine(0.123_4), fine(1.5)], ["123 µs", "1.50 ms"]);
        assert_eq!(size(Some(2_500_000)), "2.50 MB");
        assert_eq!(size(None), "-");
    }
}
