//! `/forms/chromium/…`: HTML pages and URLs to PDF and images, with Gotenberg's fields.

use std::{collections::BTreeMap, sync::Arc};

use axum::{body::Body, response::Response};
use http_body_util::BodyExt;
use platen_browser::{
    Cookie, ExtraHeader, Job, Key, Lane, Media, Output, PageOptions, PdfOptions, PictureFormat,
    PictureOptions, Source, Wait,
};
use platen_engine::{PrintedDocument, key_of, media_type_of};
use platen_fault::Code;
use platen_render::Format;
use platen_server::{
    intake::content::Content,
    problem::Problem,
    rendering::{
        printed::PrintedBody,
        resources::{PageResources, SpooledFile},
    },
    respond::file_headers,
};
use serde::Deserialize;

use crate::{
    changes::Changes,
    form::{Form, FormRequest, text},
    markdown,
    post_process::{apply, file_name},
    stages::{Conversion, Stages},
    value::{Values, truth},
};

/// Names of fields in Gotenberg 9, and in Gotenberg 8.
const NEW_NAMES: [(&str, &str); 3] = [
    ("nativePages", "nativePageRanges"),
    ("nativeTaggedPdf", "generateTaggedPdf"),
    ("nativeBookmarks", "generateDocumentOutline"),
];

#[derive(Deserialize)]
struct FormCookie {
    name: String,
    value: String,
    domain: String,
}

#[derive(Deserialize)]
struct MediaFeature {
    name: String,
    value: String,
}

/// Media features: a list, or an object by their names.
#[derive(Deserialize)]
#[serde(untagged)]
enum MediaFeatures {
    List(Vec<MediaFeature>),
    Named(BTreeMap<String, String>),
}

impl Default for MediaFeatures {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl MediaFeatures {
    fn pairs(self) -> Vec<(String, String)> {
        match self {
            Self::List(list) => (list.into_iter())
                .map(|feature| (feature.name, feature.value))
                .collect(),
            Self::Named(named) => named.into_iter().collect(),
        }
    }
}

/// Output format and file name.
struct PageOutput {
    output: Output,
    extension: &'static str,
    media_type: &'static str,
}

/// Source of the page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    File,
    Markdown,
    Address,
}

/// Converts `index.html` and its files to PDF.
pub(crate) async fn convert_html(request: FormRequest) -> Result<Response, Problem> {
    respond(request, Origin::File, pdf).await
}

/// Converts a URL at an allowed host to PDF.
pub(crate) async fn convert_url(request: FormRequest) -> Result<Response, Problem> {
    respond(request, Origin::Address, pdf).await
}

/// Takes a screenshot of `index.html` and its files.
pub(crate) async fn screenshot_html(request: FormRequest) -> Result<Response, Problem> {
    respond(request, Origin::File, picture).await
}

/// Converts `index.html` with Markdown files to PDF.
pub(crate) async fn convert_markdown(request: FormRequest) -> Result<Response, Problem> {
    respond(request, Origin::Markdown, pdf).await
}

/// Takes a screenshot of `index.html` with Markdown files.
pub(crate) async fn screenshot_markdown(request: FormRequest) -> Result<Response, Problem> {
    respond(request, Origin::Markdown, picture).await
}

/// Takes a screenshot of a URL at an allowed host.
pub(crate) async fn screenshot_url(request: FormRequest) -> Result<Response, Problem> {
    respond(request, Origin::Address, picture).await
}

