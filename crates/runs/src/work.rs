//! Executes a run: from its assignment to an end, a suspension, or a stop.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use platen_flow::{Entry, Finish, model::StoreScope};
use platen_script::Cancellation;
use platen_storage::runs::{Hold, Write};
use platen_trace::TraceContext;
use serde_json::Value as Json;

use crate::{
    RunChannel,
    answer::{Times, bytes, ending},
    clock::now_ms,
    execution::{FlowRunner, Journal, Progress, Record, RunOptions, StepHost, Stop, weight},
    fault,
    flow_cache::FlowVersion,
};

/// Records buffered before they are sent: steps take microseconds, a write takes more.
/// Bytes of outputs that are buffered; who reads a journal has one list of it in memory.
const MAX_BUFFERED_BYTES: u64 = 1 << 20;
const MAX_BUFFERED_RECORDS: usize = 64;

/// A run that a slot has claimed.
pub(crate) struct Assignment {
    pub id: String,
    pub epoch: u32,
    pub flow: Arc<FlowVersion>,
    pub trigger: Json,
    pub journal: Vec<Entry>,
    /// Time spent on it so far, in milliseconds.
    pub worked_ms: u64,
    pub created_ms: u64,
    /// Trace that it belongs to, as W3C's `traceparent`.
    pub trace: Option<String>,
    /// Part of the callback address in `run`.
    pub token: String,
    pub secrets: BTreeMap<String, String>,
    pub times: Times,
    pub suspend_after: Duration,
    pub cancel: Cancellation,
    /// When the slot took it.
    pub taken: Instant,
}

/// Executes `assignment` until it ends or is suspended. Blocks the calling thread.
///
/// # Errors
/// Why it stopped early: the lease was lost, or the store failed.
pub(crate) fn work(
    assignment: Assignment,
    runner: &FlowRunner,
    channel: &dyn RunChannel,
) -> Result<(), Stop> {
    fault::point("working");
    let flow = &assignment.flow.loaded;
    let span = tracing::info_span!(
        "run",
        otel.name = format_args!("run {}", flow.flow().key),
        otel.kind = "consumer",
        traceparent = assignment.trace.as_deref(),
        runId = assignment.id,
        traceId = assignment.trace.as_deref().and_then(trace_id),
        platen.flow = flow.flow().key,
        platen.flow.version = assignment.flow.version,
        platen.run.epoch = assignment.epoch,
        error = tracing::field::Empty,
    );
    let _within = span.enter();
    let mut journal = Buffered {
        id: &assignment.id,
        epoch: assignment.epoch,
        channel,
        records: Vec::new(),
        bytes: 0,
    };
    let host = ChannelHost {
        id: &assignment.id,
        epoch: assignment.epoch,
        channel,
    };
    let options = RunOptions {
        trigger: assignment.trigger,
        id: assignment.id.clone(),
        callback: Some(format!(
            "/runs/{}/callback/{}",
            assignment.id, assignment.token
        )),
        started_unix_seconds: Some((assignment.created_ms / 1000) as i64),
        cancel: assignment.cancel.clone(),
        secrets: assignment.secrets,
        journal: assignment.journal,
        worked: Duration::from_millis(assignment.worked_ms),
        suspend_after: Some(assignment.suspend_after),
    };
    let times = Times {
        provision_us: assignment.taken.elapsed().as_micros() as u64,
        ..assignment.times
    };
    let report = runner.run(flow, options, &host, &mut journal)?;
    let write = journal.write();
    match &report.progress {
        Progress::Suspended(wake_ms) => channel.suspend(write, *wake_ms),
        Progress::Ended(finish) => {
            if let Finish::Failed { error, .. } = finish {
                span.record("error", &*error.code);
            }
            channel.finish(write, ending(&report, finish, times))
        }
    }
}

/// The identifier of a trace, for the log.
fn trace_id(trace: &str) -> Option<String> {
    TraceContext::parse(trace).map(|trace| trace.trace_id_text())
}

/// Buffers records until a step needs them durable.
struct Buffered<'a> {
    id: &'a str,
    epoch: u32,
    channel: &'a dyn RunChannel,
    records: Vec<Record>,
    /// What their outputs take, in bytes.
    bytes: u64,
}

impl Buffered<'_> {
    fn write(&mut self) -> Write {
        self.bytes = 0;
        let records = std::mem::take(&mut self.records);
        let records = (!records.is_empty()).then(|| {
            let json = serde_json::to_vec(&records).unwrap_or_default();
            Arc::from(json)
        });
        write(self.id, self.epoch, records)
    }
}

fn write(id: &str, epoch: u32, records: Option<Arc<[u8]>>) -> Write {
    Write {
        id: id.to_owned(),
        epoch,
        now_ms: now_ms(),
        records,
    }
}

impl Journal for Buffered<'_> {
    fn append(&mut self, record: Record) -> Result<(), Stop> {
        self.bytes += weight(&record.entry);
        self.records.push(record);
        match self.records.len() >= MAX_BUFFERED_RECORDS || self.bytes >= MAX_BUFFERED_BYTES {
            // Durable, as whoever waits for later records may have none to wait for.
            true => self.flush(true),
            false => Ok(()),
        }
    }

    fn flush(&mut self, durable: bool) -> Result<(), Stop> {
        if self.records.is_empty() && !durable {
            return Ok(());
        }
        let write = self.write();
        self.channel.append(write, durable)?;
        fault::point("journalled");
        Ok(())
    }

    fn respond(&mut self, answer: &Json) -> Result<(), Stop> {
        let write = self.write();
        self.channel.respond(write, bytes(answer))
    }
}

/// What steps read from the app, over the channel of the run.
struct ChannelHost<'a> {
    id: &'a str,
    epoch: u32,
    channel: &'a dyn RunChannel,
}

impl ChannelHost<'_> {
    fn hold(&self) -> Hold {
        Hold {
            id: self.id.to_owned(),
            epoch: self.epoch,
            now_ms: now_ms(),
        }
    }
}

impl StepHost for ChannelHost<'_> {
    fn get(&self, scope: StoreScope, key: &str) -> Result<Option<Json>, String> {
        self.channel.get_value(self.hold(), scope, key)
    }

    fn put(&self, scope: StoreScope, key: &str, value: Option<Json>) -> Result<(), String> {
        let write = write(self.id, self.epoch, None);
        self.channel.put_value(write, scope, key, value)
    }

    fn template(&self, key: &str) -> Result<Option<Arc<[u8]>>, String> {
        self.channel.template(self.hold(), key)
    }
}
