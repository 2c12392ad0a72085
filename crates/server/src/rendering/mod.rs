//! Rendering: slots that bound concurrency, and the programs behind them.

pub mod accessible;
pub mod chromium;
pub(crate) mod job;
pub mod libreoffice;
pub mod printed;
pub mod resources;
pub mod slots;
pub(crate) mod validation;

use std::{path::PathBuf, sync::Arc, time::Duration};

use platen_engine::Engine;
use platen_render::{RenderOptions, StoredAssets};

use self::{chromium::Chromium, slots::Slots};
use crate::{assets::AssetStore, metrics::Metrics, templates::TemplateRepository};

impl Renderer {
    /// `options` with the assets that templates reference.
    pub(crate) fn with_assets(&self, options: RenderOptions) -> RenderOptions {
        RenderOptions {
            assets: self.assets_dir.clone(),
            stored: Some(Arc::clone(&self.assets) as Arc<dyn StoredAssets>),
            ..options
        }
    }
}

/// Dependencies of a rendering.
pub struct Renderer {
    /// Binds, lays out and writes.
    pub engine: Arc<Engine>,
    pub(crate) templates: TemplateRepository,
    /// Bounds the running and the queued renderings.
    pub slots: Arc<Slots>,
    /// Prints HTML templates.
    pub chromium: Arc<Chromium>,
    /// Counts renderings and measures their stages.
    pub metrics: Arc<Metrics>,
    /// Longest time from the request to the document, including the wait for a slot.
    pub timeout: Duration,
    /// Folder of the assets that templates reference.
    pub assets_dir: Option<PathBuf>,
    /// Assets that the service stores.
    pub(crate) assets: Arc<AssetStore>,
}
