//! The service with its records in PostgreSQL.

use std::{
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    kills::{Acknowledged, check, send},
    ledger::Ledger,
    process::{LONG, Service, platen, steps},
};

#[allow(dead_code)]
#[path = "../../../storage/tests/it/postgres/server.rs"]
pub mod postgres;

/// A server of its own, a database in it, and a runtime to speak with it; `None` if PostgreSQL is
/// not installed.
pub struct Database {
    server: postgres::Server,
    pub url: String,
    runtime: tokio::runtime::Runtime,
}

impl Database {
    pub fn start() -> Option<Self> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let server = runtime.block_on(postgres::Server::start(&[]))?;
        let url = runtime.block_on(server.database());
        Some(Self {
            server,
            url,
            runtime,
        })
    }

    /// A number that a query of the operator returns.
    pub fn number(&self, query: &str) -> i64 {
        self.runtime.block_on(self.server.number("postgres", query))
    }

    fn service(&self, folder: &std::path::Path) -> Service {
        let variables = [("DATABASE_URL", &*self.url), ("FLOW_MAX_DEATHS", "50")];
        Service::start(folder, &variables)
    }
}

#[test]
fn records_are_in_the_database_and_not_in_the_folder() {
    let Some(database) = Database::start() else {
        return;
    };
    let ledger = Ledger::start();
    let template = json!({"key": "note", "name": "Note",
        "body": [{"type": "text", "content": "For {{ name }}"}]});
    let run = {
        let folder = tempfile::tempdir().unwrap();
        let service = database.service(folder.path());
        assert_eq!(service.post("/templates", &template).status, 201);
        assert_eq!(service.post("/templates", &template).status, 409);
        service.publish("f", &steps(&ledger.url));
        let answer = service.post("/webhooks/f/sync", &json!({"a": 1}));
        assert_eq!((answer.status, &*answer.text), (200, r#"{"result":5}"#));
        assert!(!folder.path().join("platen.db").exists());
        answer.headers["x-run-id"].to_str().unwrap().to_owned()
    };
    let folder = tempfile::tempdir().unwrap();
    let service = database.service(folder.path());
    let rendered = json!({"template": "note", "data": {"name": "Ada"}, "format": "html"});
    let rendered = service.post("/render", &rendered);
    assert!(rendered.text.contains("For Ada"), "{rendered:?}");
    assert_eq!(service.run(&run)["state"], "succeeded");
    // PostgreSQL cannot store NUL in a text: that is the client's mistake, not a failure.
    let nul = json!({"key": "nul", "name": "N\u{0}", "body": []});
    let refused = service.post("/templates", &nul);
    assert!((400..500).contains(&refused.status), "{refused:?}");
    assert!(refused.text.contains("NUL"), "{refused:?}");
    assert!((400..500).contains(&service.get("/runs?flow=%00").status));
    assert_eq!(
        service.post("/webhooks/f/sync", &json!({"a": 2})).status,
        200
    );
}

#[test]
fn acknowledged_runs_survive_kills_of_the_service() {
    let Some(database) = Database::start() else {
        return;
    };
    let (folder, ledger) = (tempfile::tempdir().unwrap(), Ledger::start());
    database
        .service(folder.path())
        .publish("f", &steps(&ledger.url));
    for round in 0..3_u64 {
        let service = database.service(folder.path());
        let acknowledged: Vec<Acknowledged> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..4_usize)
                .map(|client| {
                    let service = &service;
                    scope.spawn(move || send(service, (0..100_000).map(|n| n * 4 + client)))
                })
                .collect();
            // Rounds differ in how much is under way.
            std::thread::sleep(Duration::from_millis(200 + 90 * round));
            service.process.signal("KILL");
            let clients = clients.into_iter();
            clients.flat_map(|client| client.join().unwrap()).collect()
        });
        assert!(!acknowledged.is_empty());
        drop(service);
        check(&database.service(folder.path()), &ledger, &acknowledged);
    }
}

/// Sends runs until `stop`. While the database is gone, the service says that it is, and when to
/// come back.
fn send_through(service: &Service, client: usize, stop: &AtomicBool) -> Vec<Acknowledged> {
    let mut acknowledged = Vec::new();
    for number in (0..).map(|turn| turn * 4 + client) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let answer = service.post("/webhooks/f", &json!({"a": number}));
        match answer.status {
            202 => {
                let run = answer.json()["run"].as_str().unwrap().to_owned();
                acknowledged.push((number, run));
            }
            503 => {
                assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
                assert!(!answer.text.contains("127.0.0.1"), "{answer:?}");
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => panic!("{answer:?}"),
        }
    }
    acknowledged
}

#[test]
fn acknowledged_runs_survive_kills_of_the_database() {
    let Some(database) = Database::start() else {
        return;
    };
    let (folder, ledger) = (tempfile::tempdir().unwrap(), Ledger::start());
    let service = database.service(folder.path());
    service.publish("f", &steps(&ledger.url));
    for _ in 0..2 {
        let stop = AtomicBool::new(false);
        let acknowledged: Vec<Acknowledged> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..4_usize)
                .map(|client| {
                    let (service, stop) = (&service, &stop);
                    scope.spawn(move || send_through(service, client, stop))
                })
                .collect();
            std::thread::sleep(Duration::from_millis(300));
            database.server.kill();
            std::thread::sleep(Duration::from_millis(300));
            database.runtime.block_on(database.server.run());
            // The service answers again, without a restart of its own.
            let until = Instant::now() + LONG;
            while service.post("/webhooks/f", &json!({"a": 0})).status != 202 {
                assert!(Instant::now() < until, "the service does not recover");
                std::thread::sleep(Duration::from_millis(20));
            }
            stop.store(true, Ordering::Relaxed);
            let clients = clients.into_iter();
            clients.flat_map(|client| client.join().unwrap()).collect()
        });
        assert!(!acknowledged.is_empty());
        check(&service, &ledger, &acknowledged);
    }
}

#[test]
fn a_silent_database_makes_the_service_not_ready_until_it_answers() {
    let Some(database) = Database::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let service = database.service(folder.path());
    let ready = || service.get("/health/ready");
    assert_eq!(ready().status, 200);
    database.server.signal_all("-STOP");
    let answer = ready();
    let listed = service.get("/templates");
    database.server.signal_all("-CONT");
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_eq!(
        answer.json()["checks"][1],
        json!({"name": "store", "ok": false})
    );
    assert_eq!(listed.status, 503, "{listed:?}");
    let until = Instant::now() + LONG;
    while ready().status != 200 {
        assert!(Instant::now() < until, "the service does not recover");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What `platen serve` says when it cannot start.
fn refusal(url: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = platen()
        .args(["serve", "--bind", "127.0.0.1:0", "--data-dir"])
        .arg(folder.path())
        .env("DATABASE_URL", url)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("DATABASE_URL") && text.contains("hint: "),
        "{text}"
    );
    assert!(!text.contains("correct-horse"), "{text}");
    text
}

#[test]
fn a_database_that_cannot_be_used_stops_the_start() {
    let Some(database) = Database::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let _service = database.service(folder.path());
    let url = &database.url;
    assert!(refusal(url).contains("in use by another service"));
    assert!(refusal("mysql://x/y").contains("postgres://user:password@host"));
    assert!(refusal(&url.replace("correct-horse", "wrong")).contains("password"));
    let missing = refusal(&url.replace("/test_0", "/missing"));
    assert!(missing.contains("missing"), "{missing}");
}
