//! Streaming parser for forms with files, `multipart/form-data` (RFC 7578, RFC 2046 section 5.1).

use std::sync::Arc;

use axum::body::Body;
use bytes::{Buf, BytesMut};
use futures_core::future::BoxFuture;
use hyper::{
    HeaderMap,
    header::{CONTENT_TYPE, HeaderValue},
};
use platen_fault::{Code, What};

use super::{
    Intake, MemoryPermit,
    content::{self, Content, Room, Sink},
    form_weight,
};
use crate::problem::Problem;

/// Most fields of one form.
const MAX_FIELDS: usize = 500;
/// Longest head of a field, in bytes.
const MAX_HEAD: usize = 8 << 10;
/// Memory limit for all fields of one form, in bytes; the rest goes to files.
const HELD_BYTES: usize = 1 << 20;
/// Setting that limits the size of a form.
const SETTING: &str = "FORM_MAX_BODY_BYTES";

/// A form field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name in the form; several fields may share one.
    pub name: String,
    /// File name, without folders.
    pub file_name: Option<String>,
    /// Declared media type; clients often guess it from the extension.
    pub media_type: Option<String>,
    /// The value.
    pub content: Content,
}

impl Field {
    /// Reads the content as text.
    pub async fn text(&self) -> Result<String, Problem> {
        let bytes = content::bytes(self.content.clone()).await?;
        String::from_utf8(bytes.into()).map_err(|_| {
            let name: String = self.name.chars().take(80).collect();
            Problem::new(
                Code::InvalidRequest,
                format!("the field `{name}` is not UTF-8"),
            )
        })
    }
}

/// True if the request declares a form with files, with or without a boundary.
pub fn is_form(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    value.is_some_and(|value| {
        let start = value.get(..10).unwrap_or_default();
        start.eq_ignore_ascii_case(b"multipart/")
    })
}

/// The boundary of a multipart form; `None` for other requests.
pub fn boundary(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let mut pieces = value.split(';').map(str::trim);
    let media_type = pieces.next()?;
    if !media_type.eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let parameter = pieces.find_map(|piece| {
        let (name, value) = piece.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("boundary")
            .then(|| value.trim().trim_matches('"'))
    })?;
    let is_sound = !parameter.is_empty() && parameter.len() <= 70;
    is_sound.then(|| parameter.to_owned())
}

/// Reads the fields of a form, and the memory reserved for them.
///
/// # Errors
/// 400 for a malformed form, 413 for one that is too large or has too many fields or too much text;
/// 408, 503.
pub fn read<'a>(
    intake: &'a Intake,
    headers: &'a HeaderMap,
    body: Body,
    boundary: &'a str,
) -> BoxFuture<'a, Result<(Vec<Field>, MemoryPermit), Problem>> {
    Box::pin(async move {
        let bounds = Bounds {
            form_bytes: intake.form_max_body_bytes,
            text_bytes: intake.max_body_bytes,
            spool: Arc::clone(&intake.disk),
        };
        content::check_announced(headers, bounds.form_bytes, SETTING)?;
        let mut permit = intake.reserve_bytes(HELD_BYTES as u64)?;
        let mut reader = Reader::new(bounds, body, boundary);
        let fields = content::timed(intake, reader.fields()).await?;
        form_weight::reserve(intake, &fields, &mut permit).await?;
        Ok((fields, permit))
    })
}

fn broken(what: &str) -> Problem {
    Problem::new(Code::InvalidRequest, format!("the form {what}"))
}

fn too_large(limit: u64, detail: String) -> Problem {
    Problem::new(Code::TooLarge(What::Form, limit), detail)
}

struct Bounds {
    form_bytes: u64,
    /// Bytes of all text fields together.
    text_bytes: u64,
    spool: Arc<Room>,
}

struct Reader {
    bounds: Bounds,
    body: Body,
    buffer: BytesMut,
    received_bytes: u64,
    held_bytes: usize,
    delimiter: Vec<u8>,
}

