//! Response heads: the framing of the body (RFC 9112, section 6), and their encoding.

use std::{cell::RefCell, time::SystemTime};

use bytes::{BufMut, BytesMut};
use http::{
    HeaderMap, Method, StatusCode,
    header::{CONNECTION, CONTENT_LENGTH, DATE, TRAILER, TRANSFER_ENCODING},
    response::Parts,
};

use super::head::Head;

/// How the length of a response body is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// There is no body, whatever the headers say.
    None,
    Exact(u64),
    Chunked,
    /// The body ends when the connection closes, for clients of HTTP/1.0.
    Close,
}

/// The properties of a request that its response depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) head_only: bool,
    pub(crate) is_http11: bool,
    pub(crate) keep_alive: bool,
    pub(crate) takes_trailers: bool,
}

impl Asked {
    pub(crate) fn by(head: &Head) -> Self {
        Self {
            head_only: head.method == Method::HEAD,
            is_http11: head.version == http::Version::HTTP_11,
            keep_alive: head.keep_alive,
            takes_trailers: head.takes_trailers,
        }
    }
}

/// Whether the service itself asks to close the connection.
pub(crate) fn asks_to_close(headers: &HeaderMap) -> bool {
    headers
        .get(CONNECTION)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"close"))
}

/// The framing of a body of `size` bytes, or of unknown size.
pub(crate) fn length(asked: Asked, status: StatusCode, size: Option<u64>) -> Length {
    let none = status.is_informational()
        || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    match size {
        _ if none || asked.head_only => Length::None,
        Some(size) => Length::Exact(size),
        None if asked.is_http11 => Length::Chunked,
        None => Length::Close,
    }
}

/// Writes the head into `buffer`. `size` is the length of the body, if known, even if the body is
/// not sent.
pub(crate) fn encode(
    buffer: &mut BytesMut,
    parts: &Parts,
    length: Length,
    size: Option<u64>,
    asked: Asked,
    close: bool,
) {
    let room: usize = parts
        .headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum();
    buffer.reserve(room + 256);
    if parts.status == StatusCode::OK {
        buffer.put_slice(b"HTTP/1.1 200 OK\r\n");
    } else {
        buffer.put_slice(b"HTTP/1.1 ");
        buffer.put_slice(parts.status.as_str().as_bytes());
        buffer.put_slice(b" ");
        buffer.put_slice(parts.status.canonical_reason().unwrap_or("-").as_bytes());
        buffer.put_slice(b"\r\n");
    }
    let switching = parts.status == StatusCode::SWITCHING_PROTOCOLS;
    for (name, value) in &parts.headers {
        let ours = name == TRANSFER_ENCODING
            || (name == CONNECTION && !switching)
            || (name == CONTENT_LENGTH && length != Length::None)
            || (name == TRAILER && !(length == Length::Chunked && asked.takes_trailers));
        if !ours {
            put_line(buffer, name.as_str().as_bytes(), value.as_bytes());
        }
    }
    if !parts.headers.contains_key(DATE) {
        put_date(buffer);
    }
    match length {
        Length::Exact(size) => put_length(buffer, size),
        Length::Chunked => buffer.put_slice(b"transfer-encoding: chunked\r\n"),
        Length::Close => {}
        Length::None => put_absent_length(buffer, parts, size, asked),
    }
    if switching {
    } else if close {
        buffer.put_slice(b"connection: close\r\n");
    } else if !asked.is_http11 {
        buffer.put_slice(b"connection: keep-alive\r\n");
    }
    buffer.put_slice(b"\r\n");
}

/// The response to HEAD has the `Content-Length` that GET would have.
fn put_absent_length(buffer: &mut BytesMut, parts: &Parts, size: Option<u64>, asked: Asked) {
    let carries_none = parts.status.is_informational()
        || matches!(
            parts.status,
            StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
        );
    if carries_none || parts.headers.contains_key(CONTENT_LENGTH) {
        return;
    }
    match size {
        Some(size) => put_length(buffer, size),
        None if asked.is_http11 => buffer.put_slice(b"transfer-encoding: chunked\r\n"),
        None => {}
    }
}

fn put_line(buffer: &mut BytesMut, name: &[u8], value: &[u8]) {
    buffer.put_slice(name);
    buffer.put_slice(b": ");
    buffer.put_slice(value);
    buffer.put_slice(b"\r\n");
}

fn put_length(buffer: &mut BytesMut, size: u64) {
    let mut digits = [0; 20];
    let mut begin = digits.len();
    let mut rest = size;
    loop {
        begin -= 1;
        digits[begin] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    put_line(buffer, b"content-length", &digits[begin..]);
}

/// Writes the size line of a chunk, after the last of the head.
pub(crate) fn put_chunk_size(buffer: &mut BytesMut, size: usize) {
    let significant = (usize::BITS - size.leading_zeros()).div_ceil(4).max(1);
    for position in (0..significant).rev() {
        let digit = (size >> (4 * position) & 0xf) as u8;
        buffer.put_u8(if digit < 10 {
            b'0' + digit
        } else {
            b'a' + digit - 10
        });
    }
    buffer.put_slice(b"\r\n");
}

/// Writes the trailers that the head has announced in `Trailer`.
pub(crate) fn put_trailers(buffer: &mut BytesMut, announced: &HeaderMap, trailers: &HeaderMap) {
    let names: Vec<&str> = announced
        .get_all(TRAILER)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect();
    for (name, value) in trailers {
        if names
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name.as_str()))
        {
            put_line(buffer, name.as_str().as_bytes(), value.as_bytes());
        }
    }
}

thread_local! {
    /// The current second and its `Date` line, which is formatted once per second and thread.
    static DATE_LINE: RefCell<(u64, Vec<u8>)> = const { RefCell::new((0, Vec::new())) };
}

fn put_date(buffer: &mut BytesMut) {
    let now = SystemTime::now();
    let second = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs());
    DATE_LINE.with_borrow_mut(|(known, line)| {
        if *known != second || line.is_empty() {
            *known = second;
            *line = format!("date: {}\r\n", httpdate::fmt_http_date(now)).into_bytes();
        }
        buffer.put_slice(line);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_right() {
        for number in [0, 1, 9, 10, 15, 16, 255, 256, 4_095, 65_536, 1 << 40] {
            let mut buffer = BytesMut::new();
            put_chunk_size(&mut buffer, number as usize);
            assert_eq!(buffer, format!("{number:x}\r\n").as_bytes());
            buffer.clear();
            put_length(&mut buffer, number);
            assert_eq!(buffer, format!("content-length: {number}\r\n").as_bytes());
        }
    }
}
