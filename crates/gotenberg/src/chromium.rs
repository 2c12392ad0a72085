//! `/forms/chromium/…`: HTML pages and URLs to PDF and images, with Gotenberg's fields.

use std::{collections::BTreeMap, sync::Arc};

use axum::{body::Body, response::Response};
use http_body_util::BodyExt;
use platen_browser::{
    Job, Key, Lane, Output, PageOptions, PdfOptions, PictureFormat, PictureOptions, Source, Wait,
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
        slots::Ticket,
    },
    respond::file_headers,
};

use crate::{
    api::FormApi,
    changes::Changes,
    failing::{check_loaded, check_resources, check_status},
    form::{Form, FormRequest, text},
    markdown,
    page_options::page,
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
    made: fn(&mut Values, HeaderFooter, bool) -> PageOutput,
) -> Result<Response, Problem> {
    let FormRequest {
        api,
        context,
        headers,
        mut form,
    } = request;
    let header_footer = HeaderFooter::take(&mut form).await?;
    // In Gotenberg's order, as errors name the fields in it.
    let (mut page, failing) = page(&mut form.values)?;
    page.java_script = !api.disable_java_script;
    let is_transparent = form.values.truth("omitBackground", false);
    let PageOutput {
        output,
        extension,
        media_type,
    } = made(&mut form.values, header_footer, is_transparent);
    let changes = match extension {
        "pdf" => Changes::of(&mut form),
        _ => Changes::default(),
    };
    let conversion = Conversion::of_page(extension);
    let stages = Stages::of_conversion(&mut form, !changes.is_nothing(), conversion)?;
    form.values.refuse_restrictions()?;
    let (source, key) = source(&api, &mut form, from, &output).await?;
    let asked = Asked::of(&page, &output);
    let job = Job {
        key: Some(key),
        source,
        page,
        output,
        lane: Lane::Batch,
        timeout: api.render_timeout,
    };
    let printed = api.chromium.print(job).await;
    let printed = printed.map_err(|problem| in_gotenbergs_words(problem, &asked))?;
    let report = &printed.report;
    check_status(report.status, &failing.page)?;
    check_resources(&report.statuses, &failing.resources, &failing.ignored)?;
    if failing.is_loaded {
        check_loaded(&report.failed)?;
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

/// What a form asks for and an error may be about.
struct Asked {
    /// The selector, or the page ranges.
    what: String,
    /// The expression that is waited for.
    awaited: String,
}

impl Asked {
    fn of(page: &PageOptions, output: &Output) -> Self {
        let awaited = page.wait.iter().find_map(|wait| match wait {
            Wait::DefinedExpression(expression) => Some(expression.clone()),
            _ => None,
        });
        Self {
            what: match output {
                Output::Picture(options) => options.selector.clone().unwrap_or_default(),
                Output::Pdf(options) => options.page_ranges.clone(),
            },
            awaited: awaited.unwrap_or_default(),
        }
    }
}

/// Gotenberg's words for a selector that selects nothing, for page ranges that are none, and for an
/// expression that is waited for and never becomes anything.
fn in_gotenbergs_words(mut problem: Problem, asked: &Asked) -> Problem {
    let Asked {
        what: asked,
        awaited,
    } = asked;
    if problem.detail.starts_with("waitForExpression:") {
        problem.detail = format!(
            "The expression '{awaited}' (waitForExpression) returned an exception or undefined"
        );
    } else if problem.detail.starts_with("selector: no element") {
        problem.detail =
            format!("The selector '{asked}' (selector) matched no element with a visible box");
    } else if problem.detail.starts_with("pageRanges: Page range exceeds") {
        problem.detail =
            format!("The page ranges '{asked}' (nativePageRanges) exceeds the page count");
    } else if problem.detail.starts_with("pageRanges: write") {
        problem.detail =
            format!("Chromium does not handle the page ranges '{asked}' (nativePageRanges) syntax");
    }
    problem
}

async fn source(
    api: &FormApi,
    form: &mut Form,
    from: Origin,
    output: &Output,
) -> Result<(Source, Key), Problem> {
    if from == Origin::Address {
        let address = form.values.needed("url");
        form.values.finish()?;
        if address
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
        {
            let detail = "file:// URLs are not accepted on this route. Use the /convert/html or \
                          /convert/markdown routes to render local HTML";
            return Err(Problem::new(Code::InvalidRequest, detail));
        }
        let key = key_of(&address, [], output);
        return Ok((Source::Address(address), key));
    }
    let html = form.take_text("index.html").await?;
    if html.is_none() {
        form.values.mistake("form file 'index.html' is required");
    }
    let is_markdown = |name: &String| name.to_ascii_lowercase().ends_with(".md");
    if from == Origin::Markdown && !form.files.keys().any(is_markdown) {
        form.values
            .mistake("no form file found for extensions: [.md]");
    }
    form.values.finish()?;
    let html = html.unwrap_or_default();
    let html = match from {
        Origin::Markdown => {
            let texts = markdown_files(form, &html).await?;
            let fill = move |_: &Ticket| markdown::fill(&html, &texts);
            api.slots.check(fill).await?
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

/// The Markdown files that a page names.
async fn markdown_files(form: &Form, page: &str) -> Result<BTreeMap<String, String>, Problem> {
    let mut texts = BTreeMap::new();
    for name in markdown::names(page) {
        let Some(content) = form.files.get(name) else {
            continue;
        };
        if content.size_bytes() > markdown::MAX_TEXT_BYTES as u64 {
            return Err(markdown::too_long());
        }
        if !texts.contains_key(name) {
            texts.insert(name.to_owned(), text(name, content.clone()).await?);
        }
    }
    Ok(texts)
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

fn pdf(values: &mut Values, header_footer: HeaderFooter, is_transparent: bool) -> PageOutput {
    values.rename(&NEW_NAMES);
    let accessible = values.given("pdfua").and_then(truth) == Some(true);
    let options = PdfOptions {
        landscape: values.truth("landscape", false),
        print_background: values.truth("printBackground", false),
        keeps_element_backgrounds: true,
        scale: values.number("scale", 1.0),
        single_page: values.truth("singlePage", false),
        header_template: header_footer.header,
        footer_template: header_footer.footer,
        page_ranges: values.text("nativePageRanges").unwrap_or_default(),
        ..PdfOptions::default()
    };
    if is_transparent && !options.print_background {
        values.refuse("omitBackground requires printBackground set to true");
    }
    let (width, height) = values.paper().unwrap_or((8.5, 11.0));
    let options = PdfOptions {
        paper_width_inches: values.inches("paperWidth", width),
        paper_height_inches: values.inches("paperHeight", height),
        margin_top_inches: values.inches("marginTop", 0.39),
        margin_bottom_inches: values.inches("marginBottom", 0.39),
        margin_left_inches: values.inches("marginLeft", 0.39),
        margin_right_inches: values.inches("marginRight", 0.39),
        prefer_css_page_size: values.truth("preferCssPageSize", false),
        outline: values.truth("generateDocumentOutline", false),
        // PDF/UA needs tags.
        tagged: values.truth("generateTaggedPdf", false) || accessible,
        ..options
    };
    PageOutput {
        output: Output::Pdf(options),
        extension: "pdf",
        media_type: "application/pdf",
    }
}

fn picture(values: &mut Values, _: HeaderFooter, is_transparent: bool) -> PageOutput {
    let name = values.text("format");
    let (format, extension, media_type) = match name.as_deref() {
        None | Some("png") => (PictureFormat::Png, "png", "image/png"),
        Some("jpeg") => (PictureFormat::Jpeg, "jpeg", "image/jpeg"),
        Some("webp") => (PictureFormat::WebP, "webp", "image/webp"),
        Some(other) => {
            let why = "wrong value, expected either 'png', 'jpeg' or 'webp'";
            values.wrong("format", other, why);
            (PictureFormat::Png, "png", "image/png")
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
        transparent: is_transparent,
    };
    PageOutput {
        output: Output::Picture(options),
        extension,
        media_type,
    }
}
