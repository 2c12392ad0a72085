//! HTTP/1.1 responses: heads, and bodies with a length, in chunks (with trailers), or until the
//! connection closes.

use std::io::{self, BufRead, Read};

use crate::Outcome;

/// Maximum sizes of a head and of a body, in bytes.
const MAX_HEAD_BYTES: u64 = 256 << 10;
const MAX_BODY_BYTES: u64 = 1 << 30;

/// A response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Size of the head including its empty line, in bytes.
    pub head_bytes: u64,
    /// Size of the body, in bytes.
    pub size_bytes: u64,
    /// Size of the body on the wire, in bytes: including the lines around chunks.
    pub wire_bytes: u64,
    /// Whether the body is chunked.
    pub is_chunked: bool,
    /// Whether the connection closes.
    pub closes: bool,
    /// `X-Render-Pages`.
    pub pages: Option<u32>,
    /// `X-Render-Duration-Ms`.
    pub server_ms: Option<f64>,
    /// Phases of `Server-Timing`, in milliseconds.
    pub phases: Vec<(String, f64)>,
    /// `ETag`.
    pub etag: Option<String>,
    /// `Content-Length`.
    pub length: Option<u64>,
}

impl Answer {
    /// What a load records about it; successful with status 200.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        let total = self.phases.iter().find(|(name, _)| name == "total");
        let server_ms = total.map(|(_, ms)| *ms).or(self.server_ms);
        let server_ms = server_ms.or_else(|| {
            let sum: f64 = self.phases.iter().map(|(_, ms)| ms).sum();
            (!self.phases.is_empty()).then_some(sum)
        });
        Outcome {
            is_good: self.status == 200,
            status: self.status,
            size_bytes: self.size_bytes,
            pages: self.pages,
            server_us: server_ms.map(|ms| (ms * 1e3).round() as u64),
            phases: self.phases,
        }
    }

    pub(super) fn read(
        stream: &mut impl BufRead,
        mut body: Option<&mut Vec<u8>>,
    ) -> io::Result<Self> {
        let mut answer = Self::default();
        let mut head = stream.by_ref().take(MAX_HEAD_BYTES);
        let mut line = String::new();
        answer.head_bytes += head.read_line(&mut line)? as u64;
        let status = line.split(' ').nth(1).and_then(|text| text.parse().ok());
        answer.status = status.ok_or_else(|| invalid("not an HTTP response"))?;
        loop {
            line.clear();
            answer.head_bytes += head.read_line(&mut line)? as u64;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            answer.take_header(name, value.trim())?;
        }
        if matches!(answer.status, 204 | 304) {
            return Ok(answer);
        }
        if answer.is_chunked {
            answer.read_chunks(stream, &mut body)?;
        } else {
            let length = answer.length.unwrap_or(MAX_BODY_BYTES);
            let read = copy(stream, length, &mut body)?;
            answer.closes |= answer.length.is_none();
            if answer.length.is_some_and(|length| read != length) {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            (answer.size_bytes, answer.wire_bytes) = (read, read);
        }
        Ok(answer)
    }

    fn take_header(&mut self, name: &str, value: &str) -> io::Result<()> {
        match name.to_ascii_lowercase().as_str() {
            "content-length" => {
                let length = value.parse().ok().filter(|it| *it <= MAX_BODY_BYTES);
                self.length = Some(length.ok_or_else(|| invalid("an invalid length"))?);
            }
            "transfer-encoding" => self.is_chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => self.closes = value.eq_ignore_ascii_case("close"),
            "x-render-duration-ms" => self.server_ms = value.parse().ok(),
            "server-timing" => self.phases = phases(value),
            "x-render-pages" => self.pages = value.parse().ok(),
            "etag" => self.etag = Some(value.to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn read_chunks(
        &mut self,
        stream: &mut impl BufRead,
        body: &mut Option<&mut Vec<u8>>,
    ) -> io::Result<()> {
        let mut line = String::new();
        loop {
            line.clear();
            self.wire_bytes += stream.by_ref().take(MAX_HEAD_BYTES).read_line(&mut line)? as u64;
            let digits = line.trim_end().split(';').next().unwrap_or_default();
            let size = u64::from_str_radix(digits, 16).map_err(|_| invalid("a chunk's length"))?;
            if size == 0 {
                break;
            }
            if self.size_bytes + size > MAX_BODY_BYTES {
                return Err(invalid("a body that is too long"));
            }
            if copy(stream, size, body)? != size {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            line.clear();
            self.wire_bytes += size + stream.by_ref().take(2).read_line(&mut line)? as u64;
            self.size_bytes += size;
        }
        loop {
            line.clear();
            self.wire_bytes += stream.by_ref().take(MAX_HEAD_BYTES).read_line(&mut line)? as u64;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                return Ok(());
            };
            self.take_header(name, value.trim())?;
        }
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Reads `length` bytes, and keeps them if `body` is given.
fn copy(
    stream: &mut impl BufRead,
    length: u64,
    body: &mut Option<&mut Vec<u8>>,
) -> io::Result<u64> {
    let mut stream = stream.take(length);
    match body {
        Some(body) => stream.read_to_end(body).map(|read| read as u64),
        None => {
            let mut read = 0;
            // Data in the buffer is skipped without being copied.
            loop {
                let here = stream.fill_buf()?.len();
                if here == 0 {
                    return Ok(read);
                }
                stream.consume(here);
                read += here as u64;
            }
        }
    }
}

/// Parses `a;dur=1.5, b;dur=2` to names and milliseconds.
fn phases(value: &str) -> Vec<(String, f64)> {
    let phase = |text: &str| {
        let (name, duration) = text.trim().split_once(";dur=")?;
        Some((name.to_owned(), duration.parse().ok()?))
    };
    value.split(',').filter_map(phase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (io::Result<Answer>, Vec<u8>) {
        let mut body = Vec::new();
        let answer = Answer::read(&mut text.as_bytes(), Some(&mut body));
        (answer, body)
    }

    #[test]
    fn chunks_and_trailers() {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Render-Pages: 7\r\n\r\n";
        let (answer, body) = read(text);
        let answer = answer.unwrap();
        assert_eq!(body, b"abcde");
        assert_eq!((answer.size_bytes, answer.pages), (5, Some(7)));
        assert_eq!(answer.head_bytes + answer.wire_bytes, text.len() as u64);
    }

    #[test]
    fn lengths_and_timings() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\
            Server-Timing: load;dur=0.5, write;dur=1.5\r\n\r\nokmore";
        let (answer, body) = read(text);
        let answer = answer.unwrap();
        assert_eq!(body, b"ok");
        assert!(answer.closes);
        let outcome = answer.outcome();
        assert_eq!((outcome.is_good, outcome.server_us), (true, Some(2000)));
    }

    #[test]
    fn what_is_cut_off_is_no_answer() {
        for text in [
            "",
            "nonsense\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nshort",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ] {
            assert!(read(text).0.is_err(), "{text:?}");
        }
        let failed = read("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
            .0
            .unwrap();
        assert!(!failed.outcome().is_good);
    }
}
