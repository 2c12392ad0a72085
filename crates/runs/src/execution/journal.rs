//! The journal of a run and the reports of its steps.

use std::time::Duration;

use platen_flow::{Entry, Finish, StepError};
use platen_script::LogLine;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::clock::now;

/// A record of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// What happened.
    pub entry: Entry,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Time spent on the run until then, in milliseconds; counts against its limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub worked_ms: u64,
    /// Report of the step that ended with this record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<StepReport>,
}

impl Record {
    /// `entry` at the current time.
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

/// Report of an attempt of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// Its path.
    pub path: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Start of the attempt, in µs since the run started on this machine.
    pub started_us: u64,
    /// Time until a sandbox was ready, for code, in µs.
    #[serde(default)]
    pub sandbox_us: u64,
    /// Duration of the attempt, in µs.
    pub duration_us: u64,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
    /// What code logged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<LogLine>,
}

/// Why a run stops before its flow ends it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// Another worker holds the run; writes of this one are refused.
    #[error("lease lost: another worker has the run")]
    Fenced,
    /// The journal cannot be written.
    #[error("journal write failed: {0}")]
    Journal(String),
}

/// Storage of a run's journal.
pub trait Journal {
    /// Appends a record; it may be buffered.
    ///
    /// # Errors
    /// Why the run stops here.
    fn append(&mut self, record: Record) -> Result<(), Stop>;

    /// Sends buffered records, because the next step takes time. With `durable`, returns once they
    /// would survive the loss of this machine.
    ///
    /// # Errors
    /// Why the run stops here.
    fn flush(&mut self, durable: bool) -> Result<(), Stop>;

    /// Stores the answer of a run that continues, and sends it to the caller.
    ///
    /// # Errors
    /// Why the run stops here.
    fn respond(&mut self, answer: &Json) -> Result<(), Stop>;
}

/// A journal that drops its records.
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

/// How far a run got.
#[derive(Clone, Debug)]
pub enum Progress {
    /// It ended.
    Ended(Finish),
    /// Its waits are longer than it may hold a slot: until this instant in milliseconds since 1970,
    /// or until a callback.
    Suspended(Option<u64>),
}

/// Report of a run on this machine.
#[derive(Clone, Debug)]
pub struct Report {
    /// How far it came.
    pub progress: Progress,
    /// The answer of its `respond` step: `status`, `headers` and `body`.
    pub answer: Option<Json>,
    /// Its steps in the order in which they ended.
    pub steps: Vec<StepReport>,
    /// Duration of the run.
    pub duration: Duration,
}
