//! Several dispatchers on one PostgreSQL database.

#[allow(dead_code)]
#[path = "../../../storage/tests/it/postgres/server.rs"]
mod server;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use platen_engine::Engine;
use platen_fonts::FontSettings;
use platen_outbound::{Outbound, Settings as OutboundSettings};
use platen_runs::{
    Dispatcher, Event, Fleet, Lane, Receipt, Request, Run, RunFilter, RunState, Settings,
    execution::{Services, Tools},
};
use platen_storage::{NewVersion, PostgresOptions, PostgresStore};
use serde_json::{Value as Json, json};
use tokio::time::timeout;

/// What nothing takes unless it hangs.
const LONG: Duration = Duration::from_secs(60);

/// A database that several services use.
struct Database {
    server: Arc<server::Server>,
    name: String,
}

impl Database {
    /// `None` if PostgreSQL is not installed.
    async fn new() -> Option<Self> {
        let server = server::shared().await?;
        let name = server.database_name().await;
        Some(Self { server, name })
    }

    /// A service with this many slots that has started.
    async fn service(&self, name: &str, slots: usize) -> Service {
        let options = PostgresOptions::default();
        let store = PostgresStore::open(&self.server.url(&self.name), &options).await;
        let store = store.unwrap();
        let settings = Settings {
            fleet: Some(Fleet {
                peers: store.peers(),
                name: name.to_owned(),
            }),
            // Waits of these tests hold their slots.
            suspend_after: LONG,
            ..Settings::default()
        };
        let (flows, templates) = (store.flows(), store.templates());
        let dispatcher = Dispatcher::new(store.runs(), flows, templates, settings);
        dispatcher.start().await.unwrap();
        let services = Services {
            engine: Arc::new(Engine::new(&FontSettings::default())),
            scripts: Arc::new(|| Err("no sandbox".to_owned())),
            outbound: Arc::new(Outbound::new(&OutboundSettings::default())),
            tools: Tools::default(),
        };
        platen_runs::embedded::start(&dispatcher, Arc::new(services), slots);
        Service { store, dispatcher }
    }
}

struct Service {
    store: PostgresStore,
    dispatcher: Arc<Dispatcher>,
}

impl Service {
    async fn publish(&self, flow: &Json) {
        let key = flow["key"].as_str().unwrap();
        let new = NewVersion {
            key: key.to_owned(),
            name: key.to_owned(),
            source: Arc::from(flow.to_string().into_bytes()),
            note: None,
        };
        self.store.flows().create(new).await.unwrap();
        self.dispatcher.publish(key, Some(1)).await.unwrap();
    }

    async fn accept(&self, flow: &str, lane: Lane) -> Receipt {
        let request = Request {
            flow: self.dispatcher.flow(flow).await.unwrap(),
            lane,
            trigger: Arc::from(&b"{\"a\":1}"[..]),
            idempotency: None,
            queue_timeout_ms: None,
            arrived: Instant::now(),
        };
        self.dispatcher.accept(request).await.unwrap()
    }

    async fn runs(&self) -> Vec<Run> {
        let filter = RunFilter {
            limit: 1_000,
            ..RunFilter::default()
        };
        self.dispatcher.list(filter).await.unwrap()
    }

