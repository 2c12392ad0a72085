//! `platen bench report`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use platen_bench::{
    gaps::gaps,
    report::{Published, update},
};

use crate::report::{Failure, OutputArguments, say};

/// Where results that are published are.
pub(super) const RESULTS: &str = "bench/results";

/// Arguments of `platen bench report`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench all --quick && platen bench report\n  \
    platen bench report --results bench/results/2026-11-21-amd-epyc-2c\n  \
    platen bench report --check")]
pub struct Arguments {
    /// Results folder of a run; default: the newest in bench/results.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Document with the markers to fill in.
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks.md")]
    document: PathBuf,
    /// Change nothing; fail if something differs.
    #[arg(long)]
    check: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let published = match &arguments.results {
        Some(folder) => Published::read(folder)?,
        None => Published::newest(Path::new(RESULTS))?,
    };
    update(&arguments.document, &published, arguments.check)?;
    for gap in published.packs.iter().flat_map(gaps) {
        say(format_args!("warning: {gap}"));
    }
    if !output.quiet {
        say(format_args!(
            "{} matches {}",
            arguments.document.display(),
            published.folder.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}
