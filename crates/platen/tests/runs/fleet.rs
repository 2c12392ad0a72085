//! Several services on one database, with their files in one bucket.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::json;
use tempfile::TempDir;

use crate::{
    bucket::Bucket,
    database::Database,
    kills::{Acknowledged, check},
    ledger::Ledger,
    process::{ENDS, Service, platen, steps},
    redis,
    waiting::wait_until,
};

/// A database, a bucket, and the folders of services.
pub struct Fleet {
    pub database: Database,
    bucket: Bucket,
    pub folders: Vec<TempDir>,
}

impl Fleet {
    /// `None` if a server is not installed.
    pub fn start(services: usize) -> Option<Self> {
        Some(Self {
            database: Database::start()?,
            bucket: Bucket::start()?,
            folders: (0..services)
                .map(|_| tempfile::tempdir().unwrap())
                .collect(),
        })
    }

    pub fn variables<'v>(&'v self, more: &[(&'v str, &'v str)]) -> Vec<(&'v str, &'v str)> {
        let mut variables = self.bucket.variables(&[
            ("DATABASE_URL", &*self.database.url),
            ("FLOW_LEASE_MS", "2000"),
            ("FLOW_MAX_DEATHS", "50"),
        ]);
        variables.extend_from_slice(more);
        variables
    }

    pub fn service(&self, index: usize, more: &[(&str, &str)]) -> Service {
        Service::start(self.folders[index].path(), &self.variables(more))
    }
}

#[test]
fn what_one_service_knows_all_know() {
    let Some(fleet) = Fleet::start(2) else {
        return;
    };
    let ledger = Ledger::start();
    let (one, two) = (fleet.service(0, &[]), fleet.service(1, &[]));
    let mut template = json!({"key": "note", "name": "Note",
        "body": [{"type": "text", "content": "For {{ name }}"}]});
    assert_eq!(one.post("/templates", &template).status, 201);
    let request = json!({"template": "note", "data": {"name": "Ada"}, "format": "html"});
    assert!(two.post("/render", &request).text.contains("For Ada"));
    // A new version is rendered everywhere a moment later.
    template["body"] = json!([{"type": "text", "content": "To {{ name }}"}]);
    let put = one.agent.put(format!("{}/templates/note", one.url));
    let put = put
        .header("if-match", "\"1\"")
        .header("content-type", "application/json")
        .send(template.to_string().as_bytes());
    assert_eq!(put.unwrap().status().as_u16(), 200);
    wait_until("the other service renders the new version", || {
        two.post("/render", &request).text.contains("To Ada")
    });
    two.publish("f", &steps(&ledger.url));
    let answer = one.post("/webhooks/f/sync", &json!({"a": 1}));
    assert_eq!((answer.status, &*answer.text), (200, r#"{"result":5}"#));
    let run = answer.headers["x-run-id"].to_str().unwrap();
    assert_eq!(two.run(run)["state"], "succeeded");
    // A result is there for all, under the link that one signed.
    let mut stored = request;
    stored["output"] = json!({"store": true});
    let made = one.post("/render", &stored);
    assert_eq!(made.status, 201, "{made:?}");
    let link = made.json()["url"].as_str().unwrap().to_owned();
    let path = &link[link.find("/results").unwrap()..];
    assert!(two.get(path).text.contains("To Ada"));
}

#[test]
fn a_request_that_one_service_defers_is_executed_by_another() {
    let Some(fleet) = Fleet::start(2) else {
        return;
    };
    let two = fleet.service(1, &[]);
    let run = {
        // It has accepted the request and ends before it can execute it.
        let mut one = fleet.service(0, &[("PLATEN_FAULT", "accepted:1")]);
        let request = json!({"definition": {"key": "t", "name": "T",
            "body": [{"type": "text", "content": "late"}]}, "format": "html"});
        assert!(one.try_post("/render?async=true", &[], &request).is_none());
        one.process.wait();
        let mut found = None;
        wait_until("the run is there", || {
            let runs = two.get("/runs?limit=10").json();
            found = runs["runs"][0]["id"].as_str().map(str::to_owned);
            found.is_some()
        });
        found.unwrap()
    };
    let run = two.until(&run, &ENDS);
    assert_eq!(run["state"], "succeeded", "{run:#}");
}

#[test]
fn rate_limits_count_in_all_services_together() {
    let Some(fleet) = Fleet::start(2) else {
        return;
    };
    let limit = [("RATE_LIMIT_RENDER_MAX", "5")];
    let (one, two) = (fleet.service(0, &limit), fleet.service(1, &limit));
    let request = json!({"definition": {"key": "t", "name": "T", "body": []}, "format": "html"});
    for _ in 0..5 {
        assert_eq!(one.post("/render", &request).status, 200);
    }
    assert_eq!(one.post("/render", &request).status, 429);
    // What one admitted reaches the other within a moment; a minute brings five more.
    wait_until("the other service refuses, too", || {
        let answer = two.post("/render", &request);
        answer.status == 429 && answer.headers.contains_key("retry-after")
    });
}

/// Sends runs to any service until `stop`; one that is gone or refuses is tried again elsewhere.
fn send_anywhere(
    urls: &[std::sync::Mutex<String>],
    next: &AtomicUsize,
    stop: &AtomicBool,
) -> Vec<Acknowledged> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(20)))
        .build()
        .into();
    let mut acknowledged = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let url = urls[number % urls.len()].lock().unwrap().clone();
        let answer = agent
            .post(format!("{url}/webhooks/f"))
            .header("content-type", "application/json")
            .send(json!({"a": number}).to_string().as_bytes());
        let Ok(mut answer) = answer else { continue };
        match answer.status().as_u16() {
            202 => {
                let Ok(body) = answer.body_mut().read_to_vec() else {
                    continue;
                };
                let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
                acknowledged.push((number, body["run"].as_str().unwrap().to_owned()));
            }
            503 => assert!(answer.headers().contains_key("retry-after"), "{answer:?}"),
            _ => panic!("{answer:?}"),
        }
    }
    acknowledged
}

