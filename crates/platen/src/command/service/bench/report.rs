//! `platen bench report`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use platen_bench::{
    gaps::gaps,
    report::{Published, Status, update, update_figures},
};

use crate::report::{Failure, OutputArguments, say};

/// Where results that are published are.
pub(super) const RESULTS: &str = "bench/results";

/// Arguments of `platen bench report`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench all && platen bench report\n  \
    platen bench all --quick && platen bench report --draft\n  \
    platen bench report --results bench/results/2026-11-21-amd-epyc-2c\n  \
    platen bench report --check")]
pub struct Arguments {
    /// Results folder of a run; default: the newest in bench/results.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Document with the markers to fill in.
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks.md")]
    document: PathBuf,
    /// Documents whose prose has figures to fill in, separated by commas.
    #[arg(
        long,
        value_name = "FILES",
        value_delimiter = ',',
        default_value = "README.md,docs/guides/sizing.md"
    )]
    prose: Vec<PathBuf>,
    /// Publish results that are not final: of quick runs, of a modified tree or with gaps. Every
    /// table says that it is a draft.
    #[arg(long)]
    draft: bool,
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
    let status = match (arguments.draft, arguments.check) {
        (true, _) => Some(Status::Draft),
        // A check takes the document as what it says that it is.
        (false, true) => None,
        (false, false) => Some(Status::Final),
    };
    update(&arguments.document, &published, status, arguments.check)?;
    for document in &arguments.prose {
        update_figures(document, &published, arguments.check)?;
    }
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
