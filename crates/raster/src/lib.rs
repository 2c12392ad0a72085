//! Draws pages of PDF files as PNG.
//!
//! The library that reads and draws them, hayro, has no bounds of its own: a page may take as long and
//! as much memory as it likes. So [`draw`] runs in a cell of the jail only.

mod encode;

use std::panic::{AssertUnwindSafe, catch_unwind};

use hayro::{
    RenderCache, RenderSettings,
    hayro_interpret::{InterpreterSettings, util::TransformExt},
    hayro_syntax::{Pdf, page::Page},
    kurbo::Affine,
    render_into,
    vello_cpu::{
        Pixmap, RasterizerSettings, RenderContext, Resources, TargetInit,
        color::palette::css::WHITE,
    },
};

/// Resolutions that pages can be drawn with, in dots per inch.
pub const DOTS_PER_INCH: std::ops::RangeInclusive<f32> = 10.0..=1200.0;
/// Maximum number of pixels of a page.
pub const MAX_PIXELS: u64 = 50_000_000;
/// Maximum width and height of a page, in pixels.
const MAX_SIDE: f32 = 32_000.0;
/// Points of an inch.
const POINTS: f32 = 72.0;

/// A page as a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageImage {
    /// Its number, from 1.
    pub page: u32,
    /// The PNG file.
    pub png: Vec<u8>,
}

impl PageImage {
    /// A name for its file: `report-1.png` for the first page of `report.pdf`.
    #[must_use]
    pub fn name(&self, file: &str) -> String {
        let stem = file.strip_suffix(".pdf").unwrap_or(file);
        format!("{stem}-{}.png", self.page)
    }
}

/// Why pages cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("the file cannot be read")]
    Damaged,
    /// The file has fewer pages than were found before.
    #[error("page {page} is not found")]
    NoPage {
        /// Its number, from 1.
        page: u32,
    },
    /// A page has too many pixels.
    #[error(
        "page {page} would have {width} × {height} pixels; at most {MAX_PIXELS} pixels and 32000 of \
         a side can be drawn: give fewer dots per inch"
    )]
    TooLarge {
        /// Its number, from 1.
        page: u32,
        /// Its width in pixels.
        width: u64,
        /// Its height in pixels.
        height: u64,
    },
    /// The library failed at a page.
    #[error("page {page} cannot be drawn")]
    Failed {
        /// Its number, from 1.
        page: u32,
    },
}

/// Draws `pages` of `file`, numbered from 1, on white, and gives each to `take` as soon as it is
/// drawn. Annotations and form fields are drawn as they look. Stops when `take` returns false.
///
/// # Errors
/// See [`Error`].
pub fn draw(
    file: Vec<u8>,
    pages: &[u32],
    dots_per_inch: f32,
    take: &mut dyn FnMut(PageImage) -> bool,
) -> Result<(), Error> {
    let pdf = catch_unwind(AssertUnwindSafe(|| Pdf::new(file)));
    let pdf = pdf.ok().and_then(Result::ok).ok_or(Error::Damaged)?;
    let cache = RenderCache::new();
    for &number in pages {
        let page = pdf.pages().get(number.saturating_sub(1) as usize);
        let page = page.ok_or(Error::NoPage { page: number })?;
        let drawn = AssertUnwindSafe(|| draw_page(page, &cache, number, dots_per_inch));
        let drawn = catch_unwind(drawn).unwrap_or(Err(Error::Failed { page: number }))?;
        if !take(drawn) {
            break;
        }
    }
    Ok(())
}

fn draw_page<'a>(
    page: &'a Page<'a>,
    cache: &RenderCache<'a>,
    number: u32,
    dots_per_inch: f32,
) -> Result<PageImage, Error> {
    let (width, height) = page.render_dimensions();
    let pixels = |points: f32| (points * dots_per_inch / POINTS).round().max(1.0);
    let (across, down) = (pixels(width), pixels(height));
    let fits = across <= MAX_SIDE
        && down <= MAX_SIDE
        && f64::from(across) * f64::from(down) <= MAX_PIXELS as f64;
    if !fits {
        return Err(Error::TooLarge {
            page: number,
            width: across as u64,
            height: down as u64,
        });
    }
    let mut context = RenderContext::new(across as u16, down as u16);
    // A page fills its pixels to the edge, whatever its size is in fractions of them.
    let scale = Affine::scale_non_uniform(
        f64::from(across) / f64::from(width),
        f64::from(down) / f64::from(height),
    );
    render_into(
        page,
        cache,
        &InterpreterSettings::default(),
        &RenderSettings::default(),
        &mut context,
        scale * page.initial_transform(true).to_kurbo(),
    );
    context.flush();
    let mut pixmap = Pixmap::new(across as u16, down as u16);
    let settings = RasterizerSettings {
        target_init: TargetInit::Clear(WHITE),
        ..RasterizerSettings::default()
    };
    context.render_with(&mut pixmap, &mut Resources::default(), settings);
    let png = encode::png(pixmap.data_as_u8_slice(), across as u32, dots_per_inch);
    Ok(PageImage {
        page: number,
        png: png.ok_or(Error::Failed { page: number })?,
    })
}