/// Services are killed, frozen beyond their leases, and stopped in turn while clients send to all
/// of them: every acknowledged run ends once, with its own answer.
#[test]
fn no_acknowledged_run_is_lost_whichever_service_fails() {
    let Some(fleet) = Fleet::start(3) else {
        return;
    };
    let ledger = Ledger::start();
    let mut services: Vec<Service> = (0..3).map(|index| fleet.service(index, &[])).collect();
    services[0].publish("f", &steps(&ledger.url));
    let urls: Vec<_> = services
        .iter()
        .map(|service| std::sync::Mutex::new(service.url.clone()))
        .collect();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let acknowledged: Vec<Acknowledged> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| send_anywhere(&urls, &next, &stop)))
            .collect();
        for round in 0..6_usize {
            let victim = round % 3;
            std::thread::sleep(Duration::from_millis(150 + 70 * round as u64));
            match round % 3 {
                0 => services[victim].process.signal("KILL"),
                1 => {
                    services[victim].process.signal("STOP");
                    // Beyond its leases: others take its runs.
                    std::thread::sleep(Duration::from_millis(3_500));
                    services[victim].process.signal("CONT");
                    continue;
                }
                _ => services[victim].process.signal("TERM"),
            }
            services[victim].process.wait();
            services[victim] = fleet.service(victim, &[]);
            *urls[victim].lock().unwrap() = services[victim].url.clone();
        }
        stop.store(true, Ordering::Relaxed);
        let clients = clients.into_iter();
        clients.flat_map(|client| client.join().unwrap()).collect()
    });
    assert!(acknowledged.len() > 20, "{}", acknowledged.len());
    check(&services[1], &ledger, &acknowledged);
}

/// Redis is flushed, killed, gone for a while and started while clients send to services that
/// exchange signals through it: every acknowledged run ends once, with its own answer.
#[test]
fn no_acknowledged_run_is_lost_whatever_happens_to_redis() {
    let Some(fleet) = Fleet::start(2) else {
        return;
    };
    let Some(mut redis) = redis::Server::start(&[]) else {
        return;
    };
    let url = redis.url();
    // One accepts and executes little, so the other hears of most runs.
    let few = [("REDIS_URL", &*url), ("FLOW_SLOTS", "1")];
    let services = [fleet.service(0, &few), fleet.service(1, &few[..1])];
    let ledger = Ledger::start();
    services[0].publish("f", &steps(&ledger.url));
    let urls = [std::sync::Mutex::new(services[0].url.clone())];
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let acknowledged: Vec<Acknowledged> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| send_anywhere(&urls, &next, &stop)))
            .collect();
        for round in 0..6_u64 {
            std::thread::sleep(Duration::from_millis(200 + 50 * round));
            redis.kill();
            std::thread::sleep(Duration::from_millis(400 * (round % 3)));
            redis.run();
        }
        stop.store(true, Ordering::Relaxed);
        let clients = clients.into_iter();
        clients.flat_map(|client| client.join().unwrap()).collect()
    });
    assert!(acknowledged.len() > 20, "{}", acknowledged.len());
    check(&services[1], &ledger, &acknowledged);
    // Synchronous answers come from the other service, too.
    for number in 0..20 {
        let answer = services[0].post("/webhooks/f/sync", &json!({"a": number}));
        assert_eq!(answer.status, 200, "{answer:?}");
    }
}

#[test]
fn a_redis_that_refuses_stops_the_start_and_one_that_is_away_does_not() {
    let Some(fleet) = Fleet::start(1) else {
        return;
    };
    let Some(redis) = redis::Server::start(&["--requirepass", "right"]) else {
        return;
    };
    let refused = |url: &str| {
        let variables = fleet
            .bucket
            .variables(&[("DATABASE_URL", &*fleet.database.url), ("REDIS_URL", url)]);
        let output = platen()
            .args(["serve", "--bind", "127.0.0.1:0", "--data-dir"])
            .arg(fleet.folders[0].path())
            .envs(variables)
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    for (url, said) in [
        (redis.url(), "give user and password"),
        (
            redis.url().replace("//", "//:secret-word@"),
            "check user and password",
        ),
        (
            "http://127.0.0.1".to_owned(),
            "redis://user:password@host:6379",
        ),
    ] {
        let text = refused(&url);
        assert!(text.contains("REDIS_URL") && text.contains(said), "{text}");
        assert!(!text.contains("secret-word"), "{text}");
    }
    let away = fleet.service(0, &[("REDIS_URL", "redis://127.0.0.1:1")]);
    assert_eq!(away.get("/health/ready").status, 200);
}
