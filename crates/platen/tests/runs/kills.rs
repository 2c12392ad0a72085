//! The service is killed at every named point, and at any other.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::{
    ledger::Ledger,
    process::{ENDS, LONG, Service, steps},
};

/// A run that was acknowledged: the number in its request, and its name.
pub type Acknowledged = (usize, String);

/// Sends runs of these numbers until the service is gone.
pub fn send(service: &Service, numbers: impl IntoIterator<Item = usize>) -> Vec<Acknowledged> {
    let mut acknowledged = Vec::new();
    for number in numbers {
        let Some(answer) = service.try_post("/webhooks/f", &[], &json!({"a": number})) else {
            break;
        };
        if answer.status != 202 {
            break;
        }
        acknowledged.push((number, answer.json()["run"].as_str().unwrap().to_owned()));
    }
    acknowledged
}

/// All of them end well, with the answer to their own request, and tell the ledger under one key.
pub fn check(service: &Service, ledger: &Ledger, acknowledged: &[Acknowledged]) {
    for (number, id) in acknowledged {
        let run = service.until(id, &ENDS);
        assert_eq!(run["state"], "succeeded", "{run:#}");
        assert_eq!(run["answer"]["body"]["result"], number + 4, "{run:#}");
        let counts = ledger.counts();
        let told = counts.get(&format!("{id}:tell")).copied().unwrap_or(0);
        // A kill between an effect and its record lets it happen again, under the same key.
        assert!((1..=3).contains(&told), "{id} told {told} times");
        let output = service.get(&format!("/runs/{id}/output"));
        assert_eq!(output.json()["result"], number + 4);
    }
}

#[test]
fn no_acknowledged_run_is_lost_at_any_point() {
    for point in platen_runs::fault::POINTS {
        for time in ["1", "3"] {
            let folder = tempfile::tempdir().unwrap();
            let ledger = Ledger::start();
            Service::start(folder.path(), &[]).publish("f", &steps(&ledger.url));
            let fault = format!("{point}:{time}");
            let mut service = Service::start(folder.path(), &[("PLATEN_FAULT", &fault)]);
            let acknowledged = send(&service, 0..20);
            let status = service.process.wait();
            assert!(!status.success(), "{fault} was never reached");
            let service = Service::start(folder.path(), &[]);
            check(&service, &ledger, &acknowledged);
            // What was not acknowledged may be there all the same; it ends, too.
            let runs = service.get("/runs?limit=100").json();
            for run in runs["runs"].as_array().unwrap() {
                service.until(run["id"].as_str().unwrap(), &ENDS);
            }
        }
    }
}

/// Several clients send without a pause while the service is killed, so that the kill falls into
/// acceptances, claims and steps, whichever are under way.
#[test]
fn no_acknowledged_run_is_lost_by_kills_at_any_time() {
    const CLIENTS: usize = 4;
    /// More than a client can send before the kill.
    const MOST: usize = 100_000;
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::start();
    Service::start(folder.path(), &[]).publish("f", &steps(&ledger.url));
    for round in 0..6_usize {
        let service = Service::start(folder.path(), &[("FLOW_MAX_DEATHS", "50")]);
        let (first, begun) = std::sync::mpsc::channel();
        let acknowledged: Vec<Acknowledged> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    let (service, first) = (&service, first.clone());
                    scope.spawn(move || {
                        let mut all = send(service, [client]);
                        let _ = first.send(());
                        all.extend(send(service, (1..MOST).map(|turn| turn * CLIENTS + client)));
                        all
                    })
                })
                .collect();
            for _ in 0..CLIENTS {
                begun.recv().unwrap();
            }
            // Rounds differ in how much is under way.
            std::thread::sleep(Duration::from_millis(3 + 17 * round as u64));
            service.process.signal("KILL");
            clients
                .into_iter()
                .flat_map(|client| client.join().unwrap())
                .collect()
        });
        // The kill fell into the sending: nobody came to the end of it.
        assert!((CLIENTS..MOST).contains(&acknowledged.len()));
        drop(service);
        let service = Service::start(folder.path(), &[("FLOW_MAX_DEATHS", "50")]);
        check(&service, &ledger, &acknowledged);
        // What was accepted and could not be acknowledged any more ends, too, and once.
        let open = service.get("/runs?limit=100").json();
        for run in open["runs"].as_array().unwrap() {
            let id = run["id"].as_str().unwrap();
            assert_eq!(service.until(id, &ENDS)["state"], "succeeded");
        }
    }
}

