//! Our own clients of a service with TLS: `platen worker` and `platen templates`.

use std::{
    cell::Cell,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex},
};

use serde_json::json;

use crate::{
    authority::Authority,
    ledger::Ledger,
    process::{Process, Service, TOKEN, platen, steps},
    waiting::wait_until,
    wire::{Eavesdropper, Relay},
};

const KEY: &str = "key-of-tests";

/// What `platen` says where it must refuse.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let mut child = platen()
        .args(arguments)
        .env("WORKER_TOKEN", TOKEN)
        .env("PLATEN_API_KEY", KEY)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = child.stderr.take().unwrap();
    let status = Process(child).wait();
    let mut text = String::new();
    said.read_to_string(&mut text).unwrap();
    assert_eq!(status.code(), Some(1), "{arguments:?}: {text}");
    text
}

/// `platen worker` and `platen templates` refuse with these words.
#[track_caller]
fn assert_refused(url: &str, more: &[&str], words: &[&str]) {
    for first in [
        &["worker", "--app", url][..],
        &["templates", "list", "--url", url],
    ] {
        let text = refused(&[first, more].concat());
        for word in words {
            assert!(text.contains(word), "{first:?}: no `{word}` in {text}");
        }
    }
}

/// The address of `service` by another name.
fn by_name(service: &Service, name: &str) -> String {
    service.url.replace("127.0.0.1", name)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn workers_speak_tls() {
    for processes in ["0", "2"] {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, authority) = (Ledger::start(), Authority::new());
        let app = [("PLATEN_ROLE", "app"), ("PLATEN_WORKERS", processes)];
        let service = Service::start_with_tls(folder.path(), &authority, "localhost", &app);
        service.publish_greeter();
        service.publish("code", &steps(&ledger.url));
        let file = authority.write(folder.path());
        // A certificate is for names and for addresses.
        for name in ["localhost", "127.0.0.1"] {
            let cache = folder.path().join(name);
            let mut worker = service.worker(
                2,
                &[
                    ("PLATEN_APP", &by_name(&service, name)),
                    ("PLATEN_CA_FILE", text(&file)),
                    ("WORKER_CACHE_DIR", text(&cache)),
                ],
            );
            let answer = service.post("/webhooks/code/sync", &json!({"a": 1}));
            assert_eq!((answer.status, &*answer.text), (200, r#"{"result":5}"#));
            let run = service.run(answer.headers["x-run-id"].to_str().unwrap());
            assert_ne!(run["worker"], "embedded");
            let answer = service.post("/webhooks/greet/sync", &json!({"name": "Ada"}));
            assert_eq!((answer.status, &*answer.text), (200, "Hello, Ada"));
            assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 1);
            worker.signal("TERM");
            assert!(worker.wait().success());
        }
    }
}

#[test]
fn a_certificate_that_is_wrong_for_a_while_costs_no_worker() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (Authority::new(), Authority::new());
    let app = [("PLATEN_ROLE", "app")];
    let service = Service::start_with_tls(folder.path(), &ours, "localhost", &app);
    let relay = Relay::start(service.url.strip_prefix("https://").unwrap());
    let file = ours.write(folder.path());
    let mut child = platen()
        .args(["worker", "--ca-file", text(&file), "--app", &relay.url])
        .env("WORKER_TOKEN", TOKEN)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut worker = Process(child);
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let saying = Arc::clone(&said);
    std::thread::spawn(move || {
        lines
            .map_while(Result::ok)
            .for_each(|line| saying.lock().unwrap().push(line));
    });
    let count = |words: &str| {
        let said = said.lock().unwrap();
        said.iter().filter(|line| line.contains(words)).count()
    };
    wait_until("connected", || count("connected with") == 1);
    theirs.bind(folder.path(), &["localhost", "127.0.0.1"]);
    // The service looks at its certificate with a new connection, now and then.
    let cuts = Cell::new(0);
    wait_until("refused", || {
        let connections = count("connected with");
        if connections > cuts.replace(connections) {
            relay.cut();
        }
        count("not issued by a trusted authority") > 0
    });
    ours.bind(folder.path(), &["localhost", "127.0.0.1"]);
    let before = count("connected with");
    wait_until("connected again", || count("connected with") > before);
    worker.signal("TERM");
    assert!(worker.wait().success());
}

