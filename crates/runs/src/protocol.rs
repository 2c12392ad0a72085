//! Protocol between app and worker: frames of JSON behind a length of four bytes, big-endian, on a
//! connection that stays open.
//!
//! The worker opens with [`ToApp::Hello`]; the app answers [`ToWorker::Welcome`] or
//! [`ToWorker::Refused`]. From then on the app pushes runs, and it answers each numbered request of
//! the worker under that number.

use std::{collections::BTreeMap, io, sync::Arc};

use platen_flow::{Entry, model::StoreScope};
use platen_storage::runs::{Ending, RunState, Write};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value as Json, value::RawValue};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

use crate::answer::Times;

/// Protocol name in the `Upgrade` header.
pub const UPGRADE: &str = "platen-worker";
/// Version of the frames; both sides must have the same.
pub const PROTOCOL: u32 = 3;
/// The longest frame: an output of a step and its journal must fit.
pub const MAX_FRAME_BYTES: usize = 64 << 20;
/// Flows that a connection remembers by hash; at this length both sides clear their lists.
pub(crate) const MAX_KNOWN_FLOWS: usize = 200;

/// From app to worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToWorker {
    /// The worker is accepted.
    Welcome {
        /// Its name from now on.
        worker: String,
        /// Interval between heartbeats, in milliseconds.
        #[serde(rename = "beatMs")]
        heartbeat_ms: u64,
        /// A longer wait releases the slot, in milliseconds.
        suspend_after_ms: u64,
        /// The time by the clock of the store, in milliseconds since 1970.
        now_ms: u64,
    },
    /// The worker is rejected.
    Refused {
        /// Why.
        reason: String,
    },
    /// A run to execute.
    Assign(Box<Assign>),
    /// A run to stop.
    Cancel {
        /// Its name.
        run: String,
        /// Epoch of the lease that ends; the worker may have the run again under a later one.
        epoch: u32,
    },
    /// The answer to a numbered request.
    Answer {
        /// The number.
        number: u64,
        /// The answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Box<RawValue>>,
        /// Set instead of `value` if the request failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<Refusal>,
    },
}

/// Why a request of a worker failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Refusal {
    /// The worker no longer holds the run.
    Fenced,
    /// The store failed, or the run may not ask this.
    Failed {
        /// What.
        reason: String,
    },
}

/// A run to execute.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assign {
    /// Name of the run.
    pub run: String,
    /// Epoch of its lease.
    pub epoch: u32,
    /// Hash of the flow.
    pub hash: String,
    /// The flow, unless the connection knows it already.
    pub source: Option<Box<RawValue>>,
    /// Its version.
    pub version: u32,
    /// Payload of the trigger.
    pub trigger: Json,
    /// The journal so far.
    pub journal: Vec<Entry>,
    /// Time spent on it so far, in milliseconds.
    pub worked_ms: u64,
    /// When it was accepted, in milliseconds since 1970.
    pub created_ms: u64,
    /// Trace that it belongs to, as W3C's `traceparent`.
    #[serde(default)]
    pub trace: Option<String>,
    /// Token of the callback address.
    pub token: String,
    /// Secrets that the flow names.
    pub secrets: BTreeMap<String, String>,
    /// Time spent so far, by phase.
    pub times: Times,
}

/// From worker to app.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToApp {
    /// The first frame: the worker asks for runs.
    Hello {
        /// Version of Platen.
        version: String,
        /// Version of the frames, [`PROTOCOL`].
        protocol: u32,
        /// Name shown to operators.
        name: String,
        /// Runs executed at the same time.
        slots: u32,
    },
    /// Keeps the connection and the leases alive.
    #[serde(rename = "beat")]
    Heartbeat,
    /// The worker is shutting down and takes no more runs.
    Leaving,
    /// A write for a run that the worker holds.
    Change {
        /// Number of the request; `None` if no answer is wanted.
        number: Option<u64>,
        /// The run, its lease, and records for its journal.
        write: WriteFrame,
        /// The change.
        change: Change,
    },
    /// A question about a run that the worker holds.
    Ask {
        /// Number of the request.
        number: u64,
        /// Name of the run.
        run: String,
        /// Epoch of its lease.
        epoch: u32,
        /// The question.
        question: Question,
    },
    /// A run has left its slot.
    Done {
        /// Its name.
        run: String,
        /// Epoch of its lease.
        epoch: u32,
    },
}

