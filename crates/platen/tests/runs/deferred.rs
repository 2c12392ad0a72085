//! Requests that the service executes later: `?async=true` and Gotenberg's webhooks.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
        mpsc::{self, Receiver},
    },
};

use serde_json::{Value as Json, json};

use crate::{
    process::{Answer, ENDS, LONG, Service},
    waiting::wait_until,
};

/// A receiver of requests.
pub struct Hook {
    pub host: String,
    /// Status of its answers.
    pub status: Arc<AtomicU16>,
    /// Head, in lower case, and body of each request.
    pub requests: Receiver<(String, Vec<u8>)>,
}

impl Hook {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let status = Arc::new(AtomicU16::new(200));
        let (sender, requests) = mpsc::channel();
        let answers = Arc::clone(&status);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(&stream);
                let (mut head, mut length) = (String::new(), 0);
                // A service that is killed leaves connections without a request, or with half of one.
                let has_head = loop {
                    let mut line = String::new();
                    let read = reader.read_line(&mut line).unwrap_or(0);
                    if read == 0 || line == "\r\n" {
                        break read > 0;
                    }
                    head.push_str(&line.to_ascii_lowercase());
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap_or(0);
                    }
                };
                let mut body = vec![0; length];
                let is_whole = has_head && reader.read_exact(&mut body).is_ok();
                let status = answers.load(Ordering::SeqCst);
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                );
                let _ = (&stream).write_all(answer.as_bytes());
                if is_whole {
                    let _ = sender.send((head, body));
                }
            }
        });
        Self {
            host,
            status,
            requests,
        }
    }

    /// Settings of a service that may send here.
    pub fn variables(&self) -> Vec<(&str, &str)> {
        vec![
            ("WEBHOOK_ALLOWED_HOSTS", &*self.host),
            ("WEBHOOK_ALLOW_PRIVATE_ADDRESSES", "true"),
            ("WEBHOOK_MAX_QUEUE", "2"),
            ("WEBHOOK_MAX_RETRIES", "1"),
            ("WEBHOOK_RETRY_WAIT_MS", "10"),
            ("FLOW_MAX_DEATHS", "50"),
        ]
    }

    fn service(&self, folder: &std::path::Path) -> Service {
        Service::start(folder, &self.variables())
    }

    /// Asks for a flattened PDF, to be sent here with the header `x-number`.
    pub fn flatten(&self, service: &Service, pdf: &[u8], number: usize) -> Answer {
        let url = format!("http://{}/done", self.host);
        let extra = json!({"x-number": number.to_string()}).to_string();
        let headers = [
            ("gotenberg-webhook-url", url.as_str()),
            ("gotenberg-webhook-error-url", url.as_str()),
            ("gotenberg-webhook-extra-http-headers", extra.as_str()),
        ];
        form(service, "/forms/pdfengines/flatten", &headers, pdf)
    }
}

fn form(service: &Service, path: &str, headers: &[(&str, &str)], pdf: &[u8]) -> Answer {
    let mut body = b"--b\r\ncontent-disposition: form-data; name=\"files\"; filename=\"a.pdf\"\r\n\
        \r\n"
        .to_vec();
    body.extend_from_slice(pdf);
    body.extend_from_slice(b"\r\n--b--\r\n");
    let mut all = vec![("content-type", "multipart/form-data; boundary=b")];
    all.extend_from_slice(headers);
    let answer = service.try_post_bytes(path, &all, &body);
    answer.expect("the service answers")
}

pub fn pdf(service: &Service) -> Vec<u8> {
    let template = json!({"key": "note", "name": "Note",
        "body": [{"type": "text", "content": "Dear {{ name }}"}]});
    let request = json!({"definition": template, "data": {"name": "Ada"}});
    service.post("/render", &request).bytes
}

pub fn field<'a>(head: &'a str, name: &str) -> &'a str {
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    let found = fields.find(|(of, _)| *of == name);
    found.unwrap_or_else(|| panic!("{name} in {head}")).1.trim()
}

/// Runs of deferred requests, newest first.
fn runs(service: &Service) -> Vec<Json> {
    let list = service.get("/runs?flow=deferred-request&limit=100").json();
    list["runs"].as_array().unwrap().clone()
}

