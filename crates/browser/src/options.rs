//! A job: a document or an address, what to wait for, and the output.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use platen_pool::{Key, Lane};
use regex::{Regex, RegexBuilder};
use serde::Serialize;

use crate::error::Error;

/// CSS pixels per inch.
pub const CSS_PIXELS_PER_INCH: f64 = 96.0;
/// Maximum side of a sheet, in inches: the limit of PDF readers.
pub(crate) const MAX_SIDE_INCHES: f64 = 200.0;
/// Maximum number of pixels of an image.
const MAX_PIXELS: f64 = 64e6;

/// A file that the page may load by its name relative to the document.
#[derive(Clone, Debug)]
pub struct File {
    /// Its media type, such as `text/css`.
    pub media_type: String,
    /// Its content.
    pub bytes: Bytes,
}

/// The files of a document.
pub trait Files: Send + Sync + std::fmt::Debug {
    /// The file called `name`, relative to the document and percent-decoded.
    fn file(&self, name: &str) -> Option<File>;
}

impl Files for BTreeMap<String, File> {
    fn file(&self, name: &str) -> Option<File> {
        self.get(name).cloned()
    }
}

/// What is printed.
#[derive(Clone, Debug)]
pub enum Source {
    /// A document and its files. None of it is written to disk.
    Document {
        /// The HTML.
        html: String,
        /// The files.
        files: Arc<dyn Files>,
    },
    /// A URL on an allowed host.
    Address(String),
}

/// What to wait for after the page and its resources have loaded.
#[derive(Clone, Debug, PartialEq)]
pub enum Wait {
    /// No request has been in flight for half a second.
    NetworkIdle,
    /// No more than two requests have been in flight for half a second.
    NetworkAlmostIdle,
    /// A fixed time.
    Delay(Duration),
    /// An element that matches this CSS selector exists.
    Selector(String),
    /// A JavaScript expression, or the promise that it returns, becomes truthy. Only if scripts
    /// run.
    Expression(String),
    /// The same, but the result `undefined` is an error, as in Gotenberg.
    DefinedExpression(String),
}

/// The media type for style sheets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `print`.
    Print,
    /// `screen`.
    Screen,
}

/// A cookie for requests to allowed hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The host without a port (RFC 6265, section 8.5); with a leading dot, its subdomains too.
    pub domain: String,
    /// The path that it is for, and all below it; it begins with `/`.
    pub path: String,
    /// Whether only requests by HTTPS get it.
    pub secure: bool,
    /// Whether it is hidden from scripts.
    pub http_only: bool,
    /// What scripts and Chromium are to know of requests of other sites. Platen's own requests get
    /// the cookie in any case.
    pub same_site: Option<SameSite>,
}

/// Which requests of other sites get a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameSite {
    /// None of them.
    Strict,
    /// Only those that lead to the site.
    Lax,
    /// All of them.
    None,
}

/// An additional header of requests to allowed hosts.
#[derive(Clone, Debug)]
pub struct ExtraHeader {
    name: String,
    value: String,
    /// Which URLs get the header; all if `None`.
    scope: Option<Scope>,
}

/// Maximum size of the compiled expression of a scope, in bytes.
const MAX_SCOPE_BYTES: usize = 1 << 20;

/// Which URLs get a header: those that match a regular expression, in linear time.
#[derive(Clone, Debug)]
pub struct Scope(Regex);

impl Scope {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Why it is none.
    pub fn new(expression: &str) -> Result<Self, String> {
        RegexBuilder::new(expression)
            .size_limit(MAX_SCOPE_BYTES)
            .build()
            .map(Self)
            .map_err(|error| error.to_string())
    }
}

impl ExtraHeader {
    /// A header for the URLs of a scope, or for all.
    ///
    /// # Errors
    /// Only the HTTP client may set the header.
    pub fn new(name: &str, value: &str, scope: Option<Scope>) -> Result<Self, Error> {
        if platen_outbound::is_reserved(name) {
            let problem = format!("Platen sets `{name}` itself: omit it");
            return Err(Error::bad_option("extraHttpHeaders", problem));
        }
        Ok(Self {
            name: name.to_owned(),
            value: value.to_owned(),
            scope,
        })
    }

    /// The name of the program that all requests get, which scripts of the page are to read, too.
    pub(crate) fn user_agent(&self) -> Option<&str> {
        let is_it = self.scope.is_none() && self.name.eq_ignore_ascii_case("user-agent");
        is_it.then_some(&self.value)
    }

