//! The dispatcher with slots in this process.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use platen_engine::Engine;
use platen_fonts::FontSettings;
use platen_outbound::{Outbound, Settings as OutboundSettings};
use platen_runs::{
    Dispatcher, Error, Lane, Request, Run, RunFilter, RunState, Settings,
    execution::{Services, Tools},
};
use platen_storage::{NewVersion, RunStore, SqliteStore};
use serde_json::{Value as Json, json};

/// A dispatcher over a fresh store, not started yet.
async fn dispatcher(settings: Settings, flow: &Json) -> (Arc<Dispatcher>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let new = NewVersion {
        key: "f".to_owned(),
        name: "F".to_owned(),
        source: Arc::from(flow.to_string().into_bytes()),
        note: None,
    };
    store.flows().create(new).await.unwrap();
    let dispatcher = Dispatcher::new(store.runs(), store.flows(), store.templates(), settings);
    dispatcher.publish("f", Some(1)).await.unwrap();
    (dispatcher, folder)
}

fn flow(trigger: &Json) -> Json {
    json!({"kind": "flow", "key": "f", "name": "F", "trigger": trigger,
        "steps": [{"name": "reply", "type": "respond", "body": "{{ trigger }}"}]})
}

async fn start(dispatcher: &Arc<Dispatcher>) {
    dispatcher.start().await.unwrap();
    let services = Services {
        engine: Arc::new(Engine::new(&FontSettings::default())),
        scripts: Arc::new(|| Err("no sandbox".to_owned())),
        outbound: Arc::new(Outbound::new(&OutboundSettings::default())),
        tools: Tools::default(),
    };
    platen_runs::embedded::start(dispatcher, Arc::new(services), 2);
}