async fn respond(
    request: FormRequest,
    from: Origin,
    made: fn(&mut Values, HeaderFooter) -> Result<PageOutput, Problem>,
) -> Result<Response, Problem> {
    let FormRequest {
        api,
        context,
        headers,
        mut form,
    } = request;
    let header_footer = HeaderFooter::take(&mut form).await?;
    let PageOutput {
        output,
        extension,
        media_type,
    } = made(&mut form.values, header_footer)?;
    let page = page(&mut form.values)?;
    let changes = match extension {
        "pdf" => Changes::of(&mut form),
        _ => Changes::default(),
    };
    let conversion = Conversion::of_page(extension);
    let stages = Stages::of_conversion(&mut form, !changes.is_nothing(), conversion)?;
    let fail_on_console = form.values.truth("failOnConsoleExceptions", false);
    let fail_on_resource = form.values.truth("failOnResourceLoadingFailed", false);
    let failing = FailingStatuses::of(&mut form.values);
    form.values.refuse_restrictions()?;
    let (source, key) = source(&mut form, from, &output).await?;
    let job = Job {
        key: Some(key),
        source,
        page: PageOptions {
            fail_on_exceptions: fail_on_console,
            ..page
        },
        output,
        lane: Lane::Batch,
        timeout: api.render_timeout,
    };
    let printed = api.chromium.print(job).await?;
    let report = &printed.report;
    check_status(report.status, &failing.page)?;
    check_resources(&report.statuses, &failing.resources, &failing.ignored)?;
    if fail_on_resource {
        check_loaded(&report.missing, &report.denied)?;
    }
    let name = file_name(&context, &headers, extension);
    let body = match extension {
        "pdf" => {
            let document = PrintedDocument::new(printed, Format::Pdf);
            PrintedBody::pdf(&api.metrics, document, Vec::new())
        }
        _ => PrintedBody::plain(printed),
    };
    let body = Body::new(body);
    if extension == "pdf" && !(changes.is_nothing() && stages.is_empty()) {
        let whole = body.collect().await;
        let whole = whole.map_err(|error| Problem::internal(format!("a page: {error}")))?;
        let files = vec![(name, Content::Held(whole.to_bytes()))];
        let files = apply(&api, files, changes).await?;
        return stages.respond(&api, &context, &headers, files).await;
    }
    let mut response = Response::new(body);
    file_headers(&mut response, &name, media_type)?;
    Ok(response)
}

/// Returns 409 if resources are missing or were denied.
fn check_loaded(missing: &[String], denied: &[String]) -> Result<(), Problem> {
    if missing.is_empty() && denied.is_empty() {
        return Ok(());
    }
    let failed = [missing, denied].concat().join(", ");
    let detail = format!("the page could not load {failed}");
    Err(Problem::new(Code::ResourceFailed, detail))
}

/// Returns 409 if the page's own HTTP status is in `failing`. `499` and `599` stand for all 4xx and
/// 5xx and are the default.
fn check_status(status: Option<u16>, failing: &[u16]) -> Result<(), Problem> {
    let failing = if failing.is_empty() {
        &[499, 599]
    } else {
        failing
    };
    match status.filter(|status| is_in(*status, failing)) {
        Some(status) => {
            let detail = format!("the page came with the status {status}");
            Err(Problem::new(Code::PageStatus, detail))
        }
        None => Ok(()),
    }
}

/// HTTP statuses that fail a form.
struct FailingStatuses {
    page: Vec<u16>,
    resources: Vec<u16>,
    /// Domains whose resources may have any status.
    ignored: Vec<String>,
}

impl FailingStatuses {
    fn of(values: &mut Values) -> Self {
        Self {
            page: values.json("failOnHttpStatusCodes"),
            resources: values.json("failOnResourceHttpStatusCodes"),
            ignored: values.json("ignoreResourceHttpStatusDomains"),
        }
    }
}

/// Whether a list names a status, by itself or by its hundred: `499`.
fn is_in(status: u16, list: &[u16]) -> bool {
    let names = |one: &u16| *one == status || (one % 100 == 99 && one / 100 == status / 100);
    list.iter().any(names)
}

