//! State shared by all connections of a service.

use std::sync::Arc;

use crate::{limits::Limits, observer::Observer};

/// State shared by all connections.
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    pub(crate) observer: Arc<dyn Observer>,
}
