//! LibreOffice as the service uses it: started with the first document, or at once where the set-up says so. Without it
//! everything else works.

use std::{path::PathBuf, time::Duration};

use platen_fault::{Backend, Code};
use platen_flow::StepError;
use platen_office::{
    Config as OfficeConfig, CrashReport, Demand, Document, Job, Office, SandboxUnavailable, Status,
    choose_launcher,
};
use platen_runs::execution::OfficeConvert;
use tokio::sync::OnceCell;

use crate::{config::Config, problem::Problem};

/// LibreOffice, once it is wanted.
pub struct LibreOffice {
    cell: OnceCell<Office>,
    config: OfficeConfig,
    folder: PathBuf,
    demand: Demand,
}

impl LibreOffice {
    /// LibreOffice as `config` sets it up; the first job starts it.
    pub fn new(config: &Config) -> Self {
        let slots = config.office_slots as usize;
        let reserved = config.render_preview_reserved_slots as usize;
        Self {
            cell: OnceCell::new(),
            folder: std::env::temp_dir(),
            demand: config.child_isolation.into(),
            config: OfficeConfig {
                program: config.libreoffice_path.clone(),
                fonts: config.fonts(),
                slots,
                // Two slots or fewer serve both lanes: one kept free would halve what a batch gets.
                reserved: reserved.min(slots.saturating_sub(2)),
                max_queue: config.render_max_queue_depth as usize,
                max_input_bytes: config.office_max_body_bytes,
                ..OfficeConfig::default()
            },
        }
    }

    /// The pool, made now where there is none.
    pub async fn office(&self) -> Result<&Office, Problem> {
        self.cell
            .get_or_try_init(|| async {
                let chosen = choose_launcher(self.demand).await;
                let chosen = chosen
                    .map_err(|error: SandboxUnavailable| Problem::internal(error.to_string()))?;
                let office = Office::new(self.config.clone(), chosen.launcher, &self.folder);
                let office = office
                    .map_err(|error| Problem::internal(format!("the temporary folder: {error}")))?;
                Ok(office.reporting(log_crash))
            })
            .await
    }

    /// Says so where LibreOffice is not installed, before a body is read.
    pub fn check_installed(&self) -> Result<(), Problem> {
        let found = platen_office::find_libreoffice(self.config.program.as_deref());
        found.map(drop).map_err(|error| {
            Problem::new(
                Code::BackendMissing(Backend::LibreOffice),
                error.to_string(),
            )
        })
    }

    /// Converts a document.
    pub async fn convert(&self, job: Job) -> Result<Document, Problem> {
        let office = self.office().await?;
        Ok(office.convert(job).await?)
    }

    /// Converts a document for a step of a flow.
    pub async fn convert_for_flow(&self, job: Job) -> Result<Document, StepError> {
        let office = self.office().await.map_err(|problem| {
            let reason = problem.cause.unwrap_or(problem.detail);
            StepError::new(Code::BackendUnavailable(Backend::LibreOffice), reason)
        })?;
        let converted = office.convert(job).await;
        converted.map_err(|error| OfficeConvert::failure(&error))
    }

    /// The pool at this moment, where there is one.
    pub fn status(&self) -> Option<Status> {
        self.cell.get().map(Office::status)
    }

    /// Ends LibreOffice: conversions get `drain` to end.
    pub async fn shutdown(&self, drain: Duration) {
        if let Some(office) = self.cell.get() {
            office.shutdown(drain).await;
        }
    }
}

/// Logs a crash; of the document, its size and format only.
fn log_crash(crash: &CrashReport) {
    tracing::warn!(
        why = &*crash.why,
        phase = crash.phase,
        pid = crash.pid,
        memoryBytes = crash.memory_bytes,
        documentBytes = crash.document_bytes,
        filter = crash.filter,
        target = crash.target.extension(),
        attempt = crash.attempt,
        "LibreOffice crashed"
    );
}
