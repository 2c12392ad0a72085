//! This service among others on the same store: it takes runs for which another has no slot, and
//! learns what others did.
//!
//! Signals make that quick. They may be lost, so the rows are looked at from time to time as well;
//! the constants here say how often.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    future::pending,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use platen_storage::{
    Peers, Signal,
    runs::{Queued, RunState},
};
use tokio::{
    sync::broadcast::error::RecvError,
    time::{Instant, sleep_until},
};

use crate::{
    Answer, Dispatcher, clock, ready_queue::ReadyRun, settings::Fleet as Settings, waiters::Event,
};

/// How long the right to expire leases and to wake runs lasts; shorter than a lease of a run, so
/// that the loss of its holder delays nothing for long.
const MAINTENANCE: Duration = Duration::from_secs(3);
/// How long the right to start flows by their triggers lasts.
const TRIGGERS: Duration = Duration::from_secs(5);
/// How long the right to delete old runs lasts, which are looked for once a minute.
const RETENTION: Duration = Duration::from_secs(90);
/// How long a service is missing before its runs are taken from it: one that has lost its connection
/// to the store connects again sooner.
const MISSING: Duration = Duration::from_millis(1_500);
/// A queued run that is older than this is taken by any service: its own may be gone.
const OVERDUE_MS: u64 = 2_000;
/// Maintenance polls between two looks at overdue runs, answers and counts: one second.
const POLLS_PER_LOOK: u32 = 2;
/// Maintenance polls between two looks at what is published: two seconds.
const POLLS_PER_RELOAD: u32 = 4;
/// Offers of other services that are remembered.
const MAX_OFFERS: usize = 4_096;
/// Runs asked about in one question.
const MAX_ASKED: usize = 1_024;
/// Offers that are looked at together: some are usually taken already.
const MIN_TAKEN: usize = 16;
/// The longest time over which services spread their claims of an offer, in microseconds. Without
/// it, all that have free slots claim it at once, and all but one in vain.
const MAX_SPREAD_US: u64 = 30_000;
/// What a refused claim adds to that time, and one that succeeds takes from it.
const COLLIDED_US: u64 = 2_000;
const CLAIMED_US: u64 = 1_000;
/// Runs behind one that another service has taken that are looked at before the next claim.
pub(crate) const MAX_LOOK_AHEAD: usize = 64;
/// Journals that are read in a look, for clients that watch runs of other services.
const MAX_WATCHED: usize = 64;

/// What is known of the other services.
pub(crate) struct Fleet {
    pub peers: Arc<dyn Peers>,
    name: String,
    /// Runs that others have no slot for, oldest first.
    offers: Mutex<VecDeque<String>>,
    /// The time over which claims of offers are spread; grows while they collide.
    spread_us: AtomicU64,
    /// Runs under execution here whose caller waits at another service.
    foreign: Mutex<HashSet<String>>,
    /// Runs that clients watch here while others execute them: how much of the journal they received.
    watched: Mutex<HashMap<String, (i64, RunState)>>,
    /// Queued runs of all services, counted every second.
    queued: AtomicUsize,
    /// Services that hold runs and are not there, since when.
    missing: Mutex<HashMap<String, Instant>>,
}

impl Fleet {
    pub fn new(settings: Settings) -> Self {
        Self {
            peers: settings.peers,
            name: settings.name,
            offers: Mutex::default(),
            spread_us: AtomicU64::default(),
            foreign: Mutex::default(),
            watched: Mutex::default(),
            queued: AtomicUsize::default(),
            missing: Mutex::default(),
        }
    }

    /// Queued runs of all services, as of a second ago at most.
    pub fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Whether this service starts flows by their triggers for now.
    pub async fn has_triggers(&self) -> bool {
        self.lead("triggers", TRIGGERS).await
    }

    /// Whether this service deletes old runs for now.
    pub async fn has_retention(&self) -> bool {
        self.lead("retention", RETENTION).await
    }

    async fn lead(&self, work: &'static str, lease: Duration) -> bool {
        let lead = self.peers.lead(work, self.name.clone(), lease);
        // Whoever cannot ask does not lead.
        lead.await.unwrap_or(false)
    }

    /// Offers a run for which there is no slot here.
    pub fn offer(&self, id: &str) {
        self.peers.notify(Signal::Ready(id.to_owned()));
    }

    /// Notes that a caller of this run waits at another service.
    pub fn expect_elsewhere(&self, id: &str) {
        self.foreign.lock().insert(id.to_owned());
    }

    /// Notifies the service where the caller waits that a run has answered or ended.
    pub fn notify_elsewhere(&self, id: &str) {
        if self.foreign.lock().contains(id) {
            self.peers.notify(Signal::Answered(id.to_owned()));
        }
    }

    /// Forgets a run that has left its slot.
    pub fn left(&self, id: &str) {
        self.foreign.lock().remove(id);
    }

