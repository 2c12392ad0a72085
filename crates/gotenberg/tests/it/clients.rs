//! Clients of Gotenberg, written by others, against the service.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::Command,
};

use platen_server::Settings;

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
    run_client_with(name, found, Settings::default());
}

fn run_client_with(name: &str, found: Option<Command>, settings: Settings) {
    let Some(mut command) = found else {
        let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!all, "{name} is not installed: run .ci/packages.sh");
        println!("SKIP: {name} is not installed; .ci/packages.sh does it");
        return;
    };
    if is_chromium_missing() || is_libreoffice_missing() {
        return;
    }
    let app = TestApp::with(settings);
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

/// Its tests as their authors wrote them, but for the addresses.
#[test]
fn the_go_client_passes_its_own_tests() {
    let command = cached("gotenberg-go-client/vendor").map(|vendor| {
        let page = page_of("<p>from afar</p>");
        let mut command = Command::new(client("client_go.sh"));
        command.args(vendor.parent()).arg(format!("http://{page}"));
        (command, page)
    });
    let (command, page) = command.unzip();
    let settings = Settings {
        chromium_allowed_hosts: page.map(|page| vec![page.to_string()]),
        chromium_allow_private_addresses: Some(true),
        ..Settings::default()
    };
    run_client_with("gotenberg-go-client", command, settings);
}

/// A server that answers everything with `html`.
fn page_of(html: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            // Browsers open connections in advance, and send nothing on them.
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let length = html.len();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\
                     connection: close\r\n\r\n"
                );
                let _ = stream.write_all(format!("{head}{html}").as_bytes());
            });
        }
    });
    address
}

/// Fields that the tests of Go's client do not send, by the library that it sends forms with.
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
