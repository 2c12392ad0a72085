//! The app's side of a worker connection.

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use platen_fault::{Code, What};
use platen_flow::model::StoreScope;
use platen_storage::{
    Error as StoreError,
    records::peers::worker_of,
    runs::{Ending, Hold, RunState, Write},
};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{mpsc, oneshot, watch},
};

use crate::{
    Dispatcher,
    answer::{bytes as json_bytes, stopped},
    clock::now_ms,
    dispatcher::{Holder, scope_of},
    embedded::release_held,
    flow_cache::FlowVersion,
    identity::name,
    protocol::{
        self, Assign, Change, MAX_FRAME_BYTES, MAX_KNOWN_FLOWS, PROTOCOL, Question, Refusal, ToApp,
        ToWorker,
    },
    ready_queue::Takes,
    room::{Place, Room},
    work::Assignment,
};

/// Runs that one worker may have at the same time, whatever it asks for.
const MAX_SLOTS: u32 = 256;
/// How long a worker may take to send its first frame.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// Frames that wait to be written; senders block beyond it. A frame may be long.
const MAX_QUEUED_FRAMES: usize = 16;

/// Serves a worker until it disconnects.
///
/// # Errors
/// How the connection failed.
pub async fn serve(
    dispatcher: Arc<Dispatcher>,
    connection: impl AsyncRead + AsyncWrite + Send + 'static,
) -> io::Result<()> {
    let (mut reader, mut writer) = tokio::io::split(connection);
    let hello = tokio::time::timeout(HELLO_TIMEOUT, protocol::read(&mut reader)).await;
    let Ok(Ok(Some(ToApp::Hello {
        version,
        protocol: spoken,
        name: called,
        slots,
    }))) = hello
    else {
        return Ok(());
    };
    let ours = env!("CARGO_PKG_VERSION");
    if version != ours || spoken != PROTOCOL {
        let reason = format!(
            "the worker is Platen {version}, protocol {spoken}, but the app is {ours}, protocol {PROTOCOL}"
        );
        return protocol::write(&mut writer, &ToWorker::Refused { reason }).await;
    }
    // It comes to stand in logs and answers.
    let called = called.replace(char::is_control, " ");
    let mut worker = format!("{called}:{}", &name(now_ms())[..16]);
    if dispatcher.fleet.is_some() {
        worker = worker_of(dispatcher.name(), &worker);
    }
    let welcome = ToWorker::Welcome {
        worker: worker.clone(),
        heartbeat_ms: dispatcher.settings.heartbeat.as_millis() as u64,
        suspend_after_ms: dispatcher.settings.suspend_after.as_millis() as u64,
        now_ms: now_ms(),
    };
    protocol::write(&mut writer, &welcome).await?;
    let (frames, unwritten) = mpsc::channel(MAX_QUEUED_FRAMES);
    let mut writing = tokio::spawn(protocol::write_frames(writer, unwritten));
    let slots = slots.clamp(1, MAX_SLOTS);
    let (phase, phases) = watch::channel(Phase::Open);
    let session = Arc::new(Session {
        dispatcher: Arc::clone(&dispatcher),
        worker: worker.clone(),
        frames,
        open: Mutex::default(),
        known: tokio::sync::Mutex::default(),
        room: Room::new(slots),
    });
    dispatcher
        .slots
        .fetch_add(slots as usize, Ordering::Relaxed);
    for index in 0..slots {
        let takes = match index == 0 && slots > 1 {
            true => Takes::Synchronous,
            false => Takes::Flows,
        };
        tokio::spawn(slot(Arc::clone(&session), takes, phases.clone()));
    }
    let ended = tokio::select! {
        ended = session.listen(&mut reader, &phase) => ended,
        // A worker that nothing can be written to gets no more runs, and must not extend leases.
        written = &mut writing => written.map_err(io::Error::other).flatten(),
    };
    let _ = phase.send(Phase::Closed);
    dispatcher
        .slots
        .fetch_sub(slots as usize, Ordering::Relaxed);
    session.abandon().await;
    writing.abort();
    ended
}

/// State of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It takes runs.
    Open,
    /// It finishes the runs that it has.
    Leaving,
    /// It is disconnected.
    Closed,
}

