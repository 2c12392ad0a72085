//! Steps of flows with files, and pieces of users: by the command line, the service and a worker.

#[allow(dead_code, reason = "each test uses what it needs")]
mod waiting;

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use serde_json::{Value as Json, json};

const KEY: &str = "test-admin-key";
const TOKEN: &str = "test-worker-token";

fn repository() -> PathBuf {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    manifest.ancestors().nth(2).unwrap().to_owned()
}

fn platen() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command.current_dir(repository());
    command
}

fn flow(steps: Json) -> Json {
    json!({"kind": "flow", "key": "test", "name": "Test", "trigger": {"type": "webhook"}, "steps": steps})
}

/// Runs a flow here: what it reports.
fn run(steps: Json) -> Json {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), flow(steps).to_string()).unwrap();
    let output = platen()
        .args(["flow", "run", "--json", "--pieces", "examples/pieces"])
        .args(["--templates", "examples"])
        .arg(file.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {said}"))
}

fn page(text: &str) -> Json {
    json!({"name": text, "type": "render", "format": "pdf", "data": {},
        "definition": {"key": "a", "name": "A", "body": [{"type": "text", "content": text}]}})
}

#[test]
fn pdf_files_are_merged_split_and_described() {
    let file = "{{ steps.both.output }}";
    let report = run(json!([
        page("one"),
        page("two"),
        {"name": "both", "type": "merge", "files": ["{{ steps.one.output }}", "{{ steps.two.output }}"]},
        {"name": "named", "type": "piece", "piece": "pdf", "action": "setMetadata",
         "input": {"file": file, "metadata": {"Title": "Both"}}},
        {"name": "about", "type": "piece", "piece": "pdf", "action": "metadata",
         "input": {"file": "{{ steps.named.output }}"}},
        {"name": "parts", "type": "piece", "piece": "pdf", "action": "split",
         "input": {"file": file, "every": 1}},
        {"name": "flat", "type": "piece", "piece": "pdf", "action": "flatten",
         "input": {"file": "{{ steps.parts.output[1] }}"}},
        {"name": "changed", "type": "piece", "piece": "pdf", "action": "change",
         "input": {"files": ["{{ steps.one.output }}", "{{ steps.two.output }}"],
                   "operations": [{"do": "merge"}, {"do": "stamp", "text": "Draft"},
                                  {"do": "bookmarks", "bookmarks": [{"title": "T", "page": 2}]}]}},
        {"name": "described", "type": "piece", "piece": "pdf", "action": "metadata",
         "input": {"file": "{{ steps.changed.output }}"}},
        {"name": "one_more", "type": "piece", "piece": "render", "action": "render",
         "input": {"template": "bench-invoice", "format": "csv",
                   "data": {"invoiceNumber": "1", "customerName": "Ada", "items": []}}},
        {"name": "answer", "type": "respond", "body": {
            "pages": "{{ steps.about.output.pages }}", "title": "{{ steps.about.output.metadata.Title }}",
            "parts": "{{ steps.parts.output|length }}", "flat": "{{ steps.flat.output['$file'].name }}",
            "marks": "{{ steps.described.output.bookmarks }}",
            "csv": "{{ steps.one_more.output['$file'].mediaType }}"}},
    ]));
    let expected = json!({"pages": 2, "title": "Both", "parts": 2, "flat": "merged-2.pdf",
        "marks": [{"title": "T", "page": 2}], "csv": "text/csv; charset=utf-8"});
    assert_eq!(report["answer"]["body"], expected, "{report}");
}

#[test]
fn what_is_no_file_is_refused() {
    for steps in [
        json!([{"name": "a", "type": "merge", "files": ["text"]}]),
        json!([{"name": "a", "type": "piece", "piece": "pdf", "action": "flatten", "input": {"file": 7}}]),
    ] {
        let report = run(steps);
        assert_eq!(
            report["error"]["error"]["code"], "invalid-input",
            "{report}"
        );
    }
    let report = run(
        json!([{"name": "a", "type": "piece", "piece": "email", "action": "send",
        "input": {"to": "ada@example.com", "text": "x"}}]),
    );
    assert_eq!(
        report["error"]["error"]["code"], "backend-missing",
        "{report}"
    );
    assert_eq!(report["error"]["error"]["backend"], "mail", "{report}");
}

