//! Extension point: other crates add routes on top of the services.

use std::{pin::Pin, sync::Arc, time::Duration};

use crate::{operation::Mounted, services::Services};

/// Routes that another crate adds to the service.
pub trait Extension: Send + Sync {
    /// Adds the routes.
    fn mount(&self, mounted: &mut Mounted);

    /// Waits at most `bound` for background work that outlives its response; called on shutdown.
    /// False if the time was too short.
    fn drain(&self, bound: Duration) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        let _ = bound;
        Box::pin(std::future::ready(true))
    }
}

/// Creates an extension from the services.
pub type ExtensionFactory = fn(&Services) -> Arc<dyn Extension>;
