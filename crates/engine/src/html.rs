//! HTML templates: binds a template to data and makes a job for Chromium.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use platen_browser::{
    File, Files, Job, Key, Lane, Output, PageOptions, PdfOptions, PictureOptions, Report, Source,
};
use platen_document::{
    BindOptions, CompiledHtml, CompiledTemplate, Diagnostic, Host, HtmlDocument,
    bind::media_type_of_picture, pins::Pins,
};
use platen_render::{FolderHost, Format, Medium, RenderOptions, Rendered, Stage, unused_options};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::{Engine, Error};

/// The media type of a name without a known extension.
const UNKNOWN: &str = "application/octet-stream";
/// Points per inch.
const POINTS: f64 = 72.0;

/// A template of either kind.
#[derive(Debug)]
pub enum Template {
    /// A template that Platen lays out.
    Document(Box<CompiledTemplate>),
    /// An HTML template that Chromium prints.
    Html(Box<CompiledHtml>),
}

impl Template {
    /// The template's key.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Document(template) => &template.template().key,
            Self::Html(template) => &template.template().key,
        }
    }

    /// The template's display name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Document(template) => &template.template().name,
            Self::Html(template) => &template.template().name,
        }
    }
}

/// A bound page, ready to print.
#[derive(Debug)]
pub struct Page {
    document: HtmlDocument,
    format: Format,
    dots_per_inch: f32,
    tagged: bool,
    files: FolderHost,
    pins: Pins,
    /// Duration of each stage.
    pub(crate) stages: Vec<Stage>,
}

/// The template's own files, then those of a folder, then stored ones.
#[derive(Debug)]
struct TemplateFiles {
    own: BTreeMap<String, File>,
    host: FolderHost,
    pins: Pins,
}

impl Files for TemplateFiles {
    fn file(&self, name: &str) -> Option<File> {
        if let Some(file) = self.own.get(name) {
            return Some(file.clone());
        }
        let bytes = self.host.asset(&self.pins.asset(name))?;
        // The name of a stored picture need not have an extension.
        let media_type = match media_type_of(name) {
            UNKNOWN => media_type_of_picture(&bytes).unwrap_or(UNKNOWN),
            known => known,
        };
        Some(File {
            media_type: media_type.to_owned(),
            bytes: bytes::Bytes::from_owner(bytes),
        })
    }
}

impl Engine {
    /// Reads and checks a template of either kind.
    ///
    /// # Errors
    /// [`Error::Render`] with every error.
    pub fn compile_any(&self, source: &[u8]) -> Result<Template, Error> {
        if platen_document::html::is_html_template(source) {
            let compiled = platen_document::parse_html_template(source);
            let compiled = compiled.map_err(Error::mistakes)?;
            self.helpers.check_html(&compiled)?;
            return Ok(Template::Html(Box::new(compiled)));
        }
        Ok(Template::Document(Box::new(self.compile(source)?)))
    }

    /// Binds an HTML template to data.
    ///
    /// # Errors
    /// [`Error::Mistakes`] for errors in the data and options that Chromium does not support,
    /// [`Error::NotFromHtml`] for other formats.
    pub(crate) fn bind_html(
        &self,
        template: &CompiledHtml,
        data: &Json,
        format: Format,
        options: &RenderOptions,
    ) -> Result<Page, Error> {
        if !matches!(format, Format::Pdf | Format::Png | Format::Html) {
            return Err(Error::NotFromHtml(format));
        }
        if format == Format::Pdf {
            check_pdf_options(options)?;
        }
        let host = self.host(template.template().helpers.as_deref(), options);
        let bind_options = BindOptions {
            locale: options.locale.clone(),
            time_zone: options.time_zone.clone(),
            paper_size: options.paper_size.clone(),
            orientation: options.orientation,
            ..BindOptions::default()
        };
        let bound = platen_document::bind_html(template, data, &bind_options, &host);
        host.complete()?;
        let mut document = bound.map_err(Error::mistakes)?;
        let unused = unused_options(options, &[format], Medium::Html);
        document.warnings.extend(unused);
        Ok(Page {
            document,
            format,
            dots_per_inch: options.dots_per_inch.unwrap_or(144.0),
            tagged: !options.untagged,
            files: FolderHost::of(options),
            pins: template.template().pins.clone(),
            stages: Vec::new(),
        })
    }
}

