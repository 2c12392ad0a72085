//! Results that several processes store in one folder: each serves what any has stored.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use process::{Service, walk};
use serde_json::{Value as Json, json};

const RESULTS: usize = 24;

fn answer(service: &Service, method: &str, path: &str, body: &str) -> String {
    let kind = "content-type: application/json\r\n";
    let bytes = service.exchange(method, path, kind, body.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The link to a document that no other `index` gives.
fn store(service: &Service, index: usize) -> String {
    let definition =
        json!({"key": "a", "name": "A", "body": [{"type": "text", "content": "{{ n }}"}]});
    let request = json!({
        "definition": definition, "data": {"n": index}, "format": "html", "options": {"now": 0},
        "output": {"store": true, "ttlSeconds": 600},
    });
    let answer = answer(service, "POST", "/render", &request.to_string());
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let document: Json = serde_json::from_str(body).unwrap();
    document["url"].as_str().unwrap().to_owned()
}

#[test]
fn every_process_serves_what_any_has_stored() {
    let service = Service::start(&[("PLATEN_WORKERS", "3")]);
    let up = || {
        service
            .metrics("platen_worker_up{")
            .iter()
            .filter(|line| line.ends_with(" 1"))
            .count()
    };
    service.wait_until("all processes are there", || up() == 3);
    // Each document twice, by whichever process takes the connection.
    let links: Vec<String> = std::thread::scope(|scope| {
        let service = &service;
        let threads: Vec<_> = (0..2 * RESULTS)
            .map(|index| scope.spawn(move || store(service, index % RESULTS)))
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let folder = service.folder.path().join("data/results");
    let mut files = walk(&folder);
    files.retain(|name| name != ".lock");
    assert_eq!(files.len(), RESULTS, "{files:?}");
    let stored = service.metrics("platen_results_stored_total{");
    let by: Vec<usize> = stored
        .iter()
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!((by.len(), by.iter().sum()), (3, 2 * RESULTS), "{stored:?}");
    let read = |link: &String| {
        let got = answer(&service, "GET", link, "");
        assert!(got.starts_with("HTTP/1.1 200"), "{got}");
    };
    std::thread::scope(|scope| {
        for part in links.chunks(RESULTS / 2) {
            scope.spawn(|| (0..4).for_each(|_| part.iter().for_each(read)));
        }
    });
    let changed = links[0].replace("signature=", "signature=0");
    let got = answer(&service, "GET", &changed, "");
    assert!(got.starts_with("HTTP/1.1 403"), "{got}");
}
