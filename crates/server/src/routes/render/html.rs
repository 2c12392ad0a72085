//! HTML pages to PDF: the page and its files in the request, the PDF streamed in the response.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{body::Body, extract::State, response::Response};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper::HeaderMap;
use platen_browser::{Job, Lane, Output, PageOptions, PdfOptions, Source, Wait};
use platen_document::{Length, template::PaperSize};
use platen_engine::{PrintedDocument, media_type_of};
use platen_fault::Code;
use platen_render::{Disposition, Format};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{RenderApi, response::stream_headers};
use crate::{
    intake::{body, content::Content, multipart},
    problem::Problem,
    rendering::{
        printed::PrintedBody,
        resources::{PageResources, SpooledFile},
    },
    results::OutputRequest,
};

/// A page to print. As a form, `html` and `css` may be fields or files (`index.html`), `header`
/// and `footer` too, `options` and `output` are fields of JSON, and all other files stand beside the
/// page.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HtmlRequest {
    /// The page. Expressions in it are not evaluated.
    html: String,
    /// A style sheet to add to the page.
    css: Option<String>,
    /// HTML at the top of every sheet. Chromium fills elements with the classes `pageNumber`,
    /// `totalPages`, `title`, `date` and `url`.
    header: Option<String>,
    /// HTML at the bottom of every sheet.
    footer: Option<String>,
    /// Files that the page may load, by name, in base64.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Print options.
    #[serde(default)]
    options: HtmlOptions,
    /// Delivery of the PDF; by default it is the response.
    output: Option<OutputRequest>,
}

/// Print options of an HTML page.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct HtmlOptions {
    /// Paper size; A4 by default.
    paper_size: Option<PaperSize>,
    /// Landscape orientation.
    landscape: bool,
    /// Top margin; 10 mm by default.
    margin_top: Option<Length>,
    /// Bottom margin; 10 mm by default.
    margin_bottom: Option<Length>,
    /// Left margin; 10 mm by default.
    margin_left: Option<Length>,
    /// Right margin; 10 mm by default.
    margin_right: Option<Length>,
    /// Prints background colors and images; true by default.
    print_background: Option<bool>,
    /// Scale factor from 0.1 to 2.
    scale: Option<f64>,
    /// Pages to print, such as `1-3, 5`.
    page_ranges: Option<String>,
    /// Uses page sizes from `@page` rules; true by default.
    prefer_css_page_size: Option<bool>,
    /// Tags the structure; true by default.
    tagged: Option<bool>,
    /// Bookmarks from headings.
    outline: bool,
    /// Runs the page's scripts.
    java_script: bool,
    /// Waits until the network has been idle for half a second.
    wait_for_network_idle: bool,
    /// Waits for this time, in milliseconds.
    wait_delay_ms: Option<u64>,
    /// Waits for an element that matches this CSS selector.
    wait_for_selector: Option<String>,
    /// Waits until this JavaScript expression is true.
    wait_for_expression: Option<String>,
    /// Treats requests that are not allowed as errors.
    fail_on_denied: bool,
    /// Treats exceptions in scripts as errors.
    fail_on_exceptions: bool,
    /// File name; `document.pdf` by default.
    filename: Option<String>,
    /// Whether a browser displays or downloads the file.
    disposition: Option<Disposition>,
}

/// Prints an HTML page.
pub(crate) async fn create_html_render(
    State(api): State<RenderApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let start = Instant::now();
    let (request, files, _room) = match multipart::boundary(&headers) {
        Some(boundary) => {
            let (fields, room) = multipart::read(&api.intake, &headers, body, &boundary).await?;
            let (request, files) = of_form(fields).await?;
            (request, files, room)
        }
        None => {
            let (bytes, room) = body::read_json(&api.intake, &headers, body).await?;
            let (request, files) = of_json(body::parse_long(bytes).await?)?;
            (request, files, room)
        }
    };
    let ttl_seconds = api.results.retention(request.output)?;
    let name = request.options.filename.as_deref().unwrap_or("document");
    let name = platen_render::file_name(name, Format::Pdf);
    let disposition = request.options.disposition;
    let job = job_of(request, files, api.renderer.timeout).await?;
    let printed = api.renderer.chromium.print(job).await;
    let outcome = printed
        .as_ref()
        .map_or_else(|problem| problem.code.name(), |_| "ok");
    api.renderer.metrics.rendered("pdf", outcome);
    let mut document = PrintedDocument::new(printed?, Format::Pdf);
    let warnings = std::mem::take(&mut document.warnings);
    let body = PrintedBody::pdf(&api.renderer.metrics, document, Vec::new());
    let mut response = Response::new(Body::new(body));
    stream_headers(
        &mut response,
        &name,
        disposition,
        &warnings,
        start.elapsed(),
    )?;
    api.results.keep(response, ttl_seconds).await
}

type Files = BTreeMap<String, SpooledFile>;