struct Session {
    dispatcher: Arc<Dispatcher>,
    worker: String,
    /// Encoded frames.
    frames: mpsc::Sender<Vec<u8>>,
    /// For what it sends.
    room: Room,
    /// Runs assigned to the worker, by name and epoch.
    open: Mutex<HashMap<(String, u32), Open>>,
    /// Hashes of the flows that were sent to the worker.
    known: tokio::sync::Mutex<HashSet<String>>,
}

/// A run assigned to the worker.
struct Open {
    flow: Arc<FlowVersion>,
    /// Notified when the run has left the worker.
    left: oneshot::Sender<()>,
}

/// Whether the flow may use values of that scope.
fn may_use(flow: &FlowVersion, scope: StoreScope) -> bool {
    scope.is_flow() || flow.loaded.may_share()
}

/// Assigns runs to the worker, one at a time.
async fn slot(session: Arc<Session>, takes: Takes, mut phases: watch::Receiver<Phase>) {
    let dispatcher = Arc::clone(&session.dispatcher);
    let (stop, mut stops) = mpsc::unbounded_channel::<(String, u32)>();
    let frames = session.frames.clone();
    let cancelling = tokio::spawn(async move {
        while let Some((run, epoch)) = stops.recv().await {
            let Ok(frame) = protocol::frame(&ToWorker::Cancel { run, epoch }) else {
                continue;
            };
            let _ = frames.send(frame).await;
        }
    });
    loop {
        let leaving = async {
            tokio::select! {
                _ = phases.wait_for(|phase| *phase != Phase::Open) => {}
                () = dispatcher.lifecycle.drained() => {}
            }
        };
        let next = dispatcher.next(&session.worker, takes, leaving).await;
        let Some(assignment) = next else { break };
        let id = assignment.id.clone();
        let epoch = assignment.epoch;
        let flow = assignment.flow.loaded.flow().key.clone();
        let (left, leaving) = oneshot::channel();
        let open = Open {
            flow: Arc::clone(&assignment.flow),
            left,
        };
        session.open().insert((id.clone(), epoch), open);
        let holder = Holder::There(stop.clone());
        dispatcher.held().insert(id.clone(), (epoch, holder));
        let assigned = session.assign(assignment).await;
        match &assigned {
            Ok(()) => tokio::select! {
                _ = leaving => {}
                _ = phases.wait_for(|phase| *phase == Phase::Closed) => {}
            },
            Err(Unassigned::TooLong(cause)) => {
                let message =
                    format!("the outputs of the run's steps are too long for a worker: {cause}");
                let code = Code::TooLarge(What::Output, MAX_FRAME_BYTES as u64);
                let ending = stopped(RunState::Failed, code, &message);
                // The worker knows nothing of it, and receives no `Cancel`.
                release_held(&dispatcher, &id, epoch);
                let _ = dispatcher.stop(&id, ending).await;
            }
            Err(Unassigned::Disconnected) => {
                let write = Write {
                    id: id.clone(),
                    epoch,
                    now_ms: now_ms(),
                    records: None,
                };
                // If this fails, the run is found when its lease expires.
                let _ = dispatcher.release(write).await;
            }
        }
        session.open().remove(&(id.clone(), epoch));
        release_held(&dispatcher, &id, epoch);
        dispatcher.ready.done(&flow);
        if matches!(assigned, Err(Unassigned::Disconnected)) {
            break;
        }
    }
    cancelling.abort();
}

/// Why a run did not reach the worker.
enum Unassigned {
    /// It does not fit into a frame, for any worker.
    TooLong(io::Error),
    /// The worker is gone.
    Disconnected,
}

