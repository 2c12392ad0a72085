//! The fleet: services, workers and callers, and what happens to them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use platen_runs::{Dispatcher, Error, Fleet, Lane, Request, Settings, session};
use serde_json::json;
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    database::Database,
    handle::Handle,
    network::Network,
    observer::Observer,
    random::SplitMix,
    scenario::{Arrivals, Scenario},
    store::{Documents, FLOW},
    worker,
};

/// Pause of a worker before it connects again.
const RECONNECT: Duration = Duration::from_millis(200);
/// Bytes in flight between a service and a worker.
const BUFFER: usize = 64 * 1024;

/// A service.
pub struct App {
    pub name: String,
    pub dispatcher: Arc<Dispatcher>,
    handle: Arc<Handle>,
    is_up: watch::Sender<bool>,
}

/// What a worker is told from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Works,
    /// Its machine stops: the connection stays open, and nothing is sent.
    Freezes,
    /// Its process ends.
    Dies,
}

/// What callers saw, in milliseconds.
#[derive(Default)]
pub struct Calls {
    /// Time until the answer, without the time of the run itself.
    pub overheads: Mutex<Vec<f64>>,
    pub sent: AtomicU64,
    pub full: AtomicU64,
}

pub struct World {
    pub scenario: Scenario,
    pub database: Arc<Database>,
    pub observer: Arc<Observer>,
    pub apps: Arc<Vec<App>>,
    pub calls: Arc<Calls>,
    fates: Vec<watch::Sender<Fate>>,
    random: SplitMix,
    tasks: Vec<JoinHandle<()>>,
}

impl World {
    pub async fn new(scenario: Scenario) -> Self {
        let database = Arc::new(Database::new(scenario.cores));
        let network = Arc::new(Network::new(scenario.signals, scenario.seed));
        let begun = Instant::now();
        let mut apps = Vec::new();
        for number in 0..scenario.apps {
            let name = format!("app-{number}");
            let handle = Arc::new(Handle::new(&database, &network, &name, begun));
            let settings = Settings {
                fleet: Some(Fleet {
                    peers: handle.clone(),
                    name: name.clone(),
                }),
                ..Settings::default()
            };
            let (flows, templates) = (Arc::new(Documents), Arc::new(Documents));
            let dispatcher = Dispatcher::new(handle.clone(), flows, templates, settings);
            dispatcher.start().await.unwrap();
            apps.push(App {
                name,
                dispatcher,
                handle,
                is_up: watch::Sender::new(true),
            });
            // Services do not start in step.
            sleep(Duration::from_millis(37)).await;
        }
        let mut world = Self {
            random: SplitMix(scenario.seed),
            database,
            observer: Arc::default(),
            apps: Arc::new(apps),
            calls: Arc::default(),
            fates: Vec::new(),
            tasks: Vec::new(),
            scenario,
        };
        for number in 0..world.scenario.workers {
            world.start_worker(number);
        }
        sleep(Duration::from_millis(500)).await;
        world
    }

    fn start_worker(&mut self, number: usize) {
        let (fate, fates) = watch::channel(Fate::Works);
        self.fates.push(fate);
        let (apps, observer) = (Arc::clone(&self.apps), Arc::clone(&self.observer));
        let life = live(number, apps, observer, fates);
        self.tasks.push(tokio::spawn(life));
    }

    /// Sends requests until the time given has passed; each as its own caller.
    pub async fn send_requests(&mut self, duration: Duration) {
        let until = Instant::now() + duration;
        let mut next = Instant::now();
        loop {
            let pause = self.random.exponential(1.0 / self.scenario.rate());
            next += Duration::from_secs_f64(pause);
            if next >= until {
                sleep_until(until).await;
                return;
            }
            sleep_until(next).await;
            let Some(app) = self.receiver() else { continue };
            let mean = self.scenario.service.as_millis() as f64;
            let milliseconds = self.random.exponential(mean).max(1.0) as u64;
            let lane = match self.random.share() < self.scenario.synchronous {
                true => Lane::Sync,
                false => Lane::Async,
            };
            self.calls.sent.fetch_add(1, Ordering::Relaxed);
            let (calls, observer) = (Arc::clone(&self.calls), Arc::clone(&self.observer));
            tokio::spawn(async move {
                if let Err(error) = call(app, lane, milliseconds, calls).await {
                    observer.violated(error.to_string());
                }
            });
        }
    }

    /// The service that receives the next request.
    fn receiver(&mut self) -> Option<Arc<Dispatcher>> {
        let up = self.apps.iter().filter(|app| *app.is_up.borrow());
        let up: Vec<&App> = up.collect();
        let chosen = match self.scenario.arrivals {
            Arrivals::Even => up.get(self.random.below(up.len())),
            Arrivals::One => up.first(),
        };
        chosen.map(|app| Arc::clone(&app.dispatcher))
    }

    /// As by `kill -9`.
    pub async fn kill_app(&self, number: usize) {
        let app = &self.apps[number];
        app.handle.kill();
        app.is_up.send_replace(false);
        app.dispatcher.close().await;
    }

