//! Messages between a cell and its owner, as JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// A job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job<'a> {
    /// File name in stack traces.
    pub name: &'a str,
    /// Source of an ES module.
    pub code: std::borrow::Cow<'a, str>,
    /// The export to call.
    pub entry: &'a str,
    #[serde(borrow)]
    pub input: &'a RawValue,
    /// `ctx.run`.
    #[serde(borrow)]
    pub run: &'a RawValue,
    /// `ctx.secrets`.
    #[serde(borrow)]
    pub secrets: &'a RawValue,
    /// Seed of `Math.random`: without it all forks would draw the same numbers.
    pub seed: [u32; 4],
    /// Freezes the clock at this time, in milliseconds since 1970.
    pub fixed_now_ms: Option<i64>,
    pub memory_bytes: u64,
    /// Another job follows in the same cell; see [`crate::Runner::reusing`].
    #[serde(default)]
    pub again: bool,
    /// What to do with the code.
    pub work: Work,
}

/// What to do with the code of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Work {
    /// Run it.
    #[default]
    Run,
    /// Run it; the next message is its bytecode.
    Load,
    /// Compile it: the answer is [`BYTECODE`] and the bytecode.
    Compile,
    /// Parse it: the answer is the result of [`crate::Preparer`], as JSON.
    Prepare,
    /// Call its exports, one [`ExportCall`] after another; the first answer says that it is ready.
    Serve,
}

/// A call of an export.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExportCall<'a> {
    /// Name of the export.
    pub name: &'a str,
    /// Arguments, as a JSON array.
    #[serde(borrow)]
    pub arguments: &'a RawValue,
}

/// First byte of a message with bytecode; other messages are JSON.
pub(crate) const BYTECODE: u8 = b'B';

/// A message from the cell: an object with one member, which names its kind. Were the name a member
/// beside others, serde would keep all of them as a second tree before it makes the value.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FromCell {
    /// A log line.
    Log { level: String, text: String },
    /// A call that only the owner can answer.
    Call {
        id: u64,
        kind: String,
        #[serde(default)]
        body: Value,
    },
    /// The code has finished, with this output.
    Done(Value),
    /// The code has failed.
    Fail(Failure),
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

/// A failure; with the exception, if there was one.
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
