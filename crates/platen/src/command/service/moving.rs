//! `platen move`.

use std::{
    collections::BTreeMap,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Args;
use platen_render::chain;
use platen_server::moving::{self, Amount, MoveError, MoveOptions, MovePlan, MoveReport};
use serde_json::{Value as Json, json};

use super::configuration::ConfigurationArguments;
use crate::report::{Failure, OutputArguments, print_line, say};

/// How often it is said how far a move has come.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// Arguments of `platen move`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen move --plan --data-dir /var/lib/platen\n  \
    DATABASE_URL=postgres://… S3_BUCKET=documents platen move --data-dir /var/lib/platen\n\n\
    Stop the service first. The target is configured as for the new service: DATABASE_URL, and S3_BUCKET \
    with its key. The data folder is only read. A move that was interrupted goes on where it was when \
    the same command runs again; services do not start on the target before it has finished.")]
pub struct Arguments {
    /// Say what would be moved, and what stands in the way; change nothing.
    #[arg(long, conflicts_with_all = ["verify", "from_start", "replace_nul"])]
    plan: bool,
    /// Compare the data folder with the target again, and change nothing.
    #[arg(long, conflicts_with_all = ["from_start", "replace_nul"])]
    verify: bool,
    /// Discard what an unfinished move has brought into the database, and begin again.
    #[arg(long)]
    from_start: bool,
    /// Put U+FFFD in the place of the character NUL in texts, which PostgreSQL cannot store.
    #[arg(long)]
    replace_nul: bool,
    #[command(flatten)]
    configuration: ConfigurationArguments,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let config = arguments.configuration.load()?;
    // Files are sent on the thread of the command, while another one serves the connections.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(&error))?;
    if arguments.plan {
        let plan = runtime.block_on(moving::plan(&config)).map_err(failure)?;
        report_plan(&plan, output);
        return Ok(match plan.obstacles.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        });
    }
    let report = match arguments.verify {
        true => runtime.block_on(moving::verify(&config)),
        false => {
            let options = MoveOptions {
                replaces_nul: arguments.replace_nul,
                from_start: arguments.from_start,
            };
            let mut speaker = Speaker::new(output);
            let moved = moving::run(&config, options, |what, count| speaker.add(what, count));
            runtime.block_on(moved)
        }
    };
    report_move(&report.map_err(failure)?, arguments.verify, output);
    Ok(ExitCode::SUCCESS)
}

fn failure(error: MoveError) -> Failure {
    let failure = Failure::new(error.code(), chain(&error));
    match error.hint() {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Says from time to time how far a move has come.
struct Speaker {
    output: OutputArguments,
    counts: BTreeMap<&'static str, u64>,
    last: Instant,
}

impl Speaker {
    fn new(output: OutputArguments) -> Self {
        Self {
            output,
            counts: BTreeMap::new(),
            last: Instant::now(),
        }
    }

    fn add(&mut self, what: &'static str, count: u64) {
        let total = self.counts.entry(what).or_default();
        *total += count;
        if self.last.elapsed() >= SAY_EVERY && !self.output.quiet && !self.output.json {
            say(format_args!("{what}: {total} moved"));
            self.last = Instant::now();
        }
    }
}

fn amounts(amounts: &[Amount]) -> Json {
    let one = |it: &Amount| json!({"name": it.name, "count": it.count, "bytes": it.bytes});
    amounts.iter().map(one).collect()
}

fn print_amounts(amounts: &[Amount]) {
    for Amount { name, count, bytes } in amounts {
        print_line(&format!("{name:<18} {count:>12} {bytes:>16} bytes"));
    }
}

fn report_plan(plan: &MovePlan, output: OutputArguments) {
    if output.json {
        let obstacles = plan.obstacles.iter();
        let obstacles = obstacles.map(|it| json!({"what": it.what, "hint": it.hint}));
        let report = json!({
            "ok": plan.obstacles.is_empty(), "amounts": amounts(&plan.amounts),
            "obstacles": obstacles.collect::<Json>(), "notes": plan.notes,
        });
        print_line(&report.to_string());
        return;
    }
    print_amounts(&plan.amounts);
    for note in &plan.notes {
        say(format_args!("note: {note}"));
    }
    for obstacle in &plan.obstacles {
        say(format_args!("in the way: {}", obstacle.what));
        if let Some(hint) = obstacle.hint {
            say(format_args!("hint: {hint}"));
        }
    }
}

fn report_move(report: &MoveReport, is_verification: bool, output: OutputArguments) {
    if output.json {
        let tables = report.tables.iter();
        let tables =
            tables.map(|it| json!({"name": it.name, "rows": it.rows[1], "sha256": it.digests[1]}));
        let report = json!({
            "ok": true, "wasFinished": report.was_finished, "tables": tables.collect::<Json>(),
            "files": amounts(&report.files), "damaged": report.damaged, "notes": report.notes,
        });
        print_line(&report.to_string());
        return;
    }
    if output.quiet {
        return;
    }
    for table in &report.tables {
        let (rows, digest) = (table.rows[1], &table.digests[1][..16]);
        print_line(&format!(
            "{:<18} {rows:>12} rows   sha256 {digest}…",
            table.name
        ));
    }
    print_amounts(&report.files);
    for name in &report.damaged {
        say(format_args!(
            "damaged in the data folder, and not moved: {name}"
        ));
    }
    for note in &report.notes {
        say(format_args!("note: {note}"));
    }
    print_line(match (is_verification, report.was_finished) {
        (true, _) => "the target is the same as the data folder",
        (false, true) => "this was moved before; --verify compares it again",
        (false, false) => {
            "moved and compared: start the new service, and keep the data folder until you trust it"
        }
    });
}
