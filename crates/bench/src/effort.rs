//! How long a cell is measured: until the interval of its median is narrow, or a bound is reached.

use serde::{Deserialize, Serialize};

/// The least and the most of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Effort {
    /// Requests, runs or conversions of a round; of response bodies, seconds of a round, or 0 for the
    /// fraction of a second that a full run takes. Heavy documents count as several.
    pub samples: usize,
    /// Rounds of compared cells, unless the time ends before. Cells that are measured alone have at
    /// least one.
    pub min_rounds: usize,
    /// Most rounds.
    pub max_rounds: usize,
    /// Longest time of a cell, in seconds; compared cells share the sum of theirs, and have three times as
    /// long for the least number of rounds.
    pub cell_seconds: u64,
    /// Time of the pack, in seconds: later cells get one round only.
    pub pack_seconds: u64,
}

impl Effort {
    /// What is less than in another effort, one part each.
    #[must_use]
    pub fn less_than(&self, whole: &Self) -> Vec<String> {
        let parts = [
            ("a round", self.samples, whole.samples),
            ("rounds", self.min_rounds, whole.min_rounds),
            ("rounds at most", self.max_rounds, whole.max_rounds),
            (
                "seconds a cell",
                self.cell_seconds as usize,
                whole.cell_seconds as usize,
            ),
            (
                "seconds in all",
                self.pack_seconds as usize,
                whole.pack_seconds as usize,
            ),
        ];
        let less = parts.into_iter().filter(|(_, own, whole)| own < whole);
        less.map(|(what, own, whole)| format!("{own} instead of {whole} {what}"))
            .collect()
    }
}

#[cfg(test)]
impl Effort {
    /// Of the tests.
    pub(crate) const SMALL: Self = Self {
        samples: 10,
        min_rounds: 3,
        max_rounds: 5,
        cell_seconds: 600,
        pack_seconds: 600,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_is_said_part_by_part() {
        assert!(Effort::SMALL.less_than(&Effort::SMALL).is_empty());
        let quick = Effort {
            samples: 2,
            max_rounds: 4,
            ..Effort::SMALL
        };
        assert_eq!(
            quick.less_than(&Effort::SMALL),
            ["2 instead of 10 a round", "4 instead of 5 rounds at most"]
        );
    }
}
