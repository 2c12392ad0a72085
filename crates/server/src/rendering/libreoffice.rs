//! The service's LibreOffice: starts with the first document, or at startup if configured. The rest
//! of the service works without it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use platen_fault::{Backend, Code};
use platen_flow::StepError;
use platen_office::{
    Config as OfficeConfig, CrashReport, Demand, Document, Job, Mode, Office, SandboxUnavailable,
    Status, choose_origin,
};
use platen_runs::execution::OfficeConvert;
use tokio::sync::OnceCell;

use super::accessible::{Accessible, finished};
use crate::{config::Config, intake::Intake, problem::Problem};

/// LibreOffice, started on first use.
pub struct LibreOffice {
    cell: OnceCell<Office>,
    config: OfficeConfig,
    folder: PathBuf,
    mode: Mode,
    demand: Demand,
    intake: Arc<Intake>,
}

impl LibreOffice {
    /// Configures LibreOffice; the first job starts it. Results that are held in memory count in
    /// `intake`.
    pub fn new(config: &Config, intake: Arc<Intake>) -> Self {
        let slots = config.office_slots as usize;
        let usual = OfficeConfig::default();
        let reserved = config.render_preview_reserved_slots as usize;
        Self {
            cell: OnceCell::new(),
            intake,
            folder: std::env::temp_dir(),
            mode: config.processes.mode(),
            demand: config.processes.child_isolation.into(),
            config: OfficeConfig {
                program: config.libreoffice_path.clone(),
                remote: config.processes.office_remote.clone(),
                fonts: config.fonts(),
                slots,
                // With two slots or fewer, reserve none: one reserved slot would halve the
                // throughput of a batch.
                reserved: reserved.min(slots.saturating_sub(2)),
                max_queue: config.render_max_queue_depth as usize,
                max_input_bytes: config.office_max_body_bytes,
                spares: config.processes.office_spares as usize,
                max_jobs: config.processes.process_max_jobs.unwrap_or(usual.max_jobs),
                ..usual
            },
        }
    }

    /// The pool; creates it on first use.
    pub async fn office(&self) -> Result<&Office, Problem> {
        self.cell
            .get_or_try_init(|| async {
                let chosen = choose_origin(&self.mode, self.demand).await;
                let chosen = chosen
                    .map_err(|error: SandboxUnavailable| Problem::internal(error.to_string()))?;
                let office = Office::new(self.config.clone(), chosen.origin, &self.folder);
                let office = office
                    .map_err(|error| Problem::internal(format!("the temporary folder: {error}")))?;
                Ok(office.reporting(log_crash))
            })
            .await
    }

    /// Fails if LibreOffice is not installed, unless that is the matter of others. Call it before
    /// reading a body.
    pub fn check_installed(&self) -> Result<(), Problem> {
        let Some(image) = self.mode.image().filter(|_| self.config.remote.is_empty()) else {
            return Ok(());
        };
        let found = platen_office::find_libreoffice_in(&image, self.config.program.as_deref());
        found.map(drop).map_err(|error| {
            Problem::new(
                Code::BackendMissing(Backend::LibreOffice),
                error.to_string(),
            )
        })
    }

    /// Converts a document.
    pub fn convert(&self, job: Job) -> BoxFuture<'_, Result<Document, Problem>> {
        Box::pin(async move {
            let office = self.office().await?;
            let accessible = Accessible::of(&job);
            let document = office.convert(job).await?;
            finished(accessible, document, &self.intake).await
        })
    }

    /// Converts a document for a step of a flow.
    pub fn convert_for_flow(&self, job: Job) -> BoxFuture<'_, Result<Document, StepError>> {
        Box::pin(async move {
            let office = self.office().await.map_err(|problem| {
                let reason = problem.cause.unwrap_or(problem.detail);
                StepError::new(Code::BackendUnavailable(Backend::LibreOffice), reason)
            })?;
            let accessible = Accessible::of(&job);
            let converted = office.convert(job).await;
            let document = converted.map_err(|error| OfficeConvert::failure(&error))?;
            let finished = finished(accessible, document, &self.intake).await;
            finished.map_err(|problem| StepError::new(problem.code, problem.detail))
        })
    }

    /// State of the pool; `None` before first use.
    pub fn status(&self) -> Option<Status> {
        self.cell.get().map(Office::status)
    }

    /// Shuts LibreOffice down; conversions in progress have `drain` to finish.
    pub async fn shutdown(&self, drain: Duration) {
        if let Some(office) = self.cell.get() {
            office.shutdown(drain).await;
        }
    }
}

/// Logs a crash with the size and format of the document, and nothing else about it.
fn log_crash(crash: &CrashReport) {
    tracing::warn!(
        why = &*crash.why,
        phase = crash.phase,
        pid = crash.pid,
        memoryBytes = crash.memory_bytes,
        documentBytes = crash.document_bytes,
        filter = crash.filter,
        target = crash.target,
        attempt = crash.attempt,
        "LibreOffice crashed"
    );
}
