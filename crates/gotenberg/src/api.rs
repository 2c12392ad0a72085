//! State of the form handlers.

use std::{sync::Arc, time::Duration};

use hyper::header::HeaderName;
use platen_server::{
    deferred::DeferredRequests,
    intake::Intake,
    metrics::Metrics,
    rendering::{Renderer, chromium::Chromium, libreoffice::LibreOffice, slots::Slots},
};

use crate::{download::Downloads, webhook::Webhooks};

/// State of the form handlers.
#[derive(Clone)]
pub(crate) struct FormApi {
    pub(crate) intake: Arc<Intake>,
    pub(crate) renderer: Arc<Renderer>,
    pub(crate) chromium: Arc<Chromium>,
    pub(crate) libreoffice: Arc<LibreOffice>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) downloads: Arc<Downloads>,
    pub(crate) deferred: Arc<DeferredRequests>,
    pub(crate) metrics: Arc<Metrics>,
    /// Header by which clients know their request.
    pub(crate) trace_header: HeaderName,
    /// Whether pages run no scripts.
    pub(crate) disable_java_script: bool,
    /// Timeout from the request for a page to its PDF or image.
    pub(crate) render_timeout: Duration,
    /// Timeout of a LibreOffice conversion.
    pub(crate) office_timeout: Duration,
}
