//! How a code step fails: each kind is an outcome of its own.

use platen_jail::Ending;

/// A place in the author's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// File name.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in the code that runs: types that were taken out shift it.
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
    /// What it says.
    pub message: String,
    /// Where it was thrown, if it says.
    pub location: Option<Location>,
    /// Its stack, with lines of the author's source.
    pub stack: String,
}

/// Why a code step has no output.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The code threw.
    #[error("{}: {}{}", thrown.name, thrown.message, at(thrown))]
    Thrown {
        /// What.
        thrown: Box<Thrown>,
    },
    /// The promise that the code returned can never settle.
    #[error("the code awaits a promise that nothing can settle")]
    Stuck,
    /// Its owner stopped it.
    #[error("the code was stopped because its run was cancelled")]
    Cancelled,
    /// More processor time than allowed.
    #[error("the code used more than {limit_ms} ms of processor time")]
    CpuTime {
        /// The bound.
        limit_ms: u32,
    },
    /// The deadline passed.
    #[error("the code did not end within {limit_ms} ms")]
    Deadline {
        /// The bound.
        limit_ms: u64,
    },
    /// More memory than allowed.
    #[error("the code used more than {limit_bytes} bytes of memory")]
    Memory {
        /// The bound.
        limit_bytes: u64,
    },
    /// More output, log or calls than allowed.
    #[error("the code sent more than {limit_bytes} bytes")]
    Output {
        /// The bound.
        limit_bytes: u64,
    },
    /// The process ended otherwise.
    #[error("sandbox failed: {}", ending.describe())]
    Crashed {
        /// How.
        ending: Ending,
    },
    /// The input cannot be sent.
    #[error("the input of the code step is larger than {limit_bytes} bytes")]
    Input {
        /// The bound.
        limit_bytes: u64,
    },
    /// There is no sandbox.
    #[error(transparent)]
    Jail(#[from] platen_jail::Error),
}

fn at(thrown: &Thrown) -> String {
    let place = thrown.location.as_ref();
    place.map_or_else(String::new, |place| format!(" ({place})"))
}
