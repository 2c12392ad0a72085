//! Errors of a job, and who caused them.

use platen_document::Diagnostic;
use platen_render::{Error as RenderError, Fault};

use crate::IsolationError;

/// Errors of a job.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The rendering itself failed.
    #[error(transparent)]
    Render(RenderError),
    /// Templates of HTML are not made into this format.
    #[error("a template of HTML becomes PDF, PNG or HTML, not {0}")]
    NotFromHtml(platen_render::Format),
    /// Chromium did not print the page.
    #[error(transparent)]
    Browser(#[from] platen_browser::Error),
    /// The data is no JSON; only where it is parsed in a sandbox.
    #[error("the data is not JSON: {0}")]
    Data(String),
    /// The sandbox returned no document.
    #[error(transparent)]
    Isolation(#[from] IsolationError),
}

impl From<RenderError> for Error {
    fn from(error: RenderError) -> Self {
        match error {
            // Whoever bounds memory, a sandbox or this process, says the same.
            RenderError::Memory { limit_bytes } => {
                Self::Isolation(IsolationError::Memory { limit_bytes })
            }
            other => Self::Render(other),
        }
    }
}

impl Error {
    /// Mistakes of an author.
    pub(crate) fn mistakes(found: Vec<Diagnostic>) -> Self {
        Self::Render(RenderError::Mistakes(found))
    }

    /// A bug of ours.
    pub(crate) fn bug(message: &str) -> Self {
        Self::Render(RenderError::Bug(message.to_owned()))
    }

    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Render(error) => error.fault(),
            Self::NotFromHtml(_) | Self::Data(_) => Fault::Caller,
            Self::Isolation(error) => error.fault(),
            Self::Browser(error) => fault_of_browser(error),
        }
    }
}

fn fault_of_browser(error: &platen_browser::Error) -> Fault {
    use platen_browser::Error as Browser;
    match error {
        Browser::NotInstalled(_) | Browser::CannotStart { .. } => Fault::Unavailable,
        Browser::QueueFull { .. } | Browser::ShuttingDown => Fault::Busy,
        Browser::Timeout { .. } => Fault::Limit,
        Browser::Crashed { .. }
        | Browser::MemoryExceeded { .. }
        | Browser::TooLarge { .. }
        | Browser::RequestDenied(_)
        | Browser::NotLoaded(_)
        | Browser::Exceptions(_)
        | Browser::BadOption { .. } => Fault::Caller,
        Browser::CrashedMidway
        | Browser::Refused { .. }
        | Browser::Disconnected
        | Browser::PageCrashed => Fault::Internal,
    }
}

/// The fault of an error of LibreOffice.
#[must_use]
pub fn fault_of_office(fault: platen_office::Fault) -> Fault {
    use platen_office::Fault as Office;
    match fault {
        Office::Caller => Fault::Caller,
        Office::Limit => Fault::Limit,
        Office::Busy => Fault::Busy,
        Office::Unavailable => Fault::Unavailable,
        Office::Internal => Fault::Internal,
    }
}
