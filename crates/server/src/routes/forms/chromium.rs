//! `/forms/chromium/…`: pages of HTML and addresses to PDF and pictures, by Gotenberg's fields.

use std::{collections::BTreeMap, sync::Arc};

use axum::{body::Body, extract::State, response::Response};
use bytes::Bytes;
use hyper::{
    HeaderMap, StatusCode,
    header::{HeaderName, HeaderValue},
};
use platen_engine::{
    browser::{
        Cookie, File, Files, Job, Lane, Media, Output, PageOptions, PdfOptions, PictureFormat,
        PictureOptions, Source, Wait,
    },
    key_of, media_type_of,
};
use serde::Deserialize;

use super::value::Values;
use crate::{
    app::App,
    body,
    middleware::Context,
    multipart,
    problem::Problem,
    routes::render::{html::PrintedBody, response::file_headers},
};

/// Fields that change the result and are not made here.
#[rustfmt::skip]
const UNSUPPORTED: [&str; 14] = [
    "singlePage", "pdfa", "pdfua", "metadata", "flatten", "splitMode", "userPassword",
    "ownerPassword", "watermarkSource", "stampSource", "rotateAngle", "downloadFrom",
    "emulatedMediaFeatures", "failOnResourceHttpStatusCodes",
];
/// Fields of files that are not to stand beside the page.
const UNSUPPORTED_FILES: [&str; 3] = ["embeds", "watermark", "stamp"];

/// A form taken apart.
#[derive(Default)]
struct Form {
    values: Values,
    files: BTreeMap<String, File>,
}

#[derive(Deserialize)]
struct FormCookie {
    name: String,
    value: String,
    domain: String,
}

/// What is made, and how it is named.
struct Made {
    output: Output,
    extension: &'static str,
    media_type: &'static str,
}

/// Where the page is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    File,
    Address,
}

/// `index.html` and its files as PDF.
pub(crate) async fn convert_html(
    State(app): State<Arc<App>>,
    axum::Extension(context): axum::Extension<Context>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let form = read(&app, &headers, body).await?;
    respond(&app, &context, &headers, form, Origin::File, pdf).await
}

/// An address at an allowed host as PDF.
pub(crate) async fn convert_url(
    State(app): State<Arc<App>>,
    axum::Extension(context): axum::Extension<Context>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let form = read(&app, &headers, body).await?;
    respond(&app, &context, &headers, form, Origin::Address, pdf).await
}

/// `index.html` and its files as a picture.
pub(crate) async fn screenshot_html(
    State(app): State<Arc<App>>,
    axum::Extension(context): axum::Extension<Context>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let form = read(&app, &headers, body).await?;
    respond(&app, &context, &headers, form, Origin::File, picture).await
}

/// An address at an allowed host as a picture.
pub(crate) async fn screenshot_url(
    State(app): State<Arc<App>>,
    axum::Extension(context): axum::Extension<Context>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let form = read(&app, &headers, body).await?;
    respond(&app, &context, &headers, form, Origin::Address, picture).await
}

async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<Form, Problem> {
    let boundary = multipart::boundary(headers).ok_or_else(|| {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Problem::new(
            status,
            "media-type-not-supported",
            "send multipart/form-data",
        )
    })?;
    let (bytes, _room) = body::read(app, headers, body).await?;
    let mut form = Form::default();
    for field in multipart::fields(&bytes, &boundary)? {
        let Some(name) = &field.file_name else {
            form.values.add(&field)?;
            continue;
        };
        if UNSUPPORTED_FILES.contains(&field.name.as_str()) {
            let detail = format!("the form file `{}` is not supported", field.name);
            return Err(Problem::bad_request("form-unsupported", detail));
        }
        let file = File {
            media_type: media_type_of(name).to_owned(),
            bytes: Bytes::copy_from_slice(&field.bytes),
        };
        form.files.insert(name.clone(), file);
    }
    Ok(form)
}

