//! Client side of the sandbox: a jail whose cells render documents.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use platen_document::{Diagnostic, Host, json_weight::of_text};
use platen_fonts::FontSettings;
use platen_jail::{Cell, Ending, Jail, Level, Limits, Options};
use platen_render::{
    Error as RenderError, FolderHost, Format, MAX_ASSET_BYTES, RenderOptions, Rendered, Stage,
};

use super::{
    IsolationError,
    prepared::PreparedCells,
    wire::{self, Failure, Head, Task, encode_job},
    worker::kind,
};
use crate::{
    Engine, Error,
    helpers::{MAX_VALUE_BYTES, module_of},
};

/// Limits and sandbox level of renderings.
#[derive(Clone, Debug)]
pub struct IsolationSettings {
    /// Fonts of the zygote, the same as the engine's.
    pub fonts: FontSettings,
    /// Memory limit of one rendering, in bytes.
    pub memory_bytes: u64,
    /// CPU limit of one rendering, in milliseconds.
    pub cpu_ms: u32,
    /// Wall-clock limit of one rendering, in milliseconds.
    pub wall_ms: u64,
    /// Limit on the documents of one rendering, in bytes.
    pub output_bytes: u64,
    /// Limit on template, data and attachments of one rendering, in bytes.
    pub input_bytes: u32,
    /// Number of sandboxes forked in advance, and also the number of those with a compiled
    /// template.
    pub spares: usize,
    /// Lowest acceptable sandbox level.
    pub least: Level,
    /// Highest level to try.
    pub most: Level,
    /// Program to start as the zygote; the running one if `None`.
    pub program: Option<PathBuf>,
}

impl Default for IsolationSettings {
    fn default() -> Self {
        Self {
            fonts: FontSettings::default(),
            memory_bytes: 1 << 30,
            cpu_ms: 60_000,
            wall_ms: 65_000,
            output_bytes: 512 << 20,
            input_bytes: 64 << 20,
            spares: 3,
            least: Level::NoNamespaces,
            most: Level::Full,
            program: None,
        }
    }
}

impl IsolationSettings {
    /// The error of a cell that ended like this; it names the limit.
    pub(crate) fn exceeded(&self, ending: Ending) -> IsolationError {
        match ending {
            Ending::CpuTime => IsolationError::CpuTime {
                limit_ms: self.cpu_ms,
            },
            Ending::Deadline => IsolationError::Deadline {
                limit_ms: self.wall_ms,
            },
            Ending::Output => IsolationError::Output {
                limit_bytes: self.output_bytes,
            },
            Ending::Memory | Ending::Killed => IsolationError::Memory {
                limit_bytes: self.memory_bytes,
            },
            other => IsolationError::Crashed(other),
        }
    }
}

/// Renders in sandboxes, many concurrently.
#[derive(Debug)]
pub struct Isolation {
    jail: Arc<Jail>,
    prepared: PreparedCells,
    settings: IsolationSettings,
}

impl Isolation {
    /// Starts the zygote with its fonts.
    ///
    /// # Errors
    /// If it does not start, or the host does not permit the required level.
    pub fn start(settings: IsolationSettings) -> Result<Self, platen_jail::Error> {
        let jail = Jail::start(Options {
            program: settings.program.clone(),
            limits: Limits {
                cpu_ms: settings.cpu_ms,
                memory_bytes: settings.memory_bytes,
                // The limit applies to the job, and an asset must fit as well.
                message_bytes: settings.input_bytes.max(MAX_ASSET_BYTES as u32 + 1),
                output_bytes: settings.output_bytes,
            },
            // The XLSX writer starts a thread for each sheet.
            threads: true,
            spares: settings.spares,
            least: settings.least,
            most: settings.most,
            ..Options::new(&kind(&settings.fonts))
        })?;
        let jail = Arc::new(jail);
        let prepared = PreparedCells::start(Arc::clone(&jail), settings.spares)?;
        Ok(Self {
            jail,
            prepared,
            settings,
        })
    }

    /// The sandbox level of renderings.
    #[must_use]
    pub fn level(&self) -> Level {
        self.jail.level()
    }

    /// The jail.
    #[must_use]
    pub fn jail(&self) -> &Jail {
        &self.jail
    }