    /// Name and value, if requests to `url` get the header.
    pub(crate) fn of(&self, url: &str) -> Option<(String, String)> {
        let is_meant = self
            .scope
            .as_ref()
            .is_none_or(|scope| scope.0.is_match(url));
        is_meant.then(|| (self.name.clone(), self.value.clone()))
    }
}

/// How a page is loaded.
#[derive(Clone, Debug, Default)]
pub struct PageOptions {
    /// Whether the page's scripts run.
    pub java_script: bool,
    /// Conditions to wait for, one after the other.
    pub wait: Vec<Wait>,
    /// The media; if `None`, `print` for PDF and `screen` for images.
    pub media: Option<Media>,
    /// Media features, such as `prefers-color-scheme`, and their values.
    pub media_features: Vec<(String, String)>,
    /// Additional headers of requests to allowed hosts.
    pub extra_headers: Vec<ExtraHeader>,
    /// Cookies of requests to allowed hosts.
    pub cookies: Vec<Cookie>,
    /// Whether to report what the page writes to its console.
    pub gather_console: bool,
    /// Whether exceptions of the page are errors.
    pub fail_on_exceptions: bool,
    /// Whether denied requests are errors.
    pub fail_on_denied: bool,
}

/// Sheet, margins and content of a PDF. Lengths are in inches.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PdfOptions {
    /// Landscape orientation.
    pub landscape: bool,
    /// Whether background colors and images are printed.
    pub print_background: bool,
    /// Without `print_background`: whether elements keep their backgrounds, so that only that of the
    /// whole page (`html` and `body`) is left out.
    #[serde(skip)]
    pub keeps_element_backgrounds: bool,
    /// Scale of the content, from 0.1 to 2.
    pub scale: f64,
    /// Width of the sheet, in inches.
    #[serde(rename = "paperWidth")]
    pub paper_width_inches: f64,
    /// Height of the sheet, in inches.
    #[serde(rename = "paperHeight")]
    pub paper_height_inches: f64,
    /// Top margin, in inches.
    #[serde(rename = "marginTop")]
    pub margin_top_inches: f64,
    /// Bottom margin, in inches.
    #[serde(rename = "marginBottom")]
    pub margin_bottom_inches: f64,
    /// Left margin, in inches.
    #[serde(rename = "marginLeft")]
    pub margin_left_inches: f64,
    /// Right margin, in inches.
    #[serde(rename = "marginRight")]
    pub margin_right_inches: f64,
    /// Pages to print, such as `1-3, 5`; all if empty.
    pub page_ranges: String,
    /// Whether `@page` sizes of the style sheet take precedence.
    #[serde(rename = "preferCSSPageSize")]
    pub prefer_css_page_size: bool,
    /// Whether the PDF is tagged, for accessibility.
    #[serde(rename = "generateTaggedPDF")]
    pub tagged: bool,
    /// Whether headings become bookmarks.
    #[serde(rename = "generateDocumentOutline")]
    pub outline: bool,
    /// HTML above each page. Chromium fills in elements with the classes `pageNumber`,
    /// `totalPages`, `title`, `date` and `url`.
    pub header_template: String,
    /// HTML below each page.
    pub footer_template: String,
    /// Makes the sheet as high as the page, so that there are no automatic page breaks. `@page`
    /// sizes and the paper height are ignored.
    #[serde(skip)]
    pub single_page: bool,
}

impl Default for PdfOptions {
    fn default() -> Self {
        Self {
            landscape: false,
            print_background: true,
            keeps_element_backgrounds: false,
            scale: 1.0,
            paper_width_inches: 210.0 / 25.4,
            paper_height_inches: 297.0 / 25.4,
            margin_top_inches: 0.4,
            margin_bottom_inches: 0.4,
            margin_left_inches: 0.4,
            margin_right_inches: 0.4,
            page_ranges: String::new(),
            prefer_css_page_size: true,
            tagged: true,
            outline: false,
            header_template: String::new(),
            footer_template: String::new(),
            single_page: false,
        }
    }
}

