//! `platen move`: a service of SQLite and a data folder becomes one of PostgreSQL and S3.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value as Json, json};

use crate::{
    backup::{Acknowledged, publish, template},
    postgres, s3,
    service::{KEY, Service, done, has, platen, refusal},
    waiting::wait_until,
};

const ARCHIVE: &[u8] = b"an archive of a custom action";

/// The name of a request that waits.
const REQUEST: &str = "abcdefghijklmnopqrstuv";

/// A database server, a bucket, and the variables that name them.
struct Target {
    runtime: tokio::runtime::Runtime,
    server: postgres::Server,
    gateway: s3::Server,
    bucket: String,
    database: String,
    url: String,
}

impl Target {
    fn start() -> Option<Self> {
        if !has("curl") {
            return None;
        }
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let server = runtime.block_on(postgres::Server::start(&[]))?;
        let gateway = s3::Server::start(&[])?;
        let database = runtime.block_on(server.database_name());
        Some(Self {
            url: server.url(&database),
            bucket: gateway.create_bucket(),
            runtime,
            server,
            gateway,
            database,
        })
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("DATABASE_URL", self.url.clone()),
            (
                "S3_ENDPOINT",
                format!("http://127.0.0.1:{}", self.gateway.port),
            ),
            ("S3_BUCKET", self.bucket.clone()),
            ("S3_PREFIX", "platen".to_owned()),
            ("S3_ACCESS_KEY_ID", s3::KEY.to_owned()),
            ("S3_SECRET_ACCESS_KEY", s3::SECRET.to_owned()),
        ]
    }

    /// `platen move` of the folder.
    fn command(&self, folder: &Path, flags: &[&str]) -> Command {
        let mut command = platen();
        command.args(["move", "--data-dir"]).arg(folder).args(flags);
        command.envs(self.variables());
        command
    }

    fn service(&self, folder: &Path, more: &[(&str, &str)]) -> Service {
        let own = self.variables();
        let own = own.iter().map(|(name, value)| (*name, &**value));
        let all: Vec<(&str, &str)> = own.chain(more.iter().copied()).collect();
        Service::start(folder, &all)
    }

    /// Why no service starts on it.
    fn refusal_to_serve(&self, folder: &Path) -> String {
        let mut serve = platen();
        serve
            .args(["serve", "--bind", "127.0.0.1:0", "--data-dir"])
            .arg(folder);
        refusal(serve.envs(self.variables()))
    }

    fn object(&self, key: &str) -> std::path::PathBuf {
        let place = self.gateway.folder.path().join("data").join(&self.bucket);
        place.join("platen").join(key)
    }

    fn execute(&self, statements: &str) {
        let session = self.server.session(&self.database, statements);
        drop(self.runtime.block_on(session));
    }
}

fn put(service: &Service, path: &str, body: &Json, note: &str) -> String {
    let url = format!("http://127.0.0.1:{}{path}", service.port);
    let mut command = Command::new("curl");
    command.args(["--silent", "--request", "PUT", "--header", "If-Match: *"]);
    command.args(["--header", &format!("X-Api-Key: {KEY}")]);
    command.args(["--header", &format!("X-Change-Note: {note}")]);
    command.args(["--header", "Content-Type: application/json"]);
    command.args(["--data-binary", &body.to_string(), &url]);
    String::from_utf8(done(&mut command).stdout).unwrap()
}

/// Stores a custom action as a service does.
fn store_piece(folder: &Path) {
    fs::write(folder.join("archive"), ARCHIVE).unwrap();
    let sum = done(Command::new("sha256sum").arg(folder.join("archive"))).stdout;
    let digest = String::from_utf8(sum[..64].to_vec()).unwrap();
    fs::remove_file(folder.join("archive")).unwrap();
    let (content, names) = (
        folder.join("blobs/content"),
        folder.join("blobs/names/pieces/math"),
    );
    for place in [&content, &names] {
        fs::create_dir_all(place).unwrap();
    }
    fs::write(content.join(&digest), ARCHIVE).unwrap();
    fs::write(names.join("1.0.0"), digest).unwrap();
}

