//! Clients that keep their connections, and know which process has them.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use serde_json::Value as Json;

use crate::{
    process::{LONG, Service},
    waiting::wait_until,
};

/// A small document of the template `t`.
pub const RENDER: &str = r#"{"template":"t","format":"html"}"#;

/// A connection that is kept.
pub struct Client {
    stream: BufReader<TcpStream>,
    /// The process that has it.
    pub worker: u64,
}

pub struct Reply {
    pub status: u16,
    head: String,
    pub body: Vec<u8>,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Client {
    /// A connection that stays: a process that is about to end takes those that wait for it, answers
    /// one request of each and says that it closes.
    pub fn connect(service: &Service) -> io::Result<Self> {
        loop {
            let (client, closes) = Self::connect_once(service)?;
            if !closes {
                return Ok(client);
            }
        }
    }

    fn connect_once(service: &Service) -> io::Result<(Self, bool)> {
        let stream = TcpStream::connect(service.url.trim_start_matches("http://"))?;
        stream.set_read_timeout(Some(LONG))?;
        let mut client = Self {
            stream: BufReader::new(stream),
            worker: 0,
        };
        let live = client.ask("GET", "/health/live", "", "")?;
        let closes = live.header("connection") == Some("close");
        let live: Json = serde_json::from_slice(&live.body)?;
        client.worker = live["worker"].as_u64().unwrap();
        Ok((client, closes))
    }

    pub fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> io::Result<Reply> {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             {headers}content-length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let mut reply = Reply {
            status: head[9..12].parse().unwrap(),
            head,
            body: Vec::new(),
        };
        // A 204 has no length (RFC 9110, section 8.6).
        let size = reply.header("content-length");
        let size: u64 = size.map_or(0, |size| size.parse().unwrap());
        (&mut self.stream).take(size).read_to_end(&mut reply.body)?;
        if reply.body.len() as u64 != size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(reply)
    }
}

/// Clients that render by keys, until they are told to stop.
pub struct Load {
    stop: AtomicBool,
    done: AtomicUsize,
    /// Connections that were opened.
    opened: AtomicUsize,
    /// By the process that had the connection.
    pub failures: Mutex<Vec<(u64, String)>>,
}

impl Load {
    pub fn new() -> Self {
        Self {
            stop: AtomicBool::new(false),
            done: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            failures: Mutex::default(),
        }
    }

    /// Renders on kept connections; one that broke is opened again.
    pub fn run(&self, service: &Service) {
        while !self.stop.load(Ordering::Relaxed) {
            let mut client = match Client::connect(service) {
                Ok(client) => client,
                Err(error) => {
                    self.fail(u64::MAX, error.to_string());
                    continue;
                }
            };
            self.opened.fetch_add(1, Ordering::Relaxed);
            while !self.stop.load(Ordering::Relaxed) {
                let close = match client.ask("POST", "/render", "", RENDER) {
                    Ok(reply) if reply.status == 200 => reply.header("connection") == Some("close"),
                    Ok(reply) => {
                        self.fail(client.worker, format!("status {}", reply.status));
                        true
                    }
                    Err(error) => {
                        self.fail(client.worker, error.to_string());
                        true
                    }
                };
                self.done.fetch_add(1, Ordering::Relaxed);
                if close {
                    break;
                }
            }
        }
    }

    fn fail(&self, worker: u64, cause: String) {
        self.failures.lock().unwrap().push((worker, cause));
    }

    /// Waits until `count` connections were opened: whichever breaks then, its process is known.
    pub fn wait_for_clients(&self, count: usize) {
        wait_until("all clients are connected", || {
            self.opened.load(Ordering::Relaxed) >= count
        });
    }

    pub fn wait_for(&self, more: usize) {
        let target = self.done.load(Ordering::Relaxed) + more;
        wait_until("more is rendered", || {
            self.done.load(Ordering::Relaxed) >= target
        });
    }
}

/// Stops the clients, also where a check fails.
pub struct Stop<'a>(pub &'a Load);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}
