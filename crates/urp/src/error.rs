//! Why a call or a conversion failed.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use crate::{Phase, codec::CodecError};

/// Why a call or a conversion failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody answers at the address.
    #[error("cannot connect to {address}")]
    Connect {
        /// Path of the pipe, or host and port.
        address: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The connection ended: the program crashed, was killed, or did not like what it was sent.
    #[error("LibreOffice disconnected")]
    Closed(#[source] Option<Arc<io::Error>>),
    /// The peer sent, or we were to send, what the protocol does not know.
    #[error("LibreOffice violated the protocol")]
    Protocol(#[from] CodecError),
    /// Nothing was heard for too long.
    #[error("LibreOffice timed out: no message for {} ms", .0.as_millis())]
    Silent(Duration),
    /// The conversion took longer than it may.
    #[error("conversion timed out after {} ms in phase `{phase}`", .limit.as_millis())]
    Timeout {
        /// What was going on.
        phase: Phase,
        /// The limit.
        limit: Duration,
    },
    /// LibreOffice threw an exception.
    #[error("LibreOffice: {} ({})", .0.message, .0.name)]
    Exception(Exception),
    /// An object lacks an interface: the document cannot do what is wanted.
    #[error("LibreOffice's object lacks the interface `{0}`")]
    NoInterface(String),
    /// A reply does not hold what its function promises.
    #[error("unexpected answer of LibreOffice to `{0}`")]
    Unexpected(&'static str),
    /// The document wants a password and none was given.
    #[error("the document is protected by a password")]
    PasswordNeeded,
    /// The password is not the document's.
    #[error("wrong password")]
    PasswordWrong,
    /// The document is damaged; it may open with repair.
    #[error("the document is damaged")]
    Broken,
    /// The input file is not there or cannot be read.
    #[error("the input cannot be read: {0}")]
    Missing(String),
    /// LibreOffice does not know the input's format, or the filter.
    #[error("LibreOffice does not know this format: {0}")]
    UnknownFormat(String),
    /// LibreOffice cannot load the document and says why only by a number.
    #[error("LibreOffice cannot load the document{}", code_text(*.code))]
    NotLoaded {
        /// Its error code (`vcl/errcode.hxx`: area, class, code), when it told.
        code: Option<i32>,
    },
    /// The document has tracked changes, and that was not to be.
    #[error("the document has tracked changes")]
    HasChanges,
    /// LibreOffice cannot write the document so.
    #[error("LibreOffice cannot write the document: {0}")]
    NotStored(String),
    /// The input ended with an error, or is larger than it may be.
    #[error("the input cannot be read")]
    Input(#[source] io::Error),
    /// The output cannot be taken.
    #[error("the output cannot be written")]
    Output(#[source] io::Error),
    /// A path that cannot be said as a URL.
    #[error("the path `{}` is not absolute", .0.display())]
    Path(PathBuf),
    /// A combination of input, output and filter that cannot work.
    #[error("{0}")]
    Option(&'static str),
}

/// An exception of UNO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Its type, such as `com.sun.star.io.IOException`.
    pub name: String,
    /// Its text, which may be empty.
    pub message: String,
}

fn code_text(code: Option<i32>) -> String {
    code.map_or_else(String::new, |code| format!(" (error 0x{code:x})"))
}
