//! Fixture of the HTTP benchmarks. It handles the headers `Body-Conf` and `Dly` as Puma's
//! `ci_select.ru` does, with the same response headers and sizes, so that results of both go into
//! the same tables.
//!
//! `Body-Conf` is a letter and a number of kilobytes: `a` for an array of 1,024-byte segments, `c`
//! for the same segments as chunks, `s` for one string, `i` for a file. Digits alone mean `s`; a
//! missing header means `s1`. `Dly` is a time to sleep, in seconds.

use std::{
    collections::HashMap,
    convert::Infallible,
    fs::File,
    io,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{
    HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header::CONTENT_TYPE,
};
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;

use crate::{Bind, Body, FileBody, Handler, Limits, Peer, RequestBody, ShardError, Shards, Silent};

/// Size of a segment, in bytes.
const PART_BYTES: usize = 1_024;
/// Number of headers added to `Content-Type`.
const EXTRA_HEADERS: usize = 25;
/// Largest body, in kilobytes.
const MAX_KILOBYTES: usize = 64 << 10;
/// Number of generated bodies and files kept in memory.
const MAX_KEPT: usize = 64;
/// Longest sleep.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// The service. Clones share the generated bodies.
#[derive(Clone)]
pub struct BenchFixture {
    shared: Arc<Kept>,
}

struct Kept {
    headers: HeaderMap,
    folder: PathBuf,
    parts: Mutex<HashMap<(usize, String), Made>>,
    files: Mutex<HashMap<usize, Arc<File>>>,
}

/// One generated body, as segments and as a whole.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) parts: Arc<[Bytes]>,
    pub(crate) whole: Bytes,
}

/// How a body is produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Array,
    Chunks,
    String,
    File,
}

impl BenchFixture {
    /// The service. It writes the files for `i` into `folder` when they are first requested.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let mut headers = HeaderMap::with_capacity(EXTRA_HEADERS + 4);
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        headers.insert(CONTENT_TYPE, text);
        for number in 0..EXTRA_HEADERS {
            let name = HeaderName::from_bytes(format!("x-my-header-{number}").as_bytes());
            let value = HeaderValue::from_str(&digits(number));
            if let (Ok(name), Ok(value)) = (name, value) {
                headers.insert(name, value);
            }
        }
        Self {
            shared: Arc::new(Kept {
                headers,
                folder: folder.to_owned(),
                parts: Mutex::default(),
                files: Mutex::default(),
            }),
        }
    }

    fn body(&self, kind: Kind, kilobytes: usize, delay: &str) -> io::Result<Body> {
        let made = self.made(kilobytes, delay);
        Ok(match kind {
            Kind::String => Body::from(made.whole),
            Kind::Array => Body::segments(made.parts.to_vec()),
            Kind::Chunks => Body::stream(Chunks {
                parts: made.parts,
                next: 0,
            }),
            Kind::File => {
                let file = self.file(kilobytes, &made.whole)?;
                FileBody::range(file, 0, made.whole.len() as u64).into()
            }
        })
    }

    /// The headers of every answer.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.shared.headers
    }

    /// The body of this many kilobytes; `delay` is the text of `Dly`.
    pub(crate) fn made(&self, kilobytes: usize, delay: &str) -> Made {
        let mut kept = self.shared.parts.lock();
        if let Some(made) = kept.get(&(kilobytes, delay.to_owned())) {
            return made.clone();
        }
        let mut begin = format!("{}\nHello World\n", std::process::id());
        if !delay.is_empty() {
            begin.push_str(&format!("Slept {delay}\n"));
        }
        let first = padded(&begin);
        let other = padded("");
        let parts: Vec<Bytes> = (0..kilobytes.max(1))
            .map(|part| {
                if part == 0 {
                    first.clone()
                } else {
                    other.clone()
                }
            })
            .collect();
        let made = Made {
            whole: parts.concat().into(),
            parts: parts.into(),
        };
        if kept.len() < MAX_KEPT {
            kept.insert((kilobytes, delay.to_owned()), made.clone());
        }
        made
    }

    fn file(&self, kilobytes: usize, content: &Bytes) -> io::Result<Arc<File>> {
        let mut files = self.shared.files.lock();
        if let Some(file) = files.get(&kilobytes) {
            return Ok(Arc::clone(file));
        }
        let path = self.path_of(kilobytes);
        std::fs::write(&path, content)?;
        let file = Arc::new(File::open(path)?);
        if files.len() < MAX_KEPT {
            files.insert(kilobytes, Arc::clone(&file));
        }
        Ok(file)
    }

    fn path_of(&self, kilobytes: usize) -> PathBuf {
        let name = format!("body_io_{kilobytes:04}.txt");
        self.shared.folder.join(name)
    }

    /// The path of the file with a body, which is written when it is first requested.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn path(&self, kilobytes: usize, content: &Bytes) -> io::Result<PathBuf> {
        self.file(kilobytes, content)?;
        Ok(self.path_of(kilobytes))
    }
}

