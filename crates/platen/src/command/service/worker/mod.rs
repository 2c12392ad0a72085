//! `platen worker`.

mod app;

use std::{io, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use clap::Args;
use platen_outbound::Settings;
use platen_render::chain;
use platen_runs::{
    execution::{LinkedAssets, Services},
    worker::{self, Error, Options},
};
use platen_server::{LogFormat, LogLevel, TraceConfig, read_secret_file};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::Notify,
};

use self::app::{App, Unconnected};
use super::{
    FontArguments, TrustArguments,
    configuration::refused,
    flow::{LEVELS, Surroundings},
    tools,
};
use crate::report::{Failure, OutputArguments, say};

/// What a worker needs to start and to execute a run.
const MIN_MEMORY_BYTES: u64 = 64 << 20;
/// Waits between two tries to connect.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Arguments of `platen worker`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen worker --app https://platen.example.com --token-file /run/secrets/worker\n  \
    platen worker --app https://10.0.0.5:3443 --ca-file ca.pem --token-file /run/secrets/worker\n  \
    WORKER_TOKEN=… platen worker --app http://localhost:3000 --slots 4 --allow-host api.example.com\n\n\
    A worker has no access to the database: it requests from the app what its runs need. With \
    http:// the connection is not encrypted; use it only within a trusted network.")]
pub struct Arguments {
    /// URL of the service, `https://HOST[:PORT]` or `http://HOST[:PORT]`.
    #[arg(long, value_name = "URL", env = "PLATEN_APP")]
    app: String,
    /// Worker token, the service's WORKER_TOKEN.
    #[arg(long, env = "WORKER_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// File with the worker token.
    #[arg(long, value_name = "FILE", env = "WORKER_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// Concurrent runs; default: the number of cores.
    #[arg(long, env = "WORKER_SLOTS")]
    slots: Option<u32>,
    /// Worker name shown in run lists; default: the host name.
    #[arg(long, env = "HOSTNAME", default_value = "worker")]
    name: String,
    /// Grace period after SIGTERM in seconds; unfinished runs then return to the queue.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    drain: u64,
    /// Host that steps may reach, `example.com` or `*.example.com`; repeatable.
    #[arg(
        long = "allow-host",
        value_name = "HOST",
        env = "FLOW_ALLOWED_HOSTS",
        value_delimiter = ','
    )]
    hosts: Vec<String>,
    /// Allow private IP addresses for the allowed hosts.
    #[arg(long, env = "FLOW_ALLOW_PRIVATE_ADDRESSES")]
    allow_private_addresses: bool,
    /// Minimum sandbox level for code.
    #[arg(long, value_name = "LEVEL", default_value = "no-namespaces", env = "SANDBOX_LEVEL",
          value_parser = LEVELS)]
    sandbox: String,
    /// Memory of the worker with all its sandboxes, in bytes.
    #[arg(long, value_name = "BYTES", env = "WORKER_MEMORY_BYTES",
          value_parser = clap::value_parser!(u64).range(MIN_MEMORY_BYTES..))]
    memory_bytes: Option<u64>,
    /// Processors of the worker with all its sandboxes, such as 0.5.
    #[arg(long, value_name = "NUMBER", env = "WORKER_PROCESSORS", value_parser = processors)]
    processors: Option<f64>,
    /// Cache folder for custom actions; default: a temporary folder.
    #[arg(long, value_name = "DIR", env = "WORKER_CACHE_DIR")]
    cache_dir: Option<PathBuf>,
    /// Asset folder for templates.
    #[arg(long, value_name = "DIR", env = "PLATEN_ASSETS_DIR")]
    assets: Option<PathBuf>,
    #[command(flatten)]
    trust: TrustArguments,
    #[command(flatten)]
    fonts: FontArguments,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    confine(arguments)?;
    let traces = TraceConfig::from_environment(|name| std::env::var(name).ok());
    let traces = traces.and_then(|config| config.export()).map_err(refused)?;
    platen_server::log::install(LogFormat::Text, LogLevel::Warn, traces)
        .map_err(|error| Failure::internal(&error))?;
    let trust = arguments.trust.trust()?;
    let app = App::new(&arguments.app, &trust)?;
    let token = token(arguments)?;
    let cache = arguments.cache_dir.clone();
    let cache = cache.unwrap_or_else(|| std::env::temp_dir().join("platen-pieces"));
    let pieces = tools::linked_pieces(&app.to_string(), &trust, &token, cache)?;
    let services = Surroundings {
        least: platen_jail::Level::parse(&arguments.sandbox),
        templates: None,
        assets: arguments.assets.clone(),
        stored: Some(Arc::new(LinkedAssets::of_app(
            &app.to_string(),
            &trust,
            &token,
        ))),
        pieces: Some(pieces),
        outbound: Settings {
            allowed_hosts: arguments.hosts.clone(),
            allow_private_addresses: arguments.allow_private_addresses,
            ..Settings::default()
        },
        fonts: arguments.fonts.settings(),
    };
    let services = Arc::new(services.services()?);
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get() as u32);
    let options = Options {
        name: arguments.name.clone(),
        slots: arguments.slots.unwrap_or(cores).max(1),
        drain: Duration::from_secs(arguments.drain),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(options.slots as usize + 16)
        .build()
        .map_err(|error| Failure::internal(&error))?;
    let quiet = output.quiet;
    let served = runtime.block_on(serve(&app, &token, &services, &options, quiet));
    runtime.shutdown_timeout(Duration::from_secs(1));
    platen_server::log::flush();
    served.map(|()| ExitCode::SUCCESS)
}