/// Returns 409 if a resource came with a status in `failing`, unless it is of an `ignored` domain or
/// one below it.
fn check_resources(
    statuses: &[(String, u16)],
    failing: &[u16],
    ignored: &[String],
) -> Result<(), Problem> {
    let is_ignored = |url: &str| {
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = host.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host = host
            .rsplit_once(':')
            .map_or(host, |(host, _)| host)
            .to_ascii_lowercase();
        ignored.iter().any(|domain| {
            let domain = domain.trim().trim_start_matches("*.").to_ascii_lowercase();
            let below = host.strip_suffix(&domain);
            !domain.is_empty() && below.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    };
    let failed: Vec<String> = (statuses.iter())
        .filter(|(url, status)| is_in(*status, failing) && !is_ignored(url))
        .map(|(url, status)| format!("{url} ({status})"))
        .collect();
    match failed.is_empty() {
        true => Ok(()),
        false => {
            let detail = format!(
                "resources came with a failing status: {}",
                failed.join(", ")
            );
            Err(Problem::new(Code::ResourceFailed, detail))
        }
    }
}

async fn source(form: &mut Form, from: Origin, output: &Output) -> Result<(Source, Key), Problem> {
    if from == Origin::Address {
        let address = form.values.needed("url");
        form.values.finish()?;
        let key = key_of(&address, [], output);
        return Ok((Source::Address(address), key));
    }
    let html = form.take_text("index.html").await?;
    if html.is_none() {
        form.values.mistake("form file 'index.html' is required");
    }
    form.values.finish()?;
    let html = html.unwrap_or_default();
    let html = match from {
        Origin::Markdown => {
            let mut texts = BTreeMap::new();
            for name in markdown::names(&html) {
                if let Some(content) = form.files.get(name) {
                    texts.insert(name.to_owned(), text(name, content.clone()).await?);
                }
            }
            markdown::fill(&html, &texts)?
        }
        Origin::File | Origin::Address => html,
    };
    let files = std::mem::take(&mut form.files).into_iter();
    let files = files.map(|(name, content)| {
        let media_type = media_type_of(&name).to_owned();
        let file = SpooledFile {
            media_type,
            content,
        };
        (name, file)
    });
    let files = Arc::new(PageResources(files.collect()));
    let key = files.key(&html, output).await?;
    Ok((Source::Document { html, files }, key))
}

fn page(values: &mut Values) -> Result<PageOptions, Problem> {
    let mut wait = Vec::new();
    if !values.truth("skipNetworkIdleEvent", true) {
        wait.push(Wait::NetworkIdle);
    }
    if !values.truth("skipNetworkAlmostIdleEvent", true) {
        wait.push(Wait::NetworkAlmostIdle);
    }
    wait.extend(values.duration("waitDelay").map(Wait::Delay));
    wait.extend(
        values
            .text("waitForExpression")
            .map(Wait::DefinedExpression),
    );
    wait.extend(values.text("waitForSelector").map(Wait::Selector));
    wait.extend(values.text("waitWindowStatus").map(|status| {
        let status = serde_json::Value::String(status);
        Wait::DefinedExpression(format!("window.status === {status}"))
    }));
    let features: MediaFeatures = values.json("emulatedMediaFeatures");
    let cookies: Vec<FormCookie> = values.json("cookies");
    let extra: BTreeMap<String, String> = values.json("extraHttpHeaders");
    let mut extra = extra
        .iter()
        .map(|(name, value)| extra_header(name, value))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(agent) = values.text("userAgent") {
        extra.push(ExtraHeader::new("user-agent", &agent, None)?);
    }
    Ok(PageOptions {
        java_script: true,
        wait,
        media: match values.text("emulatedMediaType").as_deref() {
            None => None,
            Some("print") => Some(Media::Print),
            Some("screen") => Some(Media::Screen),
            Some(_) => {
                let detail = "the form field `emulatedMediaType` is not screen or print";
                return Err(Problem::new(Code::InvalidRequest, detail));
            }
        },
        media_features: features.pairs(),
        extra_headers: extra,
        cookies: cookies
            .into_iter()
            .map(|cookie| Cookie {
                name: cookie.name,
                value: cookie.value,
                domain: without_port(cookie.domain),
            })
            .collect(),
        ..PageOptions::default()
    })
}

/// Parses an extra header in Gotenberg's syntax: Chromium sends `VALUE;scope=EXPRESSION` only to
/// URLs that match the expression.
fn extra_header(name: &str, value: &str) -> Result<ExtraHeader, Problem> {
    let mut scope = None;
    let mut kept = Vec::new();
    for token in value.split(';') {
        let word = token.trim();
        let is_scope = word
            .get(..5)
            .is_some_and(|it| it.eq_ignore_ascii_case("scope"));
        if !is_scope {
            kept.push(token);
            continue;
        }
        let expression = word[5..].trim_start().strip_prefix('=').map(str::trim);
        scope = expression.filter(|it| !it.is_empty());
        if scope.is_none() {
            let detail = format!(
                "the form field `extraHttpHeaders`: `{word}` of `{name}` is not a scope such as \
                 `scope=https://example\\.com/.*`"
            );
            return Err(Problem::new(Code::InvalidRequest, detail));
        }
    }
    Ok(ExtraHeader::new(name, kept.join(";").trim(), scope)?)
}

/// The domain of a cookie without its port. Cookies are not isolated by port (RFC 6265, section
/// 8.5).
fn without_port(domain: String) -> String {
    match domain.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host.to_owned(),
        _ => domain,
    }
}

/// Header and footer of every page.
struct HeaderFooter {
    header: String,
    footer: String,
}

impl HeaderFooter {
    async fn take(form: &mut Form) -> Result<Self, Problem> {
        Ok(Self {
            header: form.take_text("header.html").await?.unwrap_or_default(),
            footer: form.take_text("footer.html").await?.unwrap_or_default(),
        })
    }
}

fn pdf(values: &mut Values, header_footer: HeaderFooter) -> Result<PageOutput, Problem> {
    values.rename(&NEW_NAMES);
    let accessible = values.given("pdfua").and_then(truth) == Some(true);
    let (width, height) = values.paper().unwrap_or((8.5, 11.0));
    let options = PdfOptions {
        landscape: values.truth("landscape", false),
        print_background: values.truth("printBackground", false),
        scale: values.number("scale", 1.0),
        paper_width_inches: values.inches("paperWidth", width),
        paper_height_inches: values.inches("paperHeight", height),
        margin_top_inches: values.inches("marginTop", 0.39),
        margin_bottom_inches: values.inches("marginBottom", 0.39),
        margin_left_inches: values.inches("marginLeft", 0.39),
        margin_right_inches: values.inches("marginRight", 0.39),
        page_ranges: values.text("nativePageRanges").unwrap_or_default(),
        prefer_css_page_size: values.truth("preferCssPageSize", false),
        // PDF/UA needs tags.
        tagged: values.truth("generateTaggedPdf", false) || accessible,
        outline: values.truth("generateDocumentOutline", false),
        header_template: header_footer.header,
        footer_template: header_footer.footer,
        single_page: values.truth("singlePage", false),
    };
    Ok(PageOutput {
        output: Output::Pdf(options),
        extension: "pdf",
        media_type: "application/pdf",
    })
}

fn picture(values: &mut Values, _: HeaderFooter) -> Result<PageOutput, Problem> {
    let (format, extension, media_type) = match values.text("format").as_deref() {
        None | Some("png") => (PictureFormat::Png, "png", "image/png"),
        Some("jpeg") => (PictureFormat::Jpeg, "jpeg", "image/jpeg"),
        Some("webp") => (PictureFormat::WebP, "webp", "image/webp"),
        Some(_) => {
            let detail = "the form field `format` is not png, jpeg or webp";
            return Err(Problem::new(Code::InvalidRequest, detail));
        }
    };
    let quality = values.number("quality", 100);
    let options = PictureOptions {
        format,
        quality: (format == PictureFormat::Jpeg).then_some(quality),
        width: values.number("width", 800),
        height: values.number("height", 600),
        scale: values.number("deviceScaleFactor", 1.0),
        full_page: !values.truth("clip", false),
        clip: None,
        selector: values.text("selector"),
        transparent: values.truth("omitBackground", false),
    };
    Ok(PageOutput {
        output: Output::Picture(options),
        extension,
        media_type,
    })
}