impl Reader {
    fn new(bounds: Bounds, body: Body, boundary: &str) -> Self {
        Self {
            bounds,
            body,
            // The first delimiter may have no line break before it.
            buffer: BytesMut::from(&b"\r\n"[..]),
            received_bytes: 0,
            held_bytes: 0,
            delimiter: format!("\r\n--{boundary}").into_bytes(),
        }
    }

    async fn fields(&mut self) -> Result<Vec<Field>, Problem> {
        self.skip_to_delimiter().await?;
        let mut fields: Vec<Field> = Vec::new();
        let mut text_bytes = 0;
        loop {
            self.fill(2, "breaks off").await?;
            if self.buffer.starts_with(b"--") {
                // Read and ignore the epilogue, so that the connection can be reused.
                while self.more().await? {
                    self.buffer.clear();
                }
                return Ok(fields);
            }
            let head = self.head().await?;
            let mut field = field(&head).ok_or_else(|| broken("has a field without a name"))?;
            let is_text = field.file_name.is_none();
            let left = self.bounds.text_bytes - text_bytes;
            field.content = self.content(is_text.then_some(left)).await?;
            if is_text {
                text_bytes += field.content.size_bytes();
            }
            fields.push(field);
            if fields.len() > MAX_FIELDS {
                let detail = format!("the form has more than {MAX_FIELDS} fields");
                return Err(too_large(MAX_FIELDS as u64, detail));
            }
        }
    }

    /// Reads more of the body; false at the end.
    async fn more(&mut self) -> Result<bool, Problem> {
        let Some(piece) = content::next(&mut self.body).await? else {
            return Ok(false);
        };
        self.received_bytes += piece.len() as u64;
        if self.received_bytes > self.bounds.form_bytes {
            return Err(content::too_large(self.bounds.form_bytes, SETTING));
        }
        self.buffer.extend_from_slice(&piece);
        Ok(true)
    }

    async fn fill(&mut self, bytes: usize, otherwise: &str) -> Result<(), Problem> {
        while self.buffer.len() < bytes {
            if !self.more().await? {
                return Err(broken(otherwise));
            }
        }
        Ok(())
    }

    async fn skip_to_delimiter(&mut self) -> Result<(), Problem> {
        loop {
            if let Some(at) = find(&self.buffer, &self.delimiter, 0) {
                self.buffer.advance(at + self.delimiter.len());
                return Ok(());
            }
            let sure = self.buffer.len().saturating_sub(self.delimiter.len() - 1);
            self.buffer.advance(sure);
            if !self.more().await? {
                return Err(broken("does not begin"));
            }
        }
    }

    /// Reads the header lines of a field, after the rest of the delimiter line.
    async fn head(&mut self) -> Result<String, Problem> {
        loop {
            let start = find(&self.buffer, b"\r\n", 0);
            // The delimiter line ends here; without header lines, the blank line follows at once.
            let end = start.and_then(|start| {
                let rest = &self.buffer[start..];
                find(rest, b"\r\n\r\n", 0).map(|end| (start, start + end))
            });
            if let Some((start, end)) = end {
                let head = String::from_utf8_lossy(&self.buffer[start..end]).into_owned();
                self.buffer.advance(end + 4);
                return Ok(head);
            }
            if self.buffer.len() > MAX_HEAD {
                return Err(broken("has a field whose head is too long"));
            }
            if !self.more().await? {
                return Err(broken("breaks off"));
            }
        }
    }

    async fn content(&mut self, most_bytes: Option<u64>) -> Result<Content, Problem> {
        let hold_bytes = HELD_BYTES.saturating_sub(self.held_bytes);
        let mut sink = Sink::new(&self.bounds.spool, hold_bytes);
        loop {
            let end = find(&self.buffer, &self.delimiter, 0);
            let sure = self.buffer.len().saturating_sub(self.delimiter.len() - 1);
            let sure = end.unwrap_or(sure);
            let piece = self.buffer.split_to(sure);
            sink.put(&piece).await?;
            if most_bytes.is_some_and(|most| sink.size_bytes() > most) {
                return Err(too_large(
                    self.bounds.text_bytes,
                    "the form's texts are longer than MAX_BODY_BYTES".to_owned(),
                ));
            }
            if end.is_some() {
                self.buffer.advance(self.delimiter.len());
                let content = sink.finish().await?;
                if let Content::Held(bytes) = &content {
                    self.held_bytes += bytes.len();
                }
                return Ok(content);
            }
            if !self.more().await? {
                return Err(broken("breaks off"));
            }
        }
    }
}