async fn request(dispatcher: &Dispatcher, lane: Lane, queue_timeout_ms: Option<u64>) -> Request {
    Request {
        flow: dispatcher.flow("f").await.unwrap(),
        lane,
        trigger: Arc::from(&b"{\"a\":1}"[..]),
        idempotency: None,
        queue_timeout_ms,
        arrived: Instant::now(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waited_for_too_long_is_not_begun() {
    let webhook = flow(&json!({"type": "webhook"}));
    let (dispatcher, _folder) = dispatcher(Settings::default(), &webhook).await;
    let hasty = request(&dispatcher, Lane::Sync, Some(0)).await;
    let hasty = dispatcher.accept(hasty).await.unwrap();
    let patient = request(&dispatcher, Lane::Sync, Some(60_000)).await;
    let patient = dispatcher.accept(patient).await.unwrap();
    // Models time that passes: the queue timeout of the hasty one is over.
    tokio::time::sleep(Duration::from_millis(5)).await;
    start(&dispatcher).await;
    assert_eq!(
        hasty.answer.unwrap().await.unwrap().state,
        RunState::TimedOut
    );
    let answer = patient.answer.unwrap().await.unwrap();
    assert_eq!(answer.state, RunState::Succeeded);
    let run = dispatcher.get(&hasty.id).await.unwrap();
    assert_eq!((run.state, run.started_ms), (RunState::TimedOut, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_lane_refuses_and_the_other_does_not() {
    let settings = Settings {
        sync_queue: 2,
        ..Settings::default()
    };
    let webhook = flow(&json!({"type": "webhook"}));
    let (dispatcher, _folder) = dispatcher(settings, &webhook).await;
    for _ in 0..2 {
        let request = request(&dispatcher, Lane::Sync, None).await;
        dispatcher.accept(request).await.unwrap();
    }
    let third = request(&dispatcher, Lane::Sync, None).await;
    assert!(matches!(
        dispatcher.accept(third).await,
        Err(Error::Full { waiting: 2 })
    ));
    let other = request(&dispatcher, Lane::Async, None).await;
    dispatcher.accept(other).await.unwrap();
    dispatcher.drain();
    let late = request(&dispatcher, Lane::Async, None).await;
    assert!(matches!(
        dispatcher.accept(late).await,
        Err(Error::Draining)
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_runs_wait_in_the_store_and_all_are_done() {
    let webhook = flow(&json!({"type": "webhook"}));
    let (dispatcher, _folder) = dispatcher(Settings::default(), &webhook).await;
    let mut ids = Vec::new();
    for _ in 0..60 {
        let many = (0..100).map(|_| {
            let dispatcher = Arc::clone(&dispatcher);
            tokio::spawn(async move {
                let request = request(&dispatcher, Lane::Async, None).await;
                dispatcher.accept(request).await.unwrap().id
            })
        });
        for one in many.collect::<Vec<_>>() {
            ids.push(one.await.unwrap());
        }
    }
    // More than the ready queue holds in memory.
    assert!(dispatcher.depth().asynchronous < ids.len());
    start(&dispatcher).await;
    for id in ids {
        let answer = dispatcher.wait(&id).await.unwrap().await.unwrap();
        assert_eq!(answer.state, RunState::Succeeded);
    }
}

/// The due time that the store keeps for the schedule.
async fn remembered(store: &dyn RunStore) -> Json {
    let published = store.published().await.unwrap();
    serde_json::from_slice(published[0].cursor.as_deref().unwrap()).unwrap()
}

/// Starts the dispatcher and returns its runs once it waits for `due_ms`.
async fn runs_of(dispatcher: &Arc<Dispatcher>, store: &dyn RunStore, due_ms: u64) -> Vec<Run> {
    start(dispatcher).await;
    let safety_net = Instant::now() + Duration::from_secs(60);
    // Nothing announces that the store has the next due time.
    loop {
        let filter = RunFilter {
            limit: 10,
            ..RunFilter::default()
        };
        let runs = dispatcher.list(filter).await.unwrap();
        let is_over = runs.iter().all(|run| run.state == RunState::Succeeded);
        if is_over && remembered(store).await["dueMs"] == json!(due_ms) {
            return runs;
        }
        assert!(Instant::now() < safety_net, "{runs:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_that_was_missed_starts_one_run_late() {
    // Yearly, so that the following time does not come while the test runs.
    let schedule = json!({"type": "schedule", "cron": "0 0 1 1 *", "timeZone": "Europe/Berlin"});
    let (first, folder) = dispatcher(Settings::default(), &flow(&schedule)).await;
    let store = SqliteStore::open(folder.path()).unwrap().runs();
    // The due time is in the store as soon as the flow is published.
    let mut plan = remembered(&*store).await;
    let planned = plan["dueMs"].as_u64().unwrap();
    assert!(planned > 1_763_000_000_000, "{plan}");
    first.close().await;
    drop(first);
    // Many times have been missed since.
    let missed = 1_704_063_600_000_u64;
    plan["dueMs"] = json!(missed);
    let cursor: Arc<[u8]> = Arc::from(plan.to_string().into_bytes());
    for _ in 0..2 {
        // The second time, the process was killed after the run was accepted and before the next
        // due time was stored.
        let save_cursor = store.save_cursor("f".into(), Arc::clone(&cursor));
        save_cursor.await.unwrap();
        let all = SqliteStore::open(folder.path()).unwrap();
        let settings = Settings::default();
        let again = Dispatcher::new(all.runs(), all.flows(), all.templates(), settings);
        let runs = runs_of(&again, &*store, planned).await;
        assert_eq!(runs.len(), 1, "{runs:?}");
        let trigger: Json = serde_json::from_slice(&runs[0].trigger).unwrap();
        assert_eq!(trigger, json!({"at": "2023-12-31T23:00:00Z"}));
        again.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_schedule_has_another_time() {
    let schedule = flow(&json!({"type": "schedule", "cron": "0 0 1 1 *"}));
    let (dispatcher, folder) = dispatcher(Settings::default(), &schedule).await;
    let all = SqliteStore::open(folder.path()).unwrap();
    let store = all.runs();
    let january = remembered(&*store).await;
    dispatcher.publish("f", Some(1)).await.unwrap();
    assert_eq!(remembered(&*store).await, january);
    let hourly = flow(&json!({"type": "schedule", "cron": "0 * * * *"}));
    let new = NewVersion {
        key: "f".to_owned(),
        name: "F".to_owned(),
        source: Arc::from(hourly.to_string().into_bytes()),
        note: None,
    };
    all.flows().update(new, 1).await.unwrap();
    dispatcher.publish("f", Some(2)).await.unwrap();
    assert_eq!(remembered(&*store).await["cron"], "0 * * * *");
}
