//! Fleets of services and workers behind nginx: from nothing to the first run, and the rates of their first
//! and later runs. The script `deploy/fleet/run.sh` starts them.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use super::Options;
use crate::{
    Cell, Effort, Error, Outcome, Progress,
    client::{Request, Target},
    cpu::{own_seconds, tree_seconds},
    histogram::median,
    interval::Basis,
    load::{Load, Run},
    name::{Age, FlowName, Ratio},
    program::{Program, folder, free_port},
    recorder::Recorder,
};

/// Callers at a time.
const CALLERS: usize = 32;
/// Runs of a fleet of each age; a round of the pack is this many times as many.
const SHARE: usize = 3;
/// How long a fleet may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a fleet that starts is left alone between two looks at what it says.
const POLL: Duration = Duration::from_millis(5);
/// What the script says at last.
const STARTED: &str = "Ctrl-C ends";
/// Ports that a fleet uses, from its first.
const PORTS: u16 = 20;

/// The script in a checkout of the source.
pub const SCRIPT: &str = "deploy/fleet/run.sh";

/// What the rounds of one fleet gave.
#[derive(Default)]
struct Measured {
    cold: Vec<Run>,
    warm: Vec<Run>,
    /// Seconds until all services answer.
    ready: Vec<f64>,
    /// Seconds until the first caller has the answer of a run.
    first: Vec<f64>,
    /// Processor time of everything that the script started, and of the callers, in seconds.
    cpu: [(f64, f64); 2],
}

/// Measures fleets of all ratios in turns, each from nothing. A quick run has the two smallest once.
pub(super) fn measure(
    script: &Path,
    options: &Options<'_>,
    recorder: &mut Recorder,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let is_whole = options.effort.min_rounds >= super::WHOLE.min_rounds;
    let (ratios, rounds) = match is_whole {
        true => (&Ratio::ALL[..], options.effort.min_rounds),
        false => (&Ratio::ALL[..2], 1),
    };
    let mut all: Vec<Measured> = ratios.iter().map(|_| Measured::default()).collect();
    let end = Duration::from_secs(options.effort.pack_seconds);
    for round in 0..rounds {
        // Each has one round, whatever the time is.
        if round > 0 && recorder.begun.elapsed() > end {
            break;
        }
        progress(&format!("fleets, round {} of {rounds}", round + 1));
        for place in 0..ratios.len() {
            let place = (place + round) % ratios.len();
            let fleet = Fleet::begin(script, &options.platen.program, ratios[place])?;
            fleet.round(&options.effort, &mut all[place])?;
        }
    }
    for (ratio, measured) in ratios.iter().zip(all) {
        measured.record(*ratio, recorder);
    }
    Ok(())
}

impl Measured {
    fn record(mut self, ratio: Ratio, recorder: &mut Recorder) {
        let load = Load::closed(CALLERS, 0, 0);
        let ages = [(Age::Cold, &self.cold), (Age::Warm, &self.warm)];
        for ((age, runs), (fleet, callers)) in ages.into_iter().zip(self.cpu) {
            let mut cell = Cell::new(FlowName::Fleet { ratio, age }, &load);
            cell.take(runs, Basis::RoundRates);
            cell.server_cpu_seconds = Some(fleet);
            cell.client_cpu_seconds = Some(callers);
            if age == Age::Cold {
                for (name, values) in [("ready", &mut self.ready), ("first", &mut self.first)] {
                    values.sort_by(f64::total_cmp);
                    let ends = [
                        values.first().copied(),
                        median(values),
                        values.last().copied(),
                    ];
                    for (part, value) in ["Least", "Median", "Most"].into_iter().zip(ends) {
                        cell.values
                            .extend(value.map(|it| (format!("{name}{part}"), it)));
                    }
                }
            }
            recorder.add(cell, runs);
        }
    }
}

/// A fleet that was begun; ended when it is dropped.
struct Fleet {
    program: Program,
    begun: Instant,
}

impl Fleet {
    fn begin(script: &Path, platen: &Path, ratio: Ratio) -> Result<Self, Error> {
        let port = free_ports()?;
        let mut command = Command::new(script);
        let platen = std::path::absolute(platen).map_err(Error::file("find", platen))?;
        command.env("PLATEN", platen);
        for (name, value) in [
            ("APPS", ratio.services.to_string()),
            ("WORKERS", ratio.workers.to_string()),
            ("FLEET_PORT", port.to_string()),
            ("EXAMPLES", String::new()),
            ("RATE_LIMIT_MAX", "0".to_owned()),
            ("RATE_LIMIT_RENDER_MAX", "0".to_owned()),
            // So that processors are what runs wait for, and not slots.
            ("WORKER_SLOTS", "8".to_owned()),
        ] {
            command.env(name, value);
        }
        let target = Target::Tcp(format!("127.0.0.1:{port}"));
        Ok(Self {
            begun: Instant::now(),
            program: Program::start("a fleet", command, folder()?, target)?,
        })
    }

    /// Waits until the fleet is ready, and gives its admin key.
    fn key(&mut self) -> Result<String, Error> {
        loop {
            let said = self.program.output();
            if said.contains(STARTED) {
                let mut lines = said.lines();
                let key = lines.find_map(|line| line.trim().strip_prefix("admin key "));
                let key = key.map(|it| it.trim().to_owned());
                return key.ok_or_else(|| Error::program("a fleet", "it says no admin key"));
            }
            self.program.check(self.begun, START_TIMEOUT)?;
            std::thread::sleep(POLL);
        }
    }

    fn round(mut self, effort: &Effort, measured: &mut Measured) -> Result<(), Error> {
        let key = self.key()?;
        measured.ready.push(self.begun.elapsed().as_secs_f64());
        let webhook = Request::json("POST", "/webhooks/sum/sync", Some(&key), b"{}");
        // The answer comes once a worker has connected.
        webhook.expect(self.program.target(), &[200])?;
        measured.first.push(self.begun.elapsed().as_secs_f64());
        let load = Load::closed(CALLERS, 0, effort.samples * SHARE);
        let runs = [&mut measured.cold, &mut measured.warm];
        for (runs, cpu) in runs.into_iter().zip(&mut measured.cpu) {
            let before = (tree_seconds(self.program.pid()), own_seconds().0);
            runs.push(load.run(|| {
                let mut connection = self.program.target().connect()?;
                let webhook = &webhook;
                Ok(move || -> Outcome { connection.send(webhook) })
            })?);
            cpu.0 += tree_seconds(self.program.pid()) - before.0;
            cpu.1 += own_seconds().0 - before.1;
        }
        Ok(())
    }
}

/// The first of as many free ports as a fleet uses.
fn free_ports() -> Result<u16, Error> {
    for _ in 0..100 {
        let first = free_port()?;
        let Some(end) = first.checked_add(PORTS) else {
            continue;
        };
        if (first..end).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return Ok(first);
        }
    }
    Err(Error::program(
        "network",
        format!("there are no {PORTS} free ports in a row"),
    ))
}

/// The script, where a fleet can be started.
#[must_use]
pub fn script() -> Option<PathBuf> {
    Some(PathBuf::from(SCRIPT)).filter(|path| path.is_file())
}
