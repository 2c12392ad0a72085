//! Errors of requests, and why there was no connection.

use std::io;

use platen_fault::{Code, What};

/// Errors of requests.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The host is not on the allow-list.
    #[error("host of {0} not in the allow-list")]
    NotAllowed(String),
    /// The method, URL or a header is malformed.
    #[error("request malformed: {0}")]
    Malformed(String),
    /// The response body exceeds the limit, in bytes.
    #[error("answer exceeds {0} bytes")]
    TooLong(u64),
    /// The caller cancelled the request.
    #[error("request cancelled")]
    Stopped,
    /// The connection failed, or the name has no permitted address.
    #[error("request failed")]
    Failed(#[from] ureq::Error),
}

impl Error {
    /// Why there was no connection; `None` for errors of other kinds.
    #[must_use]
    pub fn no_connection(&self) -> Option<NoConnection> {
        Some(match self {
            Self::NotAllowed(_) => NoConnection::Denied,
            Self::Failed(ureq::Error::Io(error)) => match error.kind() {
                io::ErrorKind::PermissionDenied => NoConnection::Denied,
                io::ErrorKind::ConnectionRefused => NoConnection::Refused,
                _ => return None,
            },
            Self::Failed(ureq::Error::ConnectionFailed) => NoConnection::Refused,
            Self::Failed(ureq::Error::HostNotFound) => NoConnection::UnknownHost,
            Self::Failed(ureq::Error::Timeout(_)) => NoConnection::TimedOut,
            _ => return None,
        })
    }

    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::NotAllowed(_) => Code::AddressDenied,
            Self::Malformed(_) => Code::InvalidInput,
            Self::TooLong(limit) => Code::TooLarge(What::Answer, *limit),
            Self::Stopped => Code::Cancelled,
            Self::Failed(_) => Code::RequestFailed,
        }
    }
}

/// Why there was no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoConnection {
    /// The host is not on the allow-list, or has private addresses only.
    Denied,
    /// No address of the host accepts connections.
    Refused,
    /// The host has no address.
    UnknownHost,
    /// It took too long.
    TimedOut,
}
