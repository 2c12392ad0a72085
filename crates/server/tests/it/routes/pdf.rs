//! `POST /pdf` and `POST /pdf/describe`.

use platen_server::Settings;
use serde_json::json;

use crate::app::{Answer, TestApp, template};

pub type Part<'a> = (&'a str, &'a str, &'a [u8]);

pub fn send(app: &TestApp, path: &str, parts: &[Part<'_>]) -> Answer {
    let mut body = Vec::new();
    for (name, file, content) in parts {
        let file = match file.is_empty() {
            true => String::new(),
            false => format!("; filename=\"{file}\""),
        };
        let head = format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend(head.as_bytes());
        body.extend(*content);
        body.extend(b"\r\n");
    }
    body.extend(b"--b--\r\n");
    let headers = [("content-type", "multipart/form-data; boundary=b")];
    app.send("POST", path, &headers, &body)
}

fn pdf(app: &TestApp) -> Vec<u8> {
    let request = json!({"definition": template("a", "Dear"), "data": {"name": "Ada"}});
    let made = app.post("/render/pdf", &request);
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    made.bytes
}

#[test]
fn operations_are_applied_one_after_another() {
    let app = TestApp::start();
    let one = pdf(&app);
    let operations = json!([
        {"do": "merge"},
        {"do": "rotate", "degrees": 90, "pages": "2"},
        {"do": "stamp", "text": "Größe {{ x }}", "position": "top-right", "opacity": 0.5},
        {"do": "bookmarks", "bookmarks": [{"title": "Two", "page": 2}]},
        {"do": "metadata", "metadata": {"Title": "Both"}},
        {"do": "attach", "file": "a.xml", "relationship": "Data"},
        {"do": "encrypt", "userPassword": "u", "ownerPassword": "o"},
    ]);
    let text = operations.to_string();
    let parts: [Part<'_>; 4] = [
        ("files", "a.pdf", &one),
        ("files", "b.pdf", &one),
        ("beside", "a.xml", b"<a/>"),
        ("operations", "", text.as_bytes()),
    ];
    let made = send(&app, "/pdf", &parts);
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    assert_eq!(made.header("content-type"), "application/pdf");
    let sealed: Part<'_> = ("files", "sealed.pdf", &made.bytes);
    send(&app, "/pdf/describe", &[sealed]).problem(422, "document-encrypted");
    let open = br#"[{"do": "decrypt", "password": "o"}, {"do": "split", "every": 1}]"#;
    let opened = send(&app, "/pdf", &[sealed, ("operations", "", open)]);
    assert_eq!(opened.header("content-type"), "application/zip");
    let open = br#"[{"do": "decrypt", "password": "o"}]"#;
    let opened = send(&app, "/pdf", &[sealed, ("operations", "", open)]);
    assert_eq!(
        opened.header("content-disposition"),
        "attachment; filename=\"sealed.pdf\""
    );
    let said = send(&app, "/pdf/describe", &[("files", "x.pdf", &opened.bytes)]);
    assert_eq!(said.status, 200);
    let said = &said.json()["x.pdf"];
    assert_eq!(said["pages"], 2, "{said}");
    assert_eq!(said["metadata"]["Title"], "Both");
    assert_eq!(said["bookmarks"], json!([{"title": "Two", "page": 2}]));
    let attached = json!([{"name": "a.xml", "sizeBytes": 4, "mediaType": "text/xml",
        "relationship": "Data", "description": null}]);
    assert_eq!(said["attachments"], attached);
}

#[test]
fn files_become_smaller_and_the_report_says_so() {
    let app = TestApp::start();
    let one = pdf(&app);
    let small: Part<'_> = (
        "operations",
        "",
        br#"[{"do": "merge"}, {"do": "optimize"}]"#,
    );
    let parts = [
        ("files", "a.pdf", one.as_slice()),
        ("files", "b.pdf", &one),
        small,
    ];
    let made = send(&app, "/pdf", &parts);
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    let report: serde_json::Value =
        serde_json::from_str(made.header("x-pdf-report")).expect("JSON");
    assert_eq!(report[0]["file"], "merged.pdf");
    assert_eq!(report[0]["code"], "optimized");
    assert_eq!(report[0]["sizeBytes"], made.bytes.len());
    let before = report[0]["sizeBytesBefore"].as_u64().expect("a size");
    assert!((made.bytes.len() as u64) < before);
    let many: Part<'_> = (
        "operations",
        "",
        br#"[{"do": "optimize", "imageQuality": 0}]"#,
    );
    let file: Part<'_> = ("files", "a.pdf", &one);
    send(&app, "/pdf", &[file, many]).problem(400, "invalid-option");
}

