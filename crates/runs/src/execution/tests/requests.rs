//! What steps and polls ask of other services.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
};

use platen_flow::{Finish, model::HttpRequest};
use platen_script::Cancellation;
use serde_json::{Value as Json, json};

use super::{NoJournal, world};
use crate::triggers::ask;

/// An answer without anything new.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
    content-length: 2\r\nconnection: close\r\n\r\n[]";

/// The lines of the next request's head, sorted, and its body.
fn next_request(listener: &TcpListener) -> (Vec<String>, String) {
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(&stream);
    let mut head = Vec::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(bytes) = line.strip_prefix("content-length: ") {
            length = bytes.parse().unwrap();
        }
        // Only a step has attempts that are marked.
        if !line.starts_with("idempotency-key: ") {
            head.push(line);
        }
    }
    head.sort();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (&stream).write_all(ANSWER).unwrap();
    (head, String::from_utf8(body).unwrap())
}

#[test]
fn a_poll_asks_as_a_step_does() {
    let world = world();
    let url = format!("http://{}/", world.http.local_addr().unwrap());
    let headers = json!({"x-page": 7, "x-kind": "news"});
    for (body, sent) in [
        (json!("a \"text\""), "a \"text\""),
        (json!({"since": 1}), "{\"since\":1}"),
        (Json::Null, ""),
    ] {
        let request = json!({"method": "POST", "url": url, "headers": headers, "body": body});
        let listener = world.http.try_clone().unwrap();
        let both = std::thread::spawn(move || [next_request(&listener), next_request(&listener)]);
        let mut step = request.clone();
        step["type"] = json!("http");
        let report = world.run(step, &Cancellation::default(), &mut NoJournal);
        let finish = report.progress.finish();
        assert!(matches!(finish, Some(Finish::Succeeded(_))), "{finish:?}");
        let request: HttpRequest = serde_json::from_value(request).unwrap();
        let answer = ask(&world.services.outbound, &request);
        assert_eq!(answer, Ok(json!({"status": 200, "body": []})));
        let [step, poll] = both.join().unwrap();
        assert_eq!(step, poll);
        assert_eq!(poll.1, sent);
        assert!(poll.0.contains(&"x-page: 7".to_owned()), "{poll:?}");
    }
}

#[test]
fn a_poll_says_why_it_has_no_answer() {
    let world = world();
    let request = json!({"url": "http://elsewhere.example/"});
    let request: HttpRequest = serde_json::from_value(request).unwrap();
    let reason = ask(&world.services.outbound, &request).unwrap_err();
    assert!(reason.contains("FLOW_ALLOWED_HOSTS"), "{reason}");
}
