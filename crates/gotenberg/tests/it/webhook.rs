//! Results that are sent to a webhook.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use platen_server::Settings;

use crate::{
    app::{Answer, TestApp},
    documents::{form, pdf},
};

/// What a receiver got: the head, in lower case but for values, and the body.
pub(crate) type Got = (String, Vec<u8>);

/// A receiver that answers with each status once, and then with 200.
pub(crate) fn receiver(statuses: Vec<u16>) -> (u16, Receiver<Got>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = channel();
    let mut statuses = statuses.into_iter();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut bytes = Vec::new();
            let mut piece = [0; 4096];
            let (head, body) = loop {
                let count = stream.read(&mut piece).unwrap_or(0);
                bytes.extend(&piece[..count]);
                let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else {
                    if count == 0 {
                        return;
                    }
                    continue;
                };
                let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
                let length = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    let same = name.eq_ignore_ascii_case("content-length");
                    same.then(|| value.trim().parse::<usize>().ok())?
                });
                if bytes.len() >= end + 4 + length.unwrap_or(0) || count == 0 {
                    break (head, bytes[end + 4..].to_vec());
                }
            };
            let status = statuses.next().unwrap_or(200);
            let answer =
                format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
            if sender.send((head, body)).is_err() {
                return;
            }
        }
    });
    (port, receiver)
}

fn app(port: u16) -> TestApp {
    app_with(port, false)
}

fn app_with(port: u16, is_synchronous: bool) -> TestApp {
    TestApp::with(Settings {
        webhook_enable_sync_mode: Some(is_synchronous),
        ..settings(port)
    })
}

pub(crate) fn settings(port: u16) -> Settings {
    Settings {
        webhook_allowed_hosts: Some(vec![format!("127.0.0.1:{port}")]),
        webhook_allow_private_addresses: Some(true),
        webhook_secret: Some("a secret".to_owned()),
        webhook_max_queue: Some(1),
        webhook_max_retries: Some(2),
        webhook_retry_wait_ms: Some(20),
        ..Settings::default()
    }
}

pub(crate) fn flatten(app: &TestApp, port: u16, file: &[u8], more: &[(&str, &str)]) -> Answer {
    let (good, bad) = (
        format!("http://127.0.0.1:{port}/good"),
        format!("http://127.0.0.1:{port}/bad"),
    );
    let mut headers = vec![
        ("content-type", "multipart/form-data; boundary=b"),
        ("accept", "application/json"),
        ("gotenberg-trace", "trace-1"),
        ("gotenberg-output-filename", "mine"),
        ("gotenberg-webhook-url", good.as_str()),
        ("gotenberg-webhook-error-url", bad.as_str()),
    ];
    headers.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
    headers.extend(more.iter().filter(|(_, value)| !value.is_empty()));
    let body = form(&[("files", "a.pdf", file)]);
    app.send("POST", "/forms/pdfengines/flatten", &headers, &body)
}

/// The value of a header, of which there is one.
fn field<'a>(head: &'a str, name: &str) -> &'a str {
    let values = head.lines().filter_map(|line| {
        let (of, value) = line.split_once(": ")?;
        of.eq_ignore_ascii_case(name).then_some(value)
    });
    let values: Vec<&str> = values.collect();
    assert_eq!(values.len(), 1, "{name} in {head}");
    values[0]
}

pub(crate) fn next(got: &Receiver<Got>) -> Got {
    got.recv_timeout(Duration::from_secs(60))
        .expect("a delivery")
}

