//! Reads request bodies within bounds: on the size and time of each, and on the memory and disk
//! space of all together.

pub mod body;
pub mod content;
pub mod multipart;

use std::{sync::Arc, time::Duration};

use platen_fault::{Code, What};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{config::Config, metrics::Metrics, problem::Problem};

/// Shorter bodies reserve no memory: the accounting would cost more than it saves. Bytes.
const UNCOUNTED_BYTES: u64 = 64 << 10;

/// Limits of request bodies, and the current use of all requests.
pub struct Intake {
    /// Largest body in memory, and largest total of the text fields of a form. Bytes.
    pub max_body_bytes: u64,
    /// Largest form with files. Bytes.
    pub form_max_body_bytes: u64,
    /// Timeout for a whole body.
    pub body_timeout: Duration,
    /// All the memory there is for bodies. Bytes.
    max_inflight_body_bytes: u64,
    /// Available memory, in kibibytes.
    memory: Arc<Semaphore>,
    /// Available space in the temporary folder, in kibibytes.
    disk: Arc<Semaphore>,
    metrics: Arc<Metrics>,
}

/// Reserved memory of a request; dropping the permit releases it.
#[derive(Debug)]
pub struct MemoryPermit {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Intake {
    /// The limits in `config`, with nothing reserved.
    pub fn new(config: &Config, metrics: Arc<Metrics>) -> Self {
        Self {
            max_body_bytes: config.max_body_bytes,
            form_max_body_bytes: config.form_max_body_bytes,
            body_timeout: Duration::from_millis(config.body_timeout_ms),
            max_inflight_body_bytes: config.max_inflight_body_bytes,
            memory: kibibytes(config.max_inflight_body_bytes),
            disk: kibibytes(config.max_spool_bytes),
            metrics,
        }
    }

    /// The space of temporary files, to be shared by all that spools.
    pub(crate) fn disk(&self) -> &Arc<Semaphore> {
        &self.disk
    }

    /// Reserves memory for `size_bytes`.
    ///
    /// # Errors
    /// 503 if the requests in flight have reserved too much already (`MAX_INFLIGHT_BODY_BYTES`).
    pub fn reserve_bytes(&self, size_bytes: u64) -> Result<MemoryPermit, Problem> {
        if size_bytes <= UNCOUNTED_BYTES {
            return Ok(MemoryPermit { _permit: None });
        }
        let kibibytes = u32::try_from(size_bytes.div_ceil(1_024)).unwrap_or(u32::MAX);
        match Arc::clone(&self.memory).try_acquire_many_owned(kibibytes) {
            Ok(permit) => Ok(MemoryPermit {
                _permit: Some(permit),
            }),
            Err(_) => {
                self.metrics.rejected("no-room");
                let detail = "too many large requests at the moment (MAX_INFLIGHT_BODY_BYTES)";
                Err(Problem::new(Code::Overloaded(What::Memory), detail))
            }
        }
    }
}

/// A semaphore that counts kibibytes: its permits are 32 bits wide, too few for bytes.
fn kibibytes(bytes: u64) -> Arc<Semaphore> {
    let kibibytes = usize::try_from(bytes / 1_024).unwrap_or(usize::MAX);
    Arc::new(Semaphore::new(kibibytes.min(Semaphore::MAX_PERMITS)))
}
