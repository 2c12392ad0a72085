//! Several processes behind one port: what one stores the others see, and none is missed.

use std::{io::Read, path::Path, time::Instant};

use serde_json::{Value as Json, json};

use crate::{
    client::{Client, Load, RENDER, Stop},
    ledger::{Gate, Ledger},
    process::{ENDS, LONG, Process, Service, steps},
    waiting::wait_until,
};

/// The processes that `parent` has started, by number.
fn children(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        rest.split_whitespace().nth(1) == Some(&parent.to_string())
    };
    pids.filter(is_child).collect()
}

/// The process in a place, from its environment.
fn worker(service: &Service, index: u64) -> Option<u32> {
    let mark = format!("PLATEN_WORKER={index}/");
    children(service.process.0.id()).into_iter().find(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| variable.starts_with(mark.as_bytes()))
    })
}

fn signal(name: &str, pid: u32) {
    let mut kill = std::process::Command::new("kill");
    let status = kill.args([format!("-{name}"), pid.to_string()]).status();
    assert!(status.unwrap().success());
}

fn start(folder: &Path, workers: &str) -> Service {
    // Hung processes are noticed soon; on a busy machine, not too soon.
    let silence = ("PLATEN_WORKER_TIMEOUT_MS", "5000");
    // A test kills the owner of the runs three times: a run may be in its hands each time.
    let deaths = ("FLOW_MAX_DEATHS", "50");
    let service = Service::start(folder, &[("PLATEN_WORKERS", workers), silence, deaths]);
    let count: u64 = workers.parse().unwrap();
    wait_until("all processes serve", || {
        let text = service.get("/metrics").text;
        (0..count).all(|index| text.contains(&format!("platen_worker_up{{worker=\"{index}\"}} 1")))
    });
    service
}

/// A connection to each process.
fn connections(service: &Service, count: usize) -> Vec<Client> {
    let mut found: Vec<Option<Client>> = (0..count).map(|_| None).collect();
    let until = Instant::now() + LONG;
    // The kernel chooses, so those that are not wanted are held meanwhile.
    let mut others = Vec::new();
    while found.iter().any(Option::is_none) {
        assert!(Instant::now() < until, "a process takes no connection");
        let client = Client::connect(service).unwrap();
        let place = client.worker as usize;
        match &found[place] {
            None => found[place] = Some(client),
            Some(_) => others.push(client),
        }
        others.truncate(200);
    }
    found.into_iter().flatten().collect()
}

fn store_template(service: &Service) {
    let template: Json = serde_json::from_str(&template("x")).unwrap();
    assert_eq!(service.post("/templates", &template).status, 201);
}

fn template(text: &str) -> String {
    json!({"key": "t", "name": "T", "body": [{"type": "text", "content": text}]}).to_string()
}

#[test]
fn what_one_process_stores_all_see() {
    let folder = tempfile::tempdir().unwrap();
    let service = start(folder.path(), "3");
    let mut clients = connections(&service, 3);
    let made = clients[2].ask("POST", "/templates", "", &template("version 1"));
    assert_eq!(made.unwrap().status, 201);
    for version in 1..=30_usize {
        for client in &mut clients {
            let reply = client.ask("POST", "/render", "", RENDER).unwrap();
            assert_eq!(reply.status, 200);
            let text = String::from_utf8(reply.body).unwrap();
            assert!(
                text.contains(&format!("version {version}<")),
                "{version}: {text}"
            );
        }
        let expected = format!("if-match: \"{version}\"\r\n");
        let new = template(&format!("version {}", version + 1));
        let updated = clients[version % 3].ask("PUT", "/templates/t", &expected, &new);
        assert_eq!(updated.unwrap().status, 200);
    }
    let gone = clients[1].ask("DELETE", "/templates/t", "if-match: \"31\"\r\n", "");
    assert_eq!(gone.unwrap().status, 204);
    for client in &mut clients {
        let past = json!({"template": "t", "version": 3}).to_string();
        assert_eq!(
            client.ask("POST", "/render", "", RENDER).unwrap().status,
            404
        );
        assert_eq!(
            client.ask("POST", "/render", "", &past).unwrap().status,
            404
        );
    }
    results_are_everywhere(&mut clients);
    flows_are_everywhere(&service, &mut clients);
}

fn results_are_everywhere(clients: &mut [Client]) {
    let definition: Json = serde_json::from_str(&template("kept")).unwrap();
    let output = json!({"store": true, "ttlSeconds": 60});
    let body = json!({"definition": definition, "format": "html", "output": output}).to_string();
    for place in 0..clients.len() {
        let reply = clients[place].ask("POST", "/render", "", &body).unwrap();
        assert_eq!(reply.status, 201);
        let stored: Json = serde_json::from_slice(&reply.body).unwrap();
        for client in &mut *clients {
            let reply = client
                .ask("GET", stored["url"].as_str().unwrap(), "", "")
                .unwrap();
            assert_eq!(reply.status, 200);
            assert_eq!(Some(reply.body.len() as u64), stored["sizeBytes"].as_u64());
        }
    }
}

