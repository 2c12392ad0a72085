//! The pack of response bodies: arrays, chunks, strings and files from 1 kB to 2 MB, the matrix of
//! Puma's `response_time_wrk.sh`, by our delivery layer, by `platen serve`, by Puma and by nginx, in
//! turns; and files from the page cache and from the disk.

mod bodies;
mod files;
mod matrix;
mod report;
mod served;
mod servers;
mod table;
mod wrk;

use crate::{Error, Progress, program::Platen, results::Recorder};

pub use self::{
    bodies::{BodyConf, BodyKind},
    report::{blocks, plots},
    servers::{Peer, SocketKind},
    table::{bodies_table, types_table},
};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The binary that is started.
    pub platen: Platen,
    /// Processes of a server.
    pub workers: usize,
    /// Threads of each.
    pub threads: usize,
    /// What is listened on.
    pub socket: SocketKind,
    /// Bodies and sizes.
    pub bodies: BodyConf,
    /// Connections of each thread of the client.
    pub connections: usize,
    /// Seconds of a run.
    pub seconds: u64,
    /// Threads of the client; four fifths of the server's where absent.
    pub client_threads: Option<usize>,
    /// Seconds that the service sleeps before it answers.
    pub delay: Option<String>,
    /// Who else is measured.
    pub peers: Vec<Peer>,
    /// Rounds, in turns.
    pub rounds: usize,
}

/// Seconds of a run where nothing else is asked for.
pub const SECONDS: u64 = 10;
/// Bounds: a run is never longer, and never has more connections.
const MAX_SECONDS: u64 = 120;
const MAX_CONNECTIONS: usize = 1_024;

impl Options {
    /// Threads of the client.
    #[must_use]
    pub fn client_threads(&self) -> usize {
        let servers = self.workers.max(1) * self.threads;
        self.client_threads
            .unwrap_or((servers * 4).div_ceil(5).max(1))
    }

    /// Connections of the client.
    #[must_use]
    pub fn all_connections(&self) -> usize {
        self.client_threads() * self.connections
    }

    fn check(&self) -> Result<(), Error> {
        let is_sound = (1..=MAX_SECONDS).contains(&self.seconds)
            && (1..=MAX_CONNECTIONS).contains(&self.all_connections())
            && self.workers <= 64
            && (1..=256).contains(&self.threads);
        if is_sound {
            return Ok(());
        }
        Err(Error::argument(
            format!(
                "{} connections for {} seconds",
                self.all_connections(),
                self.seconds
            ),
            format!(
                "at most {MAX_CONNECTIONS} connections (-T times -c) and {MAX_SECONDS} seconds (-D)"
            ),
        ))
    }
}

/// Measures the matrix.
///
/// # Errors
/// Where a server does not start, or answers another body than was asked for. Failed requests void
/// their cells.
pub fn run(options: &Options, progress: Progress<'_>) -> Result<Recorder, Error> {
    options.check()?;
    let mut recorder = Recorder::new("http");
    let mut servers = vec![servers::ours(options)?];
    if options.socket == SocketKind::Tcp && options.delay.is_none() {
        progress("http: storing results in `platen serve`");
        for kind in [BodyKind::String, BodyKind::Io] {
            if options.bodies.kinds.contains(&kind) {
                servers.push(served::service(options, kind)?);
            }
        }
    } else {
        recorder.note("`platen serve` was left out: it is measured over `-s tcp` without delay.");
    }
    for peer in &options.peers {
        let is_beyond = options.socket == SocketKind::Aunix || options.delay.is_some();
        if *peer == Peer::Nginx && is_beyond {
            recorder.note("nginx was left out: it has no abstract sockets, and does not sleep.");
            continue;
        }
        match servers::peer(options, peer) {
            Ok(server) => servers.push(server),
            Err(error @ Error::Missing { .. }) => recorder.note(format!("{error}: left out.")),
            Err(error) => return Err(error),
        }
    }
    matrix::measure(options, &servers, progress, &mut recorder)?;
    files::measure(options, &servers, progress, &mut recorder)?;
    Ok(recorder)
}
