//! `platen bench flow`, and how this process runs a flow without a service.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use clap::Args;
use platen_bench::{
    Outcome,
    flow::{self, Once, Options, Sandbox},
    target::Bound,
};
use platen_flow::Finish;
use platen_jail::Jail;
use platen_runs::execution::{FlowRunner, NoJournal, RunOptions};
use platen_script::{KIND, Runner};

use super::{
    super::flow::{Surroundings, load},
    Place,
    effort::EffortArguments,
    environment, finish, platen, progress,
    target::TargetArguments,
};
use crate::report::{Failure, OutputArguments};

/// Where the script of the peer is in a checkout of the source.
pub(super) const PEER: &str = "bench/flow-peer/start.sh";

/// Arguments of `platen bench flow`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench flow\n  \
    platen bench flow --samples 5000 --concurrency 1,16,64 --out results\n  \
    platen bench flow --url http://127.0.0.1:3000 --api-key KEY\n\n\
    Without --url, the command starts services and workers itself. It measures the Node server if \
    Node and isolated-vm are available, and fleets if PostgreSQL, Redis, versitygw and nginx are.")]
pub struct Arguments {
    /// Flow to run.
    #[arg(long, default_value = "examples/flows/sum.json")]
    flow: PathBuf,
    /// Warm-up runs.
    #[arg(long, default_value_t = 200)]
    warmup: usize,
    /// Runs of a round.
    #[arg(long)]
    samples: Option<usize>,
    /// Concurrent runs, one cell per value.
    #[arg(long, value_delimiter = ',', default_value = "1,4,16,32")]
    concurrency: Vec<usize>,
    #[command(flatten)]
    target: TargetArguments,
    /// Script that starts the Node server; its arguments are PORT and `cold` or `warm`.
    #[arg(long, value_name = "FILE", default_value = PEER)]
    peer: PathBuf,
    /// Script that starts a fleet; its settings are in the environment.
    #[arg(long, value_name = "FILE", default_value = flow::SCRIPT)]
    fleet: PathBuf,
    #[command(flatten)]
    effort: EffortArguments,
    #[command(flatten)]
    place: Place,
}

/// Runs the pack.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let path = arguments.flow.clone();
    let in_process = move |sandbox| in_process(&path, sandbox);
    let (url, key) = match arguments.target.running()? {
        Some(it) => (Some(it.target), it.key),
        None => (None, None),
    };
    let is_running = url.is_some();
    let mut options = Options {
        platen: platen()?,
        url,
        key,
        flow: arguments.flow.clone(),
        warmup: arguments.warmup,
        effort: arguments
            .effort
            .of_either(is_running, flow::WHOLE, flow::QUICK, arguments.samples),
        concurrency: arguments.concurrency.clone(),
        peer: Some(arguments.peer.clone()).filter(|path| path.is_file()),
        fleet: Some(arguments.fleet.clone()).filter(|path| path.is_file()),
        in_process: &in_process,
    };
    if let Some(target) = &options.url {
        let cells = options.concurrency.len();
        let clients = options.concurrency.iter().copied().max().unwrap_or(1);
        options.effort.pack_seconds = TargetArguments::seconds(target, options.effort.pack_seconds);
        let bound = Bound::of(&options.effort, cells, options.warmup, clients);
        arguments.target.agree(target, bound, output)?;
    }
    let environment = environment();
    let recorder = flow::run(&options, &progress(output))?;
    finish(recorder, environment, &arguments.place, output)
}

/// Runs of a flow in this process, with nothing stored.
pub(super) fn in_process(path: &std::path::Path, sandbox: Sandbox) -> Result<Once, String> {
    let said = |failure: Failure| failure.message().to_owned();
    let flow = load(path).map_err(said)?;
    let here = Surroundings::default();
    let memory = here.memory();
    let mut services = here.services().map_err(said)?;
    if sandbox == Sandbox::Reused {
        let jail = Jail::start(platen_jail::Options::new(KIND));
        let jail = jail.map_err(|error| error.to_string())?;
        let runner = Runner::reusing(Arc::new(jail));
        services.scripts = Arc::new(move || Ok(runner.clone()));
    }
    let runner = FlowRunner::new(Arc::new(services));
    let once = move || {
        let options = RunOptions::default();
        let Ok(report) = runner.run(&flow, options, &memory, &mut NoJournal) else {
            return Outcome::default();
        };
        let answer = report.answer.map_or(0, |it| it["body"].to_string().len());
        Outcome {
            is_good: matches!(report.progress.finish(), Some(Finish::Succeeded(_))),
            status: 200,
            size_bytes: answer as u64,
            ..Outcome::default()
        }
    };
    Ok(Box::new(once))
}
