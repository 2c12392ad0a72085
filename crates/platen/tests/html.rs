//! `platen render` with pages of HTML, as a shell runs it.

#[allow(dead_code, reason = "each test uses what it needs")]
mod waiting;

use std::{
    io::{Read, Write},
    path::Path,
    process::{Command, Output},
};

fn has_chromium() -> bool {
    let found = platen_browser::find_chromium(None);
    if let Err(error) = &found {
        let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!all, "{error}");
        println!("SKIP: {error}");
    }
    found.is_ok()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "page.html",
        "<!doctype html><link rel=stylesheet href=style.css><h1>For {{ name }}</h1>\
         {% for item in items %}<p>{{ item|currency('EUR') }}</p>{% endfor %}",
    );
    write("style.css", "h1 { color: red }");
    write("data.json", r#"{"name": "<Ann>", "items": [1, 2.5]}"#);
    folder
}

fn platen(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command.args(arguments).current_dir(folder);
    command.output().unwrap()
}

#[test]
fn a_page_beside_its_files_becomes_pdf_png_and_html() {
    if !has_chromium() {
        return;
    }
    let folder = folder();
    let arguments = [
        "render",
        "page.html",
        "data.json",
        "-o",
        "a.pdf",
        "-o",
        "a.png",
        "-o",
        "a.html",
    ];
    let output = platen(folder.path(), &arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("missing-file"), "{said}");
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("a.pdf").starts_with(b"%PDF-"));
    assert!(read("a.png").starts_with(b"\x89PNG"));
    let html = String::from_utf8(read("a.html")).unwrap();
    assert!(
        html.contains("For &lt;Ann&gt;") && html.contains("€2.50"),
        "{html}"
    );
}

#[test]
fn mistakes_and_a_missing_chromium_are_told() {
    let folder = folder();
    std::fs::write(folder.path().join("wrong.html"), "<p>\n{{ nam }}").unwrap();
    let output = platen(
        folder.path(),
        &["render", "wrong.html", "data.json", "-o", "a.html"],
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("line 2") && said.contains("did you mean `name`"),
        "{said}"
    );

    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    let arguments = ["render", "page.html", "data.json", "-o", "a.pdf"];
    let output = command
        .args(arguments)
        .current_dir(folder.path())
        .env("CHROMIUM_PATH", "/nowhere/chromium")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("not installed") && said.contains("apt-get install"),
        "{said}"
    );
}