/// All files of a folder but what SQLite keeps beside its database, and the lock.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if !["platen.db-shm", "platen.lock"].contains(&&*name) {
                let bytes = fs::read(&path).unwrap();
                // An empty log is as good as none.
                if !bytes.is_empty() {
                    found.push((name, bytes));
                }
            }
        }
    }
    found.sort();
    found
}

/// What stays the same while nobody does anything.
fn answers(service: &Service, acknowledged: &Acknowledged) -> Vec<String> {
    let mut paths = vec!["/templates".to_owned(), "/flows".to_owned()];
    paths.push("/templates/t-0/versions".to_owned());
    paths.extend((1..=4).map(|number| format!("/templates/t-0/versions/{number}")));
    paths.push("/flows/f".to_owned());
    for run in &acknowledged.runs {
        paths.push(format!("/runs/{run}"));
    }
    let answer = |path: String| {
        let answer = service.get(&path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        format!("{path}: {}", answer.text)
    };
    paths.into_iter().map(answer).collect()
}

/// Starts a run of a flow with these steps, and returns its id.
fn start(service: &Service, key: &str, steps: &Json) -> String {
    let flow = json!({"kind": "flow", "key": key, "name": key, "trigger": {"type": "webhook"},
        "steps": steps});
    let stored = service.post("/flows", &flow);
    assert_eq!(stored.status, 201, "{stored:?}");
    let publication = format!("/flows/{key}/publication");
    assert_eq!(service.post(&publication, &json!({})).status, 200);
    let headers = [("Idempotency-Key", "once")];
    let run = service.ask(&format!("/webhooks/{key}"), &headers, Some(&json!({})));
    assert_eq!(run.status, 202, "{run:?}");
    run.json()["run"].as_str().unwrap().to_owned()
}

fn state(service: &Service, run: &str) -> String {
    let run = service.get(&format!("/runs/{run}")).json();
    run["state"].as_str().unwrap_or_default().to_owned()
}

/// The same document twice, with links that end at different times.
fn store_twice(service: &Service) -> [String; 2] {
    [3_700, 90_000].map(|seconds| {
        let request = json!({"template": "t-0", "data": {}, "format": "html",
            "output": {"store": true, "ttlSeconds": seconds}});
        let stored = service.post("/render", &request);
        assert_eq!(stored.status, 201, "{stored:?}");
        stored.json()["url"].as_str().unwrap().to_owned()
    })
}

#[test]
fn a_service_moves_with_everything_and_the_old_one_can_still_be_started() {
    let Some(target) = Target::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    let service = Service::start(&old, &[]);
    publish(&service);
    let mut acknowledged = Acknowledged::default();
    for number in 0..8 {
        acknowledged.add(&service, number);
    }
    for number in 2..=4 {
        let mut next = template("t-0");
        next["name"] = json!(format!("Größe {number}"));
        put(
            &service,
            "/templates/t-0",
            &next,
            &format!("change {number}"),
        );
    }
    let links = store_twice(&service);
    let waits = json!([{"name": "hold", "type": "wait", "callback": true}]);
    let waiting = start(&service, "waits", &waits);
    wait_until("the run waits", || state(&service, &waiting) == "waiting");
    acknowledged.check(&service);
    let request = json!({"template": "t-1", "data": {}, "format": "html"});
    let deferred = service.post("/render?async=true", &request);
    assert_eq!(deferred.status, 202, "{deferred:?}");
    let deferred = deferred.json()["run"].as_str().unwrap().to_owned();
    wait_until("the request is executed", || {
        state(&service, &deferred) == "succeeded"
    });
    acknowledged.runs.push(deferred);
    let before = answers(&service, &acknowledged);
    let busy = refusal(&mut target.command(&old, &[]));
    assert!(busy.contains("in use by a service"), "{busy}");
    service.kill();
    store_piece(&old);
    fs::create_dir_all(old.join("deferred")).unwrap();
    fs::write(old.join("deferred").join(REQUEST), REQUEST).unwrap();
    let files = content(&old);
    let plan = done(&mut target.command(&old, &["--plan", "--json"]));
    let plan: Json = serde_json::from_slice(&plan.stdout).unwrap();
    let count = |name: &str| {
        let amounts = plan["amounts"].as_array().unwrap();
        amounts.iter().find(|it| it["name"] == name).unwrap()["count"].clone()
    };
    assert_eq!(count("templates"), 8, "{plan}");
    assert_eq!(count("template_versions"), 11, "{plan}");
    assert_eq!(count("open_runs"), 1, "{plan}");
    assert_eq!(count("custom actions"), 1, "{plan}");
    assert_eq!(count("waiting requests"), 1, "{plan}");
    let moved = done(&mut target.command(&old, &["--json"]));
    let moved: Json = serde_json::from_slice(&moved.stdout).unwrap();
    assert_eq!(
        (&moved["ok"], &moved["damaged"]),
        (&json!(true), &json!([]))
    );
    done(&mut target.command(&old, &["--verify"]));
    let again = done(&mut target.command(&old, &["--json"]));
    let again: Json = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["wasFinished"], true, "{again}");
    assert_eq!(content(&old), files, "the source is as it was");
    let piece = fs::read(target.object("blobs/pieces/math/1.0.0")).unwrap();
    assert_eq!(piece, ARCHIVE);
    let request = target.object(&format!("deferred/requests/{REQUEST}"));
    assert_eq!(fs::read_to_string(request).unwrap(), REQUEST);
    let service = target.service(&new, &[]);
    assert_eq!(answers(&service, &acknowledged), before);
    acknowledged.check(&service);
    for link in &links {
        assert_eq!(service.get(link).status, 200, "{link}");
    }
    let headers = [("Idempotency-Key", "once")];
    let known = service.ask("/webhooks/waits", &headers, Some(&json!({})));
    assert_eq!(known.json()["run"], *waiting, "{known:?}");
    assert_eq!(state(&service, &waiting), "waiting");
    let next = service.post("/webhooks/f", &json!({})).json();
    let next = next["run"].as_str().unwrap().to_owned();
    let list = service.get("/runs?limit=1").json();
    assert!(
        list.to_string().contains(&next),
        "the numbers go on: {list}"
    );
    let differs = refusal(&mut target.command(&old, &["--verify"]));
    assert!(differs.contains("in use"), "{differs}");
    drop(service);
    let differs = refusal(&mut target.command(&old, &["--verify"]));
    assert!(differs.contains("is not the same"), "{differs}");
    let back = Service::start(&old, &[]);
    acknowledged.check(&back);
    drop(back);
    let other = refusal(&mut target.command(&old, &[]));
    assert!(other.contains("was not this one as it is now"), "{other}");
}

