//! `platen bench`: the packs of the load harness in `crates/bench`, and what they start of this binary.

mod all;
mod compare;
mod effort;
mod flow;
mod http;
mod http_server;
mod office;
mod office_driver;
mod render;
mod report;
mod target;
mod text;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use platen_bench::{Error, Recorder, Results, environment::Environment, program::Platen};

use crate::report::{Failure, OutputArguments, print_line, say};

/// Arguments of `platen bench`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pack: Pack,
}

#[derive(Debug, Subcommand)]
enum Pack {
    /// Benchmark rendering: PDF of 1, 10 and 100 pages, every format, Chromium, slots, sandboxes,
    /// replicas.
    Render(render::Arguments),
    /// Store the benchmark templates in a running service; existing ones stay unchanged.
    Seed(render::SeedArguments),
    /// Benchmark a flow in a service, with workers, in one process, and in Node.
    Flow(flow::Arguments),
    /// Benchmark Office conversion: Platen, each variant of its protocol, and other tools, all with
    /// the same LibreOffice.
    Office(office::Arguments),
    /// Benchmark HTTP delivery of bodies from 1 kB to 2 MB as arrays, chunks, strings and files,
    /// compared with Puma, nginx and hyper.
    Http(http::Arguments),
    /// Benchmark line breaking: hyphens, word spaces and time of justified text in columns, compared
    /// with typst.
    Text(text::Arguments),
    /// Run all benchmarks and write the results to one folder.
    All(all::Arguments),
    /// Update docs/benchmarks.md from a results folder.
    Report(report::Arguments),
    /// Say where two results folders differ by more than the intervals of their medians.
    Compare(compare::Arguments),
    /// The server that `bench http` measures.
    #[command(hide = true)]
    HttpServer(http_server::Arguments),
    /// Converts what `bench office` says on standard input.
    #[command(hide = true)]
    OfficeDriver,
}

/// What all packs take.
#[derive(Clone, Debug, Args)]
pub struct Place {
    /// Results folder (requests, summary, plots, environment); without it nothing is written.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    if !matches!(&arguments.pack, Pack::HttpServer(_) | Pack::OfficeDriver) {
        end_on_signals().map_err(|error| Failure::internal(&error))?;
    }
    match &arguments.pack {
        Pack::Render(arguments) => render::run(arguments, output),
        Pack::Seed(arguments) => render::seed(arguments, output),
        Pack::Flow(arguments) => flow::run(arguments, output),
        Pack::Office(arguments) => office::run(arguments, output),
        Pack::Http(arguments) => http::run(arguments, output),
        Pack::Text(arguments) => text::run(arguments, output),
        Pack::All(arguments) => all::run(arguments, output),
        Pack::Report(arguments) => report::run(arguments, output),
        Pack::Compare(arguments) => compare::run(arguments, output),
        Pack::HttpServer(arguments) => http_server::run(arguments),
        Pack::OfficeDriver => office_driver::run(),
    }
}

/// Lets a signal end what the packs have started, too.
fn end_on_signals() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let entered = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    drop(entered);
    std::thread::spawn(move || {
        let kind = runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => SignalKind::interrupt(),
                _ = terminate.recv() => SignalKind::terminate(),
                _ = hang_up.recv() => SignalKind::hangup(),
            }
        });
        platen_bench::program::end_all();
        // As shells tell of a program that a signal has ended.
        std::process::exit(128 + kind.as_raw_value());
    });
    Ok(())
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::new(error.code(), error.to_string());
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

/// This binary, which packs start services of.
fn platen() -> Result<Platen, Failure> {
    let program = std::env::current_exe();
    let program = program.map_err(|error| Failure::internal(&error))?;
    Ok(Platen { program })
}

fn environment() -> Environment {
    Environment::read(env!("CARGO_PKG_VERSION"), Path::new("."))
}

/// Says on standard error what is measured, unless nothing is to be said.
fn progress(output: OutputArguments) -> impl Fn(&str) + Sync {
    move |what| {
        if !output.quiet {
            say(format_args!("{what} ..."));
        }
    }
}

/// Writes the results, shows them, and says by the exit code whether they count.
fn finish(
    recorder: Recorder,
    environment: Environment,
    place: &Place,
    output: OutputArguments,
) -> Result<ExitCode, Failure> {
    let results = written(recorder, environment, place.out.as_deref())?;
    if output.json {
        let json = serde_json::to_string(&results);
        print_line(&json.map_err(|error| Failure::internal(&error))?);
    } else {
        print_line(results.to_markdown().trim_end());
    }
    if let (Some(folder), false) = (&place.out, output.quiet) {
        say(format_args!("results are in {}", folder.display()));
    }
    Ok(exit_code(&results))
}

fn written(
    recorder: Recorder,
    environment: Environment,
    folder: Option<&Path>,
) -> Result<Results, Failure> {
    Ok(recorder.finish(&command(), environment, folder)?)
}

/// The command as others can repeat it: without where its results went, and without a key.
fn command() -> String {
    let mut words = vec!["platen".to_owned()];
    let mut arguments = std::env::args().skip(1);
    while let Some(word) = arguments.next() {
        let is_private = ["--out", "--api-key", "--render-key"]
            .iter()
            .any(|name| word.starts_with(name));
        if !is_private {
            words.push(word);
        } else if !word.contains('=') {
            arguments.next();
        }
    }
    words.join(" ")
}

/// A request that failed voids its cell, and the run.
fn exit_code(results: &Results) -> ExitCode {
    ExitCode::from(if results.is_void() { 2 } else { 0 })
}
