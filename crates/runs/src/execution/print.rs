//! HTML pages of flows, printed by a pool of Chromium processes.

use std::{pin::Pin, time::Duration};

use platen_browser::{Error as BrowserError, Job, Lane, Printed};
use platen_document::Diagnostic;
use platen_engine::{Error, Page, page_warnings};
use platen_flow::StepError;
use platen_render::{Fault, chain};
use platen_script::Cancellation;
use tokio::runtime::Handle;

/// How often a page that is being printed checks whether its run was cancelled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Prints pages. Blocks the thread that calls it.
pub trait Print: Send + Sync {
    /// Prints `page` in the format it was bound for, within `timeout` and until `cancel` is set.
    ///
    /// # Errors
    /// Why the page was not printed.
    fn print(
        &self,
        page: Page,
        timeout: Duration,
        cancel: &Cancellation,
    ) -> Result<PrintedPage, StepError>;
}

/// A page that was printed.
#[derive(Debug)]
pub struct PrintedPage {
    /// The file.
    pub bytes: Vec<u8>,
    /// What Chromium found.
    pub warnings: Vec<Diagnostic>,
}

type Printing = Pin<Box<dyn Future<Output = Result<Printed, StepError>> + Send>>;

/// Prints with Chromium on another runtime.
pub struct ChromiumPrint {
    runtime: Handle,
    longest: Duration,
    work: Box<dyn Fn(Job) -> Printing + Send + Sync>,
}

impl ChromiumPrint {
    /// Pages that `work` prints on `runtime`; `longest` bounds each, including its wait.
    #[must_use]
    pub fn new(
        runtime: Handle,
        longest: Duration,
        work: impl Fn(Job) -> Printing + Send + Sync + 'static,
    ) -> Self {
        Self {
            runtime,
            longest,
            work: Box::new(work),
        }
    }

    /// The step's error for an error of Chromium. A missing installation is not retryable.
    #[must_use]
    pub fn failure(error: &BrowserError) -> StepError {
        let is_missing = matches!(error, BrowserError::NotInstalled(_));
        let fault = Error::Browser(error.clone()).fault();
        let may_pass = matches!(fault, Fault::Busy | Fault::Unavailable | Fault::Internal);
        StepError {
            code: error.code().to_owned(),
            message: chain(error),
            retryable: may_pass && !is_missing,
        }
    }

    /// The step's error if there can be no pool.
    #[must_use]
    pub fn not_started(message: String) -> StepError {
        StepError {
            code: "chromium-not-started".to_owned(),
            message,
            retryable: true,
        }
    }

    async fn printed(&self, job: Job) -> Result<PrintedPage, StepError> {
        let printed = (self.work)(job).await?;
        let warnings = page_warnings(&printed.report);
        let bytes = printed.bytes().await;
        let bytes = bytes.map_err(|error| Self::failure(&error))?;
        Ok(PrintedPage { bytes, warnings })
    }
}

impl Print for ChromiumPrint {
    fn print(
        &self,
        page: Page,
        timeout: Duration,
        cancel: &Cancellation,
    ) -> Result<PrintedPage, StepError> {
        let job = page.into_job(Lane::Batch, timeout.min(self.longest));
        // Dropping the sender ends the page.
        self.runtime.block_on(async {
            tokio::select! {
                printed = self.printed(job) => printed,
                () = cancelled(cancel) => Err(StepError {
                    code: "cancelled".to_owned(),
                    message: "the run was cancelled".to_owned(),
                    retryable: false,
                }),
            }
        })
    }
}

async fn cancelled(cancel: &Cancellation) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
