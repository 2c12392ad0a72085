//! Documents that are stored, and their links.

use std::{path::PathBuf, sync::Arc};

use platen_server::Settings;
use serde_json::{Value as Json, json};

use crate::{
    app::{Answer, TestApp, template},
    programs::{is_chromium_missing, is_libreoffice_missing},
};

const KEY: &str = "a-key-that-renders";

fn with_key(settings: Settings) -> TestApp {
    TestApp::with(Settings {
        api_key_render: Some(vec![KEY.to_owned()]),
        ..settings
    })
}

fn store(app: &TestApp, format: &str, name: &str, output: Json) -> Answer {
    let request = json!({
        "definition": template("letter", "To"), "data": {"name": name}, "format": format,
        "options": {"filename": "Größe 1.pdf", "now": 0}, "output": output,
    });
    let headers = [("x-api-key", KEY), ("content-type", "application/json")];
    app.send("POST", "/render", &headers, request.to_string().as_bytes())
}

#[track_caller]
fn stored(answer: &Answer) -> Json {
    let text = String::from_utf8_lossy(&answer.bytes);
    assert_eq!(answer.status, 201, "{text}");
    let document = answer.json();
    assert_eq!(answer.header("location"), document["url"]);
    assert_eq!(answer.header("content-type"), "application/json");
    document
}

fn url(document: &Json) -> String {
    document["url"].as_str().unwrap().to_owned()
}

/// Files in the folder of results, the lock left out.
fn files(app: &TestApp) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(app.folder.path().join("results")).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    files.filter(|path| !path.ends_with(".lock")).collect()
}

#[test]
fn a_link_gives_the_document_to_everybody() {
    let app = with_key(Settings::default());
    let output = json!({"store": true, "ttlSeconds": 3600});
    let answer = store(&app, "pdf", "Ada", output);
    let document = stored(&answer);
    assert_eq!(answer.header("x-render-pages"), "1");
    assert_eq!(
        (&document["pages"], &document["fileName"]),
        (&json!(1), &json!("Größe 1.pdf"))
    );
    assert_eq!(document["contentType"], "application/pdf");
    assert!(document["expiresAt"].as_str().unwrap().ends_with('Z'));
    let url = url(&document);
    assert!(url.starts_with(&format!(
        "/results/{}/Gr%C3%B6",
        document["sha256"].as_str().unwrap()
    )));
    // Thrice: from the disk, while it is read into memory, and from there.
    for _ in 0..3 {
        let got = app.get(&url);
        assert_eq!((got.status, &got.bytes[..5]), (200, &b"%PDF-"[..]));
        assert_eq!(document["sizeBytes"], got.bytes.len());
        assert_eq!(got.header("content-type"), "application/pdf");
        assert_eq!(
            got.header("content-disposition"),
            "inline; filename=\"Gr__e 1.pdf\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%201.pdf"
        );
        assert!(
            got.header("cache-control")
                .starts_with("private, max-age=3")
        );
    }
    assert!(app.metric("platen_results_cache_bytes ") > 100.0);
    let tag = format!("\"{}\"", document["sha256"].as_str().unwrap());
    let whole = app.get(&url);
    assert_eq!(whole.header("etag"), tag);
    let part = app.send("GET", &url, &[("range", "bytes=-6")], b"");
    assert_eq!(
        (part.status, &part.bytes[..]),
        (206, &whole.bytes[whole.bytes.len() - 6..])
    );
    let known = app.send("GET", &url, &[("if-none-match", &tag)], b"");
    assert_eq!((known.status, known.bytes.len()), (304, 0));
    let head = app.send("HEAD", &url, &[], b"");
    assert_eq!((head.status, head.bytes.len()), (200, 0));
    assert_eq!(head.header("content-length"), whole.bytes.len().to_string());
}

#[test]
fn what_is_changed_in_a_link_makes_it_invalid() {
    let app = with_key(Settings::default());
    let url = url(&stored(&store(&app, "html", "Ada", json!({"store": true}))));
    let got = app.get(&url);
    assert_eq!(got.status, 200);
    assert!(got.header("content-security-policy").contains("sandbox"));
    let (place, query) = url.split_once('?').unwrap();
    let other = format!("/results/{}/a.html", "0".repeat(64));
    let expires = query
        .split('&')
        .find(|part| part.starts_with("expires="))
        .unwrap();
    for bad in [
        place.to_owned(),
        format!("{place}?expires=99999999999"),
        format!("{place}x?{query}"),
        format!("{other}?{query}"),
        format!("/results/..%2f..%2flink.key/a?{query}"),
        url.replace(expires, "expires=99999999999"),
        url.replace(expires, "expires=never"),
        url.replace("type=text%2Fhtml", "type=text%2Fplain"),
        url.replace("&expires", "&disposition=attachment&expires"),
        format!(
            "{}{}",
            &url[..url.len() - 1],
            if url.ends_with('0') { 1 } else { 0 }
        ),
    ] {
        assert_ne!(bad, url);
        app.get(&bad).problem(403, "link-invalid");
    }
    std::fs::remove_file(&files(&app)[0]).unwrap();
    app.get(&url).problem(404, "not-found result");
}