    /// The run once `is_so` holds.
    async fn run_when(&self, id: &str, is_so: impl Fn(&Run) -> bool) -> Run {
        let safety_net = Instant::now() + LONG;
        loop {
            let run = self.dispatcher.get(id).await.unwrap();
            if is_so(&run) {
                return run;
            }
            assert!(Instant::now() < safety_net, "{run:?}");
            // Nothing announces it to a stranger.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn reply(key: &str) -> Json {
    json!({"kind": "flow", "key": key, "name": key, "trigger": {"type": "webhook"},
        "steps": [{"name": "reply", "type": "respond", "body": "{{ trigger }}"}]})
}

/// A flow that holds a slot for a while.
fn wait(key: &str, milliseconds: u64) -> Json {
    json!({"kind": "flow", "key": key, "name": key, "trigger": {"type": "webhook"},
        "steps": [{"name": "pause", "type": "wait", "delayMs": milliseconds}]})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_executed_where_a_slot_is_free() {
    let Some(database) = Database::new().await else {
        return;
    };
    let without = database.service("without", 0).await;
    let with = database.service("with", 2).await;
    without.publish(&reply("f")).await;
    for _ in 0..20 {
        let receipt = without.accept("f", Lane::Sync).await;
        let answer = timeout(LONG, receipt.answer.unwrap()).await;
        assert_eq!(answer.unwrap().unwrap().state, RunState::Succeeded);
        let run = with.dispatcher.get(&receipt.id).await.unwrap();
        assert_eq!(run.worker.as_deref(), Some("with"));
    }
    // Any service answers for any run, also for one that it has not seen.
    let receipt = without.accept("f", Lane::Async).await;
    for service in [&with, &without] {
        let waiting = service.dispatcher.wait(&receipt.id).await.unwrap();
        let answer = timeout(LONG, waiting).await.unwrap().unwrap();
        assert_eq!(answer.state, RunState::Succeeded);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_is_shared_and_every_run_ends() {
    let Some(database) = Database::new().await else {
        return;
    };
    let one = database.service("one", 2).await;
    one.publish(&wait("f", 40)).await;
    let mut receipts = Vec::new();
    for _ in 0..200 {
        receipts.push(one.accept("f", Lane::Async).await);
    }
    let two = database.service("two", 2).await;
    let three = database.service("three", 2).await;
    for receipt in receipts {
        let run = three.run_when(&receipt.id, |run| run.state.is_end()).await;
        assert_eq!((run.state, run.epoch), (RunState::Succeeded, 1));
    }
    let mut workers: Vec<String> = two
        .runs()
        .await
        .into_iter()
        .filter_map(|run| run.worker)
        .collect();
    workers.sort();
    workers.dedup();
    assert_eq!(workers, ["one", "three", "two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_that_are_lost_are_made_up_for() {
    let Some(database) = Database::new().await else {
        return;
    };
    let without = database.service("without", 0).await;
    let with = database.service("with", 2).await;
    // Those that listen and notify.
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()
               AND (query IN ('SELECT 1', 'SELECT pg_notify($1, $2)') OR query LIKE 'LISTEN%')";
    with.publish(&reply("f")).await;
    for _ in 0..3 {
        assert!(database.server.number(&database.name, end).await >= 2);
        let receipt = without.accept("f", Lane::Sync).await;
        let answer = timeout(LONG, receipt.answer.unwrap()).await;
        assert_eq!(answer.unwrap().unwrap().state, RunState::Succeeded);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_publishes_all_start() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (one, two) = (
        database.service("one", 1).await,
        database.service("two", 1).await,
    );
    one.publish(&reply("f")).await;
    let receipt = two.accept("f", Lane::Sync).await;
    assert!(receipt.answer.unwrap().await.is_ok());
    one.dispatcher.publish("f", None).await.unwrap();
    let safety_net = Instant::now() + LONG;
    while two.dispatcher.flow("f").await.is_ok() {
        assert!(Instant::now() < safety_net);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_a_flow_holds_in_all_services_together() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (one, two) = (
        database.service("one", 3).await,
        database.service("two", 3).await,
    );
    let mut flow = wait("f", 20);
    flow["concurrency"] = json!(2);
    one.publish(&flow).await;
    two.dispatcher.flow("f").await.unwrap();
    let mut receipts = Vec::new();
    for _ in 0..10 {
        for service in [&one, &two] {
            receipts.push(service.accept("f", Lane::Async).await);
        }
    }
    let running = "SELECT count(*) FROM open_runs WHERE state = 1";
    let mut most = 0;
    for receipt in receipts {
        while !one
            .dispatcher
            .get(&receipt.id)
            .await
            .unwrap()
            .state
            .is_end()
        {
            most = most.max(database.server.number(&database.name, running).await);
        }
    }
    assert_eq!(most, 2);
    let runs = one.runs().await;
    assert_eq!(runs.len(), 20);
    assert!(runs.iter().all(|run| run.state == RunState::Succeeded));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_that_is_due_starts_one_run_in_all_services() {
    let Some(database) = Database::new().await else {
        return;
    };
    let one = database.service("one", 1).await;
    let mut flow = reply("f");
    // Yearly, so that the following time does not come while the test runs.
    flow["trigger"] = json!({"type": "schedule", "cron": "0 0 1 1 *"});
    one.publish(&flow).await;
    let plan = json!({"cron": "0 0 1 1 *", "timeZone": null, "dueMs": 1_704_067_200_000_u64});
    let plan: Arc<[u8]> = Arc::from(plan.to_string().into_bytes());
    one.store
        .runs()
        .save_cursor("f".into(), plan)
        .await
        .unwrap();
    let others = [
        database.service("two", 1).await,
        database.service("three", 1).await,
    ];
    // Whoever starts it stops; another goes on with the triggers, and must not repeat the start.
    one.dispatcher.close().await;
    let safety_net = Instant::now() + LONG;
    loop {
        let runs = others[0].runs().await;
        let published = others[0].store.runs().published().await.unwrap();
        let cursor = published[0].cursor.as_deref().unwrap();
        let plan: Json = serde_json::from_slice(cursor).unwrap();
        if plan["dueMs"].as_u64().unwrap() > 1_763_000_000_000 {
            assert_eq!(runs.len(), 1, "{runs:?}");
            break;
        }
        assert!(Instant::now() < safety_net, "{plan} {runs:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_cancelled_and_watched_from_another_service() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (one, two) = (
        database.service("one", 1).await,
        database.service("two", 0).await,
    );
    one.publish(&wait("f", 30_000)).await;
    let receipt = one.accept("f", Lane::Sync).await;
    one.run_when(&receipt.id, |run| run.state == RunState::Running)
        .await;
    let mut events = two.dispatcher.watch(&receipt.id);
    two.dispatcher.cancel(&receipt.id).await.unwrap();
    let answer = timeout(LONG, receipt.answer.unwrap()).await.unwrap();
    assert_eq!(answer.unwrap().state, RunState::Cancelled);
    let mut last = None;
    while let Some(event) = timeout(LONG, events.recv()).await.unwrap() {
        last = Some(event);
    }
    assert!(
        matches!(last, Some(Event::State(RunState::Cancelled))),
        "{last:?}"
    );
    // Its slot is free again.
    let next = one.accept("f", Lane::Sync).await;
    one.run_when(&next.id, |run| run.state == RunState::Running)
        .await;
    one.dispatcher.cancel(&next.id).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_restarts_takes_up_its_own_runs_only() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (one, two) = (
        database.service("one", 1).await,
        database.service("two", 1).await,
    );
    one.publish(&wait("f", 30_000)).await;
    let first = one.accept("f", Lane::Async).await;
    let held = one
        .run_when(&first.id, |run| run.state == RunState::Running)
        .await;
    let (holder, other) = match held.worker.as_deref() {
        Some("one") => (&one, "two"),
        _ => (&two, "one"),
    };
    // Another with the name of the one that does not hold it.
    let again = database.service(other, 0).await;
    let run = again.dispatcher.get(&first.id).await.unwrap();
    assert_eq!((run.state, run.epoch), (RunState::Running, 1));
    // One with the name of its holder takes it up, and counts the loss.
    let name = held.worker.unwrap();
    holder.dispatcher.close().await;
    let heir = database.service(&name, 1).await;
    let run = heir.run_when(&first.id, |run| run.epoch == 2).await;
    assert_eq!((run.state, run.worker_losses), (RunState::Running, 1));
    heir.dispatcher.cancel(&first.id).await.unwrap();
}
