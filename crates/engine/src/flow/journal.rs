//! What a run leaves behind while it goes on: its journal and reports of its steps.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use platen_flow::{Entry, Finish, StepError};
use platen_script::LogLine;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// What happened.
    pub entry: Entry,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// How long the run was worked on until then, in milliseconds: its limit counts this.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub worked_ms: u64,
    /// Where the time of a step went, where one ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<StepReport>,
}

impl Record {
    /// `entry`, of this instant.
    #[must_use]
    pub fn now(entry: Entry) -> Self {
        Self {
            entry,
            at_ms: now().as_millis() as u64,
            worked_ms: 0,
            report: None,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde gives a reference.
fn is_zero(worked_ms: &u64) -> bool {
    *worked_ms == 0
}

/// A step that was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// Its path.
    pub path: String,
    /// From 1.
    pub attempt: u32,
    /// From the start of the run on this machine, in microseconds.
    pub started_us: u64,
    /// Until there was a sandbox, for code, in microseconds.
    #[serde(default)]
    pub sandbox_us: u64,
    /// Altogether, in microseconds.
    pub duration_us: u64,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
    /// What code logged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<LogLine>,
}

/// Why a run stops although its flow does not say so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// Another worker has the run now; what this one does counts no more.
    #[error("the run belongs to another worker now")]
    Fenced,
    /// Its journal cannot be kept.
    #[error("the journal of the run cannot be kept: {0}")]
    Journal(String),
}

/// Where the journal of a run is kept.
pub trait Journal {
    /// Takes a record.
    ///
    /// # Errors
    /// Why the run stops here.
    fn append(&mut self, record: Record) -> Result<(), Stop>;

    /// Hands on what was taken, because the next thing takes time. Where `durable` is true it does
    /// not return before all of it would survive the death of this machine.
    ///
    /// # Errors
    /// Why the run stops here.
    fn flush(&mut self, durable: bool) -> Result<(), Stop>;

    /// Keeps the answer of a run that goes on after it, and gives it to who waits for it.
    ///
    /// # Errors
    /// Why the run stops here.
    fn respond(&mut self, answer: &Json) -> Result<(), Stop>;
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn append(&mut self, _: Record) -> Result<(), Stop> {
        Ok(())
    }

    fn flush(&mut self, _: bool) -> Result<(), Stop> {
        Ok(())
    }

    fn respond(&mut self, _: &Json) -> Result<(), Stop> {
        Ok(())
    }
}

/// How far a run came.
#[derive(Clone, Debug)]
pub enum Progress {
    /// To its end.
    Ended(Finish),
    /// To waits that are longer than a worker is held for: until this instant in milliseconds since
    /// 1970, or a callback.
    Suspended(Option<u64>),
}

/// What a run gave on this machine.
#[derive(Clone, Debug)]
pub struct Report {
    /// How far it came.
    pub progress: Progress,
    /// The answer of its `respond` step: `status`, `headers` and `body`.
    pub answer: Option<Json>,
    /// Its steps in the order in which they ended.
    pub steps: Vec<StepReport>,
    /// Altogether.
    pub duration: Duration,
}

/// Since 1970.
pub(super) fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}
