//! Responses with documents, and the headers that describe them.

use std::{fmt::Write, sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use hyper::{
    StatusCode,
    header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, TRAILER},
};
use platen_document::Diagnostic;
use platen_render::{Disposition, Format, file_name, warnings_summary};
use serde_json::Value as Json;

use crate::{
    log::LogFields,
    metrics::Metrics,
    problem::Problem,
    rendering::{
        job::{Done, Streamed},
        printed::{PrintedBody, TRAILERS},
    },
    respond::{bytes_of, content_disposition},
    results::FileName,
    routes::templates::VERSION_HEADER,
};

/// Headers of a response with a document.
pub(crate) const DOCUMENT_HEADERS: [(&str, &str); 7] = [
    (
        "X-Render-Duration-Ms",
        "Time from reading the request to the finished document, in milliseconds.",
    ),
    ("X-Render-Size-Bytes", "Size of the document."),
    (
        "X-Render-Pages",
        "Number of pages of a PDF, PNG or SVG; a trailer if the PDF is streamed from HTML.",
    ),
    (
        "X-Render-Warnings",
        "`count=…;codes=…` if the document differs from what the template says.",
    ),
    ("X-Template-Version", "Version of the stored template."),
    (
        "Server-Timing",
        "queue, load, bind, layout and write, in milliseconds.",
    ),
    ("Content-Disposition", "File name, RFC 6266."),
];

/// Content security policy of HTML and SVG documents: display only.
pub(crate) const POLICY: &str = "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; \
    img-src data:; font-src data:";

/// Responds with a document and its headers.
pub(crate) fn answer(
    done: Done,
    key: Option<&str>,
    filename: Option<&str>,
    disposition: Option<Disposition>,
) -> Result<Response, Problem> {
    let rendered = done.rendered;
    let size = rendered.bytes.len();
    let format = rendered.format;
    let name = filename.map_or_else(
        || format!("{}.{format}", key.unwrap_or("document")),
        |name| file_name(name, format),
    );
    let mut note = vec![
        ("format", Json::from(format.name())),
        ("template", key.into()),
    ];
    let mut response = bytes_of(format.media_type(), StatusCode::OK, rendered.bytes);
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: String| -> Result<(), Problem> {
        let value = HeaderValue::from_str(&value)
            .map_err(|_| Problem::internal(format!("the header {name} cannot be written")))?;
        headers.insert(HeaderName::from_static(name), value);
        Ok(())
    };
    let elapsed = done.elapsed.as_secs_f64() * 1e3;
    set("x-render-duration-ms", format!("{elapsed:.3}"))?;
    set("x-render-size-bytes", size.to_string())?;
    if let Some(pages) = rendered.pages {
        set("x-render-pages", pages.to_string())?;
        note.push(("pages", pages.into()));
    }
    if !rendered.warnings.is_empty() {
        set("x-render-warnings", warnings_header(&rendered.warnings))?;
        note.push(("warnings", rendered.warnings.len().into()));
    }
    set("server-timing", server_timing(&done.stages))?;
    if let Some(version) = done.version {
        headers.insert(VERSION_HEADER, HeaderValue::from(version));
        note.push(("version", version.into()));
    }
    headers.insert(
        CONTENT_DISPOSITION,
        content_disposition(&name, disposition)?,
    );
    if matches!(format, Format::Html | Format::Svg) {
        // A document from an untrusted template must not run scripts in this origin.
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    }
    response.extensions_mut().insert(LogFields(note));
    response.extensions_mut().insert(FileName(name));
    Ok(response)
}

/// Streams a PDF. Trailers carry the number of pages and the size, which are known only at its end.
pub(crate) fn stream_answer(
    metrics: &Arc<Metrics>,
    streamed: Streamed,
    key: Option<&str>,
    filename: Option<&str>,
    disposition: Option<Disposition>,
) -> Result<Response, Problem> {
    let name = file_name(filename.or(key).unwrap_or("document"), Format::Pdf);
    let Streamed {
        mut document,
        version,
        elapsed,
        stages,
    } = streamed;
    let warnings = std::mem::take(&mut document.warnings);
    let timing = HeaderValue::from_str(&server_timing(&stages));
    let timing = timing.map_err(|_| Problem::internal("Server-Timing cannot be written"))?;
    let mut response = Response::new(Body::new(PrintedBody::pdf(metrics, document, stages)));
    stream_headers(&mut response, &name, disposition, &warnings, elapsed)?;
    let mut note = vec![("format", Json::from("pdf")), ("template", key.into())];
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("server-timing"), timing);
    if let Some(version) = version {
        headers.insert(VERSION_HEADER, HeaderValue::from(version));
        note.push(("version", version.into()));
    }
    if !warnings.is_empty() {
        note.push(("warnings", warnings.len().into()));
    }
    response.extensions_mut().insert(LogFields(note));
    Ok(response)
}

/// Headers of a streamed PDF.
pub(crate) fn stream_headers(
    response: &mut Response,
    name: &str,
    disposition: Option<Disposition>,
    warnings: &[Diagnostic],
    elapsed: Duration,
) -> Result<(), Problem> {
    let headers = response.headers_mut();
    let media_type = HeaderValue::from_static(Format::Pdf.media_type());
    headers.insert(hyper::header::CONTENT_TYPE, media_type);
    headers.insert(CONTENT_DISPOSITION, content_disposition(name, disposition)?);
    headers.insert(TRAILER, HeaderValue::from_static(TRAILERS));
    let elapsed = format!("{:.3}", elapsed.as_secs_f64() * 1e3);
    let mut values = vec![("x-render-duration-ms", elapsed)];
    if !warnings.is_empty() {
        values.push(("x-render-warnings", warnings_header(warnings)));
    }
    for (name, value) in values {
        let value = HeaderValue::from_str(&value)
            .map_err(|_| Problem::internal(format!("the header {name} cannot be written")))?;
        headers.insert(HeaderName::from_static(name), value);
    }
    let note = LogFields(vec![("format", Json::from("pdf"))]);
    let extensions = response.extensions_mut();
    extensions.insert(note);
    extensions.insert(FileName(name.to_owned()));
    Ok(())
}

fn warnings_header(warnings: &[Diagnostic]) -> String {
    warnings_summary(warnings.iter().map(|warning| &*warning.code))
}

fn server_timing(stages: &[(&'static str, Duration)]) -> String {
    let mut text = String::new();
    for (name, duration) in stages {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(
            text,
            "{comma}{name};dur={:.3}",
            duration.as_secs_f64() * 1e3
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe_and_whole() {
        let header = |name: &str| {
            let name = file_name(name, Format::Pdf);
            let value = content_disposition(&name, Some(Disposition::Attachment)).unwrap();
            value.to_str().unwrap().to_owned()
        };
        assert_eq!(
            header("C:\\Windows\\a\u{202e}fdp.exe"),
            "attachment; filename=\"afdp.exe.pdf\""
        );
        assert_eq!(header("a.pdf"), "attachment; filename=\"a.pdf\"");
        assert_eq!(
            header("../../etc/passwd"),
            "attachment; filename=\"passwd.pdf\""
        );
        assert_eq!(
            header("Größe\r\n\"x"),
            "attachment; filename=\"Gr__e_x.pdf\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%22x.pdf"
        );
    }
}
