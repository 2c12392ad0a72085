//! The owner's side: runs a script in a fresh cell and answers its calls.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use platen_document::json_weight::of_text;
use platen_jail::{Cell, Ending, Jail, Limits};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};

use crate::{
    Cancellation, Error, Location, Prepared, Thrown,
    bytecode::{MIN_SOURCE_BYTES, NoCell},
    job::{BYTECODE, Failure, FailureKind, FromCell, Job, Work},
    open_calls::{OpenCalls, reply},
};

/// Maximum number of log lines kept of a run; further ones are dropped, so that a loop cannot fill
/// memory.
const MAX_LOG_LINES: usize = 1_000;

/// Resource limits of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptLimits {
    /// CPU time, in milliseconds.
    pub cpu_ms: u32,
    /// Wall-clock time including calls to the owner, in milliseconds.
    pub wall_ms: u64,
    /// JavaScript heap, in bytes.
    pub memory_bytes: u64,
    /// Output, log and calls together, in bytes.
    pub output_bytes: u64,
    /// Maximum size of a message, and so of the output, in bytes.
    pub message_bytes: u32,
    /// Memory of a message once it is read, as [`platen_document::json_weight`] counts it, and of the
    /// calls that are being answered together. Bytes.
    pub value_bytes: u64,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        Self {
            cpu_ms: 5_000,
            wall_ms: 30_000,
            memory_bytes: 128 << 20,
            output_bytes: 16 << 20,
            message_bytes: 8 << 20,
            value_bytes: 128 << 20,
        }
    }
}

/// Settings of a run, besides its input.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `ctx.secrets`, by name.
    pub secrets: BTreeMap<String, String>,
    /// The export to call; `default` if `None`.
    pub entry: Option<String>,
    /// `ctx.run`: information about the run.
    pub run: Value,
    /// Seed and time in milliseconds since 1970. Fixes the random numbers and freezes the clock,
    /// for deterministic runs.
    pub deterministic: Option<(u64, i64)>,
    /// Resource limits.
    pub limits: ScriptLimits,
    /// Cancels the code.
    pub cancellation: Cancellation,
}

/// A call from code to its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// `fetch`, `render`, `store.get`, `store.put` or `store.delete`.
    pub kind: String,
    /// Its arguments.
    pub body: Value,
}

/// Answers calls from code. Called from several threads.
pub trait Host: Sync {
    /// Answers a call. An error becomes an exception in the code.
    ///
    /// # Errors
    /// A sentence for the author.
    fn call(&self, call: Call, deadline: Instant) -> Result<Value, String>;
}

/// Refuses every call.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn call(&self, call: Call, _: Instant) -> Result<Value, String> {
        Err(format!("`ctx.{}` is not available here", call.kind))
    }
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// `debug`, `info`, `warn` or `error`.
    pub level: String,
    /// The text.
    pub text: String,
}

/// Time spent in a run, by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Time until a sandbox was ready.
    pub provision: Duration,
    /// Time from then until the code ended.
    pub run: Duration,
}

/// Result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The output, or the error.
    pub result: Result<Value, Error>,
    /// Log lines of the code, at most 1,000.
    pub log: Vec<LogLine>,
    /// Time spent, by phase.
    pub timings: Timings,
}

/// Runs scripts, each in a fresh cell. Blocks the calling thread.
#[derive(Clone, Debug)]
pub struct Runner {
    jail: Arc<Jail>,
    /// Cells that wait for another job, if cells are reused.
    used: Option<Arc<Mutex<Vec<Cell>>>>,
}

impl Runner {
    /// Runs scripts in cells of `jail`, whose kind must be [`crate::KIND`].
    #[must_use]
    pub fn new(jail: Arc<Jail>) -> Self {
        Self { jail, used: None }
    }

    /// A runner that gives one cell job after job, so that each job finds what the previous ones
    /// left behind. It exists to measure the cost of a fresh cell, not to run real code.
    #[must_use]
    pub fn reusing(jail: Arc<Jail>) -> Self {
        Self {
            jail,
            used: Some(Arc::default()),
        }
    }

    /// The jail.
    #[must_use]
    pub fn jail(&self) -> &Jail {
        &self.jail
    }

    /// Runs `script` with `input`.
    pub fn run(
        &self,
        script: &Prepared,
        input: &RawValue,
        settings: &Settings,
        host: &dyn Host,
    ) -> Outcome {
        let started = Instant::now();
        let deadline = started + Duration::from_millis(settings.limits.wall_ms);
        let mut outcome = Outcome {
            result: Ok(Value::Null),
            log: Vec::new(),
            timings: Timings::default(),
        };
        let used = self.used.as_ref().and_then(|used| lock(used).pop());
        let is_used = used.is_some();
        let wall = Duration::from_millis(settings.limits.wall_ms);
        let mut cell = match used.map_or_else(|| self.jail.cell(wall), Ok) {
            Ok(cell) => cell,
            Err(error) => {
                outcome.result = Err(error.into());
                return outcome;
            }
        };
        outcome.timings.provision = started.elapsed();
        let ready = Instant::now();
        outcome.result = self
            .drive(
                (&mut cell, is_used),
                script,
                input,
                settings,
                host,
                deadline,
                &mut outcome.log,
            )
            .map_err(|error| match named(error, &settings.limits) {
                Error::Crashed { .. } if settings.cancellation.is_cancelled() => Error::Cancelled,
                error => error,
            });
        outcome.timings.run = ready.elapsed();
        if let (Some(used), Ok(_)) = (&self.used, &outcome.result) {
            lock(used).push(cell);
        }
        outcome
    }

