//! More connections at the same rate: requests in a queue raise the upper percentiles (the
//! example in Puma's notes on wrk).

use super::{
    Options,
    matrix::{load, warm},
    servers::{Server, What},
    wrk::Figures,
};
use crate::{
    Cell, Error, LoadMode, Progress,
    interval::{Basis, Interval},
    load::Load,
    name::{BodyKind, HttpName},
    recorder::Recorder,
    rounds::Rounds,
};

/// Size of the strings, in kilobytes.
const KILOBYTES: usize = 10;
/// Threads of the client and connections of each thread, as in the example.
const CLIENTS: [(usize, usize); 4] = [(8, 2), (10, 2), (8, 8), (16, 4)];

/// Measures the servers that answer `Body-Conf`, over sockets that wrk supports.
pub(super) fn measure(
    options: &Options,
    servers: &[Server],
    progress: Progress<'_>,
    recorder: &mut Recorder,
) -> Result<(), Error> {
    if options.socket.is_unix() || !options.bodies.kinds.contains(&BodyKind::String) {
        return Ok(());
    }
    let kind = BodyKind::String;
    for server in servers {
        if !matches!(server.what, What::Bodies) {
            continue;
        }
        progress(&format!("http: connections to {}", server.name));
        warm(options, server, kind, KILOBYTES)?;
        let clients = CLIENTS.map(|(threads, each)| Options {
            client_threads: Some(threads),
            connections: each,
            ..options.clone()
        });
        let mut runs: [Vec<Figures>; CLIENTS.len()] = Default::default();
        let mut rounds = Rounds::new(options.effort, CLIENTS.len(), recorder);
        loop {
            for step in 0..CLIENTS.len() {
                let place = (rounds.done() + step) % CLIENTS.len();
                let round = load(&clients[place], server, kind, KILOBYTES, options.round())?;
                runs[place].push(round);
            }
            let is_narrow = |runs: &Vec<Figures>| {
                let interval = interval_of(runs);
                interval.as_ref().is_some_and(Interval::is_narrow)
            };
            if !rounds.go_on(|| runs.iter().all(is_narrow)) {
                break;
            }
        }
        for (options, runs) in clients.iter().zip(&runs) {
            recorder.add(cell(options, server, runs), &[]);
        }
    }
    Ok(())
}

fn cell(options: &Options, server: &Server, runs: &[Figures]) -> Cell {
    let name = HttpName::Connections {
        server: server.name.clone(),
        threads: options.client_threads(),
    };
    let mut cell = Cell::new(name, &Load::closed(options.all_connections(), 0, 0));
    let middle = Figures::median(runs);
    cell.mode = LoadMode::Wrk;
    cell.requests = runs.iter().map(|run| run.requests).sum();
    cell.failures = runs.iter().map(|run| run.failures).sum();
    cell.seconds = runs.iter().map(|run| run.seconds).sum();
    cell.rps = middle.rps;
    cell.client = Some(middle.times);
    cell.interval = interval_of(runs);
    cell
}

/// The interval of the rates of the rounds.
fn interval_of(runs: &[Figures]) -> Option<Interval> {
    let rates: Vec<f64> = runs.iter().map(|run| run.rps).collect();
    Interval::of(Basis::RoundRates, &rates)
}
