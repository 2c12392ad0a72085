//! Who waits for runs to end, and who watches them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use platen_storage::runs::RunState;
use tokio::sync::{mpsc, oneshot};

use crate::Answer;

/// Events that a slow watcher may be behind; then it is let go.
const MAX_BEHIND: usize = 256;

/// Something that happened in a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// Records were added to its journal: a JSON list.
    Records(Arc<[u8]>),
    /// It is in another state.
    State(RunState),
}

#[derive(Default)]
struct Listeners {
    waiters: Vec<oneshot::Sender<Answer>>,
    watchers: Vec<mpsc::Sender<Event>>,
}

/// Who listens, by run.
#[derive(Default)]
pub(crate) struct Feed {
    listeners: Mutex<HashMap<String, Listeners>>,
}

impl Feed {
    fn listeners(&self) -> MutexGuard<'_, HashMap<String, Listeners>> {
        let listeners = self.listeners.lock();
        listeners.unwrap_or_else(PoisonError::into_inner)
    }

    /// Is told the answer of a run. To be called before the run is accepted.
    pub fn wait(&self, id: &str) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        let mut all = self.listeners();
        all.entry(id.to_owned()).or_default().waiters.push(sender);
        receiver
    }

    /// Is told what happens in a run.
    pub fn watch(&self, id: &str) -> mpsc::Receiver<Event> {
        let (sender, receiver) = mpsc::channel(MAX_BEHIND);
        let mut all = self.listeners();
        all.entry(id.to_owned()).or_default().watchers.push(sender);
        receiver
    }

    /// Tells those who watch.
    pub fn tell(&self, id: &str, event: &Event) {
        let mut all = self.listeners();
        if let Some(listeners) = all.get_mut(id) {
            let watchers = &mut listeners.watchers;
            watchers.retain(|watcher| watcher.try_send(event.clone()).is_ok());
            Self::forget_if_alone(&mut all, id);
        }
    }

    /// Tells those who wait.
    pub fn answer(&self, id: &str, answer: &Answer) {
        let mut all = self.listeners();
        let Some(listeners) = all.get_mut(id) else {
            return;
        };
        for waiter in listeners.waiters.drain(..) {
            // One whose client has gone does not listen any more.
            let _ = waiter.send(answer.clone());
        }
        if answer.state.is_end() {
            for watcher in listeners.watchers.drain(..) {
                let _ = watcher.try_send(Event::State(answer.state));
            }
        }
        Self::forget_if_alone(&mut all, id);
    }

    /// Forgets those who have stopped listening.
    pub fn sweep(&self) {
        self.listeners().retain(|_, listeners| {
            listeners.waiters.retain(|waiter| !waiter.is_closed());
            listeners.watchers.retain(|watcher| !watcher.is_closed());
            !listeners.waiters.is_empty() || !listeners.watchers.is_empty()
        });
    }

    fn forget_if_alone(all: &mut HashMap<String, Listeners>, id: &str) {
        let alone =
            |listeners: &Listeners| listeners.waiters.is_empty() && listeners.watchers.is_empty();
        if all.get(id).is_some_and(alone) {
            all.remove(id);
        }
    }
}
