//! The worker's side of a connection: receives runs from the app and executes them. It holds no
//! credentials but its token.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use platen_flow::model::StoreScope;
use platen_script::Cancellation;
use platen_storage::runs::{Ending, Hold, Write};
use serde_json::{Value as Json, value::RawValue};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Handle,
    sync::{Notify, mpsc, oneshot},
};

use crate::{
    RunChannel, clock,
    execution::{FlowRunner, Services, Stop},
    flow_cache::FlowVersion,
    protocol::{
        self, Assign, Change, MAX_KNOWN_FLOWS, PROTOCOL, Question, Refusal, ToApp, ToWorker,
        WriteFrame,
    },
    work::{Assignment, work},
};

/// Frames that wait to be written; senders block beyond it.
const MAX_QUEUED_FRAMES: usize = 1_024;
/// How long the app may take to answer a request before the step fails.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Options of a worker.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name shown to operators.
    pub name: String,
    /// Runs executed at the same time.
    pub slots: u32,
    /// How long runs may continue after shutdown was requested.
    pub drain: Duration,
}

/// How a connection with the app failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The app rejected this worker.
    #[error("worker rejected by the app: {0}")]
    Refused(String),
    /// Connection failed.
    #[error("connection with the app failed")]
    Connection(#[from] io::Error),
    /// The app disconnected.
    #[error("app disconnected")]
    Closed,
}

/// Executes runs from the app until `stop` is notified and the open runs have ended.
///
/// # Errors
/// How the connection failed. Open runs are cancelled; the app assigns them to another worker.
pub async fn serve(
    connection: impl AsyncRead + AsyncWrite + Send + 'static,
    services: Arc<Services>,
    options: &Options,
    stop: Arc<Notify>,
) -> Result<(), Error> {
    let (mut reader, mut writer) = tokio::io::split(connection);
    let hello = ToApp::Hello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
        name: options.name.clone(),
        slots: options.slots,
    };
    protocol::write(&mut writer, &hello).await?;
    let (heartbeat, suspend_after) = match protocol::read(&mut reader).await? {
        Some(ToWorker::Welcome {
            heartbeat_ms,
            suspend_after_ms,
            now_ms,
            ..
        }) => {
            clock::follow(now_ms);
            (
                Duration::from_millis(heartbeat_ms.max(10)),
                Duration::from_millis(suspend_after_ms),
            )
        }
        Some(ToWorker::Refused { reason }) => return Err(Error::Refused(reason)),
        _ => return Err(Error::Closed),
    };
    let (frames, unwritten) = mpsc::channel(MAX_QUEUED_FRAMES);
    let writing = tokio::spawn(protocol::write_frames(writer, unwritten));
    let client = Arc::new(Client {
        runtime: Handle::current(),
        frames,
        answers: Mutex::default(),
        runs: Mutex::default(),
        numbers: AtomicU64::new(0),
        gone: AtomicBool::new(false),
        left: Notify::new(),
        leaving: AtomicBool::new(false),
    });
    let heartbeats = tokio::spawn(send_heartbeats(Arc::clone(&client), heartbeat));
    let runner = Arc::new(FlowRunner::new(services));
    let ended = tokio::select! {
        ended = client.listen(&mut reader, &runner, suspend_after) => ended,
        () = client.leave(&stop, options.drain) => Ok(()),
    };
    client.abandon();
    heartbeats.abort();
    if ended.is_ok() {
        // Gives the last frames time to be written.
        drop(client);
        let _ = tokio::time::timeout(Duration::from_secs(2), writing).await;
    } else {
        writing.abort();
    }
    ended
}

async fn send_heartbeats(client: Arc<Client>, every: Duration) {
    while client.send(&ToApp::Heartbeat).await.is_ok() {
        tokio::time::sleep(every).await;
    }
}

type Answered = Result<Option<Box<RawValue>>, Refusal>;

struct Client {
    /// Steps block on threads of their own; this runs their waits.
    runtime: Handle,
    frames: mpsc::Sender<Vec<u8>>,
    /// Requests that wait for an answer.
    answers: Mutex<HashMap<u64, oneshot::Sender<Answered>>>,
    /// Runs under execution, by name and epoch: a run that was lost may come back before its former
    /// execution has noticed.
    runs: Mutex<HashMap<(String, u32), Cancellation>>,
    numbers: AtomicU64,
    gone: AtomicBool,
    leaving: AtomicBool,
    /// Notified when a run has ended.
    left: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

impl Client {
    async fn send(&self, message: &ToApp) -> Result<(), Error> {
        let frame = protocol::frame(message)?;
        self.frames.send(frame).await.map_err(|_| Error::Closed)
    }