async fn respond(
    app: &App,
    context: &Context,
    headers: &HeaderMap,
    mut form: Form,
    from: Origin,
    made: fn(&mut Form) -> Result<Made, Problem>,
) -> Result<Response, Problem> {
    form.values.refuse(&UNSUPPORTED)?;
    let Made {
        output,
        extension,
        media_type,
    } = made(&mut form)?;
    let page = page(&mut form.values)?;
    let fail_on_console = form.values.truth("failOnConsoleExceptions", false)?;
    let fail_on_resource = form.values.truth("failOnResourceLoadingFailed", false)?;
    let statuses: Vec<u16> = form.values.json("failOnHttpStatusCodes")?;
    let source = source(&mut form, from)?;
    let html = match &source {
        Source::Document { html, .. } => html.clone(),
        Source::Address(address) => address.clone(),
    };
    let job = Job {
        key: Some(key_of(&html, &form.files, &output)),
        source,
        page: PageOptions {
            fail_on_exceptions: fail_on_console,
            ..page
        },
        output,
        lane: Lane::Batch,
        timeout: app.config.render_timeout(),
    };
    let printed = app.chromium.print(job).await.map_err(as_gotenberg)?;
    check_status(printed.report.status, &statuses)?;
    let report = &printed.report;
    if fail_on_resource && !(report.missing.is_empty() && report.denied.is_empty()) {
        let failed = [report.missing.as_slice(), &report.denied]
            .concat()
            .join(", ");
        let detail = format!("the page could not load {failed}");
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "resource-failed",
            detail,
        ));
    }
    let wanted = headers.get("gotenberg-output-filename");
    let name = wanted
        .and_then(|name| name.to_str().ok())
        .unwrap_or(&*context.request_id);
    let mut response = Response::new(Body::new(PrintedBody(printed)));
    let name = name
        .strip_suffix(extension)
        .unwrap_or(name)
        .trim_end_matches('.');
    file_headers(&mut response, &format!("{name}.{extension}"), media_type)?;
    let trace = headers.get("gotenberg-trace").cloned();
    let trace = trace.or_else(|| HeaderValue::from_str(&context.request_id).ok());
    if let Some(trace) = trace {
        let name = HeaderName::from_static("gotenberg-trace");
        response.headers_mut().insert(name, trace);
    }
    Ok(response)
}

/// Gotenberg's status codes: 429 where the queue is full, 503 where the time is over, 409 for
/// exceptions of the page, 400 for pages that cannot be had.
fn as_gotenberg(mut problem: Problem) -> Problem {
    problem.status = match problem.code {
        "queue-full" => StatusCode::TOO_MANY_REQUESTS,
        "deadline-passed" => StatusCode::SERVICE_UNAVAILABLE,
        "page-exception" => StatusCode::CONFLICT,
        "request-denied" => StatusCode::FORBIDDEN,
        "page-not-loaded" | "page-crashed" | "page-memory" | "page-too-large" => {
            StatusCode::BAD_REQUEST
        }
        _ => problem.status,
    };
    problem
}

/// 409 where the page itself came with a status that fails; `499` and `599` mean all of 4xx and
/// 5xx, and are the default.
fn check_status(status: Option<u16>, failing: &[u16]) -> Result<(), Problem> {
    let failing = if failing.is_empty() {
        &[499, 599]
    } else {
        failing
    };
    let fails = |status: u16| {
        failing
            .iter()
            .any(|one| *one == status || (one % 100 == 99 && one / 100 == status / 100))
    };
    match status.filter(|status| fails(*status)) {
        Some(status) => {
            let detail = format!("the page came with the status {status}");
            Err(Problem::new(StatusCode::CONFLICT, "page-status", detail))
        }
        None => Ok(()),
    }
}

fn source(form: &mut Form, from: Origin) -> Result<Source, Problem> {
    if from == Origin::Address {
        return Ok(Source::Address(form.values.needed("url")?));
    }
    let html = take_text(form, "index.html")?.ok_or_else(|| {
        Problem::bad_request("form-invalid", "the form file `index.html` is needed")
    })?;
    let files: Arc<dyn Files> = Arc::new(form.files.clone());
    Ok(Source::Document { html, files })
}

