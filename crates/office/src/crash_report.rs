//! Reports of LibreOffice processes that crashed on a document or were killed, for the log. They
//! never contain any of the document's content.

use std::{fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;
use platen_pool::Handle;
use platen_urp::Stage;

use crate::{
    Detected, Error,
    format::{Family, Format},
};

/// How long to wait for the exit status of a disconnected process. Shorter than the pool's grace
/// period, so that the job can still return its own error.
const STATUS_TIMEOUT: Duration = Duration::from_millis(150);

/// A process that crashed on a document, or was killed.
#[derive(Clone, Debug)]
pub struct CrashReport {
    /// Its process id.
    pub pid: i32,
    /// How it ended, such as `signal: 11 (SIGSEGV)`, or why it was killed.
    pub why: String,
    /// Phase of the conversion, if it had begun.
    pub phase: Option<&'static str>,
    /// Memory at the last measurement, in bytes; 0 if never measured.
    pub memory_bytes: u64,
    /// Size of the document, in bytes.
    pub document_bytes: u64,
    /// LibreOffice's import filter for the document.
    pub filter: &'static str,
    /// Extension of the target format.
    pub target: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
}

/// Receives crash reports.
#[derive(Clone)]
pub(crate) struct Report(pub(crate) Arc<dyn Fn(&CrashReport) + Send + Sync>);

impl Default for Report {
    fn default() -> Self {
        Self(Arc::new(|_| {}))
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Report")
    }
}

/// A document being converted, and its process.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) report: Report,
    pub(crate) stage: Stage,
    pub(crate) document_bytes: u64,
    pub(crate) filter: &'static str,
    pub(crate) family: Family,
    pub(crate) format: Format,
    process: Arc<Mutex<Option<(Handle, u32)>>>,
}

impl Work {
    pub(crate) fn new(
        report: Report,
        document_bytes: u64,
        detected: &Detected,
        format: Format,
    ) -> Self {
        Self {
            report,
            stage: Stage::default(),
            document_bytes,
            filter: detected.filter,
            family: detected.family,
            format,
            process: Arc::default(),
        }
    }

    /// Records the process that took the document.
    pub(crate) fn begins(&self, process: Handle, attempt: u32) {
        *self.process.lock() = Some((process, attempt));
    }

    /// Reports a process that disconnected.
    pub(crate) async fn process_ended(&self) {
        let process = self.process.lock().clone();
        let Some((process, _)) = process else { return };
        let status = tokio::time::timeout(STATUS_TIMEOUT, process.exited()).await;
        let why = match status {
            Ok(Some(status)) => status.to_string(),
            Ok(None) | Err(_) => "disconnected".to_owned(),
        };
        self.report_crash(why);
    }

    /// Reports an error for which the pool kills the process.
    pub(crate) fn failed(&self, error: &Error) {
        match error {
            Error::Timeout { timeout, .. } => {
                self.report_crash(format!(
                    "killed: timed out after {} ms",
                    timeout.as_millis()
                ));
            }
            Error::MemoryExceeded { limit_bytes } => {
                self.report_crash(format!(
                    "killed: exceeded its memory limit of {limit_bytes} bytes"
                ));
            }
            Error::Crashed { .. } => self.report_crash("exited".to_owned()),
            _ => {}
        }
    }

    fn report_crash(&self, why: String) {
        let mut process = self.process.lock();
        // A document that timed out in the queue had no process.
        let Some((process, attempt)) = process.take() else {
            return;
        };
        (self.report.0)(&CrashReport {
            pid: process.pid(),
            why,
            phase: self.stage.phase().map(crate::outcome::phase_name),
            memory_bytes: process.last_memory_bytes(),
            document_bytes: self.document_bytes,
            filter: self.filter,
            target: self.format.extension.clone().into_owned(),
            attempt,
        });
    }
}
