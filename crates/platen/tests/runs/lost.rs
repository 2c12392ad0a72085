//! Services of a fleet that are killed, or seem to be: who holds their runs, and since when.

use std::{fs, process::Stdio};

use serde_json::json;

use crate::{
    fleet::Fleet,
    ledger::Gate,
    process::{ENDS, Service, platen},
    waiting::wait_until,
};

/// Longer than any test waits: what goes on does so for another reason.
const LEASE: (&str, &str) = ("FLOW_LEASE_MS", "600000");

fn publish(service: &Service, gate: &Gate) {
    let steps = json!([
        {"name": "work", "type": "http", "method": "POST", "url": gate.url, "body": {}},
        {"name": "reply", "type": "respond", "body": "done"},
    ]);
    service.publish("f", &steps);
}

#[track_caller]
fn start(service: &Service) -> String {
    let answer = service.post("/webhooks/f", &json!({}));
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.json()["run"].as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_ends(service: &Service, run: &str, deaths: u32) {
    let run = service.until(run, &ENDS);
    let said = (&run["state"], &run["deaths"]);
    assert_eq!(said, (&json!("succeeded"), &json!(deaths)), "{run:#}");
}

#[test]
fn runs_of_a_killed_service_go_on_before_their_leases_end() {
    for role in ["all", "app"] {
        let Some(fleet) = Fleet::start(2) else {
            return;
        };
        let variables = [LEASE, ("PLATEN_ROLE", role)];
        let gate = Gate::start();
        let [mut one, two] = [0, 1].map(|index| fleet.service(index, &variables));
        let worker = |service: &Service| (role == "app").then(|| service.worker(1, &[]));
        let _workers = [worker(&one), worker(&two)];
        publish(&one, &gate);
        let run = start(&one);
        gate.wait_for(1);
        one.process.0.kill().unwrap();
        one.process.wait();
        gate.wait_for(2);
        gate.open();
        assert_ends(&two, &run, 1);
    }
}

#[test]
fn a_service_that_is_back_takes_up_the_runs_of_its_workers() {
    let Some(fleet) = Fleet::start(1) else {
        return;
    };
    let variables = [LEASE, ("PLATEN_ROLE", "app")];
    let gate = Gate::start();
    let run = {
        let service = fleet.service(0, &variables);
        let _worker = service.worker(1, &[]);
        publish(&service, &gate);
        let run = start(&service);
        gate.wait_for(1);
        run
    };
    let service = fleet.service(0, &variables);
    let _worker = service.worker(1, &[]);
    gate.wait_for(2);
    gate.open();
    assert_ends(&service, &run, 1);
}

#[test]
fn a_service_that_loses_its_connection_keeps_its_runs() {
    let Some(fleet) = Fleet::start(2) else {
        return;
    };
    let gate = Gate::start();
    let [one, two] = [0, 1].map(|index| fleet.service(index, &[LEASE]));
    publish(&one, &gate);
    let run = start(&one);
    gate.wait_for(1);
    // Who holds the lock of a name: how many, and which.
    let holders = |number: &str| {
        fleet.database.number(&format!(
            "SELECT {number}::bigint FROM pg_locks
             WHERE locktype = 'advisory' AND objsubid = 2 AND granted"
        ))
    };
    let before = holders("sum(pid)");
    assert_eq!(holders("count(pg_terminate_backend(pid))"), 2);
    wait_until("both have their locks again", || {
        holders("count(*)") == 2 && holders("sum(pid)") != before
    });
    gate.open();
    assert_ends(&two, &run, 0);
}

#[test]
fn two_services_cannot_have_the_same_name() {
    let Some(fleet) = Fleet::start(2) else {
        return;
    };
    let _one = fleet.service(0, &[]);
    let [theirs, own] = [0, 1].map(|index| fleet.folders[index].path());
    fs::copy(theirs.join("service.id"), own.join("service.id")).unwrap();
    let variables = fleet.variables(&[]);
    let output = platen()
        .args(["serve", "--bind", "127.0.0.1:0", "--data-dir"])
        .arg(own)
        .envs(variables)
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("delete `service.id`"), "{said}");
}
