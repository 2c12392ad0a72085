//! The last stretch of answers: addresses, conditions, ranges, clients that take nothing.

use std::{
    io::{Cursor, Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
};

use platen_server::{Config, Server, Settings};
use serde_json::json;
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::app::TestApp;

fn piece() -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let manifest = json!({
        "name": "greeter", "version": "1.0.0", "bundle": "bundle.js",
        "actions": {"greet": {"input": {"type": "object"}}}
    });
    for (name, text) in [
        ("piece.json", manifest.to_string()),
        ("bundle.js", "export const greet = () => 1;".to_owned()),
    ] {
        archive
            .start_file(name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn what_is_stored_has_ranges_and_conditions() {
    let app = TestApp::start();
    let zip = [("content-type", "application/zip")];
    let place = "/pieces/greeter/1.0.0";
    let stored = app.send("PUT", place, &zip, &piece());
    assert_eq!(
        stored.status,
        201,
        "{}",
        String::from_utf8_lossy(&stored.bytes)
    );
    let whole = app.get(place);
    let tag = whole.header("etag").to_owned();
    let size = whole.bytes.len();
    assert_eq!(whole.header("accept-ranges"), "bytes");
    let get = |name: &str, value: &str| app.send("GET", place, &[(name, value)], b"");
    let part = get("range", "bytes=-10");
    assert_eq!(
        (part.status, &part.bytes[..]),
        (206, &whole.bytes[size - 10..])
    );
    let range = format!("bytes {}-{}/{size}", size - 10, size - 1);
    assert_eq!(part.header("content-range"), range);
    let parts = get("range", "bytes=0-3,10-13");
    assert_eq!(parts.status, 206);
    assert!(
        parts
            .header("content-type")
            .starts_with("multipart/byteranges")
    );
    let behind = get("range", "bytes=99999999-");
    assert_eq!(behind.status, 416);
    assert_eq!(behind.header("content-range"), format!("bytes */{size}"));
    assert_eq!(get("range", "bytes=9-1").status, 200);
    let known = get("if-none-match", &tag);
    assert_eq!((known.status, known.bytes.len()), (304, 0));
    assert_eq!(known.header("etag"), tag);
    assert_eq!(get("if-match", "\"other\"").status, 412);
}

#[test]
fn every_page_is_there_for_head_and_for_those_who_have_it() {
    let app = TestApp::start();
    for path in [
        "/openapi.json",
        "/docs",
        "/schema/template.json",
        "/schema/flow.json",
    ] {
        let plain = [("accept-encoding", "identity")];
        let whole = app.send("GET", path, &plain, b"");
        let head = app.send("HEAD", path, &plain, b"");
        assert_eq!((head.status, head.bytes.len()), (200, 0), "{path}");
        assert_eq!(
            head.header("content-length"),
            whole.bytes.len().to_string(),
            "{path}"
        );
        let tag = whole.header("etag").to_owned();
        assert!(tag.starts_with("W/"), "it is compressed for others: {tag}");
        let packed = app.send("GET", path, &[("accept-encoding", "gzip")], b"");
        assert_eq!(packed.header("etag"), tag, "{path}");
        let known = app.send("GET", path, &[("if-none-match", &tag)], b"");
        assert_eq!((known.status, known.bytes.len()), (304, 0), "{path}");
    }
    for path in ["/health/live", "/health/ready", "/metrics", "/templates"] {
        let head = app.send("HEAD", path, &[], b"");
        assert_eq!((head.status, head.bytes.len()), (200, 0), "{path}");
    }
}

#[test]
fn what_is_refused_unread_is_a_problem_with_an_id() {
    let app = TestApp::start();
    let answer = app.raw(b"GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let problem: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(problem["code"], "invalid-request");
    let id = problem["requestId"].as_str().unwrap();
    assert!(head.contains(&format!("x-request-id: {id}")), "{head}");
    let rejected = "platen_rejected_total{reason=\"invalid-request\"}";
    let metrics = String::from_utf8(app.get("/metrics").bytes).unwrap();
    assert!(metrics.contains(rejected), "{rejected}: {metrics}");
}

#[test]
fn several_addresses_and_one_service() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("platen.sock");
    let settings = Settings {
        bind: Some(format!("127.0.0.1:0, unix://{}?mode=600", socket.display())),
        data_dir: Some(folder.path().join("data")),
        system_fonts: Some(false),
        ..Settings::default()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime
        .block_on(Server::start(Config::resolve(settings).unwrap(), &[]))
        .unwrap();
    let address = server.address();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = runtime.spawn(server.run(async move {
        let _ = stopped.await;
    }));
    let request = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let mut answers = [String::new(), String::new()];
    let mut tcp = TcpStream::connect(address).unwrap();
    tcp.write_all(request).unwrap();
    tcp.read_to_string(&mut answers[0]).unwrap();
    let mut unix = UnixStream::connect(&socket).unwrap();
    unix.write_all(request).unwrap();
    unix.read_to_string(&mut answers[1]).unwrap();
    for answer in answers {
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    drop(stop);
    runtime.block_on(running).unwrap().unwrap();
    assert!(!socket.exists());
}

/// A long line of answers that nobody takes.
#[test]
fn stalled_readers_are_dropped() {
    let app = TestApp::with(Settings {
        // Long enough for all of them to be there at once on a busy machine.
        write_timeout_ms: Some(3_000),
        // It must not be the idle timeout that drops them.
        header_timeout_ms: Some(600_000),
        ..Settings::default()
    });
    let request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(500);
    let readers: Vec<TcpStream> = (0..3)
        .map(|_| {
            let mut stream = TcpStream::connect(app.address).unwrap();
            stream.write_all(&request).unwrap();
            stream
        })
        .collect();
    app.wait_until(|| app.metric("platen_connections") > 3.5);
    app.wait_until(|| app.metric("platen_connections") < 1.5);
    drop(readers);
}
