//! Errors of code steps.

use platen_fault::{Backend, Code, Stage, What};
use platen_jail::Ending;

/// A position in the author's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// File name.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in the generated code: removed types shift it.
    pub column: u32,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// An exception that the code did not catch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thrown {
    /// Class, such as `TypeError`.
    pub name: String,
    /// Error message.
    pub message: String,
    /// Where it was thrown, if known.
    pub location: Option<Location>,
    /// Stack trace, with lines of the author's source.
    pub stack: String,
}

/// Errors of code steps.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The code threw an exception.
    #[error("{}: {}{}", thrown.name, thrown.message, at(thrown))]
    Thrown {
        /// The exception.
        thrown: Box<Thrown>,
    },
    /// The promise that the code returned can never settle.
    #[error("code awaits a promise that never settles")]
    Stuck,
    /// The run was cancelled.
    #[error("code stopped: its run was cancelled")]
    Cancelled,
    /// CPU limit exceeded.
    #[error("code exceeded its CPU limit of {limit_ms} ms")]
    CpuTime {
        /// The limit, in milliseconds.
        limit_ms: u32,
    },
    /// The code timed out.
    #[error("code timed out after {limit_ms} ms")]
    Deadline {
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// Memory limit exceeded.
    #[error("code exceeded its memory limit of {limit_bytes} bytes")]
    Memory {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// Output limit exceeded; output, log and calls all count.
    #[error("code exceeded its output limit of {limit_bytes} bytes")]
    Output {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The output, or the arguments of a call, would take too much memory as a value.
    #[error("the output of code, or a call, would take more than {limit_bytes} bytes of memory")]
    Value {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The cell's process failed.
    #[error("sandbox failed: {}", ending.describe())]
    Crashed {
        /// How it ended.
        ending: Ending,
    },
    /// The input is too large to send.
    #[error("input of the code step exceeds {limit_bytes} bytes")]
    Input {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The sandbox is unavailable.
    #[error(transparent)]
    Jail(#[from] platen_jail::Error),
}

impl Error {
    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Thrown { .. } => Code::CodeThrown,
            Self::Stuck => Code::CodeStuck,
            Self::Cancelled => Code::Cancelled,
            Self::CpuTime { limit_ms } => Code::CpuLimit(Stage::Code, u64::from(*limit_ms)),
            Self::Deadline { .. } => Code::Timeout(Stage::Code),
            Self::Memory { limit_bytes } => Code::MemoryLimit(Stage::Code, *limit_bytes),
            Self::Output { limit_bytes } | Self::Value { limit_bytes } => {
                Code::TooLarge(What::Output, *limit_bytes)
            }
            Self::Crashed { .. } => Code::BackendCrashed(Backend::Sandbox),
            Self::Input { limit_bytes } => Code::TooLarge(What::Input, *limit_bytes),
            Self::Jail(_) => Code::BackendUnavailable(Backend::Sandbox),
        }
    }
}

fn at(thrown: &Thrown) -> String {
    let place = thrown.location.as_ref();
    place.map_or_else(String::new, |place| format!(" ({place})"))
}
