//! The flow pack: a webhook, an action, code and an answer, in every configuration of service and
//! workers, compared with a Node server.

mod configurations;
mod fleet;
mod report;
mod steps;

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use self::configurations::{Configuration, configurations};
pub use self::fleet::{SCRIPT, script};
pub(crate) use self::report::series;
pub use self::report::{blocks, plots};
pub use crate::name::Sandbox;
use crate::{
    Effort, Error, Outcome, Progress,
    client::{Request, Target},
    program::Platen,
    recorder::Recorder,
    rounds::in_turns,
};

/// Runs the flow once in this process.
pub type Once = Box<dyn Fn() -> Outcome + Send + Sync>;
/// Creates a function that runs the flow in this process without storage, in a fresh sandbox each
/// time or in a reused one.
pub type InProcess<'a> = &'a dyn Fn(Sandbox) -> Result<Once, String>;

/// A full run.
pub const WHOLE: Effort = Effort {
    samples: 300,
    min_rounds: 6,
    max_rounds: 60,
    cell_seconds: 17,
    pack_seconds: 630,
};
/// A quick run.
pub const QUICK: Effort = Effort {
    samples: 200,
    min_rounds: 2,
    max_rounds: 3,
    cell_seconds: 3,
    pack_seconds: 60,
};

/// What to measure.
#[derive(Clone)]
pub struct Options<'a> {
    /// The binary to start.
    pub platen: Platen,
    /// A service that is already running; then only that is measured.
    pub url: Option<Target>,
    /// Its admin API key.
    pub key: Option<String>,
    /// The flow.
    pub flow: PathBuf,
    /// Number of runs before measuring, per cell and round.
    pub warmup: usize,
    /// How much is measured.
    pub effort: Effort,
    /// Numbers of concurrent runs; each is a cell.
    pub concurrency: Vec<usize>,
    /// Script that starts the Node server, with the arguments PORT and `cold` or `warm`.
    pub peer: Option<PathBuf>,
    /// Script that starts a fleet, see [`SCRIPT`].
    pub fleet: Option<PathBuf>,
    /// Runs the flow without a service.
    pub in_process: InProcess<'a>,
}

/// Measures the pack.
///
/// # Errors
/// The service does not start or rejects the flow. Failed runs void their cells.
pub fn run(options: &Options<'_>, progress: Progress<'_>) -> Result<Recorder, Error> {
    let mut recorder = Recorder::of("flow", options.effort);
    let content = std::fs::read(&options.flow).map_err(Error::file("read", &options.flow))?;
    let key = flow_key(&content, &options.flow)?;
    let all = configurations(options, &content, &key, &mut recorder, progress)?;
    let webhook = Request::json(
        "POST",
        &format!("/webhooks/{key}/sync"),
        options.key.as_deref(),
        b"{}",
    );
    let mut contenders = Vec::new();
    for configuration in &all {
        for concurrency in &options.concurrency {
            if configuration.takes(*concurrency) {
                contenders.push(configuration.contender(options, *concurrency, &webhook));
            }
        }
    }
    progress(&format!("{} cells, interleaved", contenders.len()));
    in_turns(options.effort, contenders, &mut recorder)?;
    if let Some(target) = all.iter().find_map(Configuration::service) {
        progress("steps of runs, one at a time");
        steps::measure(
            target,
            options.key.as_deref(),
            &key,
            &webhook,
            &mut recorder,
        )?;
    }
    // What the configurations keep would take processors and memory from fleets.
    drop(all);
    match &options.fleet {
        _ if options.url.is_some() => {}
        Some(script) => {
            if let Err(error) = fleet::measure(script, options, &mut recorder, progress) {
                recorder.note(format!("Fleets: {error}."));
            }
        }
        None => recorder.note(format!("Fleets: there is no {SCRIPT} here.")),
    }
    Ok(recorder)
}

fn flow_key(content: &[u8], path: &Path) -> Result<String, Error> {
    let flow: Json = serde_json::from_slice(content).unwrap_or_default();
    let key = flow["key"].as_str().map(str::to_owned);
    key.ok_or_else(|| {
        Error::argument(
            format!("`{}` has no key", path.display()),
            "give a flow in JSON",
        )
    })
}

/// Stores and publishes the flow; an existing one is left as it is.
pub(crate) fn publish(
    target: &Target,
    key: Option<&str>,
    flow: &str,
    content: &[u8],
) -> Result<(), Error> {
    Request::json("POST", "/flows", key, content).expect(target, &[200, 201, 409])?;
    let publication = format!("/flows/{flow}/publication");
    let request = Request::json("POST", &publication, key, b"{}");
    request.expect(target, &[200, 201, 204, 409]).map(drop)
}
