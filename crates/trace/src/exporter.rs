//! Sends spans to the collector, from a thread of its own: a slow collector never delays a request.
//! Spans wait in a bounded queue; those that do not fit are dropped and counted.

use std::{
    io,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

use serde_json::Value as Json;
use ureq::{Agent, http::StatusCode};

use crate::{
    otlp::{self, EndedSpan},
    settings::Settings,
};

/// Most spans in the queue.
const MAX_WAITING: usize = 8_192;
/// Most spans of one request.
const MAX_BATCH: usize = 512;
/// How long a span waits for others.
const GATHER: Duration = Duration::from_secs(1);
/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Pauses between the attempts of one batch. Later spans wait in the queue meanwhile.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(5),
];
/// Timeout of [`flush`].
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);
/// How much of an answer is read.
const MAX_ANSWER_BYTES: u64 = 64 << 10;

static DROPPED: AtomicU64 = AtomicU64::new(0);
static QUEUE: OnceLock<SyncSender<Message>> = OnceLock::new();

enum Message {
    Ended(Box<EndedSpan>),
    Flush(SyncSender<()>),
}

/// The way to the thread. There is one in a process.
#[derive(Clone, Debug)]
pub(crate) struct Exporter(());

/// Number of spans that did not reach the collector.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

impl Exporter {
    /// Starts the thread. A later call keeps the first one's settings.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn start(settings: Settings) -> io::Result<Self> {
        let (queue, spans) = sync_channel(MAX_WAITING);
        if QUEUE.set(queue).is_ok() {
            std::thread::Builder::new()
                .name("platen-otlp".to_owned())
                .spawn(move || Sender::new(settings).run(&spans))?;
        }
        Ok(Self(()))
    }

    pub(crate) fn export(&self, span: EndedSpan) {
        let message = Message::Ended(Box::new(span));
        let sent = QUEUE
            .get()
            .is_some_and(|queue| queue.try_send(message).is_ok());
        if !sent {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Waits until all spans so far have left, for at most three seconds. Blocks.
pub fn flush() {
    let (done, wait) = sync_channel(1);
    if let Some(queue) = QUEUE.get()
        && queue.try_send(Message::Flush(done)).is_ok()
    {
        let _ = wait.recv_timeout(FLUSH_TIMEOUT);
    }
}

struct Sender {
    agent: Agent,
    settings: Settings,
    /// The last batch arrived; a change is worth a line in the log.
    is_up: bool,
}

/// Why a batch did not arrive.
struct Failure {
    cause: String,
    may_heal: bool,
}

impl Sender {
    fn new(settings: Settings) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .tls_config(settings.trust.agent_config())
            .user_agent(concat!("platen/", env!("CARGO_PKG_VERSION")))
            .build();
        Self {
            agent: Agent::new_with_config(config),
            settings,
            is_up: true,
        }
    }

    fn run(mut self, spans: &Receiver<Message>) {
        while let Ok(first) = spans.recv() {
            let mut batch = Vec::new();
            let mut flushed = Vec::new();
            let end = Instant::now() + GATHER;
            let mut next = Ok(first);
            loop {
                match next {
                    Ok(Message::Ended(span)) => batch.push(*span),
                    Ok(Message::Flush(done)) => flushed.push(done),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                }
                if batch.len() >= MAX_BATCH || !flushed.is_empty() {
                    break;
                }
                next = spans.recv_timeout(end.saturating_duration_since(Instant::now()));
            }
            if !batch.is_empty() {
                self.deliver(&batch);
            }
            for done in flushed {
                let _ = done.send(());
            }
        }
    }

    fn deliver(&mut self, batch: &[EndedSpan]) {
        let body = otlp::body(&self.settings.resource, batch);
        // A collector that was gone before gets one attempt: the queue must not stand still.
        let mut pauses = PAUSES
            .iter()
            .take(if self.is_up { PAUSES.len() } else { 0 });
        let failure = loop {
            match self.post(&body) {
                Ok(()) => break None,
                Err(failure) => match pauses.next().filter(|_| failure.may_heal) {
                    Some(pause) => std::thread::sleep(*pause),
                    None => break Some(failure),
                },
            }
        };
        let was_up = std::mem::replace(&mut self.is_up, failure.is_none());
        let endpoint = self.settings.endpoint.as_str();
        match failure {
            None if !was_up => tracing::info!(endpoint, "spans are exported again"),
            None => {}
            Some(Failure { cause, .. }) => {
                DROPPED.fetch_add(batch.len() as u64, Ordering::Relaxed);
                if was_up {
                    tracing::warn!(endpoint, cause, "spans cannot be exported");
                }
            }
        }
    }

    fn post(&self, body: &[u8]) -> Result<(), Failure> {
        let mut request = self
            .agent
            .post(self.settings.endpoint.as_str())
            .header("content-type", "application/json");
        for (name, value) in &self.settings.headers {
            request = request.header(name, value);
        }
        let sent = request.send(body).map_err(|error| Failure {
            cause: error.to_string(),
            may_heal: !matches!(error, ureq::Error::Http(_) | ureq::Error::BadUri(_)),
        })?;
        let status = sent.status();
        let answer = sent
            .into_body()
            .into_with_config()
            .limit(MAX_ANSWER_BYTES)
            .read_to_vec();
        if !status.is_success() {
            return Err(Failure {
                cause: format!("the collector answered {status}"),
                may_heal: matches!(
                    status,
                    StatusCode::TOO_MANY_REQUESTS
                        | StatusCode::BAD_GATEWAY
                        | StatusCode::SERVICE_UNAVAILABLE
                        | StatusCode::GATEWAY_TIMEOUT
                ),
            });
        }
        report_rejected(&answer.unwrap_or_default());
        Ok(())
    }
}

/// Counts spans that the collector took the request of, but not them (`partialSuccess`).
fn report_rejected(answer: &[u8]) {
    let answer: Json = serde_json::from_slice(answer).unwrap_or_default();
    let rejected = &answer["partialSuccess"]["rejectedSpans"];
    let text = rejected.as_str().and_then(|text| text.parse().ok());
    let count = rejected.as_u64().or(text).unwrap_or(0);
    if count > 0 {
        DROPPED.fetch_add(count, Ordering::Relaxed);
        let cause = answer["partialSuccess"]["errorMessage"].as_str();
        tracing::warn!(count, cause, "the collector rejected spans");
    }
}