#[test]
fn links_end_and_the_sweep_takes_what_has_ended() {
    let app = with_key(Settings {
        results_sweep_seconds: Some(3_600),
        ..Settings::default()
    });
    let short = url(&stored(&store(
        &app,
        "html",
        "a",
        json!({"store": true, "ttlSeconds": 1}),
    )));
    app.wait_until(|| app.get(&short).status == 410);
    app.get(&short).problem(410, "link-expired");
    assert_eq!(files(&app).len(), 1);

    let app = with_key(Settings {
        results_sweep_seconds: Some(1),
        ..Settings::default()
    });
    let output = json!({"store": true, "ttlSeconds": 1});
    let short = url(&stored(&store(&app, "pdf", "a", output.clone())));
    let left = app.folder.path().join("results/.new-1-0000000000000000-0");
    let file = std::fs::File::create(&left).unwrap();
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(7_200);
    file.set_modified(past).unwrap();
    app.wait_until(|| files(&app).is_empty());
    app.get(&short).problem(404, "not-found result");
    app.wait_until(|| app.metric("platen_results_swept_total ") == 2.0);
    assert_eq!(app.metric("platen_results_bytes "), 0.0);
    // The same content again, whose link holds longer.
    let first = stored(&store(&app, "pdf", "a", output));
    let long = stored(&store(
        &app,
        "pdf",
        "a",
        json!({"store": true, "ttlSeconds": 60}),
    ));
    assert_eq!(first["sha256"], long["sha256"]);
    app.wait_until(|| app.get(&url(&first)).status == 410);
    let got = app.get(&url(&long));
    assert_eq!((got.status, files(&app).len()), (200, 1));
}

#[test]
fn the_same_content_is_there_once() {
    let app = with_key(Settings::default());
    let links: Vec<String> = app
        .at_once(8, |_| store(&app, "pdf", "same", json!({"store": true})))
        .iter()
        .map(|answer| stored(answer)["sha256"].as_str().unwrap().to_owned())
        .collect();
    assert!(links.iter().all(|one| *one == links[0]));
    assert_eq!(files(&app).len(), 1);
    assert_eq!(app.metric("platen_results_files "), 1.0);
    assert_eq!(app.metric("platen_results_stored_total "), 8.0);
}

#[test]
fn a_full_store_refuses_and_has_room_again_later() {
    let app = with_key(Settings {
        results_max_bytes: Some(3 * 4_096),
        results_sweep_seconds: Some(1),
        ..Settings::default()
    });
    // Of less than a block each.
    let kept = |name: &str, seconds: u64| {
        let output = json!({"store": true, "ttlSeconds": seconds});
        store(&app, "html", name, output)
    };
    let size = stored(&kept("1", 600))["sizeBytes"].as_u64().unwrap();
    assert!(size < 4_096, "{size}");
    stored(&kept("2", 600));
    stored(&kept("3", 1));
    let refused = kept("4", 600);
    if refused.status != 201 {
        refused.problem(507, "storage-full results");
        let name = "platen_results_refused_total{reason=\"storage-full\"}";
        assert_eq!(app.metric(name), 1.0);
        assert_eq!(files(&app).len(), 3);
    }
    stored(&kept("2", 600));
    let plain = json!({"definition": template("letter", "To"), "data": {"name": "x"}});
    let headers = [("x-api-key", KEY), ("content-type", "application/json")];
    let sent = app.send("POST", "/render", &headers, plain.to_string().as_bytes());
    assert_eq!(sent.status, 200);
    assert_eq!(app.metric("platen_render_slots_in_use "), 0.0);
    app.wait_until(|| kept("4", 600).status == 201);
    kept("5", 600).problem(507, "storage-full results");
}

#[test]
fn links_survive_a_restart_and_begin_with_the_public_address() {
    let mut app = with_key(Settings {
        public_url: Some("https://documents.example/base/".to_owned()),
        ..Settings::default()
    });
    let output = json!({"store": true, "ttlSeconds": 3600});
    let url = url(&stored(&store(&app, "pdf", "Ada", output)));
    let path = url.strip_prefix("https://documents.example/base").unwrap();
    let before = app.get(path).bytes;
    app.begin_stop();
    app.join();
    let folder = Arc::clone(&app.folder);
    drop(app);
    let app = TestApp::in_folder(Settings::default(), folder);
    assert_eq!(app.get(path).bytes, before);
    assert_eq!(app.metric("platen_results_files "), 1.0);
}

