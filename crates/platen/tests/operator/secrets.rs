//! Secrets in files.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::Stdio,
};

use crate::service::{KEY, Process, Service, has, platen, refusal};

#[test]
fn the_service_and_a_worker_read_their_secrets_from_files() {
    if !has("curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (keys, token) = (
        file("keys", &format!("another-key\n{KEY}\n")),
        file("token", "a-token-in-a-file\r\n"),
    );
    let metrics = file("metrics", "a-metrics-token\n");
    let service = Service::start(
        &folder.path().join("data"),
        &[
            ("API_KEY_ADMIN", ""),
            ("API_KEY_ADMIN_FILE", &keys),
            ("WORKER_TOKEN_FILE", &token),
            ("METRICS_TOKEN_FILE", &metrics),
        ],
    );
    assert_eq!(service.get("/templates").status, 200);
    assert_eq!(service.get("/metrics").status, 401);
    let token_of_metrics = [("X-Api-Key", "a-metrics-token")];
    assert_eq!(service.ask("/metrics", &token_of_metrics, None).status, 200);
    let mut worker = platen();
    worker.args(["worker", "--app"]);
    worker.arg(format!("http://127.0.0.1:{}", service.port));
    worker
        .env("WORKER_TOKEN_FILE", &token)
        .stderr(Stdio::piped());
    let mut worker = Process(worker.spawn().unwrap());
    let mut lines = BufReader::new(worker.0.stderr.take().unwrap()).lines();
    let connected = lines.find_map(|line| line.ok().filter(|line| line.contains("connected")));
    assert!(connected.is_some(), "the worker connects");
}

#[test]
fn two_forms_of_one_secret_and_unreadable_files_stop_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    fs::write(&token, "a-token").unwrap();
    let missing = folder.path().join("missing");
    let serve = |variables: &[(&str, &str)]| {
        let mut command = platen();
        command.args(["serve", "--bind", "127.0.0.1:0", "--data-dir"]);
        command.arg(folder.path().join("data"));
        refusal(command.envs(variables.iter().copied()))
    };
    let token = token.to_str().unwrap();
    let both = serve(&[("METRICS_TOKEN", "x"), ("METRICS_TOKEN_FILE", token)]);
    assert!(
        both.starts_with("error: METRICS_TOKEN and METRICS_TOKEN_FILE are both set\nhint: "),
        "{both}"
    );
    let gone = serve(&[("DATABASE_URL_FILE", missing.to_str().unwrap())]);
    assert!(
        gone.starts_with("error: DATABASE_URL_FILE: the file `/"),
        "{gone}"
    );
    assert_eq!(gone.lines().count(), 2, "{gone}");
    assert!(!folder.path().join("data").exists());
    let worker = |variables: &[(&str, &str)]| {
        let mut command = platen();
        command.args(["worker", "--app", "http://127.0.0.1:1"]);
        refusal(command.envs(variables.iter().copied()))
    };
    let both = worker(&[("WORKER_TOKEN", "x"), ("WORKER_TOKEN_FILE", token)]);
    assert!(both.contains("given twice"), "{both}");
    let gone = worker(&[("WORKER_TOKEN_FILE", missing.to_str().unwrap())]);
    assert!(gone.contains("WORKER_TOKEN_FILE: the file `/"), "{gone}");
}
