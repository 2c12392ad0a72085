//! More connections at the same rate: requests in a queue raise the upper percentiles (the
//! example in Puma's notes on wrk).

use super::{
    Options,
    matrix::{load, warm},
    servers::{Server, What},
};
use crate::{
    Cell, Error, LoadMode, Progress,
    interval::{Basis, Interval},
    load::Load,
    name::{BodyKind, HttpName},
    recorder::Recorder,
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
        for (threads, each) in CLIENTS {
            let options = Options {
                client_threads: Some(threads),
                connections: each,
                ..options.clone()
            };
            let figures = load(&options, server, kind, KILOBYTES, options.seconds())?;
            let name = HttpName::Connections {
                server: server.name.clone(),
                threads,
            };
            let mut cell = Cell::new(name, &Load::closed(options.all_connections(), 0, 0));
            cell.mode = LoadMode::Wrk;
            cell.requests = figures.requests;
            cell.failures = figures.failures;
            cell.seconds = figures.seconds;
            cell.rps = figures.rps;
            cell.client = Some(figures.times);
            cell.interval = Interval::of(Basis::RoundRates, &[figures.rps]);
            recorder.add(cell, &[]);
        }
    }
    Ok(())
}
