//! The side of the app: it alone speaks to the stores, hands runs to slots and tells who waits.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use platen_engine::flow::{Cancellation, Entry, Record, model::StoreScope};
use platen_storage::{
    DocumentStore, Error as StoreError, RunStore, StoreFuture,
    runs::{Ending, Lane, Queued, Run, RunFilter, RunState, Scope, Write},
};
use serde_json::Value as Json;
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
};

use crate::{
    Answer, Depth, Error, Settings,
    answer::stopped,
    catalogue::Catalogue,
    fault,
    feed::{Event, Feed},
    hints::{Hint, Hints},
    identity::now_ms,
    life::Phase,
};

/// Name of the slots in this process.
pub(crate) const EMBEDDED: &str = "embedded";

/// How a run that a slot has is told to stop.
#[derive(Clone)]
pub(crate) enum Holder {
    /// In this process.
    Here(Cancellation),
    /// In a worker: names of runs go down its connection.
    There(mpsc::UnboundedSender<String>),
}

/// Runs of flows, from their acceptance to their answer.
pub struct Dispatcher {
    pub(crate) store: Arc<dyn RunStore>,
    pub(crate) templates: Arc<dyn DocumentStore>,
    pub(crate) catalogue: Catalogue,
    pub(crate) hints: Hints,
    pub(crate) feed: Feed,
    pub(crate) settings: Settings,
    /// Runs that slots have.
    held: Mutex<HashMap<String, (u32, Holder)>>,
    /// Slots that could take runs, here and in workers.
    pub(crate) slots: AtomicUsize,
    pub(crate) phase: watch::Sender<Phase>,
    /// What looks after runs, and slots in this process.
    pub(crate) tasks: Mutex<Vec<JoinHandle<()>>>,
    /// Runs that ended since the process began, by state in the order of [`RunState::ALL`].
    ended: [AtomicU64; RunState::ALL.len()],
}