fn flows_are_everywhere(service: &Service, clients: &mut [Client]) {
    let ledger = Ledger::start();
    service.publish("f", &steps(&ledger.url));
    for client in clients {
        let reply = client
            .ask("POST", "/webhooks/f/sync", "", r#"{"a": 4}"#)
            .unwrap();
        let answer: Json = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!((reply.status, &answer["result"]), (200, &json!(8)));
        let body = json!({"definition": {"key": "a", "name": "A"}, "format": "html"});
        let later = client.ask("POST", "/render?async=true", "", &body.to_string());
        let later = later.unwrap();
        assert_eq!(later.status, 202);
        let run: Json = serde_json::from_slice(&later.body).unwrap();
        let run = service.until(run["run"].as_str().unwrap(), &ENDS);
        assert_eq!(run["state"], "succeeded");
        let events = client.ask("GET", "/nothing", "", "").unwrap();
        assert_eq!(events.status, 404);
    }
    // A worker elsewhere connects through whichever process takes it.
    drop(service.worker(1, &[]));
}

/// Does something while eight clients render; what failed.
fn under_load(service: &Service, work: impl FnOnce(&Load)) -> Vec<(u64, String)> {
    let load = Load::new();
    std::thread::scope(|scope| {
        let _stop = Stop(&load);
        for _ in 0..8 {
            scope.spawn(|| load.run(service));
        }
        load.wait_for_clients(8);
        load.wait_for(100);
        work(&load);
        load.wait_for(200);
    });
    load.failures.into_inner().unwrap()
}

fn another(service: &Service, index: u64, old: u32) {
    wait_until("another process is in its place", || {
        worker(service, index).is_some_and(|pid| pid != old)
    });
}

#[test]
fn connections_are_spread() {
    let folder = tempfile::tempdir().unwrap();
    let service = start(folder.path(), "3");
    let clients: Vec<Client> = (0..30)
        .map(|_| Client::connect(&service).unwrap())
        .collect();
    let mut counts = [0; 3];
    for client in &clients {
        counts[client.worker as usize] += 1;
    }
    // A machine that is busy lets a process come late; without turns one takes nearly all.
    assert!(counts.iter().all(|count| *count >= 3), "{counts:?}");
}

#[test]
fn a_killed_process_costs_only_its_own_requests() {
    let folder = tempfile::tempdir().unwrap();
    let service = start(folder.path(), "3");
    store_template(&service);
    for round in 0..6 {
        let victim = round % 3;
        let failures = under_load(&service, |_| {
            let pid = worker(&service, victim).unwrap();
            signal("KILL", pid);
            another(&service, victim, pid);
        });
        // Each connection loses at most the request that it had there.
        assert!(failures.len() <= 8, "{failures:?}");
        for (index, cause) in &failures {
            assert_eq!(*index, victim, "{cause}");
        }
    }
}

#[test]
fn a_process_that_hangs_is_killed_and_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let service = start(folder.path(), "2");
    store_template(&service);
    for victim in [1, 0] {
        let failures = under_load(&service, |_| {
            let pid = worker(&service, victim).unwrap();
            signal("STOP", pid);
            another(&service, victim, pid);
        });
        for (index, cause) in &failures {
            assert_eq!(*index, victim, "{cause}");
        }
        let stored = service.post(
            "/templates",
            &json!({"key": format!("after-{victim}"), "name": "N"}),
        );
        assert_eq!(stored.status, 201);
    }
}

#[test]
fn acknowledged_runs_outlive_the_owner_of_the_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let service = start(folder.path(), "2");
    let ledger = Ledger::start();
    service.publish("f", &steps(&ledger.url));
    let mut follower = connections(&service, 2).pop().unwrap();
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        let owner = worker(&service, 0).unwrap();
        for number in 0..20 {
            let body = format!("{{\"a\": {number}}}");
            let reply = follower.ask("POST", "/webhooks/f", "", &body).unwrap();
            if number == 10 + round {
                signal("KILL", owner);
            }
            let answer: Json = serde_json::from_slice(&reply.body).unwrap();
            match reply.status {
                202 => acknowledged.push(answer["run"].as_str().unwrap().to_owned()),
                // It ended while it had the request; the next one waits for its successor.
                status => assert_eq!(
                    (status, &answer["code"]),
                    (503, &json!("backend-unavailable"))
                ),
            }
        }
    }
    assert!(acknowledged.len() >= 54, "{}", acknowledged.len());
    for id in &acknowledged {
        assert_eq!(service.until(id, &ENDS)["state"], "succeeded");
    }
}

