//! The engine: the native renderer, and what stands around it.

use std::sync::{Arc, atomic::AtomicBool};

use platen_document::{CompiledTemplate, Diagnostic, Host, work::MemoryBound};
use platen_fonts::FontSettings;
use platen_layout::FaceInfo;
use platen_render::{FolderHost, Format, RenderOptions, Rendered, Renderer};
use platen_script::RunnerSource;
use serde_json::Value as Json;

use crate::{
    Error, Isolation,
    helpers::{HelperModules, validate_with},
};

/// A bound on what this thread holds.
#[must_use]
pub fn memory_bound(limit_bytes: u64) -> MemoryBound {
    MemoryBound {
        limit_bytes,
        allocated: platen_jail::held_by_thread,
    }
}

/// Gives sandboxes for what strangers bring, when it is first needed; `None` where there are none.
pub type IsolationSource = dyn Fn() -> Option<Arc<Isolation>> + Send + Sync;

/// Renders documents, many at once.
pub struct Engine {
    renderer: Renderer,
    isolation: Option<Arc<Isolation>>,
    /// Of what strangers bring, where the rest is made here.
    strangers: Option<Box<IsolationSource>>,
    pub(crate) helpers: Arc<HelperModules>,
}

impl Engine {
    /// An engine with the fonts that `settings` names.
    #[must_use]
    pub fn new(settings: &FontSettings) -> Self {
        Self {
            renderer: Renderer::new(settings),
            isolation: None,
            strangers: None,
            helpers: Arc::new(HelperModules::new(None)),
        }
    }

    /// The same engine, which makes documents in sandboxes.
    #[must_use]
    pub fn with_isolation(self, isolation: Isolation) -> Self {
        Self {
            isolation: Some(Arc::new(isolation)),
            ..self
        }
    }

    /// The same engine, which reads in sandboxes what strangers bring: in [`Engine::prepare`]
    /// and [`Engine::validate`].
    #[must_use]
    pub fn with_isolation_of_strangers(self, source: Box<IsolationSource>) -> Self {
        Self {
            strangers: Some(source),
            ..self
        }
    }

    /// The same engine, whose templates may have helpers: `runner` is asked for what runs them when
    /// one is first called.
    #[must_use]
    pub fn with_helpers(self, runner: Arc<RunnerSource>) -> Self {
        Self {
            helpers: Arc::new(HelperModules::new(Some(runner))),
            ..self
        }
    }

    /// Sandboxes for renderings, where documents are to be made in some.
    #[must_use]
    pub fn isolation(&self) -> Option<&Isolation> {
        self.isolation.as_deref()
    }

    /// Sandboxes for what strangers bring, where there are some. May wait for their start.
    #[must_use]
    pub fn isolation_of_strangers(&self) -> Option<Arc<Isolation>> {
        let strangers = || (self.strangers.as_ref()?)();
        self.isolation.clone().or_else(strangers)
    }

    /// Every mistake and warning about the template in `source`, which a stranger brings; with `data`
    /// also those of binding it, but for what only its assets and its helpers can decide.
    ///
    /// # Errors
    /// [`Error::Data`] where `data` is no JSON, and what ends a sandbox.
    pub fn validate(
        &self,
        source: &[u8],
        data: Option<&str>,
        stop: Option<&Arc<AtomicBool>>,
    ) -> Result<Vec<Diagnostic>, Error> {
        if let Some(isolation) = self.isolation_of_strangers() {
            return isolation.validate(source, data.map(str::as_bytes), stop);
        }
        let data = data.map(serde_json::from_str).transpose();
        let data: Option<Json> = data.map_err(|error| Error::Data(error.to_string()))?;
        Ok(validate_with(&self.helpers, source, data.as_ref()))
    }

    /// The fonts at hand.
    pub fn fonts(&self) -> impl Iterator<Item = &FaceInfo> {
        self.renderer.fonts()
    }

    /// True where a family of this name, or one that stands in for it, is there.
    #[must_use]
    pub fn has_family(&self, family: &str) -> bool {
        self.renderer.has_family(family)
    }

    /// Reads and checks a template.
    ///
    /// # Errors
    /// Every mistake in it.
    pub(crate) fn compile(&self, source: &[u8]) -> Result<CompiledTemplate, Error> {
        let template = platen_render::compile(source)?;
        self.helpers.check(&template)?;
        Ok(template)
    }

    /// The world of a rendering of a template with `helpers`.
    pub(crate) fn host(&self, helpers: Option<&str>, options: &RenderOptions) -> FolderHost {
        let mut host = FolderHost::of(options);
        let now = host.now_unix_seconds();
        host.helpers = self.helpers.of(helpers, now, options.stop.as_ref());
        host
    }

    /// Renders `data` in this process, binding and laying out once. In the order of `formats`.
    pub(crate) fn render_here(
        &self,
        template: &CompiledTemplate,
        data: Json,
        formats: &[Format],
        options: &RenderOptions,
    ) -> Result<Vec<Rendered>, Error> {
        let host = self.host(template.template().helpers.as_deref(), options);
        Ok(self
            .renderer
            .render_all(template, data, formats, options, &host)?)
    }
}
