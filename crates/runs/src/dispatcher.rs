//! The app's side: reads and writes the stores, gives runs to slots, notifies callers.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use futures_core::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use platen_fault::Code;
use platen_flow::{Entry, model::StoreScope};
use platen_script::Cancellation;
use platen_storage::{
    DocumentStore, Error as StoreError, RunStore, StoreFuture,
    runs::{Ending, Lane, Queued, Run, RunFilter, RunState, Scope, Write},
};
use serde_json::Value as Json;
use tokio::sync::{mpsc, oneshot};

use crate::{
    Answer, Depth, Error, Settings,
    answer::stopped,
    execution::Record,
    fault,
    flow_cache::FlowCache,
    identity::now_ms,
    lifecycle::Lifecycle,
    ready_queue::{ReadyQueue, ReadyRun},
    waiters::{Event, Waiters},
};

/// Worker name of the slots in this process.
pub(crate) const EMBEDDED: &str = "embedded";

/// How to stop a run that a slot executes.
#[derive(Clone)]
pub(crate) enum Holder {
    /// By its cancellation, in this process.
    Here(Cancellation),
    /// By sending its name to the worker that executes it.
    There(mpsc::UnboundedSender<String>),
}

/// Runs of flows, from acceptance to answer.
pub struct Dispatcher {
    pub(crate) store: Arc<dyn RunStore>,
    pub(crate) templates: Arc<dyn DocumentStore>,
    pub(crate) flow_cache: FlowCache,
    pub(crate) ready: ReadyQueue,
    pub(crate) waiters: Waiters,
    pub(crate) settings: Settings,
    /// Runs under execution: epoch and holder by name.
    held: Mutex<HashMap<String, (u32, Holder)>>,
    /// Slots in this process and in connected workers.
    pub(crate) slots: AtomicUsize,
    /// Ends maintenance, triggers, the slots in this process, and the connections of workers.
    pub(crate) lifecycle: Lifecycle,
    /// Runs that ended since the process started, by state in the order of [`RunState::ALL`].
    ended: [AtomicU64; RunState::ALL.len()],
}