/// Rejects PDF options that Chromium does not support.
fn check_pdf_options(options: &RenderOptions) -> Result<(), Error> {
    let wrong = |member: &str, what: &str| {
        let message = format!("{what}: omit it, or use a template of kind `document`");
        let path = format!("/options/pdf/{member}");
        Diagnostic::error("unsupported-option", path, message)
    };
    let mut found = Vec::new();
    if options.standard.is_some() {
        let what = "a PDF printed by Chromium complies with no standard";
        found.push(wrong("standard", what));
    }
    if !options.attachments.is_empty() {
        found.push(wrong(
            "attachments",
            "a PDF printed by Chromium cannot have attachments",
        ));
    }
    match found.is_empty() {
        true => Ok(()),
        false => Err(Error::mistakes(found)),
    }
}

impl Page {
    /// The requested format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Deviations from the template.
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.document.warnings
    }

    /// The files besides the template's own, which Chromium reads while it prints the page.
    #[must_use]
    pub fn files(&self) -> &FolderHost {
        &self.files
    }

    pub(crate) fn take_warnings(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.document.warnings)
    }

    /// The bound HTML itself, for [`Format::Html`].
    pub(crate) fn into_html(self) -> Rendered {
        Rendered {
            bytes: self.document.html.into_bytes(),
            format: self.format,
            pages: None,
            warnings: self.document.warnings,
            stages: self.stages,
        }
    }

    /// The job for Chromium.
    #[must_use]
    pub(crate) fn into_job(self, lane: Lane, timeout: Duration) -> Job {
        let document = self.document;
        let sheet = document.sheet;
        let inches = |points: f32| f64::from(points) / POINTS;
        let output = if self.format == Format::Png {
            Output::Picture(PictureOptions {
                width: pixels(inches(sheet.width)),
                height: pixels(inches(sheet.height)),
                scale: f64::from(self.dots_per_inch) / platen_browser::CSS_PIXELS_PER_INCH,
                ..PictureOptions::default()
            })
        } else {
            let [top, right, bottom, left] = sheet.margins.map(inches);
            Output::Pdf(PdfOptions {
                print_background: sheet.background,
                scale: f64::from(sheet.scale),
                paper_width_inches: inches(sheet.width),
                paper_height_inches: inches(sheet.height),
                margin_top_inches: top,
                margin_right_inches: right,
                margin_bottom_inches: bottom,
                margin_left_inches: left,
                tagged: self.tagged,
                outline: self.tagged,
                header_template: document.header,
                footer_template: document.footer,
                ..PdfOptions::default()
            })
        };
        let own = document.files.into_iter().map(|file| {
            let bytes = bytes::Bytes::from_owner(file.bytes);
            let media_type = file.media_type;
            (file.name, File { media_type, bytes })
        });
        let own: BTreeMap<String, File> = own.collect();
        let named = own
            .iter()
            .map(|(name, file)| (name.as_str(), &file.bytes[..]));
        let key = key_of(&document.html, named, &output);
        Job {
            source: Source::Document {
                html: document.html,
                files: Arc::new(TemplateFiles {
                    own,
                    host: self.files,
                    pins: self.pins,
                }),
            },
            page: PageOptions {
                java_script: document.java_script,
                ..PageOptions::default()
            },
            output,
            lane,
            timeout,
            key: Some(key),
        }
    }
}

fn pixels(inches: f64) -> u32 {
    (inches * platen_browser::CSS_PIXELS_PER_INCH).round() as u32
}

/// Cache key of a page: a digest of its content, its files and its options.
#[must_use]
pub fn key_of<'a>(
    html: &str,
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    output: &Output,
) -> Key {
    let mut digest = Sha256::new();
    let mut add = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    };
    add(html.as_bytes());
    for (name, file) in files {
        add(name.as_bytes());
        add(file);
    }
    add(format!("{output:?}").as_bytes());
    Key(digest.finalize().into())
}

/// Converts Chromium's report to warnings about the template.
pub(crate) fn page_warnings(report: &Report) -> Vec<Diagnostic> {
    let missing = report.missing.iter().map(|name| {
        // Of an allowed host, with the reason.
        if name.contains("://") {
            let message = format!("the page could not load `{name}`");
            return Diagnostic::warning("missing-file", "", message);
        }
        let message = format!("the page requests `{name}`, which does not exist");
        Diagnostic::warning("missing-file", "", message)
            .with_hint("add it to `assets`, or store it: PUT /assets/{name}")
    });
    let denied = report.denied.iter().map(|address| {
        let message = format!("the page may not load `{address}`");
        Diagnostic::warning("address-denied", "", message)
            .with_hint("add it to `assets`, or allow the host in CHROMIUM_ALLOWED_HOSTS")
    });
    missing.chain(denied).collect()
}

/// The media type of a file name, by its extension.
#[must_use]
pub fn media_type_of(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "css" => "text/css",
        "html" | "htm" => "text/html",
        "js" | "mjs" => "text/javascript",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "txt" => "text/plain",
        "xml" => "text/xml",
        "pdf" => "application/pdf",
        _ => UNKNOWN,
    }
}