    async fn listen(
        self: &Arc<Self>,
        reader: &mut (impl AsyncRead + Unpin),
        runner: &Arc<FlowRunner>,
        suspend_after: Duration,
    ) -> Result<(), Error> {
        let mut flows: HashMap<String, Arc<FlowVersion>> = HashMap::new();
        while let Some(message) = protocol::read(reader).await? {
            match message {
                ToWorker::Welcome { .. } | ToWorker::Refused { .. } => return Err(Error::Closed),
                ToWorker::Answer {
                    number,
                    value,
                    refusal,
                } => {
                    if let Some(waiting) = lock(&self.answers).remove(&number) {
                        let _ = waiting.send(refusal.map_or(Ok(value), Err));
                    }
                }
                ToWorker::Cancel { run, epoch } => {
                    if let Some(cancel) = lock(&self.runs).get(&(run, epoch)) {
                        cancel.cancel();
                    }
                }
                ToWorker::Assign(assign) => {
                    let taken = Instant::now();
                    let flow = known(&mut flows, &assign);
                    self.begin(*assign, flow, runner, suspend_after, taken);
                }
            }
        }
        Err(Error::Closed)
    }

    fn begin(
        self: &Arc<Self>,
        assign: Assign,
        flow: Option<Arc<FlowVersion>>,
        runner: &Arc<FlowRunner>,
        suspend_after: Duration,
        taken: Instant,
    ) {
        let (run, epoch) = (assign.run.clone(), assign.epoch);
        let cancel = Cancellation::default();
        lock(&self.runs).insert((run.clone(), epoch), cancel.clone());
        let (client, runner) = (Arc::clone(self), Arc::clone(runner));
        tokio::task::spawn_blocking(move || {
            let channel = RemoteChannel {
                client: Arc::clone(&client),
            };
            match flow {
                Some(flow) if !client.leaving.load(Ordering::Acquire) => {
                    let assignment = Assignment {
                        id: assign.run,
                        epoch,
                        flow,
                        trigger: assign.trigger,
                        journal: assign.journal,
                        worked_ms: assign.worked_ms,
                        created_ms: assign.created_ms,
                        trace: assign.trace,
                        token: assign.token,
                        secrets: assign.secrets,
                        times: assign.times,
                        suspend_after,
                        cancel,
                        taken,
                    };
                    // Errors need no handling: if it stopped, another worker has the run or will
                    // have it.
                    let _ = work(assignment, &runner, &channel);
                }
                _ => drop(channel.release(of_run(&run, epoch))),
            }
            lock(&client.runs).remove(&(run.clone(), epoch));
            client.left.notify_one();
            let done = protocol::frame(&ToApp::Done { run, epoch });
            if let Ok(done) = done {
                let _ = client.frames.blocking_send(done);
            }
        });
    }

    /// Returns once `stop` is notified and all runs have ended or were released.
    async fn leave(self: &Arc<Self>, stop: &Notify, drain: Duration) {
        stop.notified().await;
        self.leaving.store(true, Ordering::Release);
        let _ = self.send(&ToApp::Leaving).await;
        let all_left = async {
            while !lock(&self.runs).is_empty() {
                self.left.notified().await;
            }
        };
        if tokio::time::timeout(drain, all_left).await.is_ok() {
            return;
        }
        let open: Vec<((String, u32), Cancellation)> = lock(&self.runs)
            .iter()
            .map(|(run, cancel)| (run.clone(), cancel.clone()))
            .collect();
        for ((run, epoch), cancel) in open {
            let release = ToApp::Change {
                number: None,
                write: WriteFrame::of(&of_run(&run, epoch)),
                change: Change::Release,
            };
            let _ = self.send(&release).await;
            cancel.cancel();
        }
    }

    /// Cancels everything: results could no longer be delivered.
    fn abandon(&self) {
        self.gone.store(true, Ordering::Release);
        for cancel in lock(&self.runs).values() {
            cancel.cancel();
        }
        lock(&self.answers).clear();
    }

    /// Registers a request until the guard is dropped.
    fn expect(&self, number: u64, sender: oneshot::Sender<Answered>) -> Asked<'_> {
        lock(&self.answers).insert(number, sender);
        Asked {
            client: self,
            number,
        }
    }

