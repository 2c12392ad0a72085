//! Making documents: slots that bound how many are made at once, and the programs behind them.

pub(crate) mod chromium;
pub(crate) mod job;
pub(crate) mod libreoffice;
pub(crate) mod printed;
pub(crate) mod resources;
pub(crate) mod slots;
pub(crate) mod validation;

use std::{path::PathBuf, sync::Arc, time::Duration};

use platen_engine::Engine;

use self::{chromium::Chromium, slots::Slots};
use crate::{metrics::Metrics, templates::TemplateRepository};

/// What it takes to make a document from a template and data.
pub(crate) struct Renderer {
    pub(crate) engine: Arc<Engine>,
    pub(crate) templates: TemplateRepository,
    pub(crate) slots: Arc<Slots>,
    pub(crate) chromium: Arc<Chromium>,
    pub(crate) metrics: Arc<Metrics>,
    /// Longest time from the request to the document, the wait for a slot included.
    pub(crate) timeout: Duration,
    /// Where templates may take pictures from.
    pub(crate) assets_dir: Option<PathBuf>,
}
