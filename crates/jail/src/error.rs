//! Why there is no cell.

/// Failures of the jail itself; how a job ended is a [`crate::Ending`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The zygote did not start.
    #[error("the sandbox server did not start: {reason}")]
    Start {
        /// What it said.
        reason: String,
        /// What the system said.
        #[source]
        source: Option<std::io::Error>,
    },
    /// No cell came in time.
    #[error("no sandbox was ready within {waited_ms} ms")]
    NoCell {
        /// How long was waited.
        waited_ms: u64,
    },
    /// The host does not allow what the configuration demands.
    #[error("the host allows the sandbox level `{found}`, but `{wanted}` is demanded")]
    Level {
        /// What there is.
        found: &'static str,
        /// What is demanded.
        wanted: &'static str,
    },
    /// A message is larger than its bound.
    #[error("a message of {size_bytes} bytes is larger than {limit_bytes}")]
    Message {
        /// Its size.
        size_bytes: u64,
        /// The bound.
        limit_bytes: u64,
    },
    /// The system failed.
    #[error("the sandbox could not be reached")]
    System(#[from] std::io::Error),
}
