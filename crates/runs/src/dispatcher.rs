//! The app's side: reads and writes the stores, gives runs to slots, notifies callers.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use platen_fault::Code;
use platen_flow::model::StoreScope;
use platen_script::Cancellation;
use platen_storage::{
    DocumentStore, Error as StoreError, RunStore, Signal, StoreFuture,
    runs::{Ending, Lane, Queued, Run, RunFilter, RunState, Scope, Write},
};
use tokio::sync::{mpsc, oneshot};

use crate::{
    Answer, Depth, Error, Settings,
    answer::stopped,
    clock::{self, now_ms},
    fault,
    fleet::Fleet,
    flow_cache::FlowCache,
    lifecycle::Lifecycle,
    ready_queue::{Pushed, ReadyQueue, ReadyRun},
    waiters::{Event, Waiters},
};

/// Worker name of the slots in this process, if it has the store alone.
const EMBEDDED: &str = "embedded";

/// Between the parts of a long deletion, in which other writes have their turn.
const BETWEEN_PARTS: Duration = Duration::from_millis(50);

/// How to stop a run that a slot executes.
#[derive(Clone)]
pub(crate) enum Holder {
    /// By its cancellation, in this process.
    Here(Cancellation),
    /// By sending its name and epoch to the worker that executes it.
    There(mpsc::UnboundedSender<(String, u32)>),
}

