//! `platen serve`.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::{Args, ValueEnum};
use platen_server::{Config, ExtensionFactory, LogFormat, LogLevel, Settings};

use super::{FontArguments, bench_page, configuration};
use crate::report::{Failure, print_line};

/// Arguments of `platen serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen serve                                     this machine only, without keys\n  \
    API_KEY_ADMIN=$(openssl rand -hex 24) platen serve --bind 0.0.0.0:3000\n  \
    platen serve --workers 4                         four processes behind one port\n  \
    WORKER_TOKEN=… platen serve --role app           leave flow runs to `platen worker`
  \
    platen serve --config platen.toml --log-format json\n  \
    platen serve --print-config                      every setting with its value\n\n\
    Flags override variables, and variables override the configuration file.")]
pub struct Arguments {
    /// Address to listen on: host:port, tls://, unix:// or systemd://; several with commas or
    /// repeated flags; default 127.0.0.1:3000.
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    bind: Vec<String>,
    /// Threads that serve connections; default: the number of cores.
    #[arg(long, value_name = "COUNT")]
    threads: Option<u32>,
    /// Worker processes under a supervisor, which restarts them when they exit and replaces them
    /// without dropping requests on SIGHUP or SIGUSR1; default: one process without supervisor.
    #[arg(long, value_name = "COUNT")]
    workers: Option<u32>,
    /// Role of this process: `all`, or `app` to leave flow runs to workers.
    #[arg(long, value_enum, env = "PLATEN_ROLE", default_value = "all")]
    role: Role,
    /// Data folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Configuration file; default: `platen.toml` in the current folder, if present.
    #[arg(long, value_name = "FILE", env = "PLATEN_CONFIG")]
    config: Option<PathBuf>,
    /// Print the effective configuration without keys, then exit.
    #[arg(long)]
    print_config: bool,
    /// Log format, on standard error.
    #[arg(long, value_enum)]
    log_format: Option<Form>,
    /// Minimum log level.
    #[arg(long, value_enum)]
    log_level: Option<Level>,
    /// Asset folder for templates.
    #[arg(long, value_name = "DIR")]
    assets: Option<PathBuf>,
    /// Folder of benchmark results for /bench.
    #[arg(long, value_name = "DIR")]
    bench_results: Option<PathBuf>,
    #[command(flatten)]
    fonts: FontArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Role {
    /// Serve requests and execute flow runs.
    All,
    /// Serve requests; `platen worker` executes flow runs.
    App,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
}

/// Routes that other crates add.
const EXTENSIONS: &[ExtensionFactory] = &[platen_gotenberg::extension, bench_page::extension];

/// Threads for work that blocks. A run and a deferred request hold one as long as they take, and what they ask
/// for needs others: pages, deliveries, polls, reads of the database.
fn blocking_threads(config: &Config) -> usize {
    let runs = u64::from(config.flow.slots) + u64::from(config.webhook.max_queue);
    let asked = u64::from(config.max_concurrent_pages) + runs;
    usize::try_from(runs + asked + 64).unwrap_or(usize::MAX)
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let config = configuration::load(arguments.config.as_deref(), flags(arguments))?;
    if arguments.print_config {
        print_line(config.to_toml().trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    if config.exposure.refuses_weak_settings {
        refuse_weak(&config)?;
    }
    if arguments.role == Role::App && config.worker_token.is_none() {
        let message = "`--role app` leaves flow runs to workers, and without a token none connects";
        let hint = "set WORKER_TOKEN, the same for the service and its workers";
        return Err(Failure::caller(message, hint));
    }
    if config.workers > 0 && !platen_supervise::is_supervised() {
        return supervise(config);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(config.threads as usize)
        .max_blocking_threads(blocking_threads(&config))
        .build()
        .map_err(|error| Failure::internal(&error))?;
    let result = runtime.block_on(platen_server::serve(config, EXTENSIONS));
    // A job that does not stop must not keep the process.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    result.map_err(|error| {
        use platen_server::Error;
        let hint = match &error {
            Error::Listen(_) => "another process may use the address: see --bind",
            Error::Folder { .. } => {
                "give the service's user write access, or choose another folder: see --data-dir"
            }
            Error::DatabaseInUse => {
                "stop the other service, or give this one a database of its own: see DATABASE_URL"
            }
            Error::NameInUse(_) => {
                "delete `service.id` in the data folder if that is a copy of the other's"
            }
            Error::NotMigrated(_) => "run `platen migrate apply`, or set DATABASE_MIGRATE=true",
            Error::Database(_) => "see DATABASE_URL and DATABASE_CA_FILE",
            Error::Redis(_) => "see REDIS_URL and REDIS_CA_FILE",
            Error::InUse(_) => "stop the other service, or choose another folder: see --data-dir",
            Error::Store { .. } | Error::Blobs(_) | Error::Results(_) => {
                "restore the folder from an intact copy, or choose another: see --data-dir"
            }
            _ => "see --help for the settings",
        };
        let cause = std::error::Error::source(&error).map(|source| format!(": {source}"));
        let message = format!("{error}{}", cause.unwrap_or_default());
        Failure::new(error.code(), message).with_hint(hint)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses a configuration with weak settings, and says all of them.
fn refuse_weak(config: &Config) -> Result<(), Failure> {
    let weaknesses = config.weaknesses();
    let lines = weaknesses.iter();
    let lines = lines.map(|weakness| format!("\n  {}: {}", weakness.subject, weakness.advice));
    let list: String = lines.collect();
    if list.is_empty() {
        return Ok(());
    }
    let (count, settings) = match weaknesses.len() {
        1 => (1, "setting is"),
        count => (count, "settings are"),
    };
    let message = format!("HARDEN_PRODUCTION is on, and {count} {settings} weak:{list}");
    let hint = "change them, or set HARDEN_PRODUCTION=false: see docs/operations.md";
    Err(Failure::caller(message, hint))
}

fn supervise(config: Config) -> Result<ExitCode, Failure> {
    platen_server::log::install(config.log_format, config.log_level, None)
        .map_err(|error| Failure::internal(&error))?;
    let settings = platen_supervise::Settings {
        data_folder: config.database_folder().to_owned(),
        binds: config.bind,
        workers: config.workers,
        shutdown_timeout: Duration::from_millis(config.shutdown_timeout_ms),
        heartbeat_timeout: Duration::from_millis(config.worker_timeout_ms),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(&error))?;
    runtime
        .block_on(platen_supervise::supervise(settings))
        .map_err(|error| {
            let cause = std::error::Error::source(&error).map(|source| format!(": {source}"));
            let hint = "see the worker process's message above; another process may use the \
                        address: see --bind";
            Failure::caller(format!("{error}{}", cause.unwrap_or_default()), hint)
        })?;
    platen_server::log::flush();
    Ok(ExitCode::SUCCESS)
}

fn flags(arguments: &Arguments) -> Settings {
    let fonts = arguments.fonts.settings();
    Settings {
        bind: (!arguments.bind.is_empty()).then(|| arguments.bind.join(",")),
        threads: arguments.threads,
        workers: arguments.workers,
        data_dir: arguments.data_dir.clone(),
        log_format: arguments.log_format.map(|form| match form {
            Form::Text => LogFormat::Text,
            Form::Json => LogFormat::Json,
        }),
        log_level: arguments.log_level.map(|level| match level {
            Level::Error => LogLevel::Error,
            Level::Warn => LogLevel::Warn,
            Level::Info => LogLevel::Info,
            Level::Debug => LogLevel::Debug,
        }),
        assets_dir: arguments.assets.clone(),
        bench_results_dir: arguments.bench_results.clone(),
        flow_slots: (arguments.role == Role::App).then_some(0),
        fonts_dirs: Some(fonts.folders).filter(|folders| !folders.is_empty()),
        system_fonts: (!fonts.system).then_some(false),
        ..Settings::default()
    }
}