impl Dispatcher {
    /// A dispatcher over these stores. It does nothing before [`Dispatcher::start`].
    #[must_use]
    pub fn new(
        store: Arc<dyn RunStore>,
        flows: Arc<dyn DocumentStore>,
        templates: Arc<dyn DocumentStore>,
        settings: Settings,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            templates,
            flow_cache: FlowCache::new(flows),
            ready: ReadyQueue::default(),
            waiters: Waiters::default(),
            settings,
            held: Mutex::default(),
            slots: AtomicUsize::new(0),
            lifecycle: Lifecycle::default(),
            ended: Default::default(),
        })
    }

    /// Stops accepting runs and giving them to slots.
    pub fn drain(&self) {
        self.lifecycle.drain();
    }

    /// Stops the slots of this process, the connections of workers, and maintenance.
    pub async fn close(&self) {
        self.lifecycle.close().await;
    }

    /// Returns once the dispatcher is closed.
    pub async fn closed(&self) {
        self.lifecycle.closed().await;
    }

    pub(crate) fn held(&self) -> MutexGuard<'_, HashMap<String, (u32, Holder)>> {
        self.held.lock()
    }

    /// How many runs wait for a slot.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.ready.depth()
    }

    /// How many runs are under execution.
    #[must_use]
    pub fn running(&self) -> usize {
        self.held().len()
    }

    /// How many slots there are.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.load(Ordering::Relaxed)
    }

    /// How many runs have ended in `state` since the process began.
    #[must_use]
    pub fn ended(&self, state: RunState) -> u64 {
        let position = RunState::ALL.iter().position(|known| *known == state);
        position.map_or(0, |index| self.ended[index].load(Ordering::Relaxed))
    }

    pub(crate) fn count_end(&self, state: RunState) {
        if let Some(index) = RunState::ALL.iter().position(|known| *known == state) {
            self.ended[index].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A run.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn get(&self, id: &str) -> Result<Run, Error> {
        Ok(self.store.get(id.to_owned()).await?)
    }

    /// The journal of a run.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn journal(&self, id: &str) -> Result<Vec<Record>, Error> {
        let lists = self.store.journal(id.to_owned()).await?;
        Ok(records(&lists))
    }

    /// Runs, newest first.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn list(&self, filter: RunFilter) -> Result<Vec<Run>, Error> {
        Ok(self.store.list(filter).await?)
    }

    /// Receives the events of a run from now on.
    pub fn watch(&self, id: &str) -> mpsc::Receiver<Event> {
        self.waiters.watch(id)
    }

    /// Waits for the answer of a run that was accepted before.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn wait(&self, id: &str) -> Result<oneshot::Receiver<Answer>, Error> {
        let receiver = self.waiters.wait(id);
        // The run may have ended before the receiver was registered.
        let run = self.get(id).await?;
        if let Some(answer) = Answer::of(&run) {
            self.waiters.answer(id, &answer);
        }
        Ok(receiver)
    }

    /// Ends a run that is not over, and stops the slot that executes it.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Ended`].
    pub async fn cancel(&self, id: &str) -> Result<(), Error> {
        let ending = stopped(
            RunState::Cancelled,
            Code::Cancelled,
            "the run was cancelled",
        );
        self.stop(id, ending).await
    }

    pub(crate) async fn stop(&self, id: &str, ending: Ending) -> Result<(), Error> {
        let stop = self.store.stop(id.to_owned(), ending.clone(), now_ms());
        stop.await?;
        self.signal_stop(id);
        self.publish_end(id, &ending);
        Ok(())
    }

    /// Tells the slot that executes a run to stop.
    pub(crate) fn signal_stop(&self, id: &str) {
        let holder = self.held().get(id).map(|(_, holder)| holder.clone());
        match holder {
            Some(Holder::Here(cancellation)) => cancellation.cancel(),
            // Fails when the worker has disconnected; then its slots are gone, too.
            Some(Holder::There(sender)) => drop(sender.send(id.to_owned())),
            None => {}
        }
    }

    /// Ends a wait of a run from outside. `step` is optional if only one wait is open.
    ///
    /// # Errors
    /// [`Error::NotFound`], also for a wrong token; [`Error::Ended`]; [`Error::Retry`] if more than
    /// one wait is open.
    pub fn call_back<'a>(
        &'a self,
        id: &'a str,
        token: &'a str,
        step: Option<String>,
        payload: Json,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let path = match step {
                Some(step) => step,
                None => self.open_wait(id).await?,
            };
            let entry = Entry::Resumed { path, payload };
            let records = serde_json::to_vec(&[Record::now(entry)]).unwrap_or_default();
            let call = self
                .store
                .call_back(id.to_owned(), token.to_owned(), Arc::from(records));
            let state = call.await?;
            fault::point("called-back");
            if state == RunState::Queued {
                let run = self.get(id).await?;
                self.enqueue(queued(&run));
            }
            Ok(())
        })
    }

    async fn open_wait(&self, id: &str) -> Result<String, Error> {
        let mut open = Vec::new();
        for record in self.journal(id).await? {
            match record.entry {
                Entry::Waiting {
                    path,
                    until_ms: None,
                } => open.push(path),
                Entry::Resumed { path, .. } => open.retain(|known| *known != path),
                _ => {}
            }
        }
        match <[String; 1]>::try_from(open) {
            Ok([path]) => Ok(path),
            Err(open) => Err(Error::Retry(format!(
                "{} waits are open; name one with `?step=`",
                open.len()
            ))),
        }
    }

    /// The source of a template, by its key or `KEY@VERSION`.
    pub(crate) async fn template(&self, name: &str) -> Result<Option<Arc<[u8]>>, StoreError> {
        let (key, version) = match name.split_once('@') {
            Some((key, version)) => (key, version.parse().ok()),
            None => (name, None),
        };
        match self.templates.get(key.to_owned(), version).await {
            Ok(stored) => Ok(Some(stored.source)),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Queues a run that the store has in state `queued`.
    pub(crate) fn enqueue(&self, queued: Queued) {
        self.ready.push(ReadyRun {
            queued,
            just_accepted: None,
        });
    }

    pub(crate) async fn append(&self, write: Write) -> Result<(), StoreError> {
        let appended = write.records.clone();
        let id = write.id.clone();
        self.store.append(write).await?;
        if let Some(records) = appended {
            self.waiters.notify(&id, &Event::Records(records));
        }
        Ok(())
    }

    pub(crate) async fn respond(&self, write: Write, answer: Arc<[u8]>) -> Result<(), StoreError> {
        let appended = write.records.clone();
        let id = write.id.clone();
        self.store.respond(write, Arc::clone(&answer)).await?;
        fault::point("responded");
        if let Some(records) = appended {
            self.waiters.notify(&id, &Event::Records(records));
        }
        let answer = Answer {
            state: RunState::Running,
            answer: Some(answer),
            details: Arc::default(),
        };
        self.waiters.answer(&id, &answer);
        Ok(())
    }

    pub(crate) async fn suspend(
        &self,
        write: Write,
        wake_ms: Option<u64>,
    ) -> Result<(), StoreError> {
        let appended = write.records.clone();
        let id = write.id.clone();
        let is_queued = self.store.suspend(write, wake_ms).await?;
        fault::point("suspended");
        if is_queued {
            let run = self.store.get(id.clone()).await?;
            self.enqueue(queued(&run));
        }
        if let Some(records) = appended {
            self.waiters.notify(&id, &Event::Records(records));
        }
        self.waiters.notify(&id, &Event::State(RunState::Waiting));
        Ok(())
    }

    pub(crate) async fn finish(&self, write: Write, ending: Ending) -> Result<(), StoreError> {
        let appended = write.records.clone();
        let id = write.id.clone();
        fault::point("finishing");
        self.store.finish(write, ending.clone()).await?;
        fault::point("finished");
        if let Some(records) = appended {
            self.waiters.notify(&id, &Event::Records(records));
        }
        self.publish_end(&id, &ending);
        fault::point("answered");
        Ok(())
    }

    /// A caller that received the answer earlier has stopped waiting. The row keeps the answer.
    pub(crate) fn publish_end(&self, id: &str, ending: &Ending) {
        self.count_end(ending.state);
        let answer = Answer {
            state: ending.state,
            answer: ending.answer.clone(),
            details: Arc::clone(&ending.details),
        };
        self.waiters.answer(id, &answer);
    }

    pub(crate) async fn release(&self, write: Write) -> Result<(), StoreError> {
        let id = write.id.clone();
        self.store.release(write).await?;
        let run = self.store.get(id).await?;
        self.enqueue(queued(&run));
        Ok(())
    }

    /// Returns the runs of this process to the queue. Another process resumes them, and no worker
    /// loss is counted.
    pub async fn give_back(&self) {
        let held: Vec<(String, u32, Holder)> = {
            let held = self.held();
            held.iter()
                .map(|(id, (epoch, holder))| (id.clone(), *epoch, holder.clone()))
                .collect()
        };
        for (id, epoch, holder) in held {
            let Holder::Here(cancellation) = holder else {
                continue;
            };
            let write = Write {
                id,
                epoch,
                now_ms: now_ms(),
                records: None,
            };
            // Fails for a run that has just ended; then nothing is left to release.
            let _ = self.store.release(write).await;
            cancellation.cancel();
        }
    }

    /// Loads queued runs from the store into memory.
    pub(crate) async fn refill(&self) -> Result<(), Error> {
        for run in self.store.queued(0, 4_096).await? {
            self.enqueue(run);
        }
        Ok(())
    }

    /// Queues runs again whose lease has expired or whose sleep is over; dead-letters those that
    /// lost too many workers.
    pub(crate) async fn reconcile(&self) -> Result<(), Error> {
        let now_ms = now_ms();
        let losses = self.settings.max_worker_losses;
        for expired in self.store.expire_leases(now_ms, losses, 256).await? {
            let id = expired.queued.id.clone();
            self.signal_stop(&id);
            if !expired.dead {
                self.enqueue(expired.queued);
                continue;
            }
            self.count_end(RunState::Dead);
            let run = self.get(&id).await?;
            if let Some(answer) = Answer::of(&run) {
                self.waiters.answer(&id, &answer);
            }
        }
        for woken in self.store.wake(now_ms, 1_024).await? {
            fault::point("woken");
            self.enqueue(woken);
        }
        Ok(())
    }

    pub(crate) fn is_full(&self, lane: Lane, queued_async: usize) -> Option<usize> {
        let depth = self.ready.depth();
        let (waiting, most) = match lane {
            Lane::Sync => (depth.sync, self.settings.sync_queue),
            Lane::Async => (queued_async, self.settings.async_queue),
        };
        (waiting >= most).then_some(waiting)
    }
}

/// Whether the store rejected a write at once. The first poll puts a write into the store's queue.
pub(crate) fn refused<T>(write: &mut StoreFuture<'_, T>) -> bool {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let first = write.as_mut().poll(&mut context);
    matches!(first, std::task::Poll::Ready(Err(_)))
}

/// The store's type for a scope.
pub(crate) fn scope_of(scope: StoreScope) -> Scope {
    match scope {
        StoreScope::Flow => Scope::Flow,
        StoreScope::Shared => Scope::Shared,
    }
}

/// The queue entry of a run.
pub(crate) fn queued(run: &Run) -> Queued {
    Queued {
        number: run.number,
        id: run.id.clone(),
        flow: run.flow.clone(),
        lane: run.lane,
        // The queue timeout only applies before the first start.
        deadline_ms: run.deadline_ms.filter(|_| run.started_ms.is_none()),
    }
}

/// Concatenates lists of records.
pub(crate) fn records(lists: &[Arc<[u8]>]) -> Vec<Record> {
    let read = |list: &Arc<[u8]>| serde_json::from_slice::<Vec<Record>>(list).unwrap_or_default();
    lists.iter().flat_map(read).collect()
}
