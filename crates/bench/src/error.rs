//! Why something could not be measured.

use std::{io, path::PathBuf};

use platen_fault::Code;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read or written.
    #[error("cannot {action} `{path}`: {source}")]
    File {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An argument that makes no sense.
    #[error("{message}")]
    Argument {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// A program that is not there.
    #[error("{program} is not installed")]
    Missing {
        /// Its name.
        program: String,
        /// How to get it.
        hint: String,
    },
    /// A program that ended or does not answer.
    #[error("{program}: {detail}")]
    Program {
        /// Its name.
        program: String,
        /// What happened.
        detail: String,
    },
    /// A service that answers what was not asked for.
    #[error("{what}: {detail}")]
    Answer {
        /// What was asked.
        what: String,
        /// What came back.
        detail: String,
    },
    /// Results that cannot be read.
    #[error("`{path}`: {detail}")]
    Results {
        /// Which file.
        path: PathBuf,
        /// What is wrong in it.
        detail: String,
    },
    /// A document that does not say what the results say.
    #[error("{path}: {findings}")]
    Disagreement {
        /// Which document.
        path: PathBuf,
        /// Where.
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
            Self::Program { .. } | Self::Answer { .. } => Code::RequestFailed,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Argument { hint, .. } | Self::Missing { hint, .. } => Some(hint.clone()),
            Self::Disagreement { .. } => Some("make it anew with `platen bench report`".to_owned()),
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
