//! Clients of Gotenberg, written by others, against the service.

use std::{path::PathBuf, process::Command};

use crate::{
    app::TestApp,
    programs::{is_chromium_missing, is_libreoffice_missing},
};

/// A folder of the cache that `.ci/packages.sh` fills.
fn cached(name: &str) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let path = cache.or_else(home)?.join("platen").join(name);
    path.exists().then_some(path)
}

/// Runs a client against a service of its own, where the client's program is `found`.
fn run_client(name: &str, found: Option<Command>) {
    let Some(mut command) = found else {
        let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!all, "{name} is not installed: run .ci/packages.sh");
        println!("SKIP: {name} is not installed; .ci/packages.sh does it");
        return;
    };
    if is_chromium_missing() || is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let output = command.arg(app.url("")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{wrong}");
    assert!(said.ends_with("done\n"), "{said}");
}

fn client(file: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
        .join("../../tests/gotenberg")
        .join(file)
}

#[test]
fn gotenbergs_python_client_needs_only_another_address() {
    let python = cached("venv/bin/python").filter(|python| {
        let mut command = Command::new(python);
        let found = command.args(["-c", "import gotenberg_client, httpx"]);
        found.output().is_ok_and(|it| it.status.success())
    });
    let command = python.map(|python| {
        let mut command = Command::new(python);
        command.arg(client("client.py"));
        command
    });
    run_client("gotenberg-client", command);
}

#[test]
fn the_npm_client_chromiumly_needs_only_another_address() {
    let command = cached("chromiumly/node_modules/chromiumly").map(|package| {
        let mut command = Command::new("node");
        command.arg(client("client.mjs")).arg(package);
        command
    });
    run_client("chromiumly", command);
}

#[test]
fn the_npm_client_gotenberg_js_client_needs_only_other_addresses() {
    let package = "gotenberg-js-client/node_modules/gotenberg-js-client";
    let command = cached(package).map(|package| {
        let mut command = Command::new("node");
        command.arg(client("client_pipes.mjs")).arg(package);
        command
    });
    run_client("gotenberg-js-client", command);
}

/// No Go client is installed: a program of ours sends what they send, by the same library.
#[test]
fn forms_of_go_are_read() {
    let is_there = Command::new("go").arg("version").output().is_ok();
    let folder = tempfile::tempdir().unwrap();
    let command = is_there.then(|| {
        let mut command = Command::new("go");
        command
            .arg("run")
            .arg(client("client.go"))
            .current_dir(folder.path());
        command
    });
    run_client("go", command);
}
