//! `platen worker`.

use std::{io, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use clap::Args;
use platen_engine::flow::Services;
use platen_outbound::Settings;
use platen_runs::{
    protocol::UPGRADE,
    worker::{self, Error, Options},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    signal::unix::{SignalKind, signal},
    sync::Notify,
};

use super::{
    FontArguments,
    flow::{LEVELS, Surroundings},
    tools,
};
use crate::report::{Failure, OutputArguments, say};

/// Waits between two tries to connect.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How long the app may take to answer the request for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest answer to it.
const MAX_HEAD_BYTES: usize = 16 << 10;

/// Arguments of `platen worker`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen worker --app http://10.0.0.5:3000 --token-file /run/secrets/worker\n  \
    WORKER_TOKEN=… platen worker --app http://localhost:3000 --slots 4 --allow-host api.example.com\n\n\
    A worker holds no key of the database or the store: it asks the app for what its runs need. \
    The connection is not encrypted; keep it inside a network that you trust.")]
pub struct Arguments {
    /// Address of the service, `http://HOST:PORT`.
    #[arg(long, value_name = "URL", env = "PLATEN_APP")]
    app: String,
    /// Token that the service has as WORKER_TOKEN.
    #[arg(long, env = "WORKER_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// File that holds the token.
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// Runs at the same time; the cores where absent.
    #[arg(long, env = "WORKER_SLOTS")]
    slots: Option<u32>,
    /// Name in lists of runs; the name of the machine where absent.
    #[arg(long, env = "HOSTNAME", default_value = "worker")]
    name: String,
    /// Seconds that runs may go on after SIGTERM; then they are given back.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    drain: u64,
    /// Host that steps may reach, `example.com` or `*.example.com`; may be given several times.
    #[arg(
        long = "allow-host",
        value_name = "HOST",
        env = "FLOW_ALLOWED_HOSTS",
        value_delimiter = ','
    )]
    hosts: Vec<String>,
    /// Let allowed hosts have private addresses.
    #[arg(long, env = "FLOW_ALLOW_PRIVATE_ADDRESSES")]
    allow_private_addresses: bool,
    /// Sandbox level below which no code runs.
    #[arg(long, value_name = "LEVEL", default_value = "no-namespaces", env = "SANDBOX_LEVEL",
          value_parser = LEVELS)]
    sandbox: String,
    /// Folder that archives of pieces are kept in; one among the temporary files where absent.
    #[arg(long, value_name = "DIR", env = "WORKER_CACHE_DIR")]
    cache_dir: Option<PathBuf>,
    #[command(flatten)]
    fonts: FontArguments,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let address = address(&arguments.app)?;
    let token = token(arguments)?;
    let cache = arguments.cache_dir.clone();
    let cache = cache.unwrap_or_else(|| std::env::temp_dir().join("platen-pieces"));
    let pieces = tools::linked_pieces(&format!("http://{address}"), &token, cache)?;
    let services = Surroundings {
        least: platen_jail::Level::parse(&arguments.sandbox),
        templates: None,
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
        .map_err(|error| Failure::Internal(error.to_string()))?;
    let quiet = output.quiet;
    let served = runtime.block_on(serve(&address, &token, &services, &options, quiet));
    runtime.shutdown_timeout(Duration::from_secs(1));
    served.map(|()| ExitCode::SUCCESS)
}

/// Host and port of an address.
fn address(app: &str) -> Result<String, Failure> {
    let refused = || {
        Failure::caller(
            format!("`{app}` is no address of a service"),
            "write http://HOST:PORT",
        )
    };
    let place = app.strip_prefix("http://").ok_or_else(refused)?;
    let place = place.trim_end_matches('/');
    let valid = |letter: char| letter.is_ascii_alphanumeric() || ".:-[]".contains(letter);
    if place.is_empty() || !place.chars().all(valid) {
        return Err(refused());
    }
    let has_port = place
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Ok(match has_port {
        true => place.to_owned(),
        false => format!("{place}:80"),
    })
}

fn token(arguments: &Arguments) -> Result<String, Failure> {
    let token = match (&arguments.token, &arguments.token_file) {
        (Some(token), _) => token.clone(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| Failure::file("read", &file.display().to_string(), &error))?,
        (None, None) => String::new(),
    };
    let token = token.trim().to_owned();
    if token.is_empty() || !token.chars().all(|letter| letter.is_ascii_graphic()) {
        let hint = "give the service's WORKER_TOKEN with --token-file or in WORKER_TOKEN";
        return Err(Failure::caller(
            "there is no token for the service".to_owned(),
            hint,
        ));
    }
    Ok(token)
}

/// Connects, works, and connects again where the connection breaks, until SIGTERM or SIGINT.
async fn serve(
    address: &str,
    token: &str,
    services: &Arc<Services>,
    options: &Options,
    quiet: bool,
) -> Result<(), Failure> {
    let system = |error: io::Error| Failure::Internal(error.to_string());
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
    let mut wait = FIRST_WAIT;
    loop {
        let ended = match connect(address, token).await {
            Ok(stream) => {
                if !quiet {
                    say(format_args!(
                        "connected with {address}, {} slots",
                        options.slots
                    ));
                }
                wait = FIRST_WAIT;
                worker::serve(stream, Arc::clone(services), options, Arc::clone(&stop)).await
            }
            Err(error) => Err(error),
        };
        match ended {
            Ok(()) => return Ok(()),
            Err(Error::Refused(reason)) => {
                let hint = "use the same version of Platen for the service and its workers";
                return Err(Failure::caller(reason, hint));
            }
            Err(error) if !quiet => say(format_args!("{address}: {}", chain(&error))),
            Err(_) => {}
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = &mut stopped => return Ok(()),
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let source = error.source().map(|source| format!(": {source}"));
    format!("{error}{}", source.unwrap_or_default())
}

/// A connection that speaks the workers' protocol: an upgrade of HTTP/1.1, RFC 9110 section 7.8.
async fn connect(address: &str, token: &str) -> Result<TcpStream, Error> {
    let connecting = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let request = format!(
            "GET /workers/connection HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\n\
             Upgrade: {UPGRADE}\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() >= MAX_HEAD_BYTES {
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            }
            // What follows the head belongs to the protocol.
            head.push(stream.read_u8().await?);
        }
        Ok((stream, head))
    };
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
    let (stream, head) = connected.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    let head = String::from_utf8_lossy(&head);
    let line = head.lines().next().unwrap_or_default();
    match line.split_whitespace().nth(1) {
        Some("101") => Ok(stream),
        Some("401" | "403" | "404") => Err(Error::Refused(format!(
            "it answered `{line}`: is the token that of WORKER_TOKEN there?"
        ))),
        _ => Err(Error::Connection(io::Error::other(format!(
            "it answered `{line}`"
        )))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        assert_eq!(address("http://localhost:3000/").unwrap(), "localhost:3000");
        assert_eq!(address("http://app.internal").unwrap(), "app.internal:80");
        for wrong in [
            "localhost:3000",
            "https://a",
            "http://",
            "http://a b",
            "http://a/\r\nX: y",
        ] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
