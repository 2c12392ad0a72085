//! The dispatcher with slots in this process.

use std::{sync::Arc, time::Instant};

use platen_engine::{
    Engine, FontSettings,
    flow::{Services, Tools},
    outbound::{Outbound, Settings as OutboundSettings},
};
use platen_runs::{Dispatcher, Error, Lane, Request, RunState, Settings};
use platen_storage::{NewVersion, SqliteStore};
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
        scripts: None,
        outbound: Arc::new(Outbound::new(&OutboundSettings::default())),
        tools: Tools::default(),
    };
    platen_runs::embedded::start(dispatcher, Arc::new(services), 2);
}

async fn request(dispatcher: &Dispatcher, lane: Lane, patience_ms: Option<u64>) -> Request {
    Request {
        flow: dispatcher.flow("f").await.unwrap(),
        lane,
        trigger: Arc::from(&b"{\"a\":1}"[..]),
        idempotency: None,
        patience_ms,
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
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
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
    // More than are hinted at in memory.
    assert!(dispatcher.depth().asynchronous < ids.len());
    start(&dispatcher).await;
    for id in ids {
        let answer = dispatcher.wait(&id).await.unwrap().await.unwrap();
        assert_eq!(answer.state, RunState::Succeeded);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn schedules_start_runs() {
    // Due every minute: the test waits for the next one, which is a minute at most.
    let schedule = flow(&json!({"type": "schedule", "cron": "* * * * *"}));
    let (dispatcher, _folder) = dispatcher(Settings::default(), &schedule).await;
    start(&dispatcher).await;
    let until = Instant::now() + std::time::Duration::from_secs(120);
    loop {
        let filter = platen_runs::RunFilter {
            limit: 10,
            ..Default::default()
        };
        let runs = dispatcher.list(filter).await.unwrap();
        if let [run] = runs.as_slice()
            && run.state == RunState::Succeeded
        {
            let trigger: Json = serde_json::from_slice(&run.trigger).unwrap();
            let at = trigger["at"].as_str().unwrap();
            assert!(at.ends_with(":00Z"), "{at}");
            return;
        }
        assert!(runs.len() < 2 && Instant::now() < until, "{runs:?}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}
