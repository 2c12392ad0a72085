//! Hostile and unlucky requests: each is refused within its limit, and the service stays up.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use platen_server::Settings;
use serde_json::json;

use crate::app::{TestApp, long_request, slow_request, template};

#[test]
fn truncated_json_names_its_place() {
    let app = TestApp::start();
    let problem = app
        .send(
            "POST",
            "/render",
            &[],
            b"{\"template\": \"a\",\n \"data\": {\"x\": [1, 2",
        )
        .problem(400, "invalid-json");
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("line 2 column"),
        "{problem}"
    );
    app.send("POST", "/templates", &[], b"{\"key\": ")
        .problem(400, "invalid-json");
    app.send("POST", "/render", &[("content-type", "text/plain")], b"{}")
        .problem(415, "media-type-not-supported");
}

#[test]
fn a_body_of_200_mb_is_refused_at_once() {
    let app = TestApp::start();
    let head = b"POST /render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 209715200\r\n\r\n{";
    let mut stream = TcpStream::connect(app.address).unwrap();
    stream.write_all(head).unwrap();
    // The rest of the body would be waited for 60 s.
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let mut bytes = [0; 64];
    let count = stream.read(&mut bytes).unwrap();
    let answer = String::from_utf8_lossy(&bytes[..count]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[test]
fn a_long_body_without_a_length_is_refused_on_the_way() {
    let app = TestApp::with(Settings {
        max_body_bytes: Some(100_000),
        ..Settings::default()
    });
    let mut request = b"POST /render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..20 {
        request.extend(b"2710\r\n");
        request.extend([b' '; 10_000]);
        request.extend(b"\r\n");
    }
    let answer = app.raw(&request);
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[test]
fn bodies_held_at_once_are_bounded() {
    let app = TestApp::with(Settings {
        max_body_bytes: Some(1 << 20),
        max_inflight_body_bytes: Some(1 << 20),
        ..Settings::default()
    });
    let body = format!(
        "{{\"definition\": {}, \"data\": {{\"name\": \"{}\"}}}}",
        template("a", "x"),
        "x".repeat(600_000)
    );
    let mut held = TcpStream::connect(app.address).unwrap();
    let head = b"POST /render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{";
    held.write_all(head).unwrap();
    app.wait_until(|| app.metric("platen_connections") > 1.5);
    app.wait_until(|| {
        app.send("POST", "/render/html", &[], body.as_bytes())
            .status
            == 503
    });
    drop(held);
    app.wait_until(|| {
        app.send("POST", "/render/html", &[], body.as_bytes())
            .status
            == 200
    });
}

/// Nobody waits for the body of a caller without a key, so that it takes nothing from others.
#[test]
fn a_large_body_of_a_stranger_is_refused_before_it_is_read() {
    let app = TestApp::with(Settings {
        api_key_admin: Some(vec!["admin-key-1".into()]),
        ..Settings::default()
    });
    for (path, status) in [("/studio/session", 413), ("/runs/none/callback/none", 404)] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nX-Platen-Studio: 1\r\nContent-Type: application/json\r\nContent-Length: 33554432\r\n\r\n"
        );
        let answer = app.raw(head.as_bytes());
        let expected = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&expected), "{path}: {answer}");
    }
}

#[test]
fn what_json_takes_once_it_is_read_is_bounded() {
    let app = TestApp::with(Settings {
        max_body_bytes: Some(8 << 20),
        max_inflight_body_bytes: Some(64 << 20),
        ..Settings::default()
    });
    // Two megabytes each, of which the first takes a hundred times as much.
    let many = format!("[{}0]", "0,".repeat(1 << 20));
    let text = format!("[\"{}\"]", ",".repeat(2 << 20));
    for (path, values) in [("/render/html", "definition"), ("/invoice", "extra")] {
        let body = |data: &str| format!("{{\"{values}\": {data}}}");
        let answer = app.send("POST", path, &[], body(&many).as_bytes());
        answer.problem(413, "too-large");
        let answer = app.send("POST", path, &[], body(&text).as_bytes());
        assert!(
            matches!(answer.status, 400 | 422),
            "{path}: {}",
            answer.status
        );
    }
}

