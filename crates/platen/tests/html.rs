//! `platen render` with pages of HTML, as a shell runs it.

use std::{
    path::Path,
    process::{Command, Output},
};

fn has_chromium() -> bool {
    let found = platen_engine::browser::find_chromium(None);
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
