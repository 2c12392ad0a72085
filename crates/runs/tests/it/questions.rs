//! What a worker can read: the worker of this test speaks the protocol and asks for whatever it
//! likes.

use std::sync::Arc;

use platen_flow::model::StoreScope;
use platen_runs::{
    Dispatcher, Lane, Request, RunState, Settings,
    protocol::{self, Assign, Change, Question, Refusal, ToApp, ToWorker, WriteFrame},
    session,
};
use platen_storage::{NewVersion, SqliteStore};
use serde_json::{Value as Json, json};
use tokio::io::DuplexStream;

/// A worker that does what the test says.
struct Worker {
    connection: DuplexStream,
    number: u64,
}

impl Worker {
    async fn connect(dispatcher: &Arc<Dispatcher>) -> Self {
        let (mut connection, theirs) = tokio::io::duplex(1 << 20);
        tokio::spawn(session::serve(Arc::clone(dispatcher), theirs));
        let hello = ToApp::Hello {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: protocol::PROTOCOL,
            name: "curious".to_owned(),
            slots: 2,
        };
        protocol::write(&mut connection, &hello).await.unwrap();
        let welcome = protocol::read(&mut connection).await.unwrap();
        assert!(matches!(welcome, Some(ToWorker::Welcome { .. })));
        let number = 0;
        Self { connection, number }
    }

    async fn send(&mut self, message: &ToApp) {
        protocol::write(&mut self.connection, message)
            .await
            .unwrap();
    }

    async fn assigned(&mut self) -> Assign {
        match protocol::read(&mut self.connection).await.unwrap() {
            Some(ToWorker::Assign(assign)) => *assign,
            other => panic!("{other:?}"),
        }
    }

    async fn answer(&mut self) -> Result<Json, Refusal> {
        match protocol::read(&mut self.connection).await.unwrap() {
            Some(ToWorker::Answer { value, refusal, .. }) => match refusal {
                Some(refusal) => Err(refusal),
                None => {
                    Ok(value.map_or(Json::Null, |raw| serde_json::from_str(raw.get()).unwrap()))
                }
            },
            other => panic!("{other:?}"),
        }
    }

    async fn ask(
        &mut self,
        (run, epoch): (&str, u32),
        question: Question,
    ) -> Result<Json, Refusal> {
        self.number += 1;
        let message = ToApp::Ask {
            number: self.number,
            run: run.to_owned(),
            epoch,
            question,
        };
        self.send(&message).await;
        self.answer().await
    }

    async fn template(&mut self, hold: (&str, u32), key: &str) -> Result<Json, Refusal> {
        let key = key.to_owned();
        self.ask(hold, Question::Template { key }).await
    }

    async fn get_value(&mut self, hold: (&str, u32), scope: StoreScope) -> Result<Json, Refusal> {
        let key = "k".to_owned();
        self.ask(hold, Question::Get { scope, key }).await
    }

    async fn change(&mut self, hold: (&str, u32), change: Change) -> Result<Json, Refusal> {
        self.record(hold, None, change).await
    }

    async fn record(
        &mut self,
        (run, epoch): (&str, u32),
        records: Option<Json>,
        change: Change,
    ) -> Result<Json, Refusal> {
        self.number += 1;
        let records = records.map(|records| serde_json::value::to_raw_value(&records).unwrap());
        let write = WriteFrame {
            run: run.to_owned(),
            epoch,
            records,
        };
        let number = Some(self.number);
        self.send(&ToApp::Change {
            number,
            write,
            change,
        })
        .await;
        self.answer().await
    }
}

/// A dispatcher with the templates `note` and `secret` and the published `flows`, by key.
async fn dispatcher(flows: &[&str]) -> (Arc<Dispatcher>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let version = |key: &str, source: Json| NewVersion {
        key: key.to_owned(),
        name: key.to_owned(),
        source: Arc::from(source.to_string().into_bytes()),
        note: None,
    };
    for key in ["note", "secret"] {
        let template = version(key, json!({"is": key}));
        store.templates().create(template).await.unwrap();
    }
    let settings = Settings::default();
    let dispatcher = Dispatcher::new(store.runs(), store.flows(), store.templates(), settings);
    for key in flows {
        let flow = json!({"kind": "flow", "key": key, "name": key, "trigger": {"type": "manual"},
            "steps": [
                {"name": "note", "type": "render", "template": "note", "format": "html"},
                {"name": "all", "type": "store", "operation": "get", "key": "k",
                 "scope": if key.starts_with("own") { "flow" } else { "shared" }}]});
        store.flows().create(version(key, flow)).await.unwrap();
        dispatcher.publish(key, Some(1)).await.unwrap();
    }
    dispatcher.start().await.unwrap();
    (dispatcher, folder)
}

async fn start(dispatcher: &Dispatcher, flow: &str) -> String {
    let request = Request {
        flow: dispatcher.flow(flow).await.unwrap(),
        lane: Lane::Async,
        trigger: Arc::from(&b"{}"[..]),
        idempotency: None,
        queue_timeout_ms: None,
        arrived: std::time::Instant::now(),
    };
    dispatcher.accept(request).await.unwrap().id
}