#[test]
fn what_is_in_files_is_taken_out() {
    let app = TestApp::start();
    let one = pdf(&app);
    let file: Part<'_> = ("files", "a.pdf", &one);
    let said = send(&app, "/pdf/text", &[file, ("pages", "", b"1")]);
    assert_eq!(said.status, 200, "{}", String::from_utf8_lossy(&said.bytes));
    let text = said.json()["a.pdf"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(text.contains("Ada"), "{text}");
    send(&app, "/pdf/text", &[file, ("pages", "", b"7")]).problem(400, "invalid-option");
    let attach: Part<'_> = ("operations", "", br#"[{"do": "attach", "file": "a.xml"}]"#);
    let made = send(&app, "/pdf", &[file, attach, ("beside", "a.xml", b"<a/>")]);
    let found = send(&app, "/pdf/attachments", &[("files", "b.pdf", &made.bytes)]);
    assert_eq!(found.header("content-type"), "application/zip");
    let archive = zip::ZipArchive::new(std::io::Cursor::new(&found.bytes)).unwrap();
    assert_eq!(archive.len(), 1);
    let found = send(&app, "/pdf/images", &[file, file]);
    assert_eq!(found.status, 200);
    send(&app, "/pdf/images", &[("files", "c.pdf", b"no")]).problem(422, "not-pdf");
    for dpi in [&b"2000"[..], b"NaN", b""] {
        let answer = send(&app, "/pdf/pages", &[file, ("dpi", "", dpi)]);
        assert_eq!(answer.status, 400, "{dpi:?}");
    }
}

#[test]
fn files_of_the_same_name_are_told_apart() {
    let app = TestApp::start();
    let one = pdf(&app);
    let file: Part<'_> = ("files", "a.pdf", &one);
    let flat: Part<'_> = ("operations", "", br#"[{"do": "flatten"}]"#);
    let made = send(
        &app,
        "/pdf",
        &[file, file, ("files", "a-2.pdf", &one), flat],
    );
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    let archive = zip::ZipArchive::new(std::io::Cursor::new(&made.bytes)).unwrap();
    let mut names: Vec<String> = archive
        .file_names()
        .map(|name| name.unwrap().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["a-2-2.pdf", "a-2.pdf", "a.pdf"]);
    let said = send(&app, "/pdf/describe", &[file, file]).json();
    assert!(
        said["a.pdf"].is_object() && said["a-2.pdf"].is_object(),
        "{said}"
    );
    let far: Part<'_> = (
        "operations",
        "",
        br#"[{"do": "stamp", "text": "a", "rotation": 1e39}]"#,
    );
    send(&app, "/pdf", &[file, far]).problem(400, "invalid-option");
}

#[test]
fn what_is_wrong_with_a_list_of_operations_is_told() {
    let app = TestApp::start();
    let one = pdf(&app);
    let file: Part<'_> = ("files", "a.pdf", &one);
    let told = |operations: &str, code: &str| {
        let parts = [file, ("operations", "", operations.as_bytes())];
        let problem = send(&app, "/pdf", &parts).problem(400, code);
        problem["detail"].as_str().unwrap_or_default().to_owned()
    };
    assert!(told("[{", "invalid-request").contains("operations"));
    assert!(told(r#"[{"do": "burn"}]"#, "invalid-request").contains("burn"));
    assert!(told(r#"[{"do": "rotate", "degrees": 45}]"#, "invalid-option").contains("45"));
    assert!(told(r#"[{"do": "select", "pages": "9"}]"#, "invalid-option").contains("a.pdf"));
    assert!(told(r#"[{"do": "attach", "file": "b"}]"#, "invalid-option").contains("`b`"));
    assert!(told(r#"[{"do": "stamp"}]"#, "invalid-option").contains("text"));
    assert!(told(r#"[{"do": "encrypt"}]"#, "invalid-option").contains("password"));
    let many = format!("[{}]", vec![r#"{"do": "flatten"}"#; 101].join(","));
    assert!(told(&many, "invalid-option").contains("100"));
    send(&app, "/pdf", &[file]).problem(400, "invalid-request");
    send(&app, "/pdf", &[("operations", "", b"[]")]).problem(400, "invalid-request");
    send(&app, "/pdf", &[file, ("other", "", b"x")]).problem(400, "invalid-request");
    let not: [Part<'_>; 2] = [
        ("files", "a.pdf", b"no"),
        ("operations", "", b"[{\"do\": \"flatten\"}]"),
    ];
    send(&app, "/pdf", &not).problem(422, "not-pdf");
}

#[test]
fn texts_of_forms_are_weighed_before_they_are_read() {
    let app = TestApp::with(Settings {
        max_body_bytes: Some(8 << 20),
        max_inflight_body_bytes: Some(64 << 20),
        ..Settings::default()
    });
    let one = pdf(&app);
    let long = format!("[{}0]", "{\"\":0},".repeat(500_000));
    for file in ["", "operations.json"] {
        let parts = [
            ("files", "a.pdf", &*one),
            ("operations", file, long.as_bytes()),
        ];
        let refused = send(&app, "/pdf", &parts);
        let problem = refused.problem(413, "too-large");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("MAX_INFLIGHT_BODY_BYTES"), "{detail}");
    }
    let page = "<p>x</p>".repeat(9 << 20);
    let page = ("files", "index.html", page.as_bytes());
    let refused = send(&app, "/render/html-to-pdf", &[page]);
    refused.problem(413, "too-large");
}
