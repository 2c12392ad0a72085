//! Parses sources, in a cell if they are untrusted.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use platen_jail::{Ending, Limits};
use serde_json::value::RawValue;

use crate::{
    Finding, Language, Prepared, Runner,
    job::{Job, Work},
    prepare::{check_bounds, parse, prepare},
};

/// Resource limits for parsing one source.
const LIMITS: Limits = Limits {
    cpu_ms: 5_000,
    memory_bytes: 512 << 20,
    message_bytes: 32 << 20,
    output_bytes: 32 << 20,
};
/// Timeout of parsing, including the wait for a cell.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Returns the runner for untrusted code, or the reason why there is none.
pub type RunnerSource = dyn Fn() -> Result<Runner, String> + Send + Sync;

/// Parses sources.
#[derive(Clone, Default)]
pub enum Preparer {
    /// Parses on a thread of this process, which nothing ends early: for trusted sources.
    #[default]
    Thread,
    /// Parses on the stack of the caller, who is already in a cell.
    Here,
    /// Parses in a fresh cell each; on a thread if there is no sandbox.
    Cells(Arc<RunnerSource>),
}

impl fmt::Debug for Preparer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Thread => "Thread",
            Self::Here => "Here",
            Self::Cells(_) => "Cells",
        })
    }
}

impl Preparer {
    /// Checks `source` and strips its types.
    ///
    /// # Errors
    /// All syntax errors; or the source is nested too deeply, or takes too much time or memory to
    /// parse.
    pub fn prepare(
        &self,
        name: &str,
        source: &str,
        language: Language,
    ) -> Result<Prepared, Vec<Finding>> {
        match self {
            Self::Thread => prepare(name, source, language),
            Self::Here => {
                check_bounds(source)?;
                parse(name, source, language)
            }
            Self::Cells(runner) => match runner() {
                Ok(runner) => runner.prepare(name, source, language),
                Err(_) => prepare(name, source, language),
            },
        }
    }
}

impl Runner {
    /// Checks `source` in a fresh cell and strips its types. Blocks the calling thread.
    ///
    /// # Errors
    /// See [`Preparer::prepare`].
    pub fn prepare(
        &self,
        name: &str,
        source: &str,
        language: Language,
    ) -> Result<Prepared, Vec<Finding>> {
        check_bounds(source)?;
        let deadline = Instant::now() + TIMEOUT;
        let job = Job {
            name,
            code: source.into(),
            entry: match language {
                Language::JavaScript => "js",
                Language::TypeScript => "ts",
            },
            input: RawValue::NULL,
            run: RawValue::NULL,
            secrets: RawValue::NULL,
            seed: [0; 4],
            fixed_now_ms: None,
            memory_bytes: LIMITS.memory_bytes,
            again: false,
            work: Work::Prepare,
        };
        let failed = |reason: &str| {
            let message = format!("the source cannot be parsed: {reason}");
            Err(vec![Finding::of_all(message)])
        };
        let Ok(job) = serde_json::to_vec(&job) else {
            return failed("it is not a text");
        };
        let Ok(mut cell) = self.jail().cell(TIMEOUT) else {
            // The sandbox is unavailable, which is not the source's fault.
            return prepare(name, source, language);
        };
        let answer = match cell.start(&job, &LIMITS, deadline) {
            Ok(()) => cell.receive(deadline),
            Err(_) => Err(cell.end()),
        };
        match answer {
            Ok(answer) => serde_json::from_slice(&answer)
                .unwrap_or_else(|_| failed("the sandbox gave no answer")),
            Err(Ending::CpuTime | Ending::Deadline) => failed("that takes too long"),
            Err(Ending::Memory | Ending::Killed | Ending::Output) => {
                failed("that takes too much memory")
            }
            // The stack overflowed, or something similar; other code would have been parsed.
            Err(_) => failed("it is nested too deep").map_err(|findings| {
                let deep = |finding| Finding {
                    is_too_deep: true,
                    ..finding
                };
                findings.into_iter().map(deep).collect()
            }),
        }
    }
}

/// The cell's answer to a job of [`Work::Prepare`].
pub(crate) fn answer(job: &Job<'_>) -> Vec<u8> {
    let language = match job.entry {
        "js" => Language::JavaScript,
        _ => Language::TypeScript,
    };
    serde_json::to_vec(&parse(job.name, &job.code, language)).unwrap_or_default()
}
