//! Extension point: other crates add routes on top of the services.

use std::sync::Arc;

use crate::{operation::Mounted, services::Services};

/// Routes that another crate adds to the service.
pub trait Extension: Send + Sync {
    /// Adds the routes.
    fn mount(&self, mounted: &mut Mounted);
}

/// Creates an extension from the services.
pub type ExtensionFactory = fn(&Services) -> Arc<dyn Extension>;