/// See [`Write`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteFrame {
    /// The run.
    pub run: String,
    /// Epoch of its lease.
    pub epoch: u32,
    /// A list of records.
    pub records: Option<Box<RawValue>>,
}

/// What a write changes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Change {
    /// Only the journal.
    Append,
    /// The answer of a run that continues.
    Respond {
        /// The answer.
        answer: Box<RawValue>,
    },
    /// The run is suspended.
    Suspend {
        /// Until this instant, in milliseconds since 1970; `None`: until a callback.
        wake_ms: Option<u64>,
    },
    /// The run has ended.
    Finish {
        /// Index of the last state in [`RunState::ALL`].
        state: usize,
        /// Its answer.
        answer: Option<Box<RawValue>>,
        /// Output, error and times.
        details: Box<RawValue>,
    },
    /// The worker returns the run to the queue.
    Release,
    /// Stores a value for later runs.
    #[serde(rename = "keep")]
    Put {
        /// Whether the value belongs to the flow or is shared.
        scope: StoreScope,
        /// Its key.
        key: String,
        /// The value; `None` deletes it.
        value: Option<Json>,
    },
}

/// What a worker can read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Question {
    /// A stored value.
    #[serde(rename = "kept")]
    Get {
        /// Whether the value belongs to the flow or is shared.
        scope: StoreScope,
        /// Its key.
        key: String,
    },
    /// A template that the flow names.
    Template {
        /// Its key.
        key: String,
    },
}

impl WriteFrame {
    pub(crate) fn of(write: &Write) -> Self {
        Self {
            run: write.id.clone(),
            epoch: write.epoch,
            records: write.records.as_deref().and_then(raw),
        }
    }

    pub(crate) fn into_write(self, now_ms: u64) -> Write {
        Write {
            id: self.run,
            epoch: self.epoch,
            now_ms,
            records: self.records.as_deref().map(bytes),
        }
    }
}

impl Change {
    pub(crate) fn finish(ending: &Ending) -> Self {
        let known = RunState::ALL;
        Self::Finish {
            state: known
                .iter()
                .position(|state| *state == ending.state)
                .unwrap_or(7),
            answer: ending.answer.as_deref().and_then(raw),
            details: raw(&ending.details).unwrap_or_else(|| RawValue::NULL.to_owned()),
        }
    }
}

/// Bytes as raw JSON; `None` if they are not JSON.
pub(crate) fn raw(bytes: &[u8]) -> Option<Box<RawValue>> {
    let text = std::str::from_utf8(bytes).ok()?;
    RawValue::from_string(text.to_owned()).ok()
}

pub(crate) fn bytes(raw: &RawValue) -> Arc<[u8]> {
    Arc::from(raw.get().as_bytes())
}

/// Reads a frame; `None` at the end of the connection.
///
/// # Errors
/// The connection fails, or the frame is too long or not readable.
pub async fn read<T: DeserializeOwned>(
    connection: &mut (impl AsyncRead + Unpin),
) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match connection.read_exact(&mut length).await {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    };
    let length = u32::from_be_bytes(length) as usize;
    if length > MAX_FRAME_BYTES {
        let message = format!("a frame of {length} bytes is longer than {MAX_FRAME_BYTES}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut frame = vec![0; length];
    connection.read_exact(&mut frame).await?;
    Ok(Some(serde_json::from_slice(&frame)?))
}

/// Encodes a message as a frame.
///
/// # Errors
/// The message is too long.
pub fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = frame.len() - 4;
    if length > MAX_FRAME_BYTES {
        let message = format!("a frame of {length} bytes is longer than {MAX_FRAME_BYTES}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    frame[..4].copy_from_slice(&(length as u32).to_be_bytes());
    Ok(frame)
}

/// Writes frames until there are no more senders.
///
/// # Errors
/// The connection fails.
pub(crate) async fn write_frames(
    mut connection: impl AsyncWrite + Unpin,
    mut frames: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    while let Some(frame) = frames.recv().await {
        connection.write_all(&frame).await?;
        connection.flush().await?;
    }
    connection.shutdown().await
}

/// Writes a message.
///
/// # Errors
/// The connection fails, or the message is too long.
pub async fn write(
    connection: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> io::Result<()> {
    connection.write_all(&frame(message)?).await?;
    connection.flush().await
}
