//! A fleet on simulated time: the real dispatchers and sessions of several services, a model of
//! their database, and workers that let time pass. Decision 19 says what it shows.
//!
//! Requests, times of runs and lost signals follow from the seed. Ids of runs and the order of
//! tasks that are ready at the same instant do not.

mod database;
mod figures;
mod handle;
mod network;
mod observer;
mod random;
mod scenario;
mod store;
mod tables;
mod worker;
mod world;

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use self::{
    figures::Figures,
    scenario::{Arrivals, Scenario},
    world::World,
};

/// The clock of runs is one for the process, so fleets are simulated one after another.
static ONE: Mutex<()> = Mutex::new(());

/// Runs a simulation; no time passes while something can be done.
fn simulated<T>(simulation: impl Future<Output = T>) -> T {
    let _one = ONE.lock();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(simulation)
}

fn figures_of(scenario: Scenario) -> Figures {
    simulated(async {
        let mut world = World::new(scenario).await;
        let figures = Figures::of(&mut world).await;
        world.end(false).await;
        println!("{figures}");
        figures
    })
}

/// The longest time for which a run may wait beside an idle worker, in milliseconds: with signals,
/// and when none arrives.
const IDLE_MS: f64 = 150.0;
const IDLE_WITHOUT_SIGNALS_MS: f64 = 4_000.0;

#[test]
fn no_worker_is_idle_while_a_run_waits() {
    for seed in 1..=3 {
        for load in [0.2, 0.8, 1.2] {
            for arrivals in [Arrivals::Even, Arrivals::One] {
                let scenario = Scenario::new(8, 80, load).with(|it| {
                    it.arrivals = arrivals;
                    it.seed = seed;
                });
                let figures = figures_of(scenario);
                assert!(figures.idle <= IDLE_MS, "{figures}");
                assert!(
                    figures.throughput >= load.min(0.95) * 80.0 * 0.9,
                    "{figures}"
                );
            }
        }
    }
}

#[test]
fn sweeps_make_up_for_signals_that_never_arrive() {
    for arrivals in [Arrivals::Even, Arrivals::One] {
        let scenario = Scenario::new(8, 80, 0.8).with(|it| {
            it.arrivals = arrivals;
            it.signals = 0.0;
        });
        let figures = figures_of(scenario);
        assert!(figures.idle <= IDLE_WITHOUT_SIGNALS_MS, "{figures}");
    }
}

#[test]
fn few_claims_collide() {
    // Most runs find no slot where they arrive, and fifteen services have one.
    let scenario = Scenario::new(16, 160, 0.8).with(|it| it.arrivals = Arrivals::One);
    let figures = figures_of(scenario);
    let refused = figures.rate("refused claim") / figures.throughput;
    assert!(refused < 3.0, "{figures}");
    assert!(figures.wait(0.99) < 1_000.0, "{figures}");
}

/// What is lost while a fleet works.
#[derive(Clone, Copy, Debug)]
enum Loss {
    App(usize),
    /// The worker's process ends.
    Worker,
    /// The worker's machine stops without closing its connections.
    Machine,
}

/// The longest time until a run goes on elsewhere that was executed where the loss occurred, and
/// the longest wait of any other.
async fn restart_after(loss: Loss, signals: f64) -> (Duration, Duration) {
    let scenario = Scenario::new(8, 80, 0.6).with(|it| it.signals = signals);
    let mut world = World::new(scenario).await;
    world.send_requests(Duration::from_secs(5)).await;
    let first = world.database.tables.lock().rows.len();
    let lost = Instant::now();
    let runs = match loss {
        Loss::App(number) => {
            let runs = world.held_by(number);
            world.kill_app(number).await;
            runs
        }
        Loss::Worker | Loss::Machine => {
            let (run, worker) = world.observer.any_execution();
            match loss {
                Loss::Worker => world.kill_worker(worker),
                _ => world.freeze_worker(worker),
            }
            vec![run]
        }
    };
    world.send_requests(Duration::from_secs(20)).await;
    world.drain(Duration::from_secs(60)).await;
    let restarts = world.restarts(&runs, lost);
    assert!(!restarts.is_empty(), "nothing was lost");
    let last = world.database.tables.lock().rows.len();
    let waits = world.waits(first..last);
    world.end(false).await;
    let longest_ms = waits.into_iter().fold(0.0, f64::max);
    let longest = Duration::from_secs_f64(longest_ms / 1_000.0);
    (restarts.into_iter().max().unwrap_or_default(), longest)
}

#[test]
fn runs_of_a_lost_service_or_worker_go_on() {
    for signals in [1.0, 0.0] {
        for (loss, seconds) in [
            // Its right to do the maintenance ends first.
            (Loss::App(0), 6),
            (Loss::App(5), 6),
            (Loss::Worker, 4),
            (Loss::Machine, 15),
        ] {
            let (restart, wait) = simulated(restart_after(loss, signals));
            println!("| {loss:?} | {signals} | {restart:?} | {wait:?} |");
            assert!(
                restart <= Duration::from_secs(seconds),
                "{loss:?}: {restart:?}"
            );
            assert!(wait <= Duration::from_secs(seconds), "{loss:?}: {wait:?}");
        }
    }
}

/// The tables of decision 19, in about a minute:
/// `cargo test --workspace --test fleet_simulation -- --ignored --nocapture`.
#[test]
#[ignore = "measures; its rows are those of decision 19"]
fn fleets_of_up_to_a_thousand_workers() {
    for (apps, workers) in [(1, 1), (2, 4), (8, 80), (8, 1_000), (16, 1_000)] {
        for load in [0.2, 0.8, 1.2] {
            for arrivals in [Arrivals::Even, Arrivals::One] {
                for signals in [1.0, 0.0] {
                    if apps == 1 && (arrivals, signals) != (Arrivals::Even, 1.0) {
                        continue;
                    }
                    let scenario = Scenario::new(apps, workers, load).with(|it| {
                        it.arrivals = arrivals;
                        it.signals = signals;
                    });
                    figures_of(scenario);
                }
            }
        }
    }
    // Short runs load the database instead of the workers.
    for milliseconds in [500, 200, 100, 70] {
        let scenario = Scenario::new(16, 1_000, 0.8).with(|it| {
            it.service = Duration::from_millis(milliseconds);
            it.measured = Duration::from_secs(5);
        });
        figures_of(scenario);
    }
}
