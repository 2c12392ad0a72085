//! The packs by their names: the tables and plots of each, and how much a full run measures.

use std::fmt::Write as _;

use crate::{Cell, Results, flow, http, markdown::Block, office, plot::Chart, render};

/// Packs in the order of the report; each has a folder with its name.
pub const PACKS: [&str; 4] = ["render", "flow", "office", "http"];

/// The tables of a pack.
#[must_use]
pub fn blocks(results: &Results) -> Vec<Block> {
    match results.pack.as_str() {
        "render" => render::blocks(results),
        "flow" => flow::blocks(results),
        "office" => office::blocks(results),
        "http" => http::blocks(results),
        _ => Vec::new(),
    }
}

/// The plots of a pack, with the names of their files.
#[must_use]
pub fn plots(results: &Results) -> Vec<(String, Chart)> {
    match results.pack.as_str() {
        "render" => render::plots(results),
        "flow" => flow::plots(results),
        "office" => office::plots(results),
        "http" => http::plots(results),
        _ => Vec::new(),
    }
}

impl Results {
    /// How much smaller the run is than a full run of the pack; `None` for a full run.
    #[must_use]
    pub fn how_quick(&self) -> Option<String> {
        let (section, unit, whole, extent): (_, _, _, fn(&Cell) -> f64) = match &*self.pack {
            "render" => ("cells", "requests per cell", render::SAMPLES, requests),
            "flow" => ("matrix", "runs per cell and round", flow::SAMPLES, requests),
            "office" => ("compare", "rounds", office::ROUNDS, rounds),
            "http" => (
                "matrix",
                "s per cell and round",
                http::SECONDS as usize,
                seconds,
            ),
            _ => return None,
        };
        let most = self.section(section).map(extent).reduce(f64::max)?;
        // A run of wrk takes some hundredths of a second longer than requested.
        let is_less = (most.round() as usize) < whole;
        is_less.then(|| format!("at most {most:.0} {unit} instead of {whole}"))
    }

    /// The report of the pack in Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# `{}`\n\n", self.command);
        for block in blocks(self) {
            let _ = writeln!(text, "## {}\n\n{}", block.title, block.body);
        }
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        text
    }
}

/// Number of rounds of a cell.
fn rounds(cell: &Cell) -> f64 {
    cell.rounds.len().max(1) as f64
}

/// Number of requests per round.
fn requests(cell: &Cell) -> f64 {
    cell.requests as f64 / rounds(cell)
}

/// Seconds per round.
fn seconds(cell: &Cell) -> f64 {
    cell.seconds / rounds(cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Load;

    #[test]
    fn a_run_of_fewer_samples_is_a_quick_one() {
        let mut results = Results {
            pack: "render".to_owned(),
            ..Results::default()
        };
        assert_eq!(results.how_quick(), None, "nothing was measured");
        let mut cell = Cell::new("cells", "pdf-1p", &Load::closed(5, 0, 120));
        cell.requests = 120;
        results.cells = vec![cell];
        let why = results.how_quick().unwrap();
        assert_eq!(why, "at most 120 requests per cell instead of 500");
        results.cells[0].requests = 500;
        assert_eq!(results.how_quick(), None);
    }
}