#[test]
fn no_acknowledged_form_is_lost_by_a_kill() {
    const FORMS: usize = 30;
    let folder = tempfile::tempdir().unwrap();
    let hook = Hook::start();
    let mut service = hook.service(folder.path());
    let pdf = pdf(&service);
    for number in 0..FORMS {
        let answer = hook.flatten(&service, &pdf, number);
        assert_eq!(answer.status, 204, "{answer:?}");
    }
    service.process.signal("KILL");
    service.process.wait();
    let service = hook.service(folder.path());
    let (mut numbers, mut keys) = (BTreeSet::new(), BTreeSet::new());
    while numbers.len() < FORMS {
        let (head, body) = hook
            .requests
            .recv_timeout(LONG)
            .expect("every result comes");
        assert!(body.starts_with(b"%PDF-"), "{head}");
        numbers.insert(field(&head, "x-number").to_owned());
        keys.insert(field(&head, "idempotency-key").to_owned());
    }
    assert_eq!(keys.len(), FORMS, "what comes twice has one key");
    for run in runs(&service) {
        let run = service.until(run["id"].as_str().unwrap(), &ENDS);
        assert_eq!(run["state"], "succeeded", "{run:#}");
    }
    let left = std::fs::read_dir(folder.path().join("deferred")).unwrap();
    let left = left.map(|entry| entry.unwrap().path());
    let waiting = left.filter(|path| path.extension().is_none());
    assert_eq!(waiting.count(), 0, "all were executed");
}

#[test]
fn a_result_that_was_not_delivered_can_be_delivered_again() {
    let folder = tempfile::tempdir().unwrap();
    let hook = Hook::start();
    hook.status.store(500, Ordering::SeqCst);
    let service = hook.service(folder.path());
    let pdf = pdf(&service);
    assert_eq!(hook.flatten(&service, &pdf, 1).status, 204);
    let id = runs(&service)[0]["id"].as_str().unwrap().to_owned();
    let run = service.until(&id, &ENDS);
    assert_eq!(run["state"], "failed", "{run:#}");
    assert_eq!(run["error"]["code"], "request-failed", "{run:#}");
    while hook.requests.try_recv().is_ok() {}
    hook.status.store(200, Ordering::SeqCst);
    let again = service.post(&format!("/runs/{id}/retry"), &json!({}));
    assert!([200, 202].contains(&again.status), "{again:?}");
    let (head, body) = hook.requests.recv_timeout(LONG).unwrap();
    assert!(
        body.starts_with(b"%PDF-") && field(&head, "x-number") == "1",
        "{head}"
    );
}

#[test]
fn what_is_made_later_is_what_would_have_come_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    let pdf = pdf(&service);
    let item = json!({"definition": {"key": "note", "name": "Note",
        "body": [{"type": "text", "content": "Dear {{ name }} \u{10FFFD}"}]}, "format": "html",
        "data": {"name": "Ada"}});
    let later = |accepted: Answer| {
        assert_eq!(accepted.status, 202, "{accepted:?}");
        let id = accepted.json()["run"].as_str().unwrap().to_owned();
        let run = service.until(&id, &ENDS);
        assert_eq!(run["state"], "succeeded", "{run:#}");
        service.get(&format!("/runs/{id}/output"))
    };
    let same = |now: &Answer, later: &Answer| {
        for name in ["content-type", "content-disposition", "x-render-pages"] {
            if let Some(value) = now.headers.get(name) {
                assert_eq!(later.headers.get(name), Some(value), "{name}");
            }
        }
    };
    for packaging in ["json", "ndjson", "zip"] {
        let batch = json!({"items": [item, item, {"template": "none"}], "packaging": packaging});
        let now = service.post("/render/batch", &batch);
        let later = later(service.post("/render/batch?async=true", &batch));
        same(&now, &later);
        assert!(
            now.bytes.len().abs_diff(later.bytes.len()) < 400,
            "{packaging}"
        );
        assert_eq!(now.bytes.starts_with(b"PK"), later.bytes.starts_with(b"PK"));
    }
    let path = "/forms/pdfengines/flatten";
    let named = [("gotenberg-output-filename", "mine")];
    let now = form(&service, path, &named, &pdf);
    let later = later(form(&service, &format!("{path}?async=true"), &named, &pdf));
    same(&now, &later);
    assert!(later.bytes.starts_with(b"%PDF-"), "{later:?}");
    // A client that asks twice under one key gets one run.
    let once = [("idempotency-key", "k")];
    let [first, second] = [0, 1].map(|_| {
        let accepted = form(&service, &format!("{path}?async=true"), &once, &pdf);
        accepted.json()["run"].clone()
    });
    assert_eq!(first, second);
    // The flow of these runs is not for users.
    let flow = json!({"kind": "flow", "key": "deferred-request", "name": "Mine",
        "trigger": {"type": "webhook"}, "steps": [{"name": "a", "type": "respond"}]});
    assert_eq!(service.post("/flows", &flow).status, 422);
    // The problem is that of the request.
    let failed = form(&service, &format!("{path}?async=true"), &[], b"no PDF");
    let id = failed.json()["run"].as_str().unwrap().to_owned();
    assert_eq!(service.until(&id, &ENDS)["error"]["code"], "not-pdf");
    let problem = service.get(&format!("/runs/{id}/output"));
    assert_eq!(problem.json()["code"], "not-pdf", "{problem:?}");
    assert_eq!(problem.status, 422);
}

