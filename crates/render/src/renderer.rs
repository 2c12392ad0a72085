//! Renders template and data to bytes: bind, lay out if the format needs it, write.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use platen_document::{
    BindOptions, CompiledTemplate, Diagnostic, Host,
    bound::Document,
    work::{self, Bounds},
};
use platen_fonts::FontSettings;
use platen_layout::{FaceInfo, FontFamily, FontLibrary, Layout, LayoutOptions, Shaper};
use serde_json::Value as Json;

use crate::{
    Error, Format, RenderOptions,
    drawing_host::DrawingHost,
    fonts::{self, MapFile},
    preview,
    stored_fonts::StoredFonts,
    unused_options::{Medium, unused_options},
    write::{is_paged, needs_pages, write_pdf, write_picture, write_plain},
};

/// Shapers kept for later jobs; each holds a cache of words.
const MAX_IDLE_SHAPERS: usize = 16;

/// A stage of a job and its duration.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// `bind`, `layout` or `write`.
    pub name: &'static str,
    /// Duration of the stage.
    pub duration: Duration,
}

/// A rendered document.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Its format.
    pub format: Format,
    /// Number of pages, for formats that have them.
    pub pages: Option<u32>,
    /// Deviations from the template.
    pub warnings: Vec<Diagnostic>,
    /// Duration of each stage.
    pub stages: Vec<Stage>,
}

/// Renders documents, many concurrently.
pub struct Renderer {
    fonts: Arc<FontLibrary>,
    shapers: Mutex<Vec<Shaper>>,
    stored: StoredFonts,
    /// False if the process cannot create temporary files.
    has_files: bool,
}

impl Renderer {
    /// A renderer with the fonts that `settings` names.
    #[must_use]
    pub fn new(settings: &FontSettings) -> Self {
        Self {
            fonts: Arc::new(fonts::load(settings)),
            shapers: Mutex::default(),
            stored: StoredFonts::default(),
            has_files: true,
        }
    }

    /// A renderer that reads and writes no files from now on: `map` maps the fonts that `settings`
    /// names.
    #[must_use]
    pub fn resident(settings: &FontSettings, map: MapFile) -> Self {
        Self {
            fonts: Arc::new(fonts::load_resident(settings, map)),
            shapers: Mutex::default(),
            stored: StoredFonts::default(),
            has_files: false,
        }
    }

    /// The available fonts.
    pub fn fonts(&self) -> impl Iterator<Item = &FaceInfo> {
        self.fonts.faces()
    }

    /// The families of the available fonts, sorted. Reads the characters of each family.
    #[must_use]
    pub fn families(&self) -> Vec<FontFamily> {
        self.fonts.families()
    }

    /// True if the family, or a substitute for it, is available.
    #[must_use]
    pub fn has_family(&self, family: &str) -> bool {
        self.fonts.has_family(family)
    }

    /// Renders `data` with `template`.
    ///
    /// # Errors
    /// [`Error::Mistakes`] for errors in the data; otherwise the variant names the cause.
    pub fn render(
        &self,
        template: &CompiledTemplate,
        data: Json,
        format: Format,
        options: &RenderOptions,
        host: &dyn Host,
    ) -> Result<Rendered, Error> {
        let mut rendered = self.render_all(template, data, &[format], options, host)?;
        rendered
            .pop()
            .ok_or_else(|| Error::Bug("no document was made".to_owned()))
    }

    /// Renders `data` in several formats, in the order of `formats`, but binds and lays out once.
    /// Assets, the clock and helpers come from `host`.
    ///
    /// # Errors
    /// As [`Renderer::render`], for the first format that fails.
    pub fn render_all(
        &self,
        template: &CompiledTemplate,
        data: Json,
        formats: &[Format],
        options: &RenderOptions,
        host: &dyn Host,
    ) -> Result<Vec<Rendered>, Error> {
        let bounds = Bounds {
            stop: options.stop.clone(),
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
        done.unwrap_or_else(|interruption| Err(Error::from(interruption)))
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
        let host = DrawingHost {
            host,
            shaper: Mutex::new(self.take_shaper()),
        };
        let bound = platen_document::bind(template, &data, &bind_options, &host);
        self.give_shaper(host.shaper.into_inner());
        let host = host.host;
        let mut document = bound.map_err(Error::Mistakes)?;
        // Long tables need a lot of memory: each stage frees what the next one does not need.
        drop(data);
        clock.mark("bind")?;
        let mut pages = None;
        let layout_options = LayoutOptions {
            stop: options.stop.as_deref(),
            node_boxes: options.preview.is_some(),
        };
        if formats
            .iter()
            .any(|format| needs_pages(*format, &document, options))
        {
            let pins = &template.template().pins;
            let stored = self.stored.of(&self.fonts, &document, pins, host);
            let mut shaper = stored.map_or_else(|| self.take_shaper(), Shaper::new);
            let layout = platen_layout::layout(&document, &mut shaper, layout_options);
            clock.mark("layout")?;
            pages = Some((shaper, layout));
            if formats.iter().all(|format| is_paged(*format)) {
                document.sections.clear();
            }
        }
        let unused = unused_options(options, formats, Medium::Native);
        let mut rendered = Vec::with_capacity(formats.len());
        for (index, format) in formats.iter().enumerate() {
            let shared = clock.stages.clone();
            let last = index + 1 == formats.len();
            let mut one = self.write(&document, pages.as_mut(), *format, last, options)?;
            one.warnings.extend_from_slice(&unused);
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
                // Content that a page cannot show must not be missing silently: fail instead.
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
                    warnings.extend(platen_formats::picture::loss(document));
                    match options.preview {
                        Some(shown) => {
                            preview::write(document, shaper, layout, format, shown, options)?
                        }
                        None => write_picture(document, shaper, layout, format, options)?,
                    }
                }
            }
            (other, pages) => {
                let pages = pages.map(|pages| &*pages);
                let written = write_plain(document, pages, other, options, self.has_files)?;
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
        let mut shapers = self.shapers.lock();
        shapers
            .pop()
            .unwrap_or_else(|| Shaper::new(Arc::clone(&self.fonts)))
    }

    fn give_shaper(&self, shaper: Shaper) {
        if !Arc::ptr_eq(shaper.library(), &self.fonts) {
            // It has fonts that only its document names.
            return;
        }
        let mut shapers = self.shapers.lock();
        if shapers.len() < MAX_IDLE_SHAPERS && !shaper.is_full() {
            shapers.push(shaper);
        }
    }
}

/// Stage durations and the stop flag.
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

/// Reads and checks a template, but not whether its helpers exist.
///
/// # Errors
/// [`Error::Mistakes`] with every error in the template.
pub fn compile(source: &[u8]) -> Result<CompiledTemplate, Error> {
    platen_document::compile_source(source).map_err(Error::Mistakes)
}
