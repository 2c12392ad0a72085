//! What binding needs from the outside world, as a trait, so that this crate stays pure.

use std::sync::Arc;

/// The world a document is bound in.
pub trait Host: Send + Sync {
    /// The bytes of the asset `name` (an image, say), or `None` where there is none of that name.
    fn asset(&self, name: &str) -> Option<Arc<[u8]>>;

    /// Seconds since 1970-01-01T00:00:00Z that `now()` and the document's date show.
    fn now_unix_seconds(&self) -> i64;
}

/// A host with no assets, at a fixed instant; for validation and tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedHost {
    /// The instant, in seconds since 1970-01-01T00:00:00Z.
    pub unix_seconds: i64,
}

impl Host for FixedHost {
    fn asset(&self, _: &str) -> Option<Arc<[u8]>> {
        None
    }

    fn now_unix_seconds(&self) -> i64 {
        self.unix_seconds
    }
}
