//! Making documents: slots that bound how many are made at once, and the programs behind them.

pub mod chromium;
pub(crate) mod job;
pub mod libreoffice;
pub mod printed;
pub mod resources;
pub mod slots;
pub(crate) mod validation;

use std::{path::PathBuf, sync::Arc, time::Duration};

use platen_engine::Engine;

use self::{chromium::Chromium, slots::Slots};
use crate::{metrics::Metrics, templates::TemplateRepository};

/// What it takes to make a document from a template and data.
pub struct Renderer {
    /// Binds, lays out and writes.
    pub engine: Arc<Engine>,
    pub(crate) templates: TemplateRepository,
    /// Bounds how many renderings run and wait.
    pub slots: Arc<Slots>,
    /// Prints templates of HTML.
    pub chromium: Arc<Chromium>,
    /// Counts renderings and their stages.
    pub metrics: Arc<Metrics>,
    /// Longest time from the request to the document, the wait for a slot included.
    pub timeout: Duration,
    /// Where templates may take pictures from.
    pub assets_dir: Option<PathBuf>,
}
