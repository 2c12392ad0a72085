//! Errors of the jail.

/// Failures of the jail itself. How a job ended is a [`crate::Ending`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The zygote did not start.
    #[error("sandbox server failed to start: {reason}")]
    Start {
        /// What the zygote reported.
        reason: String,
        /// The system's error.
        #[source]
        source: Option<std::io::Error>,
    },
    /// No cell became ready in time.
    #[error("timed out after {waited_ms} ms: no sandbox was ready")]
    NoCell {
        /// The timeout, in milliseconds.
        waited_ms: u64,
    },
    /// The host does not allow the required level.
    #[error("the host allows sandbox level `{found}`, but `{wanted}` is required")]
    Level {
        /// The level that the host allows.
        found: &'static str,
        /// The required level.
        wanted: &'static str,
    },
    /// A message exceeds its limit.
    #[error("a message of {size_bytes} bytes is larger than {limit_bytes}")]
    Message {
        /// Size of the message, in bytes.
        size_bytes: u64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// A system call failed.
    #[error("connection to the sandbox failed")]
    System(#[from] std::io::Error),
}