    /// Renders the template in `source` with the JSON in `data`, in the order of `formats`;
    /// `engine` supplies the helpers. Blocks the calling thread.
    ///
    /// # Errors
    /// As without a sandbox; [`Error::Data`] if `data` is not JSON, and [`Error::Isolation`] if the
    /// job exceeds a limit or the sandbox fails.
    pub fn render(
        &self,
        engine: &Engine,
        source: &[u8],
        data: &[u8],
        formats: &[Format],
        options: &RenderOptions,
    ) -> Result<Vec<Rendered>, Error> {
        let start = Instant::now();
        let wall = Duration::from_millis(self.settings.wall_ms);
        let deadline = start + wall;
        let host = engine.host(None, options);
        // Helpers and the document share one clock.
        let options = &RenderOptions {
            now_unix_seconds: Some(host.now_unix_seconds()),
            ..options.clone()
        };
        let now = host.now_unix_seconds();
        let job = encode_job(Task::Render, data, formats, options, now);
        self.check_input(source, &job)?;
        let mut cell = self.begin(source, &job, options, deadline)?;
        drop(job);
        let mut world = World {
            engine,
            source,
            options,
            host,
        };
        let received = receive(&mut cell, &mut world, deadline, |e| self.named(e));
        // First: what is missing may be what went wrong.
        world.host.complete()?;
        let mut documents = received?;
        for document in &mut documents {
            let inside: Duration = document.stages.iter().map(|stage| stage.duration).sum();
            // The remaining time: waiting for the sandbox, compiling, and transfer in both
            // directions.
            document.stages.insert(
                0,
                Stage {
                    name: "sandbox",
                    duration: start.elapsed().saturating_sub(inside),
                },
            );
        }
        Ok(documents)
    }

    /// Every error and warning about the template in `source`. With the JSON in `data`, also those
    /// of binding, except for what depends on assets or helper results. Blocks the calling thread
    /// until it is done or `stop` is set.
    ///
    /// # Errors
    /// As [`Isolation::render`].
    pub fn validate(
        &self,
        source: &[u8],
        data: Option<&[u8]>,
        stop: Option<&Arc<AtomicBool>>,
    ) -> Result<Vec<Diagnostic>, Error> {
        let deadline = Instant::now() + Duration::from_millis(self.settings.wall_ms);
        let options = RenderOptions {
            stop: stop.map(Arc::clone),
            ..RenderOptions::default()
        };
        let task = match data {
            Some(_) => Task::ValidateData,
            None => Task::Validate,
        };
        let job = encode_job(task, data.unwrap_or_default(), &[], &options, 0);
        self.check_input(source, &job)?;
        let mut cell = self.begin(source, &job, &options, deadline)?;
        let message = cell
            .receive(deadline)
            .map_err(|ending| self.named(ending))?;
        match message.split_first() {
            Some((&wire::REPORT, content)) => {
                serde_json::from_slice(content).map_err(|_| protocol_violation(&mut cell))
            }
            Some((&wire::FAILURE, content)) => {
                Err(match serde_json::from_slice::<Failure>(content) {
                    Ok(failure) => failure.into(),
                    Err(_) => protocol_violation(&mut cell),
                })
            }
            _ => Err(protocol_violation(&mut cell)),
        }
    }

    fn check_input(&self, source: &[u8], job: &[u8]) -> Result<(), Error> {
        let input_bytes = (source.len() + job.len()) as u64;
        let limit_bytes = u64::from(self.settings.input_bytes);
        match input_bytes > limit_bytes {
            true => Err(IsolationError::Input { limit_bytes }.into()),
            false => Ok(()),
        }
    }

    /// Sends the whole job to a cell and returns the cell.
    fn begin(
        &self,
        source: &[u8],
        job: &[u8],
        options: &RenderOptions,
        deadline: Instant,
    ) -> Result<Cell, Error> {
        let stop = |cell: &mut Cell| {
            if let Some(stop) = &options.stop {
                cell.stop_when(Arc::clone(stop));
            }
        };
        if let Some(mut cell) = self.prepared.take(source) {
            stop(&mut cell);
            // A prepared cell that has exited meanwhile costs one failed send.
            if cell.send(job, deadline).is_ok() {
                return Ok(cell);
            }
        }
        let wall = deadline.saturating_duration_since(Instant::now());
        let mut cell = self.jail.cell(wall).map_err(IsolationError::from)?;
        stop(&mut cell);
        let begun = cell
            .start(source, &self.jail.limits(), deadline)
            .and_then(|()| cell.send(job, deadline));
        match begun {
            Ok(()) => Ok(cell),
            Err(_) => Err(self.named(cell.end())),
        }
    }