    /// Notes whether a claim was refused because another service was quicker.
    pub fn note_claim(&self, is_refused: bool) {
        let change = |spread: u64| match is_refused {
            true => Some((spread + COLLIDED_US).min(MAX_SPREAD_US)),
            false => Some(spread.saturating_sub(CLAIMED_US)),
        };
        let order = Ordering::Relaxed;
        let _ = self.spread_us.fetch_update(order, order, change);
    }

    /// A number of this service and a run: services differ in it.
    fn number(&self, id: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        (id, &self.name).hash(&mut hasher);
        hasher.finish()
    }

    /// How long this service waits before it claims an offer: each service has another turn.
    fn turn(&self, id: &str) -> Duration {
        let spread_us = self.spread_us.load(Ordering::Relaxed);
        Duration::from_micros(self.number(id) % (spread_us + 1))
    }

    fn remember_offer(&self, id: String) {
        let mut offers = self.offers.lock();
        if offers.len() >= MAX_OFFERS {
            offers.pop_front();
        }
        offers.push_back(id);
    }

    fn take_offers(&self, most: usize) -> Vec<String> {
        let mut offers = self.offers.lock();
        let count = offers.len().min(most);
        offers.drain(..count).collect()
    }

    /// Leaves as many runs as there are free slots and remembers the others again. Services that
    /// choose among the same runs begin at different ones.
    fn choose(&self, found: &mut Vec<Queued>, free: usize) {
        if found.len() <= free {
            return;
        }
        let first = self.number(&found[0].id) % found.len() as u64;
        found.rotate_left(first as usize);
        let mut rest = found.split_off(free);
        rest.sort_by_key(|run| run.number);
        let mut offers = self.offers.lock();
        for run in rest.into_iter().rev() {
            offers.push_front(run.id);
        }
    }
}

/// Follows the signals of the others until the dispatcher closes.
pub(crate) async fn listen(dispatcher: Arc<Dispatcher>, fleet: Arc<Fleet>) {
    let mut signals = fleet.peers.listen();
    // When it is this service's turn to take offers.
    let mut turn: Option<Instant> = None;
    loop {
        let signal = tokio::select! {
            signal = signals.recv() => match signal {
                Ok(signal) => signal,
                Err(RecvError::Lagged(_)) => Signal::Missed,
                Err(RecvError::Closed) => return,
            },
            () = dispatcher.ready.slot_idle(), if turn.is_none() => {
                take_offers(&dispatcher, &fleet).await;
                continue;
            }
            () = until(turn) => {
                turn = None;
                take_offers(&dispatcher, &fleet).await;
                continue;
            }
        };
        match signal {
            Signal::Ready(id) => {
                if turn.is_none() && dispatcher.ready.free_slots() > 0 {
                    turn = Some(Instant::now() + fleet.turn(&id));
                }
                fleet.remember_offer(id);
            }
            Signal::Answered(id) if dispatcher.waiters.is_waited_for(&id) => {
                notify_waiters(&dispatcher, &id).await;
            }
            Signal::Stopped(id) => dispatcher.signal_stop(&id),
            Signal::Published => drop(dispatcher.reload_published().await),
            Signal::Missed => {
                let _ = dispatcher.reload_published().await;
                look_for_answers(&dispatcher, &fleet).await;
            }
            Signal::Answered(_)
            | Signal::Template(_)
            | Signal::Flow(_)
            | Signal::Keys
            | Signal::Used(_) => {}
        }
    }
}

async fn until(turn: Option<Instant>) {
    match turn {
        Some(turn) => sleep_until(turn).await,
        None => pending().await,
    }
}

/// Queues offered runs if slots are free. Another service may be quicker; then the claim is refused.
async fn take_offers(dispatcher: &Dispatcher, fleet: &Fleet) {
    while dispatcher.ready.free_slots() > 0 && !dispatcher.lifecycle.is_draining() {
        let free = dispatcher.ready.free_slots();
        let offers = fleet.take_offers(free.clamp(MIN_TAKEN, MAX_ASKED));
        if offers.is_empty() {
            return;
        }
        match fleet.peers.queued_among(offers).await {
            Ok(found) if found.is_empty() => {}
            Ok(mut found) => {
                fleet.choose(&mut found, dispatcher.ready.free_slots());
                return queue(dispatcher, found);
            }
            // They will be overdue.
            Err(_) => return,
        }
    }
}

fn queue(dispatcher: &Dispatcher, found: Vec<Queued>) {
    for queued in found {
        dispatcher.ready.push(ReadyRun {
            queued,
            just_accepted: None,
        });
    }
}

