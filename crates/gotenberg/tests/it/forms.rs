//! Gotenberg's forms, answered by the real Chromium.

use std::{
    io::{Read, Write},
    net::TcpListener,
};

use platen_server::Settings;

use crate::{
    app::{Answer, TestApp},
    programs::is_chromium_missing,
};

/// Starts a server that answers every request alike. Returns its port.
pub(crate) fn serve(answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

/// A form: name, file name, content.
fn form(fields: &[(&str, &str, &str)]) -> String {
    let mut text = String::new();
    for (name, file, content) in fields {
        let file = if file.is_empty() {
            String::new()
        } else {
            format!("; filename=\"{file}\"")
        };
        text += &format!(
            "--b\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{content}\r\n"
        );
    }
    text + "--b--\r\n"
}

fn send(app: &TestApp, path: &str, fields: &[(&str, &str, &str)]) -> Answer {
    let headers = [
        ("content-type", "multipart/form-data; boundary=b"),
        ("gotenberg-output-filename", "mine"),
        ("gotenberg-trace", "trace-1"),
        ("accept", "application/problem+json"),
    ];
    app.send(
        "POST",
        &format!("/forms/chromium/{path}"),
        &headers,
        form(fields).as_bytes(),
    )
}

#[test]
fn convert_html_and_screenshot_html_take_gotenbergs_fields() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let page = (
        "files",
        "index.html",
        "<link rel=stylesheet href=a.css><p id=a>one</p>\
        <script>setTimeout(() => { document.body.insertAdjacentHTML('beforeend', '<p id=b>') }, 100)</script>",
    );
    let made = send(
        &app,
        "convert/html",
        &[
            page,
            ("files", "a.css", "p { color: red }"),
            ("files", "footer.html", "<span class=pageNumber></span>"),
            ("paperWidth", "", "210mm"),
            ("paperHeight", "", "11.7"),
            ("marginTop", "", "1cm"),
            ("printBackground", "", "true"),
            ("waitForSelector", "", "#b"),
            ("waitDelay", "", "50ms"),
            ("pdfa", "", ""),
        ],
    );
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    assert!(made.bytes.starts_with(b"%PDF-"));
    assert_eq!(
        made.header("content-disposition"),
        "attachment; filename=\"mine.pdf\""
    );
    assert_eq!(made.header("gotenberg-trace"), "trace-1");

    let taken = send(
        &app,
        "screenshot/html",
        &[page, ("format", "", "jpeg"), ("width", "", "200")],
    );
    assert_eq!(taken.header("content-type"), "image/jpeg");
    assert!(taken.bytes.starts_with(b"\xff\xd8"));

    send(&app, "convert/html", &[("paperWidth", "", "8.5")]).problem(400, "invalid-request");
    send(&app, "convert/html", &[page, ("paperWidth", "", "wide")]).problem(400, "invalid-request");
    send(&app, "convert/html", &[page, ("scale", "", "7")]).problem(400, "invalid-option");
    send(&app, "convert/html", &[page, ("pdfa", "", "PDF/A-9z")]).problem(400, "invalid-request");
    let embedding = send(&app, "convert/html", &[page, ("embeds", "a.xml", "<a/>")]);
    let limits = platen_pdf::Limits::default();
    let embedded = platen_pdf::read_attachments(&embedding.bytes, &limits).expect("a file");
    assert_eq!(embedded.len(), 1, "{embedded:?}");
    assert_eq!(embedded[0].bytes, b"<a/>");
    send(
        &app,
        "convert/html",
        &[page, ("failOnResourceLoadingFailed", "", "true")],
    )
    .problem(409, "resource-failed");
    let throwing = (
        "files",
        "index.html",
        "<script>throw new Error('no')</script>",
    );
    send(
        &app,
        "convert/html",
        &[throwing, ("failOnConsoleExceptions", "", "true")],
    )
    .problem(409, "page-exception");
}

