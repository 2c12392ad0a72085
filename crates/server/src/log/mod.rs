//! The log: a line for each `tracing` event, as text or JSON, to standard error. It contains
//! neither document data nor keys. A line within a request, a run or a job names it.
//!
//! A bounded queue and a writer thread keep a slow reader of the log from delaying requests. Lines
//! that do not fit are dropped and counted.

mod line;

use std::{
    io::Write as _,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TryRecvError, sync_channel},
    },
    time::Duration,
};

use serde_json::Value as Json;
use tracing::{
    Event, Metadata, Subscriber,
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

use self::line::{Fields, Identifiers, Line};
use crate::config::{LogFormat, LogLevel};

/// Most lines in the queue.
const MAX_WAITING: usize = 8_192;
/// Timeout of [`flush`].
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

static WRITER: OnceLock<SyncSender<Message>> = OnceLock::new();
static DROPPED: AtomicU64 = AtomicU64::new(0);

enum Message {
    Line(String),
    Flush(SyncSender<()>),
}

/// Response extension: fields that a handler adds to the access log.
#[derive(Clone, Debug, Default)]
pub struct LogFields(pub Vec<(&'static str, Json)>);

/// Writes the events of this process at `level` and above to standard error, and exports its spans
/// if `traces` names a collector. Later calls have no effect.
///
/// # Errors
/// If a thread cannot start.
pub fn install(
    format: LogFormat,
    level: LogLevel,
    traces: Option<platen_trace::Settings>,
) -> std::io::Result<()> {
    if WRITER.get().is_some() {
        return Ok(());
    }
    let (lines, receiver) = sync_channel(MAX_WAITING);
    std::thread::Builder::new()
        .name("platen-log".to_owned())
        .spawn(move || write_lines(&receiver))?;
    if WRITER.set(lines).is_ok() {
        let layer = LogLayer { format };
        let filter = match level {
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
        };
        let subscriber = tracing_subscriber::registry()
            .with(layer.with_filter(OurEvents(filter)))
            .with(platen_trace::layer(traces)?);
        // An embedding process may have its own subscriber: events stay there.
        let _ = tracing::subscriber::set_global_default(subscriber);
    }
    Ok(())
}

/// Number of dropped lines.
pub(crate) fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// Waits until all spans so far are exported, for at most three seconds, and all events so far are
/// written, for at most a second. Blocks.
pub fn flush() {
    let (done, wait) = sync_channel(1);
    platen_trace::flush();
    if let Some(lines) = WRITER.get()
        && lines.try_send(Message::Flush(done)).is_ok()
    {
        let _ = wait.recv_timeout(FLUSH_TIMEOUT);
    }
}

/// Keeps only events of Platen's crates; libraries log too much.
struct OurEvents(LevelFilter);

impl<S: Subscriber> tracing_subscriber::layer::Filter<S> for OurEvents {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        // Spans carry the ids that events of any level need.
        metadata.target().starts_with("platen")
            && (metadata.is_span() || *metadata.level() <= self.0)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.0.max(LevelFilter::INFO))
    }
}

/// Formats events and queues them for the writer.
struct LogLayer {
    format: LogFormat,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LogLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut Identifiers(&mut fields));
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(&mut Identifiers(fields));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut line = Line::default();
        for span in context
            .event_scope(event)
            .into_iter()
            .flat_map(tracing_subscriber::registry::Scope::from_root)
        {
            if let Some(fields) = span.extensions().get::<Fields>() {
                line.fields.merge(fields);
            }
        }
        event.record(&mut line);
        let level = match *event.metadata().level() {
            tracing::Level::ERROR => "error",
            tracing::Level::WARN => "warn",
            tracing::Level::INFO => "info",
            _ => "debug",
        };
        let text = match self.format {
            LogFormat::Json => line.to_json(level),
            LogFormat::Text => line.to_text(level),
        };
        let sent = WRITER
            .get()
            .is_some_and(|lines| lines.try_send(Message::Line(text)).is_ok());
        if !sent {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn write_lines(receiver: &Receiver<Message>) {
    let mut buffer = String::new();
    while let Ok(first) = receiver.recv() {
        let mut next = Ok(first);
        let mut flushed = Vec::new();
        loop {
            match next {
                Ok(Message::Line(line)) => buffer.push_str(&line),
                Ok(Message::Flush(done)) => flushed.push(done),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
            // Batch lines into one write, up to this size.
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
