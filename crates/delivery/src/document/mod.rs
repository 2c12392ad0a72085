//! Responses for a stored document: conditional requests, ranges, and the headers that describe the
//! representation (RFC 9110, sections 8, 13 and 14).

mod conditional;
mod range;

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Response, StatusCode,
    header::{
        ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_TYPE, ETAG,
        LAST_MODIFIED,
    },
};

use self::{
    conditional::Verdict,
    range::{Asked, Span},
};
use crate::{Body, FileBody, Part};

/// What is known about a document.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// `Content-Type`.
    pub media_type: HeaderValue,
    /// Strong entity tag, without quotation marks. It must change with every byte, like a hash of
    /// the content.
    pub tag: Option<String>,
    /// Another layer may change the content coding, for example compress it: the tag is sent as a
    /// weak one, and ranges are not supported.
    pub recoded: bool,
    /// Time of the last change.
    pub modified: Option<SystemTime>,
    /// `Content-Disposition`.
    pub disposition: Option<HeaderValue>,
    /// `Cache-Control`.
    pub cache_control: Option<HeaderValue>,
}

impl Metadata {
    /// Metadata with a media type only.
    #[must_use]
    pub fn new(media_type: HeaderValue) -> Self {
        Self {
            media_type,
            tag: None,
            recoded: false,
            modified: None,
            disposition: None,
            cache_control: None,
        }
    }

    /// The value of `ETag`, if there is a tag that is valid in a header.
    fn entity_tag(&self) -> Option<HeaderValue> {
        let tag = self.tag.as_ref()?;
        let weak = if self.recoded { "W/" } else { "" };
        HeaderValue::from_str(&format!("{weak}\"{tag}\"")).ok()
    }
}

/// The response to a request with `method` and `headers` for the document `body`: 200, 206 with the
/// requested ranges, 304, 412, or 416. The connection omits the body for HEAD.
#[must_use]
pub fn document(
    method: &Method,
    headers: &HeaderMap,
    body: Body,
    metadata: &Metadata,
) -> Response<Body> {
    match conditional::check(method, headers, metadata) {
        Verdict::Send => {}
        Verdict::NotModified => return bare(StatusCode::NOT_MODIFIED, metadata),
        Verdict::Failed => return bare(StatusCode::PRECONDITION_FAILED, metadata),
    }
    let size = match &body {
        Body::Stream(_) => None,
        _ if metadata.recoded => None,
        body => body.size_bytes(),
    };
    let asked = match size {
        Some(size) if *method == Method::GET && conditional::range_applies(headers, metadata) => {
            range::asked(headers, size)
        }
        _ => Asked::Whole,
    };
    let mut response = match (asked, size) {
        (Asked::None, Some(size)) => {
            let mut response = bare(StatusCode::RANGE_NOT_SATISFIABLE, metadata);
            let value = HeaderValue::from_str(&format!("bytes */{size}"));
            response
                .headers_mut()
                .extend(value.ok().map(|value| (CONTENT_RANGE, value)));
            return response;
        }
        (Asked::Spans(spans), Some(size)) => partial(body, &spans, size, metadata),
        _ => {
            let mut response = Response::new(body);
            let media_type = metadata.media_type.clone();
            response.headers_mut().insert(CONTENT_TYPE, media_type);
            response
        }
    };
    let headers = response.headers_mut();
    if size.is_some() {
        headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    }
    if let Some(disposition) = &metadata.disposition {
        headers.insert(CONTENT_DISPOSITION, disposition.clone());
    }
    describe(headers, metadata);
    response
}

/// A response without the document.
fn bare(status: StatusCode, metadata: &Metadata) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    describe(response.headers_mut(), metadata);
    response
}

fn describe(headers: &mut HeaderMap, metadata: &Metadata) {
    let modified = metadata.modified.map(httpdate::fmt_http_date);
    let modified = modified.and_then(|text| HeaderValue::from_str(&text).ok());
    let cache_control = metadata.cache_control.clone();
    headers.extend(metadata.entity_tag().map(|tag| (ETAG, tag)));
    headers.extend(modified.map(|modified| (LAST_MODIFIED, modified)));
    headers.extend(cache_control.map(|value| (CACHE_CONTROL, value)));
}

fn partial(body: Body, spans: &[Span], size: u64, metadata: &Metadata) -> Response<Body> {
    let source = Source::of(body);
    let content_range = |span: &Span| format!("bytes {}-{}/{size}", span.first, span.last);
    let (media_type, parts, line) = match spans {
        [span] => {
            let parts = source.cut(*span);
            (
                metadata.media_type.clone(),
                parts,
                Some(content_range(span)),
            )
        }
        spans => {
            let boundary = boundary();
            let inner = metadata
                .media_type
                .to_str()
                .unwrap_or("application/octet-stream");
            let mut parts = Vec::new();
            for span in spans {
                let range = content_range(span);
                let head = format!(
                    "\r\n--{boundary}\r\nContent-Type: {inner}\r\nContent-Range: {range}\r\n\r\n"
                );
                parts.push(Part::Bytes(head.into()));
                parts.extend(source.cut(*span));
            }
            parts.push(Part::Bytes(format!("\r\n--{boundary}--\r\n").into()));
            let outer = format!("multipart/byteranges; boundary={boundary}");
            let outer = HeaderValue::from_str(&outer).unwrap_or(metadata.media_type.clone());
            (outer, parts, None)
        }
    };
    let mut response = Response::new(source.with(parts));
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media_type);
    let line = line.and_then(|line| HeaderValue::from_str(&line).ok());
    headers.extend(line.map(|line| (CONTENT_RANGE, line)));
    response
}

/// A boundary that no document contains by chance.
fn boundary() -> String {
    static PROCESS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let (one, other) = (PROCESS.hash_one(count), PROCESS.hash_one((count, 1)));
    format!("{one:016x}{other:016x}")
}

/// A body that ranges are cut from.
struct Source {
    parts: Vec<Part>,
    file: Option<FileBody>,
}

impl Source {
    fn of(body: Body) -> Self {
        let of_bytes = |parts: Vec<Bytes>| parts.into_iter().map(Part::Bytes).collect();
        match body {
            Body::Bytes(bytes) => Self {
                parts: of_bytes(vec![bytes]),
                file: None,
            },
            Body::Segments(segments) => Self {
                parts: of_bytes(segments.into_parts().into()),
                file: None,
            },
            Body::File(mut file) => Self {
                parts: std::mem::take(&mut file.parts).into(),
                file: Some(file),
            },
            Body::Stream(_) => Self {
                parts: Vec::new(),
                file: None,
            },
        }
    }

    fn cut(&self, span: Span) -> Vec<Part> {
        let mut cut = Vec::new();
        let mut begin = 0;
        for part in &self.parts {
            let end = begin + part.size_bytes();
            let (from, to) = (span.first.max(begin), (span.last + 1).min(end));
            if from < to {
                cut.push(part.part(from - begin, to - from));
            }
            begin = end;
        }
        cut
    }

    fn with(self, parts: Vec<Part>) -> Body {
        if let Some(mut file) = self.file {
            file.parts = parts.into();
            return Body::File(file);
        }
        let mut parts: Vec<Bytes> = parts
            .into_iter()
            .filter_map(|part| match part {
                Part::Bytes(bytes) => Some(bytes),
                Part::Range { .. } => None,
            })
            .collect();
        match parts.len() {
            1 => Body::from(parts.swap_remove(0)),
            _ => Body::segments(parts),
        }
    }
}

#[cfg(test)]
mod tests;
