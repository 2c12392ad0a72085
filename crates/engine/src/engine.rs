//! The engine: the native renderer with sandboxes, helpers and HTML templates.

use std::sync::{Arc, atomic::AtomicBool};

use platen_document::{CompiledTemplate, Diagnostic, Host, work::MemoryBound};
use platen_fonts::FontSettings;
use platen_layout::{FaceInfo, FontFamily};
use platen_render::{FolderHost, Format, RenderOptions, Rendered, Renderer};
use platen_script::RunnerSource;
use serde_json::Value as Json;

use crate::{
    Error, Isolation, IsolationSettings, Signatures,
    helpers::{HelperModules, validate_with},
    page_images::PageCells,
};

/// A memory limit for the allocations of this thread.
#[must_use]
pub fn memory_bound(limit_bytes: u64) -> MemoryBound {
    MemoryBound {
        limit_bytes,
        allocated: platen_jail::held_by_thread,
    }
}

/// Gives the sandboxes for untrusted templates, and waits until they have started; `None` if
/// sandboxes are unavailable.
pub type IsolationSource = dyn Fn() -> Option<Arc<Isolation>> + Send + Sync;

/// Renders documents, many concurrently.
pub struct Engine {
    renderer: Renderer,
    isolation: Option<Arc<Isolation>>,
    /// Sandboxes for untrusted templates, if the engine renders in this process.
    strangers: Option<Box<IsolationSource>>,
    pub(crate) helpers: Arc<HelperModules>,
    signatures: Arc<Signatures>,
    pages: PageCells,
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
            signatures: Arc::default(),
            pages: PageCells::default(),
        }
    }

    /// Renders documents in sandboxes.
    #[must_use]
    pub fn with_isolation(self, isolation: Isolation) -> Self {
        Self {
            isolation: Some(Arc::new(isolation)),
            ..self
        }
    }

    /// Reads untrusted templates in sandboxes, in [`Engine::prepare`] and [`Engine::validate`].
    #[must_use]
    pub fn with_isolation_of_strangers(self, source: Box<IsolationSource>) -> Self {
        Self {
            strangers: Some(source),
            ..self
        }
    }

    /// Enables helpers in templates. The first helper call requests the JavaScript runner from
    /// `runner`.
    #[must_use]
    pub fn with_helpers(self, runner: Arc<RunnerSource>) -> Self {
        Self {
            helpers: Arc::new(HelperModules::new(Some(runner))),
            ..self
        }
    }

    /// Signs with the keys of `signatures`.
    #[must_use]
    pub fn with_signatures(self, signatures: Signatures) -> Self {
        Self {
            signatures: Arc::new(signatures),
            ..self
        }
    }

    /// Draws the pages of PDF files in sandboxes with these bounds.
    #[must_use]
    pub fn with_pages_in(self, settings: IsolationSettings) -> Self {
        Self {
            pages: PageCells::new(settings),
            ..self
        }
    }

    pub(crate) fn page_cells(&self) -> &PageCells {
        &self.pages
    }

    /// Signing keys and trusted authorities.
    #[must_use]
    pub fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    /// The render sandboxes, if the engine renders in sandboxes.
    #[must_use]
    pub fn isolation(&self) -> Option<&Isolation> {
        self.isolation.as_deref()
    }

    /// Sandboxes for untrusted templates, if available. May block until they have started.
    #[must_use]
    pub fn isolation_of_strangers(&self) -> Option<Arc<Isolation>> {
        let strangers = || (self.strangers.as_ref()?)();
        self.isolation.clone().or_else(strangers)
    }

    /// Every error and warning about the untrusted template in `source`. With `data`, also those of
    /// binding, except for what depends on assets or helper results.
    ///
    /// # Errors
    /// [`Error::Data`] if `data` is not JSON, or the failure of a sandbox.
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

    /// The available fonts.
    pub fn fonts(&self) -> impl Iterator<Item = &FaceInfo> {
        self.renderer.fonts()
    }

    /// The families of the available fonts, sorted. Reads the characters of each family.
    #[must_use]
    pub fn families(&self) -> Vec<FontFamily> {
        self.renderer.families()
    }

    /// True if the family, or a substitute for it, is available.
    #[must_use]
    pub fn has_family(&self, family: &str) -> bool {
        self.renderer.has_family(family)
    }

    /// Reads and checks a template.
    ///
    /// # Errors
    /// Every error in the template.
    pub(crate) fn compile(&self, source: &[u8]) -> Result<CompiledTemplate, Error> {
        let template = platen_render::compile(source)?;
        self.helpers.check(&template)?;
        Ok(template)
    }

    /// The binder's host for a template with `helpers`.
    pub(crate) fn host(&self, helpers: Option<&str>, options: &RenderOptions) -> FolderHost {
        let mut host = FolderHost::of(options);
        let now = host.now_unix_seconds();
        host.helpers = self.helpers.of(helpers, now, options.stop.as_ref());
        host
    }

    /// Renders `data` in this process in the order of `formats`; binds and lays out once.
    pub(crate) fn render_here(
        &self,
        template: &CompiledTemplate,
        data: Json,
        formats: &[Format],
        options: &RenderOptions,
    ) -> Result<Vec<Rendered>, Error> {
        let host = self.host(template.template().helpers.as_deref(), options);
        let made = self
            .renderer
            .render_all(template, data, formats, options, &host);
        // First: what is missing may be what went wrong.
        host.complete()?;
        Ok(made?)
    }
}