impl PdfOptions {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if !(0.1..=2.0).contains(&self.scale) {
            return Err(Error::bad_option("scale", "it must be from 0.1 to 2"));
        }
        let sides = [
            ("paperWidth", self.paper_width_inches),
            ("paperHeight", self.paper_height_inches),
        ];
        for (option, side) in sides {
            if !(0.1..=MAX_SIDE_INCHES).contains(&side) {
                return Err(Error::bad_option(
                    option,
                    "it must be from 0.1 to 200 inches",
                ));
            }
        }
        let margins = [
            (
                "marginTop",
                self.margin_top_inches,
                self.paper_height_inches,
            ),
            (
                "marginBottom",
                self.margin_bottom_inches,
                self.paper_height_inches,
            ),
            (
                "marginLeft",
                self.margin_left_inches,
                self.paper_width_inches,
            ),
            (
                "marginRight",
                self.margin_right_inches,
                self.paper_width_inches,
            ),
        ];
        for (option, margin, side) in margins {
            let longest = if self.landscape {
                MAX_SIDE_INCHES
            } else {
                side
            };
            if !(0.0..longest).contains(&margin) {
                return Err(Error::bad_option(option, "it must fit on the sheet"));
            }
        }
        let is_range = |character: char| character.is_ascii_digit() || "-, ".contains(character);
        if !self.page_ranges.chars().all(is_range) || self.page_ranges.len() > 1000 {
            return Err(Error::bad_option("pageRanges", "write it as `1-3, 5`"));
        }
        Ok(())
    }
}

/// An image format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP.
    WebP,
}

impl PictureFormat {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::WebP => "webp",
        }
    }
}

/// A part of a page, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// Distance from the left.
    pub x: f64,
    /// Distance from the top.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// An image of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureOptions {
    /// The format.
    pub format: PictureFormat,
    /// From 0 to 100, for JPEG and WebP.
    pub quality: Option<u8>,
    /// Width of the viewport, in CSS pixels.
    pub width: u32,
    /// Height of the viewport, in CSS pixels.
    pub height: u32,
    /// Image pixels per CSS pixel.
    pub scale: f64,
    /// Whether to capture the whole page rather than only the viewport.
    pub full_page: bool,
    /// A part of the page; takes precedence over `full_page`.
    pub clip: Option<Clip>,
    /// Selector of the element to capture; takes precedence over both.
    pub selector: Option<String>,
    /// Whether to omit the white background of the page.
    pub transparent: bool,
}

impl Default for PictureOptions {
    fn default() -> Self {
        Self {
            format: PictureFormat::Png,
            quality: None,
            width: 800,
            height: 600,
            scale: 1.0,
            full_page: true,
            clip: None,
            selector: None,
            transparent: false,
        }
    }
}

impl PictureOptions {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let (width, height) = (f64::from(self.width), f64::from(self.height));
        if !(1.0..=10_000.0).contains(&width) || !(1.0..=10_000.0).contains(&height) {
            return Err(Error::bad_option(
                "width",
                "sides must be from 1 to 10000 pixels",
            ));
        }
        if !(0.1..=4.0).contains(&self.scale) {
            return Err(Error::bad_option("scale", "it must be from 0.1 to 4"));
        }
        if self.quality.is_some_and(|quality| quality > 100) {
            return Err(Error::bad_option("quality", "it must be from 0 to 100"));
        }
        if let Some(clip) = self.clip {
            let sound = [clip.x, clip.y].iter().all(|value| *value >= 0.0)
                && [clip.width, clip.height].iter().all(|value| *value >= 1.0);
            if !sound {
                return Err(Error::bad_option(
                    "clip",
                    "it must have a size of a pixel at least",
                ));
            }
        }
        self.check_pixels(width, height)
    }

    pub(crate) fn check_pixels(&self, width: f64, height: f64) -> Result<(), Error> {
        if width * height * self.scale * self.scale > MAX_PIXELS {
            let problem = "the picture would have more than 64 million pixels";
            return Err(Error::bad_option("scale", problem));
        }
        Ok(())
    }
}

/// The kind of output.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A PDF.
    Pdf(PdfOptions),
    /// An image.
    Picture(PictureOptions),
}

/// One job.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is printed.
    pub source: Source,
    /// How the page is loaded.
    pub page: PageOptions,
    /// The kind of output.
    pub output: Output,
    /// The lane: interactive or batch.
    pub lane: Lane,
    /// Timeout of the whole job, including the wait for a slot.
    pub timeout: Duration,
    /// Identifies the input, so that one that keeps crashing Chromium is refused.
    pub key: Option<Key>,
}

impl Job {
    /// Rejects invalid options before anything is started.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.output {
            Output::Pdf(options) => options.check()?,
            Output::Picture(options) => options.check()?,
        }
        for wait in &self.page.wait {
            if matches!(wait, Wait::Expression(_) | Wait::DefinedExpression(_))
                && !self.page.java_script
            {
                return Err(Error::bad_option(
                    "waitForExpression",
                    "it needs scripts to run",
                ));
            }
        }
        Ok(())
    }
}
