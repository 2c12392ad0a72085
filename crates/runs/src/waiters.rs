//! Callers that wait for a run to end, and callers that watch its events.

use std::{collections::HashMap, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use platen_storage::runs::RunState;
use tokio::sync::{mpsc, oneshot};

use crate::Answer;

/// Events buffered for a watcher. One that falls further behind is dropped: a slow client must not
/// hold the memory of every event.
const MAX_BUFFERED_EVENTS: usize = 256;

/// Longer lists of records are not buffered for watchers, who read them from the store. Bytes.
const MAX_BUFFERED_BYTES: usize = 64 << 10;

/// Something that happened in a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// Records were added to its journal: a JSON list.
    Records(Arc<[u8]>),
    /// Records were added to its journal that are too long to be sent along.
    Longer,
    /// The run changed its state.
    State(RunState),
}

#[derive(Default)]
struct Listeners {
    waiters: Vec<oneshot::Sender<Answer>>,
    watchers: Vec<mpsc::Sender<Event>>,
}

/// Listeners by name of the run.
#[derive(Default)]
pub(crate) struct Waiters {
    listeners: Mutex<HashMap<String, Listeners>>,
}

impl Waiters {
    fn listeners(&self) -> MutexGuard<'_, HashMap<String, Listeners>> {
        self.listeners.lock()
    }

    /// Receives the answer of a run. Register before the run is accepted, or its answer may be
    /// missed.
    pub fn wait(&self, id: &str) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        let mut all = self.listeners();
        all.entry(id.to_owned()).or_default().waiters.push(sender);
        receiver
    }

    /// Receives the events of a run from now on.
    pub fn watch(&self, id: &str) -> mpsc::Receiver<Event> {
        let (sender, receiver) = mpsc::channel(MAX_BUFFERED_EVENTS);
        let mut all = self.listeners();
        all.entry(id.to_owned()).or_default().watchers.push(sender);
        receiver
    }

    /// Sends an event to the watchers of a run.
    pub fn notify(&self, id: &str, event: &Event) {
        let event = match event {
            Event::Records(list) if list.len() > MAX_BUFFERED_BYTES => &Event::Longer,
            event => event,
        };
        let mut all = self.listeners();
        if let Some(listeners) = all.get_mut(id) {
            let watchers = &mut listeners.watchers;
            watchers.retain(|watcher| watcher.try_send(event.clone()).is_ok());
            Self::remove_if_empty(&mut all, id);
        }
    }

    /// Whether somebody waits for the answer of a run.
    pub fn is_waited_for(&self, id: &str) -> bool {
        let all = self.listeners();
        all.get(id).is_some_and(|it| !it.waiters.is_empty())
    }

    /// Runs with waiters and runs with watchers, at most `limit` of each.
    pub fn known(&self, limit: usize) -> (Vec<String>, Vec<String>) {
        let all = self.listeners();
        let waited = all.iter().filter(|(_, it)| !it.waiters.is_empty());
        let watched = all.iter().filter(|(_, it)| !it.watchers.is_empty());
        let waited = waited.map(|(id, _)| id.clone()).take(limit).collect();
        let watched = watched.map(|(id, _)| id.clone()).take(limit).collect();
        (waited, watched)
    }

    /// Sends the answer to the waiters of a run, and its last state to the watchers.
    pub fn answer(&self, id: &str, answer: &Answer) {
        let mut all = self.listeners();
        let Some(listeners) = all.get_mut(id) else {
            return;
        };
        for waiter in listeners.waiters.drain(..) {
            // Fails when the client has disconnected.
            let _ = waiter.send(answer.clone());
        }
        if answer.state.is_end() {
            for watcher in listeners.watchers.drain(..) {
                let _ = watcher.try_send(Event::State(answer.state));
            }
        }
        Self::remove_if_empty(&mut all, id);
    }

    /// Removes listeners whose clients have disconnected.
    pub fn sweep(&self) {
        self.listeners().retain(|_, listeners| {
            listeners.waiters.retain(|waiter| !waiter.is_closed());
            listeners.watchers.retain(|watcher| !watcher.is_closed());
            !listeners.waiters.is_empty() || !listeners.watchers.is_empty()
        });
    }

    fn remove_if_empty(all: &mut HashMap<String, Listeners>, id: &str) {
        let is_empty =
            |listeners: &Listeners| listeners.waiters.is_empty() && listeners.watchers.is_empty();
        if all.get(id).is_some_and(is_empty) {
            all.remove(id);
        }
    }
}