#[test]
fn helpers_work_in_pages_too() {
    let folder = folder();
    let template = serde_json::json!({
        "kind": "html", "key": "a", "name": "A",
        "html": "<p>{{ helpers.shout(name) }}</p>{% for item in items %}<i>{{ helpers.twice(item) }}</i>{% endfor %}",
        "helpers": "export const shout = (text: string) => `<b>${text.toUpperCase()}</b>`;\n\
                    export const twice = (n: number): number => { if (n > 2) throw new RangeError('too much'); return 2 * n; };",
    });
    let write = |name: &str, value: &serde_json::Value| {
        std::fs::write(folder.path().join(name), value.to_string()).unwrap();
    };
    write("a.json", &template);
    write(
        "few.json",
        &serde_json::json!({"name": "ann", "items": [1, 2]}),
    );
    let output = platen(
        folder.path(),
        &["render", "a.json", "few.json", "-o", "a.html"],
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let html = std::fs::read_to_string(folder.path().join("a.html")).unwrap();
    assert!(
        html.contains("<p>&lt;b&gt;ANN&lt;&#x2f;b&gt;</p><i>2</i><i>4</i>"),
        "what a helper returns is text: {html}"
    );
    write(
        "many.json",
        &serde_json::json!({"name": "ann", "items": [3]}),
    );
    let output = platen(
        folder.path(),
        &["render", "a.json", "many.json", "-o", "a.html"],
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("too much") && said.contains("helper-failed"),
        "{said}"
    );
}

fn flow(steps: &serde_json::Value) -> String {
    serde_json::json!({"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "manual"}, "steps": steps})
        .to_string()
}

#[test]
fn flows_print_pages_without_scripts_and_network() {
    if !has_chromium() {
        return;
    }
    let folder = folder();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let html = format!(
        "<p>{{{{ helpers.greet(name) }}}}</p><img src='http://{address}/x.png'>\
         <script>document.body.textContent = 'ran'; fetch('http://{address}/y')</script>"
    );
    let template = serde_json::json!({
        "kind": "html", "key": "page", "name": "Page", "html": html,
        "helpers": "export const greet = (name) => `Hello, ${name}`;",
    });
    std::fs::write(folder.path().join("page.json"), template.to_string()).unwrap();
    let print = |format: &str| {
        serde_json::json!({"name": format, "type": "render", "template": "page", "format": format,
            "data": {"name": "Ada"}})
    };
    let steps = serde_json::json!([
        print("pdf"), print("png"), print("html"),
        {"name": "answer", "type": "respond", "body": {
            "pdf": "{{ steps.pdf.output['$file'].base64 }}", "png": "{{ steps.png.output['$file'].base64 }}",
            "html": "{{ steps.html.output['$file'].base64 }}"}},
    ]);
    std::fs::write(folder.path().join("flow.json"), flow(&steps)).unwrap();
    let output = platen(
        folder.path(),
        &["flow", "run", "flow.json", "--templates", ".", "--json"],
    );
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["status"], "succeeded", "{report:#}");
    let body = &report["answer"]["body"];
    let begins = |name: &str, base64: &str| {
        let found = body[name].as_str().unwrap();
        assert!(found.starts_with(base64), "{name}: {}", &found[..40]);
    };
    begins("pdf", "JVBERi0");
    begins("png", "iVBORw0KGgo");
    begins("html", "PHA+SGVsbG8sIEFkYTwvcD4");
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "there is no network");

    let answered = std::thread::spawn(move || answer_once(&listener));
    let output = Command::new(env!("CARGO_BIN_EXE_platen"))
        .args(["flow", "run", "flow.json", "--templates", "."])
        .current_dir(folder.path())
        .env("CHROMIUM_ALLOWED_HOSTS", address.to_string())
        .env("CHROMIUM_ALLOW_PRIVATE_ADDRESSES", "true")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(answered.join().unwrap().starts_with("GET /x.png"));
}

/// Answers the first request, and gives it; fails where none comes.
fn answer_once(listener: &std::net::TcpListener) -> String {
    let (mut stream, _) = waiting::wait_for(|| {
        let accepted = listener.accept();
        accepted.map_err(|error| format!("a request: {error}"))
    });
    stream.set_nonblocking(false).unwrap();
    let mut request = vec![0; 4096];
    let length = stream.read(&mut request).unwrap();
    stream
        .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .unwrap();
    String::from_utf8_lossy(&request[..length]).into_owned()
}

#[test]
fn flows_say_that_chromium_is_missing() {
    let folder = folder();
    let steps = serde_json::json!([{"name": "a", "type": "render", "data": {}, "format": "pdf",
        "definition": {"kind": "html", "key": "a", "name": "A", "html": "<p>text"},
        "retry": {"attempts": 5, "backoffMs": 10}}]);
    std::fs::write(folder.path().join("flow.json"), flow(&steps)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_platen"))
        .args(["flow", "run", "flow.json", "--json"])
        .current_dir(folder.path())
        .env("CHROMIUM_PATH", "/nowhere/chromium")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = &report["error"]["error"];
    assert_eq!(error["code"], "backend-missing", "{report:#}");
    assert_eq!(error["backend"], "chromium", "{report:#}");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("apt-get install")
    );
    assert_eq!(report["steps"].as_array().unwrap().len(), 1, "{report:#}");
}