    fn named(&self, ending: Ending) -> Error {
        match ending {
            Ending::Stopped => RenderError::Stopped.into(),
            other => self.settings.exceeded(other).into(),
        }
    }
}

/// Answers a cell's requests for assets and helpers.
struct World<'a> {
    engine: &'a Engine,
    source: &'a [u8],
    options: &'a RenderOptions,
    host: FolderHost,
}

impl World<'_> {
    /// Answers a request for an asset.
    fn asset(&self, name: &[u8]) -> Vec<u8> {
        let name = std::str::from_utf8(name).ok();
        let asset = name.and_then(|name| self.host.asset(name));
        let mut answer = Vec::with_capacity(1 + asset.as_ref().map_or(0, |it| it.len()));
        answer.push(if asset.is_some() { wire::FOUND } else { 0 });
        answer.extend_from_slice(asset.as_deref().unwrap_or_default());
        answer
    }

    /// Answers a request for the fonts of a family.
    fn fonts(&self, family: &[u8]) -> Vec<u8> {
        let family = std::str::from_utf8(family).unwrap_or_default();
        let mut answer = vec![wire::FOUND];
        answer.extend(serde_json::to_vec(&self.host.fonts(family)).unwrap_or_default());
        answer
    }

    /// Answers a helper call.
    fn helper(&mut self, call: &[u8]) -> Vec<u8> {
        if self.host.helpers.is_none() {
            let module = module_of(self.source);
            let host = self.engine.host(module.as_deref(), self.options);
            self.host.helpers = host.helpers;
        }
        // Weighed before they are read: a template of strangers makes the arguments.
        let read = (of_text(call) <= MAX_VALUE_BYTES)
            .then(|| serde_json::from_slice::<(String, Vec<serde_json::Value>)>(call));
        let value = match (&self.host.helpers, read) {
            (Some(helpers), Some(Ok((name, arguments)))) => helpers.call(&name, arguments),
            (_, None) => Err(format!(
                "its arguments would take more than {MAX_VALUE_BYTES} bytes of memory"
            )),
            _ => Err("protocol violation".to_owned()),
        };
        let (mark, content) = match value {
            Ok(value) => (wire::FOUND, value.to_string()),
            Err(reason) => (0, reason),
        };
        let mut answer = vec![mark];
        answer.extend_from_slice(content.as_bytes());
        answer
    }
}

/// Receives the documents of `cell` and answers its requests meanwhile.
fn receive(
    cell: &mut Cell,
    world: &mut World<'_>,
    deadline: Instant,
    named: impl Fn(Ending) -> Error,
) -> Result<Vec<Rendered>, Error> {
    let mut documents: Vec<Rendered> = Vec::new();
    let mut expected = 0;
    loop {
        let message = cell.receive(deadline).map_err(&named)?;
        let Some((letter, content)) = message.split_first() else {
            return Err(protocol_violation(cell));
        };
        match *letter {
            wire::ASSET | wire::FONTS | wire::HELPER => {
                let answer = match *letter {
                    wire::ASSET => world.asset(content),
                    wire::FONTS => world.fonts(content),
                    _ => world.helper(content),
                };
                if cell.send(&answer, deadline).is_err() {
                    let ending = cell.end();
                    return Err(named(ending));
                }
            }
            wire::HEAD => {
                let head: Option<Head> = serde_json::from_slice(content).ok();
                let Some((size_bytes, document)) =
                    head.and_then(|head| Some((head.size_bytes, head.into_rendered()?)))
                else {
                    return Err(protocol_violation(cell));
                };
                expected = size_bytes;
                documents.push(document);
            }
            wire::PIECE => match documents.last_mut() {
                Some(document) if document.bytes.len() + content.len() <= expected => {
                    if document.bytes.is_empty() {
                        document.bytes.reserve_exact(expected);
                    }
                    document.bytes.extend_from_slice(content);
                }
                _ => return Err(protocol_violation(cell)),
            },
            wire::END => return Ok(documents),
            wire::FAILURE => {
                return Err(match serde_json::from_slice::<Failure>(content) {
                    Ok(failure) => failure.into(),
                    Err(_) => protocol_violation(cell),
                });
            }
            _ => return Err(protocol_violation(cell)),
        }
    }
}

/// Kills a cell that violates the protocol, because it is compromised or broken, and fails the job.
fn protocol_violation(cell: &mut Cell) -> Error {
    cell.kill();
    Error::bug("protocol violation by a render sandbox")
}
