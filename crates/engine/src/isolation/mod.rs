//! Rendering in a sandbox: a fresh process per rendering, forked from a zygote with the fonts
//! loaded.
//!
//! [`Isolation`] is the client side; [`RenderWorker`] runs in the zygote and its cells. The cell
//! receives the template's source, then the data and the options. It requests assets, and sends
//! documents in chunks. Errors in the template or the data are the same as without a sandbox.

mod client;
mod prepared;
mod wire;
mod worker;

pub use self::{
    client::{Isolation, IsolationSettings},
    worker::RenderWorker,
};

use platen_fault::{Backend, Code, Stage, What};
use platen_jail::Ending;

/// Why a sandbox returned no document, apart from template errors and failed writers.
#[derive(Debug, thiserror::Error)]
pub enum IsolationError {
    /// CPU limit exceeded.
    #[error("rendering exceeded its CPU limit of {limit_ms} ms")]
    CpuTime {
        /// The limit, in milliseconds.
        limit_ms: u32,
    },
    /// Wall-clock limit exceeded.
    #[error("rendering timed out after {limit_ms} ms")]
    Deadline {
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// Memory limit exceeded.
    #[error("rendering exceeded its memory limit of {limit_bytes} bytes")]
    Memory {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// Output limit exceeded.
    #[error("the document is larger than {limit_bytes} bytes")]
    Output {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// Input limit exceeded.
    #[error("the template, its data and its attachments are larger than {limit_bytes} bytes")]
    Input {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The process exited for another reason.
    #[error("sandbox of the rendering failed: {}", .0.describe())]
    Crashed(Ending),
    /// The sandbox is unavailable.
    #[error("sandbox for renderings unavailable")]
    Unavailable(#[from] platen_jail::Error),
}

impl IsolationError {
    /// The error's stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::CpuTime { limit_ms } => Code::CpuLimit(Stage::Render, u64::from(*limit_ms)),
            Self::Deadline { .. } => Code::Timeout(Stage::Render),
            Self::Memory { limit_bytes } => Code::MemoryLimit(Stage::Render, *limit_bytes),
            Self::Output { limit_bytes } => Code::TooLarge(What::Result, *limit_bytes),
            Self::Input { limit_bytes } => Code::TooLarge(What::Input, *limit_bytes),
            Self::Crashed(_) => Code::BackendCrashed(Backend::Sandbox),
            Self::Unavailable(_) => Code::BackendUnavailable(Backend::Sandbox),
        }
    }
}
