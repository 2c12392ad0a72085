//! Errors of the harness.

use std::{io, path::PathBuf};

use platen_fault::Code;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("cannot {action} `{path}`: {source}")]
    File {
        /// The action.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// An argument is invalid.
    #[error("{message}")]
    Argument {
        /// The problem.
        message: String,
        /// How to fix it.
        hint: String,
    },
    /// A program is not installed.
    #[error("{program} is not installed")]
    Missing {
        /// Its name.
        program: String,
        /// How to install it.
        hint: String,
    },
    /// A program has exited or does not answer.
    #[error("{program}: {detail}")]
    Program {
        /// Its name.
        program: String,
        /// What happened.
        detail: String,
    },
    /// A service has sent an unexpected response.
    #[error("{what}: {detail}")]
    Answer {
        /// The request.
        what: String,
        /// The response.
        detail: String,
    },
    /// A service has refused a request.
    #[error("{what}: answered with {status}: {body}")]
    Refused {
        /// The request.
        what: String,
        /// Its status.
        status: u16,
        /// The beginning of its body.
        body: String,
    },
    /// Results cannot be read.
    #[error("`{path}`: {detail}")]
    Results {
        /// The file.
        path: PathBuf,
        /// The problem.
        detail: String,
    },
    /// A document does not match the results.
    #[error("{path}: {findings}")]
    Disagreement {
        /// The document.
        path: PathBuf,
        /// The differences.
        findings: String,
    },
}

impl Error {
    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::File { .. } | Self::Results { .. } => Code::FileFailed,
            Self::Argument { .. } | Self::Missing { .. } | Self::Disagreement { .. } => {
                Code::InvalidOption
            }
            Self::Program { .. } | Self::Answer { .. } | Self::Refused { .. } => {
                Code::RequestFailed
            }
        }
    }

    /// How to fix it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Argument { hint, .. } | Self::Missing { hint, .. } => Some(hint.clone()),
            Self::Disagreement { .. } => {
                Some("regenerate it with `platen bench report`".to_owned())
            }
            Self::Refused { status: 401, .. } => {
                Some("give --api-key, with the admin scope".to_owned())
            }
            Self::Refused { status: 403, .. } => {
                Some("the key of --api-key needs the admin scope".to_owned())
            }
            _ => None,
        }
    }

    pub(crate) fn argument(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Argument {
            message: message.into(),
            hint: hint.into(),
        }
    }

    pub(crate) fn program(program: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Program {
            program: program.into(),
            detail: detail.into(),
        }
    }

    pub(crate) fn answer(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Answer {
            what: what.into(),
            detail: detail.into(),
        }
    }

    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }
}
