//! `POST /convert`.

use platen_server::Settings;

use crate::{
    app::TestApp,
    programs::{FLAT, is_libreoffice_missing},
};

#[test]
fn a_document_becomes_a_pdf_as_a_body_and_as_a_form() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let raw = [("content-type", "application/octet-stream")];
    let path = "/convert?to=pdf&filename=letter.fodt&pdf_a=2b";
    let answer = app.send("POST", path, &raw, FLAT.as_bytes());
    assert_eq!(
        answer.status,
        200,
        "{}",
        String::from_utf8_lossy(&answer.bytes)
    );
    assert!(answer.bytes.starts_with(b"%PDF-"));
    assert_eq!(answer.header("content-type"), "application/pdf");
    assert!(answer.header("content-disposition").contains("letter.pdf"));
    let timing = answer.header("server-timing");
    for phase in ["receive", "queue", "load", "store", "finish"] {
        assert!(timing.contains(&format!("{phase};dur=")), "{timing}");
    }
    let form = format!(
        "--x\r\ncontent-disposition: form-data; name=\"to\"\r\n\r\npdf\r\n--x\r\ncontent-disposition: form-data; name=\"pdf_a\"\r\n\r\n2b\r\n--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"letter.fodt\"\r\n\r\n{FLAT}\r\n--x--\r\n"
    );
    let multipart = [("content-type", "multipart/form-data; boundary=x")];
    let again = app.send("POST", "/convert", &multipart, form.as_bytes());
    assert_eq!(
        again.status,
        200,
        "{}",
        String::from_utf8_lossy(&again.bytes)
    );
    assert!(
        again.bytes == answer.bytes,
        "the same document gives the same bytes"
    );
    let metrics = app.send("GET", "/metrics", &[], b"");
    let metrics = String::from_utf8_lossy(&metrics.bytes).into_owned();
    assert!(
        metrics.contains("platen_pool_slots{pool=\"libreoffice\"}"),
        "{metrics}"
    );
    // Longer than what is held in memory, both ways.
    let long = "A line of a long text.\n".repeat(100_000);
    let answer = app.send(
        "POST",
        "/convert?to=odt&filename=a.txt",
        &raw,
        long.as_bytes(),
    );
    assert_eq!(answer.status, 200);
    assert!(answer.bytes.starts_with(b"PK"));
}

#[test]
fn what_cannot_be_converted_is_told() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let raw = [("content-type", "application/octet-stream")];
    let send = |path: &str, body: &[u8]| app.send("POST", path, &raw, body);
    send("/convert", b"").problem(422, "document-empty");
    send("/convert", b"PK\x03\x04 cut").problem(422, "document-damaged");
    send("/convert?to=xlsx", FLAT.as_bytes()).problem(422, "unsupported-conversion");
    send("/convert?to=what", FLAT.as_bytes()).problem(400, "invalid-option");
    send("/convert?quality=101", FLAT.as_bytes()).problem(400, "invalid-option");
    send("/convert?pages=9", FLAT.as_bytes()).problem(422, "document-not-stored");
    let multipart = [("content-type", "multipart/form-data; boundary=x")];
    let empty = app.send("POST", "/convert", &multipart, b"--x--\r\n");
    empty.problem(400, "invalid-request");
}

#[test]
fn limits_and_absence() {
    let app = TestApp::with(Settings {
        libreoffice_path: Some("/no/such/soffice".into()),
        ..Settings::default()
    });
    let raw = [("content-type", "application/octet-stream")];
    let answer = app.send("POST", "/convert", &raw, FLAT.as_bytes());
    let problem = answer.problem(501, "backend-missing libreoffice");
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("apt-get install")
    );
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::with(Settings {
        office_max_body_bytes: Some(1000),
        ..Settings::default()
    });
    let answer = app.send("POST", "/convert", &raw, &[b'a'; 1001]);
    answer.problem(413, "too-large body");
    let app = TestApp::with(Settings {
        office_timeout_ms: Some(1),
        ..Settings::default()
    });
    let answer = app.send("POST", "/convert", &raw, FLAT.as_bytes());
    answer.problem(504, "timeout conversion");
}