#[test]
fn office_files_are_converted() {
    if platen_office::find_libreoffice(None).is_err() {
        let required = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "LibreOffice is not installed");
        println!("SKIP: LibreOffice is not installed");
        return;
    }
    let report = run(json!([
        {"name": "csv", "type": "render", "format": "docx", "data": {},
         "definition": {"key": "a", "name": "A", "body": [{"type": "text", "content": "Hello"}]}},
        {"name": "pdf", "type": "convert", "file": "{{ steps.csv.output }}", "to": "pdf"},
        {"name": "about", "type": "piece", "piece": "pdf", "action": "metadata",
         "input": {"file": "{{ steps.pdf.output }}"}},
        {"name": "answer", "type": "respond", "body": "{{ steps.about.output.pages }}"},
    ]));
    assert_eq!(report["answer"]["body"], 1, "{report}");
}

#[test]
fn pieces_of_a_folder_check_their_input() {
    let greet = |input: Json| {
        let piece = "greeter@1.0.0";
        run(
            json!([{"name": "a", "type": "piece", "piece": piece, "action": "greet", "input": input}]),
        )
    };
    let report = greet(json!({"name": "Ada"}));
    assert_eq!(report["output"], "Hello, Ada", "{report}");
    assert_eq!(
        report["steps"][0]["log"][0]["text"], "greeting Ada",
        "{report}"
    );
    let report = greet(json!({"name": ""}));
    assert_eq!(
        report["error"]["error"]["code"], "invalid-input",
        "{report}"
    );
    let report = run(
        json!([{"name": "a", "type": "piece", "piece": "greeter@2.0.0", "action": "greet", "input": {}}]),
    );
    assert_eq!(
        report["error"]["error"]["code"], "backend-unavailable",
        "{report}"
    );
    assert_eq!(report["error"]["error"]["backend"], "pieces", "{report}");
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Service {
    _process: Process,
    url: String,
    agent: ureq::Agent,
    folder: tempfile::TempDir,
}

impl Service {
    fn start(slots: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = platen()
            .args(["serve", "--bind", "127.0.0.1:0", "--log-format", "json"])
            .arg("--data-dir")
            .arg(folder.path().join("data"))
            .env("API_KEY_ADMIN", KEY)
            .env("WORKER_TOKEN", TOKEN)
            .env("FLOW_SLOTS", slots)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line: Json = serde_json::from_str(&line.unwrap()).unwrap();
            line["address"].as_str().map(str::to_owned)
        });
        std::thread::spawn(move || lines.for_each(drop));
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .into();
        let service = Self {
            _process: Process(process),
            url: format!("http://{}", address.unwrap()),
            agent,
            folder,
        };
        waiting::wait_until("the service is ready", || {
            service.send("GET", "/health/ready", &[], b"").0 == 200
        });
        service
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> (u16, Vec<u8>) {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("x-api-key", KEY);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let sent = match method {
            "GET" | "DELETE" => self.agent.run(request.body(()).unwrap()),
            _ => self.agent.run(request.body(body).unwrap()),
        };
        let mut answer = sent.unwrap();
        let bytes = answer.body_mut().read_to_vec().unwrap();
        (answer.status().as_u16(), bytes)
    }

    #[track_caller]
    fn json(&self, method: &str, path: &str, body: &Json, status: u16) -> Json {
        let headers = [("content-type", "application/json")];
        let (found, bytes) = self.send(method, path, &headers, body.to_string().as_bytes());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(found, status, "{text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Stores the example, and a flow that greets with it.
    fn with_greeter(&self) {
        let archive = greeter();
        let zip = [("content-type", "application/zip")];
        let place = "/pieces/greeter/1.0.0";
        assert_eq!(self.send("PUT", place, &zip, &archive).0, 201);
        let steps = json!([
            {"name": "greet", "type": "piece", "piece": "greeter@1.0.0", "action": "greet",
             "input": {"name": "{{ trigger.body.name }}"}},
            {"name": "answer", "type": "respond", "body": {"said": "{{ steps.greet.output }}"}},
        ]);
        self.json("POST", "/flows", &flow(steps), 201);
        self.json(
            "POST",
            "/flows/test/publication",
            &json!({"version": 1}),
            200,
        );
    }

    #[track_caller]
    fn greeting(&self) {
        let said = self.json("POST", "/webhooks/test/sync", &json!({"name": "Ada"}), 200);
        assert_eq!(said, json!({"said": "Hello, Ada"}));
    }
}

fn greeter() -> Vec<u8> {
    platen_runs::execution::pack(&repository().join("examples/pieces/greeter")).unwrap()
}

#[test]
fn pieces_are_stored_and_run_by_the_service() {
    let service = Service::start("2");
    service.with_greeter();
    service.greeting();
    let (archive, zip) = (greeter(), [("content-type", "application/zip")]);
    let place = "/pieces/greeter/1.0.0";
    assert_eq!(service.send("PUT", place, &zip, &archive).0, 200, "again");
    assert_eq!(service.send("GET", place, &[], b""), (200, archive.clone()));
    assert_eq!(
        service
            .send("PUT", "/pieces/greeter/1.0.1", &zip, &archive)
            .0,
        422
    );
    assert_eq!(service.send("PUT", place, &zip, b"no archive").0, 422);
    assert_eq!(service.send("PUT", place, &zip, &vec![0; 3 << 20]).0, 413);
    let list = service.json("GET", "/pieces", &Json::Null, 200);
    assert_eq!(list["items"][0]["name"], "greeter");
    let digest = list["items"][0]["digest"].as_str().unwrap();
    let forged = format!("/pieces/archives/{digest}?expires=9999999999&signature=00");
    assert_eq!(service.send("GET", &forged, &[], b"").0, 403);
    let link = "/pieces/greeter/1.0.0/link";
    assert_eq!(service.send("GET", link, &[], b"").0, 401, "workers only");
    assert_eq!(service.send("DELETE", place, &[], b"").0, 204);
    assert_eq!(service.send("GET", place, &[], b"").0, 404);
}

#[test]
fn workers_fetch_pieces_by_signed_links() {
    let service = Service::start("0");
    let cache = service.folder.path().join("cache");
    let worker = platen()
        .args(["worker", "--app", &service.url, "--slots", "1"])
        .arg("--cache-dir")
        .arg(&cache)
        .env("WORKER_TOKEN", TOKEN)
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let _worker = Process(worker);
    service.with_greeter();
    service.greeting();
    let kept: Vec<_> = std::fs::read_dir(&cache).unwrap().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
}

#[test]
fn long_code_is_compiled_when_it_is_stored() {
    let service = Service::start("2");
    let filler: String = (0..900)
        .map(|number| format!("function f{number}(a) {{ return a + {number}; }}\n"))
        .collect();
    let compiled = || {
        let text = String::from_utf8(service.send("GET", "/metrics", &[], b"").1).unwrap();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("platen_code_compiled_ahead_total "));
        line.unwrap().parse::<u32>().unwrap()
    };
    let source = |number: u32| format!("{filler}export default () => `n${{f{number}(1)}}`;");
    let steps = |number| {
        json!([
            {"name": "long", "type": "code", "source": source(number)},
            {"name": "greet", "type": "piece", "piece": "greeter@1.0.0", "action": "greet",
             "input": {"name": "{{ steps.long.output }}"}},
            {"name": "answer", "type": "respond", "body": "{{ steps.greet.output }}"},
        ])
    };
    service.json("POST", "/flows", &flow(steps(1)), 201);
    assert_eq!(compiled(), 1, "a draft");
    let (status, _) = service.send(
        "PUT",
        "/flows/test",
        &[("content-type", "application/json"), ("if-match", "\"1\"")],
        flow(steps(2)).to_string().as_bytes(),
    );
    assert_eq!((status, compiled()), (200, 2), "another version");
    let folder = service.folder.path().join("greeter");
    let example = repository().join("examples/pieces/greeter");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(example.join("piece.json"), folder.join("piece.json")).unwrap();
    let bundle = std::fs::read_to_string(example.join("bundle.js")).unwrap();
    std::fs::write(folder.join("bundle.js"), format!("{filler}{bundle}")).unwrap();
    let archive = platen_runs::execution::pack(&folder).unwrap();
    let zip = [("content-type", "application/zip")];
    let put = || service.send("PUT", "/pieces/greeter/1.0.0", &zip, &archive);
    assert_eq!((put().0, compiled()), (201, 3), "a piece");
    assert_eq!((put().0, compiled()), (200, 3), "the same piece");
    let version = json!({"version": 2});
    service.json("POST", "/flows/test/publication", &version, 200);
    assert_eq!(compiled(), 3, "there is nothing left to compile");
    let said = service.send("POST", "/webhooks/test/sync", &[], b"").1;
    assert_eq!(said, b"Hello, n3");
    assert_eq!(compiled(), 3);
}
