//! Documents on their way out: the headers that tell what they are and what they took.

use std::{fmt::Write, time::Duration};

use axum::{body::Body, response::Response};
use hyper::{
    StatusCode,
    header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, TRAILER},
};
use platen_engine::{Diagnostic, Disposition, Format};
use serde_json::Value as Json;

use super::{job::Done, printed::PrintedBody};
use crate::{
    middleware::Note, problem::Problem, respond::bytes_of, results::FileName,
    routes::templates::VERSION_HEADER,
};

/// Codes that `X-Render-Warnings` names.
const MAX_WARNING_CODES: usize = 20;
/// Longest file name, in characters.
const MAX_FILENAME: usize = 200;
/// What HTML and SVG may do in a browser: show themselves.
pub(crate) const POLICY: &str = "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; \
    img-src data:; font-src data:";

/// A document with its headers.
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
        |name| with_extension(name, format),
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
        // A document of a stranger's template must not act on this origin.
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    }
    response.extensions_mut().insert(Note(note));
    response.extensions_mut().insert(FileName(name));
    Ok(response)
}

/// Media type and name of a file that is saved.
pub(crate) fn file_headers(
    response: &mut Response,
    name: &str,
    media_type: &'static str,
) -> Result<(), Problem> {
    let headers = response.headers_mut();
    let media_type = HeaderValue::from_static(media_type);
    headers.insert(hyper::header::CONTENT_TYPE, media_type);
    let disposition = content_disposition(name, Some(Disposition::Attachment))?;
    headers.insert(CONTENT_DISPOSITION, disposition);
    Ok(())
}

/// A PDF that is sent as it is produced. Its pages and its size are known at its end only, and
/// stand in trailers.
pub(crate) fn stream_answer(
    done: Done,
    body: PrintedBody,
    key: Option<&str>,
    filename: Option<&str>,
    disposition: Option<Disposition>,
) -> Result<Response, Problem> {
    let name = with_extension(filename.or(key).unwrap_or("document"), Format::Pdf);
    let mut response = Response::new(Body::new(body));
    let warnings = &done.rendered.warnings;
    stream_headers(&mut response, &name, disposition, warnings, done.elapsed)?;
    let mut note = vec![("format", Json::from("pdf")), ("template", key.into())];
    let timing = HeaderValue::from_str(&server_timing(&done.stages));
    let timing = timing.map_err(|_| Problem::internal("Server-Timing cannot be written"))?;
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("server-timing"), timing);
    if let Some(version) = done.version {
        headers.insert(VERSION_HEADER, HeaderValue::from(version));
        note.push(("version", version.into()));
    }
    if !warnings.is_empty() {
        note.push(("warnings", warnings.len().into()));
    }
    response.extensions_mut().insert(Note(note));
    Ok(response)
}

/// The headers of a PDF that is sent as it is produced.
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
    headers.insert(TRAILER, HeaderValue::from_static(super::printed::TRAILERS));
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
    let note = Note(vec![("format", Json::from("pdf"))]);
    let extensions = response.extensions_mut();
    extensions.insert(note);
    extensions.insert(FileName(name.to_owned()));
    Ok(())
}

/// `count=…;codes=…`, each code once.
fn warnings_header(warnings: &[Diagnostic]) -> String {
    let mut codes: Vec<&str> = warnings.iter().map(|warning| &*warning.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes.truncate(MAX_WARNING_CODES);
    format!("count={};codes={}", warnings.len(), codes.join(","))
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

/// A file name with the extension of its format, and no path.
pub(crate) fn with_extension(name: &str, format: Format) -> String {
    let plain = plain_name(name);
    let stem = if plain.is_empty() { "document" } else { &plain };
    if Format::of_file_name(stem) == Some(format) {
        stem.to_owned()
    } else {
        format!("{stem}.{format}")
    }
}

/// The last part of a path that a client gave, without what could mislead: control characters, marks
/// that turn the direction of text (they show `exe.fdp` as a PDF), dots at the begin.
pub(crate) fn plain_name(name: &str) -> String {
    let plain = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let turns = |symbol: char| matches!(symbol, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let plain: String = plain
        .chars()
        .filter(|symbol| !symbol.is_control() && !turns(*symbol))
        .take(MAX_FILENAME)
        .collect();
    plain.trim().trim_start_matches('.').to_owned()
}

/// RFC 6266, with `filename*` (RFC 8187) where the name is more than ASCII.
pub(crate) fn content_disposition(
    name: &str,
    disposition: Option<Disposition>,
) -> Result<HeaderValue, Problem> {
    let kind = match disposition {
        Some(Disposition::Attachment) => "attachment",
        Some(Disposition::Inline) | None => "inline",
    };
    let fallback: String = name
        .chars()
        .map(|symbol| match symbol {
            '"' | '\\' | '%' => '_',
            symbol if symbol.is_ascii_graphic() || symbol == ' ' => symbol,
            _ => '_',
        })
        .collect();
    let mut text = format!("{kind}; filename=\"{fallback}\"");
    if fallback != name {
        text.push_str("; filename*=UTF-8''");
        for byte in name.bytes() {
            if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
                text.push(byte as char);
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    HeaderValue::from_str(&text)
        .map_err(|_| Problem::internal("Content-Disposition cannot be written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe_and_whole() {
        let header = |name: &str| {
            let name = with_extension(name, Format::Pdf);
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
