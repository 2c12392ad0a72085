//! What workers see of runs, which the store does not know.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::Instant;

#[derive(Default)]
struct State {
    /// When each run was started, each time.
    starts: HashMap<String, Vec<Instant>>,
    /// Workers by run while they execute it, since when.
    executing: HashMap<String, (usize, Instant)>,
    /// Workers that are connected, and since when those have been idle that are.
    connected: BTreeSet<usize>,
    idle: BTreeMap<usize, Instant>,
    /// Time that workers have worked on runs that have left them, since the figures began.
    busy: BTreeMap<usize, Duration>,
    busy_since: Option<Instant>,
    /// Ends that were refused: the work was in vain.
    refused: u64,
    /// What must not happen.
    violations: Vec<String>,
}

/// Collects what workers see.
#[derive(Default)]
pub struct Observer {
    state: Mutex<State>,
}

/// A run that a worker executes.
pub struct Executing {
    observer: Arc<Observer>,
    worker: usize,
    run: String,
}

impl Observer {
    pub fn connected(&self, worker: usize) {
        let mut state = self.state.lock();
        state.connected.insert(worker);
        state.idle.insert(worker, Instant::now());
    }

    pub fn disconnected(&self, worker: usize) {
        let mut state = self.state.lock();
        state.connected.remove(&worker);
        state.idle.remove(&worker);
    }

    /// A worker starts a run, which no other must be executing.
    pub fn start(observer: &Arc<Self>, worker: usize, run: &str) -> Executing {
        let since = Instant::now();
        let mut state = observer.state.lock();
        state.starts.entry(run.to_owned()).or_default().push(since);
        let other = state.executing.insert(run.to_owned(), (worker, since));
        let idle = state.idle.remove(&worker);
        if other.is_some() || idle.is_none() {
            let what = format!("worker {worker}, idle {idle:?}, starts {run}, held by {other:?}");
            state.violations.push(what);
        }
        Executing {
            observer: Arc::clone(observer),
            worker,
            run: run.to_owned(),
        }
    }

    /// Notes what must not happen, where a panic would be lost with its task.
    pub fn violated(&self, what: String) {
        self.state.lock().violations.push(what);
    }

    pub fn assert_unviolated(&self) {
        assert_eq!(self.state.lock().violations, [""; 0]);
    }

    pub fn refused(&self) {
        self.state.lock().refused += 1;
    }

    pub fn refusals(&self) -> u64 {
        self.state.lock().refused
    }

    pub fn starts(&self, run: &str) -> Vec<Instant> {
        self.state
            .lock()
            .starts
            .get(run)
            .cloned()
            .unwrap_or_default()
    }

    /// A run that has just been started, and its worker.
    pub fn any_execution(&self) -> (String, usize) {
        let state = self.state.lock();
        let last = state.executing.iter().max_by_key(|(_, (_, since))| *since);
        let (run, (worker, _)) = last.expect("workers work");
        (run.clone(), *worker)
    }

    /// Since when the connected worker has been idle that has been it longest.
    pub fn longest_idle(&self) -> Option<Instant> {
        self.state.lock().idle.values().min().copied()
    }

    /// Times that workers have worked since the last call.
    pub fn take_busy(&self) -> BTreeMap<usize, Duration> {
        let mut state = self.state.lock();
        let mut busy = std::mem::take(&mut state.busy);
        for (worker, since) in state.executing.values() {
            *busy.entry(*worker).or_default() += state.worked(*since);
        }
        state.busy_since = Some(Instant::now());
        busy
    }
}

impl State {
    /// Time since a start, or since the figures began.
    fn worked(&self, start: Instant) -> Duration {
        self.busy_since
            .map_or(start, |since| since.max(start))
            .elapsed()
    }
}

impl Drop for Executing {
    fn drop(&mut self) {
        let mut state = self.observer.state.lock();
        if let Some((_, since)) = state.executing.remove(&self.run) {
            let worked = state.worked(since);
            *state.busy.entry(self.worker).or_default() += worked;
        }
        if state.connected.contains(&self.worker) {
            state.idle.insert(self.worker, Instant::now());
        }
    }
}
