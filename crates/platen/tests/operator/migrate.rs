//! `platen migrate`, and a service that does not migrate.

use std::{path::Path, process::Command};

use serde_json::Value as Json;

use crate::{
    postgres,
    service::{Service, done, has, platen, refusal},
};

/// A command on the database that `place` names.
fn migrate(action: &str, folder: &Path, url: &str) -> Command {
    let mut command = platen();
    command.args(["migrate", action, "--data-dir"]).arg(folder);
    command.env("DATABASE_URL", url);
    command
}

fn status(folder: &Path, url: &str) -> Json {
    let output = done(migrate("status", folder, url).arg("--json"));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// An empty database, which an operator migrates.
fn check(folder: &Path, url: &str, kind: &str) {
    let before = status(folder, url);
    let known = before["known"].as_u64().unwrap();
    assert_eq!(before["database"], kind);
    assert_eq!(
        (&before["found"], &before["isCurrent"]),
        (&Json::from(0), &Json::from(false))
    );
    let plan = done(&mut migrate("plan", folder, url));
    let plan = String::from_utf8(plan.stdout).unwrap();
    assert_eq!(plan.matches("\n-- schema ").count() as u64, known, "{plan}");
    assert!(plan.contains("CREATE TABLE templates"), "{plan}");
    assert_eq!(status(folder, url), before, "a plan changes nothing");
    let mut serve = platen();
    serve
        .args(["serve", "--bind", "127.0.0.1:0", "--data-dir"])
        .arg(folder);
    serve
        .env("DATABASE_URL", url)
        .env("DATABASE_MIGRATE", "false");
    let refused = refusal(&mut serve);
    assert!(refused.contains("platen migrate apply"), "{refused}");
    assert!(refused.contains("has schema 0"), "{refused}");
    // Several at once: one does it.
    let running: Vec<_> = (0..3)
        .map(|_| migrate("apply", folder, url).spawn().unwrap())
        .collect();
    let succeeded = running
        .into_iter()
        .filter_map(|mut process| process.wait().ok().filter(|status| status.success()))
        .count();
    // The lock of a data folder lets only one of them in.
    assert!(succeeded >= 1, "{kind}");
    assert!(kind == "SQLite" || succeeded == 3, "{succeeded}");
    let after = status(folder, url);
    assert_eq!(
        (&after["found"], &after["isCurrent"]),
        (&Json::from(known), &Json::from(true))
    );
    let plan = done(&mut migrate("plan", folder, url));
    let plan = String::from_utf8(plan.stdout).unwrap();
    assert!(
        plan.contains("up to date") && plan.lines().count() == 1,
        "{plan}"
    );
    let variables = [("DATABASE_URL", url), ("DATABASE_MIGRATE", "false")];
    let service = Service::start(folder, &variables);
    assert_eq!(service.get("/templates").status, 200);
    if kind == "SQLite" {
        let used = refusal(&mut migrate("apply", folder, url));
        assert!(
            used.contains("in use") && used.contains("hint: stop"),
            "{used}"
        );
    } else {
        done(&mut migrate("apply", folder, url));
    }
}

#[test]
fn operators_migrate_sqlite() {
    if !has("curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    check(folder.path(), "", "SQLite");
}

#[test]
fn operators_migrate_postgresql() {
    if !has("curl") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(server) = runtime.block_on(postgres::Server::start(&[])) else {
        return;
    };
    let url = runtime.block_on(server.database());
    let folder = tempfile::tempdir().unwrap();
    check(folder.path(), &url, "PostgreSQL");
    // A database of a newer version.
    let name = url.rsplit_once('/').unwrap().1;
    let newer = "INSERT INTO platen_schema (version) VALUES (99)";
    runtime.block_on(server.execute(name, newer));
    assert_eq!(status(folder.path(), &url)["found"], 99);
    for migrates in ["true", "false"] {
        let mut serve = platen();
        serve
            .args(["serve", "--bind", "127.0.0.1:0", "--data-dir"])
            .arg(folder.path());
        serve
            .env("DATABASE_URL", &url)
            .env("DATABASE_MIGRATE", migrates);
        let refused = refusal(&mut serve);
        assert!(refused.contains("use a newer version"), "{refused}");
    }
    let refused = refusal(&mut migrate("apply", folder.path(), &url));
    assert!(refused.contains("use a newer version"), "{refused}");
}
