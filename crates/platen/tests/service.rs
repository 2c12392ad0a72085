//! `platen serve` and `platen templates`, as a shell runs them.

use std::{
    io::{BufRead, BufReader},
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
        platen()
            .arg("templates")
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
