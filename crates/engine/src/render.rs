//! The render job.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use platen_document::{
    BindOptions, CompiledTemplate, Diagnostic, Host,
    bound::Document,
    template::{Orientation, PaperSize},
    work::{self, Bounds, MemoryBound},
};
use platen_fonts::FontSettings;
use platen_formats::pdf;
use platen_layout::{FaceInfo, FontLibrary, Layout, Shaper};
use platen_script::RunnerSource;
use serde_json::Value as Json;

use crate::{
    Error, Format, Isolation, fonts,
    helpers::{HelperModules, validate_with},
    host::FolderHost,
    write::{is_paged, needs_pages, write_pdf, write_picture, write_plain},
};

/// Shapers kept for the next jobs; each holds a cache of words.
const MAX_IDLE_SHAPERS: usize = 16;

/// What a request changes in a rendering.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// BCP 47 locale instead of the template's.
    pub locale: Option<String>,
    /// IANA time zone instead of the template's.
    pub time_zone: Option<String>,
    /// Paper instead of the template's.
    pub paper_size: Option<PaperSize>,
    /// Orientation instead of the template's.
    pub orientation: Option<Orientation>,
    /// What a PDF must satisfy; PDF/UA-1 on PDF 1.7, where the document allows it, where absent.
    pub standard: Option<pdf::Standard>,
    /// Leaves the logical structure out of a PDF.
    pub untagged: bool,
    /// Files inside a PDF.
    pub attachments: Vec<pdf::Attachment>,
    /// Page of a PNG or SVG, from 1; the first where absent.
    pub page: Option<u32>,
    /// Resolution of a PNG; 144 where absent.
    pub dots_per_inch: Option<f32>,
    /// Name of the table of a CSV; the first where absent.
    pub table: Option<String>,
    /// Instant of `now()` and of the file's dates, in seconds since 1970; the clock where absent.
    pub now_unix_seconds: Option<i64>,
    /// Folder of assets that the template names.
    pub assets: Option<PathBuf>,
    /// Set to true from outside to stop the job.
    pub stop: Option<Arc<AtomicBool>>,
    /// Memory that the job may hold, where it is made in this process. Counted where
    /// [`platen_jail::Allocator`] is the allocator.
    pub memory_bytes: Option<u64>,
}

/// A bound on what this thread holds.
#[must_use]
pub fn memory_bound(limit_bytes: u64) -> MemoryBound {
    MemoryBound {
        limit_bytes,
        allocated: platen_jail::held_by_thread,
    }
}

/// A stage of a job with its duration.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// `bind`, `layout` or `write`.
    pub name: &'static str,
    /// How long it took.
    pub duration: Duration,
}

/// A rendered document.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The file.
    pub bytes: Vec<u8>,
    /// Its format.
    pub format: Format,
    /// Number of pages, for formats that have them.
    pub pages: Option<u32>,
    /// What is not as the template says.
    pub warnings: Vec<Diagnostic>,
    /// Where the time went.
    pub stages: Vec<Stage>,
}

/// Gives sandboxes for what strangers bring, when it is first needed; `None` where there are none.
pub type IsolationSource = dyn Fn() -> Option<Arc<Isolation>> + Send + Sync;

