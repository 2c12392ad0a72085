//! Chromium as the service uses it: started with the first page of HTML, or at once where the
//! set-up says so. Without it everything else works.

use std::{path::PathBuf, sync::Arc, time::Duration};

use hyper::StatusCode;
use platen_engine::browser::{
    self, Browser, Config as BrowserConfig, Demand, Job, NoWalls, Printed, Status, choose_launcher,
};
use tokio::sync::OnceCell;

use crate::{config::Config, problem::Problem};

/// Chromium, once it is wanted.
pub(crate) struct Chromium {
    cell: OnceCell<Browser>,
    config: BrowserConfig,
    folder: PathBuf,
    demand: Demand,
}

impl Chromium {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            cell: OnceCell::new(),
            folder: std::env::temp_dir(),
            demand: config.child_isolation.into(),
            config: BrowserConfig {
                program: config.chromium_path.clone(),
                slots: config.max_concurrent_pages as usize,
                reserved: config.render_preview_reserved_slots as usize,
                max_queue: config.render_max_queue_depth as usize,
                spares: config.chromium_spare_pages as usize,
                allowed_hosts: config.chromium_allowed_hosts.clone(),
                allow_private_addresses: config.chromium_allow_private_addresses,
                ..BrowserConfig::default()
            },
        }
    }

    /// Whether there is a Chromium to start.
    pub(crate) fn is_installed(&self) -> bool {
        browser::find_chromium(self.config.program.as_deref()).is_ok()
    }

    /// The pool, made now where there is none.
    pub(crate) async fn browser(&self) -> Result<&Browser, Problem> {
        self.cell
            .get_or_try_init(|| async {
                let chosen = choose_launcher(self.demand).await;
                let chosen =
                    chosen.map_err(|error: NoWalls| Problem::internal(error.to_string()))?;
                Browser::new(self.config.clone(), chosen.launcher, &self.folder)
                    .map_err(|error| Problem::internal(format!("the temporary folder: {error}")))
            })
            .await
    }

    /// Prints a page; the answer comes with its first bytes.
    pub(crate) async fn print(&self, job: Job) -> Result<Printed, Problem> {
        let browser = self.browser().await?;
        browser.print(job).await.map_err(of_browser)
    }

    /// The pool at this moment, where there is one.
    pub(crate) fn status(&self) -> Option<Status> {
        self.cell.get().map(Browser::status)
    }

    /// Ends Chromium: pages that are being printed get `drain` to end.
    pub(crate) async fn shutdown(&self, drain: Duration) {
        if let Some(browser) = self.cell.get() {
            browser.shutdown(drain).await;
        }
    }
}

/// What a client is told when a page is not printed.
pub(crate) fn of_browser(error: browser::Error) -> Problem {
    use browser::Error;
    let text = error.to_string();
    let (status, code) = match &error {
        Error::NotInstalled(_) => (StatusCode::NOT_IMPLEMENTED, "chromium-not-installed"),
        Error::CannotStart { retry_after, .. } => {
            let cause = Arc::new(crate::problem::chain(&error));
            let status = StatusCode::SERVICE_UNAVAILABLE;
            let problem = Problem::new(status, "chromium-unavailable", text);
            return Problem {
                cause: Some(cause.to_string()),
                ..problem.retry_after(retry_after.as_secs())
            };
        }
        Error::QueueFull { retry_after } => {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            return Problem::new(status, "queue-full", text).retry_after(retry_after.as_secs());
        }
        Error::ShuttingDown => {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            return Problem::new(status, "shutting-down", text).retry_after(1);
        }
        Error::Timeout { .. } => (StatusCode::GATEWAY_TIMEOUT, "deadline-passed"),
        Error::BadOption { .. } => (StatusCode::BAD_REQUEST, "request-invalid"),
        Error::Crashed { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "page-crashed"),
        Error::MemoryExceeded { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "page-memory"),
        Error::TooLarge { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "page-too-large"),
        Error::RequestDenied(_) => (StatusCode::UNPROCESSABLE_ENTITY, "request-denied"),
        Error::NotLoaded(_) => (StatusCode::UNPROCESSABLE_ENTITY, "page-not-loaded"),
        Error::Exceptions(_) => (StatusCode::UNPROCESSABLE_ENTITY, "page-exception"),
        Error::DiedMidway | Error::Refused { .. } | Error::Disconnected | Error::PageCrashed => {
            return Problem::internal(crate::problem::chain(&error));
        }
    };
    Problem::new(status, code, text)
}