impl Session {
    fn open(&self) -> parking_lot::MutexGuard<'_, HashMap<(String, u32), Open>> {
        self.open.lock()
    }

    async fn assign(&self, assignment: Assignment) -> Result<(), Unassigned> {
        let flow = &assignment.flow;
        // Held until the frame is sent: the worker learns flows in the order of frames, and only by those sent.
        let mut known = self.known.lock().await;
        let is_new = !known.contains(&flow.hash);
        let hash = flow.hash.clone();
        let assign = Assign {
            run: assignment.id,
            epoch: assignment.epoch,
            hash: hash.clone(),
            source: is_new.then(|| protocol::raw(&flow.source)).flatten(),
            version: flow.version,
            trigger: assignment.trigger,
            journal: assignment.journal,
            worked_ms: assignment.worked_ms,
            created_ms: assignment.created_ms,
            trace: assignment.trace,
            token: assignment.token,
            secrets: assignment.secrets,
            times: assignment.times,
        };
        let frame = protocol::frame(&ToWorker::Assign(Box::new(assign)));
        let frame = frame.map_err(Unassigned::TooLong)?;
        let sent = self.frames.send(frame).await;
        sent.map_err(|_| Unassigned::Disconnected)?;
        if is_new && known.len() >= MAX_KNOWN_FLOWS {
            known.clear();
        }
        known.insert(hash);
        Ok(())
    }

    /// Reads frames until the worker disconnects. No frame for the length of a lease counts as a
    /// disconnect, as the worker's heartbeat is missing.
    async fn listen(
        self: &Arc<Self>,
        reader: &mut (impl AsyncRead + Unpin),
        phase: &watch::Sender<Phase>,
    ) -> io::Result<()> {
        let lease = self.dispatcher.settings.lease;
        loop {
            let message = match tokio::time::timeout(lease, protocol::read(reader)).await {
                Ok(Ok(Some(message))) => message,
                Ok(Ok(None)) => return Ok(()),
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(io::ErrorKind::TimedOut.into()),
            };
            match message {
                ToApp::Hello { .. } => return Err(io::ErrorKind::InvalidData.into()),
                ToApp::Heartbeat => self.heartbeat().await,
                // The worker may still finish the runs that it has.
                ToApp::Leaving => drop(phase.send(Phase::Leaving)),
                ToApp::Done { run, epoch } => {
                    if let Some(open) = self.open().remove(&(run, epoch)) {
                        let _ = open.left.send(());
                    }
                }
                ToApp::Change {
                    number,
                    write,
                    change,
                } => {
                    let records = write.records.as_ref().map_or(0, |it| it.get().len());
                    // Others are long, too, and their senders wait.
                    if number.is_none() && !matches!(change, Change::Append | Change::Release) {
                        return Err(io::ErrorKind::InvalidData.into());
                    }
                    let place = self.room.place(number.is_some(), records, lease).await?;
                    // The store keeps the order of calls, which is the order of the frames.
                    let write = write.into_write(now_ms());
                    let run = (write.id.clone(), write.epoch);
                    let changing = self.change(write, change);
                    self.answer(number, run, place, changing);
                }
                ToApp::Ask {
                    number,
                    run,
                    epoch,
                    question,
                } => {
                    let place = self.room.place(true, 0, lease).await?;
                    let asking = self.ask(run.clone(), epoch, question);
                    self.answer(Some(number), (run, epoch), place, asking);
                }
            }
        }
    }

    fn answer(
        self: &Arc<Self>,
        number: Option<u64>,
        run: (String, u32),
        place: Place,
        result: impl Future<Output = Result<Option<Box<RawValue>>, StoreError>> + Send + 'static,
    ) {
        let mut result = Box::pin(result);
        // The first poll puts a write into the store's queue, before the next frame is read.
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let first = result.as_mut().poll(&mut context);
        let is_lost = |error: &StoreError| !matches!(error, StoreError::Fenced);
        if number.is_none()
            && matches!(&first, std::task::Poll::Ready(Err(error)) if is_lost(error))
        {
            // No later frame may be written behind the gap.
            self.open().remove(&run);
        }
        let session = Arc::clone(self);
        tokio::spawn(async move {
            let result = match first {
                std::task::Poll::Ready(result) => result,
                std::task::Poll::Pending => result.await,
            };
            let Some(number) = number else {
                if result.is_err_and(|error| is_lost(&error)) {
                    session.take_away(run).await;
                }
                return;
            };
            let (value, refusal) = match result {
                Ok(value) => (value, None),
                Err(StoreError::Fenced) => (None, Some(Refusal::Fenced)),
                Err(error) => {
                    let reason = error.to_string();
                    (None, Some(Refusal::Failed { reason }))
                }
            };
            let answer = |value, refusal| ToWorker::Answer {
                number,
                value,
                refusal,
            };
            let frame = protocol::frame(&answer(value, refusal)).or_else(|error| {
                let reason = error.to_string();
                protocol::frame(&answer(None, Some(Refusal::Failed { reason })))
            });
            if let Ok(frame) = frame {
                let _ = session.frames.send(frame).await;
            }
            drop(place);
        });
    }

    /// Ends the hold of a run whose journal has a gap: its later records must not be written behind that.
    async fn take_away(&self, (run, epoch): (String, u32)) {
        self.open().remove(&(run.clone(), epoch));
        if let Ok(frame) = protocol::frame(&ToWorker::Cancel { run, epoch }) {
            let _ = self.frames.send(frame).await;
        }
    }

    fn change(
        &self,
        write: Write,
        change: Change,
    ) -> impl Future<Output = Result<Option<Box<RawValue>>, StoreError>> + Send + 'static {
        let dispatcher = Arc::clone(&self.dispatcher);
        let flow = self.flow_of(&write.id, write.epoch);
        async move {
            let flow = flow.ok_or(StoreError::Fenced)?;
            match change {
                Change::Append => dispatcher.append(write).await?,
                Change::Respond { answer } => {
                    let answer = protocol::bytes(&answer);
                    dispatcher.respond(write, answer).await?;
                }
                Change::Suspend { wake_ms } => dispatcher.suspend(write, wake_ms).await?,
                Change::Finish {
                    state,
                    answer,
                    details,
                } => {
                    let state = RunState::ALL.get(state).copied();
                    let ending = Ending {
                        state: state
                            .filter(|state| state.is_end())
                            .unwrap_or(RunState::Failed),
                        answer: answer.as_deref().map(protocol::bytes),
                        details: protocol::bytes(&details),
                    };
                    dispatcher.finish(write, ending).await?;
                }
                Change::Release => dispatcher.release(write).await?,
                // The worker checks this first; one that asks anyway is not to be trusted.
                Change::Put { scope, .. } if !may_use(&flow, scope) => {
                    return Err(StoreError::NotFound);
                }
                Change::Put { scope, key, value } => {
                    let (scope, value) = (scope_of(scope), value.as_ref().map(json_bytes));
                    dispatcher.store.put_value(write, scope, key, value).await?;
                }
            }
            Ok(None)
        }
    }

    /// The flow of a run that this worker holds at that epoch.
    fn flow_of(&self, run: &str, epoch: u32) -> Option<Arc<FlowVersion>> {
        let open = self.open();
        let open = open.get(&(run.to_owned(), epoch));
        open.map(|open| Arc::clone(&open.flow))
    }

    /// Answers a question about a run that this worker holds; only what its flow declares.
    fn ask(
        &self,
        run: String,
        epoch: u32,
        question: Question,
    ) -> impl Future<Output = Result<Option<Box<RawValue>>, StoreError>> + Send + 'static {
        let dispatcher = Arc::clone(&self.dispatcher);
        let flow = self.flow_of(&run, epoch);
        async move {
            let flow = flow.ok_or(StoreError::Fenced)?;
            let hold = Hold {
                id: run,
                epoch,
                now_ms: now_ms(),
            };
            let store = &dispatcher.store;
            let found = match question {
                Question::Get { scope, .. } if !may_use(&flow, scope) => {
                    return Err(StoreError::NotFound);
                }
                Question::Get { scope, key } => store.get_value(hold, scope_of(scope), key).await?,
                Question::Template { key } if !flow.loaded.may_read_template(&key) => {
                    return Err(StoreError::NotFound);
                }
                Question::Template { key } => {
                    store.check_hold(hold).await?;
                    dispatcher.template(&key).await?
                }
            };
            Ok(found.as_deref().and_then(protocol::raw))
        }
    }

    async fn heartbeat(&self) {
        let leases: Vec<(String, u32)> = self.open().keys().cloned().collect();
        let now_ms = now_ms();
        let until_ms = now_ms + self.dispatcher.settings.lease.as_millis() as u64;
        let beat = self.dispatcher.store.heartbeat(leases, now_ms, until_ms);
        for (run, epoch) in beat.await.unwrap_or_default() {
            if let Ok(frame) = protocol::frame(&ToWorker::Cancel { run, epoch }) {
                let _ = self.frames.send(frame).await;
            }
        }
    }

    /// The worker disconnected: its open runs count as worker losses, unless it had released them.
    async fn abandon(&self) {
        let orphan = self
            .dispatcher
            .store
            .orphan(Some(self.worker.clone()), self.worker.clone());
        let _ = orphan.await;
        let _ = self.dispatcher.reconcile().await;
    }
}
