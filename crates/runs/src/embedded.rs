//! Slots in this process.

use std::{
    sync::{Arc, atomic::Ordering},
    task::Poll,
};

use parking_lot::Mutex;
use platen_flow::model::StoreScope;
use platen_storage::{
    Error as StoreError, StoreFuture,
    runs::{Ending, Hold, Write},
};
use serde_json::Value as Json;
use tokio::runtime::Handle;

use crate::{
    Dispatcher, RunChannel,
    answer::bytes,
    dispatcher::{Holder, first_of, scope_of},
    execution::{FlowRunner, Services, Stop},
    ready_queue::Takes,
    work::work,
};

/// Starts `count` slots. With more than one, the first takes only synchronous runs, so that
/// background work cannot occupy every slot.
pub fn start(dispatcher: &Arc<Dispatcher>, services: Arc<Services>, count: usize) {
    let runner = Arc::new(FlowRunner::new(services));
    dispatcher.slots.fetch_add(count, Ordering::Relaxed);
    for index in 0..count {
        let takes = match index == 0 && count > 1 {
            true => Takes::Synchronous,
            false => Takes::Flows,
        };
        let slot = slot(Arc::clone(dispatcher), Arc::clone(&runner), takes);
        dispatcher.lifecycle.spawn(slot);
    }
}

/// Starts `count` slots for deferred requests. They are apart from the slots of flows because a
/// request that waits for a receiver must not hold one up.
pub fn start_deferred(dispatcher: &Arc<Dispatcher>, services: Arc<Services>, count: usize) {
    let runner = Arc::new(FlowRunner::new(services));
    for _ in 0..count {
        let slot = slot(Arc::clone(dispatcher), Arc::clone(&runner), Takes::Deferred);
        dispatcher.lifecycle.spawn(slot);
    }
}

async fn slot(dispatcher: Arc<Dispatcher>, runner: Arc<FlowRunner>, takes: Takes) {
    while !dispatcher.lifecycle.is_draining() {
        let next = dispatcher.next(dispatcher.name(), takes, dispatcher.lifecycle.drained());
        let Some(assignment) = next.await else { break };
        let id = assignment.id.clone();
        let epoch = assignment.epoch;
        let flow = assignment.flow.loaded.flow().key.clone();
        let holder = Holder::Here(assignment.cancel.clone());
        dispatcher.held().insert(id.clone(), (epoch, holder));
        let channel = LocalChannel {
            dispatcher: Arc::clone(&dispatcher),
            runtime: Handle::current(),
            unsettled: Mutex::default(),
        };
        let runner = Arc::clone(&runner);
        let worked = tokio::task::spawn_blocking(move || work(assignment, &runner, &channel)).await;
        release_held(&dispatcher, &id, epoch);
        dispatcher.ready.done(&flow);
        // Errors need no handling: the row is the truth. The lease expires, and the run is resumed.
        drop(worked);
    }
}

/// Forgets a run that has left its slot, unless another slot has claimed it since.
pub(crate) fn release_held(dispatcher: &Dispatcher, id: &str, epoch: u32) {
    let mut held = dispatcher.held();
    if held.get(id).is_some_and(|(known, _)| *known == epoch) {
        held.remove(id);
    }
    drop(held);
    if let Some(fleet) = &dispatcher.fleet {
        fleet.left(id);
    }
}

/// Writes of a run that nobody has waited for, at most.
const MAX_UNSETTLED: usize = 256;

/// Calls the dispatcher of this process for one run.
struct LocalChannel {
    dispatcher: Arc<Dispatcher>,
    runtime: Handle,
    /// Appended, and not known to be written.
    unsettled: Mutex<Vec<StoreFuture<'static, ()>>>,
}

impl LocalChannel {
    /// Waits for what was appended without waiting: a gap in the journal must not stay unnoticed.
    async fn settle(&self) -> Result<(), StoreError> {
        let unsettled = std::mem::take(&mut *self.unsettled.lock());
        for append in unsettled {
            append.await?;
        }
        Ok(())
    }
}

fn stop(error: StoreError) -> Stop {
    match error {
        StoreError::Fenced => Stop::Fenced,
        other => Stop::Journal(other.to_string()),
    }
}

impl RunChannel for LocalChannel {
    fn append(&self, write: Write, wait: bool) -> Result<(), Stop> {
        if wait || self.unsettled.lock().len() >= MAX_UNSETTLED {
            // Both are in the store's queue before one is waited for.
            let append = async { tokio::join!(self.settle(), self.dispatcher.append(write)) };
            let (earlier, appended) = self.runtime.block_on(append);
            return earlier.and(appended).map_err(stop);
        }
        // The write is queued before every later write of this run, so that nothing has to wait for
        // it.
        let appended = write.records.clone();
        let id = write.id.clone();
        let (store, again) = (Arc::clone(&self.dispatcher.store), write.clone());
        let mut append: StoreFuture<'static, ()> =
            Box::pin(async move { store.append(write).await });
        match first_of(&mut append) {
            Poll::Ready(Err(_)) => return self.append(again, true),
            Poll::Ready(Ok(())) => {}
            Poll::Pending => self.unsettled.lock().push(append),
        }
        if let Some(records) = appended {
            self.dispatcher
                .waiters
                .notify(&id, &crate::waiters::Event::Records(records));
        }
        Ok(())
    }

    fn respond(&self, write: Write, answer: Arc<[u8]>) -> Result<(), Stop> {
        let respond = self.dispatcher.respond(write, answer);
        self.runtime.block_on(respond).map_err(stop)
    }

    fn suspend(&self, write: Write, wake_ms: Option<u64>) -> Result<(), Stop> {
        let suspend = async {
            self.settle().await?;
            self.dispatcher.suspend(write, wake_ms).await
        };
        self.runtime.block_on(suspend).map_err(stop)
    }

    fn finish(&self, write: Write, ending: Ending) -> Result<(), Stop> {
        let finish = self.dispatcher.finish(write, ending);
        self.runtime.block_on(finish).map_err(stop)
    }

    fn release(&self, write: Write) -> Result<(), Stop> {
        let release = self.dispatcher.release(write);
        self.runtime.block_on(release).map_err(stop)
    }

    fn put_value(
        &self,
        write: Write,
        scope: StoreScope,
        key: &str,
        value: Option<Json>,
    ) -> Result<(), String> {
        let (value, store) = (value.as_ref().map(bytes), &self.dispatcher.store);
        let put_value = store.put_value(write, scope_of(scope), key.to_owned(), value);
        self.runtime
            .block_on(put_value)
            .map_err(|error| error.to_string())
    }

    fn get_value(&self, hold: Hold, scope: StoreScope, key: &str) -> Result<Option<Json>, String> {
        let store = &self.dispatcher.store;
        let get_value = store.get_value(hold, scope_of(scope), key.to_owned());
        let get_value = self.runtime.block_on(get_value);
        let get_value = get_value.map_err(|error| error.to_string())?;
        Ok(get_value.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// No check whether the flow names the template: the step that asks has made it.
    fn template(&self, _: Hold, key: &str) -> Result<Option<Arc<[u8]>>, String> {
        let found = self.runtime.block_on(self.dispatcher.template(key));
        found.map_err(|error| error.to_string())
    }
}