    /// Compiles a long script ahead of its first run. Returns whether it did. Blocks the calling
    /// thread.
    pub fn compile_ahead(&self, script: &Prepared) -> bool {
        let deadline = Instant::now() + Duration::from_millis(ScriptLimits::default().wall_ms);
        self.bytecode(script, deadline).1
    }

    /// The bytecode of a long script, compiled now if necessary, and whether this call compiled it.
    fn bytecode(&self, script: &Prepared, deadline: Instant) -> (Option<Arc<[u8]>>, bool) {
        if script.code.len() < MIN_SOURCE_BYTES {
            return (None, false);
        }
        let compile = || {
            let job = Job {
                name: &script.name,
                code: script.code.as_str().into(),
                entry: "",
                input: RawValue::NULL,
                run: RawValue::NULL,
                secrets: RawValue::NULL,
                seed: [0; 4],
                fixed_now_ms: None,
                memory_bytes: self.jail.limits().memory_bytes,
                work: Work::Compile,
                again: false,
            };
            let job = serde_json::to_vec(&job).map_err(|_| NoCell)?;
            let left = deadline.saturating_duration_since(Instant::now());
            let mut cell = self.jail.cell(left).map_err(|_| NoCell)?;
            let limits = self.jail.limits();
            cell.start(&job, &limits, deadline).map_err(|_| NoCell)?;
            let Ok(mut answer) = cell.receive(deadline) else {
                return Ok(None);
            };
            let is_bytecode = answer.first() == Some(&BYTECODE);
            Ok(is_bytecode.then(|| answer.split_off(1)))
        };
        script.bytecode.get_or_compile(compile)
    }

