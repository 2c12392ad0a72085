//! `platen bench flow`: runs of a flow, a fresh sandbox for every code step. In this process nothing
//! is stored, so that is what runs cost without a service around them; with `--url` a service
//! accepts each run durably, hands it out, journals it and answers.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use clap::Args;
use platen_engine::flow::{Finish, FlowRunner, NoJournal, RunOptions};
use platen_jail::{Jail, Options};
use platen_script::{KIND, Runner};

use super::{
    super::{
        flow::{Surroundings, load},
        read,
    },
    client,
    measure::{Cell, Sample, closed_loop},
};
use crate::report::{Failure, say};

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
    platen bench flow --flow examples/flows/sum.json --samples 5000\n  \
    platen bench flow --url http://127.0.0.1:3000 --concurrency 1,16 --phases")]
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
    /// Runs at the same time, a cell for each; of 1, 4, 16 and 32.
    #[arg(long, value_delimiter = ',')]
    concurrency: Vec<usize>,
    /// Address of a running service; without it, this process runs the flow.
    #[arg(long)]
    url: Option<String>,
    /// API key with the admin scope, for the service: the flow is stored and published first.
    #[arg(long, env = "PLATEN_API_KEY", hide_env_values = true)]
    api_key: Option<String>,
    /// Give one sandbox run after run, to see what a fresh one costs beside it; without `--url`.
    #[arg(long, conflicts_with = "url")]
    reuse: bool,
    /// Show where the milliseconds of the runs went, medians of what the service says.
    #[arg(long, requires = "url")]
    phases: bool,
}

/// Measures all cells.
pub fn run(arguments: &FlowArguments) -> Result<Vec<Cell>, Failure> {
    match &arguments.url {
        Some(url) => over_http(arguments, url),
        None => in_process(arguments),
    }
}

fn cells(arguments: &FlowArguments) -> impl Iterator<Item = (&'static str, usize)> {
    CELLS.into_iter().filter(|(_, concurrency)| {
        arguments.concurrency.is_empty() || arguments.concurrency.contains(concurrency)
    })
}

fn in_process(arguments: &FlowArguments) -> Result<Vec<Cell>, Failure> {
    let flow = load(&arguments.flow)?;
    let here = Surroundings::default();
    let memory = here.memory();
    let mut services = here.services()?;
    if arguments.reuse {
        let jail = Options::new(KIND);
        let jail = Jail::start(jail).map_err(|error| Failure::Internal(error.to_string()))?;
        services.scripts = Some(Runner::reusing(Arc::new(jail)));
    }
    let runner = FlowRunner::new(Arc::new(services));
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
    cells(arguments)
        .map(|(name, concurrency)| {
            let run = closed_loop(concurrency, arguments.warmup, arguments.samples, || {
                Ok(once)
            })?;
            Ok(Cell::new(name, run))
        })
        .collect()
}

/// Phases of runs, each with all its milliseconds.
type Phases = Mutex<BTreeMap<String, Vec<f64>>>;

fn over_http(arguments: &FlowArguments, url: &str) -> Result<Vec<Cell>, Failure> {
    let address = client::address(url)?;
    let key = load(&arguments.flow)?.flow().key.clone();
    let api_key = arguments.api_key.as_deref();
    client::store(&address, api_key, "/flows", &read(&arguments.flow)?)?;
    let publication = format!("/flows/{key}/publication");
    client::store(&address, api_key, &publication, b"{}")?;
    let path = format!("/webhooks/{key}/sync");
    cells(arguments)
        .map(|(name, concurrency)| {
            let phases = Phases::default();
            let connect = || {
                let mut connection = client::Connection::open(&address, api_key)?;
                let (path, phases) = (&path, &phases);
                Ok(move || {
                    let (sample, told) = connection.call(path, b"{}")?;
                    let mut phases = phases.lock().unwrap_or_else(PoisonError::into_inner);
                    for (phase, milliseconds) in told {
                        phases.entry(phase).or_default().push(milliseconds);
                    }
                    Some(sample)
                })
            };
            let run = closed_loop(concurrency, arguments.warmup, arguments.samples, connect)?;
            if arguments.phases {
                show(name, phases);
            }
            Ok(Cell::new(name, run))
        })
        .collect()
}

/// Medians of the phases, on standard error.
fn show(name: &str, phases: Phases) {
    let phases = phases.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (phase, mut all) in phases {
        all.sort_by(f64::total_cmp);
        say(format_args!("{name} {phase}: {:.3} ms", all[all.len() / 2]));
    }
}
