//! Real sandboxes: this program enters them itself, so the tests have their own `main`.

mod waiting;

use std::{
    ffi::OsString,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
};

use platen_jail::{
    MARK,
    sandbox::{self, Finding, KIND, Spec},
};
use waiting::wait_until;

/// First argument of a process that starts a sandboxed program and waits to be killed.
const OWNER: &str = "owner";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match arguments.as_slice() {
        [_, mark, kind, rest @ ..] if mark == MARK && kind == KIND => {
            return ExitCode::from(sandbox::serve(rest) as u8);
        }
        [_, first, folder] if first == OWNER => {
            let mut child = start(Path::new(folder), &["sh", "-c", "echo up; exec sleep 1000"]);
            println!("{}", first_line(&mut child));
            let _ = child.wait();
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "the secret").expect("written");
    let within = folder.path().join("probe");
    std::fs::create_dir(&within).expect("a folder");
    let own = std::env::current_exe().expect("a path");
    match sandbox::probe(&own, &within, &secret).expect("a probe") {
        Finding::Held => {}
        Finding::Failed(why) => {
            let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
            assert!(!all, "{why}");
            println!("SKIP: this machine allows no sandbox: {why}");
            return ExitCode::SUCCESS;
        }
    }
    the_root_has_programs_and_one_folder(&secret);
    streams_codes_and_descriptors_pass();
    nesting_is_for_those_who_ask();
    all_ends_with_the_one_that_was_started();
    all_ends_with_the_owner();
    println!("5 tests passed");
    ExitCode::SUCCESS
}

fn spec(folder: &Path) -> Spec {
    Spec {
        folder: folder.to_owned(),
        open_files: 256,
        file_size_bytes: 1 << 20,
        ..Spec::default()
    }
}

fn command(spec: &Spec, program: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(spec.arguments()).args(program);
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command
}

fn start(folder: &Path, program: &[&str]) -> Child {
    let mut command = command(&spec(folder), program);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.spawn().expect("started")
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let output = child.stdout.as_mut().expect("a pipe");
    BufReader::new(output).read_line(&mut line).expect("a line");
    line.trim().to_owned()
}

/// The output of a script.
fn said(spec: &Spec, script: &str) -> String {
    let output = command(spec, &["sh", "-c", script]).output().expect("run");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Number of processes on this machine with a text in their command line.
fn processes_with(text: &str) -> usize {
    let entries = std::fs::read_dir("/proc").expect("a table").flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let is_so = |line: &Vec<u8>| String::from_utf8_lossy(line).contains(text);
    lines.filter(is_so).count()
}

fn the_root_has_programs_and_one_folder(secret: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    let other = tempfile::tempdir().expect("a folder");
    std::fs::write(other.path().join("given"), "given").expect("written");
    let mut spec = spec(folder.path());
    let secret = secret.display();
    assert_eq!(said(&spec, &format!("cat {secret} || echo none")), "none");
    let root = said(&spec, "ls / | tr '\\n' ' '");
    for absent in ["home", "root", "srv", "mnt", "sys"] {
        assert!(!root.split(' ').any(|name| name == absent), "{root}");
    }
    let own = "pwd; echo a >file; cat file; echo b >/tmp/b; cat /tmp/b; touch /usr/x /x || echo no";
    let place = folder.path().display();
    assert_eq!(said(&spec, own), format!("{place}\na\nb\nno"));
    assert!(folder.path().join("file").exists() && folder.path().join("tmp/b").exists());
    let read = format!(
        "cat {0}/given; touch {0}/x || echo no",
        other.path().display()
    );
    assert_eq!(said(&spec, &format!("{read} 2>/dev/null")), "no");
    spec.reads.push(other.path().to_owned());
    assert_eq!(said(&spec, &read), "givenno");
    spec.writes.append(&mut spec.reads);
    assert_eq!(said(&spec, &read), "given");
    assert_eq!(
        said(
            &spec,
            "id -u; echo $$; [ $(wc -l </proc/net/route) -le 1 ] && echo none"
        ),
        "65534\n2\nnone"
    );
    assert_eq!(said(&spec, "echo x >/proc/sysrq-trigger || echo no"), "no");
    assert_eq!(
        said(&spec, "echo '#!/bin/sh' >p; chmod +x p; ./p || echo no"),
        "no"
    );
}

fn streams_codes_and_descriptors_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = spec(folder.path());
    let code = |script| {
        let status = command(&spec, &["sh", "-c", script]).status().expect("run");
        status.code()
    };
    assert_eq!(code("exit 7"), Some(7));
    assert_eq!(code("kill -9 $$"), Some(137));
    assert_eq!(said(&spec, "ulimit -n"), "256");
    let status = command(&spec, &["nothing-like-this"])
        .status()
        .expect("run");
    assert_eq!(status.code(), Some(127));
    let script = format!(
        "exec 3>&1; exec \"$@\" 3>&3; # {}",
        std::env::current_exe().expect("a path").display()
    );
    let mut through = Command::new("sh");
    through.args(["-c", &script, "sh"]);
    through.arg(std::env::current_exe().expect("a path"));
    through
        .args(spec.arguments())
        .args(["sh", "-c", "echo three >&3"]);
    let output = through.output().expect("run");
    assert_eq!(output.stdout, b"three\n");
}

fn nesting_is_for_those_who_ask() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut spec = spec(folder.path());
    let script = "unshare --user true && echo yes || echo no";
    assert_eq!(said(&spec, script), "no");
    spec.nests = true;
    assert_eq!(said(&spec, script), "yes");
}

fn all_ends_with_the_one_that_was_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "(setsid sleep 1234567 &); (setsid sleep 1234567 &); echo up; exec sleep 1234567";
    let mut child = start(folder.path(), &["sh", "-c", script]);
    assert_eq!(first_line(&mut child), "up");
    wait_until("three sleep", || processes_with("sleep\x001234567") == 3);
    child.kill().expect("killed");
    child.wait().expect("reaped");
    wait_until("none is left", || processes_with("sleep\x001234567") == 0);
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("a table");
    assert!(!mounts.contains(folder.path().to_str().expect("a path")));
    let place = folder.path().to_owned();
    folder.close().expect("removed");
    assert!(!place.exists());
}

fn all_ends_with_the_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut owner = Command::new(std::env::current_exe().expect("a path"))
        .arg(OWNER)
        .arg(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    assert_eq!(first_line(&mut owner), "up");
    let place = folder.path().to_str().expect("a path").to_owned();
    assert!(processes_with(&place) >= 2);
    owner.kill().expect("killed");
    owner.wait().expect("reaped");
    let mut rest = Vec::new();
    let output = owner.stdout.as_mut().expect("a pipe");
    output.read_to_end(&mut rest).expect("closed by all");
    wait_until("none is left", || processes_with(&place) == 0);
}
