//! `platen flow` as a user runs it.

use std::{
    io::{Read, Write},
    net::TcpListener,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::{Value, json};

fn repository() -> PathBuf {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    manifest.ancestors().nth(2).expect("a root").to_owned()
}

fn platen(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_platen"))
        .current_dir(repository())
        .args(arguments)
        .output()
        .expect("platen runs")
}

fn report(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {said}"))
}

fn written(flow: &Value) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), flow.to_string()).expect("it can be written");
    file
}

fn run(flow: &Value, more: &[&str]) -> (i32, Value) {
    let file = written(flow);
    let path = file.path().display().to_string();
    let output = platen(&[&["flow", "run", &path, "--json"], more].concat());
    (output.status.code().expect("a code"), report(&output))
}

fn flow(steps: Value) -> Value {
    json!({"kind": "flow", "key": "test", "name": "Test", "trigger": {"type": "manual"}, "steps": steps})
}

#[test]
fn steps_read_and_change_pdf_files() {
    let page = json!({"key": "page", "name": "Page", "body": [
        {"type": "text", "content": "Hello"},
        {"type": "formField", "name": "who", "kind": "text", "label": "Who"},
    ]});
    let piece = |name: &str, action: &str, input: Value| {
        json!({
            "name": name, "type": "piece", "piece": "pdf", "action": action, "input": input,
        })
    };
    let operations = json!([{"do": "fill", "values": {"who": "Ada"}}, {"do": "optimize"}]);
    let flow = flow(json!([
        {"name": "made", "type": "render", "definition": page, "format": "pdf"},
        piece("changed", "change", json!({"file": "{{ steps.made.output }}", "operations": operations})),
        piece("about", "metadata", json!({"file": "{{ steps.changed.output }}"})),
        piece("read", "text", json!({"file": "{{ steps.changed.output }}"})),
        piece("seen", "images", json!({"file": "{{ steps.changed.output }}"})),
        piece("drawn", "pages", json!({"file": "{{ steps.changed.output }}", "dpi": 50})),
        {"name": "out", "type": "respond", "body": {
            "drawn": "{{ steps.drawn.output.files }}",
            "fields": "{{ steps.about.output.fields }}", "pages": "{{ steps.read.output.pages }}",
            "files": "{{ steps.seen.output.files }}",
        }},
    ]));
    let (code, report) = run(&flow, &[]);
    assert_eq!(code, 0, "{report}");
    let body = &report["answer"]["body"];
    assert_eq!(body["fields"][0]["value"], "Ada", "{report}");
    let text = body["pages"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("Hello"), "{report}");
    assert_eq!(body["files"], json!([]));
    assert_eq!(
        body["drawn"][0]["$file"]["mediaType"], "image/png",
        "{report}"
    );
}