#[test]
fn processes_are_replaced_without_a_dropped_request() {
    let folder = tempfile::tempdir().unwrap();
    let service = start(folder.path(), "3");
    store_template(&service);
    let ledger = Ledger::start();
    service.publish("f", &steps(&ledger.url));
    for name in ["USR1", "HUP"] {
        let old: Vec<u32> = (0..3)
            .map(|index| worker(&service, index).unwrap())
            .collect();
        let failures = under_load(&service, |_| {
            service.process.signal(name);
            // Runs are asked for all the while: through those that pass them on, too.
            let until = Instant::now() + LONG;
            loop {
                let reply = service.post("/webhooks/f/sync", &json!({"a": 1}));
                assert_eq!((reply.status, &reply.json()["result"]), (200, &json!(5)));
                let now: Vec<u32> = children(service.process.0.id());
                if now.len() == 3 && now.iter().all(|pid| !old.contains(pid)) {
                    break;
                }
                assert!(
                    Instant::now() < until,
                    "not all are replaced: {old:?} {now:?}"
                );
            }
        });
        assert_eq!(failures, []);
    }
}

#[test]
fn an_end_finishes_what_was_taken_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut service = start(folder.path(), "2");
    let gate = Gate::start();
    let source = format!(
        "export default async (_, ctx) => {{ await ctx.fetch('{}'); return 5; }}",
        gate.url
    );
    service.publish(
        "held",
        &json!([{"name": "work", "type": "code", "source": source}]),
    );
    let mut clients = connections(&service, 2);
    let processes = children(service.process.0.id());
    assert_eq!(processes.len(), 2);
    std::thread::scope(|scope| {
        let asking: Vec<_> = clients
            .iter_mut()
            .map(|client| scope.spawn(|| client.ask("POST", "/webhooks/held/sync", "", "{}")))
            .collect();
        gate.wait_for(2);
        service.process.signal("TERM");
        gate.open();
        for answer in asking {
            assert_eq!(answer.join().unwrap().unwrap().body, b"5");
        }
    });
    assert!(service.process.wait().success());
    for pid in processes {
        assert!(
            !Path::new(&format!("/proc/{pid}")).exists(),
            "{pid} is left"
        );
    }
}

#[test]
fn processes_do_not_outlive_their_supervisor() {
    let folder = tempfile::tempdir().unwrap();
    let mut service = start(folder.path(), "2");
    let processes = children(service.process.0.id());
    service.process.signal("KILL");
    service.process.wait();
    for pid in processes {
        wait_until("no process is left", || {
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
            !line.is_ok_and(|line| line.contains("serve"))
        });
    }
}

#[test]
fn an_address_that_is_taken_is_said_at_once() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_platen"))
        .args(["serve", "--workers", "2", "--bind", &address, "--data-dir"])
        .arg(folder.path())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert!(!Process(child).wait().success());
    assert!(
        text.contains("cannot listen on") && text.contains("in use"),
        "{text}"
    );
}

/// Steps that wait at the gate before they answer.
fn waiting_at(gate: &Gate) -> Json {
    json!([
        {"name": "wait", "type": "http", "method": "POST", "url": gate.url, "body": {}},
        {"name": "reply", "type": "respond", "body": "done"},
    ])
}

/// A request that waits at the gate is answered while the service ends, and nobody waits at its
/// address meanwhile.
#[test]
fn the_address_is_closed_while_the_last_requests_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let service = start(folder.path(), "2");
    let gate = Gate::start();
    service.publish("f", &waiting_at(&gate));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| service.post("/webhooks/f/sync", &json!({"a": 1})));
        gate.wait_for(1);
        service.process.signal("TERM");
        let address = service.url.strip_prefix("http://").unwrap();
        wait_until("the address is closed", || {
            std::net::TcpStream::connect(address).is_err()
        });
        assert!(!waiting.is_finished());
        gate.open();
        assert_eq!(waiting.join().unwrap().status, 200);
    });
}

/// The replacement waits for a request that waits at the gate; the stop does not wait for it.
#[test]
fn a_stop_is_heard_while_processes_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let service = start(folder.path(), "2");
    let gate = Gate::start();
    service.publish("f", &waiting_at(&gate));
    let mut follower = connections(&service, 2).pop().unwrap();
    let supervisor = service.process.0.id();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || follower.ask("POST", "/webhooks/f/sync", "", "{}"));
        gate.wait_for(1);
        signal("HUP", supervisor);
        wait_until("a process has a successor", || {
            children(supervisor).len() == 3
        });
        service.process.signal("TERM");
        let address = service.url.strip_prefix("http://").unwrap();
        wait_until("the address is closed", || {
            std::net::TcpStream::connect(address).is_err()
        });
        assert!(!waiting.is_finished());
        gate.open();
        assert_eq!(waiting.join().unwrap().unwrap().status, 200);
    });
}
