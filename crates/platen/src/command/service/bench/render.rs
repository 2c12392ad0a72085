//! `platen bench render` and `platen bench seed`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use platen_bench::{
    render::{self, Options},
    target::Bound,
};

use super::{
    Place,
    effort::EffortArguments,
    environment, finish, platen, progress,
    target::{TargetArguments, agree_to_compare},
};
use crate::report::{Failure, OutputArguments, say};

/// Arguments of `platen bench render`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench render\n  \
    platen bench render --cells pdf-1p,format-docx --samples 500 --out results\n  \
    platen bench render --sections isolation,cold\n  \
    platen bench render --url http://127.0.0.1:3000 --api-key KEY --concurrency 5\n  \
    platen bench render --url https://platen.example.com --api-key KEY --quick --yes\n\n\
    Without --url, the command starts the services itself, on free ports, with empty data folders \
    and without rate limits. With --url or --cells it measures only the \
    cells. Cells: pdf-1p, pdf-10p, pdf-100p, \
    format-docx, format-pptx, format-xlsx, csv, html, chromium-1p, chromium-10p, chromium-100p. Sections: \
    cells, serial, chromium, gotenberg, open, saturation, isolation, cold, concurrency, batch, storage, \
    replicas.")]
pub struct Arguments {
    /// Cells to measure; default: all.
    #[arg(long, value_delimiter = ',')]
    cells: Vec<String>,
    /// Sections to measure; default: all.
    #[arg(long, value_delimiter = ',')]
    sections: Vec<String>,
    /// Warm-up renderings; fewer for heavy documents.
    #[arg(long, default_value_t = 100)]
    warmup: usize,
    /// Renderings of a round; fewer of heavy documents, and a part where documents are compared.
    #[arg(long)]
    samples: Option<usize>,
    /// Concurrent renderings.
    #[arg(long, default_value_t = 5)]
    concurrency: usize,
    /// Measure the cells in strict batches: as many requests at once as `--concurrency` says, and
    /// the next when all are answered. Samples are rounded up to whole batches.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    target: TargetArguments,
    /// URL of a Gotenberg that is compared; on another machine with --yes.
    #[arg(long, value_name = "URL", env = "GOTENBERG_URL")]
    gotenberg: Option<String>,
    /// Examples folder.
    #[arg(long, default_value = "examples")]
    examples: PathBuf,
    #[command(flatten)]
    effort: EffortArguments,
    #[command(flatten)]
    place: Place,
}

/// Arguments of `platen bench seed`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench seed --url http://127.0.0.1:3000 --api-key KEY")]
pub struct SeedArguments {
    #[command(flatten)]
    target: TargetArguments,
    /// Examples folder.
    #[arg(long, default_value = "examples")]
    examples: PathBuf,
}

/// Runs the pack.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let mut options = options(arguments)?;
    if let Some(target) = &options.url {
        let cells = match options.cells.len() {
            0 => render::CELLS.len(),
            count => count,
        };
        options.effort.pack_seconds = TargetArguments::seconds(target, options.effort.pack_seconds);
        let bound = Bound::of(&options.effort, cells, options.warmup, options.concurrency);
        arguments.target.agree(target, bound, output)?;
    }
    if !options.cells.is_empty() && options.sections.is_empty() {
        options.sections = vec!["cells".to_owned()];
    }
    agree(&mut options, arguments.target.is_agreed())?;
    let environment = environment();
    let recorder = render::run(&options, &progress(output))?;
    finish(recorder, environment, &arguments.place, output)
}

fn options(arguments: &Arguments) -> Result<Options, Failure> {
    let (url, key, render_key) = match arguments.target.running()? {
        Some(it) => (Some(it.target), it.key, it.render_key),
        None => (None, None, None),
    };
    let is_running = url.is_some();
    Ok(Options {
        platen: platen()?,
        url,
        key,
        render_key,
        gotenberg: arguments.gotenberg.clone(),
        examples: arguments.examples.clone(),
        cells: arguments.cells.clone(),
        sections: arguments.sections.clone(),
        warmup: arguments.warmup,
        effort: arguments.effort.of_either(
            is_running,
            render::WHOLE,
            render::QUICK,
            arguments.samples,
        ),
        concurrency: arguments.concurrency,
        is_strict: arguments.strict,
    })
}

/// Says what load Gotenberg gets, if it is compared, and bounds it.
pub(super) fn agree(options: &mut Options, is_agreed: bool) -> Result<(), Failure> {
    if let Some(url) = options.compared() {
        let (cells, clients) = (render::COMPARED, render::BATCH);
        let bound = Bound::of(&options.effort, cells, options.warmup, clients);
        options.effort.pack_seconds = agree_to_compare(url, bound, is_agreed)?;
    }
    Ok(())
}

/// Stores the templates.
pub fn seed(arguments: &SeedArguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let running = arguments.target.running()?;
    let running = running.ok_or_else(|| {
        Failure::caller(
            "there is no service",
            "give its address with --url".to_owned(),
        )
    })?;
    let key = running.key.as_deref();
    let stored = render::seed(&running.target, key, &arguments.examples)?;
    if !output.quiet {
        say(format_args!(
            "{stored} templates stored; the others already existed"
        ));
    }
    Ok(ExitCode::SUCCESS)
}
