//! `platen bench http`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use platen_bench::{
    Recorder,
    http::{
        self, BodyConf, Options, Peer, Puma, SocketKind,
        given::{self, Given},
    },
};

use super::{
    Place,
    effort::EffortArguments,
    environment, finish, platen, progress,
    target::{Running, TargetArguments},
};
use crate::report::{Failure, OutputArguments};

/// Arguments of `platen bench http`, named as those of Puma's `response_time_wrk.sh`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench http -w2 -t5 -s tcp6\n  \
    platen bench http --peer puma,nginx,hyper --rounds 3 --out results\n  \
    platen bench http -b s1,100,1024 -D 5 -T 4 -c 4\n  \
    platen bench http -s unix --peer puma\n  \
    platen bench http --peer http://127.0.0.1:40001\n  \
    platen bench http --url https://platen.example.com --api-key KEY -b sc10,100 --yes\n\n\
    wrk generates the load; Unix sockets use a built-in client. The servers are interleaved, and \
    the figures are medians of the rounds. Bodies are verified once per cell. nginx sends the same \
    files for every body type. hyper is the library alone, in this binary, without TLS.\n\n\
    With --url, only that service is measured: stored results (s and i), CSV that it renders (a), and \
    batches that it streams (c), fetched by the built-in client; -D counts requests of a round then, \
    and -s, -w, -t, -d and --peer say nothing of it.")]
pub struct Arguments {
    /// Processes per server.
    #[arg(short = 'w', long, default_value_t = 2, env = "BENCH_WORKERS")]
    workers: usize,
    /// Threads per process; `5:5` counts as 5.
    #[arg(short = 't', long, default_value = "5", value_parser = threads, env = "BENCH_THREADS")]
    threads: usize,
    /// Socket type: tcp, tcp4, tcp6, ssl, ssl6, unix, aunix.
    #[arg(short = 's', long, default_value = "tcp", value_parser = socket, env = "BENCH_SOCKET")]
    socket: SocketKind,
    /// Other socket types, measured with bodies of 10, 100 and 1,024 kB.
    #[arg(long, value_delimiter = ',', value_parser = socket)]
    sockets: Vec<SocketKind>,
    /// Body types (a array, c chunk, s string, i io) and sizes in kilobytes.
    #[arg(
        short = 'b',
        long,
        default_value = "acsi1,10,100,256,512,1024,2048",
        value_parser = bodies,
        env = "CI_BODY_CONF"
    )]
    body_conf: BodyConf,
    /// Connections per client thread.
    #[arg(short = 'c', long, default_value_t = 2, env = "BENCH_CONNECTIONS")]
    connections: usize,
    /// Duration of a round in seconds, instead of 0.3.
    #[arg(short = 'D', long, env = "BENCH_DURATION", value_parser = at_least_one)]
    duration: Option<usize>,
    /// Client threads; default: four fifths of the server's.
    #[arg(short = 'T', long, env = "BENCH_CLIENT_THREADS")]
    client_threads: Option<usize>,
    /// Delay before each response, in seconds.
    #[arg(short = 'd', long)]
    delay: Option<String>,
    /// Servers to compare with: puma, nginx, hyper, or the URL of a server on this machine.
    #[arg(long = "peer", value_delimiter = ',')]
    peers: Vec<String>,
    /// Configuration file of Puma.
    #[arg(short = 'C', long, value_name = "FILE")]
    puma_config: Option<PathBuf>,
    /// Application of Puma instead of the benchmark's; it must answer Body-Conf.
    #[arg(short = 'r', long, value_name = "FILE")]
    rackup: Option<PathBuf>,
    /// Let Ruby compile with YJIT (its version must have it).
    #[arg(short = 'Y', long)]
    yjit: bool,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    effort: EffortArguments,
    #[command(flatten)]
    place: Place,
}

fn threads(text: &str) -> Result<usize, String> {
    let last = text.rsplit(':').next().unwrap_or_default();
    let threads: Option<usize> = last.parse().ok();
    threads
        .filter(|threads| *threads > 0)
        .ok_or_else(|| "a number of threads, or 5:5".to_owned())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "a number of seconds, at least 1".to_owned())
}

fn socket(text: &str) -> Result<SocketKind, String> {
    SocketKind::parse(text).ok_or_else(|| "tcp, tcp4, tcp6, ssl, ssl6, unix or aunix".to_owned())
}

fn bodies(text: &str) -> Result<BodyConf, String> {
    BodyConf::parse(text).map_err(|error| error.hint().unwrap_or_else(|| error.to_string()))
}

/// Runs the pack.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    if let Some(delay) = &arguments.delay
        && !delay
            .parse::<f64>()
            .is_ok_and(|it| (0.0..=60.0).contains(&it))
    {
        let message = format!("`{delay}` is not a delay");
        return Err(Failure::caller(message, "seconds from 0 to 60: -d 0.2"));
    }
    let mut options = Options {
        platen: platen()?,
        workers: arguments.workers,
        threads: arguments.threads,
        socket: arguments.socket,
        sockets: arguments.sockets.clone(),
        bodies: arguments.body_conf.clone(),
        connections: arguments.connections,
        client_threads: arguments.client_threads,
        delay: arguments.delay.clone(),
        peers: arguments
            .peers
            .iter()
            .map(|name| Peer::parse(name))
            .collect(),
        effort: arguments
            .effort
            .of(http::WHOLE, http::QUICK, arguments.duration),
        puma: Puma {
            config: absolute(arguments.puma_config.as_ref())?,
            rackup: absolute(arguments.rackup.as_ref())?,
            has_yjit: arguments.yjit,
        },
    };
    let environment = environment();
    let recorder = match arguments.target.running()? {
        Some(running) => measure_given(arguments, &mut options, running, output)?,
        None => http::run(&options, &progress(output))?,
    };
    finish(recorder, environment, &arguments.place, output)
}

/// Measures a service that is already running.
fn measure_given(
    arguments: &Arguments,
    options: &mut Options,
    running: Running,
    output: OutputArguments,
) -> Result<Recorder, Failure> {
    let target = &running.target;
    let effort = &arguments.effort;
    options.effort = effort.of(given::WHOLE, given::QUICK, arguments.duration);
    options.effort.pack_seconds = TargetArguments::seconds(target, options.effort.pack_seconds);
    let bound = given::bound(options);
    arguments.target.agree(target, bound, output)?;
    let service = Given {
        target: running.target,
        key: running.key,
        render_key: running.render_key,
    };
    Ok(given::run(options, &service, &progress(output))?)
}

/// Puma starts in a folder of its own.
fn absolute(path: Option<&PathBuf>) -> Result<Option<PathBuf>, Failure> {
    let absolute = path.map(|path| {
        let found = path.canonicalize();
        found.map_err(|error| Failure::file("read", &path.display().to_string(), &error))
    });
    absolute.transpose()
}
