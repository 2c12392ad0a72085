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
fn filters_are_listed_and_named() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let list = app.get("/convert/filters").json();
    let filters = list["filters"].as_array().unwrap();
    let named = |name: &str| filters.iter().find(|it| it["name"] == name);
    let word = named("MS Word 97").unwrap();
    assert_eq!(word["documents"], "text document");
    assert_eq!(word["extension"], "doc");
    assert!(named("writer_pdf_Export").is_some() && named("impress_html_Export").is_none());
    assert!(list["libreofficeVersion"].as_str().unwrap().contains('.'));
    let raw = [("content-type", "application/octet-stream")];
    let send = |query: &str| {
        let path = format!("/convert?filename=letter.fodt&{query}");
        app.send("POST", &path, &raw, FLAT.as_bytes())
    };
    let old = send("filter=MS%20Word%2097&io=stream");
    assert_eq!(old.status, 200);
    assert!(old.bytes.starts_with(b"\xd0\xcf\x11\xe0"));
    assert!(old.header("content-disposition").contains("letter.doc"));
    // Pages that a client made run no scripts here.
    let page = send("filter=XHTML%20Writer%20File");
    assert_eq!(page.header("content-type"), "application/xhtml+xml");
    assert!(page.header("content-security-policy").contains("sandbox"));
    let data = "filter_data=%7B%22SelectPdfVersion%22%3A2%7D";
    let archive = send(&format!("filter=writer_pdf_Export&{data}"));
    assert!(archive.bytes == send("pdf_a=2b").bytes, "the named option");
    let wrong = send("filter=writer_pdf").problem(400, "invalid-option");
    let detail = wrong["detail"].as_str().unwrap();
    assert!(detail.contains("`writer_pdf_Export`"), "{detail}");
    for query in [
        "filter=calc8",
        "filter=MS%20Word%2097&to=doc",
        "filter=MS%20Word%2097&to=pdf",
        "filter_data=1",
        "filter_data=%7B%22A%22%3A%22file%3A%2F%2F%2Fetc%2Fx%22%7D",
        "filter_options=file%3A%2F%2F%2Fetc%2Fx",
        "io=pigeon",
    ] {
        send(query).problem(400, "invalid-option");
    }
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
