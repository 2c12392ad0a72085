//! Renderings in a sandbox: a fresh process for each, forked from one that has the fonts already.
//!
//! [`Isolation`] is the owner's side, [`RenderWorker`] what runs in the zygote and its cells. The
//! cell is sent the template's source, then the data and the options; it asks for assets, and sends
//! documents in pieces. An author's mistakes come back as they would without a sandbox.

mod client;
mod prepared;
mod wire;
mod worker;

pub use self::{
    client::{Isolation, IsolationSettings},
    worker::RenderWorker,
};

use platen_jail::Ending;

use crate::Fault;

/// Why a sandbox gave no document, where that is neither the author's mistake nor a bug of a writer.
#[derive(Debug, thiserror::Error)]
pub enum IsolationError {
    /// More processor time than a rendering may take.
    #[error("the rendering used more than {limit_ms} ms of processor time")]
    CpuTime {
        /// The bound.
        limit_ms: u32,
    },
    /// More time than a rendering may take.
    #[error("the rendering did not end within {limit_ms} ms")]
    Deadline {
        /// The bound.
        limit_ms: u64,
    },
    /// More memory than a rendering may use.
    #[error("the rendering needs more than {limit_bytes} bytes of memory")]
    Memory {
        /// The bound.
        limit_bytes: u64,
    },
    /// The documents are larger than allowed.
    #[error("the document is larger than {limit_bytes} bytes")]
    Output {
        /// The bound.
        limit_bytes: u64,
    },
    /// Template, data and attachments are larger than a sandbox is sent.
    #[error("the template, its data and its attachments are larger than {limit_bytes} bytes")]
    Input {
        /// The bound.
        limit_bytes: u64,
    },
    /// The process ended otherwise.
    #[error("the sandbox of the rendering ended: {}", .0.describe())]
    Crashed(Ending),
    /// There is no sandbox.
    #[error("there is no sandbox for renderings")]
    Unavailable(#[from] platen_jail::Error),
}

impl IsolationError {
    /// Whose fault it is.
    pub(crate) fn fault(&self) -> Fault {
        match self {
            Self::Deadline { .. } => Fault::Limit,
            Self::CpuTime { .. }
            | Self::Memory { .. }
            | Self::Output { .. }
            | Self::Input { .. } => Fault::Caller,
            Self::Crashed(_) => Fault::Internal,
            Self::Unavailable(_) => Fault::Unavailable,
        }
    }
}