/// Periodic work beside the heartbeats of this service; `polls` counts the calls.
pub(crate) async fn poll(dispatcher: &Dispatcher, fleet: &Fleet, polls: u32) {
    clock::follow(dispatcher.store.now_ms());
    if fleet.lead("maintenance", MAINTENANCE).await {
        release_lost(fleet).await;
        let _ = dispatcher.reconcile().await;
    }
    let limit = |flow: &str| dispatcher.flow_cache.limit(flow);
    dispatcher.ready.retry_parked(limit);
    if dispatcher.ready.needs_refill() {
        let _ = dispatcher.refill().await;
    }
    if polls.is_multiple_of(POLLS_PER_LOOK) {
        if let Ok([queued, ..]) = dispatcher.store.counts().await {
            fleet.queued.store(queued as usize, Ordering::Relaxed);
        }
        forget_taken(dispatcher, fleet, MAX_ASKED).await;
        take_overdue(dispatcher, fleet).await;
        look_for_answers(dispatcher, fleet).await;
    }
    notify_watchers(dispatcher, fleet).await;
    if polls.is_multiple_of(POLLS_PER_RELOAD) {
        let _ = dispatcher.reload_published().await;
    }
}

/// Takes the runs of services that have ended, without waiting for the ends of their leases.
async fn release_lost(fleet: &Fleet) {
    let Ok(lost) = fleet.peers.lost(fleet.name.clone()).await else {
        // While the store is away, everybody seems to be.
        fleet.missing.lock().clear();
        return;
    };
    let now = Instant::now();
    let gone: Vec<String> = {
        let mut missing = fleet.missing.lock();
        missing.retain(|name, _| lost.contains(name));
        for name in lost {
            missing.entry(name).or_insert(now);
        }
        let long = missing.extract_if(|_, since| now.duration_since(*since) >= MISSING);
        long.map(|(name, _)| name).collect()
    };
    for service in gone {
        let _ = fleet.peers.release(service).await;
    }
}

/// Forgets runs in memory that other services have taken, of the first `most`: they would hold up
/// those behind them.
pub(crate) async fn forget_taken(dispatcher: &Dispatcher, fleet: &Fleet, most: usize) {
    let waiting = dispatcher.ready.waiting(most);
    if waiting.is_empty() {
        return;
    }
    let mut taken: HashSet<String> = waiting.iter().cloned().collect();
    if let Ok(queued) = fleet.peers.queued_among(waiting).await {
        for run in queued {
            taken.remove(&run.id);
        }
        dispatcher.ready.forget(&taken);
    }
}

/// Takes runs that have waited too long, if slots are free.
async fn take_overdue(dispatcher: &Dispatcher, fleet: &Fleet) {
    if fleet.queued() == 0
        || dispatcher.ready.free_slots() == 0
        || dispatcher.lifecycle.is_draining()
    {
        return;
    }
    let before_ms = clock::now_ms().saturating_sub(OVERDUE_MS);
    let overdue = |after| {
        fleet
            .peers
            .overdue(before_ms, after, Dispatcher::MAX_REFILL)
    };
    let _ = dispatcher.fill_from(overdue).await;
}

/// Answers callers whose runs have answered at another service.
async fn look_for_answers(dispatcher: &Dispatcher, fleet: &Fleet) {
    let (mut waited, _) = dispatcher.waiters.known(usize::MAX);
    {
        let held = dispatcher.held();
        waited.retain(|id| !held.contains_key(id));
    }
    for part in waited.chunks(MAX_ASKED) {
        let answered = fleet.peers.answered_among(part.to_vec()).await;
        for id in answered.into_iter().flatten() {
            notify_waiters(dispatcher, &id).await;
        }
    }
}

async fn notify_waiters(dispatcher: &Dispatcher, id: &str) {
    if let Ok(run) = dispatcher.get(id).await
        && let Some(answer) = Answer::of(&run)
    {
        dispatcher.waiters.answer(id, &answer);
    }
}

/// Notifies clients of what happened in runs that other services execute.
async fn notify_watchers(dispatcher: &Dispatcher, fleet: &Fleet) {
    let (_, mut watched) = dispatcher.waiters.known(MAX_WATCHED);
    {
        let held = dispatcher.held();
        watched.retain(|id| !held.contains_key(id));
    }
    fleet.watched.lock().retain(|id, _| watched.contains(id));
    for id in watched {
        // Before the records, so that an end is said behind all of them.
        let Ok(run) = dispatcher.head(&id).await else {
            continue;
        };
        let known = fleet.watched.lock().get(&id).copied();
        let (mut position, state) = known.unwrap_or((0, RunState::Queued));
        let store = &dispatcher.store;
        while let Ok(Some((next, records))) = store.journal_after(id.clone(), position).await {
            position = next;
            dispatcher.waiters.notify(&id, &Event::Records(records));
        }
        // Callers of a run that has answered and goes on get that from `look_for_answers`.
        if run.state.is_end() {
            notify_waiters(dispatcher, &id).await;
        } else if run.state != state {
            dispatcher.waiters.notify(&id, &Event::State(run.state));
        }
        fleet.watched.lock().insert(id, (position, run.state));
    }
}
