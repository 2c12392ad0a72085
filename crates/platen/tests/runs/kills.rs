//! The service is killed at every named point, and at any other.

use std::time::Duration;

use serde_json::json;

use crate::{
    ledger::Ledger,
    process::{ENDS, Service, steps},
};

/// Sends runs until the service is gone. Names of those that were acknowledged.
fn send(service: &Service, count: usize) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0..count {
        let Some(answer) = service.try_post("/webhooks/f", &[], &json!({"a": number})) else {
            break;
        };
        if answer.status != 202 {
            break;
        }
        acknowledged.push(answer.json()["run"].as_str().unwrap().to_owned());
    }
    acknowledged
}

/// All of them end well, with the answer to their own request, and tell the ledger under one key.
fn check(service: &Service, ledger: &Ledger, acknowledged: &[String]) {
    for (number, id) in acknowledged.iter().enumerate() {
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
            let acknowledged = send(&service, 20);
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

#[test]
fn no_acknowledged_run_is_lost_by_kills_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::start();
    Service::start(folder.path(), &[]).publish("f", &steps(&ledger.url));
    for round in 0..6_u64 {
        let service = Service::start(folder.path(), &[("FLOW_MAX_DEATHS", "50")]);
        let url = service.url.clone();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20 + round * 37));
            let mut service = service;
            let acknowledged = send(&service, 3);
            service.process.0.kill().unwrap();
            service.process.0.wait().unwrap();
            acknowledged
        });
        let acknowledged = killer.join().unwrap();
        drop(url);
        let service = Service::start(folder.path(), &[("FLOW_MAX_DEATHS", "50")]);
        check(&service, &ledger, &acknowledged);
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