#[test]
fn deep_nesting_is_refused() {
    let app = TestApp::start();
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
    let data = format!(
        "{{\"definition\": {}, \"data\": {}}}",
        template("a", "x"),
        deep("[", "]")
    );
    app.send("POST", "/render", &[], data.as_bytes())
        .problem(400, "invalid-json");
    let nodes = format!(
        "{{\"key\": \"a\", \"name\": \"A\", \"body\": [{}]}}",
        deep("{\"type\": \"panel\", \"body\": [", "]}")
    );
    let refused = app.send("POST", "/templates", &[], nodes.as_bytes());
    assert!(matches!(refused.status, 400 | 422), "{}", refused.status);
    let inline = format!("{{\"definition\": {nodes}}}");
    let refused = app.send("POST", "/render", &[], inline.as_bytes());
    assert!(matches!(refused.status, 400 | 422), "{}", refused.status);
    assert_eq!(app.get("/health/ready").status, 200);
}

#[test]
fn strange_keys_are_refused() {
    let app = TestApp::start();
    for key in [
        "..%2F..%2Fetc%2Fpasswd",
        "a%00b",
        "%2e%2e",
        "A",
        "-a",
        "a..b",
        "a%20b",
        "%FF",
    ] {
        let read = app.get(&format!("/templates/{key}"));
        assert!(matches!(read.status, 400 | 404), "{key}: {}", read.status);
        assert_eq!(read.header("content-type"), "application/problem+json");
    }
    let long = "a".repeat(129);
    app.get(&format!("/templates/{long}"))
        .problem(400, "invalid-request");
    let render = json!({"template": "../../etc/passwd\u{0}", "data": {}});
    app.post("/render", &render)
        .problem(404, "not-found template");
    app.post("/templates", &template("../x", "x"))
        .problem(422, "invalid-template");
}

#[test]
fn strange_values_are_rendered_or_refused() {
    let app = TestApp::start();
    for name in [
        json!(1e308),
        json!("\u{202E}abc\u{0}"),
        json!(null),
        json!([[[]]]),
        json!("x".repeat(100_000)),
    ] {
        let request = json!({"definition": template("a", "x"), "data": {"name": name}});
        let made = app.post("/render", &request);
        assert!(matches!(made.status, 200 | 422), "{}", made.status);
    }
    let request = br#"{"definition": {"key": "a", "name": "A"}, "data": {"x": NaN}}"#;
    app.send("POST", "/render", &[], request)
        .problem(400, "invalid-json");
    let huge = br#"{"definition": {"key": "a", "name": "A"}, "data": {"x": 1e999}}"#;
    app.send("POST", "/render", &[], huge)
        .problem(400, "invalid-json");
}

#[test]
fn heads_are_limited_in_size_and_time() {
    let app = TestApp::with(Settings {
        // A client on a busy machine may take a while between its connection and its request.
        header_timeout_ms: Some(5_000),
        ..Settings::default()
    });
    let long = format!(
        "GET /health/live HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
        "x".repeat(200_000)
    );
    let answer = app.raw(long.as_bytes());
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
        "{answer}"
    );
    let many = format!(
        "GET /health/live HTTP/1.1\r\n{}\r\n",
        "X: y\r\n".repeat(200)
    );
    let answer = app.raw(many.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    // A head that never ends is cut off.
    app.raw(b"GET /health/live HTTP/1.1\r\nHost: a\r\nX-Slow: ");
    assert_eq!(app.get("/health/live").status, 200);
}

