//! Errors of calls and conversions.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use crate::{
    codec::{Any, CodecError, Value},
    phase::Phase,
};

/// Why a call or a conversion failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing listens at the address.
    #[error("cannot connect to {address}")]
    Connect {
        /// Path of the pipe, or host and port.
        address: String,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// The connection ended: LibreOffice crashed, was killed, or rejected a message.
    #[error("LibreOffice disconnected")]
    Closed(#[source] Option<Arc<io::Error>>),
    /// The peer violated the protocol, or a value cannot be encoded.
    #[error("LibreOffice violated the protocol")]
    Protocol(#[from] CodecError),
    /// No message arrived within the silence limit.
    #[error("LibreOffice timed out: no message for {} ms", .0.as_millis())]
    Silent(Duration),
    /// The conversion exceeded its timeout.
    #[error("conversion timed out after {} ms in phase `{phase}`", .limit.as_millis())]
    Timeout {
        /// The phase at that time.
        phase: Phase,
        /// The timeout.
        limit: Duration,
    },
    /// LibreOffice threw an exception.
    #[error("LibreOffice: {} ({})", .0.message, .0.name)]
    Exception(Exception),
    /// An object lacks an interface: the document does not support the operation.
    #[error("LibreOffice's object lacks the interface `{0}`")]
    NoInterface(String),
    /// A reply does not have the expected shape.
    #[error("unexpected answer of LibreOffice to `{0}`")]
    Unexpected(&'static str),
    /// The document requires a password and none was given.
    #[error("the document is protected by a password")]
    PasswordNeeded,
    /// The password is wrong.
    #[error("wrong password")]
    PasswordWrong,
    /// The document is damaged. Repair may open it.
    #[error("the document is damaged")]
    Broken,
    /// The input file does not exist or is unreadable.
    #[error("the input cannot be read: {0}")]
    Missing(String),
    /// LibreOffice knows neither the input's format nor the filter.
    #[error("LibreOffice does not know this format: {0}")]
    UnknownFormat(String),
    /// LibreOffice cannot load the document and reports at most a number.
    #[error("LibreOffice cannot load the document{}", code_text(*.code))]
    NotLoaded {
        /// The error code (`vcl/errcode.hxx`: area, class, code), if there is one.
        code: Option<i32>,
    },
    /// The document has tracked changes, which [`Authors::NoChanges`](crate::Authors::NoChanges)
    /// refuses.
    #[error("the document has tracked changes")]
    HasChanges,
    /// LibreOffice cannot write the document in this format.
    #[error("LibreOffice cannot write the document: {0}")]
    NotStored(String),
    /// Reading the input failed or exceeded its limit.
    #[error("the input cannot be read")]
    Input(#[source] io::Error),
    /// Writing the output failed.
    #[error("the output cannot be written")]
    Output(#[source] io::Error),
    /// A path is not absolute, so it has no URL.
    #[error("the path `{}` is not absolute", .0.display())]
    Path(PathBuf),
    /// A combination of input, output and filter that does not work.
    #[error("{0}")]
    Option(&'static str),
}

/// A UNO exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Its type, such as `com.sun.star.io.IOException`.
    pub name: String,
    /// Its message, which may be empty.
    pub message: String,
}

impl Exception {
    /// Type name and message of an exception that a reply carries.
    pub(crate) fn of(exception: &Any) -> Self {
        let message = match &exception.value {
            Value::Struct(members) => match members.first() {
                Some(Value::String(message)) => message.clone(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        Self {
            name: exception.ty.name().to_owned(),
            message,
        }
    }
}

fn code_text(code: Option<i32>) -> String {
    code.map_or_else(String::new, |code| format!(" (error 0x{code:x})"))
}
