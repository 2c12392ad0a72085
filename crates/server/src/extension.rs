//! Routes of other crates, above the same services.

use std::{pin::Pin, sync::Arc, time::Duration};

use crate::{operation::Mounted, services::Services};

/// Routes that another crate adds to the service.
pub trait Extension: Send + Sync {
    /// Adds the routes.
    fn mount(&self, mounted: &mut Mounted);

    /// Waits for work that goes on after its answer, for at most `bound`; a shutdown calls it. False
    /// if the time was too short.
    fn drain(&self, bound: Duration) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        let _ = bound;
        Box::pin(std::future::ready(true))
    }
}

/// Makes an extension from the services.
pub type ExtensionFactory = fn(&Services) -> Arc<dyn Extension>;
