//! Documents that are made later.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::mpsc,
};

use serde_json::{Value as Json, json};

use crate::process::{ENDS, LONG, Service};

/// A webhook's receiver: head and body of each request.
fn receiver() -> (String, mpsc::Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let (sender, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
                head.push_str(&line.to_ascii_lowercase());
            }
            let mut body = vec![0; length];
            let _ = reader.read_exact(&mut body);
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _ = (&stream).write_all(answer);
            let _ = sender.send((head, body));
        }
    });
    (host, requests)
}

/// A GIF of one pixel.
const DOT: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

fn definition() -> Json {
    json!({"key": "note", "name": "Note",
        "body": [{"type": "text", "content": "Dear {{ name }}"}]})
}

#[test]
fn a_document_is_made_later_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let assets = tempfile::tempdir().unwrap();
    std::fs::write(assets.path().join("dot.gif"), DOT).unwrap();
    let assets = [("PLATEN_ASSETS_DIR", assets.path().to_str().unwrap())];
    let service = Service::start(folder.path(), &assets);
    let mut template = definition();
    let image = json!({"type": "image", "source": "dot.gif", "alt": ""});
    template["body"].as_array_mut().unwrap().push(image);
    assert_eq!(service.post("/templates", &template).status, 201);
    let request = json!({"template": "note", "version": 1, "data": {"name": "Ada"},
        "format": "html", "options": {"locale": "de-DE"}});
    let accepted = service.post("/render?async=true", &request);
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let address = accepted.headers["location"].to_str().unwrap().to_owned();
    let id = address.strip_prefix("/runs/").unwrap();
    assert_eq!(service.until(id, &ENDS)["state"], "succeeded");
    let output = service.get(&format!("{address}/output"));
    assert!(
        ["Dear Ada", "de", "data:image/gif;base64,"]
            .iter()
            .all(|part| output.text.contains(part)),
        "{output:?}"
    );
    assert!(
        output.headers["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/html")
    );
    // It is the document that would have come at once.
    let options = json!({"filename": "Größe", "disposition": "attachment"});
    let request = json!({"template": "note", "data": {"name": "Ada \u{10FFFD}"},
        "format": "pdf", "options": options});
    let now = service.post("/render", &request);
    let later = service.post("/render?async=true", &request).json();
    let id = later["run"].as_str().unwrap();
    let run = service.until(id, &ENDS);
    let later = service.get(&format!("/runs/{id}/output"));
    for name in [
        "content-type",
        "content-disposition",
        "x-render-pages",
        "x-render-size-bytes",
        "x-render-warnings",
    ] {
        assert!(now.headers.contains_key(name), "{name}: {now:?}");
        assert_eq!(later.headers.get(name), now.headers.get(name), "{name}");
    }
    // The warnings stand under the step, too.
    assert_eq!(run["steps"][0]["log"][0]["level"], "warn", "{run:#}");
    let html = service.get(&format!("{address}/output"));
    let name = html.headers["content-disposition"].to_str().unwrap();
    assert_eq!(name, "inline; filename=\"note.html\"");
    assert!(html.headers.contains_key("content-security-policy"));
    // What is only looked at is not accepted.
    let looked = json!({"template": "note", "dryRun": true, "data": {}});
    let looked = service.post("/render?async=true", &looked);
    assert_eq!(
        (looked.status, looked.json()["valid"].is_boolean()),
        (200, true)
    );
    assert!(!looked.headers.contains_key("location"));
    // What can be known to be wrong is told at once.
    let unknown = service.post("/render?async=true", &json!({"template": "none"}));
    assert_eq!(unknown.status, 404);
    let wrong = json!({"template": "note", "options": {"dpi": 1}});
    assert_eq!(service.post("/render?async=true", &wrong).status, 400);
    let webhook = json!({"template": "note", "webhook": {"url": "http://127.0.0.1:9/"}});
    let refused = service.post("/render?async=true", &webhook);
    assert_eq!(refused.json()["code"], "address-denied");
    assert_eq!(service.post("/render", &webhook).status, 400);
}

#[test]
fn webhooks_get_documents_and_failures_signed() {
    let folder = tempfile::tempdir().unwrap();
    let (host, requests) = receiver();
    let variables = [("FLOW_ALLOWED_HOSTS", &*host), ("WEBHOOK_SECRET", "shared")];
    let service = Service::start(folder.path(), &variables);
    let url = format!("http://{host}/done");
    let good = json!({"definition": definition(), "data": {"name": "Ada"}, "format": "csv",
        "webhook": {"url": url, "headers": {"x-order": "7", "x-note": "{{ 1 + 1 }}"}}});
    let mut good = good;
    good["format"] = json!("html");
    let accepted = service.post("/render?async=true", &good);
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let (head, body) = requests.recv_timeout(LONG).unwrap();
    assert!(String::from_utf8_lossy(&body).contains("Dear Ada"));
    for line in [
        "x-order: 7",
        "x-note: {{ 1 + 1 }}",
        "content-type: text/html",
        "content-disposition: inline; filename=\"document.html\"",
        "x-render-size-bytes: ",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    check_signature(&head, &body);
    let bad = json!({"definition": definition(), "data": {"name": "Ada"}, "format": "html",
        "options": {"locale": "not a locale"}, "webhook": {"url": url}});
    service.post("/render?async=true", &bad);
    let (head, body) = requests.recv_timeout(LONG).unwrap();
    let body: Json = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["error"]["code"], "invalid-template", "{body}");
    check_signature(&head, body.to_string().as_bytes());
}

/// The signature as a receiver checks it.
fn check_signature(head: &str, body: &[u8]) {
    let line = head
        .lines()
        .find_map(|line| line.strip_prefix("platen-signature: "));
    let (time, given) = line.unwrap().trim().split_once(",v1=").unwrap();
    let script = "import hmac,sys\nbody=sys.stdin.buffer.read()\n\
        print(hmac.new(b'shared',sys.argv[1].encode()+b'.'+body,'sha256').hexdigest())";
    let mut python = std::process::Command::new("python3")
        .args(["-c", script, time.strip_prefix("t=").unwrap()])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(body).unwrap();
    let output = python.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), given);
}