/// Makes the database stop a move when it notes this part, and whoever ends it.
fn barriers(target: &Target) {
    target.execute(
        "CREATE FUNCTION stop_part() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            PERFORM pg_advisory_xact_lock(7, hashtext(NEW.name)); RETURN NEW; END $$;
         CREATE FUNCTION stop_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            PERFORM pg_advisory_xact_lock(7, hashtext('end')); RETURN NEW; END $$;
         CREATE TRIGGER stop BEFORE INSERT OR UPDATE ON move_parts
            FOR EACH ROW EXECUTE FUNCTION stop_part();
         CREATE TRIGGER stop BEFORE UPDATE ON moves
            FOR EACH ROW EXECUTE FUNCTION stop_end();",
    );
}

/// Kills a move at the moment when it notes a part, before that is committed.
fn kill_at(target: &Target, folder: &Path, part: &str) {
    let lock = format!("SELECT pg_advisory_lock(7, hashtext('{part}'))");
    let session = target.server.session(&target.database, &lock);
    let session = target.runtime.block_on(session);
    let mut command = target.command(folder, &[]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    wait_until("the move has come to the barrier", || {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "{part}: {ended:?}");
        let number = target.server.number(&target.database, waits);
        target.runtime.block_on(number) > 0
    });
    child.kill().unwrap();
    child.wait().unwrap();
    drop(session);
}

