//! `platen bench flow`: runs of a flow in this process, a fresh sandbox for every code step. Nothing
//! is stored, so this is what runs cost without a service around them.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use platen_engine::flow::{Finish, FlowRunner, NoJournal, RunOptions};

use super::{
    super::flow::{Surroundings, load},
    measure::{Cell, Sample, closed_loop},
};
use crate::report::Failure;

/// Names of the cells, and runs at the same time.
const CELLS: [(&str, usize); 4] = [
    ("flow-c1", 1),
    ("flow-c4", 4),
    ("flow-c16", 16),
    ("flow-c32", 32),
];

/// Arguments of `platen bench flow`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench flow\n  \
    platen bench flow --flow examples/flows/sum.json --samples 5000")]
pub struct FlowArguments {
    /// Flow to run.
    #[arg(long, default_value = "examples/flows/sum.json")]
    flow: PathBuf,
    /// Runs before measuring.
    #[arg(long, default_value_t = 200)]
    warmup: usize,
    /// Runs measured in each cell.
    #[arg(long, default_value_t = 2000)]
    samples: usize,
}

/// Measures all cells.
pub fn run(arguments: &FlowArguments) -> Result<Vec<Cell>, Failure> {
    let flow = load(&arguments.flow)?;
    let here = Surroundings::default();
    let memory = here.memory();
    let runner = FlowRunner::new(Arc::new(here.services()?));
    let once = || {
        let options = RunOptions::default();
        let report = runner.run(&flow, &options, &memory, &mut NoJournal).ok()?;
        let sound = matches!(report.progress.finish(), Some(Finish::Succeeded(_)));
        sound.then(|| Sample {
            size_bytes: report
                .answer
                .map_or(0, |answer| answer["body"].to_string().len()),
            pages: None,
            server_ms: None,
        })
    };
    CELLS
        .iter()
        .map(|(name, concurrency)| {
            let run = closed_loop(*concurrency, arguments.warmup, arguments.samples, || {
                Ok(once)
            })?;
            Ok(Cell::new(name, run))
        })
        .collect()
}