    pub fn freeze_worker(&self, number: usize) {
        self.fates[number].send_replace(Fate::Freezes);
    }

    pub fn kill_worker(&self, number: usize) {
        self.fates[number].send_replace(Fate::Dies);
    }

    /// Gives the time for which a run and a worker have both waited by now.
    pub fn idle_time(&self) -> impl Fn() -> Duration + Send + 'static {
        let (database, observer) = (Arc::clone(&self.database), Arc::clone(&self.observer));
        move || {
            let wait = database.tables.lock().oldest_wait();
            let both = wait.zip(observer.longest_idle());
            both.map_or(Duration::ZERO, |(run, worker)| run.max(worker).elapsed())
        }
    }

    /// Waits until all runs have ended.
    pub async fn drain(&self, most: Duration) {
        let until = Instant::now() + most;
        while self.database.tables.lock().open() > 0.0 {
            assert!(Instant::now() < until, "runs that never end");
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Runs that ended between two instants.
    pub fn ended_between(&self, begun: Instant, ended: Instant) -> usize {
        let tables = self.database.tables.lock();
        let rows = tables.rows.iter();
        let ends = rows.filter_map(|row| row.ended);
        ends.filter(|end| (begun..ended).contains(end)).count()
    }

    /// From the accepted row until the first start of each run, in milliseconds.
    pub fn waits(&self, rows: std::ops::Range<usize>) -> Vec<f64> {
        let tables = self.database.tables.lock();
        let rows = tables.rows[rows].iter();
        let waits = rows.filter_map(|row| {
            let starts = self.observer.starts(&row.run.id);
            let wait = starts.first()?.saturating_duration_since(row.accepted);
            Some(wait.as_secs_f64() * 1_000.0)
        });
        waits.collect()
    }

    /// Runs that a service holds for its workers.
    pub fn held_by(&self, number: usize) -> Vec<String> {
        let holder = format!("@{}", self.apps[number].name);
        let tables = self.database.tables.lock();
        let running = tables.running.iter().map(|place| &tables.rows[*place].run);
        let held =
            running.filter(|run| run.worker.as_ref().is_some_and(|it| it.ends_with(&holder)));
        held.map(|run| run.id.clone()).collect()
    }

    /// How long after `lost` each of the runs was started anew.
    pub fn restarts(&self, runs: &[String], lost: Instant) -> Vec<Duration> {
        let restart = |run: &String| {
            let starts = self.observer.starts(run);
            let later = starts.iter().find(|start| **start > lost);
            later.map(|start| *start - lost)
        };
        runs.iter().filter_map(restart).collect()
    }

    /// Asserts what holds for every fleet, and ends it.
    pub async fn end(&self, dead_allowed: bool) {
        self.database.tables.lock().assert_ended(dead_allowed);
        self.observer.assert_unviolated();
        for app in &*self.apps {
            if *app.is_up.borrow() {
                app.dispatcher.close().await;
            }
        }
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// A worker connects to one service, and to the next when it has lost that one.
async fn live(
    number: usize,
    apps: Arc<Vec<App>>,
    observer: Arc<Observer>,
    mut fates: watch::Receiver<Fate>,
) {
    for turn in number.. {
        let app = &apps[turn % apps.len()];
        let mut is_up = app.is_up.subscribe();
        if *is_up.borrow() {
            let (mut here, there) = tokio::io::duplex(BUFFER);
            let serving = session::serve(Arc::clone(&app.dispatcher), there);
            let mut down = app.is_up.subscribe();
            tokio::spawn(async move {
                tokio::select! {
                    _ = serving => {}
                    _ = down.wait_for(|is_up| !is_up) => {}
                }
            });
            let fate = tokio::select! {
                () = worker::serve(&mut here, number, &observer) => Fate::Works,
                _ = is_up.wait_for(|is_up| !is_up) => Fate::Works,
                fate = fates.wait_for(|fate| *fate != Fate::Works) => {
                    fate.map_or(Fate::Dies, |fate| *fate)
                }
            };
            observer.disconnected(number);
            match fate {
                Fate::Works => {}
                Fate::Freezes => return std::future::pending().await,
                Fate::Dies => return,
            }
        }
        sleep(RECONNECT).await;
    }
}

async fn call(
    app: Arc<Dispatcher>,
    lane: Lane,
    milliseconds: u64,
    calls: Arc<Calls>,
) -> Result<(), Error> {
    let arrived = Instant::now();
    let request = Request {
        flow: app.flow(FLOW).await?,
        lane,
        trigger: Arc::from(json!({"ms": milliseconds}).to_string().into_bytes()),
        idempotency: None,
        queue_timeout_ms: None,
        arrived: std::time::Instant::now(),
    };
    match app.accept(request).await {
        Ok(receipt) => {
            if let Some(answer) = receipt.answer
                && answer.await.is_ok()
            {
                let elapsed = arrived.elapsed().as_millis() as f64 - milliseconds as f64;
                calls.overheads.lock().push(elapsed);
            }
        }
        Err(Error::Full { .. }) => {
            calls.full.fetch_add(1, Ordering::Relaxed);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}