/// Runs of flows, from acceptance to answer.
pub struct Dispatcher {
    pub(crate) store: Arc<dyn RunStore>,
    pub(crate) templates: Arc<dyn DocumentStore>,
    pub(crate) flow_cache: FlowCache,
    pub(crate) ready: ReadyQueue,
    pub(crate) waiters: Waiters,
    pub(crate) settings: Settings,
    /// The other services on the store.
    pub(crate) fleet: Option<Arc<Fleet>>,
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
    /// Runs that are loaded from the store at once.
    pub(crate) const MAX_REFILL: u32 = 4_096;
    /// Runs that are deleted at once: all writes behind them wait.
    const MAX_PRUNED: u32 = 1_000;

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
            ready: ReadyQueue::new(settings.fleet.is_some()),
            waiters: Waiters::default(),
            fleet: settings.fleet.clone().map(|it| Arc::new(Fleet::new(it))),
            settings,
            held: Mutex::default(),
            slots: AtomicUsize::new(0),
            lifecycle: Lifecycle::default(),
            ended: Default::default(),
        })
    }

    /// Worker name of the slots in this process.
    pub(crate) fn name(&self) -> &str {
        let fleet = self.settings.fleet.as_ref();
        fleet.map_or(EMBEDDED, |fleet| &fleet.name)
    }

    /// Stops accepting runs and giving them to slots. Other services are offered those that wait.
    pub fn drain(&self) {
        self.lifecycle.drain();
        if let Some(fleet) = &self.fleet {
            for id in self.ready.waiting(usize::MAX) {
                fleet.offer(&id);
            }
        }
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

    /// How many runs wait for a slot in all services, as of a second ago; `None` if this one has the
    /// store alone.
    #[must_use]
    pub fn queued_in_fleet(&self) -> Option<usize> {
        self.fleet.as_ref().map(|fleet| fleet.queued())
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

    /// The head of a run: long values are empty, see [`RunStore::head`].
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn head(&self, id: &str) -> Result<Run, Error> {
        Ok(self.store.head(id.to_owned()).await?)
    }

    /// The heads of runs, newest first.
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
        if let Some(fleet) = &self.fleet {
            fleet.peers.notify(Signal::Stopped(id.to_owned()));
            fleet.peers.notify(Signal::Answered(id.to_owned()));
        }
        Ok(())
    }

    /// Tells the slot that executes a run to stop.
    pub(crate) fn signal_stop(&self, id: &str) {
        self.signal(id, |_| true);
    }

    /// Tells the slot that lost its lease of a run to stop, unless the run is held here again.
    pub(crate) fn signal_lost(&self, id: &str, epoch: u32) {
        self.signal(id, |held| held == epoch);
    }

    fn signal(&self, id: &str, is_meant: impl Fn(u32) -> bool) {
        let held = self.held().get(id).cloned();
        match held.filter(|(epoch, _)| is_meant(*epoch)) {
            Some((_, Holder::Here(cancellation))) => cancellation.cancel(),
            // Fails when the worker has disconnected; then its slots are gone, too.
            Some((epoch, Holder::There(sender))) => drop(sender.send((id.to_owned(), epoch))),
            None => {}
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

    /// Queues a run that the store has in state `queued`. Other services are offered it if no slot
    /// is free here.
    pub(crate) fn enqueue(&self, queued: Queued) {
        let id = queued.id.clone();
        let pushed = self.ready.push(ReadyRun {
            queued,
            just_accepted: None,
        });
        self.offer_if_it_waits(&id, pushed);
    }

    pub(crate) fn offer_if_it_waits(&self, id: &str, pushed: Pushed) {
        if let (Some(fleet), Pushed::Waits) = (&self.fleet, pushed) {
            fleet.offer(id);
        }
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
                id: id.clone(),
                epoch,
                now_ms: now_ms(),
                records: None,
            };
            match self.store.release(write).await {
                Ok(()) => {
                    cancellation.cancel();
                    if let Some(fleet) = &self.fleet {
                        fleet.offer(&id);
                    }
                }
                // It has just ended, or belongs to another worker.
                Err(StoreError::Fenced | StoreError::Ended) => cancellation.cancel(),
                // It still has the run: a cancelled one would end. It is resumed when its lease ends.
                Err(error) => tracing::warn!(%error, run = id, "a run was not given back"),
            }
        }
    }

    /// Loads queued runs from the store into memory.
    pub(crate) async fn refill(&self) -> Result<(), Error> {
        self.fill_from(|after| self.store.queued(after, Self::MAX_REFILL))
            .await
    }

    /// Queues runs that `find` reads, those behind a number. Where all of a part are in memory,
    /// held back by the limit of their flow, the next part may have others.
    pub(crate) async fn fill_from<'s>(
        &'s self,
        find: impl Fn(u64) -> StoreFuture<'s, Vec<Queued>>,
    ) -> Result<(), Error> {
        let mut after = 0;
        loop {
            let found = find(after).await?;
            let is_part = found.len() >= Self::MAX_REFILL as usize;
            let last = found.last().map(|run| run.number);
            let is_new = self.fill(found);
            match last {
                Some(number) if is_part && !is_new && self.ready.has_room() => after = number,
                _ if is_part => break self.ready.expect_more(),
                _ => break,
            }
        }
        Ok(())
    }

    /// Queues runs that were found in the store; returns whether one of them was not in memory.
    /// Services that find the same runs begin at different ones, so that few of their claims
    /// collide.
    fn fill(&self, mut found: Vec<Queued>) -> bool {
        if self.fleet.is_some() && !found.is_empty() {
            let first = clock::now().subsec_nanos() as usize % found.len();
            found.rotate_left(first);
        }
        let mut is_new = false;
        for queued in found {
            let pushed = self.ready.push(ReadyRun {
                queued,
                just_accepted: None,
            });
            is_new |= pushed != Pushed::NotAdded;
        }
        is_new
    }

    /// Deletes runs that ended long ago.
    pub(crate) async fn prune(&self) {
        let kept_ms = self.settings.retention.as_millis() as u64;
        let before_ms = now_ms().saturating_sub(kept_ms);
        // What fails now is deleted later.
        while let Ok(count) = self.store.prune(before_ms, Self::MAX_PRUNED).await
            && count >= u64::from(Self::MAX_PRUNED)
        {
            tokio::time::sleep(BETWEEN_PARTS).await;
        }
    }

    /// Queues runs again whose lease has expired or whose sleep is over; dead-letters those that
    /// lost too many workers.
    pub(crate) async fn reconcile(&self) -> Result<(), Error> {
        let now_ms = now_ms();
        let losses = self.settings.max_worker_losses;
        for expired in self.store.expire_leases(now_ms, losses, 256).await? {
            let id = expired.queued.id.clone();
            self.signal_lost(&id, expired.epoch);
            if !expired.dead {
                self.enqueue(expired.queued);
                continue;
            }
            self.count_end(RunState::Dead);
            let run = self.get(&id).await?;
            if let Some(answer) = Answer::of(&run) {
                self.waiters.answer(&id, &answer);
            }
            if let Some(fleet) = &self.fleet {
                fleet.peers.notify(Signal::Answered(id));
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

/// What the first poll of a write says, which puts it into the store's queue.
pub(crate) fn first_of<T>(write: &mut StoreFuture<'_, T>) -> Poll<Result<T, StoreError>> {
    let mut context = Context::from_waker(Waker::noop());
    write.as_mut().poll(&mut context)
}

/// Whether the store rejected a write at once.
pub(crate) fn refused<T>(write: &mut StoreFuture<'_, T>) -> bool {
    matches!(first_of(write), Poll::Ready(Err(_)))
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

#[cfg(test)]
mod tests;