#[test]
fn a_slow_body_is_refused() {
    let app = TestApp::with(Settings {
        body_timeout_ms: Some(200),
        ..Settings::default()
    });
    let head = b"POST /render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    let answer = app.raw(head);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[test]
fn a_full_queue_answers_503() {
    let app = TestApp::with(Settings {
        max_concurrent_pages: Some(1),
        render_preview_reserved_slots: Some(0),
        render_max_queue_depth: Some(1),
        ..Settings::default()
    });
    let request = slow_request();
    let answers = app.at_once(6, |_| app.post("/render", &request));
    let made = answers.iter().filter(|answer| answer.status == 200).count();
    let refused: Vec<_> = answers
        .iter()
        .filter(|answer| answer.status == 503)
        .collect();
    assert!((2..=3).contains(&made), "{made}");
    assert_eq!(made + refused.len(), 6);
    refused[0].problem(503, "overloaded queue");
    assert_eq!(refused[0].header("retry-after"), "1");
    assert!(app.metric("platen_rejected_total{reason=\"queue-full\"}") >= 3.0);
}

#[test]
fn previews_have_slots_of_their_own() {
    let app = TestApp::with(Settings {
        max_concurrent_pages: Some(2),
        render_max_queue_depth: Some(0),
        ..Settings::default()
    });
    app.post("/templates", &template("a", "Hello"));
    let request = long_request(4);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| app.post("/render", &request));
        app.wait_until(|| app.metric("platen_render_slots_in_use") > 0.5);
        let data = "eyJuYW1lIjoiQWRhIn0";
        assert_eq!(
            app.get(&format!("/templates/a/preview.png?data={data}"))
                .status,
            200
        );
        assert_eq!(slow.join().unwrap().status, 200);
    });
}

#[test]
fn a_deadline_answers_504() {
    let app = TestApp::with(Settings {
        render_timeout_ms: Some(30),
        ..Settings::default()
    });
    app.post("/render", &slow_request())
        .problem(504, "timeout render");
    app.wait_until(|| app.metric("platen_render_slots_in_use") < 0.5);
}

#[test]
fn a_client_that_goes_away_stops_its_job() {
    let app = TestApp::start();
    // It must still be at work when its client's end is noticed, a second later.
    let body = long_request(30).to_string();
    let mut stream = TcpStream::connect(app.address).unwrap();
    let head = format!(
        "POST /render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    app.wait_until(|| app.metric("platen_render_slots_in_use") > 0.5);
    drop(stream);
    let gone = "platen_http_requests_total{route=\"/render\",method=\"POST\",status=\"499\"}";
    app.wait_until(|| app.metric(gone) > 0.5 && app.metric("platen_render_slots_in_use") < 0.5);
}

#[test]
fn rates_are_limited() {
    let app = TestApp::with(Settings {
        rate_limit_max: Some(50),
        rate_limit_render_max: Some(3),
        ..Settings::default()
    });
    let request = json!({"definition": template("a", "x"), "data": {"name": "x"}});
    for _ in 0..3 {
        assert_eq!(app.post("/render", &request).status, 200);
    }
    let refused = app.post("/render", &request);
    refused.problem(429, "rate-limited");
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    app.post("/render/batch", &json!({"items": [request]}))
        .problem(429, "rate-limited");
    let statuses: Vec<u16> = (0..60).map(|_| app.get("/templates").status).collect();
    assert_eq!(statuses[0], 200);
    assert_eq!(statuses[59], 429);
    assert_eq!(app.get("/health/live").status, 200);
}

#[test]
fn a_loop_in_an_expression_ends() {
    let app = TestApp::start();
    let definition = json!({"key": "a", "name": "A", "body": [
        {"type": "repeat", "items": "range(1000000000)", "body": [{"type": "text", "content": "x"}]},
    ]});
    // One that went on would be ended by the deadline, with 504.
    let made = app.post("/render", &json!({"definition": definition}));
    assert!(
        matches!(made.status, 400 | 422),
        "{}",
        String::from_utf8_lossy(&made.bytes)
    );
}
