//! The steps of the guides to backups and upgrades are executed as they stand, with other folders and ports, and a
//! service manager of two functions.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    backup::{Acknowledged, publish},
    postgres,
    service::{KEY, Service, free_port, has},
};

/// The shell blocks of a section, in order.
fn steps(heading: &str) -> String {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let guides = Path::new(&root).join("../../docs/guides");
    let read = |name: &str| fs::read_to_string(guides.join(name)).unwrap();
    let guides = read("backup.md") + &read("upgrade.md");
    let section = guides.split(&format!("\n{heading}\n")).nth(1);
    let section = section.unwrap_or_else(|| panic!("no section {heading}"));
    let section = section.split("\n#").next().unwrap();
    let blocks = section.split("\n```sh\n").skip(1);
    let blocks: Vec<&str> = blocks
        .filter_map(|rest| rest.split("\n```").next())
        .collect();
    assert!(!blocks.is_empty(), "{heading} has no steps");
    blocks.join("\n")
}

/// Starts and stops `platen serve` as systemd does with the unit of the guide.
const SYSTEMCTL: &str = r#"#!/bin/sh
set -eu
stop() {
    if [ -f "$PLACE/pid" ]; then
        pid=$(cat "$PLACE/pid")
        kill "$pid"
        # Nobody may have waited for it.
        while grep -qs '^State:.[^Z]' "/proc/$pid/status"; do sleep 0.05; done
        rm "$PLACE/pid"
    fi
}
start() {
    "$PLACE/bin/platen" serve --config "$PLACE/platen.toml" >>"$PLACE/log" 2>&1 </dev/null &
    echo $! >"$PLACE/pid"
}
case $1 in
start) start ;;
stop) stop ;;
restart) stop; start ;;
esac
"#;

/// A machine on which the steps are executed.
struct Machine {
    folder: tempfile::TempDir,
    port: u16,
    /// The address of a database, and of the one that the guide restores into.
    databases: Option<(String, String)>,
    programs: Option<PathBuf>,
}

impl Machine {
    fn new(databases: Option<(String, String)>, programs: Option<PathBuf>) -> Self {
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
            port: free_port(),
            databases,
            programs,
        };
        let place = machine.folder.path();
        fs::create_dir(place.join("bin")).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_platen"), place.join("bin/platen")).unwrap();
        let systemctl = place.join("bin/systemctl");
        fs::write(&systemctl, SYSTEMCTL).unwrap();
        fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = format!(
            "bind = '127.0.0.1:{}'\ndata_dir = '{}/lib'\nsystem_fonts = false\n",
            machine.port,
            place.display()
        );
        fs::write(place.join("platen.toml"), settings).unwrap();
        machine
    }

    /// Executes steps in one shell, with the folders of this machine.
    fn run(&self, steps: &str) {
        let place = self.folder.path().to_str().unwrap();
        let mut steps = steps
            .replace("/var/lib/platen", &format!("{place}/lib"))
            .replace("/var/backups/platen", &format!("{place}/backups"))
            .replace("/usr/local/bin/", &format!("{place}/bin/"))
            .replace("target/release/platen", env!("CARGO_BIN_EXE_platen"))
            .replace("127.0.0.1:3000", &format!("127.0.0.1:{}", self.port));
        let mut shell = Command::new("sh");
        if let Some((url, restored)) = &self.databases {
            let said =
                "postgres://platen:secret@db.example.com/platen_restored?sslmode=verify-full";
            steps = steps.replace(said, restored);
            shell.env("DATABASE_URL", url);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = vec![self.folder.path().join("bin")];
        folders.extend(self.programs.clone());
        folders.extend(std::env::split_paths(&path));
        let mut shell = shell
            .args(["-eux"])
            .env("PATH", std::env::join_paths(folders).unwrap())
            .env("PLACE", place)
            .env("API_KEY_ADMIN", KEY)
            .current_dir(place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = shell.stdin.take().unwrap();
        input.write_all(steps.as_bytes()).unwrap();
        drop(input);
        let output = shell.wait_with_output().unwrap();
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}\n{complained}\n{log}");
    }

    /// The service that the steps have started.
    fn service(&self) -> Service {
        Service::at(self.port)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Ok(pid) = fs::read_to_string(self.folder.path().join("pid")) {
            let _ = Command::new("kill").arg(pid.trim()).status();
        }
    }
}

const START: &str = "systemctl start platen
curl --fail --silent --retry 60 --retry-delay 1 --retry-all-errors http://127.0.0.1:3000/health/ready";

#[test]
fn backups_upgrades_and_restores_by_the_guide() {
    if !has("curl") {
        return;
    }
    let machine = Machine::new(None, None);
    machine.run(START);
    let service = machine.service();
    publish(&service);
    let mut kept = Acknowledged::default();
    for number in 0..3 {
        kept.add(&service, number);
    }
    machine.run(&steps("## Backup"));
    let mut later = Acknowledged::default();
    later.add(&service, 100);
    machine.run(&steps("## Restore"));
    kept.check(&service);
    let lost = service.get("/templates/t-100");
    assert_eq!(lost.status, 404, "{lost:?}");
    machine.run(&steps("## Upgrade"));
    kept.check(&service);
    machine.run(&steps("### Migrate by yourself"));
    kept.check(&service);
}

#[test]
fn backups_and_restores_with_postgresql_by_the_guide() {
    if !has("curl") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(server) = runtime.block_on(postgres::Server::start(&[])) else {
        return;
    };
    let url = runtime.block_on(server.database());
    let restored = server.url("platen_restored");
    let programs = server.programs().to_owned();
    let machine = Machine::new(Some((url, restored)), Some(programs));
    machine.run(START);
    let service = machine.service();
    publish(&service);
    let mut kept = Acknowledged::default();
    for number in 0..3 {
        kept.add(&service, number);
    }
    let flows = service.get("/flows").json();
    machine.run(&steps("### Back up with PostgreSQL"));
    let mut later = Acknowledged::default();
    later.add(&service, 100);
    machine.run(&steps("### Restore with PostgreSQL"));
    kept.check(&service);
    assert_eq!(service.get("/templates/t-100").status, 404);
    assert_eq!(service.get("/flows").json(), flows);
    // Identifiers go on where they were.
    kept.add(&service, 200);
    kept.check(&service);
}
