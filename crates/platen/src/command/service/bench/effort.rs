//! How much a pack measures.

use clap::Args;
use platen_bench::Effort;

/// How much a pack measures.
#[derive(Clone, Debug, Args)]
pub struct EffortArguments {
    /// Measure less: about a tenth of the time.
    #[arg(long)]
    pub quick: bool,
    /// Exactly this many rounds; default: until the 95 % interval of each median is below ±5 %, or
    /// a limit is reached.
    #[arg(long)]
    rounds: Option<usize>,
    /// Longest time of a cell, in seconds; three times as long where compared cells have fewer than six rounds.
    #[arg(long, value_name = "SECONDS")]
    cell_seconds: Option<u64>,
    /// Time of the pack, in seconds; cells after it get one round.
    #[arg(long, value_name = "SECONDS")]
    pack_seconds: Option<u64>,
}

/// Rounds of cells of a service that is already running, unless a number is given: others may use it.
const MAX_ROUNDS: usize = 30;

impl EffortArguments {
    /// As [`Self::of`], for a service that is already running if `is_running`.
    pub fn of_either(
        &self,
        is_running: bool,
        whole: Effort,
        quick: Effort,
        samples: Option<usize>,
    ) -> Effort {
        let effort = self.of(whole, quick, samples);
        match self.rounds {
            None if is_running => Effort {
                max_rounds: effort.max_rounds.min(MAX_ROUNDS),
                ..effort
            },
            _ => effort,
        }
    }

    /// The effort of a full or a quick run, with what the arguments change; `samples` replaces the
    /// requests, runs, conversions or seconds of a round.
    pub fn of(&self, whole: Effort, quick: Effort, samples: Option<usize>) -> Effort {
        let effort = if self.quick { quick } else { whole };
        let rounds = self.rounds.map(|rounds| rounds.max(1));
        Effort {
            samples: samples.unwrap_or(effort.samples),
            min_rounds: rounds.unwrap_or(effort.min_rounds),
            max_rounds: rounds.unwrap_or(effort.max_rounds),
            cell_seconds: self.cell_seconds.unwrap_or(effort.cell_seconds),
            pack_seconds: self.pack_seconds.unwrap_or(effort.pack_seconds),
        }
    }
}
