//! What starts flows besides requests.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use serde_json::{Value as Json, json};

use crate::{
    ledger::{self, Gate},
    process::{ENDS, Service},
    waiting::{wait_for, wait_until},
};

/// An address that has news, and counts who asks.
struct News {
    host: String,
    items: Arc<Mutex<Vec<Json>>>,
    /// Whether answers have a list.
    is_ready: Arc<AtomicBool>,
    asked: Arc<AtomicU32>,
}

impl News {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let news = Self {
            host: listener.local_addr().unwrap().to_string(),
            items: Arc::default(),
            is_ready: Arc::new(AtomicBool::new(true)),
            asked: Arc::default(),
        };
        let (items, asked) = (Arc::clone(&news.items), Arc::clone(&news.asked));
        let is_ready = Arc::clone(&news.is_ready);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let items = match is_ready.load(Ordering::SeqCst) {
                    true => json!({"items": *items.lock().unwrap()}),
                    false => json!({"status": "starting"}),
                };
                tell(&stream, &items);
                asked.fetch_add(1, Ordering::SeqCst);
            }
        });
        news
    }

    fn add(&self, item: Json) {
        self.items.lock().unwrap().push(item);
    }

    /// Publishes a flow that asks for the news each second, and answers with their names.
    fn publish_flow(&self, service: &Service) {
        service.publish_whole(&self.flow("news"));
    }

    fn flow(&self, path: &str) -> Json {
        let url = format!("http://{}/{path}", self.host);
        json!({
            "kind": "flow", "key": "news", "name": "News",
            "trigger": {"type": "poll", "everySeconds": 1, "request": {"method": "GET", "url": url},
                "items": "body.items", "id": "id"},
            "steps": [{"name": "reply", "type": "respond", "body": "{{ trigger.item.name }}"}],
        })
    }

    /// Waits until what is there now has been asked for, and what came of it before is done.
    fn wait_for_looks(&self, looks: u32) {
        let before = self.asked.load(Ordering::SeqCst);
        wait_until("somebody asks for news", || {
            self.asked.load(Ordering::SeqCst) >= before + looks
        });
    }
}

fn tell(mut stream: &TcpStream, items: &Json) {
    let mut lines = BufReader::new(stream).lines();
    while lines
        .next()
        .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
    {}
    let body = items.to_string();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
}

fn runs(service: &Service) -> Vec<Json> {
    let found = service.get("/runs?flow=news").json();
    found["runs"].as_array().expect("runs").clone()
}

/// The names that runs answered with, once there are so many.
fn told(service: &Service, count: usize) -> Vec<String> {
    wait_for(|| match runs(service) {
        found if found.len() >= count => Ok(()),
        found => Err(format!("{count} runs: {found:?}")),
    });
    let answer = |run: &Json| {
        let run = service.until(run["id"].as_str().unwrap(), &ENDS);
        run["answer"]["body"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let mut names: Vec<String> = runs(service).iter().map(answer).collect();
    names.sort();
    names
}

#[test]
fn a_poll_starts_one_run_for_each_new_item() {
    let news = News::start();
    news.add(json!({"id": 1, "name": "old"}));
    let folder = tempfile::tempdir().unwrap();
    let variables = [("FLOW_ALLOWED_HOSTS", news.host.as_str())];
    let service = Service::start(folder.path(), &variables);
    news.publish_flow(&service);
    news.wait_for_looks(3);
    assert_eq!(
        runs(&service),
        Vec::<Json>::new(),
        "what was there is no news"
    );
    news.add(json!({"id": 2, "name": "two"}));
    news.add(json!({"name": "nameless"}));
    news.add(json!({"id": "x", "name": "ex"}));
    assert_eq!(told(&service, 2), ["ex", "two"]);
    news.wait_for_looks(2);
    assert_eq!(told(&service, 2).len(), 2, "an item is news once");
    drop(service);
    news.add(json!({"id": 3, "name": "three"}));
    let service = Service::start(folder.path(), &variables);
    assert_eq!(told(&service, 3), ["ex", "three", "two"]);
    news.wait_for_looks(2);
    assert_eq!(told(&service, 3).len(), 3, "it remembers over a restart");
}

#[test]
fn what_is_there_when_a_list_is_first_seen_is_no_news() {
    let news = News::start();
    news.is_ready.store(false, Ordering::SeqCst);
    news.add(json!({"id": 1, "name": "old"}));
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[("FLOW_ALLOWED_HOSTS", news.host.as_str())]);
    news.publish_flow(&service);
    news.wait_for_looks(2);
    news.is_ready.store(true, Ordering::SeqCst);
    news.wait_for_looks(3);
    assert_eq!(runs(&service), Vec::<Json>::new(), "it was there before");
    news.add(json!({"id": 2, "name": "two"}));
    assert_eq!(told(&service, 1), ["two"]);
    // Another address has another list, where everything is old.
    service.publish_again(&news.flow("archive"), 1);
    news.wait_for_looks(3);
    assert_eq!(told(&service, 1), ["two"]);
    news.add(json!({"id": 3, "name": "three"}));
    assert_eq!(told(&service, 2), ["three", "two"]);
}

#[test]
fn a_silent_address_is_asked_once_at_a_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming().flatten() {
            kept.push(stream);
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[("FLOW_ALLOWED_HOSTS", host.as_str())]);
    service.publish_whole(&json!({
        "kind": "flow", "key": "news", "name": "News",
        "trigger": {"type": "poll", "everySeconds": 1, "items": "body", "id": "id",
            "request": {"method": "GET", "url": format!("http://{host}/")}},
        "steps": [{"name": "reply", "type": "respond", "body": 1}],
    }));
    wait_until("somebody asks", || asked.load(Ordering::SeqCst) > 0);
    // Three more would be due.
    std::thread::sleep(std::time::Duration::from_millis(3_500));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[test]
fn news_wait_where_the_queue_is_full() {
    let news = News::start();
    let gate = Gate::start();
    let folder = tempfile::tempdir().unwrap();
    let hosts = format!("{},{}", news.host, ledger::host());
    let variables = [
        ("FLOW_ALLOWED_HOSTS", hosts.as_str()),
        ("FLOW_SLOTS", "1"),
        ("FLOW_ASYNC_QUEUE", "1"),
    ];
    let service = Service::start(folder.path(), &variables);
    service.publish(
        "busy",
        &json!([{"name": "ask", "type": "http", "method": "GET", "url": gate.url}]),
    );
    news.publish_flow(&service);
    news.wait_for_looks(2);
    assert_eq!(service.post("/webhooks/busy", &json!({})).status, 202);
    // The only slot is taken.
    gate.wait_for(1);
    assert_eq!(service.post("/webhooks/busy", &json!({})).status, 202);
    let full = service.post("/webhooks/busy", &json!({}));
    assert_eq!(full.status, 503, "{full:?}");
    for name in ["one", "two", "three"] {
        news.add(json!({"id": name, "name": name}));
    }
    news.wait_for_looks(3);
    assert_eq!(runs(&service), Vec::<Json>::new(), "there is no room");
    gate.open();
    assert_eq!(told(&service, 3), ["one", "three", "two"]);
    news.wait_for_looks(2);
    assert_eq!(told(&service, 3).len(), 3, "each once");
}
