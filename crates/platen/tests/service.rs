//! `platen serve`, `platen templates` and `platen pieces`, as a shell runs them.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Command, Output, Stdio},
};

const KEY: &str = "test-admin-key";

/// A service as a process of its own.
struct Service {
    process: Child,
    url: String,
    folder: tempfile::TempDir,
}

fn platen() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command.env_clear();
    command
}

impl Service {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = platen()
            .args(["serve", "--bind", "127.0.0.1:0", "--log-format", "json"])
            .arg("--data-dir")
            .arg(folder.path().join("data"))
            .env("API_KEY_ADMIN", KEY)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
            line["address"].as_str().map(str::to_owned)
        });
        // Whoever reads the log must go on reading.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            process,
            url: format!("http://{}", address.unwrap()),
            folder,
        }
    }

    fn templates(&self, arguments: &[&str]) -> Output {
        self.ask("templates", arguments)
    }

    fn pieces(&self, arguments: &[&str]) -> Output {
        self.ask("pieces", arguments)
    }

    fn ask(&self, command: &str, arguments: &[&str]) -> Output {
        platen()
            .arg(command)
            .args(arguments)
            .env("PLATEN_URL", &self.url)
            .env("PLATEN_API_KEY", KEY)
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[track_caller]
fn stdout(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn templates_are_pushed_pulled_and_listed() {
    let service = Service::start();
    let file = service.folder.path().join("offer.json");
    let write = |text: &str| {
        let template = format!(
            r#"{{"key": "offer", "name": "Offer", "body": [{{"type": "text", "content": "{text}"}}]}}"#
        );
        std::fs::write(&file, &template).unwrap();
        template
    };
    let first = write("one");
    stdout(&service.templates(&["push", "offer.json"]));
    let second = write("two");
    stdout(&service.templates(&["push", "offer.json", "--note", "größer"]));
    assert_eq!(
        stdout(&service.templates(&["pull", "offer"])).trim(),
        second
    );
    stdout(&service.templates(&["pull", "offer", "--version", "1", "-o", "old.json"]));
    let old = std::fs::read_to_string(service.folder.path().join("old.json")).unwrap();
    assert_eq!(old, first);
    let history = stdout(&service.templates(&["history", "offer"]));
    assert!(
        history.lines().next().unwrap().ends_with("größer"),
        "{history}"
    );
    assert!(stdout(&service.templates(&["list"])).starts_with("offer "));
    write("{{ x | nope }}");
    let refused = service.templates(&["push", "offer.json"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nope"));
    let unknown = service.templates(&["pull", "none", "--api-key", "wrong-key"]);
    let text = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(text.contains("401") && text.contains("hint: "), "{text}");
}

#[track_caller]
fn refused(output: &Output, words: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    for word in words {
        assert!(text.contains(word), "{word}: {text}");
    }
}

/// Writes a piece into `greeter` in the folder of the service.
fn write_piece(service: &Service, version: &str, action: &str, code: &str) {
    let folder = service.folder.path().join("greeter");
    std::fs::create_dir_all(&folder).unwrap();
    let manifest = format!(
        r#"{{"name": "greeter", "version": "{version}", "actions": {{"greet": {action}}}}}"#
    );
    std::fs::write(folder.join("piece.json"), manifest).unwrap();
    std::fs::write(folder.join("bundle.js"), code).unwrap();
}

#[test]
fn pieces_are_checked_pushed_and_listed() {
    let service = Service::start();
    let said = |output: &Output| {
        stdout(output);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let code = "export const greet = ({ name }) => `Hello, ${name}`;";
    write_piece(&service, "1.0.0", "{}", code);
    let checked = said(&service.pieces(&["check", "greeter"]));
    assert!(
        checked.contains("greeter@1.0.0: valid (greet)"),
        "{checked}"
    );
    let pushed = said(&service.pieces(&["push", "greeter"]));
    assert!(pushed.contains("greeter@1.0.0: stored"), "{pushed}");
    let again = said(&service.pieces(&["push", "greeter"]));
    assert!(again.contains("was stored already"), "{again}");
    let folder = service.folder.path();
    let archive = platen_runs::execution::pack(&folder.join("greeter")).unwrap();
    std::fs::write(folder.join("greeter.zip"), archive).unwrap();
    let report = stdout(&service.pieces(&["check", "greeter.zip", "--json"]));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        (&report["valid"], &report["actions"][0]),
        (&true.into(), &"greet".into())
    );
    let digest = report["digest"].as_str().unwrap();
    let list = stdout(&service.pieces(&["list"]));
    assert!(
        list.starts_with("greeter ") && list.contains(digest),
        "{list}"
    );
    let again = stdout(&service.pieces(&["push", "greeter.zip", "--json"]));
    assert!(again.contains(digest), "{again}");

    write_piece(
        &service,
        "1.0.0",
        "{}",
        "export const greet = () => 'other';",
    );
    let other = service.pieces(&["push", "greeter"]);
    refused(
        &other,
        &["409", "different content", "another name or version"],
    );
    write_piece(&service, "1.1.0", "{}", code);
    let nobody = service.pieces(&["push", "greeter", "--api-key", "wrong-key"]);
    refused(&nobody, &["401", "hint: "]);
    said(&service.pieces(&["push", "greeter"]));
    let list = stdout(&service.pieces(&["list", "--json"]));
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let versions: Vec<_> = list.as_array().unwrap().iter().collect();
    assert_eq!(versions.len(), 2, "{versions:?}");
    let help = stdout(&service.pieces(&["--help"]));
    for word in [
        "check",
        "push",
        "list",
        "--url",
        "platen pieces push greeter",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
    let completions = stdout(&service.ask("completions", &["bash"]));
    assert!(completions.contains("platen__subcmd__pieces__subcmd__push"));
    let unreachable = service.pieces(&["list", "--url", "http://127.0.0.1:1"]);
    // No fault of the arguments: the surroundings are not as they should be.
    assert_eq!(unreachable.status.code(), Some(2));
    let said = String::from_utf8_lossy(&unreachable.stderr);
    assert!(said.contains("cannot be reached"), "{said}");
}

#[test]
fn mistakes_in_pieces_are_those_that_the_service_finds() {
    let service = Service::start();
    write_piece(
        &service,
        "1.0.0",
        r#"{"input": {"type": 7}}"#,
        "export const greet = ;",
    );
    let report = stdout_of_refused(&service.pieces(&["check", "greeter", "--json"]));
    assert_eq!(report["valid"], false);
    let found = &report["diagnostics"];
    let paths: Vec<&str> = (0..2)
        .map(|index| found[index]["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/bundle", "/actions/greet/input"], "{report:#}");
    refused(
        &service.pieces(&["check", "greeter"]),
        &["invalid-piece", "/bundle", "/actions/greet/input"],
    );
    refused(&service.pieces(&["push", "greeter"]), &["2 errors"]);
    let archive = platen_runs::execution::pack(&service.folder.path().join("greeter")).unwrap();
    let told = ureq::put(format!("{}/pieces/greeter/1.0.0", service.url))
        .header("x-api-key", KEY)
        .header("content-type", "application/zip")
        .config()
        .http_status_as_error(false)
        .build()
        .send(&archive[..]);
    let told: serde_json::Value =
        serde_json::from_slice(&told.unwrap().body_mut().read_to_vec().unwrap()).unwrap();
    assert_eq!(&told["diagnostics"], found, "{told:#}");

    let folder = service.folder.path();
    std::fs::write(folder.join("text.zip"), "no archive").unwrap();
    std::fs::write(folder.join("large.zip"), vec![0; 3 << 20]).unwrap();
    std::fs::create_dir(folder.join("empty")).unwrap();
    for (piece, words) in [
        ("text.zip", "the archive cannot be read"),
        ("large.zip", "larger than"),
        ("empty", "piece.json"),
        ("nowhere", "cannot read"),
    ] {
        refused(&service.pieces(&["check", piece]), &[words]);
    }
    write_piece(&service, "1.0", "{}", "export const greet = () => 1;");
    refused(
        &service.pieces(&["check", "greeter"]),
        &["/version", "such as `1.2.0`"],
    );
    assert_eq!(stdout(&service.pieces(&["list"])), "");
}

#[track_caller]
fn stdout_of_refused(output: &Output) -> serde_json::Value {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn serve_prints_its_configuration_without_keys() {
    let output = platen()
        .args(["serve", "--print-config", "--bind", "0.0.0.0:80"])
        .env("API_KEY_ADMIN", KEY)
        .env("RATE_LIMIT_MAX", "7")
        .output()
        .unwrap();
    let text = stdout(&output);
    assert!(text.contains("bind = \"0.0.0.0:80\"") && text.contains("rate_limit_max = 7"));
    assert!(!text.contains(KEY));
    let open = platen()
        .args(["serve", "--bind", "0.0.0.0:80"])
        .output()
        .unwrap();
    assert_eq!(open.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&open.stderr).contains("API_KEY_ADMIN"));
}

#[test]
fn wrong_arguments_are_the_callers_and_help_is_a_success() {
    let wrong = platen()
        .args(["render", "--no-such-flag"])
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--no-such-flag"));
    let help = platen().arg("--help").output().unwrap();
    assert_eq!(help.status.code(), Some(0));
    assert!(stdout(&help).contains("platen serve"));
}

#[test]
fn lines_of_the_log_name_the_request_and_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = platen()
        .args(["serve", "--bind", "127.0.0.1:0", "--log-format", "json"])
        .arg("--data-dir")
        .arg(folder.path().join("data"))
        .env("API_KEY_ADMIN", KEY)
        .env("CHROMIUM_PATH", "/bin/false")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let mut lines =
        lines.map(|line| serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap());
    let address = lines.find_map(|line| line["address"].as_str().map(str::to_owned));
    let address = address.unwrap();
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let body = r#"{"html": "<p>Hello"}"#;
    let request = format!(
        "POST /render/html-to-pdf HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {KEY}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nX-Request-Id: mine-1\r\n\
         Traceparent: 00-{trace}-00f067aa0ba902b7-01\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = std::net::TcpStream::connect(&address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let mut of_request = Vec::new();
    while let Some(line) = lines.find(|line| line["requestId"] == "mine-1") {
        let is_last = line["message"] == "request";
        of_request.push(line);
        if is_last {
            break;
        }
    }
    let _ = process.kill();
    let _ = process.wait();
    let messages: Vec<_> = of_request
        .iter()
        .map(|line| line["message"].as_str())
        .collect();
    assert!(
        messages.contains(&Some("page failed")),
        "{of_request:?} {answer}"
    );
    assert!(
        of_request.iter().all(|line| line["traceId"] == trace),
        "{of_request:?}"
    );
}