#[test]
fn results_and_errors_go_where_the_client_says() {
    let (port, got) = receiver(vec![503]);
    let app = app(port);
    let file = pdf(&app, "One");
    let more = [
        ("gotenberg-webhook-method", "PUT"),
        (
            "gotenberg-webhook-extra-http-headers",
            r#"{"x-mine": "yes", "Content-Disposition": "inline; filename=\"their.pdf\"", "content-type": "application/x-mine"}"#,
        ),
    ];
    let answer = flatten(&app, port, &file, &more);
    assert_eq!((answer.status, answer.bytes.len()), (204, 0));
    assert_eq!(answer.header("gotenberg-trace"), "trace-1");
    let first = next(&got);
    let (head, body) = next(&got);
    assert_eq!(first.1, body, "the second try sends the same");
    assert!(head.starts_with("PUT /good HTTP/1.1"), "{head}");
    let key = field(&head, "idempotency-key");
    assert_eq!(
        field(&first.0, "idempotency-key"),
        key,
        "both attempts have the same key"
    );
    let (seconds, _) = field(&head, "platen-signature")[2..]
        .split_once(",v1=")
        .unwrap();
    let signed = platen_signing::signature_header(b"a secret", seconds.parse().unwrap(), &body);
    assert_eq!(field(&head, "platen-signature"), signed);
    for line in [
        "x-mine: yes",
        "gotenberg-trace: trace-1",
        "content-type: application/x-mine",
        "content-disposition: inline; filename=\"their.pdf\"",
    ] {
        assert!(head.contains(line), "{line} in {head}");
    }
    let low = head.to_lowercase();
    for name in ["content-type:", "content-disposition:"] {
        assert_eq!(low.matches(name).count(), 1, "{name} in {head}");
    }
    assert!(body.starts_with(b"%PDF-"));
    assert_eq!(flatten(&app, port, b"no PDF", &[]).status, 204);
    let (head, body) = next(&got);
    assert!(head.starts_with("POST /bad HTTP/1.1"), "{head}");
    let told: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (&told["status"], &told["code"]),
        (&400.into(), &"not-pdf".into())
    );
}

#[test]
fn errors_have_lists_of_their_own() {
    let (port, got) = receiver(Vec::new());
    let app = TestApp::with(Settings {
        webhook_error_deny_list: Some(vec!["/bad$".to_owned()]),
        ..settings(port)
    });
    let file = pdf(&app, "One");
    assert_eq!(flatten(&app, port, &file, &[]).status, 403);
    let other = format!("http://127.0.0.1:{port}/other");
    let more = [("gotenberg-webhook-error-url", other.as_str())];
    assert_eq!(flatten(&app, port, &file, &more).status, 204);
    assert!(next(&got).0.starts_with("POST /good HTTP/1.1"));
    // The list of errors is not that of results.
    let good = format!("http://127.0.0.1:{port}/bad");
    let more = [
        ("gotenberg-webhook-url", good.as_str()),
        ("gotenberg-webhook-error-url", other.as_str()),
    ];
    assert_eq!(flatten(&app, port, &file, &more).status, 204);
    assert!(next(&got).0.starts_with("POST /bad HTTP/1.1"));
}

#[test]
fn webhooks_and_downloads_are_switched_off() {
    let (port, _got) = receiver(Vec::new());
    let app = TestApp::with(Settings {
        webhook_disable: Some(true),
        api_disable_download_from: Some(true),
        ..settings(port)
    });
    let file = pdf(&app, "One");
    let answer = flatten(&app, port, &file, &[]);
    assert_eq!(answer.status, 200);
    assert!(answer.bytes.starts_with(b"%PDF-"));
    let body = form(&[
        ("files", "a.pdf", &file),
        (
            "downloadFrom",
            "",
            br#"[{"url": "http://nowhere.invalid/"}]"#,
        ),
    ]);
    let headers = [("content-type", "multipart/form-data; boundary=b")];
    let answer = app.send("POST", "/forms/pdfengines/flatten", &headers, &body);
    assert_eq!(answer.status, 200, "what is named is not loaded");
}

#[test]
fn the_header_of_requests_is_the_one_that_is_set() {
    let (port, got) = receiver(Vec::new());
    let app = TestApp::with(Settings {
        api_correlation_id_header: Some("X-Request".to_owned()),
        ..settings(port)
    });
    let file = pdf(&app, "One");
    let more = [("x-request", "mine-1")];
    let answer = flatten(&app, port, &file, &more);
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("x-request"), "mine-1");
    let (head, _) = next(&got);
    assert_eq!(field(&head, "x-request"), "mine-1");
    assert!(!head.to_lowercase().contains("gotenberg-trace"), "{head}");
    let answer = flatten(&app, port, b"no PDF", &[("gotenberg-webhook-url", "")]);
    assert_eq!(answer.status, 400);
    assert!(
        !answer.header("x-request").is_empty(),
        "errors have it, too"
    );
}

