//! The pack of response bodies: arrays, chunks, strings and files from 1 kB to 2 MB (the matrix of
//! Puma's `response_time_wrk.sh`) from Platen's HTTP transport, `platen serve`, Puma, nginx and
//! hyper, interleaved; and files from the page cache and from disk.

mod bodies;
mod connections;
mod files;
pub mod given;
mod matrix;
mod report;
mod served;
mod servers;
mod table;
mod wrk;

use std::{path::PathBuf, time::Duration};

use crate::{Effort, Error, Progress, program::Platen, recorder::Recorder};

pub use crate::name::{BodyKind, SocketKind};

pub use self::{
    bodies::BodyConf,
    report::{blocks, plots},
    servers::Peer,
    table::{bodies_table, types_table},
};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The binary to start.
    pub platen: Platen,
    /// Number of processes of a server.
    pub workers: usize,
    /// Number of threads of each process.
    pub threads: usize,
    /// The kind of socket that is measured with all sizes.
    pub socket: SocketKind,
    /// Other kinds, which are measured with few sizes.
    pub sockets: Vec<SocketKind>,
    /// Kinds and sizes of bodies.
    pub bodies: BodyConf,
    /// Connections per client thread.
    pub connections: usize,
    /// Number of client threads; if `None`, four fifths of the server's.
    pub client_threads: Option<usize>,
    /// Seconds that the server sleeps before it answers.
    pub delay: Option<String>,
    /// Other servers to measure.
    pub peers: Vec<Peer>,
    /// How much is measured.
    pub effort: Effort,
    /// How Puma is started.
    pub puma: Puma,
}

/// How Puma is started.
#[derive(Clone, Debug, Default)]
pub struct Puma {
    /// Its configuration file.
    pub config: Option<PathBuf>,
    /// The application instead of the benchmark's.
    pub rackup: Option<PathBuf>,
    /// Whether Ruby compiles with YJIT.
    pub has_yjit: bool,
}

/// Sizes of bodies over the other sockets, in kilobytes.
const FEW: [usize; 3] = [10, 100, 1_024];

/// A full run. Many short rounds give a narrower interval than a few long ones of the same time.
pub const WHOLE: Effort = Effort {
    samples: 0,
    min_rounds: 6,
    max_rounds: 30,
    cell_seconds: 4,
    pack_seconds: 1_740,
};
/// A quick run.
pub const QUICK: Effort = Effort {
    samples: 0,
    min_rounds: 2,
    max_rounds: 3,
    cell_seconds: 2,
    pack_seconds: 165,
};
/// A round that no number of seconds is given for.
const ROUND: Duration = Duration::from_millis(300);
/// Upper limits of a run's duration and connections.
const MAX_SECONDS: u64 = 120;
const MAX_CONNECTIONS: usize = 1_024;

impl Options {
    /// Number of client threads.
    #[must_use]
    pub fn client_threads(&self) -> usize {
        let servers = self.workers.max(1) * self.threads;
        self.client_threads
            .unwrap_or((servers * 4).div_ceil(5).max(1))
    }

    /// Number of client connections.
    #[must_use]
    pub fn all_connections(&self) -> usize {
        self.client_threads() * self.connections
    }

    /// Time of a round.
    fn round(&self) -> Duration {
        match self.effort.samples as u64 {
            0 => ROUND,
            seconds => Duration::from_secs(seconds),
        }
    }

    fn check(&self) -> Result<(), Error> {
        let is_sound = self.round().as_secs() <= MAX_SECONDS
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
                self.round().as_secs_f64()
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
/// A server does not start, or sends another body than the requested one. Failed requests void
/// their cells.
pub fn run(options: &Options, progress: Progress<'_>) -> Result<Recorder, Error> {
    options.check()?;
    let mut recorder = Recorder::of("http", options.effort);
    measure(options, progress, &mut recorder, true)?;
    for socket in &options.sockets {
        let mut few = options.clone();
        few.socket = *socket;
        few.bodies.kilobytes.retain(|it| FEW.contains(it));
        measure(&few, progress, &mut recorder, false)?;
    }
    Ok(recorder)
}

/// Measures the servers over one kind of socket.
fn measure(
    options: &Options,
    progress: Progress<'_>,
    recorder: &mut Recorder,
    is_whole: bool,
) -> Result<(), Error> {
    if options.bodies.kilobytes.is_empty() {
        return Ok(());
    }
    let socket = options.socket.as_str();
    progress(&format!("http: starting the servers on {socket}"));
    let mut servers = vec![servers::ours(options)?];
    if options.delay.is_none() {
        for kind in &options.bodies.kinds {
            servers.push(served::service(options, *kind)?);
        }
    } else {
        recorder.note("`platen serve` was left out: it does not sleep.");
    }
    for peer in &options.peers {
        if let Some(why) = is_beyond(options, peer) {
            recorder.note(why);
            continue;
        }
        match servers::peer(options, peer) {
            Ok(server) => servers.push(server),
            Err(error @ Error::Missing { .. }) => recorder.note(format!("{error}: left out.")),
            Err(error) => return Err(error),
        }
    }
    matrix::measure(options, &servers, progress, recorder)?;
    if is_whole {
        files::measure(options, &servers, progress, recorder)?;
        connections::measure(options, &servers, progress, recorder)?;
    }
    Ok(())
}

/// Why a server cannot be measured over this kind of socket, or with a delay.
fn is_beyond(options: &Options, peer: &Peer) -> Option<String> {
    let socket = options.socket.as_str();
    match peer {
        Peer::Nginx if options.socket == SocketKind::Aunix || options.delay.is_some() => {
            Some(format!(
                "nginx was left out over {socket}: it has no abstract sockets, and does not sleep."
            ))
        }
        Peer::Hyper if options.socket.is_tls() => Some(format!(
            "hyper was left out over {socket}: it has no TLS of its own."
        )),
        _ => None,
    }
}