#[test]
fn fields_mean_what_they_mean_to_gotenberg() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let page = (
        "files",
        "index.html",
        "<script>setTimeout(() => { window.ready = true }, 100)</script><p style=width:3000px>wide</p>",
    );
    let with = |name, value| send(&app, "convert/html", &[page, (name, "", value)]);
    for wrong in ["undefined", "1 +", "nope.nope", "(() => { throw 1 })()"] {
        with("waitForExpression", wrong).problem(400, "invalid-option");
    }
    let ready = "(async () => window.ready === true)()";
    assert_eq!(with("waitForExpression", ready).status, 200);
    assert_eq!(with("singlePage", "true").status, 200);
    // There is nothing to merge.
    assert_eq!(with("titleBookmarks", "true").status, 200);
    assert_eq!(with("optimizeImages", "true").status, 200);
    with("imageQuality", "0").problem(400, "invalid-request");
    let alone = with("facturxConformanceLevel", "EN 16931");
    alone.problem(400, "invalid-request");
    for headers in [r#"{"Host": "evil.internal"}"#, r#"{"content-length": "0"}"#] {
        with("extraHttpHeaders", headers).problem(400, "invalid-option");
    }
    let long = format!(r#"{{"X-A": "b;scope={}"}}"#, "a".repeat(1025));
    let many: Vec<String> = (0..65).map(|it| format!(r#""X-{it}": "b""#)).collect();
    let many = format!("{{{}}}", many.join(","));
    for headers in [
        r#"{"X-A": "b;scope=("}"#,
        r#"{"X-A": "b;scope="}"#,
        &long,
        &many,
    ] {
        with("extraHttpHeaders", headers).problem(400, "invalid-request");
    }
    let huge = ("files", "index.html", "<p style=width:1e9px>wide</p>");
    let single = ("singlePage", "", "true");
    send(&app, "convert/html", &[huge, single]).problem(400, "invalid-option");
}

#[test]
fn names_lose_their_folders_and_merge_takes_pdfs_only() {
    let app = TestApp::start();
    let post = |path: &str, fields: &[(&str, &str, &str)]| {
        let headers = [
            ("content-type", "multipart/form-data; boundary=b"),
            ("gotenberg-output-filename", "../../../etc/foo"),
            ("accept", "application/json"),
        ];
        app.send("POST", path, &headers, form(fields).as_bytes())
    };
    let no_pdf = [("files", "a.pdf", "a secret")];
    post("/forms/pdfengines/merge", &no_pdf).problem(400, "not-pdf");
    let definition = serde_json::json!({"definition": {"key": "a", "name": "A", "body": []}});
    let pdf = app.post("/render/pdf", &definition).bytes;
    let mut body =
        b"--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.pdf\"\r\n\r\n"
            .to_vec();
    body.extend(&pdf);
    body.extend(b"\r\n--b--\r\n");
    let headers = [
        ("content-type", "multipart/form-data; boundary=b"),
        ("gotenberg-output-filename", "../../../etc/foo"),
    ];
    let made = app.send("POST", "/forms/pdfengines/merge", &headers, &body);
    assert_eq!(made.status, 200);
    assert_eq!(
        made.header("content-disposition"),
        "attachment; filename=\"foo.pdf\""
    );
}

#[test]
fn convert_url_takes_allowed_hosts_only() {
    if is_chromium_missing() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).unwrap_or(0);
            let missing = String::from_utf8_lossy(&buffer[..count]).starts_with("GET /missing");
            let status = if missing { "404 Not Found" } else { "200 OK" };
            let body = "<p>from afar</p>";
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\
                 connection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let app = TestApp::with(Settings {
        chromium_allowed_hosts: Some(vec![format!("localhost:{port}")]),
        chromium_allow_private_addresses: Some(true),
        ..Settings::default()
    });
    let convert = |address: &str| send(&app, "convert/url", &[("url", "", address)]);
    let made = convert(&format!("http://localhost:{port}/"));
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    assert!(made.bytes.starts_with(b"%PDF-"));
    convert(&format!("http://localhost:{port}/missing")).problem(409, "page-status");
    convert(&format!("http://127.0.0.1:{port}/")).problem(403, "address-denied");
    assert!((400..500).contains(&convert("file:///etc/passwd").status));
    let taken = send(
        &app,
        "screenshot/url",
        &[("url", "", &format!("http://localhost:{port}/"))],
    );
    assert!(taken.bytes.starts_with(b"\x89PNG"));
}

#[test]
fn headers_and_cookies_go_where_they_are_meant_to() {
    if is_chromium_missing() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, heads) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).unwrap_or(0);
            let head = String::from_utf8_lossy(&buffer[..count]).to_lowercase();
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\
                  connection: close\r\n\r\n",
            );
            if sender.send(head).is_err() {
                return;
            }
        }
    });
    let app = TestApp::with(Settings {
        chromium_allowed_hosts: Some(vec![format!("localhost:{port}")]),
        chromium_allow_private_addresses: Some(true),
        ..Settings::default()
    });
    let page = format!(
        "<img src=http://localhost:{port}/logo/a.png><img src=http://localhost:{port}/b.png>"
    );
    let headers = r#"{"X-Every": "all; of them", "Authorization": "Bearer s; Scope = .*/logo/.*"}"#;
    let cookies = format!(
        r#"[{{"name": "mine", "value": "1", "domain": "localhost:{port}"}},
            {{"name": "other", "value": "2", "domain": "example.com:{port}"}},
            {{"name": "safe", "value": "3", "domain": "localhost", "secure": true}},
            {{"name": "logo", "value": "4", "domain": "localhost", "path": "/logo"}}]"#
    );
    let made = send(
        &app,
        "convert/html",
        &[
            ("files", "index.html", &page),
            ("extraHttpHeaders", "", headers),
            ("cookies", "", &cookies),
        ],
    );
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    let heads: Vec<String> = heads.try_iter().collect();
    let of = |path: &str| {
        let head = heads
            .iter()
            .find(|head| head.starts_with(&format!("get {path} ")));
        head.unwrap_or_else(|| panic!("no {path} in {heads:?}"))
    };
    for head in [of("/logo/a.png"), of("/b.png")] {
        assert!(head.contains("x-every: all; of them\r\n"), "{head}");
    }
    assert!(of("/logo/a.png").contains("cookie: mine=1; logo=4\r\n"));
    assert!(of("/b.png").contains("cookie: mine=1\r\n"));
    assert!(of("/logo/a.png").contains("authorization: bearer s\r\n"));
    assert!(!of("/b.png").contains("authorization"));
}

