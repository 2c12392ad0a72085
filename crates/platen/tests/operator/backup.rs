//! `platen backup` and `platen restore` of a service that goes on meanwhile.

use std::{
    fs,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value as Json, json};

use crate::{
    service::{Service, done, has, platen, refusal},
    waiting::wait_until,
};

/// Publishes a flow that answers at once.
pub fn publish(service: &Service) {
    let flow = json!({"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "webhook"},
        "steps": [{"name": "reply", "type": "respond", "body": "done"}]});
    assert_eq!(service.post("/flows", &flow).status, 201);
    let published = service.post("/flows/f/publication", &json!({}));
    assert_eq!(published.status, 200, "{published:?}");
}

pub fn template(key: &str) -> Json {
    json!({"key": key, "name": key, "body": [{"type": "text", "content": "Hello"}]})
}

/// What a service has acknowledged.
#[derive(Clone, Debug, Default)]
pub struct Acknowledged {
    pub templates: Vec<String>,
    pub runs: Vec<String>,
    /// Paths of stored documents, with their queries.
    pub links: Vec<String>,
}

impl Acknowledged {
    /// Stores a template, starts a run and stores a document.
    pub fn add(&mut self, service: &Service, number: usize) {
        let key = format!("t-{number}");
        assert_eq!(service.post("/templates", &template(&key)).status, 201);
        self.templates.push(key.clone());
        let run = service.post("/webhooks/f", &json!({"number": number}));
        assert_eq!(run.status, 202, "{run:?}");
        self.runs
            .push(run.json()["run"].as_str().unwrap().to_owned());
        let request = json!({"template": key, "data": {}, "format": "html",
            "options": {"filename": key}, "output": {"store": true}});
        let stored = service.post("/render", &request);
        assert_eq!(stored.status, 201, "{stored:?}");
        self.links
            .push(stored.json()["url"].as_str().unwrap().to_owned());
    }

    /// All of it is there.
    #[track_caller]
    pub fn check(&self, service: &Service) {
        for key in &self.templates {
            assert_eq!(
                service.get(&format!("/templates/{key}")).status,
                200,
                "{key}"
            );
        }
        for run in &self.runs {
            wait_until("the run has ended", || {
                let found = service.get(&format!("/runs/{run}"));
                assert_eq!(found.status, 200, "{found:?}");
                found.json()["state"] == "succeeded"
            });
        }
        for link in &self.links {
            assert_eq!(service.get(link).status, 200, "{link}");
        }
    }
}

fn back_up(folder: &Path, file: &Path) -> Json {
    let mut command = platen();
    command
        .args(["backup", "--json", "--data-dir"])
        .arg(folder)
        .arg(file);
    serde_json::from_slice(&done(&mut command).stdout).unwrap()
}

#[test]
fn a_backup_under_load_has_everything_that_was_acknowledged_before() {
    if !has("curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let service = Service::start(&data, &[]);
    publish(&service);
    let (stop, known) = (AtomicBool::new(false), Mutex::new(Acknowledged::default()));
    let mut backups: Vec<(std::path::PathBuf, Acknowledged)> = Vec::new();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (stop, known, service) = (&stop, &known, &service);
            scope.spawn(move || {
                for number in (thread..).step_by(2) {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let mut own = Acknowledged::default();
                    own.add(service, number);
                    let mut known = known.lock().unwrap();
                    known.templates.append(&mut own.templates);
                    known.runs.append(&mut own.runs);
                    known.links.append(&mut own.links);
                }
            });
        }
        for number in 1..=3 {
            wait_until("there is something to back up", || {
                known.lock().unwrap().templates.len() > 5 * number
            });
            let before = known.lock().unwrap().clone();
            let file = folder.path().join(format!("{number}.zip"));
            let report = back_up(&data, &file);
            assert_eq!(report["ok"], true, "{report}");
            backups.push((file, before));
        }
        stop.store(true, Ordering::SeqCst);
    });
    let in_use = refusal(restore(&data, &backups[0].0).arg("--force"));
    assert!(
        in_use.contains("in use") && in_use.contains("hint: stop"),
        "{in_use}"
    );
    drop(service);
    for (index, (file, before)) in backups.iter().enumerate() {
        let target = folder.path().join(format!("restored-{index}"));
        done(&mut restore(&target, file));
        before.check(&Service::start(&target, &[]));
    }
    // In the place of the folder itself, which stays beside it.
    let occupied = refusal(&mut restore(&data, &backups[2].0));
    assert!(
        occupied.contains("not empty") && occupied.contains("--force"),
        "{occupied}"
    );
    done(restore(&data, &backups[2].0).arg("--force"));
    backups[2].1.check(&Service::start(&data, &[]));
    let names = fs::read_dir(folder.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let former: Vec<String> = names
        .filter(|name| name.contains("before-restore"))
        .collect();
    assert_eq!(former.len(), 1, "{former:?}");
    let former = Service::start(&folder.path().join(&former[0]), &[]);
    known.lock().unwrap().check(&former);
}

fn restore(folder: &Path, file: &Path) -> std::process::Command {
    let mut command = platen();
    command
        .args(["restore", "--data-dir"])
        .arg(folder)
        .arg(file);
    command
}

#[test]
fn what_cannot_be_backed_up_or_restored_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup.zip");
    let mut nothing = platen();
    nothing
        .args(["backup", "--data-dir"])
        .arg(folder.path())
        .arg(&file);
    let nothing = refusal(&mut nothing);
    assert!(
        nothing.contains("no database in the data folder"),
        "{nothing}"
    );
    let mut elsewhere = platen();
    elsewhere.arg("backup").arg(&file);
    elsewhere.env("DATABASE_URL", "postgres://u:word@localhost/d");
    let elsewhere = refusal(&mut elsewhere);
    let commands = [
        "pg_dump --format=custom --file=platen.dump \"$DATABASE_URL\"",
        "platen backup --folder-only FILE",
        "pg_restore --no-owner --exit-on-error --single-transaction --dbname=\"$DATABASE_URL\"",
        "platen restore FILE",
    ];
    for command in commands {
        assert!(elsewhere.contains(command), "{command} in {elsewhere}");
    }
    assert!(!elsewhere.contains("word"), "{elsewhere}");
    fs::write(&file, "no archive").unwrap();
    let damaged = refusal(&mut restore(&folder.path().join("data"), &file));
    assert!(damaged.starts_with("error: the archive"), "{damaged}");
    assert!(!folder.path().join("data").exists());
    assert!(!file.with_extension("part").exists());
}

#[test]
fn a_service_does_not_begin_empty_within_the_folder_of_another() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("platen.lock"), "").unwrap();
    let within = folder.path().join("data");
    let mut serve = platen();
    serve.args(["serve", "--bind", "127.0.0.1:0", "--data-dir"]);
    let said = refusal(serve.arg(&within));
    assert!(said.contains("holds the data of a service"), "{said}");
    assert!(said.contains("PLATEN_DATA_DIR"), "{said}");
    assert!(!within.exists());
}