fn is_failure(answer: &Result<Json, Refusal>) -> bool {
    matches!(answer, Err(Refusal::Failed { .. }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_learns_what_its_run_needs_and_no_more() {
    let (dispatcher, _folder) = dispatcher(&["own"]).await;
    let mut worker = Worker::connect(&dispatcher).await;
    let run = start(&dispatcher, "own").await;
    let assign = worker.assigned().await;
    let hold = (run.as_str(), assign.epoch);
    assert_eq!(assign.run, run);
    let note = worker.template(hold, "note").await;
    assert_eq!(note, Ok(json!({"is": "note"})));
    assert!(is_failure(&worker.template(hold, "secret").await));
    assert!(is_failure(&worker.template(hold, "note@1").await));
    // The flow has nothing to do with what others share.
    assert!(is_failure(
        &worker.get_value(hold, StoreScope::Shared).await
    ));
    let (scope, key, value) = (StoreScope::Shared, "k".to_owned(), None);
    let change = worker.change(hold, Change::Put { scope, key, value });
    assert!(is_failure(&change.await));
    assert_eq!(
        worker.get_value(hold, StoreScope::Flow).await,
        Ok(Json::Null)
    );
    // It reads nothing of a run that it does not hold, or no longer holds.
    let gone = ("01234567", 1);
    assert_eq!(worker.template(gone, "note").await, Err(Refusal::Fenced));
    let other = (hold.0, hold.1 + 1);
    assert_eq!(worker.template(other, "note").await, Err(Refusal::Fenced));
    let value = worker.get_value(gone, StoreScope::Shared).await;
    assert_eq!(value, Err(Refusal::Fenced));
    dispatcher.cancel(&run).await.unwrap();
    match protocol::read(&mut worker.connection).await.unwrap() {
        Some(ToWorker::Cancel {
            run: notified,
            epoch,
        }) => assert_eq!((&*notified, epoch), hold),
        other => panic!("{other:?}"),
    }
    assert_eq!(worker.template(hold, "note").await, Err(Refusal::Fenced));
    let value = worker.get_value(hold, StoreScope::Flow).await;
    assert_eq!(value, Err(Refusal::Fenced));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_flow_keeps_is_its_own() {
    let (dispatcher, _folder) = dispatcher(&["f", "g"]).await;
    let mut workers = Vec::new();
    let mut runs = Vec::new();
    for flow in ["f", "g"] {
        let mut worker = Worker::connect(&dispatcher).await;
        let run = start(&dispatcher, flow).await;
        // The first worker has a free slot, but only for synchronous runs.
        assert_eq!(worker.assigned().await.run, run);
        workers.push(worker);
        runs.push(run);
    }
    let [f, g] = [(&*runs[0], 1), (&*runs[1], 1)];
    for (scope, value) in [(StoreScope::Flow, 1), (StoreScope::Shared, 2)] {
        let (key, value) = ("k".to_owned(), Some(json!(value)));
        let put_value = Change::Put { scope, key, value };
        workers[0].change(f, put_value).await.unwrap();
    }
    assert_eq!(
        workers[0].get_value(f, StoreScope::Flow).await,
        Ok(json!(1))
    );
    assert_eq!(
        workers[1].get_value(g, StoreScope::Flow).await,
        Ok(Json::Null)
    );
    assert_eq!(
        workers[1].get_value(g, StoreScope::Shared).await,
        Ok(json!(2))
    );
    // The run of another worker is out of reach.
    let value = workers[1].get_value(f, StoreScope::Flow).await;
    assert_eq!(value, Err(Refusal::Fenced));
    let released = workers[1].change(f, Change::Release).await;
    assert_eq!(released, Err(Refusal::Fenced));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_run_goes_on_when_it_is_taken_up_again() {
    let (dispatcher, _folder) = dispatcher(&["f"]).await;
    let mut worker = Worker::connect(&dispatcher).await;
    let run = start(&dispatcher, "f").await;
    let first = worker.assigned().await;
    assert_eq!((first.epoch, first.worked_ms), (1, 0));
    let records = json!([
        {"entry": {"event": "started", "path": "note", "attempt": 1}, "atMs": 1, "workedMs": 5_000},
        {"entry": {"event": "waiting", "path": "later", "untilMs": 1}, "atMs": 2, "workedMs": 7_000},
        // From outside, where nobody knows.
        {"entry": {"event": "resumed", "path": "later", "payload": null}, "atMs": 3},
    ]);
    let sleep = Change::Suspend { wake_ms: Some(1) };
    let slept = worker.record((&run, 1), Some(records), sleep).await;
    slept.unwrap();
    let done = ToApp::Done {
        run: run.clone(),
        epoch: 1,
    };
    worker.send(&done).await;
    let second = worker.assigned().await;
    assert_eq!((second.epoch, second.worked_ms), (2, 7_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_no_worker_can_receive_ends_and_the_others_go_on() {
    let (dispatcher, _folder) = dispatcher(&["f"]).await;
    let mut worker = Worker::connect(&dispatcher).await;
    let run = start(&dispatcher, "f").await;
    assert_eq!(worker.assigned().await.run, run);
    let hold = (run.as_str(), 1);
    // Four frames fit, their journal does not.
    for number in 0..4 {
        let payload = "a".repeat(20 << 20);
        let records = json!([{"entry": {"event": "resumed", "path": "later", "payload": payload},
            "atMs": number}]);
        let appended = worker.record(hold, Some(records), Change::Append).await;
        appended.unwrap();
    }
    worker.change(hold, Change::Release).await.unwrap();
    let done = ToApp::Done {
        run: run.clone(),
        epoch: 1,
    };
    worker.send(&done).await;
    let answer = dispatcher.wait(&run).await.unwrap().await.unwrap();
    assert_eq!(answer.state, RunState::Failed);
    let details: Json = serde_json::from_slice(&answer.details).unwrap();
    assert_eq!(details["error"]["code"], "too-large");
    let next = start(&dispatcher, "f").await;
    assert_eq!(worker.assigned().await.run, next);
}
