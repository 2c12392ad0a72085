//! The tutorial is true: its blocks run in order in one shell, and make the documents that it promises.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    io::Write,
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
};

use process::is_missing;

/// The blocks that are to be run, which are marked `sh` and nothing else.
fn script() -> String {
    let root = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let page = std::fs::read_to_string(root.join("docs/tutorial.md")).unwrap();
    let blocks = page.split("\n```sh\n").skip(1);
    let blocks: Vec<&str> = blocks
        .filter_map(|rest| rest.split("\n```").next())
        .collect();
    assert!(blocks.len() > 8, "the tutorial has lost its blocks");
    blocks.join("\n")
}

#[test]
fn the_tutorial_runs_as_it_stands() {
    let has_curl = Command::new("curl").arg("--version").output().is_ok();
    if is_missing("curl", has_curl) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let own = Path::new(env!("CARGO_BIN_EXE_platen")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths(std::iter::once(own.to_owned()).chain(std::env::split_paths(&path)));
    // Nobody else takes it in the moment between.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut shell = Command::new("sh")
        .arg("-eu")
        .current_dir(folder.path())
        .env("PATH", path.unwrap())
        .env("PORT", port.to_string())
        .env("HOME", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let script = script();
    let mut input = shell.stdin.take().unwrap();
    // A service that an error leaves behind would hold the pipes open.
    writeln!(
        input,
        "service=; trap 'test -z \"$service\" || kill $service 2>/dev/null || true' EXIT"
    )
    .unwrap();
    input.write_all(script.as_bytes()).unwrap();
    drop(input);
    let output = shell.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(said.contains("status 422"), "{said}");
    let within = folder.path().join("platen-tutorial");
    for name in [
        "invoice.pdf",
        "2026-0043.pdf",
        "order-76.pdf",
        "order-77.pdf",
        "order-later.pdf",
    ] {
        let bytes = std::fs::read(within.join(name)).unwrap_or_default();
        assert!(bytes.starts_with(b"%PDF-"), "{name}: {said}\n{complained}");
    }
}
