//! A service whose log can be looked at.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::{Arc, Mutex},
};

use serde_json::{Value as Json, json};

use crate::waiting::{wait_for, wait_until};

pub fn platen() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command.env_clear().env("PLATEN_SYSTEM_FONTS", "false");
    // Of the programs that it looks for, and of tests that measure coverage.
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// What a command prints on standard error, once it has failed.
pub fn refusal(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{text}");
    text
}

/// The output of a command that succeeds.
#[track_caller]
pub fn done(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}{complained}");
    output
}

/// A program of the system; a visible skip without it, or a failure with `REQUIRE_ALL=1`.
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let found = folders.iter().any(|folder| folder.join(program).is_file());
    if !found {
        let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!all, "{program} is missing");
        println!("SKIP: {program} is missing");
    }
    found
}

/// A free port, which nobody else takes in the moment between.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A process, killed when its test is over.
pub struct Process(pub Child);

impl Process {
    pub fn terminate(&mut self) {
        // A process that has ended and was waited for has no number any more.
        if self.0.try_wait().is_ok_and(|ended| ended.is_none()) {
            let pid = self.0.id().to_string();
            let _ = Command::new("kill").arg(pid).status();
        }
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.terminate();
    }
}

/// A service that listens.
pub struct Service {
    process: Process,
    /// The port on 127.0.0.1 and on every other address of this machine that begins with 127.
    pub port: u16,
    scheme: &'static str,
    /// The address that it is asked from.
    client: &'static str,
    log: Arc<Mutex<Vec<Json>>>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub text: String,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

impl Service {
    pub fn start(folder: &Path, variables: &[(&str, &str)]) -> Self {
        Self::start_from(folder, variables, "127.0.0.1")
    }

    /// Starts a service that `client` asks whether it is ready.
    pub fn start_from(folder: &Path, variables: &[(&str, &str)], client: &'static str) -> Self {
        let mut command = platen();
        command.args(["serve", "--log-format", "json", "--data-dir"]);
        command.arg(folder).env("PLATEN_BIND", "0.0.0.0:0");
        command
            .env("API_KEY_ADMIN", KEY)
            .envs(variables.iter().copied());
        Self::spawn(&mut command, client)
    }

    fn spawn(command: &mut Command, client: &'static str) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log: Arc<Mutex<Vec<Json>>> = Arc::default();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let kept = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or_else(|_| json!({"text": line}));
                kept.lock().unwrap().push(line);
            }
        });
        let mut service = Self {
            process: Process(child),
            scheme: "http",
            port: 0,
            client,
            log,
        };
        service.port = wait_for(|| {
            let lines = service.log();
            let address = lines.iter().find_map(|line| line["address"].as_str());
            if address.is_some_and(|address| address.starts_with("tls://")) {
                service.scheme = "https";
            }
            let port = address.and_then(|address| address.rsplit_once(':')?.1.parse().ok());
            port.ok_or_else(|| format!("an address in {lines:?}"))
        });
        wait_until("the service is ready", || {
            service.get("/health/ready").status == 200
        });
        service
    }

    /// A service that something else has started.
    pub fn at(port: u16) -> Self {
        let nothing = Command::new("true").spawn().unwrap();
        Self {
            process: Process(nothing),
            scheme: "http",
            port,
            client: "127.0.0.1",
            log: Arc::default(),
        }
    }

    /// Ends it as a loss of power would.
    pub fn kill(mut self) {
        self.process.0.kill().unwrap();
        self.process.0.wait().unwrap();
    }

    pub fn log(&self) -> Vec<Json> {
        self.log.lock().unwrap().clone()
    }

    /// The clients that the log names for requests of `path`.
    pub fn clients(&self, path: &str) -> Vec<String> {
        let lines = self.log();
        let lines = lines.iter().filter(|line| line["path"] == path);
        lines
            .map(|line| line["client"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The client of the only request of `path`, once it is logged.
    pub fn client(&self, path: &str) -> String {
        wait_for(|| {
            let mut clients = self.clients(path);
            match clients.len() {
                1 => Ok(clients.remove(0)),
                _ => Err(format!("{path}: {clients:?}")),
            }
        })
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask(path, &[], None)
    }

    pub fn post(&self, path: &str, body: &Json) -> Answer {
        self.ask(path, &[], Some(body))
    }

    pub fn ask(&self, path: &str, headers: &[(&str, &str)], body: Option<&Json>) -> Answer {
        let url = format!("{}://127.0.0.1:{}{path}", self.scheme, self.port);
        ask(&url, self.client, headers, body)
    }
}

pub const KEY: &str = "admin-key-of-tests";

/// Asks by curl, which can connect from any address of this machine: 127.0.0.9 is another client
/// than 127.0.0.1.
pub fn ask(url: &str, from: &str, headers: &[(&str, &str)], body: Option<&Json>) -> Answer {
    let mut command = Command::new("curl");
    command.args(["--silent", "--globoff", "--insecure", "--max-time", "60"]);
    command.args(["--interface", from, "--write-out", "\n%{http_code}"]);
    if !headers.iter().any(|(name, _)| *name == "X-Api-Key") {
        command.args(["--header", &format!("X-Api-Key: {KEY}")]);
    }
    for (name, value) in headers {
        command.args(["--header", &format!("{name}: {value}")]);
    }
    if let Some(body) = body {
        command.args([
            "--header",
            "Content-Type: application/json",
            "--data-binary",
        ]);
        command.arg(body.to_string());
    }
    let output = command.arg(url).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (text, status) = text.rsplit_once('\n').unwrap_or(("", "0"));
    Answer {
        status: status.parse().unwrap_or_default(),
        text: text.to_owned(),
    }
}
