//! The packs by their names: the tables and plots of each, and how much a full run measures.

use std::fmt::Write as _;

use crate::{Effort, Results, flow, http, markdown::Block, office, plot::Chart, render};

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
        let whole = self.whole()?;
        let Some(effort) = &self.effort else {
            return Some("its effort was not recorded".to_owned());
        };
        let less = effort.less_than(&whole);
        (!less.is_empty()).then(|| less.join(", "))
    }

    /// Whether the run was a quick one when it was made: the most rounds and times of full runs change.
    pub(crate) fn was_quick(&self) -> bool {
        let effort = self.effort.as_ref();
        self.whole().is_some_and(|whole| {
            effort.is_none_or(|it| it.samples < whole.samples || it.min_rounds < whole.min_rounds)
        })
    }

    /// The effort of a full run of the pack.
    fn whole(&self) -> Option<Effort> {
        match &*self.pack {
            "render" => Some(render::WHOLE),
            "flow" => Some(flow::WHOLE),
            "office" => Some(office::WHOLE),
            "http" => Some(http::WHOLE),
            _ => None,
        }
    }

    /// The report of the pack in Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# `{}`\n\n", self.command);
        if let Some(why) = self.how_quick() {
            let _ = writeln!(text, "**Draft, a quick run**: {why}.\n");
        }
        for block in blocks(self) {
            let _ = writeln!(text, "## {}\n\n{}", block.title, block.body);
        }
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_less_effort_is_a_quick_one() {
        let mut results = Results {
            pack: "render".to_owned(),
            ..Results::default()
        };
        assert!(results.how_quick().is_some(), "nobody knows");
        results.effort = Some(render::QUICK);
        let why = results.how_quick().unwrap();
        assert!(results.to_markdown().contains("a quick run**: 120"));
        assert!(why.starts_with("120 instead of 500 a round"), "{why}");
        results.effort = Some(render::WHOLE);
        assert_eq!(results.how_quick(), None);
        assert!(!results.to_markdown().contains("quick"));
    }
}