fn of_json(mut request: HtmlRequest) -> Result<(HtmlRequest, Files), Problem> {
    let mut files = Files::new();
    for (name, content) in std::mem::take(&mut request.files) {
        let bytes = STANDARD.decode(&content).map_err(|error| {
            let name: String = name.chars().take(80).collect();
            let detail = format!("the file `{name}` is not base64: {error}");
            Problem::new(Code::InvalidRequest, detail)
        })?;
        let media_type = media_type_of(&name).to_owned();
        let content = Content::Held(bytes.into());
        let file = SpooledFile {
            media_type,
            content,
        };
        files.insert(name, file);
    }
    Ok((request, files))
}

async fn of_form(fields: Vec<multipart::Field>) -> Result<(HtmlRequest, Files), Problem> {
    let mut request = HtmlRequest::default();
    let mut html = None;
    let mut files = Files::new();
    for field in fields {
        let file_name = field.file_name.as_deref().unwrap_or_default();
        match (field.name.as_str(), file_name) {
            ("html", _) | (_, "index.html") => html = Some(field.text().await?),
            ("css", "") => request.css = Some(field.text().await?),
            ("header", _) | (_, "header.html") => request.header = Some(field.text().await?),
            ("footer", _) | (_, "footer.html") => request.footer = Some(field.text().await?),
            ("options", _) => {
                request.options = serde_json::from_str(&field.text().await?)
                    .map_err(|error| body::problem(&error, "`options`"))?;
            }
            ("output", "") => {
                request.output = serde_json::from_str(&field.text().await?)
                    .map_err(|error| body::problem(&error, "`output`"))?;
            }
            (_, name) if !name.is_empty() => {
                let known = field
                    .media_type
                    .filter(|kind| kind != "application/octet-stream");
                let file = SpooledFile {
                    media_type: known.unwrap_or_else(|| media_type_of(name).to_owned()),
                    content: field.content,
                };
                files.insert(name.to_owned(), file);
            }
            (name, _) => {
                let name: String = name.chars().take(80).collect();
                let detail = format!("the form has an unknown field `{name}`");
                return Err(Problem::new(Code::InvalidRequest, detail));
            }
        }
    }
    request.html = html.ok_or_else(|| {
        let detail = "the form needs the page: a field `html` or a file `index.html`";
        Problem::new(Code::InvalidRequest, detail)
    })?;
    Ok((request, files))
}

async fn job_of(request: HtmlRequest, files: Files, timeout: Duration) -> Result<Job, Problem> {
    let options = request.options;
    let wait = wait_of(&options);
    let page = PageOptions {
        java_script: options.java_script,
        wait,
        fail_on_denied: options.fail_on_denied,
        fail_on_exceptions: options.fail_on_exceptions,
        ..PageOptions::default()
    };
    let html = platen_document::html::with_style(request.html, request.css.as_deref());
    let output = Output::Pdf(pdf_options(
        options,
        request.header.unwrap_or_default(),
        request.footer.unwrap_or_default(),
    )?);
    let files = Arc::new(PageResources(files));
    let key = files.key(&html, &output).await?;
    Ok(Job {
        source: Source::Document { html, files },
        page,
        output,
        lane: Lane::Batch,
        timeout,
        key: Some(key),
    })
}

fn wait_of(options: &HtmlOptions) -> Vec<Wait> {
    let mut wait = Vec::new();
    wait.extend(options.wait_for_selector.clone().map(Wait::Selector));
    wait.extend(options.wait_for_expression.clone().map(Wait::Expression));
    if options.wait_for_network_idle {
        wait.push(Wait::NetworkIdle);
    }
    let delay = options.wait_delay_ms.map(Duration::from_millis);
    wait.extend(delay.map(Wait::Delay));
    wait
}

fn pdf_options(
    options: HtmlOptions,
    header: String,
    footer: String,
) -> Result<PdfOptions, Problem> {
    let inches = |points: f32| f64::from(points) / 72.0;
    let margin =
        |length: Option<Length>| inches(length.unwrap_or(Length::millimetres(10.0)).to_points());
    let paper = options
        .paper_size
        .unwrap_or(PaperSize::Named("A4".to_owned()));
    let (width, height) = paper.dimensions().ok_or_else(|| {
        Problem::new(
            Code::InvalidRequest,
            "`paperSize` is not a known paper size",
        )
    })?;
    Ok(PdfOptions {
        landscape: options.landscape,
        print_background: options.print_background.unwrap_or(true),
        scale: options.scale.unwrap_or(1.0),
        paper_width_inches: inches(width),
        paper_height_inches: inches(height),
        margin_top_inches: margin(options.margin_top),
        margin_bottom_inches: margin(options.margin_bottom),
        margin_left_inches: margin(options.margin_left),
        margin_right_inches: margin(options.margin_right),
        page_ranges: options.page_ranges.unwrap_or_default(),
        prefer_css_page_size: options.prefer_css_page_size.unwrap_or(true),
        tagged: options.tagged.unwrap_or(true),
        outline: options.outline,
        header_template: header,
        footer_template: footer,
        ..PdfOptions::default()
    })
}
