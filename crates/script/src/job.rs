//! What goes over the channel between a cell and its owner, as JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// A job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job<'a> {
    /// File name in stack traces.
    pub name: &'a str,
    /// An ES module.
    pub code: std::borrow::Cow<'a, str>,
    /// The export that is called.
    pub entry: &'a str,
    #[serde(borrow)]
    pub input: &'a RawValue,
    /// `ctx.run`.
    #[serde(borrow)]
    pub run: &'a RawValue,
    /// `ctx.secrets`.
    #[serde(borrow)]
    pub secrets: &'a RawValue,
    /// For `Math.random`: after a fork all processes would draw the same.
    pub seed: [u32; 4],
    /// Stands the clock still at this instant, in milliseconds since 1970.
    pub fixed_now_ms: Option<i64>,
    pub memory_bytes: u64,
    /// Another job follows in the same cell: see [`crate::Runner::reusing`].
    #[serde(default)]
    pub again: bool,
    /// What is done with the code.
    pub work: Work,
}

/// What is done with the code of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Work {
    /// It runs.
    #[default]
    Run,
    /// The next message is its bytecode, which runs.
    Load,
    /// It is compiled: the answer is [`BYTECODE`] and the bytecode.
    Compile,
    /// It is parsed: the answer is what [`crate::Preparer`] gives, as JSON.
    Prepare,
    /// Its exports are called, one [`ExportCall`] after the other; the first answer says that it
    /// is ready.
    Serve,
}

/// A call of an export.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExportCall<'a> {
    /// The export.
    pub name: &'a str,
    /// An array.
    #[serde(borrow)]
    pub arguments: &'a RawValue,
}

/// Before bytecode; other messages are JSON.
pub(crate) const BYTECODE: u8 = b'B';

/// From the cell.
#[derive(Debug, Deserialize)]
#[serde(tag = "t", rename_all = "lowercase")]
pub(crate) enum FromCell {
    /// A line of the log.
    Log { level: String, text: String },
    /// Something that only the owner can do.
    Call {
        id: u64,
        kind: String,
        #[serde(default)]
        body: Value,
    },
    /// The end.
    Done { output: Value },
    /// The end by an exception.
    Fail { error: Failure },
}

/// Why there is no output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FailureKind {
    /// The code threw an exception.
    #[default]
    Thrown,
    /// Memory ran out.
    Memory,
    /// Nothing is left that could settle the promise.
    Stuck,
    /// The output is longer than a message may be.
    Output,
}

/// A failure, with the exception where there was one.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub kind: FailureKind,
    pub name: String,
    pub message: String,
    pub stack: String,
}

impl Failure {
    pub fn of(kind: FailureKind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }
}