/// Renders documents, many at once.
pub struct Engine {
    fonts: Arc<FontLibrary>,
    shapers: Mutex<Vec<Shaper>>,
    /// False where temporary files cannot be had.
    has_files: bool,
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
            fonts: Arc::new(fonts::load(settings)),
            shapers: Mutex::default(),
            has_files: true,
            isolation: None,
            strangers: None,
            helpers: Arc::new(HelperModules::new(None)),
        }
    }

    /// An engine that reads and writes no files from here on.
    pub(crate) fn resident(settings: &FontSettings) -> Self {
        Self {
            fonts: Arc::new(fonts::load_resident(settings)),
            shapers: Mutex::default(),
            has_files: false,
            isolation: None,
            strangers: None,
            helpers: Arc::new(HelperModules::in_cell()),
        }
    }

    /// The same engine, whose [`Engine::render_source`] renders in sandboxes.
    #[must_use]
    pub fn with_isolation(self, isolation: Isolation) -> Self {
        Self {
            isolation: Some(Arc::new(isolation)),
            ..self
        }
    }

    /// The same engine, which reads in sandboxes what strangers bring: [`Engine::render_inline`] and
    /// [`Engine::validate`].
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

    /// As [`Engine::render_source`], for a template that a stranger brings.
    ///
    /// # Errors
    /// As there.
    pub fn render_inline(
        &self,
        source: &[u8],
        data: Json,
        formats: &[Format],
        options: &RenderOptions,
    ) -> Result<Vec<Rendered>, Error> {
        match self.isolation_of_strangers() {
            Some(isolation) => {
                let data = data.to_string();
                isolation.render(self, source, data.as_bytes(), formats, options)
            }
            None => self.render_all(&self.compile(source)?, data, formats, options),
        }
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

    /// Reads the template in `source` and renders `data`: in a sandbox where there are some.
    ///
    /// # Errors
    /// As [`Engine::compile`] and [`Engine::render`].
    pub fn render_source(
        &self,
        source: &[u8],
        data: Json,
        formats: &[Format],
        options: &RenderOptions,
    ) -> Result<Vec<Rendered>, Error> {
        match &self.isolation {
            Some(isolation) => {
                let data = data.to_string();
                isolation.render(self, source, data.as_bytes(), formats, options)
            }
            None => self.render_all(&self.compile(source)?, data, formats, options),
        }
    }

    /// The fonts at hand.
    pub fn fonts(&self) -> impl Iterator<Item = &FaceInfo> {
        self.fonts.faces()
    }

    /// True where a family of this name, or one that stands in for it, is there.
    #[must_use]
    pub fn has_family(&self, family: &str) -> bool {
        self.fonts.has_family(family)
    }

    /// Reads and checks a template.
    ///
    /// # Errors
    /// [`Error::Mistakes`] with all of them.
    pub fn compile(&self, source: &[u8]) -> Result<CompiledTemplate, Error> {
        let template = platen_document::parse_template(source).map_err(Error::Mistakes)?;
        let template = platen_document::compile(template).map_err(Error::Mistakes)?;
        self.helpers.check(&template)?;
        Ok(template)
    }

    /// The world of a rendering of a template with `helpers`.
    pub(crate) fn host(&self, helpers: Option<&str>, options: &RenderOptions) -> FolderHost {
        let mut host = FolderHost {
            folder: options.assets.clone(),
            now_unix_seconds: options.now_unix_seconds,
            helpers: None,
        };
        let now = host.now_unix_seconds();
        host.helpers = self.helpers.of(helpers, now, options.stop.as_ref());
        host
    }

    /// Renders `data` with `template`.
    ///
    /// # Errors
    /// [`Error::Mistakes`] for mistakes in the data; other kinds as their names say.
    pub fn render(
        &self,
        template: &CompiledTemplate,
        data: Json,
        format: Format,
        options: &RenderOptions,
    ) -> Result<Rendered, Error> {
        let mut rendered = self.render_all(template, data, &[format], options)?;
        rendered
            .pop()
            .ok_or_else(|| Error::Bug("no document was made".to_owned()))
    }

    /// Renders `data` in several formats, binding and laying out once. In the order of `formats`.
    ///
    /// # Errors
    /// As [`Engine::render`], for the first format that fails.
    pub fn render_all(
        &self,
        template: &CompiledTemplate,
        data: Json,
        formats: &[Format],
        options: &RenderOptions,
    ) -> Result<Vec<Rendered>, Error> {
        let host = self.host(template.template().helpers.as_deref(), options);
        self.render_within(template, data, formats, options, &host)
    }

    /// As [`Engine::render_all`], in the world of `host`.
    pub(crate) fn render_within(
        &self,
        template: &CompiledTemplate,
        data: Json,
        formats: &[Format],
        options: &RenderOptions,
        host: &dyn Host,
    ) -> Result<Vec<Rendered>, Error> {
        let bounds = Bounds {
            stop: options.stop.clone(),
            memory: options.memory_bytes.map(memory_bound),
            ..Bounds::default()
        };
        let job = || work::run(bounds, || self.run(template, data, formats, options, host));
        let done = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| {
            let panic = work::resume(panic);
            let message = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned());
            Ok(Err(Error::Bug(
                message.unwrap_or_else(|| "a job panicked".to_owned()),
            )))
        });
        done.unwrap_or_else(|interruption| {
            if options.memory_bytes.is_some() {
                platen_jail::return_free_memory();
            }
            Err(Error::from(interruption))
        })
    }

    fn run(
        &self,
        template: &CompiledTemplate,
        data: Json,
        formats: &[Format],
        options: &RenderOptions,
        host: &dyn Host,
    ) -> Result<Vec<Rendered>, Error> {
        let mut clock = Clock::start(options.stop.clone());
        let bind_options = BindOptions {
            locale: options.locale.clone(),
            time_zone: options.time_zone.clone(),
            paper_size: options.paper_size.clone(),
            orientation: options.orientation,
            ..BindOptions::default()
        };
        let mut document =
            platen_document::bind(template, &data, &bind_options, host).map_err(Error::Mistakes)?;
        // Long tables weigh: each stage lets go of what the next does not need.
        drop(data);
        clock.mark("bind")?;
        let mut pages = None;
        if formats.iter().any(|format| needs_pages(*format, &document)) {
            let mut shaper = self.take_shaper();
            let layout = platen_layout::layout(&document, &mut shaper, options.stop.as_deref());
            clock.mark("layout")?;
            pages = Some((shaper, layout));
            if formats.iter().all(|format| is_paged(*format)) {
                document.sections.clear();
            }
        }
        let mut rendered = Vec::with_capacity(formats.len());
        for (index, format) in formats.iter().enumerate() {
            let shared = clock.stages.clone();
            let last = index + 1 == formats.len();
            let mut one = self.write(&document, pages.as_mut(), *format, last, options)?;
            clock.mark("write")?;
            one.stages = std::mem::replace(&mut clock.stages, shared);
            rendered.push(one);
        }
        if let Some((shaper, _)) = pages {
            self.give_shaper(shaper);
        }
        Ok(rendered)
    }

    fn write(
        &self,
        document: &Document,
        pages: Option<&mut (Shaper, Layout)>,
        format: Format,
        last: bool,
        options: &RenderOptions,
    ) -> Result<Rendered, Error> {
        let mut warnings = document.warnings.clone();
        let mut count = None;
        let bytes = match (format, pages) {
            (Format::Pdf | Format::Png | Format::Svg, Some((shaper, layout))) => {
                // What a page cannot show is not left out of a document that says it is whole.
                if layout.warnings.iter().any(Diagnostic::is_error) {
                    return Err(Error::Mistakes(layout.warnings.clone()));
                }
                warnings.extend(layout.warnings.iter().cloned());
                count = Some(layout.pages.len() as u32);
                if format == Format::Pdf {
                    let (bytes, more) = write_pdf(document, shaper, layout, last, options)?;
                    warnings.extend(more);
                    bytes
                } else {
                    write_picture(document, shaper, layout, format, options)?
                }
            }
            (other, pages) => {
                let layout = pages.map(|(_, layout)| &*layout);
                let written = write_plain(document, layout, other, options, self.has_files)?;
                warnings.extend(written.warnings);
                written.bytes
            }
        };
        Ok(Rendered {
            bytes,
            format,
            pages: count,
            warnings,
            stages: Vec::new(),
        })
    }

    fn take_shaper(&self) -> Shaper {
        let mut shapers = self.shapers.lock().unwrap_or_else(PoisonError::into_inner);
        shapers
            .pop()
            .unwrap_or_else(|| Shaper::new(Arc::clone(&self.fonts)))
    }

    fn give_shaper(&self, shaper: Shaper) {
        let mut shapers = self.shapers.lock().unwrap_or_else(PoisonError::into_inner);
        if shapers.len() < MAX_IDLE_SHAPERS && !shaper.is_full() {
            shapers.push(shaper);
        }
    }
}

/// Durations of the stages, and the wish to stop.
struct Clock {
    last: Instant,
    stages: Vec<Stage>,
    stop: Option<Arc<AtomicBool>>,
}

impl Clock {
    fn start(stop: Option<Arc<AtomicBool>>) -> Self {
        Self {
            last: Instant::now(),
            stages: Vec::new(),
            stop,
        }
    }

    fn mark(&mut self, name: &'static str) -> Result<(), Error> {
        let now = Instant::now();
        self.stages.push(Stage {
            name,
            duration: now - self.last,
        });
        self.last = now;
        match &self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(Error::Stopped),
            _ => Ok(()),
        }
    }
}