#[test]
fn templates_are_managed_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let service = Service::start_with_tls(folder.path(), &authority, "localhost", &[]);
    let ca = authority.write(folder.path());
    let url = by_name(&service, "localhost");
    let template = folder.path().join("offer.json");
    let body = r#"{"key": "offer", "name": "Offer", "body": [{"type": "text", "content": "one"}]}"#;
    std::fs::write(&template, body).unwrap();
    let templates = |arguments: &[&str]| {
        let mut command = platen();
        command
            .arg("templates")
            .args(arguments)
            .args(["--url", &url]);
        let output = command.args(["--ca-file", text(&ca)]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    };
    templates(&["push", text(&template)]);
    templates(&["push", text(&template)]);
    let list = templates(&["list"]);
    assert!(list.starts_with("offer ") && list.contains(" 2 "), "{list}");
    assert_eq!(templates(&["pull", "offer"]).trim(), body);
    // Without a file of its own the command trusts whom the system trusts.
    let with_system = |store: &str| {
        let mut command = platen();
        command.args(["templates", "list", "--url", &url]);
        let output = command.env("SSL_CERT_FILE", store).output().unwrap();
        output.status.success()
    };
    assert!(with_system(text(&ca)));
    let other = tempfile::tempdir().unwrap();
    assert!(!with_system(text(&Authority::new().write(other.path()))));
}

#[test]
fn who_is_not_trusted_is_not_spoken_to() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let service = Service::start_with_tls(folder.path(), &authority, "other.example", &[]);
    let own = authority.write(folder.path());
    let elsewhere = tempfile::tempdir().unwrap();
    let other = Authority::new().write(elsewhere.path());
    let not_trusted = ["not issued by a trusted authority", "hint: ", "--ca-file"];
    assert_refused(&service.url, &[], &not_trusted);
    // Only the authorities of the file are trusted.
    assert_refused(&service.url, &["--ca-file", text(&other)], &not_trusted);
    let url = by_name(&service, "localhost");
    let words = ["another name", "localhost", "other.example", "hint: "];
    assert_refused(&url, &["--ca-file", text(&own)], &words);
    let broken = folder.path().join("broken.pem");
    std::fs::write(&broken, "no certificate").unwrap();
    assert_refused(
        &service.url,
        &["--ca-file", text(&broken)],
        &["broken.pem", "certificate"],
    );
    assert_refused(&service.url, &["--ca-file", "none.pem"], &["none.pem"]);
}

#[test]
fn the_wrong_scheme_is_named() {
    let (folder, secure) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let plain = Service::start(folder.path(), &[]);
    let url = plain.url.replace("http://", "https://");
    assert_refused(&url, &[], &["does not speak TLS", "hint: use http://"]);
    let service = Service::start_with_tls(secure.path(), &Authority::new(), "localhost", &[]);
    let url = service.url.replace("https://", "http://");
    assert_refused(&url, &[], &["speak", "TLS", "hint: use https://"]);
}

#[test]
fn secrets_stay_here_where_the_certificate_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let own = authority.write(folder.path());
    for (command, flag, secret) in [
        (&["worker"][..], "--app", TOKEN),
        (&["templates", "list"], "--url", KEY),
    ] {
        let ask = |more: &[&str]| {
            let there = Eavesdropper::start(&authority);
            let said = refused(&[command, &[flag, &there.url], more].concat());
            let (sent, meant) = there.end();
            (said, sent, String::from_utf8(meant).unwrap())
        };
        let (said, sent, meant) = ask(&[]);
        assert!(said.contains("not issued by a trusted authority"), "{said}");
        assert!(!sent.is_empty() && meant.is_empty(), "{meant}");
        // The same server hears it once it is trusted, and only there.
        let (said, sent, meant) = ask(&["--ca-file", text(&own)]);
        assert!(
            said.contains("401") && meant.contains(secret),
            "{said} {meant}"
        );
        let is_there = |part: &[u8]| part == secret.as_bytes();
        assert!(!sent.windows(secret.len()).any(is_there), "in the clear");
    }
}

#[test]
fn the_authority_of_the_mail_server_is_read_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Authority::new().write(folder.path());
    let flow = folder.path().join("flow.json");
    let steps = r#"[{"name": "reply", "type": "respond", "body": "well"}]"#;
    let text_of_flow = format!(
        r#"{{"kind": "flow", "key": "f", "name": "F", "trigger": {{"type": "webhook"}}, "steps": {steps}}}"#
    );
    std::fs::write(&flow, text_of_flow).unwrap();
    let data = folder.path().join("data");
    for (url, file, word) in [
        ("smtp://ada:hidden@localhost", text(&ca), Some("smtps://")),
        ("smtps://localhost", "none.pem", Some("none.pem")),
        ("smtps://localhost", text(&ca), None),
    ] {
        for arguments in [
            &["flow", "run", text(&flow)][..],
            &["serve", "--bind", "127.0.0.1:0", "--data-dir", text(&data)],
        ] {
            if word.is_none() && arguments[0] == "serve" {
                continue;
            }
            let output = platen()
                .args(arguments)
                .env("SMTP_URL", url)
                .env("SMTP_FROM", "platen@example.com")
                .env("SMTP_CA_FILE", file)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.success(), word.is_none(), "{said}");
            assert!(word.is_none_or(|word| said.contains(word)), "{said}");
            assert!(!said.contains("hidden"), "{said}");
        }
    }
}