#[test]
fn a_move_that_is_killed_anywhere_goes_on() {
    let Some(target) = Target::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    let service = Service::start(&old, &[]);
    publish(&service);
    let mut acknowledged = Acknowledged::default();
    for number in 0..6 {
        acknowledged.add(&service, number);
    }
    put(&service, "/templates/t-0", &template("t-0"), "once more");
    acknowledged.check(&service);
    drop(service);
    store_piece(&old);
    done(target.command(&old, &[]).arg("--plan"));
    let mut migrate = platen();
    migrate.args(["migrate", "apply", "--data-dir"]).arg(&new);
    done(migrate.env("DATABASE_URL", &target.url));
    barriers(&target);
    let parts = [
        "templates",
        "template_versions",
        "runs",
        "ended_runs",
        "journal",
        "custom actions",
        "stored results",
    ];
    for part in parts {
        kill_at(&target, &old, part);
        let refused = target.refusal_to_serve(&new);
        assert!(refused.contains("has not finished"), "{part}: {refused}");
    }
    // A folder that has changed meanwhile is another source.
    let database = fs::File::options()
        .write(true)
        .open(old.join("platen.db"))
        .unwrap();
    let modified = database.metadata().unwrap().modified().unwrap();
    database.set_modified(std::time::SystemTime::now()).unwrap();
    let changed = refusal(&mut target.command(&old, &[]));
    assert!(
        changed.contains("before it changed") && changed.contains("--from-start"),
        "{changed}"
    );
    database.set_modified(modified).unwrap();
    // The server may still execute the last statement, so this move may have finished.
    kill_at(&target, &old, "end");
    done(&mut target.command(&old, &[]));
    let service = target.service(&new, &[]);
    acknowledged.check(&service);
    assert_eq!(
        service.get("/templates/t-0/versions").json()["versions"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
}

#[test]
fn a_move_refuses_what_it_could_harm() {
    let Some(target) = Target::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    let none = refusal(&mut target.command(&old, &[]));
    assert!(none.contains("no database in the data folder"), "{none}");
    assert!(!old.exists());
    drop(Service::start(&old, &[]));
    let mut without = platen();
    let without = refusal(without.args(["move", "--data-dir"]).arg(&old));
    assert!(without.contains("DATABASE_URL is not set"), "{without}");
    let unreachable = target
        .command(&old, &[])
        .env("DATABASE_URL", "postgres://platen@127.0.0.1:1/platen")
        .output()
        .unwrap();
    assert_eq!(unreachable.status.code(), Some(2), "{unreachable:?}");
    let stray = target.object("results/0000000001/stray");
    fs::create_dir_all(stray.parent().unwrap()).unwrap();
    fs::write(&stray, "stray").unwrap();
    let full = refusal(&mut target.command(&old, &[]));
    assert!(full.contains("has objects already"), "{full}");
    let plan = target.command(&old, &["--plan"]).output().unwrap();
    let said = String::from_utf8(plan.stderr).unwrap();
    assert_eq!(plan.status.code(), Some(1), "{said}");
    assert!(
        said.contains("in the way") && said.contains("S3_PREFIX"),
        "{said}"
    );
    fs::remove_dir_all(target.object("results")).unwrap();
    let service = target.service(&new, &[]);
    let used = refusal(&mut target.command(&old, &[]));
    assert!(
        used.contains("in use by a service or by another move"),
        "{used}"
    );
    drop(service);
    // The service has made its key of links.
    let other = refusal(&mut target.command(&old, &[]));
    assert!(other.contains("another key of links"), "{other}");
    let service = target.service(&new, &[]);
    assert_eq!(service.post("/templates", &template("t")).status, 201);
    drop(service);
    let full = refusal(&mut target.command(&old, &[]));
    assert!(full.contains("has records already"), "{full}");
}