#[test]
fn events_say_what_became_of_a_form() {
    let (port, got) = receiver(Vec::new());
    let app = app(port);
    let file = pdf(&app, "One");
    let events = format!("http://127.0.0.1:{port}/events");
    let only = [
        ("gotenberg-webhook-error-url", ""),
        ("gotenberg-webhook-events-url", events.as_str()),
    ];
    assert_eq!(flatten(&app, port, &file, &only).status, 204);
    let (result, _) = next(&got);
    assert!(result.starts_with("POST /good HTTP/1.1"), "{result}");
    let (head, body) = next(&got);
    assert!(head.starts_with("POST /events HTTP/1.1"), "{head}");
    assert_ne!(
        field(&head, "idempotency-key"),
        field(&result, "idempotency-key")
    );
    assert_eq!(field(&head, "gotenberg-trace"), "trace-1");
    let told: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(told["event"], "webhook.success", "{told}");
    assert_eq!(told["correlationId"], "trace-1");
    assert!(told["timestamp"].as_str().unwrap().ends_with('Z'), "{told}");
    assert!(told.get("error").is_none());

    // An error goes to both addresses, or to the one that is given.
    let both = [("gotenberg-webhook-events-url", events.as_str())];
    assert_eq!(flatten(&app, port, b"no PDF", &both).status, 204);
    assert!(next(&got).0.starts_with("POST /bad HTTP/1.1"));
    let (_, body) = next(&got);
    let told: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(told["event"], "webhook.error", "{told}");
    assert_eq!(told["error"]["status"], 400);
    assert!(!told["error"]["message"].as_str().unwrap().is_empty());
    assert_eq!(flatten(&app, port, b"no PDF", &only).status, 204);
    assert!(next(&got).0.starts_with("POST /events HTTP/1.1"));
    let denied = [("gotenberg-webhook-events-url", "http://127.0.0.2:1/")];
    flatten(&app, port, &file, &denied).problem(403, "address-denied");
}

#[test]
fn only_allowed_hosts_are_told_and_a_shutdown_waits() {
    let (port, got) = receiver(vec![500, 500, 500]);
    let mut app = app(port);
    let file = pdf(&app, "One");
    let denied = [("gotenberg-webhook-url", "http://127.0.0.2:1/")];
    flatten(&app, port, &file, &denied).problem(403, "address-denied");
    let none = [("gotenberg-webhook-error-url", "")];
    flatten(&app, port, &file, &none).problem(400, "invalid-request");
    let method = [("gotenberg-webhook-method", "GET")];
    flatten(&app, port, &file, &method).problem(400, "invalid-request");
    // Three tries of no use, then the error; a shutdown waits for them.
    assert_eq!(flatten(&app, port, &file, &[]).status, 204);
    next(&got);
    app.begin_stop();
    app.join();
    let all: Vec<Got> = got.try_iter().collect();
    let count = |path: &str| all.iter().filter(|(head, _)| head.contains(path)).count();
    assert_eq!((count("/good"), count("/bad")), (2, 1), "after the first");
}

#[test]
fn the_synchronous_mode_answers_after_the_delivery() {
    let (port, got) = receiver(vec![503]);
    let app = app_with(port, true);
    let file = pdf(&app, "One");
    assert_eq!(flatten(&app, port, &file, &[]).status, 204);
    // Both tries were made before the answer.
    let (first, second) = (got.try_recv().unwrap(), got.try_recv().unwrap());
    assert_eq!(first.1, second.1);
    assert!(second.0.starts_with("POST /good HTTP/1.1"), "{}", second.0);
    // The error is delivered, and answered.
    flatten(&app, port, b"no PDF", &[]).problem(400, "not-pdf");
    let (head, _) = got.try_recv().unwrap();
    assert!(head.starts_with("POST /bad HTTP/1.1"), "{head}");
}

#[test]
fn a_synchronous_form_says_that_its_result_was_not_delivered() {
    let (port, got) = receiver(vec![404, 200]);
    let app = app_with(port, true);
    let file = pdf(&app, "One");
    flatten(&app, port, &file, &[]).problem(500, "request-failed");
    assert!(got.try_recv().unwrap().0.starts_with("POST /good"));
    assert!(got.try_recv().unwrap().0.starts_with("POST /bad"));
}