    /// Sends the code and its input to `cell`.
    fn begin(
        &self,
        (cell, is_used): (&mut Cell, bool),
        script: &Prepared,
        input: &RawValue,
        settings: &Settings,
        deadline: Instant,
    ) -> Result<(), Stop> {
        let (bytecode, _) = self.bytecode(script, deadline);
        let again = self.used.is_some();
        let work = match bytecode {
            Some(_) => Work::Load,
            None => Work::Run,
        };
        let job = encode(script, input, settings, work, again)?;
        let most = self.jail.limits();
        let limits = Limits {
            cpu_ms: settings.limits.cpu_ms,
            memory_bytes: most.memory_bytes,
            message_bytes: settings.limits.message_bytes,
            output_bytes: settings.limits.output_bytes,
        };
        let started = match is_used {
            true => cell.send(&job, deadline),
            false => cell.start(&job, &limits, deadline),
        };
        if let Err(error) = started {
            return Err(match error.kind() {
                std::io::ErrorKind::InvalidInput => Stop::Error(Error::Input {
                    limit_bytes: u64::from(limits.message_bytes.min(most.message_bytes)),
                }),
                _ => Stop::Ending(cell.end()),
            });
        }
        if let Some(bytecode) = &bytecode
            && cell.send(bytecode, deadline).is_err()
        {
            return Err(Stop::Ending(cell.end()));
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn drive(
        &self,
        (cell, is_used): (&mut Cell, bool),
        script: &Prepared,
        input: &RawValue,
        settings: &Settings,
        host: &dyn Host,
        deadline: Instant,
        log: &mut Vec<LogLine>,
    ) -> Result<Value, Stop> {
        self.begin((cell, is_used), script, input, settings, deadline)?;
        let lost = |_| Stop::Ending(Ending::Lost);
        let sender = cell.sender().map_err(lost)?;
        let _watched = settings.cancellation.watch(cell.killer().map_err(lost)?);
        let open = OpenCalls::new(settings.limits.value_bytes);
        std::thread::scope(|scope| {
            loop {
                let (message, weight) = receive(cell, &settings.limits, deadline)?;
                match message {
                    FromCell::Log { level, text } => {
                        if log.len() < MAX_LOG_LINES {
                            log.push(LogLine { level, text });
                        }
                    }
                    FromCell::Call { id, kind, body } => {
                        let call = Call { kind, body };
                        let Some(mut place) = open.enter(weight, deadline) else {
                            return Err(Stop::Ending(cell.abandon(Ending::Deadline)));
                        };
                        let sender = &sender;
                        scope.spawn(move || {
                            let result = host.call(call, deadline);
                            place.release_memory();
                            reply(sender, id, result, deadline);
                            drop(place);
                        });
                    }
                    FromCell::Done(output) => return Ok(output),
                    FromCell::Fail(error) => return Err(fail(error, script, settings)),
                }
            }
        })
    }
}

/// Why a run failed.
pub(crate) enum Stop {
    Ending(Ending),
    Error(Error),
}

/// The next message of `cell`, and its weight. It is weighed before it is read, as memory may be a hundred times
/// the text. A cell whose message is too heavy, or is none, is killed.
pub(crate) fn receive(
    cell: &mut Cell,
    limits: &ScriptLimits,
    deadline: Instant,
) -> Result<(FromCell, u64), Stop> {
    let message = cell.receive(deadline).map_err(Stop::Ending)?;
    let (weight, limit_bytes) = (of_text(&message), limits.value_bytes);
    if weight > limit_bytes {
        cell.abandon(Ending::Output);
        return Err(Stop::Error(Error::Value { limit_bytes }));
    }
    match serde_json::from_slice(&message) {
        Ok(read) => Ok((read, weight)),
        Err(_) => Err(Stop::Ending(cell.abandon(Ending::Crashed(0)))),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// Encodes a job as JSON.
pub(crate) fn encode(
    script: &Prepared,
    input: &RawValue,
    settings: &Settings,
    work: Work,
    again: bool,
) -> Result<Vec<u8>, Stop> {
    let raw =
        |value: String| RawValue::from_string(value).unwrap_or_else(|_| RawValue::NULL.to_owned());
    let run = raw(settings.run.to_string());
    let secrets = raw(json!(settings.secrets).to_string());
    let (seed, fixed_now_ms) = match settings.deterministic {
        Some((seed, now)) => (expand(seed), Some(now)),
        None => (fresh_seed(), None),
    };
    let job = Job {
        name: &script.name,
        code: if work == Work::Load { "" } else { &script.code }.into(),
        work,
        entry: settings.entry.as_deref().unwrap_or("default"),
        input,
        run: &run,
        secrets: &secrets,
        seed,
        fixed_now_ms,
        memory_bytes: settings.limits.memory_bytes,
        again,
    };
    serde_json::to_vec(&job).map_err(|_| Stop::Ending(Ending::Crashed(0)))
}

/// Expands a seed to four words (splitmix64).
fn expand(seed: u64) -> [u32; 4] {
    let mut state = seed;
    std::array::from_fn(|_| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) as u32
    })
}

/// A random seed from the system, through the hasher that the standard library seeds with it.
fn fresh_seed() -> [u32; 4] {
    use std::hash::{BuildHasher, Hasher, RandomState};
    expand(RandomState::new().build_hasher().finish())
}

/// Converts a failure inside the cell to an error for the author of `script`.
pub(crate) fn fail(failure: Failure, script: &Prepared, settings: &Settings) -> Stop {
    match failure.kind {
        FailureKind::Thrown => {}
        FailureKind::Memory => {
            return Stop::Error(Error::Memory {
                limit_bytes: settings.limits.memory_bytes,
            });
        }
        FailureKind::Stuck => return Stop::Error(Error::Stuck),
        FailureKind::Output => return Stop::Ending(Ending::Output),
    }
    let stack = author_stack(&failure.stack, script);
    Stop::Error(Error::Thrown {
        thrown: Box::new(Thrown {
            location: first_location(&stack, &script.name),
            name: failure.name,
            message: failure.message,
            stack,
        }),
    })
}

/// Rewrites the line numbers of `stack` to the author's lines.
fn author_stack(stack: &str, script: &Prepared) -> String {
    let mark = format!("{}:", script.name);
    let mut out = String::with_capacity(stack.len());
    for line in stack.lines() {
        if let Some(at) = line.rfind(&mark) {
            let (before, rest) = line.split_at(at + mark.len());
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if let Ok(number) = rest[..digits].parse() {
                out.push_str(before);
                out.push_str(&script.line(number).to_string());
                out.push_str(&rest[digits..]);
                out.push('\n');
                continue;
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn first_location(stack: &str, name: &str) -> Option<Location> {
    let mark = format!("{name}:");
    let line = stack.lines().find(|line| line.contains(&mark))?;
    let rest = &line[line.rfind(&mark)? + mark.len()..];
    let mut numbers = rest
        .split(|c: char| !c.is_ascii_digit())
        .map(str::parse::<u32>);
    let line = numbers.next()?.ok()?;
    let column = numbers.next().and_then(Result::ok).unwrap_or(1);
    Some(Location {
        file: name.to_owned(),
        line,
        column,
    })
}

/// Converts to an error that names the exceeded limit.
pub(crate) fn named(stop: Stop, limits: &ScriptLimits) -> Error {
    match stop {
        Stop::Error(error) => error,
        Stop::Ending(Ending::CpuTime) => Error::CpuTime {
            limit_ms: limits.cpu_ms,
        },
        Stop::Ending(Ending::Memory) => Error::Memory {
            limit_bytes: limits.memory_bytes,
        },
        Stop::Ending(Ending::Deadline) => Error::Deadline {
            limit_ms: limits.wall_ms,
        },
        Stop::Ending(Ending::Output) => Error::Output {
            limit_bytes: limits.output_bytes,
        },
        Stop::Ending(ending) => Error::Crashed { ending },
    }
}