fn field(head: &str) -> Option<Field> {
    let mut name = None;
    let mut file_name = None;
    let mut media_type = None;
    for line in head.split("\r\n") {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        if key.trim().eq_ignore_ascii_case("content-disposition") {
            name = parameter(value, "name");
            file_name = parameter(value, "filename");
        } else if key.trim().eq_ignore_ascii_case("content-type") {
            media_type = Some(value.trim().to_owned());
        }
    }
    let file_name = file_name.map(|name| {
        let last = name.rsplit(['/', '\\']).next();
        last.unwrap_or_default().to_owned()
    });
    Some(Field {
        name: name?,
        file_name: file_name.filter(|name| !name.is_empty()),
        media_type,
        content: Content::Held(bytes::Bytes::new()),
    })
}

/// A parameter of a header, quoted or not. Browsers percent-encode only quotes and line breaks.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value;
    while let Some(at) = rest.find(';') {
        rest = rest[at + 1..].trim_start();
        let (name, after) = rest.split_once('=')?;
        let (text, tail) = match after.strip_prefix('"') {
            Some(quoted) => {
                let end = end_of_quoted(quoted)?;
                (quoted[..end].replace("\\\"", "\""), &quoted[end + 1..])
            }
            None => {
                let end = after.find(';').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            }
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            let plain = text
                .replace("%22", "\"")
                .replace("%0D", "")
                .replace("%0A", "");
            return Some(plain);
        }
        rest = tail;
    }
    None
}

fn end_of_quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, symbol) in text.char_indices() {
        match symbol {
            '"' if !escaped => return Some(at),
            '\\' if !escaped => escaped = true,
            _ => escaped = false,
        }
    }
    None
}