/// Serves the fixture on `binds` with `threads` threads until [`Shards::stop`].
///
/// # Errors
/// An address is taken, or a thread cannot be started.
pub fn start(
    bench_fixture: &BenchFixture,
    binds: &[Bind],
    threads: usize,
    limits: Limits,
) -> Result<Shards, ShardError> {
    let handler: Arc<dyn Handler> = Arc::new(bench_fixture.clone());
    let make = Arc::new(move |_: &Peer| Arc::clone(&handler));
    Shards::start(binds, threads, limits, Arc::new(Silent), make)
}

/// Fifty pseudo-random hexadecimal digits, the same for the same `seed`.
fn digits(seed: usize) -> String {
    let mut state = seed as u64 + 1;
    (0..50)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from_digit((state >> 60) as u32, 16).unwrap_or('0')
        })
        .collect()
}

/// `text`, padded with dashes to one line as long as a segment.
fn padded(text: &str) -> Bytes {
    let mut part = text.as_bytes().to_vec();
    part.resize(PART_BYTES - 1, b'-');
    part.push(b'\n');
    part.into()
}

/// Parses `Body-Conf`; `None` if it is invalid or larger than [`MAX_KILOBYTES`].
pub(crate) fn configuration(headers: &HeaderMap) -> Option<(Kind, usize)> {
    let Some(value) = headers.get("body-conf") else {
        return Some((Kind::String, 1));
    };
    let text = value.to_str().ok()?;
    let (kind, number) = match text.as_bytes().first()? {
        b'a' => (Kind::Array, &text[1..]),
        b'c' => (Kind::Chunks, &text[1..]),
        b's' => (Kind::String, &text[1..]),
        b'i' => (Kind::File, &text[1..]),
        _ => (Kind::String, text),
    };
    let kilobytes = number.parse().ok()?;
    (kilobytes <= MAX_KILOBYTES).then_some((kind, kilobytes))
}

/// Parses `Dly`: its text, and the time to sleep.
pub(crate) fn delay(headers: &HeaderMap) -> Option<(&str, Duration)> {
    let text = headers.get("dly")?.to_str().ok()?;
    let seconds: f64 = text.parse().ok()?;
    let delay = Duration::try_from_secs_f64(seconds).ok()?;
    Some((text, delay.min(MAX_DELAY)))
}

/// The segments as a stream without a known length.
struct Chunks {
    parts: Arc<[Bytes]>,
    next: usize,
}

impl http_body::Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = self.parts.get(self.next).cloned();
        self.next += 1;
        Poll::Ready(part.map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.next >= self.parts.len()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

impl Handler for BenchFixture {
    fn handle(&self, request: Request<RequestBody>) -> BoxFuture<'static, Response<Body>> {
        let delay = delay(request.headers()).map(|(text, delay)| (text.to_owned(), delay));
        let (text, wait) = delay.unwrap_or_default();
        let body = match configuration(request.headers()) {
            Some((kind, kilobytes)) => self.body(kind, kilobytes, &text).ok(),
            None => None,
        };
        let mut response = Response::new(Body::empty());
        match body {
            Some(body) => {
                *response.headers_mut() = self.shared.headers.clone();
                *response.body_mut() = body;
            }
            None => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
        }
        if wait.is_zero() {
            return Box::pin(std::future::ready(response));
        }
        Box::pin(async move {
            tokio::time::sleep(wait).await;
            response
        })
    }
}
