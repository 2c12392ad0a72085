//! The log: a line a request and a line an event, as text or JSON, to standard error. Never data,
//! never keys.
//!
//! Lines go through a bounded queue to a thread of their own, so that a slow reader of the log
//! never holds up a request; lines that do not fit are counted.

use std::{
    fmt::Write as _,
    io::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TryRecvError, sync_channel},
    },
    time::Duration,
};

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::config::{LogFormat, LogLevel};

/// Lines that may wait to be written.
const MAX_WAITING: usize = 8_192;

/// Where lines go.
#[derive(Clone, Debug)]
pub struct Log {
    format: LogFormat,
    level: LogLevel,
    lines: SyncSender<Line>,
    dropped: Arc<AtomicU64>,
}

/// In the extensions of an answer: fields that a handler adds to the access log.
#[derive(Clone, Debug, Default)]
pub struct LogFields(pub Vec<(&'static str, Json)>);

#[derive(Debug)]
enum Line {
    Text(String),
    Flush(SyncSender<()>),
}

impl Log {
    /// A log of `format` with `level` and all above it.
    pub fn start(format: LogFormat, level: LogLevel) -> std::io::Result<Self> {
        let (lines, receiver) = sync_channel(MAX_WAITING);
        std::thread::Builder::new()
            .name("platen-log".to_owned())
            .spawn(move || write_lines(&receiver))?;
        Ok(Self {
            format,
            level,
            lines,
            dropped: Arc::default(),
        })
    }

    /// Writes a line with `fields`.
    pub fn event(&self, level: LogLevel, message: &str, fields: &[(&str, Json)]) {
        if level > self.level {
            return;
        }
        let name = match level {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
        };
        let line = match self.format {
            LogFormat::Json => json_line(name, message, fields),
            LogFormat::Text => text_line(name, message, fields),
        };
        if self.lines.try_send(Line::Text(line)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lines that did not fit.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Waits a moment until what was said is written.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(1);
        if self.lines.try_send(Line::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(Duration::from_secs(1));
        }
    }
}

fn json_line(level: &str, message: &str, fields: &[(&str, Json)]) -> String {
    let mut line = String::with_capacity(256);
    let _ = write!(
        line,
        r#"{{"time":"{:.3}","level":"{level}","message":{}"#,
        Timestamp::now(),
        Json::from(message)
    );
    for (name, value) in fields {
        let _ = write!(line, r#","{name}":{value}"#);
    }
    line.push_str("}\n");
    line
}

fn text_line(level: &str, message: &str, fields: &[(&str, Json)]) -> String {
    let mut line = String::with_capacity(160);
    let _ = write!(line, "{:.3} {level:<5} {message}", Timestamp::now());
    for (name, value) in fields {
        match value {
            // Text of a client could hold line breaks or terminal codes; JSON escapes them.
            Json::String(text) if text.bytes().all(|byte| byte.is_ascii_graphic()) => {
                let _ = write!(line, " {name}={text}");
            }
            other => {
                let _ = write!(line, " {name}={other}");
            }
        }
    }
    line.push('\n');
    line
}

fn write_lines(receiver: &Receiver<Line>) {
    let mut buffer = String::new();
    while let Ok(first) = receiver.recv() {
        let mut next = Ok(first);
        let mut flushed = Vec::new();
        loop {
            match next {
                Ok(Line::Text(line)) => buffer.push_str(&line),
                Ok(Line::Flush(done)) => flushed.push(done),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
            if buffer.len() > 64 << 10 {
                break;
            }
            next = receiver.try_recv();
        }
        // A closed standard error is no reason to stop serving.
        let _ = std::io::stderr().lock().write_all(buffer.as_bytes());
        buffer.clear();
        for done in flushed {
            let _ = done.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_a_line() {
        let fields = [
            ("path", Json::from("/a\nb\u{1b}[31m")),
            ("status", Json::from(200)),
        ];
        let text = text_line("info", "request", &fields);
        assert_eq!(text.matches('\n').count(), 1);
        assert!(
            text.ends_with("path=\"/a\\nb\\u001b[31m\" status=200\n"),
            "{text}"
        );
        let json: Json = serde_json::from_str(&json_line("info", "request", &fields)).unwrap();
        assert_eq!(json["status"], 200);
    }
}