#[test]
fn the_examples_run() {
    let output = platen(&["flow", "run", "examples/flows/sum.json", "--json"]);
    let report = report(&output);
    assert_eq!(report["answer"]["body"], json!({"result": 6}), "{report}");
    let output = platen(&[
        "flow",
        "run",
        "examples/flows/invoices.json",
        "--json",
        "--input",
        "examples/flows/orders.json",
        "--templates",
        "examples",
    ]);
    let report = self::report(&output);
    let answer = json!({"orders": 3, "size": "MANY", "invoices": 3});
    assert_eq!(report["answer"]["body"], answer, "{report}");
    let log: Vec<&Value> = report["steps"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|step| step["log"].as_array().into_iter().flatten())
        .collect();
    assert_eq!(log.len(), 3, "{report}");
    for name in ["sum", "invoices"] {
        let output = platen(&["flow", "validate", &format!("examples/flows/{name}.json")]);
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn a_rendered_file_is_a_value() {
    let definition =
        json!({"key": "a", "name": "A", "body": [{"type": "text", "content": "{{ word }}"}]});
    let (code, report) = run(
        &flow(json!([
            {"name": "doc", "type": "render", "definition": definition, "data": {"word": "hello"}, "format": "csv"},
            {"name": "pdf", "type": "render", "definition": definition, "data": {"word": "hello"}, "format": "pdf"},
        ])),
        &[],
    );
    // A text is no table, so there is no CSV of it: the step says so.
    assert_eq!(
        (code, &report["error"]["path"]),
        (1, &json!("doc")),
        "{report}"
    );
    let (code, report) = run(
        &flow(json!([
            {"name": "pdf", "type": "render", "definition": definition, "data": {"word": "hello"}, "format": "pdf"},
        ])),
        &[],
    );
    assert_eq!(code, 0, "{report}");
    let file = &report["output"]["$file"];
    assert_eq!(file["mediaType"], json!("application/pdf"));
    assert!(
        file["base64"]
            .as_str()
            .is_some_and(|text| text.starts_with("JVBERi0"))
    );
    let made = tempfile::NamedTempFile::new().expect("a file");
    let (code, _) = run(
        &flow(json!([
            {"name": "pdf", "type": "render", "definition": definition, "data": {"word": "hello"}, "format": "pdf"},
        ])),
        &["--output", &made.path().display().to_string()],
    );
    assert_eq!(code, 0);
    assert!(std::fs::read(made.path()).is_ok_and(|bytes| bytes.starts_with(b"%PDF-")));
}

#[test]
fn documents_find_their_assets() {
    let folder = tempfile::tempdir().expect("a folder");
    let dot =
        b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
    std::fs::write(folder.path().join("dot.gif"), dot).expect("it can be written");
    let definition = json!({"key": "a", "name": "A",
        "body": [{"type": "image", "source": "dot.gif", "alt": ""}]});
    let flow = flow(
        json!([{"name": "doc", "type": "render", "definition": definition, "format": "html"}]),
    );
    let (code, report) = run(&flow, &["--assets", &folder.path().display().to_string()]);
    assert_eq!(code, 0, "{report}");
    let (code, report) = run(&flow, &[]);
    assert_eq!(code, 1, "{report}");
    let error = report["error"].to_string();
    assert!(error.contains("dot.gif"), "{report}");
}

#[test]
fn failures_name_the_step_and_the_line() {
    let (code, report) = run(
        &flow(json!([
            {"name": "bad", "type": "code", "language": "ts", "source": "type A = number;\nexport default (input: A) => {\n  return (undefined as any).x;\n};", "retry": {"attempts": 2, "backoffMs": 1}},
        ])),
        &[],
    );
    assert_eq!(code, 1);
    assert_eq!(report["error"]["error"]["code"], json!("code-thrown"));
    let message = report["error"]["error"]["message"]
        .as_str()
        .expect("a message");
    assert!(message.contains("bad.ts:3:"), "{message}");
    assert_eq!(
        report["steps"].as_array().map(Vec::len),
        Some(2),
        "it is tried twice"
    );
    let (_, report) = run(
        &flow(json!([
            {"name": "spin", "type": "code", "source": "export default () => { for (;;); }", "timeoutMs": 300},
        ])),
        &[],
    );
    assert_eq!(report["error"]["error"]["stage"], "code", "{report}");
    // Whichever is used up first on a busy machine.
    let code = report["error"]["error"]["code"]
        .as_str()
        .unwrap_or_default();
    assert!(["cpu-limit", "timeout"].contains(&code), "{report}");
}

#[test]
fn requests_reach_allowed_hosts_only() {
    let step = json!([{"name": "get", "type": "http", "url": "http://127.0.0.1:9/"}]);
    let (_, report) = run(&flow(step.clone()), &[]);
    let message = report["error"]["error"]["message"].to_string();
    assert!(message.contains("allow-list"), "{message}");
    assert_eq!(
        report["error"]["error"]["code"], "address-denied",
        "{report}"
    );
    let (_, report) = run(&flow(step), &["--allow-host", "127.0.0.1:9"]);
    assert_eq!(
        report["error"]["error"]["code"],
        json!("request-failed"),
        "{report}"
    );
    let (_, report) = run(
        &flow(json!([
            {"name": "code", "type": "code", "source": "export default (i, ctx) => ctx.fetch('http://127.0.0.1:9/')"},
        ])),
        &[],
    );
    let message = report["error"]["error"]["message"].to_string();
    assert!(message.contains("allow-list"), "{message}");
}

/// A host that gives these answers one after the other, as JSON. Returns its address.
fn host(answers: [&'static str; 2]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut head = Vec::<u8>::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0_u8];
                stream.read_exact(&mut byte).expect("a request");
                head.extend(byte);
            }
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
                 Connection: close\r\n\r\n{answer}",
                answer.len()
            );
            stream.write_all(answer.as_bytes()).expect("a reader");
        }
    });
    address
}

