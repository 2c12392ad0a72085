//! What the forms work with.

use std::{sync::Arc, time::Duration};

use platen_server::{
    intake::Intake,
    metrics::Metrics,
    rendering::{chromium::Chromium, libreoffice::LibreOffice, slots::Slots},
};

use crate::webhook::Webhooks;

/// What the forms work with.
#[derive(Clone)]
pub(crate) struct FormApi {
    pub(crate) intake: Arc<Intake>,
    pub(crate) chromium: Arc<Chromium>,
    pub(crate) libreoffice: Arc<LibreOffice>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) metrics: Arc<Metrics>,
    /// Longest time from a page to its PDF or picture.
    pub(crate) render_timeout: Duration,
    /// Longest conversion by LibreOffice.
    pub(crate) office_timeout: Duration,
}
