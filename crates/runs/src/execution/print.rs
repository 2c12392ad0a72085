//! HTML pages of flows, printed by a pool of Chromium processes.

use std::{pin::Pin, time::Duration};

use platen_browser::{Error as BrowserError, Job, Lane, Printed};
use platen_engine::Page;
use platen_fault::{Backend, Code};
use platen_flow::StepError;
use platen_render::{Rendered, chain};
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
    ) -> Result<Rendered, StepError>;
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
        StepError::new(error.code(), chain(error))
    }

    /// The step's error if there can be no pool.
    #[must_use]
    pub fn not_started(message: String) -> StepError {
        StepError::new(Code::BackendUnavailable(Backend::Chromium), message)
    }

    async fn printed(&self, page: Page, timeout: Duration) -> Result<Rendered, StepError> {
        let files = page.files().clone();
        let document = match page.print(Lane::Batch, timeout, &self.work).await {
            Ok(printed) => {
                let document = printed.whole().await;
                document.map_err(|error| Self::failure(&error))
            }
            Err(error) => Err(error),
        };
        // A page without files that are there is no page, whatever became of it.
        files.complete().map_err(|error| {
            let code = Code::BackendUnavailable(Backend::Store);
            StepError::new(code, error.to_string())
        })?;
        document
    }
}

impl Print for ChromiumPrint {
    fn print(
        &self,
        page: Page,
        timeout: Duration,
        cancel: &Cancellation,
    ) -> Result<Rendered, StepError> {
        let timeout = timeout.min(self.longest);
        // Dropping the sender ends the page.
        self.runtime.block_on(async {
            tokio::select! {
                printed = self.printed(page, timeout) => printed,
                () = cancelled(cancel) => {
                    Err(StepError::new(Code::Cancelled, "the run was cancelled"))
                }
            }
        })
    }
}

async fn cancelled(cancel: &Cancellation) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