#[test]
fn pages_are_waited_for_emulated_and_captured_in_part() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let page = (
        "files",
        "index.html",
        "<style>body { margin: 0 } #a { width: 40px; height: 30px; background: red }\
         @media (prefers-color-scheme: dark) { #a { width: 50px } }</style><p>above</p><div id=a></div>\
         <script>setTimeout(() => { window.status = 'done' }, 100)</script>",
    );
    let size = |answer: &Answer| {
        let text = String::from_utf8_lossy(&answer.bytes);
        assert_eq!(answer.status, 200, "{text}");
        let side = |at: usize| u32::from_be_bytes(answer.bytes[at..at + 4].try_into().unwrap());
        (side(16), side(20))
    };
    let shot = |more: &[(&'static str, &'static str, &'static str)]| {
        send(&app, "screenshot/html", &[&[page], more].concat())
    };
    let element = ("selector", "", "#a");
    let status = ("waitWindowStatus", "", "done");
    assert_eq!(size(&shot(&[element, status])), (40, 30));
    let dark = r#"[{"name": "prefers-color-scheme", "value": "dark"}]"#;
    let dark = ("emulatedMediaFeatures", "", dark);
    assert_eq!(size(&shot(&[element, dark])), (50, 30));
    shot(&[("selector", "", "#none")]).problem(400, "invalid-option");
    shot(&[("selector", "", "[")]).problem(400, "invalid-option");
    shot(&[("emulatedMediaFeatures", "", "{")]).problem(400, "invalid-request");
}

#[test]
fn resources_with_a_failing_status_fail_the_form() {
    if is_chromium_missing() {
        return;
    }
    let port = serve("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let app = TestApp::with(Settings {
        chromium_allowed_hosts: Some(vec![format!("127.0.0.1:{port}")]),
        chromium_allow_private_addresses: Some(true),
        ..Settings::default()
    });
    let html = format!("<link rel=stylesheet href=http://127.0.0.1:{port}/a.css><p>one</p>");
    let page = ("files", "index.html", html.as_str());
    let fail = ("failOnResourceHttpStatusCodes", "", "[499]");
    assert_eq!(send(&app, "convert/html", &[page]).status, 200);
    send(&app, "convert/html", &[page, fail]).problem(409, "resource-failed");
    let ignored = ("ignoreResourceHttpStatusDomains", "", r#"["127.0.0.1"]"#);
    assert_eq!(
        send(&app, "convert/html", &[page, fail, ignored]).status,
        200
    );
    let other = ("failOnResourceHttpStatusCodes", "", "[500]");
    assert_eq!(send(&app, "convert/html", &[page, other]).status, 200);
}

#[test]
fn the_service_answers_as_gotenberg_does() {
    let app = TestApp::start();
    let metrics = app.get("/prometheus/metrics");
    assert_eq!(metrics.status, 200);
    let text = String::from_utf8(metrics.bytes).unwrap();
    for name in [
        "chromium_requests_queue_size",
        "chromium_restarts_count",
        "libreoffice_requests_queue_size",
        "libreoffice_restarts_count",
    ] {
        let line = format!("gotenberg_{name} 0");
        assert!(text.lines().any(|it| it == line), "{line} in {text}");
    }
    assert_eq!(app.get("/favicon.ico").status, 204);
    for path in ["/health", "/version"] {
        let mine = app.send("GET", path, &[("gotenberg-trace", "mine")], b"");
        assert_eq!(mine.header("gotenberg-trace"), "mine");
        assert!(!app.get(path).header("gotenberg-trace").is_empty());
    }
}

#[test]
fn routes_stand_below_the_root_path_and_can_be_switched_off() {
    let app = TestApp::with(Settings {
        api_root_path: Some("/convert/".to_owned()),
        chromium_disable_routes: Some(true),
        prometheus_disable_collect: Some(true),
        ..Settings::default()
    });
    for path in ["/health", "/convert/health", "/convert/version"] {
        assert_eq!(app.get(path).status, 200, "{path}");
    }
    for path in [
        "/prometheus/metrics",
        "/convert/prometheus/metrics",
        "/convert/templates",
    ] {
        assert_eq!(app.get(path).status, 404, "{path}");
    }
    let form = |path: &str| app.send("POST", path, &[], b"").status;
    assert_eq!(form("/forms/chromium/convert/html"), 404);
    assert_eq!(form("/convert/forms/chromium/convert/html"), 404);
    // The routes are there, and the form is wrong.
    assert_eq!(
        form("/forms/pdfengines/merge"),
        form("/convert/forms/pdfengines/merge")
    );
    assert_ne!(form("/convert/forms/pdfengines/merge"), 404);
}
