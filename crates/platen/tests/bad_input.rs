//! Untrusted input to a whole service with its sandboxes: a typed answer within the deadline each
//! time, the pools at full strength afterwards, no process and no file left.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use process::{Service, docx, has_chromium, has_libreoffice, is_missing, paragraphs};
use serde_json::json;
use zip::CompressionMethod::Deflated;

/// A listener on loopback that counts.
fn listener() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let hits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&hits);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            drop(stream);
        }
    });
    (address, hits)
}

/// Full strength: no slot in use, the usual number of processes, and nothing left of jobs.
fn rests(service: &Service, pool: &str) {
    let is_free = format!("platen_pool_slots_in_use{{pool=\"{pool}\"}} 0");
    service.wait_until("no slot is in use", || {
        !service.metrics(&is_free).is_empty()
    });
    service.wait_until("no file of a job is left", || service.job_files() == 0);
    service.wait_until("no upload is left", || service.nameless() == 0);
    service.wait_until("all are reaped", || service.zombies() == 0);
}

#[test]
fn documents_that_harm_or_are_none() {
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let service = Service::start(&[("OFFICE_TIMEOUT_MS", "60000"), ("OFFICE_SLOTS", "1")]);
    let good = docx(&paragraphs(3, "text"), &[], Deflated);
    assert_eq!(service.convert("a.docx", &good), "200");
    let made = service.converted("a.docx&to=docx&result_password=open", &good);
    let begin = made.windows(4).position(|it| it == b"\r\n\r\n").unwrap() + 4;
    let locked = &made[begin..];
    let zeros = vec![0; 200 << 20];
    let bomb = docx("", &[("word/zeros.bin", &zeros)], Deflated);
    drop(zeros);
    let rows = r#"<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet><table:table table:name="a"><table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row><table:table-row><table:table-cell office:value-type="string"><text:p>end</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document>"#;
    let (address, hits) = listener();
    let linked = format!(
        r#"<html><body><img src="http://{address}/a.png"><iframe src="http://{address}/b"></iframe><p>text</p></body></html>"#
    );
    let cases: &[(&str, &[u8], &str)] = &[
        ("a.docx", b"", "422 document-empty"),
        ("a.docx", &good[..good.len() / 2], "422 document-damaged"),
        ("a.xls", &good, "200"),
        ("a.bin", b"\x01\x02\x03\x04", "422 unknown-format"),
        ("a.docx", locked, "422 password-needed"),
        ("a.docx&password=shut", locked, "422 password-wrong"),
        ("a.docx&password=open", locked, "200"),
        ("a.docx", &bomb, "422 too-large"),
        ("a.fods", rows.as_bytes(), "200"),
        ("a.html", linked.as_bytes(), "200"),
    ];
    for (name, document, expected) in cases {
        assert_eq!(service.convert(name, document), *expected, "{name}");
        rests(&service, "libreoffice");
    }
    assert_eq!(hits.load(Ordering::SeqCst), 0);
    assert_eq!(service.convert("a.docx", &good), "200");
}

#[test]
fn processes_that_stop_and_clients_that_go() {
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let service = Service::start(&[("OFFICE_TIMEOUT_MS", "5000"), ("OFFICE_SLOTS", "1")]);
    let long = docx(
        &paragraphs(4000, "many words that make a page"),
        &[],
        Deflated,
    );
    assert_eq!(service.convert("a.txt", b"text"), "200");
    let in_use = "platen_pool_slots_in_use{pool=\"libreoffice\"} 1";
    let begins = || {
        service.wait_until("it is being converted", || {
            !service.metrics(in_use).is_empty()
        })
    };
    let stopped = std::thread::scope(|scope| {
        let work = scope.spawn(|| service.convert("a.docx", &long));
        begins();
        for (pid, _) in service.children() {
            let _ = Command::new("kill")
                .args(["-STOP", &pid.to_string()])
                .status();
        }
        work.join().unwrap()
    });
    assert_eq!(stopped, "504 timeout");
    rests(&service, "libreoffice");
    // A client that sends half of it, and one that does not wait for the answer.
    for share in [2, 1] {
        let mut stream = TcpStream::connect(&service.address).unwrap();
        let length = long.len();
        let head = format!(
            "POST /convert?filename=a.docx HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&long[..length / share]).unwrap();
        if share == 1 {
            begins();
        }
        drop(stream);
        rests(&service, "libreoffice");
    }
    assert_eq!(service.convert("a.txt", b"text"), "200");
}

#[test]
fn pages_that_harm() {
    if is_missing("Chromium", has_chromium()) {
        return;
    }
    // One that waits long, for what takes as long as the machine is slow, and one for what never ends.
    let service = Service::start(&[("RENDER_TIMEOUT_MS", "300000")]);
    let quick = Service::start(&[("RENDER_TIMEOUT_MS", "10000"), ("CHROMIUM_WARM", "true")]);
    assert_eq!(service.print("<p>text"), "200");
    let (address, hits) = listener();
    let scripts = json!({"javaScript": true});
    let cases = [
        (
            "<script>for (;;) {}</script>".to_owned(),
            scripts.clone(),
            "504 timeout",
        ),
        (
            "<p>text".to_owned(),
            json!({"waitForSelector": "#never"}),
            "504 timeout",
        ),
        (
            "<script>const all = []; for (;;) all.push(new Uint8Array(5e7).fill(1))</script>"
                .to_owned(),
            scripts.clone(),
            "422 memory-limit",
        ),
        (
            "<p>text<script>alert(1); confirm(2); prompt(3)</script>".to_owned(),
            scripts.clone(),
            "200",
        ),
        (
            format!("<meta http-equiv=refresh content='0; url=http://{address}/'><p>text"),
            json!({"waitDelayMs": 500}),
            "403 address-denied",
        ),
        (
            format!("<script>location = 'http://{address}/'</script>"),
            scripts,
            "403 address-denied",
        ),
        (
            format!("<img src=http://{address}/a.png>"),
            json!({}),
            "200",
        ),
    ];
    for (html, options, expected) in cases {
        let service = match expected.starts_with("504") {
            true => &quick,
            false => &service,
        };
        assert_eq!(service.print_with(&html, options), expected, "{html}");
        rests(service, "chromium");
    }
    assert_eq!(hits.load(Ordering::SeqCst), 0);
    // Stopped while it prints: the deadline ends it, and another takes its place.
    let page = "<p>text 123</p>".repeat(15_000);
    let stopped = std::thread::scope(|scope| {
        let work = scope.spawn(|| quick.print(&page));
        let in_use = "platen_pool_slots_in_use{pool=\"chromium\"} 1";
        quick.wait_until("it is printed", || !quick.metrics(in_use).is_empty());
        // Models an instant in the middle of its work; the test holds for any other.
        std::thread::sleep(Duration::from_millis(200));
        for (pid, _) in quick.children() {
            let _ = Command::new("kill")
                .args(["-STOP", &pid.to_string()])
                .status();
        }
        work.join().unwrap()
    });
    // Before its first byte an answer is still to be had; after it the connection breaks.
    assert!(
        ["504 timeout", "200"].contains(&stopped.as_str()),
        "{stopped}"
    );
    rests(&quick, "chromium");
    // A client that leaves after the first byte.
    let body = json!({"html": page}).to_string();
    let mut stream = TcpStream::connect(&service.address).unwrap();
    let head = format!(
        "POST /render/html-to-pdf HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    drop(stream);
    rests(&service, "chromium");
    assert_eq!(service.print("<p>text"), "200");
}
