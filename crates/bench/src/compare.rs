//! Compares two runs: where the intervals of their medians have no value in common, something has
//! changed.

use serde::Serialize;

use crate::{
    Cell, Name, Results,
    interval::{Basis, Interval},
    markdown::{Table, ms, rate},
};

/// A cell of both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What was measured.
    pub name: Name,
    /// Number of clients.
    pub concurrency: usize,
    /// The median of the first run.
    pub before: Interval,
    /// The median of the second run.
    pub after: Interval,
    /// How many times as fast the second run is.
    pub speed: f64,
}

/// What two runs have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Cells whose intervals have no value in common; the largest change first.
    pub changes: Vec<Change>,
    /// Number of cells whose intervals overlap.
    pub same: usize,
    /// Number of cells with too few values in one run, failed requests, or another kind of value.
    pub unknown: usize,
    /// Number of cells that only one run has.
    pub alone: usize,
    /// Packs of quick runs, and why they are quick.
    pub quick: Vec<String>,
}

/// Compares the packs of two runs; cells are joined by their names and numbers of clients.
#[must_use]
pub fn compare(before: &[Results], after: &[Results]) -> Comparison {
    let old: Vec<&Cell> = before.iter().flat_map(|results| &results.cells).collect();
    let new: Vec<&Cell> = after.iter().flat_map(|results| &results.cells).collect();
    let quick = [("before", before), ("after", after)].map(|(which, packs)| {
        let quick = packs
            .iter()
            .filter(|it| it.was_quick())
            .filter_map(|it| Some((&it.pack, it.how_quick()?)));
        let named = quick.map(|(pack, why)| format!("{which}, {pack}: {why}"));
        named.collect::<Vec<_>>()
    });
    let mut comparison = Comparison {
        quick: quick.concat(),
        ..Comparison::default()
    };
    for cell in &old {
        let is_same = |other: &&&Cell| {
            other.name == cell.name
                && other.concurrency == cell.concurrency
                && other.mode == cell.mode
        };
        let Some(other) = new.iter().find(is_same) else {
            comparison.alone += 1;
            continue;
        };
        match change(cell, other) {
            Some((change, true)) => comparison.changes.push(change),
            Some((_, false)) => comparison.same += 1,
            None => comparison.unknown += 1,
        }
    }
    let common = comparison.changes.len() + comparison.same + comparison.unknown;
    comparison.alone += new.len().saturating_sub(common);
    let size = |change: &Change| change.speed.max(1.0 / change.speed.max(1e-9));
    comparison
        .changes
        .sort_by(|one, other| size(other).total_cmp(&size(one)));
    comparison
}

fn change(before: &Cell, after: &Cell) -> Option<(Change, bool)> {
    if before.is_void() || after.is_void() {
        return None;
    }
    let (old, new) = (before.interval?, after.interval?);
    let differs = old.differs_from(&new)?;
    let change = Change {
        name: before.name.clone(),
        concurrency: before.concurrency,
        before: old,
        after: new,
        speed: speed(&old, &new)?,
    };
    Some((change, differs))
}

/// How many times as fast the second median is.
pub(crate) fn speed(before: &Interval, after: &Interval) -> Option<f64> {
    let is_known = before.median > 0.0 && after.median > 0.0 && before.basis == after.basis;
    is_known.then(|| match before.basis {
        Basis::RoundRates => after.median / before.median,
        Basis::Requests | Basis::RoundTimes => before.median / after.median,
    })
}

impl Comparison {
    /// The changes as a table, and the numbers of the other cells.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut table = Table::new(&["Cell", "At a time", "Before", "After", "Speed"]);
        for change in &self.changes {
            let word = match change.speed > 1.0 {
                true => "faster",
                false => "slower",
            };
            table.row(vec![
                change.name.to_string(),
                change.concurrency.to_string(),
                text(&change.before),
                text(&change.after),
                format!("{:.2}, {word}", change.speed),
            ]);
        }
        let changes = match self.changes.is_empty() {
            true => "No cell differs by more than its interval.\n".to_owned(),
            false => table.to_string(),
        };
        let quick = match self.quick.is_empty() {
            true => String::new(),
            false => format!("Quick runs: {}.\n\n", self.quick.join("; ")),
        };
        format!(
            "{quick}{changes}\n{} cells differ by more than their intervals, {} do not; {} cannot be \
             compared, and {} are in one run only.\n",
            self.changes.len(),
            self.same,
            self.unknown,
            self.alone
        )
    }
}

/// A median with its limits: `1.20 ms (1.10 ms to 1.25 ms)`.
fn text(interval: &Interval) -> String {
    let show = |value: f64| match interval.basis {
        Basis::RoundRates => format!("{}/s", rate(value)),
        Basis::Requests | Basis::RoundTimes => ms(value),
    };
    let median = show(interval.median);
    match interval.limits {
        Some((low, high)) => format!("{median} ({} to {})", show(low), show(high)),
        None => median,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        load::Load,
        name::{Document, RenderName},
    };

    fn run(cells: &[(Document, f64, usize)]) -> Results {
        let cells = cells.iter().map(|(document, ms, count)| {
            let name = RenderName::Serial {
                document: *document,
            };
            let mut cell = Cell::new(name, &Load::closed(1, 0, *count));
            cell.requests = *count as u64;
            cell.interval = Interval::of(Basis::Requests, &vec![*ms; *count]);
            cell
        });
        Results {
            cells: cells.collect(),
            ..Results::default()
        }
    }

    #[test]
    fn only_what_differs_by_more_than_its_interval_is_a_change() {
        let before = run(&[
            (Document::Pdf1p, 2.0, 9),
            (Document::Pdf10p, 20.0, 9),
            (Document::Csv, 1.0, 9),
            (Document::Html, 1.0, 3),
            (Document::Docx, 1.0, 9),
        ]);
        let after = run(&[
            (Document::Pdf10p, 25.0, 9),
            (Document::Pdf1p, 1.0, 9),
            (Document::Csv, 1.0, 9),
            (Document::Html, 9.0, 3),
            (Document::Xlsx, 1.0, 9),
        ]);
        let found = compare(&[before], &[after]);
        let counts = (found.changes.len(), found.same, found.unknown, found.alone);
        assert_eq!(counts, (2, 1, 1, 2));
        let text = found.to_markdown();
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows[..2],
            [
                "| serial/pdf-1p | 1 | 2.00 ms (2.00 ms to 2.00 ms) | 1.00 ms (1.00 ms to 1.00 ms) | \
                 2.00, faster |",
                "| serial/pdf-10p | 1 | 20.0 ms (20.0 ms to 20.0 ms) | 25.0 ms (25.0 ms to 25.0 ms) | \
                 0.80, slower |",
            ]
        );
        assert!(
            compare(&[], &[])
                .to_markdown()
                .starts_with("No cell differs")
        );
        let quick = Results {
            pack: "render".to_owned(),
            ..run(&[(Document::Pdf1p, 2.0, 9)])
        };
        let text = compare(&[quick], &[]).to_markdown();
        assert!(
            text.starts_with("Quick runs: before, render: its effort"),
            "{text}"
        );
    }
}