#[test]
fn code_gets_answers_as_they_came() {
    let host = host(["\"abc\"", "1.10"]);
    let source = "export default async (url, ctx) => {
        const one = await ctx.fetch(url);
        const two = await ctx.fetch(url);
        return [await one.text(), await one.json(), await two.text(), await two.json()];
    };";
    let step = json!({"name": "code", "type": "code", "source": source,
        "input": format!("http://{host}/")});
    let more = ["--allow-host", host.as_str(), "--allow-private-addresses"];
    let (code, report) = run(&flow(json!([step])), &more);
    let expected = json!(["\"abc\"", "abc", "1.10", 1.1]);
    assert_eq!((code, &report["output"]), (0, &expected), "{report}");
}

#[test]
fn waits_and_stores_work_here() {
    let (code, report) = run(
        &flow(json!([
            {"name": "put", "type": "store", "operation": "put", "key": "k", "value": {"n": 1}},
            {"name": "nap", "type": "wait", "delayMs": 30},
            {"name": "get", "type": "code", "source": "export default async (i, ctx) => { await ctx.store.put('l', 2); return [await ctx.store.get('k'), await ctx.store.get('l')] }"},
        ])),
        &[],
    );
    assert_eq!(
        (code, &report["output"]),
        (0, &json!([{"n": 1}, 2])),
        "{report}"
    );
    let (_, report) = run(
        &flow(json!([{"name": "call", "type": "wait", "callback": true}])),
        &[],
    );
    assert_eq!(
        report["error"]["error"]["code"],
        json!("invalid-input"),
        "{report}"
    );
}

#[test]
fn deterministic_code_gives_the_same() {
    let source = "export default async () => {
        const first = [Math.random(), Math.random(), Date.now(), new Date().toISOString()];
        for (let end = 0; end < 1e6; end += 1);
        return [...first, Date.now()];
    };";
    let code = |name: &str, deterministic: Value| json!({"name": name, "type": "code", "source": source, "deterministic": deterministic});
    let fixed = json!({"seed": 7, "now": "2026-11-21T14:30:00Z"});
    let steps = json!([
        code("fixed", fixed.clone()), code("again", fixed), code("own", json!(true)),
        code("other", json!(true)), code("free", json!(false)),
        {"name": "all", "type": "respond", "body": ["{{ steps.fixed.output }}",
            "{{ steps.again.output }}", "{{ steps.own.output }}", "{{ steps.other.output }}"]},
    ]);
    let (code_of_exit, report) = run(&flow(steps), &[]);
    assert_eq!(code_of_exit, 0, "{report}");
    let given = &report["answer"]["body"];
    let now = 1_795_271_400_000_u64;
    let iso = json!("2026-11-21T14:30:00.000Z");
    assert_eq!(
        (&given[0][2], &given[0][3], &given[0][4]),
        (&json!(now), &iso, &json!(now))
    );
    assert_ne!(given[0][0], given[0][1]);
    assert_eq!(given[0], given[1]);
    // Of the run: the same clock for its steps, and each has chance of its own.
    assert_eq!(given[2][2], given[3][2]);
    assert_ne!(given[2][0], given[3][0]);
    let wrong = flow(json!([code("a", json!({"seed": 7, "now": "noon"}))]));
    let file = written(&wrong);
    let output = platen(&["flow", "validate", &file.path().display().to_string()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = said + &String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("/steps/0/deterministic/now"), "{said}");
}

#[test]
fn mistakes_are_told_without_running() {
    let wrong = flow(json!([
        {"name": "a b", "type": "wait"},
        {"name": "code", "type": "code", "source": "export default () => {\n  const = 1;\n}"},
    ]));
    let file = written(&wrong);
    let output = platen(&[
        "flow",
        "validate",
        &file.path().display().to_string(),
        "--json",
    ]);
    let report = report(&output);
    assert_eq!(report["valid"], json!(false));
    let codes: Vec<&str> = report["diagnostics"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one["code"].as_str())
        .collect();
    for code in ["invalid-name", "invalid-wait", "code-syntax"] {
        assert!(codes.contains(&code), "{code} is not among {codes:?}");
    }
    let schema = platen(&["flow", "schema"]);
    assert!(String::from_utf8_lossy(&schema.stdout).contains("\"steps\""));
}