impl Dispatcher {
    /// A dispatcher of these stores. Nothing happens before [`Dispatcher::start`].
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
            catalogue: Catalogue::new(flows),
            hints: Hints::default(),
            feed: Feed::default(),
            settings,
            held: Mutex::default(),
            slots: AtomicUsize::new(0),
            phase: watch::Sender::new(Phase::Open),
            tasks: Mutex::default(),
            ended: Default::default(),
        })
    }

    /// Takes up what a former process left, and looks after runs from now on.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn start(self: &Arc<Self>) -> Result<(), Error> {
        self.store.orphan(None, EMBEDDED.to_owned()).await?;
        for published in self.store.published().await? {
            let version = Some(published.version);
            self.catalogue.set_published(&published.flow, version);
            // One that cannot be read any more fails when it is started, not here.
            let _ = self.catalogue.current(&published.flow).await;
        }
        self.look_after().await?;
        self.refill().await?;
        self.spawn(crate::upkeep::run(Arc::clone(self)));
        self.spawn(crate::triggers::run(Arc::clone(self)));
        Ok(())
    }

    pub(crate) fn held(&self) -> MutexGuard<'_, HashMap<String, (u32, Holder)>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many runs wait for a slot.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.hints.depth()
    }

    /// How many runs slots have.
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

    /// Is told what happens in a run from now on.
    pub fn watch(&self, id: &str) -> mpsc::Receiver<Event> {
        self.feed.watch(id)
    }

    /// Waits for the answer of a run that was accepted before.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn wait(&self, id: &str) -> Result<oneshot::Receiver<Answer>, Error> {
        let receiver = self.feed.wait(id);
        // It may have ended before somebody listened.
        let run = self.get(id).await?;
        if let Some(answer) = Answer::of(&run) {
            self.feed.answer(id, &answer);
        }
        Ok(receiver)
    }

    /// Ends a run that is not over, and stops who has it.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Ended`].
    pub async fn cancel(&self, id: &str) -> Result<(), Error> {
        let ending = stopped(
            RunState::Cancelled,
            "run-cancelled",
            "the run was cancelled",
        );
        self.stop(id, ending).await
    }

    pub(crate) async fn stop(&self, id: &str, ending: Ending) -> Result<(), Error> {
        let stop = self.store.stop(id.to_owned(), ending.clone(), now_ms());
        stop.await?;
        self.let_go(id);
        self.publish_end(id, &ending);
        Ok(())
    }

    /// Tells the slot that has a run to stop.
    pub(crate) fn let_go(&self, id: &str) {
        let holder = self.held().get(id).map(|(_, holder)| holder.clone());
        match holder {
            Some(Holder::Here(cancellation)) => cancellation.cancel(),
            // Where the connection is gone, so is the slot.
            Some(Holder::There(sender)) => drop(sender.send(id.to_owned())),
            None => {}
        }
    }

    /// Ends a wait of a run from outside; `step` may be left out where only one wait is open.
    ///
    /// # Errors
    /// [`Error::NotFound`] also where the token is wrong; [`Error::Ended`]; [`Error::Retry`] where
    /// it is not clear which wait is meant.
    pub async fn call_back(
        &self,
        id: &str,
        token: &str,
        step: Option<String>,
        payload: Json,
    ) -> Result<(), Error> {
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
            self.hint(queued(&run));
        }
        Ok(())
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

    /// Tells slots of a run that the store has queued.
    pub(crate) fn hint(&self, queued: Queued) {
        self.hints.push(Hint {
            queued,
            fresh: None,
        });
    }

    pub(crate) async fn append(&self, write: Write) -> Result<(), StoreError> {
        let told = write.records.clone();
        let id = write.id.clone();
        self.store.append(write).await?;
        if let Some(records) = told {
            self.feed.tell(&id, &Event::Records(records));
        }
        Ok(())
    }

    pub(crate) async fn respond(&self, write: Write, answer: Arc<[u8]>) -> Result<(), StoreError> {
        let told = write.records.clone();
        let id = write.id.clone();
        self.store.respond(write, Arc::clone(&answer)).await?;
        fault::point("responded");
        if let Some(records) = told {
            self.feed.tell(&id, &Event::Records(records));
        }
        let answer = Answer {
            state: RunState::Running,
            answer: Some(answer),
            details: Arc::default(),
        };
        self.feed.answer(&id, &answer);
        Ok(())
    }

    pub(crate) async fn suspend(
        &self,
        write: Write,
        wake_ms: Option<u64>,
    ) -> Result<(), StoreError> {
        let told = write.records.clone();
        let id = write.id.clone();
        let is_queued = self.store.suspend(write, wake_ms).await?;
        fault::point("suspended");
        if is_queued {
            let run = self.store.get(id.clone()).await?;
            self.hint(queued(&run));
        }
        if let Some(records) = told {
            self.feed.tell(&id, &Event::Records(records));
        }
        self.feed.tell(&id, &Event::State(RunState::Waiting));
        Ok(())
    }

    pub(crate) async fn finish(&self, write: Write, ending: Ending) -> Result<(), StoreError> {
        let told = write.records.clone();
        let id = write.id.clone();
        fault::point("finishing");
        self.store.finish(write, ending.clone()).await?;
        fault::point("finished");
        if let Some(records) = told {
            self.feed.tell(&id, &Event::Records(records));
        }
        self.publish_end(&id, &ending);
        fault::point("answered");
        Ok(())
    }

    /// What a run answered while it went on stands in its row; who waited then has it already.
    pub(crate) fn publish_end(&self, id: &str, ending: &Ending) {
        self.count_end(ending.state);
        let answer = Answer {
            state: ending.state,
            answer: ending.answer.clone(),
            details: Arc::clone(&ending.details),
        };
        self.feed.answer(id, &answer);
    }

    pub(crate) async fn release(&self, write: Write) -> Result<(), StoreError> {
        let id = write.id.clone();
        self.store.release(write).await?;
        let run = self.store.get(id).await?;
        self.hint(queued(&run));
        Ok(())
    }

    /// Gives back the runs that this process has: another takes them up, and no death is counted.
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
            // One that has just ended is not ours to give back.
            let _ = self.store.release(write).await;
            cancellation.cancel();
        }
    }

    /// Tells slots of runs that only the store knows of.
    pub(crate) async fn refill(&self) -> Result<(), Error> {
        for run in self.store.queued(0, 4_096).await? {
            self.hint(run);
        }
        Ok(())
    }

    /// Runs whose leases have lapsed or whose sleep is over are queued again.
    pub(crate) async fn look_after(&self) -> Result<(), Error> {
        let now_ms = now_ms();
        let deaths = self.settings.max_deaths;
        for lapsed in self.store.lapse(now_ms, deaths, 256).await? {
            let id = lapsed.queued.id.clone();
            self.let_go(&id);
            if !lapsed.dead {
                self.hint(lapsed.queued);
                continue;
            }
            self.count_end(RunState::Dead);
            let run = self.get(&id).await?;
            if let Some(answer) = Answer::of(&run) {
                self.feed.answer(&id, &answer);
            }
        }
        for woken in self.store.wake(now_ms, 1_024).await? {
            fault::point("woken");
            self.hint(woken);
        }
        Ok(())
    }

    pub(crate) fn is_full(&self, lane: Lane, queued_async: usize) -> Option<usize> {
        let depth = self.hints.depth();
        let (waiting, most) = match lane {
            Lane::Sync => (depth.sync, self.settings.sync_queue),
            Lane::Async => (queued_async, self.settings.async_queue),
        };
        (waiting >= most).then_some(waiting)
    }
}

/// Whether a write did not even get into the queue of the store.
pub(crate) fn refused<T>(write: &mut StoreFuture<'_, T>) -> bool {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let first = write.as_mut().poll(&mut context);
    matches!(first, std::task::Poll::Ready(Err(_)))
}

/// Whose a kept value is, as the store says it.
pub(crate) fn scope_of(scope: StoreScope) -> Scope {
    match scope {
        StoreScope::Flow => Scope::Flow,
        StoreScope::Shared => Scope::Shared,
    }
}

/// The hint of a run.
pub(crate) fn queued(run: &Run) -> Queued {
    Queued {
        number: run.number,
        id: run.id.clone(),
        flow: run.flow.clone(),
        lane: run.lane,
        // It matters only before a run has begun.
        deadline_ms: run.deadline_ms.filter(|_| run.started_ms.is_none()),
    }
}

/// Lists of records as one.
pub(crate) fn records(lists: &[Arc<[u8]>]) -> Vec<Record> {
    let read = |list: &Arc<[u8]>| serde_json::from_slice::<Vec<Record>>(list).unwrap_or_default();
    lists.iter().flat_map(read).collect()
}