#[test]
fn what_cannot_be_is_said_before_the_work() {
    let app = with_key(Settings {
        results_max_ttl_seconds: Some(60),
        ..Settings::default()
    });
    for seconds in [0, 61] {
        let output = json!({"store": true, "ttlSeconds": seconds});
        let problem = store(&app, "pdf", "a", output).problem(400, "invalid-request");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("/output/ttlSeconds"), "{detail}");
    }
    store(&app, "pdf", "a", json!({"ttlSeconds": 5})).problem(400, "invalid-request");
    assert_eq!(store(&app, "pdf", "a", json!({"store": false})).status, 200);
    let request = json!({"definition": template("a", "b"), "output": {"store": true}});
    let headers = [("x-api-key", KEY), ("content-type", "application/json")];
    let bytes = request.to_string();
    let later = app.send("POST", "/render?async=true", &headers, bytes.as_bytes());
    later.problem(400, "unsupported-option");
    let off = with_key(Settings {
        results_max_bytes: Some(0),
        ..Settings::default()
    });
    store(&off, "pdf", "a", json!({"store": true})).problem(501, "backend-missing results");
    assert!(files(&off).is_empty());
}

#[test]
fn items_of_a_batch_are_stored_as_they_say() {
    let app = TestApp::start();
    let item = |output: Json| json!({"definition": template("letter", "To"), "data": {"name": "a"}, "output": output});
    let items = [
        item(json!({"store": true, "ttlSeconds": 60})),
        item(json!({"store": false})),
        item(json!({"store": true, "ttlSeconds": 0})),
    ];
    let answer = app.post("/render/batch", &json!({"items": items}));
    let results = answer.json()["results"].clone();
    let link = results[0]["stored"]["url"].as_str().unwrap();
    assert!(results[0]["contentBase64"].is_null());
    assert_eq!(app.get(link).bytes.len(), results[0]["sizeBytes"]);
    assert!(results[1]["stored"].is_null() && results[1]["contentBase64"].is_string());
    assert_eq!(results[2]["error"]["code"], "invalid-request");
    let zip = app.post(
        "/render/batch",
        &json!({"items": items, "packaging": "zip"}),
    );
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(zip.bytes)).unwrap();
    assert_eq!(
        archive.len(),
        2,
        "the document that is not stored, and the manifest"
    );
    let manifest: Json =
        serde_json::from_reader(archive.by_name("manifest.json").unwrap()).unwrap();
    assert!(manifest["results"][0]["stored"]["url"].is_string());
}

/// A PDF that Chromium prints goes to the disk as it comes.
#[test]
fn a_streamed_page_is_stored() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let picture = "<p style='page-break-after:always'>".to_owned() + &"many words ".repeat(400);
    let html = picture.repeat(60);
    let request = json!({"html": html, "output": {"store": true, "ttlSeconds": 60}});
    let document = stored(&app.post("/render/html-to-pdf", &request));
    assert!(document["pages"].as_u64().unwrap() >= 60, "{document}");
    let got = app.get(&url(&document));
    assert_eq!(document["sizeBytes"], got.bytes.len());
    assert!(got.bytes.ends_with(b"%%EOF\n") || got.bytes.ends_with(b"%%EOF"));
    let form = "--b\r\ncontent-disposition: form-data; name=\"html\"\r\n\r\n<p>form\r\n--b\r\n\
        content-disposition: form-data; name=\"output\"\r\n\r\n{\"store\": true}\r\n--b--\r\n";
    let kind = [("content-type", "multipart/form-data; boundary=b")];
    let document = stored(&app.send("POST", "/render/html-to-pdf", &kind, form.as_bytes()));
    assert_eq!(document["fileName"], "document.pdf");
    let definition = json!({"kind": "html", "key": "page", "name": "Page", "html": "<p>Hello"});
    let request = json!({"definition": definition, "output": {"store": true}});
    let document = stored(&app.post("/render", &request));
    assert_eq!(
        (&document["pages"], &document["fileName"]),
        (&json!(1), &json!("document.pdf"))
    );
}

#[test]
fn a_conversion_is_stored() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let kind = [("content-type", "application/octet-stream")];
    let path = "/convert?filename=notes.txt&store=true&ttlSeconds=60";
    let document = stored(&app.send("POST", path, &kind, b"Hello\n"));
    assert_eq!(document["fileName"], "notes.pdf");
    assert!(app.get(&url(&document)).bytes.starts_with(b"%PDF-"));
    let later = format!("{path}&async=true");
    let later = app.send("POST", &later, &kind, b"Hello\n");
    later.problem(400, "unsupported-option");
    let bad = app.send(
        "POST",
        "/convert?store=true&ttlSeconds=soon",
        &kind,
        b"Hello\n",
    );
    bad.problem(400, "invalid-option");
}
