//! Errors of a job, and their codes.

use platen_document::Diagnostic;
use platen_fault::{Backend, Code};
use platen_render::{Error as RenderError, Unread};

use crate::IsolationError;

/// Errors of a job.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The rendering itself failed.
    #[error(transparent)]
    Render(RenderError),
    /// HTML templates do not support this format.
    #[error("an HTML template renders to PDF, PNG or HTML, not {0}")]
    NotFromHtml(platen_render::Format),
    /// Chromium failed to print the page.
    #[error(transparent)]
    Browser(#[from] platen_browser::Error),
    /// The data is not JSON. Occurs only if a sandbox parses the data.
    #[error("`data` is not JSON: {0}")]
    Data(String),
    /// The sandbox returned no document.
    #[error(transparent)]
    Isolation(#[from] IsolationError),
    /// Stored assets could not be read.
    #[error(transparent)]
    Assets(#[from] Unread),
}

impl From<RenderError> for Error {
    fn from(error: RenderError) -> Self {
        match error {
            // A memory limit has one error, whether a sandbox or this process enforces it.
            RenderError::Memory { limit_bytes } => {
                Self::Isolation(IsolationError::Memory { limit_bytes })
            }
            other => Self::Render(other),
        }
    }
}

impl Error {
    /// Errors made by the template's author.
    pub(crate) fn mistakes(found: Vec<Diagnostic>) -> Self {
        Self::Render(RenderError::Mistakes(found))
    }

    /// An internal error.
    pub(crate) fn bug(message: &str) -> Self {
        Self::Render(RenderError::Bug(message.to_owned()))
    }

    /// The error's stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Render(error) => error.code(),
            Self::NotFromHtml(_) => Code::UnsupportedConversion,
            Self::Data(_) => Code::InvalidJson,
            Self::Isolation(error) => error.code(),
            Self::Browser(error) => error.code(),
            Self::Assets(Unread) => Code::BackendUnavailable(Backend::Store),
        }
    }
}
