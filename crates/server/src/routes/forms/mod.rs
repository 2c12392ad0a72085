//! Routes that clients of Gotenberg know, with its fields and its status codes.

pub(crate) mod chromium;
pub(crate) mod convention;
pub(crate) mod declaration;
mod form;
pub(crate) mod libreoffice;
mod markdown;
pub(crate) mod pdf_engines;
mod post_process;
mod value;

use std::{sync::Arc, time::Duration};

use crate::{
    intake::Intake,
    log::Log,
    metrics::Metrics,
    rendering::{chromium::Chromium, libreoffice::LibreOffice, slots::Slots},
    webhook::Webhooks,
};

/// What the forms work with.
#[derive(Clone)]
pub(crate) struct FormApi {
    pub(crate) intake: Arc<Intake>,
    pub(crate) chromium: Arc<Chromium>,
    pub(crate) libreoffice: Arc<LibreOffice>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) log: Log,
    /// Longest time from a page to its PDF or picture.
    pub(crate) render_timeout: Duration,
    /// Longest conversion by LibreOffice.
    pub(crate) office_timeout: Duration,
}