/// Searches for the carriage return first: both delimiters start with it, and it is rare.
fn find(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let first = *wanted.first()?;
    let mut at = from;
    while let Some(next) = bytes.get(at..)?.iter().position(|byte| *byte == first) {
        at += next;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::{
        collections::VecDeque,
        pin::Pin,
        task::{Context, Poll},
    };

    use bytes::Bytes;
    use http_body::Frame;

    use super::*;

    struct Pieces(VecDeque<Bytes>);

    impl http_body::Body for Pieces {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<std::io::Result<Frame<Bytes>>>> {
            Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
        }
    }

    /// Parses a form that arrives in chunks of `size` bytes.
    async fn read(body: &[u8], size: usize, boundary: &str) -> Result<Vec<Field>, Problem> {
        let room = Arc::new(Room::new(3 << 20, 10));
        read_into(&room, body, size, boundary).await
    }

    /// As [`read`], with files in `room`.
    async fn read_into(
        room: &Arc<Room>,
        body: &[u8],
        size: usize,
        boundary: &str,
    ) -> Result<Vec<Field>, Problem> {
        let bounds = Bounds {
            form_bytes: 8 << 20,
            text_bytes: 1 << 20,
            spool: Arc::clone(room),
        };
        let pieces = Pieces(body.chunks(size).map(Bytes::copy_from_slice).collect());
        Reader::new(bounds, Body::new(pieces), boundary)
            .fields()
            .await
    }

    #[tokio::test]
    async fn forms_are_read_as_clients_write_them() {
        let body = b"preamble\r\n--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n\
              --x\r\ncontent-disposition: form-data; filename=\"../d/i.html\"; name=files\r\n\
              Content-Type: text/html\r\n\r\n<p>\r\n--y\r\n--x--\r\nepilogue";
        for size in [1, 2, 3, 7, 1000] {
            let fields = read(body, size, "x").await.unwrap();
            assert_eq!(fields.len(), 2);
            let text = fields[0].text().await.unwrap();
            assert_eq!((fields[0].name.as_str(), text.as_str()), ("a", "one"));
            assert_eq!(fields[1].file_name.as_deref(), Some("i.html"));
            assert_eq!(fields[1].media_type.as_deref(), Some("text/html"));
            assert_eq!(&fields[1].content.read().unwrap()[..], b"<p>\r\n--y");
        }
        assert!(read(body, 9, "z").await.is_err());
        assert!(read(&body[..60], 9, "x").await.is_err());
    }

    /// A field of `size` bytes, in a form with the boundary `x`.
    fn part(size: usize, head: &str) -> Vec<u8> {
        let head = format!("--x\r\nContent-Disposition: form-data; name=a{head}\r\n\r\n");
        [head.as_bytes(), &vec![b'\r'; size], b"\r\n"].concat()
    }

    #[tokio::test]
    async fn small_files_of_many_forms_take_no_more_files_than_there_may_be() {
        let file = "; filename=f";
        // What a form holds in memory, then fields that each have a file.
        let full = part(256 << 10, file).repeat(4);
        let form = |fields| [&*full, &part(1, file).repeat(fields), b"--x--"].concat();
        let room = Arc::new(Room::new(64 << 20, 5));
        let first = read_into(&room, &form(3), 10_000, "x").await.unwrap();
        let second = read_into(&room, &form(3), 10_000, "x").await;
        assert_eq!(second.unwrap_err().code, Code::Overloaded(What::Uploads));
        // Those of a request that has ended make place.
        let kept = read_into(&room, &form(2), 10_000, "x").await.unwrap();
        drop(first);
        read_into(&room, &form(3), 10_000, "x").await.unwrap();
        drop(kept);
    }

    #[tokio::test]
    async fn large_files_go_to_the_disk_up_to_a_bound() {
        let file = "; filename=f";
        let form = [part(100, file), part(2 << 20, file), b"--x--".to_vec()].concat();
        let fields = read(&form, 10_000, "x").await.unwrap();
        assert!(matches!(fields[0].content, Content::Held(_)));
        assert!(matches!(fields[1].content, Content::Spooled(_)));
        assert_eq!(fields[1].content.read().unwrap().len(), 2 << 20);
        // Many small files must not accumulate in memory.
        let form = [part(200 << 10, file).repeat(8), b"--x--".to_vec()].concat();
        let fields = read(&form, 10_000, "x").await.unwrap();
        let held = fields.iter().map(|field| match &field.content {
            Content::Held(bytes) => bytes.len(),
            Content::Spooled(_) => 0,
        });
        assert!(held.sum::<usize>() <= HELD_BYTES);
        let form = [part(4 << 20, file), b"--x--".to_vec()].concat();
        assert_eq!(
            read(&form, 10_000, "x").await.unwrap_err().code,
            Code::Overloaded(What::Uploads)
        );
        let form = [part(2 << 20, ""), b"--x--".to_vec()].concat();
        let error = read(&form, 10_000, "x").await.unwrap_err();
        assert!(matches!(error.code, Code::TooLarge(What::Form, _)));
        let form = [part(9 << 20, file), b"--x--".to_vec()].concat();
        assert!(read(&form, 10_000, "x").await.is_err());
    }

    #[test]
    fn the_boundary_is_found() {
        let mut headers = HeaderMap::new();
        let value =
            HeaderValue::from_static("Multipart/Form-Data; charset=utf-8; boundary=\"a b\"");
        headers.insert(CONTENT_TYPE, value);
        assert_eq!(boundary(&headers).as_deref(), Some("a b"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        assert!(!is_form(&headers));
        assert_eq!(boundary(&headers), None);
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("multipart/form-data"),
        );
        assert!(is_form(&headers) && boundary(&headers).is_none());
    }
}
