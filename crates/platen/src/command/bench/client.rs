//! A small HTTP/1.1 client with keep-alive (RFC 9112), so that the load costs little itself.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use super::measure::Sample;
use crate::report::Failure;

/// A request that takes longer failed.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The largest answer that is read.
const MAX_ANSWER_BYTES: usize = 1 << 30;

/// Host and port of `http://host:port`.
pub fn address(url: &str) -> Result<String, Failure> {
    let rest = url
        .strip_prefix("http://")
        .map(|rest| rest.trim_end_matches('/'));
    match rest {
        Some(address) if address.contains(':') && !address.contains('/') => Ok(address.to_owned()),
        _ => Err(Failure::caller(
            format!("`{url}` is not an address"),
            "write it as http://127.0.0.1:3000",
        )),
    }
}

/// Body of a render request, around data that is JSON already.
pub fn render_body(key: &str, data: &[u8]) -> Vec<u8> {
    let mut body = format!("{{\"template\":\"{key}\",\"data\":").into_bytes();
    body.extend_from_slice(data);
    body.push(b'}');
    body
}

/// Stores something, or leaves it where it is stored.
pub fn store(
    address: &str,
    api_key: Option<&str>,
    path: &str,
    content: &[u8],
) -> Result<(), Failure> {
    let mut connection = Connection::open(address, api_key)?;
    let answer = connection
        .request("POST", path, content)
        .ok_or_else(|| Failure::Internal(format!("no answer from {address}")))?;
    match answer.status {
        200..=299 | 409 => Ok(()),
        status => Err(Failure::Internal(format!(
            "POST {path} was answered with {status}"
        ))),
    }
}

/// A connection that is used again.
pub struct Connection {
    stream: BufReader<TcpStream>,
    head: String,
}

struct Answer {
    status: u16,
    server_ms: Option<f64>,
    pages: Option<u32>,
    size_bytes: usize,
    /// Phases of `Server-Timing` with their milliseconds.
    phases: Vec<(String, f64)>,
}

impl Connection {
    /// Connects.
    pub fn open(address: &str, api_key: Option<&str>) -> Result<Self, Failure> {
        let failed = |error| {
            Failure::caller(
                format!("cannot connect to {address}: {error}"),
                "start the service with `platen serve`",
            )
        };
        let stream = TcpStream::connect(address).map_err(failed)?;
        stream.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let mut head = format!("Host: {address}\r\nContent-Type: application/json\r\n");
        if let Some(key) = api_key {
            head.push_str(&format!("X-Api-Key: {key}\r\n"));
        }
        Ok(Self {
            stream: BufReader::with_capacity(64 << 10, stream),
            head,
        })
    }

    /// Renders a document; `None` where that failed.
    pub fn render(&mut self, path: &str, body: &[u8]) -> Option<Sample> {
        let answer = self.request("POST", path, body)?;
        (answer.status == 200).then_some(Sample {
            size_bytes: answer.size_bytes,
            pages: answer.pages,
            server_ms: answer.server_ms,
        })
    }

    /// Calls a flow: its phases as the service tells them; `None` where that failed.
    pub fn call(&mut self, path: &str, body: &[u8]) -> Option<(Sample, Vec<(String, f64)>)> {
        let answer = self.request("POST", path, body)?;
        let total = answer.phases.iter().find(|(name, _)| name == "total");
        let sample = Sample {
            size_bytes: answer.size_bytes,
            pages: None,
            server_ms: total.map(|(_, milliseconds)| *milliseconds),
        };
        (answer.status == 200).then_some((sample, answer.phases))
    }

    fn request(&mut self, method: &str, path: &str, body: &[u8]) -> Option<Answer> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n",
            self.head,
            body.len()
        );
        let mut message = head.into_bytes();
        message.extend_from_slice(body);
        self.stream.get_mut().write_all(&message).ok()?;
        self.answer()
    }

    fn answer(&mut self) -> Option<Answer> {
        let mut line = String::new();
        self.stream.read_line(&mut line).ok()?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut answer = Answer {
            status,
            server_ms: None,
            pages: None,
            size_bytes: 0,
            phases: Vec::new(),
        };
        loop {
            line.clear();
            self.stream.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => answer.size_bytes = value.parse().ok()?,
                "x-render-duration-ms" => answer.server_ms = value.parse().ok(),
                "server-timing" => answer.phases = phases(value),
                "x-render-pages" => answer.pages = value.parse().ok(),
                _ => {}
            }
        }
        if answer.size_bytes > MAX_ANSWER_BYTES {
            return None;
        }
        let size = answer.size_bytes as u64;
        let read = std::io::copy(&mut (&mut self.stream).take(size), &mut std::io::sink()).ok()?;
        (read == size).then_some(answer)
    }
}

/// `a;dur=1.5, b;dur=2`: names and milliseconds.
fn phases(value: &str) -> Vec<(String, f64)> {
    let phase = |text: &str| {
        let (name, duration) = text.trim().split_once(";dur=")?;
        Some((name.to_owned(), duration.parse().ok()?))
    };
    value.split(',').filter_map(phase).collect()
}
