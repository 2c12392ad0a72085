//! A DevTools connection: calls that await their answers, and events by session.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::{mpsc, oneshot, watch},
};

/// Length of the queue of messages to Chromium.
const OUTGOING: usize = 64;
/// Events buffered for a session. A page that exceeds this loses its session, so that a script
/// cannot fill memory with events.
const EVENTS: usize = 4096;
/// Maximum size of a message from Chromium, in bytes.
pub(super) const MAX_MESSAGE: u64 = 256 << 20;
/// Maximum size of a message to Chromium, in bytes. Chromium ends, and all its pages with it, if a
/// message is longer than 100 MiB.
pub(crate) const MAX_SENT: usize = 96 << 20;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    /// The connection is closed.
    Closed,
    /// Chromium returned an error.
    Refused(String),
    /// The message is longer than [`MAX_SENT`].
    TooLong,
}

/// An event of a session.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) method: String,
    params: Box<RawValue>,
}

impl Event {
    pub(crate) fn params<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.params.get()).ok()
    }
}

pub(crate) type Events = mpsc::Receiver<Event>;
type Answer = Result<Box<RawValue>, CallError>;

#[derive(Serialize)]
struct Outgoing<'a, P> {
    id: u64,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    method: &'a str,
    params: P,
}

#[derive(Deserialize)]
struct Incoming<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(rename = "sessionId", borrow)]
    session: Option<Cow<'a, str>>,
    result: Option<Box<RawValue>>,
    params: Option<Box<RawValue>>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    message: String,
}

#[derive(Debug, Default)]
struct Table {
    calls: HashMap<u64, oneshot::Sender<Answer>>,
    sessions: HashMap<String, mpsc::Sender<Event>>,
    closed: bool,
}

#[derive(Debug)]
pub(super) struct Shared {
    next: AtomicU64,
    table: Mutex<Table>,
    pub(super) closed: watch::Sender<bool>,
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }

    pub(super) fn close(&self) {
        let mut table = self.table();
        table.closed = true;
        table.calls.clear();
        table.sessions.clear();
        drop(table);
        self.closed.send_replace(true);
    }
}

/// A connection to one Chromium.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    outgoing: mpsc::Sender<Vec<u8>>,
    pub(super) shared: Arc<Shared>,
}

/// Removes a call whose caller was dropped.
struct Call<'a> {
    id: u64,
    shared: &'a Shared,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.shared.table().calls.remove(&self.id);
    }
}

impl Connection {
    /// A connection over the two ends of a pipe.
    pub(crate) fn new(input: ChildStdin, output: ChildStdout) -> Self {
        let (connection, messages) = Self::unconnected();
        tokio::spawn(write(input, messages, Arc::clone(&connection.shared)));
        tokio::spawn(read(output, Arc::clone(&connection.shared)));
        connection
    }

    /// A connection whose messages somebody carries.
    pub(super) fn unconnected() -> (Self, mpsc::Receiver<Vec<u8>>) {
        let (outgoing, messages) = mpsc::channel(OUTGOING);
        let shared = Arc::new(Shared {
            next: AtomicU64::new(1),
            table: Mutex::default(),
            closed: watch::Sender::new(false),
        });
        (Self { outgoing, shared }, messages)
    }

    /// Closes the connection.
    pub(crate) fn close(&self) {
        self.shared.close();
    }

    pub(crate) fn is_open(&self) -> bool {
        !*self.shared.closed.borrow()
    }

    /// Calls a method and waits for its answer.
    pub(crate) async fn call<P: Serialize>(
        &self,
        session: Option<&str>,
        method: &str,
        params: P,
    ) -> Answer {
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        {
            let mut table = self.shared.table();
            if table.closed {
                return Err(CallError::Closed);
            }
            table.calls.insert(id, sender);
        }
        let _call = Call {
            id,
            shared: &self.shared,
        };
        let message = encode(id, session, method, params)?;
        let sent = self.outgoing.send(message).await;
        sent.map_err(|_| CallError::Closed)?;
        answer.await.unwrap_or(Err(CallError::Closed))
    }

    /// Calls a method without waiting; false if the queue is full.
    pub(crate) fn send<P: Serialize>(
        &self,
        session: Option<&str>,
        method: &str,
        params: P,
    ) -> bool {
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let message = encode(id, session, method, params);
        message.is_ok_and(|message| self.outgoing.try_send(message).is_ok())
    }

    /// The events of a session from now on; `""` stands for the browser itself.
    pub(crate) fn events(&self, session: &str) -> Events {
        let (sender, events) = mpsc::channel(EVENTS);
        let mut table = self.shared.table();
        if !table.closed {
            table.sessions.insert(session.to_owned(), sender);
        }
        events
    }

    pub(crate) fn forget(&self, session: &str) {
        self.shared.table().sessions.remove(session);
    }
}

fn encode<P: Serialize>(
    id: u64,
    session: Option<&str>,
    method: &str,
    params: P,
) -> Result<Vec<u8>, CallError> {
    let message = Outgoing {
        id,
        session,
        method,
        params,
    };
    let encoded = serde_json::to_vec(&message);
    let mut bytes = encoded.map_err(|error| CallError::Refused(error.to_string()))?;
    bytes.push(0);
    match bytes.len() > MAX_SENT {
        true => Err(CallError::TooLong),
        false => Ok(bytes),
    }
}

async fn write(mut input: ChildStdin, mut messages: mpsc::Receiver<Vec<u8>>, shared: Arc<Shared>) {
    let mut closed = shared.closed.subscribe();
    loop {
        let message = tokio::select! {
            message = messages.recv() => message,
            _ = closed.wait_for(|closed| *closed) => None,
        };
        let Some(message) = message else { break };
        if input.write_all(&message).await.is_err() {
            break;
        }
    }
    shared.close();
}

async fn read(output: ChildStdout, shared: Arc<Shared>) {
    let mut output = BufReader::with_capacity(256 << 10, output);
    let mut message = Vec::new();
    loop {
        message.clear();
        message.shrink_to(1 << 20);
        let mut bounded = (&mut output).take(MAX_MESSAGE);
        let count = bounded.read_until(0, &mut message).await;
        if !matches!(count, Ok(1..)) || message.pop() != Some(0) {
            break;
        }
        dispatch(&message, &shared);
    }
    shared.close();
}

pub(super) fn dispatch(message: &[u8], shared: &Shared) {
    let Ok(incoming) = serde_json::from_slice::<Incoming>(message) else {
        return;
    };
    let mut table = shared.table();
    if let Some(id) = incoming.id {
        if let Some(caller) = table.calls.remove(&id) {
            let answer = match (incoming.result, incoming.error) {
                (_, Some(refusal)) => Err(CallError::Refused(refusal.message)),
                (Some(result), None) => Ok(result),
                (None, None) => Err(CallError::Refused("no answer".to_owned())),
            };
            let _ = caller.send(answer);
        }
        return;
    }
    let session = incoming.session.unwrap_or_default();
    if let (Some(method), Some(params)) = (incoming.method, incoming.params)
        && let Some(events) = table.sessions.get(session.as_ref())
    {
        let method = method.into_owned();
        if events.try_send(Event { method, params }).is_err() {
            table.sessions.remove(session.as_ref());
        }
    }
}
