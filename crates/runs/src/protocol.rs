//! What app and worker say to each other: frames of JSON behind a length of four bytes, big-endian,
//! on a connection that stays open.
//!
//! The worker opens with [`ToApp::Hello`]; the app answers [`ToWorker::Welcome`] or
//! [`ToWorker::Refused`]. From then on the app pushes runs, and each request of the worker that has
//! a number is answered under that number.

use std::{collections::BTreeMap, io, sync::Arc};

use platen_engine::flow::{Entry, model::StoreScope};
use platen_storage::runs::{Ending, RunState, Write};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value as Json, value::RawValue};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::answer::Times;

/// The name of the protocol in `Upgrade`.
pub const UPGRADE: &str = "platen-worker";
/// Changes when frames do.
pub const PROTOCOL: u32 = 2;
/// The longest frame.
pub const MAX_FRAME_BYTES: usize = 64 << 20;
/// Flows that a connection knows by hash; then both sides begin anew.
pub(crate) const MAX_KNOWN_FLOWS: usize = 200;

/// From app to worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToWorker {
    /// The worker is taken.
    Welcome {
        /// Its name from now on.
        worker: String,
        /// How often it gives a sign of life, in milliseconds.
        beat_ms: u64,
        /// A wait that is longer gives its slot back, in milliseconds.
        suspend_after_ms: u64,
    },
    /// The worker is not taken.
    Refused {
        /// Why.
        reason: String,
    },
    /// A run to be done.
    Assign(Box<Assign>),
    /// A run to be stopped.
    Cancel {
        /// Its name.
        run: String,
    },
    /// An answer to the request of that number.
    Answer {
        /// The number.
        number: u64,
        /// The answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Box<RawValue>>,
        /// Why there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<Refusal>,
    },
}

/// Why a request of a worker was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Refusal {
    /// The run is somebody else's.
    Fenced,
    /// Something failed.
    Failed {
        /// What.
        reason: String,
    },
}

/// A run to be done.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assign {
    /// Name of the run.
    pub run: String,
    /// Epoch of its lease.
    pub epoch: u32,
    /// Hash of the flow.
    pub hash: String,
    /// The flow, where the connection does not know it yet.
    pub source: Option<Box<RawValue>>,
    /// Its version.
    pub version: u32,
    /// Payload of the trigger.
    pub trigger: Json,
    /// What happened already.
    pub journal: Vec<Entry>,
    /// How long it was worked on already, in milliseconds.
    pub worked_ms: u64,
    /// When it was accepted, in milliseconds since 1970.
    pub created_ms: u64,
    /// Whoever knows this may call the run back.
    pub token: String,
    /// Secrets that the flow names.
    pub secrets: BTreeMap<String, String>,
    /// Where its time went so far.
    pub times: Times,
}

/// From worker to app.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToApp {
    /// A worker would like to have runs.
    Hello {
        /// Version of Platen.
        version: String,
        /// Of these frames.
        protocol: u32,
        /// Name for people.
        name: String,
        /// Runs at the same time.
        slots: u32,
    },
    /// A sign of life.
    Beat,
    /// The worker will end: it wants no more runs.
    Leaving,
    /// Something that changes a run.
    Change {
        /// Number of the request; none where no answer is wanted.
        number: Option<u64>,
        /// The run, its lease, and what is added to its journal.
        write: WriteFrame,
        /// What is changed.
        change: Change,
    },
    /// Something that only asks, for a run that the worker has.
    Ask {
        /// Number of the request.
        number: u64,
        /// Name of the run.
        run: String,
        /// Epoch of its lease.
        epoch: u32,
        /// What.
        question: Question,
    },
    /// A run has left its slot, whatever became of it.
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

/// What is changed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Change {
    /// Nothing but the journal.
    Append,
    /// The answer of a run that goes on.
    Respond {
        /// The answer.
        answer: Box<RawValue>,
    },
    /// The run sleeps.
    Suspend {
        /// Until then, in milliseconds since 1970.
        wake_ms: Option<u64>,
    },
    /// The run is over.
    Finish {
        /// Number of its last state in [`RunState::ALL`].
        state: usize,
        /// Its answer.
        answer: Option<Box<RawValue>>,
        /// Output, error and times.
        details: Box<RawValue>,
    },
    /// The worker cannot do it.
    Release,
    /// A value for later runs.
    Keep {
        /// Whose it is.
        scope: StoreScope,
        /// Its key.
        key: String,
        /// The value; forgotten where it is none.
        value: Option<Json>,
    },
}

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Question {
    /// A value that was kept.
    Kept {
        /// Whose it is.
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

/// JSON as it is; `None` where it is none.
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
/// Where the connection fails, or the frame is too long or none.
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

/// A message as a frame.
///
/// # Errors
/// Where it is too long.
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

/// Writes a message.
///
/// # Errors
/// Where the connection fails or the message is too long.
pub async fn write(
    connection: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> io::Result<()> {
    connection.write_all(&frame(message)?).await?;
    connection.flush().await
}