/// A batch of four: a document, an item without a template, one that renders until its deadline, and
/// the only one whose format is CSV.
fn endless_batch() -> Json {
    let item = |body: Json, format: &str| {
        json!({"definition": {"key": "note", "name": "Note", "body": body}, "format": format,
            "data": {"rows": vec![0; 3_000]}})
    };
    let text = json!([{"type": "text", "content": "Dear Ada"}]);
    let table = json!([{"type": "table", "rows": "rows", "columns": [
        {"key": "a", "header": "A", "value": "{{ item }}"}]}]);
    let endless = (0..5).fold(
        json!([]),
        |body, _| json!([{"type": "repeat", "each": "rows", "body": body}]),
    );
    json!({"items": [item(text, "html"), {"template": "none"}, item(endless, "pdf"),
        item(table, "csv")]})
}

/// Value of a metric; 0 if it is absent.
fn metric(service: &Service, name: &str) -> u64 {
    let metrics = service.get("/metrics").text;
    let mut lines = metrics.lines().filter_map(|line| line.rsplit_once(' '));
    let found = lines.find(|(of, _)| *of == name);
    found.map_or(0, |(_, value)| value.parse().unwrap())
}

#[test]
fn a_deferred_batch_shows_its_progress_until_it_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    // An hour: the endless item must not end by itself.
    let variables = [
        ("BATCH_CONCURRENCY", "1"),
        ("RENDER_TIMEOUT_MS", "3600000"),
        ("RENDER_ISOLATION", "inline"),
        ("FLOW_MAX_DEATHS", "50"),
    ];
    let mut service = Service::start(folder.path(), &variables);
    let accepted = service.post("/render/batch?async=true", &endless_batch());
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let id = accepted.json()["run"].as_str().unwrap().to_owned();
    // The third item runs until it is stopped, so this is where the progress stays.
    let halfway = json!({"total": 4, "succeeded": 1, "failed": 1});
    let is_halfway = |service: &Service| service.run(&id)["progress"] == halfway;
    wait_until("the batch gets to its third item", || is_halfway(&service));
    assert_eq!(runs(&service)[0]["progress"], halfway);
    // A restart makes all items again. If it counted on, two documents would have been made.
    service.process.signal("KILL");
    service.process.wait();
    let service = Service::start(folder.path(), &variables);
    wait_until("the batch gets there again", || is_halfway(&service));
    let cancelled = service.post(&format!("/runs/{id}/cancel"), &json!({}));
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
    let run = service.run(&id);
    assert_eq!(run["state"], "cancelled", "{run:#}");
    assert_eq!(run["progress"], Json::Null, "{run:#}");
    wait_until("the third item stops", || {
        metric(&service, "platen_render_slots_in_use") == 0
    });
    // The only worker of the batch ended with the third item, so it never starts the fourth.
    let made = metric(
        &service,
        r#"platen_renders_total{format="csv",outcome="ok"}"#,
    );
    assert_eq!(made, 0);
}

#[test]
fn the_result_of_a_deferred_batch_has_the_problem_of_each_item() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    let mut batch = endless_batch();
    batch["items"].as_array_mut().unwrap().remove(2);
    let accepted = service.post("/render/batch?async=true", &batch);
    let id = accepted.json()["run"].as_str().unwrap().to_owned();
    let run = service.until(&id, &ENDS);
    assert_eq!(run["state"], "succeeded", "{run:#}");
    assert_eq!(run["progress"], Json::Null, "{run:#}");
    let result = service.get(&format!("/runs/{id}/output")).json();
    let counts = ["total", "succeeded", "failed"].map(|name| result[name].as_u64());
    assert_eq!(counts, [Some(3), Some(2), Some(1)], "{result:#}");
    assert_eq!(
        result["results"][1]["error"]["code"], "not-found",
        "{result:#}"
    );
}
