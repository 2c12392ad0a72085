//! `platen serve` whose documents are made in sandboxes.

#[allow(dead_code, reason = "each test uses what it needs")]
mod waiting;

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc,
};

use serde_json::{Value as Json, json};

struct Service {
    process: Child,
    url: String,
    agent: ureq::Agent,
    /// What the log said until it listened.
    log: Vec<Json>,
    /// What it said since.
    later: mpsc::Receiver<Json>,
    _folder: tempfile::TempDir,
}

impl Service {
    fn start(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_platen"))
            .env_clear()
            .args(["serve", "--bind", "127.0.0.1:0", "--log-format", "json"])
            .arg("--data-dir")
            .arg(folder.path())
            .env("PLATEN_SYSTEM_FONTS", "false")
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut log: Vec<Json> = Vec::new();
        let address = lines.find_map(|line| {
            let line: Json = serde_json::from_str(&line.unwrap()).unwrap();
            let address = line["address"].as_str().map(str::to_owned);
            log.push(line);
            address
        });
        let (sender, later) = mpsc::channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // Nobody may listen any more; the pipe is read all the same.
                let _ = sender.send(serde_json::from_str(&line).unwrap_or_default());
            }
        });
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .into();
        let service = Self {
            process,
            url: format!("http://{}", address.unwrap()),
            agent,
            log,
            later,
            _folder: folder,
        };
        waiting::wait_for(|| {
            let (status, health) = service.get("/health/ready");
            let health: Json = serde_json::from_slice(&health).unwrap();
            match status == 200 && health["sandbox"]["level"].is_string() {
                true => Ok(()),
                false => Err(format!("ready with a sandbox: {health}")),
            }
        });
        service
    }

    fn get(&self, path: &str) -> (u16, Vec<u8>) {
        let mut answer = self
            .agent
            .get(format!("{}{path}", self.url))
            .call()
            .unwrap();
        let bytes = answer.body_mut().read_to_vec().unwrap();
        (answer.status().as_u16(), bytes)
    }

    /// Status, `Server-Timing` and body.
    fn render(&self, request: &Json) -> (u16, String, Vec<u8>) {
        let mut answer = self
            .agent
            .post(format!("{}/render", self.url))
            .header("content-type", "application/json")
            .send(&request.to_string())
            .unwrap();
        let timing = answer.headers().get("server-timing");
        let timing = timing
            .map_or("", |value| value.to_str().unwrap())
            .to_owned();
        let bytes = answer
            .body_mut()
            .with_config()
            .limit(1 << 30)
            .read_to_vec()
            .unwrap();
        (answer.status().as_u16(), timing, bytes)
    }

    #[track_caller]
    fn problem(&self, request: &Json, status: u16, code: &str) -> Json {
        let (found, _, bytes) = self.render(request);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(found, status, "{text}");
        let problem: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(problem["code"], code, "{text}");
        problem
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn long(rows: usize) -> Json {
    let rows: Vec<Json> = (0..rows).map(|number| json!({"a": number})).collect();
    json!({
        "definition": {"key": "long", "name": "Long", "body": [{"type": "table", "rows": "rows",
            "columns": [{"key": "a", "header": "A", "value": "{{ item.a }}"}]}]},
        "data": {"rows": rows},
    })
}

#[test]
fn documents_are_the_same_from_sandboxes() {
    let jailed = Service::start(&[("RENDER_ISOLATION", "jail")]);
    let inline = Service::start(&[("RENDER_ISOLATION", "inline")]);
    let said = jailed.log.iter().any(|line| {
        line["message"] == "documents render in sandboxes" && line["sandbox"].is_string()
    });
    assert!(said, "{:?}", jailed.log);
    let mut request = long(40);
    request["options"] = json!({"locale": "de-DE"});
    for format in ["html", "csv", "svg"] {
        request["format"] = json!(format);
        let (status, timing, inside) = jailed.render(&request);
        assert_eq!(status, 200);
        assert!(
            timing.contains("sandbox") && timing.contains("bind"),
            "{timing}"
        );
        let (status, timing, outside) = inline.render(&request);
        assert_eq!(status, 200);
        assert!(!timing.contains("sandbox"), "{timing}");
        assert!(inside == outside, "{format}");
    }
    let helpers = "export const twice = (text: string): string => text + text;";
    let helped = json!({"format": "html", "data": {"x": "ab"}, "definition": {"key": "a", "name": "A",
        "helpers": helpers, "body": [{"type": "text", "content": "{{ helpers.twice(x) }}"}]}});
    let (status, _, inside) = jailed.render(&helped);
    assert_eq!(status, 200);
    assert!(String::from_utf8_lossy(&inside).contains("abab"));
    assert!(inline.render(&helped).2 == inside);
    let mistaken = json!({"definition": {"key": "a", "name": "A", "body": [
        {"type": "text", "content": "{{ x | nope }}"}, {"type": "txt"}]}});
    let inside = jailed.problem(&mistaken, 422, "invalid-template");
    let outside = inline.problem(&mistaken, 422, "invalid-template");
    assert_eq!(inside["diagnostics"], outside["diagnostics"]);
    let (_, metrics) = jailed.get("/metrics");
    let metrics = String::from_utf8(metrics).unwrap();
    let stage = "platen_render_stage_duration_seconds_count{stage=\"sandbox\"}";
    assert!(metrics.contains(stage), "{metrics}");
}

#[test]
fn what_reaches_a_bound_is_said_and_the_next_is_clean() {
    let service = Service::start(&[
        ("RENDER_ISOLATION", "jail"),
        ("RENDER_MEMORY_BYTES", "40000000"),
        ("RENDER_MAX_OUTPUT_BYTES", "150000"),
    ]);
    let problem = service.problem(&long(300_000), 422, "memory-limit");
    let facts = (&problem["stage"], &problem["limit"]);
    assert_eq!(facts, (&json!("render"), &json!(40_000_000)));
    let problem = service.problem(&long(10_000), 422, "too-large");
    let facts = (&problem["what"], &problem["limit"]);
    assert_eq!(facts, (&json!("result"), &json!(150_000)));
    assert_eq!(service.render(&long(3)).0, 200);
    let slow = Service::start(&[("RENDER_ISOLATION", "jail"), ("RENDER_CPU_MS", "1000")]);
    slow.problem(&long(300_000), 422, "cpu-limit");
    assert_eq!(slow.render(&long(3)).0, 200);
}

#[test]
fn an_option_that_the_format_cannot_carry_is_told_in_every_channel() {
    let mut request = long(1);
    request["format"] = json!("csv");
    request["options"] = json!({"dpi": 72});
    let mut answers = Vec::new();
    for isolation in ["jail", "inline"] {
        let service = Service::start(&[("RENDER_ISOLATION", isolation)]);
        assert_eq!(service.render(&request).0, 200);
        // The line of the request; it ends when the service does, so nothing waits for a clock.
        let line = service.later.iter().find(|line| line["path"] == "/render");
        let line = line.expect("a line of the log");
        assert_eq!(line["warnings"], 1, "{line}");
        answers.push(line["format"].clone());
    }
    assert_eq!(answers, ["csv", "csv"]);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, value: &Json| {
        let path = folder.path().join(name);
        std::fs::write(&path, value.to_string()).unwrap();
        path
    };
    let template = file("long.json", &request["definition"]);
    let data = file("data.json", &request["data"]);
    for isolation in ["jail", "inline"] {
        let platen = |format: &[&str]| {
            let output = Command::new(env!("CARGO_BIN_EXE_platen"))
                .arg("render")
                .args([&template, &data])
                .args(["--no-system-fonts", "--dpi", "72", "--isolation", isolation])
                .arg("-o")
                .arg(folder.path().join("long.csv"))
                .args(format)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            (output.stdout, String::from_utf8(output.stderr).unwrap())
        };
        let (_, said) = platen(&[]);
        assert!(said.contains("csv: warning[unused-option]"), "{said}");
        let (report, _) = platen(&["--json"]);
        let report: Json = serde_json::from_slice(&report).unwrap();
        let warnings = &report["outputs"][0]["warnings"];
        assert_eq!(warnings[0]["path"], "/options/dpi", "{report}");
        // The picture carries it, so the table beside it needs not.
        let picture = folder.path().join("long.png");
        let (_, said) = platen(&["-o", picture.to_str().unwrap()]);
        assert!(!said.contains("unused-option"), "{said}");
    }
}
