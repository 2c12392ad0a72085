//! What the log says of a LibreOffice process that died over a document, or was killed; never the content of the document.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use platen_pool::Handle;
use platen_urp::Stage;

use crate::{
    Detected, Error,
    format::{Family, Target},
};

/// How long the status of a process whose connection broke is waited for; the pool gives a job a little longer.
const STATUS_TIMEOUT: Duration = Duration::from_millis(150);

/// A process that died over a document, or was killed.
#[derive(Clone, Debug)]
pub struct Death {
    /// Its number.
    pub pid: i32,
    /// How it ended, such as `signal: 11 (SIGSEGV)`, or why it was killed.
    pub why: String,
    /// What it was doing.
    pub phase: Option<&'static str>,
    /// Memory that it held when it was last measured; 0 where it lived too short for that. Bytes.
    pub memory_bytes: u64,
    /// Size of the document. Bytes.
    pub document_bytes: u64,
    /// LibreOffice's import filter: what the document is.
    pub filter: &'static str,
    /// What it was to become.
    pub target: Target,
    /// Which attempt at the document it was, from 1.
    pub attempt: u32,
}

/// Is told of deaths.
#[derive(Clone)]
pub(crate) struct Report(pub(crate) Arc<dyn Fn(&Death) + Send + Sync>);

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

/// A document at work, and the process that works on it.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) report: Report,
    pub(crate) stage: Stage,
    pub(crate) document_bytes: u64,
    pub(crate) filter: &'static str,
    pub(crate) family: Family,
    pub(crate) target: Target,
    process: Arc<Mutex<Option<(Handle, u32)>>>,
}

impl Work {
    pub(crate) fn new(
        report: Report,
        document_bytes: u64,
        detected: &Detected,
        target: Target,
    ) -> Self {
        Self {
            report,
            stage: Stage::default(),
            document_bytes,
            filter: detected.filter,
            family: detected.family,
            target,
            process: Arc::default(),
        }
    }

    /// A process has it now.
    pub(crate) fn begins(&self, process: Handle, attempt: u32) {
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = Some((process, attempt));
    }

    /// The connection to the process broke.
    pub(crate) async fn process_ended(&self) {
        let process = self
            .process
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let Some((process, _)) = process else { return };
        let status = tokio::time::timeout(STATUS_TIMEOUT, process.exited()).await;
        let why = match status {
            Ok(Some(status)) => status.to_string(),
            Ok(None) | Err(_) => "its connection broke".to_owned(),
        };
        self.tell(why);
    }

    /// The process is killed, where that is what the error means.
    pub(crate) fn failed(&self, error: &Error) {
        match error {
            Error::Timeout { timeout, .. } => {
                self.tell(format!(
                    "killed: not done within {} ms",
                    timeout.as_millis()
                ));
            }
            Error::MemoryExceeded { limit_bytes } => {
                self.tell(format!("killed: held more than {limit_bytes} bytes"));
            }
            Error::Crashed { .. } => self.tell("it ended".to_owned()),
            _ => {}
        }
    }

    fn tell(&self, why: String) {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        // A document that waited for its turn until it was too late killed nothing.
        let Some((process, attempt)) = process.take() else {
            return;
        };
        (self.report.0)(&Death {
            pid: process.pid(),
            why,
            phase: self.stage.phase().map(crate::words::phase_name),
            memory_bytes: process.last_memory_bytes(),
            document_bytes: self.document_bytes,
            filter: self.filter,
            target: self.target,
            attempt,
        });
    }
}
