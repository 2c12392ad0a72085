//! Reads request bodies within bounds: on the size and time of each, and on the memory and disk
//! space of all together.

pub mod body;
pub mod content;
mod form_weight;
pub mod multipart;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use platen_fault::{Code, What};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::content::{MAX_SPOOL_FILES, Room};
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
    /// What uploads may take of the temporary folder.
    disk: Arc<Room>,
    metrics: Arc<Metrics>,
}

/// Reserved memory of a request; dropping the permit releases it.
#[derive(Debug, Default)]
pub struct MemoryPermit {
    held: Option<OwnedSemaphorePermit>,
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
            disk: Arc::new(Room::new(config.max_spool_bytes, MAX_SPOOL_FILES)),
            metrics,
        }
    }

    /// The room for temporary files, to be shared by all that spools.
    pub fn disk(&self) -> &Arc<Room> {
        &self.disk
    }

    /// Reserves memory for `size_bytes`.
    ///
    /// # Errors
    /// 503 if the requests in flight have reserved too much already (`MAX_INFLIGHT_BODY_BYTES`).
    pub fn reserve_bytes(&self, size_bytes: u64) -> Result<MemoryPermit, Problem> {
        let mut permit = MemoryPermit::default();
        self.reserve_up_to(&mut permit, size_bytes)?;
        Ok(permit)
    }

    /// Reserves memory for a response; one that is larger than all there is takes all there is.
    ///
    /// # Errors
    /// As [`Intake::reserve_bytes`].
    pub fn reserve_response(&self, size_bytes: u64) -> Result<MemoryPermit, Problem> {
        self.reserve_bytes(size_bytes.min(self.max_inflight_body_bytes))
    }

    /// Reserves what `permit` lacks of `size_bytes`.
    ///
    /// # Errors
    /// As [`Intake::reserve_bytes`]; the permit is as before then.
    fn reserve_up_to(&self, permit: &mut MemoryPermit, size_bytes: u64) -> Result<(), Problem> {
        let held = permit.held.as_ref();
        let held = held.map_or(0, OwnedSemaphorePermit::num_permits) as u64;
        let missing = size_bytes.div_ceil(1_024).saturating_sub(held);
        if size_bytes <= UNCOUNTED_BYTES || missing == 0 {
            return Ok(());
        }
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        let Ok(more) = Arc::clone(&self.memory).try_acquire_many_owned(missing) else {
            self.metrics.rejected("no-room");
            let detail = "too many large requests at the moment (MAX_INFLIGHT_BODY_BYTES)";
            return Err(Problem::new(Code::Overloaded(What::Memory), detail));
        };
        match &mut permit.held {
            Some(held) => held.merge(more),
            None => permit.held = Some(more),
        }
        Ok(())
    }
}

/// Bytes that count as in memory until nobody holds them any more.
pub fn counted(bytes: impl AsRef<[u8]> + Send + 'static, permit: MemoryPermit) -> Bytes {
    Bytes::from_owner(Counted {
        bytes,
        _permit: permit,
    })
}

struct Counted<T> {
    bytes: T,
    _permit: MemoryPermit,
}

impl<T: AsRef<[u8]>> AsRef<[u8]> for Counted<T> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

/// A semaphore that counts kibibytes: its permits are 32 bits wide, too few for bytes.
fn kibibytes(bytes: u64) -> Arc<Semaphore> {
    let kibibytes = usize::try_from(bytes / 1_024).unwrap_or(usize::MAX);
    Arc::new(Semaphore::new(kibibytes.min(Semaphore::MAX_PERMITS)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    #[test]
    fn counted_bytes_are_counted_until_the_last_clone() {
        let config = Config::load(None, |_| None, Settings::default()).unwrap();
        let intake = Intake::new(&config, Arc::new(Metrics::default()));
        let permit = intake
            .reserve_bytes(config.max_inflight_body_bytes)
            .unwrap();
        let bytes = counted(Bytes::from_static(b"%PDF-"), permit);
        let other = bytes.clone();
        drop(bytes);
        assert_eq!(&other[..], b"%PDF-");
        let refused = intake.reserve_bytes(100 << 10).unwrap_err();
        assert_eq!(refused.status.as_u16(), 503);
        drop(other);
        assert!(intake.reserve_bytes(100 << 10).is_ok());
    }
}