/// Calls a run back, wherever it is, until it has ended or the service is gone. Its state.
fn call_back(service: &mut Service, id: &str) -> Option<serde_json::Value> {
    let until = Instant::now() + LONG;
    loop {
        assert!(Instant::now() < until, "{id} does not end");
        // Models somebody who calls now and then.
        std::thread::sleep(Duration::from_millis(30));
        if service.process.0.try_wait().unwrap().is_some() {
            return None;
        }
        let run = service.try_get(&format!("/runs/{id}"))?.json();
        if ENDS.contains(&run["state"].as_str().unwrap()) {
            return Some(run);
        }
        // A run whose wait is not open refuses it; what it was called with first stays.
        if let Some(path) = run["answer"]["body"].as_str() {
            service.try_post(path, &[], &json!({"called": true}))?;
        }
    }
}

#[test]
fn no_run_is_lost_around_its_waits() {
    for point in platen_runs::fault::WAITING_POINTS {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::start();
        let steps = json!([
            {"name": "reply", "type": "respond", "body": "{{ run.callback }}"},
            // Longer than a slot is held for.
            {"name": "nap", "type": "wait", "delayMs": 2_300},
            {"name": "call", "type": "wait", "callback": true},
            {"name": "tell", "type": "http", "method": "POST", "url": ledger.url, "body": {}},
            {"name": "last", "type": "code", "input": "{{ steps.call.output }}",
             "source": "export default async (given) => given.called;"},
        ]);
        Service::start(folder.path(), &[]).publish("f", &steps);
        let mut service = Service::start(folder.path(), &[("PLATEN_FAULT", point)]);
        let acknowledged = send(&service, [0]);
        let [(_, id)] = acknowledged.as_slice() else {
            panic!("{point}: {acknowledged:?}");
        };
        let ended = call_back(&mut service, id);
        assert!(ended.is_none(), "{point} was never reached");
        let mut service = Service::start(folder.path(), &[]);
        let run = call_back(&mut service, id).unwrap();
        assert_eq!(run["state"], "succeeded", "{run:#}");
        assert_eq!(
            ledger.counts().get(&format!("{id}:tell")),
            Some(&1),
            "{point}"
        );
    }
}

#[test]
fn one_request_has_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::start();
    let service = Service::start(folder.path(), &[]);
    service.publish("f", &steps(&ledger.url));
    drop(service);
    let call = |service: &Service| {
        let headers = [("idempotency-key", "order-7")];
        service.try_post("/webhooks/f/sync", &headers, &json!({"a": 7}))
    };
    // The first answer is stored, but does not arrive.
    let mut service = Service::start(folder.path(), &[("PLATEN_FAULT", "finished")]);
    assert!(call(&service).is_none());
    service.process.wait();
    let service = Service::start(folder.path(), &[]);
    let second = call(&service).unwrap();
    assert_eq!((second.status, &*second.text), (200, r#"{"result":11}"#));
    let third = call(&service).unwrap();
    assert_eq!(second.headers["x-run-id"], third.headers["x-run-id"]);
    assert_eq!(third.text, second.text);
    assert_eq!(
        service.get("/runs").json()["runs"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(ledger.counts().values().sum::<u32>(), 1);
    let other = service.try_post(
        "/webhooks/f/sync",
        &[("idempotency-key", "order-7")],
        &json!({"a": 8}),
    );
    let other = other.unwrap();
    assert_eq!(
        (other.status, &other.json()["code"]),
        (422, &json!("idempotency-key-reused"))
    );
}
