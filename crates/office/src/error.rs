//! Errors of conversions.

use std::{io, sync::Arc, time::Duration};

use platen_fault::{Backend, Code, Stage, What};
use platen_pool::StartError;

/// Why a document was not converted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// LibreOffice is not installed.
    #[error("{0}")]
    NotInstalled(Arc<StartError>),
    /// LibreOffice is installed but does not start.
    #[error("LibreOffice failed to start")]
    CannotStart {
        /// When to try again.
        retry_after: Duration,
        /// Why.
        #[source]
        source: Arc<StartError>,
    },
    /// Too many conversions are waiting.
    #[error("queue full: too many conversions are waiting; retry in {} s", .retry_after.as_secs().max(1))]
    QueueFull {
        /// When to try again.
        retry_after: Duration,
    },
    /// The conversion timed out.
    #[error("conversion timed out after {} ms{}", .timeout.as_millis(), in_phase(*.phase))]
    Timeout {
        /// The timeout, including the wait for a slot.
        timeout: Duration,
        /// Phase of the conversion, if it had begun.
        phase: Option<&'static str>,
    },
    /// LibreOffice crashed on this document repeatedly.
    #[error("document refused: LibreOffice crashed on it {crashes} times")]
    Crashed {
        /// Number of crashes.
        crashes: u32,
    },
    /// The document exceeded its memory limit.
    #[error("document exceeded its memory limit of {limit_bytes} bytes")]
    MemoryExceeded {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The service is shutting down.
    #[error("shutting down")]
    ShuttingDown,
    /// The input is empty.
    #[error("the document is empty: it has 0 bytes")]
    Empty,
    /// The input exceeds the size limit.
    #[error("the document has {size_bytes} bytes, more than {limit_bytes}")]
    TooLarge {
        /// Its size, in bytes.
        size_bytes: u64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The input is a ZIP file that unpacks to too much data.
    #[error("the document is a zip file that unpacks to {unzipped_bytes} bytes in {entries} parts")]
    ZipBomb {
        /// Unpacked size, in bytes.
        unzipped_bytes: u64,
        /// Number of parts.
        entries: usize,
        /// The limit of the unpacked size, in bytes; less for one that is packed too well.
        limit_bytes: u64,
    },
    /// The result exceeds the size limit.
    #[error("the result is larger than {limit_bytes} bytes")]
    ResultTooLarge {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The format of the input is unknown.
    #[error("the format of the document is unknown{}", said(.0))]
    UnknownFormat(String),
    /// The document cannot be converted to the target format.
    #[error("a {from} cannot become {to}")]
    Impossible {
        /// Kind of the input.
        from: &'static str,
        /// Extension of the target format.
        to: &'static str,
    },
    /// An option has an invalid value.
    #[error("{option}: {problem}")]
    BadOption {
        /// Name of the option.
        option: String,
        /// What is wrong.
        problem: String,
    },
    /// The document requires a password and none was given.
    #[error("the document is protected by a password")]
    PasswordNeeded,
    /// The password is wrong.
    #[error("the password is wrong")]
    PasswordWrong,
    /// The document is damaged.
    #[error("the document is damaged; a package may open with repair")]
    Damaged,
    /// LibreOffice cannot open the document; with its message.
    #[error("LibreOffice cannot open the document: {0}")]
    NotLoaded(String),
    /// LibreOffice cannot write the document with these options; with its message.
    #[error("LibreOffice cannot write the document with these options: {0}")]
    NotStored(String),
    /// The input cannot be read.
    #[error("the document cannot be read")]
    Input(#[source] io::Error),
    /// A temporary file cannot be read or written.
    #[error("the result cannot be read or written")]
    Output(#[source] io::Error),
    /// The connection to LibreOffice failed.
    #[error("connection to LibreOffice failed")]
    Conversation(#[source] platen_urp::Error),
}

fn in_phase(phase: Option<&'static str>) -> String {
    phase.map_or_else(String::new, |phase| format!(" in phase `{phase}`"))
}

fn said(hint: &str) -> String {
    match hint.is_empty() {
        true => String::new(),
        false => format!(": {hint}"),
    }
}

impl Error {
    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::NotInstalled(_) => Code::BackendMissing(Backend::LibreOffice),
            Self::CannotStart { .. } => Code::BackendUnavailable(Backend::LibreOffice),
            Self::QueueFull { .. } => Code::Overloaded(What::Queue),
            Self::Timeout { .. } => Code::Timeout(Stage::Conversion),
            Self::Crashed { .. } => Code::CrashingInput(Backend::LibreOffice),
            Self::MemoryExceeded { limit_bytes } => {
                Code::MemoryLimit(Stage::Conversion, *limit_bytes)
            }
            Self::ShuttingDown => Code::ShuttingDown,
            Self::Empty => Code::DocumentEmpty,
            Self::TooLarge { limit_bytes, .. } => Code::TooLarge(What::Document, *limit_bytes),
            Self::ZipBomb { limit_bytes, .. } => Code::TooLarge(What::Unpacked, *limit_bytes),
            Self::ResultTooLarge { limit_bytes } => Code::TooLarge(What::Result, *limit_bytes),
            Self::UnknownFormat(_) => Code::UnknownFormat,
            Self::Impossible { .. } => Code::UnsupportedConversion,
            Self::BadOption { .. } => Code::InvalidOption,
            Self::PasswordNeeded => Code::PasswordNeeded,
            Self::PasswordWrong => Code::PasswordWrong,
            Self::Damaged => Code::DocumentDamaged,
            Self::NotLoaded(_) => Code::DocumentNotLoaded,
            Self::NotStored(_) => Code::DocumentNotStored,
            Self::Input(_) => Code::DocumentUnreadable,
            Self::Output(_) => Code::InternalError,
            Self::Conversation(_) => Code::BackendCrashed(Backend::LibreOffice),
        }
    }

    pub(crate) fn bad_option(option: &str, problem: impl Into<String>) -> Self {
        Self::BadOption {
            option: option.to_owned(),
            problem: problem.into(),
        }
    }

    /// Converts an error of the pool.
    pub(crate) fn of_pool(error: platen_pool::Error<Self>) -> Self {
        use platen_pool::Error as Pool;
        match error {
            Pool::QueueFull { retry_after } => Self::QueueFull { retry_after },
            Pool::DeadlinePassed { timeout, .. } => Self::Timeout {
                timeout,
                phase: None,
            },
            Pool::Poisonous { crashes } => Self::Crashed { crashes },
            Pool::CrashedMidway(_) => Self::Crashed { crashes: 1 },
            Pool::MemoryExceeded { limit_bytes } => Self::MemoryExceeded { limit_bytes },
            Pool::CannotStart { source, .. } if source.is_permanent() => Self::NotInstalled(source),
            Pool::CannotStart {
                retry_after,
                source,
                ..
            } => Self::CannotStart {
                retry_after,
                source,
            },
            Pool::ShuttingDown => Self::ShuttingDown,
            Pool::Job(error) => error,
        }
    }
}
