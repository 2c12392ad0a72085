//! What binding needs from the outside world, as a trait, so that this crate stays pure.

use std::{fmt::Debug, sync::Arc};

use serde_json::Value as Json;

/// The world a document is bound in.
pub trait Host: Send + Sync {
    /// The bytes of the asset `name` (an image, say), or `None` where there is none of that name.
    fn asset(&self, name: &str) -> Option<Arc<[u8]>>;

    /// Seconds since 1970-01-01T00:00:00Z that `now()` and the document's date show.
    fn now_unix_seconds(&self) -> i64;

    /// What calls the helpers of the template; `None` where they cannot be called.
    fn helpers(&self) -> Option<Arc<dyn Helpers>> {
        None
    }
}

/// Calls the helpers of one template.
pub trait Helpers: Debug + Send + Sync {
    /// The value of `helpers.name(arguments…)`.
    ///
    /// # Errors
    /// What went wrong, for the author.
    fn call(&self, name: &str, arguments: Vec<Json>) -> Result<Json, String>;
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
