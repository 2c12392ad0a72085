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
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::{mpsc, oneshot, watch},
};

/// Length of the queue of messages to Chromium.
const OUTGOING: usize = 64;
/// Events buffered for a session. A page that exceeds this loses its session, so that a script
/// cannot fill memory with events.
const EVENTS: usize = 4096;
/// Maximum size of a message from Chromium, in bytes.
pub(crate) const MAX_MESSAGE: u64 = 256 << 20;
/// Maximum size of a message to Chromium, in bytes. Chromium ends, and all its pages with it, if a
/// message is longer than 100 MiB.
pub(crate) const MAX_SENT: usize = 96 << 20;
/// What is kept of the start and of the end of a message that is too long, in bytes: enough to tell
/// what it is for.
const EDGE: usize = 512;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    /// The connection is closed.
    Closed,
    /// Chromium returned an error.
    Refused(String),
    /// The message is longer than [`MAX_SENT`].
    TooLong,
    /// The answer is longer than [`MAX_MESSAGE`].
    AnswerTooLong,
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

    /// Fails the call that a message answers that was too long to be kept, or ends the session that
    /// it is an event of. False if it names neither.
    fn give_up(&self, head: &[u8], tail: &[u8]) -> bool {
        let mut table = self.table();
        if let Some(id) = call_of(head) {
            if let Some(caller) = table.calls.remove(&id) {
                let _ = caller.send(Err(CallError::AnswerTooLong));
            }
            return true;
        }
        let session = session_of(tail);
        if let Some(session) = session {
            table.sessions.remove(session);
        }
        session.is_some()
    }
}

/// The call that a message answers: Chromium writes its number first.
fn call_of(head: &[u8]) -> Option<u64> {
    let rest = head.strip_prefix(b"{\"id\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// The session of a message: Chromium writes it last. Nothing in an inner text ends like this, as
/// quotes are escaped there, and nothing in an inner object, as that has one more brace behind it.
fn session_of(tail: &[u8]) -> Option<&str> {
    let rest = tail.strip_suffix(b"\"}")?;
    let start = rest.iter().rposition(|byte| *byte == b'"')? + 1;
    let (before, session) = rest.split_at(start);
    if !before.ends_with(b",\"sessionId\":\"") {
        return None;
    }
    std::str::from_utf8(session).ok()
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
        tokio::spawn(read(output, MAX_MESSAGE, Arc::clone(&connection.shared)));
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

async fn read(output: impl AsyncRead + Unpin, max_bytes: u64, shared: Arc<Shared>) {
    let mut output = BufReader::with_capacity(256 << 10, output);
    let mut message = Vec::new();
    loop {
        message.clear();
        message.shrink_to(1 << 20);
        let mut bounded = (&mut output).take(max_bytes);
        let count = bounded.read_until(0, &mut message).await;
        if !matches!(count, Ok(1..)) {
            break;
        }
        if message.last() == Some(&0) {
            message.pop();
            dispatch(&message, &shared);
        } else if !skip(&mut output, &mut message, &shared).await {
            break;
        }
    }
    shared.close();
}

/// Reads over the rest of a message that is too long, which one page may cause, so that the others
/// can follow. False if that is not possible.
async fn skip(
    output: &mut (impl AsyncBufRead + Unpin),
    message: &mut Vec<u8>,
    shared: &Shared,
) -> bool {
    let head = message[..message.len().min(EDGE)].to_vec();
    let mut tail = message.split_off(message.len().saturating_sub(EDGE));
    message.clear();
    message.shrink_to_fit();
    loop {
        let Ok(buffer) = output.fill_buf().await else {
            return false;
        };
        let end = buffer.iter().position(|byte| *byte == 0);
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let used = part.len() + usize::from(end.is_some());
        tail.extend_from_slice(part);
        tail.drain(..tail.len().saturating_sub(EDGE));
        output.consume(used);
        match (end, used) {
            (Some(_), _) => return shared.give_up(&head, &tail),
            // The connection has ended.
            (None, 0) => return false,
            (None, _) => {}
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_they_are_for() {
        assert_eq!(call_of(br#"{"id":17,"result":{"#), Some(17));
        assert_eq!(call_of(br#"{"method":"a","params":{"id":17"#), None);
        assert_eq!(call_of(br#"{"id":"#), None);
        let session = session_of(br#"bc"}]},"sessionId":"0A1B"}"#);
        assert_eq!(session, Some("0A1B"));
        for inner in [
            &br#"{"method":"a","params":{"b":1,"sessionId":"0A1B"}}"#[..],
            br#"{"method":"a","params":{},"b":",\"sessionId\":\"0A1B"}"#,
            br#""}"#,
            b"",
        ] {
            assert_eq!(
                session_of(inner),
                None,
                "{}",
                String::from_utf8_lossy(inner)
            );
        }
    }

    #[tokio::test]
    async fn a_message_that_is_too_long_ends_what_it_is_for_only() {
        let (connection, _messages) = Connection::unconnected();
        let shared = &connection.shared;
        let (mut noisy, mut quiet) = (connection.events("A"), connection.events("B"));
        let (sender, answer) = oneshot::channel();
        shared.table().calls.insert(7, sender);
        let long = "x".repeat(5000);
        let messages = [
            format!(r#"{{"id":7,"result":{{"value":"{long}"}},"sessionId":"B"}}"#),
            format!(r#"{{"method":"m","params":{{"text":"{long}"}},"sessionId":"A"}}"#),
            r#"{"method":"m","params":{},"sessionId":"A"}"#.to_owned(),
            r#"{"method":"m","params":{},"sessionId":"B"}"#.to_owned(),
        ];
        let sent = messages.join("\0") + "\0";
        read(sent.as_bytes(), 1000, Arc::clone(shared)).await;
        assert_eq!(answer.await.unwrap().unwrap_err(), CallError::AnswerTooLong);
        assert!(noisy.recv().await.is_none());
        assert_eq!(quiet.recv().await.unwrap().method, "m");
        assert!(!connection.is_open(), "the pipe has ended");
    }
}
