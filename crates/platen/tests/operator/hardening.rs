//! `HARDEN_PRODUCTION`, and the advice of `platen doctor`.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::{MetadataExt, PermissionsExt},
    process::{Command, Stdio},
};

use serde_json::Value as Json;

use crate::service::{Process, done, platen, refusal};

#[test]
fn weak_settings_stop_the_start_and_are_all_said() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut command = platen();
    command.args(["serve", "--bind", "0.0.0.0:0", "--data-dir"]);
    command.arg(&data).env("HARDEN_PRODUCTION", "1");
    command.env("API_KEY_ADMIN", "changeme");
    command.env("CORS_ALLOWED_ORIGINS", "*");
    command.env("DATABASE_URL", "postgres://u:word@db.example.com/d");
    let said = refusal(&mut command);
    for subject in [
        "API_KEY_ADMIN",
        "METRICS_TOKEN",
        "CHILD_ISOLATION",
        "RENDER_ISOLATION",
        "PLATEN_BIND",
        "CORS_ALLOWED_ORIGINS",
        "DATABASE_URL",
    ] {
        let line = format!("\n  {subject}: ");
        assert_eq!(said.matches(&line).count(), 1, "{subject} in {said}");
    }
    assert!(said.contains("hint: "), "{said}");
    assert!(
        !said.contains("changeme") && !said.contains("word@"),
        "{said}"
    );
    assert!(!data.exists(), "nothing was opened");
}

/// The same process as a user other than root.
fn as_nobody(command: &Command) -> Command {
    let mut other = Command::new("setpriv");
    other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    other.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        other.env(name, value.unwrap_or_default());
    }
    other
}

#[test]
fn strong_settings_start() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    // Where the build folder is, another user may not look.
    let binary = folder.path().join("platen");
    let built = env!("CARGO_BIN_EXE_platen");
    fs::hard_link(built, &binary)
        .or_else(|_| fs::copy(built, &binary).map(drop))
        .unwrap();
    let mut command = Command::new(&binary);
    command.args(["serve", "--bind", "127.0.0.1:0", "--data-dir"]);
    command.arg(folder.path().join("data"));
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("TMPDIR", folder.path());
    for (name, value) in [
        ("HARDEN_PRODUCTION", "true"),
        ("API_KEY_ADMIN", "9f86d081884c7d659a2feaa0c55ad015"),
        ("API_KEY_RENDER", "60303ae22b998861bce3b28f33eec1be"),
        ("METRICS_TOKEN", "fd61a03af4f77d870fc21e05e7e80678"),
        ("RENDER_ISOLATION", "jail"),
        ("CHILD_ISOLATION", "landlock"),
    ] {
        command.env(name, value);
    }
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if is_root {
        let said = refusal(&mut command);
        assert!(said.contains("1 setting is weak:\n  user: "), "{said}");
        command = as_nobody(&command);
    }
    let mut process = Process(command.stderr(Stdio::piped()).spawn().unwrap());
    let lines = BufReader::new(process.0.stderr.take().unwrap()).lines();
    let mut said = Vec::new();
    for line in lines.map_while(Result::ok) {
        let is_listening = line.contains("listening");
        said.push(line);
        if is_listening {
            return;
        }
    }
    // This machine may have no sandboxes; the settings were fine then.
    let said = said.join("\n");
    let has_no_sandbox = said.contains("RENDER_ISOLATION=jail") || said.contains("CHILD_ISOLATION");
    assert!(
        has_no_sandbox && !said.contains("HARDEN_PRODUCTION"),
        "{said}"
    );
}

#[test]
fn the_doctor_gives_the_same_list_as_advice() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = platen();
    command
        .args(["doctor", "--json", "--data-dir"])
        .arg(folder.path());
    command.env("CORS_ALLOWED_ORIGINS", "*");
    command.env("API_KEY_RENDER", "60303ae22b998861bce3b28f33eec1be");
    let output = done(&mut command);
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report.as_array().unwrap().iter();
    let checks = checks.filter_map(|check| check["check"].as_str()?.strip_prefix("production "));
    let found: Vec<&str> = checks.filter(|subject| *subject != "user").collect();
    let expected = [
        "API_KEY_ADMIN",
        "METRICS_TOKEN",
        "CHILD_ISOLATION",
        "RENDER_ISOLATION",
        "CORS_ALLOWED_ORIGINS",
    ];
    assert_eq!(found, expected, "{report:#}");
}