    /// Sends a request to the app and blocks until its answer.
    fn ask(&self, message: impl FnOnce(u64) -> ToApp) -> Answered {
        let failed = |reason: &str| Refusal::Failed {
            reason: reason.to_owned(),
        };
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let frame =
            protocol::frame(&message(number)).map_err(|error| failed(&error.to_string()))?;
        let (sender, receiver) = oneshot::channel();
        let _asked = self.expect(number, sender);
        // Checked after the registration: `abandon` clears only requests registered before it.
        if self.gone.load(Ordering::Acquire) {
            return Err(failed("connection with the app lost"));
        }
        if self.frames.blocking_send(frame).is_err() {
            return Err(failed("connection with the app lost"));
        }
        let wait = async { tokio::time::timeout(ANSWER_TIMEOUT, receiver).await };
        let answer = self.runtime.block_on(wait);
        match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(failed("connection with the app lost")),
            Err(_) => Err(failed("request to the app timed out")),
        }
    }
}

/// A pending request, removed on drop.
struct Asked<'a> {
    client: &'a Client,
    number: u64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        lock(&self.client.answers).remove(&self.number);
    }
}

/// The flow of `assign`; remembered for this connection.
fn known(
    flows: &mut HashMap<String, Arc<FlowVersion>>,
    assign: &Assign,
) -> Option<Arc<FlowVersion>> {
    let Some(source) = &assign.source else {
        return flows.get(&assign.hash).cloned();
    };
    // The app clears its list at the same length, so both sides agree.
    if flows.len() >= MAX_KNOWN_FLOWS {
        flows.clear();
    }
    let flow = FlowVersion::read(protocol::bytes(source), assign.version).ok()?;
    let flow = Arc::new(flow);
    flows.insert(assign.hash.clone(), Arc::clone(&flow));
    Some(flow)
}

fn of_run(run: &str, epoch: u32) -> Write {
    Write {
        id: run.to_owned(),
        epoch,
        now_ms: 0,
        records: None,
    }
}

struct RemoteChannel {
    client: Arc<Client>,
}

impl RemoteChannel {
    fn change(&self, write: &Write, change: Change) -> Result<(), Stop> {
        let write = WriteFrame::of(write);
        let answer = self.client.ask(|number| ToApp::Change {
            number: Some(number),
            write,
            change,
        });
        match answer {
            Ok(_) => Ok(()),
            Err(Refusal::Fenced) => Err(Stop::Fenced),
            Err(Refusal::Failed { reason }) => Err(Stop::Journal(reason)),
        }
    }

    fn question(&self, hold: Hold, question: Question) -> Result<Option<Box<RawValue>>, String> {
        let answer = self.client.ask(|number| ToApp::Ask {
            number,
            run: hold.id,
            epoch: hold.epoch,
            question,
        });
        answer.map_err(|refusal| match refusal {
            Refusal::Fenced => Stop::Fenced.to_string(),
            Refusal::Failed { reason } => reason,
        })
    }
}

impl RunChannel for RemoteChannel {
    fn append(&self, write: Write, wait: bool) -> Result<(), Stop> {
        if wait {
            return self.change(&write, Change::Append);
        }
        let message = ToApp::Change {
            number: None,
            write: WriteFrame::of(&write),
            change: Change::Append,
        };
        let frame = protocol::frame(&message).map_err(|error| Stop::Journal(error.to_string()))?;
        let sent = self.client.frames.blocking_send(frame);
        sent.map_err(|_| Stop::Journal("connection with the app lost".to_owned()))
    }

    fn respond(&self, write: Write, answer: Arc<[u8]>) -> Result<(), Stop> {
        let answer = protocol::raw(&answer).unwrap_or_else(|| RawValue::NULL.to_owned());
        self.change(&write, Change::Respond { answer })
    }

    fn suspend(&self, write: Write, wake_ms: Option<u64>) -> Result<(), Stop> {
        self.change(&write, Change::Suspend { wake_ms })
    }

    fn finish(&self, write: Write, ending: Ending) -> Result<(), Stop> {
        self.change(&write, Change::finish(&ending))
    }

    fn release(&self, write: Write) -> Result<(), Stop> {
        self.change(&write, Change::Release)
    }

    fn put_value(
        &self,
        write: Write,
        scope: StoreScope,
        key: &str,
        value: Option<Json>,
    ) -> Result<(), String> {
        let key = key.to_owned();
        let get_value = self.change(&write, Change::Put { scope, key, value });
        get_value.map_err(|stop| stop.to_string())
    }

    fn get_value(&self, hold: Hold, scope: StoreScope, key: &str) -> Result<Option<Json>, String> {
        let key = key.to_owned();
        let found = self.question(hold, Question::Get { scope, key })?;
        Ok(found.and_then(|raw| serde_json::from_str(raw.get()).ok()))
    }

    fn template(&self, hold: Hold, key: &str) -> Result<Option<Arc<[u8]>>, String> {
        let key = key.to_owned();
        let found = self.question(hold, Question::Template { key })?;
        Ok(found.as_deref().map(protocol::bytes))
    }
}

#[cfg(test)]
mod tests;
