//! `platen bench compare`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use platen_bench::{compare::compare, report::Published};

use crate::report::{Failure, OutputArguments, print_line};

/// Arguments of `platen bench compare`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench compare bench/results/2026-11-22-amd-epyc-2c bench/results/2026-12-20-amd-epyc-2c\n  \
    platen bench compare before/render after/render --json\n\n\
    Cells are joined by their names. A cell differs if the 95 % intervals of its medians have no \
    value in common.")]
pub struct Arguments {
    /// Results folder of the first run, or of one pack.
    before: PathBuf,
    /// Results folder of the second run.
    after: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let [before, after] = [&arguments.before, &arguments.after].map(|it| Published::read(it));
    let comparison = compare(&before?.packs, &after?.packs);
    if output.json {
        let json = serde_json::to_string(&comparison);
        print_line(&json.map_err(|error| Failure::internal(&error))?);
    } else {
        print_line(comparison.to_markdown().trim_end());
    }
    Ok(ExitCode::SUCCESS)
}
