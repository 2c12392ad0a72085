//! The service's Chromium: starts with the first HTML page, or at startup if configured. The rest
//! of the service works without it.

use std::{path::PathBuf, time::Duration};

use futures_core::future::BoxFuture;
use platen_browser::{
    Browser, Config as BrowserConfig, Demand, Job, Mode, Printed, SandboxUnavailable, Status,
    choose_origin,
};
use platen_flow::StepError;
use platen_runs::execution::ChromiumPrint;
use tokio::sync::OnceCell;

use crate::{config::Config, problem::Problem};

/// Chromium, started on first use.
pub struct Chromium {
    cell: OnceCell<Browser>,
    config: BrowserConfig,
    folder: PathBuf,
    mode: Mode,
    demand: Demand,
}

impl Chromium {
    /// Configures Chromium; the first job starts it.
    pub fn new(config: &Config) -> Self {
        let usual = BrowserConfig::default();
        Self {
            cell: OnceCell::new(),
            folder: std::env::temp_dir(),
            mode: config.processes.mode(),
            demand: config.processes.child_isolation.into(),
            config: BrowserConfig {
                program: config.chromium_path.clone(),
                remote: config.processes.chromium_remote.clone(),
                fonts: config.fonts(),
                slots: config.max_concurrent_pages as usize,
                reserved: config.render_preview_reserved_slots as usize,
                max_queue: config.render_max_queue_depth as usize,
                spares: config.chromium_spare_pages as usize,
                allowed_hosts: config.chromium_allowed_hosts.clone(),
                urls: config.gotenberg.urls.chromium.clone(),
                allow_private_addresses: config.chromium_allow_private_addresses,
                max_pages: config.processes.process_max_jobs.unwrap_or(usual.max_pages),
                ..usual
            },
        }
    }

    /// True if a Chromium executable is available, or the matter of others.
    pub fn is_installed(&self) -> bool {
        let image = self.mode.image();
        image
            .filter(|_| self.config.remote.is_empty())
            .is_none_or(|image| {
                platen_browser::find_chromium_in(&image, self.config.program.as_deref()).is_ok()
            })
    }

    /// The pool; creates it on first use.
    pub async fn browser(&self) -> Result<&Browser, Problem> {
        self.cell
            .get_or_try_init(|| async {
                let chosen = choose_origin(&self.mode, self.demand).await;
                let chosen = chosen
                    .map_err(|error: SandboxUnavailable| Problem::internal(error.to_string()))?;
                Browser::new(self.config.clone(), chosen.origin, &self.folder)
                    .map_err(|error| Problem::internal(format!("the temporary folder: {error}")))
            })
            .await
    }

    /// Prints a page; returns when the first bytes arrive.
    pub fn print(&self, job: Job) -> BoxFuture<'_, Result<Printed, Problem>> {
        Box::pin(async move {
            let browser = self.browser().await?;
            Ok(browser.print(job).await?)
        })
    }

    /// Prints a page for a step of a flow.
    pub fn print_for_flow(&self, job: Job) -> BoxFuture<'_, Result<Printed, StepError>> {
        Box::pin(async move {
            let browser = self.browser().await.map_err(|problem| {
                let text = problem.cause.unwrap_or(problem.detail);
                ChromiumPrint::not_started(text)
            })?;
            let printed = browser.print(job).await;
            printed.map_err(|error| ChromiumPrint::failure(&error))
        })
    }

    /// State of the pool; `None` before first use.
    pub fn status(&self) -> Option<Status> {
        self.cell.get().map(Browser::status)
    }

    /// Shuts Chromium down; pages in progress have `drain` to finish.
    pub async fn shutdown(&self, drain: Duration) {
        if let Some(browser) = self.cell.get() {
            browser.shutdown(drain).await;
        }
    }
}