fn take_text(form: &mut Form, name: &str) -> Result<Option<String>, Problem> {
    let Some(file) = form.files.remove(name) else {
        return Ok(None);
    };
    let text = String::from_utf8(file.bytes.to_vec()).map_err(|_| {
        let detail = format!("the form file `{name}` is not UTF-8");
        Problem::bad_request("form-invalid", detail)
    })?;
    Ok(Some(text))
}

fn page(values: &mut Values) -> Result<PageOptions, Problem> {
    let mut wait = Vec::new();
    if !values.truth("skipNetworkIdleEvent", true)? {
        wait.push(Wait::NetworkIdle);
    }
    wait.extend(values.duration("waitDelay")?.map(Wait::Delay));
    wait.extend(values.text("waitForExpression").map(Wait::Expression));
    wait.extend(values.text("waitForSelector").map(Wait::Selector));
    let cookies: Vec<FormCookie> = values.json("cookies")?;
    let mut extra: BTreeMap<String, String> = values.json("extraHttpHeaders")?;
    if let Some(agent) = values.text("userAgent") {
        extra.insert("user-agent".to_owned(), agent);
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
                return Err(Problem::bad_request("form-invalid", detail));
            }
        },
        extra_headers: extra.into_iter().collect(),
        cookies: cookies
            .into_iter()
            .map(|cookie| Cookie {
                name: cookie.name,
                value: cookie.value,
                domain: cookie.domain,
            })
            .collect(),
        ..PageOptions::default()
    })
}

fn pdf(form: &mut Form) -> Result<Made, Problem> {
    let header_template = take_text(form, "header.html")?.unwrap_or_default();
    let footer_template = take_text(form, "footer.html")?.unwrap_or_default();
    let values = &mut form.values;
    let options = PdfOptions {
        landscape: values.truth("landscape", false)?,
        print_background: values.truth("printBackground", false)?,
        scale: values.number("scale", 1.0)?,
        paper_width_inches: values.inches("paperWidth", 8.5)?,
        paper_height_inches: values.inches("paperHeight", 11.0)?,
        margin_top_inches: values.inches("marginTop", 0.39)?,
        margin_bottom_inches: values.inches("marginBottom", 0.39)?,
        margin_left_inches: values.inches("marginLeft", 0.39)?,
        margin_right_inches: values.inches("marginRight", 0.39)?,
        page_ranges: values.text("nativePageRanges").unwrap_or_default(),
        prefer_css_page_size: values.truth("preferCssPageSize", false)?,
        tagged: values.truth("generateTaggedPdf", false)?,
        outline: values.truth("generateDocumentOutline", false)?,
        header_template,
        footer_template,
    };
    Ok(Made {
        output: Output::Pdf(options),
        extension: "pdf",
        media_type: "application/pdf",
    })
}

fn picture(form: &mut Form) -> Result<Made, Problem> {
    let values = &mut form.values;
    let (format, extension, media_type) = match values.text("format").as_deref() {
        None | Some("png") => (PictureFormat::Png, "png", "image/png"),
        Some("jpeg") => (PictureFormat::Jpeg, "jpeg", "image/jpeg"),
        Some("webp") => (PictureFormat::WebP, "webp", "image/webp"),
        Some(_) => {
            let detail = "the form field `format` is not png, jpeg or webp";
            return Err(Problem::bad_request("form-invalid", detail));
        }
    };
    let quality = values.number("quality", 100)?;
    let options = PictureOptions {
        format,
        quality: (format == PictureFormat::Jpeg).then_some(quality),
        width: values.number("width", 800)?,
        height: values.number("height", 600)?,
        scale: values.number("deviceScaleFactor", 1.0)?,
        full_page: !values.truth("clip", false)?,
        clip: None,
        transparent: values.truth("omitBackground", false)?,
    };
    Ok(Made {
        output: Output::Picture(options),
        extension,
        media_type,
    })
}