/// Limits of the whole, before there is anything else.
fn confine(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.memory_bytes.is_none() && arguments.processors.is_none() {
        return Ok(());
    }
    let confined = platen_jail::confine_whole(arguments.memory_bytes, arguments.processors);
    confined.map_err(|refusal| {
        let hint = "start the worker in a container with limits, or with `systemd-run \
                    -p MemoryMax=… -p CPUQuota=…`, and omit --memory-bytes and --processors";
        Failure::caller(refusal.to_string(), hint)
    })
}

fn processors(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|number| (0.01..=4096.0).contains(number));
    number.ok_or_else(|| "it must be a number from 0.01 to 4096".to_owned())
}

fn token(arguments: &Arguments) -> Result<String, Failure> {
    // An empty variable counts as not set.
    let given = arguments.token.as_deref();
    let given = given.filter(|token| !token.trim().is_empty());
    let file = arguments.token_file.as_deref();
    let token = match (given, file.filter(|file| !file.as_os_str().is_empty())) {
        (Some(_), Some(_)) => {
            let message = "the worker token is given twice: by WORKER_TOKEN or --token, and by \
                           WORKER_TOKEN_FILE or --token-file";
            return Err(Failure::caller(message, "keep one of them"));
        }
        (Some(token), None) => token.to_owned(),
        (None, Some(file)) => read_secret_file("WORKER_TOKEN_FILE", file).map_err(refused)?,
        (None, None) => String::new(),
    };
    let token = token.trim().to_owned();
    if token.is_empty() || !token.chars().all(|letter| letter.is_ascii_graphic()) {
        let hint = "pass the service's WORKER_TOKEN with --token-file, in WORKER_TOKEN or in \
                    WORKER_TOKEN_FILE";
        return Err(Failure::caller(
            "the worker token is missing".to_owned(),
            hint,
        ));
    }
    Ok(token)
}

/// Connects, works, and connects again where the connection breaks, until SIGTERM or SIGINT.
async fn serve(
    app: &App,
    token: &str,
    services: &Arc<Services>,
    options: &Options,
    quiet: bool,
) -> Result<(), Failure> {
    let system = |error: io::Error| Failure::internal(&error);
    let mut terminate = signal(SignalKind::terminate()).map_err(system)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(system)?;
    let stop = Arc::new(Notify::new());
    let told = Arc::clone(&stop);
    let mut stopped = tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        told.notify_one();
    });
    let (mut wait, mut was_connected) = (FIRST_WAIT, false);
    loop {
        let ended = match app.connect(token).await {
            Ok(stream) => {
                if !quiet {
                    say(format_args!(
                        "connected with {app}, {} slots",
                        options.slots
                    ));
                }
                (wait, was_connected) = (FIRST_WAIT, true);
                worker::serve(stream, Arc::clone(services), options, Arc::clone(&stop)).await
            }
            // A certificate that is replaced while workers run may be wrong for a while.
            Err(Unconnected::Mistaken { message, hint }) if !was_connected => {
                return Err(Failure::caller(format!("{app}: {message}"), hint));
            }
            Err(Unconnected::Mistaken { message, .. }) => {
                Err(Error::Connection(io::Error::other(message)))
            }
            Err(Unconnected::Refused(reason)) => Err(Error::Refused(reason)),
            Err(Unconnected::Failed(error)) => Err(Error::Connection(error)),
        };
        match ended {
            Ok(()) => return Ok(()),
            Err(Error::Refused(reason)) => {
                let hint = "use the same version of Platen for the service and its workers";
                return Err(Failure::caller(reason, hint));
            }
            Err(error) if !quiet => say(format_args!("{app}: {}", chain(&error))),
            Err(_) => {}
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = &mut stopped => return Ok(()),
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}
