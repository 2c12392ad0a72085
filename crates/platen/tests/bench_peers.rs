//! `platen bench` beside other programs, and what it says of two runs.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use platen_bench::{
    Name, Results,
    gaps::gaps,
    name::{By, HttpName, OfficeName, Server},
};
use process::{Service, has_libreoffice, is_missing};

fn root() -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..")
}

fn platen(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command.args(arguments).current_dir(root());
    command.env_remove("UNOSERVER").env_remove("GOTENBERG_URL");
    command.env_remove("NEWEST_LIBREOFFICE").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn done(arguments: &[&str]) -> String {
    let output = platen(arguments);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    text(&output.stdout)
}

#[test]
fn bodies_are_measured_beside_nginx_and_hyper() {
    for program in ["wrk", "nginx"] {
        let has = platen_bench::program::find(program).is_some();
        if is_missing(program, has) {
            return;
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let mut arguments = vec!["bench", "http", "-q", "-s", "tcp", "-b", "s10,100"];
    arguments.extend(["-D", "1", "-T", "1", "-c", "2", "--rounds", "1"]);
    arguments.extend(["--peer", "nginx,hyper", "--out", &out]);
    done(&arguments);
    let results = Results::read(folder.path()).unwrap();
    assert_eq!(gaps(&results), Vec::<String>::new());
    type IsServer = fn(&Server) -> bool;
    let servers: [IsServer; 4] = [
        |it| matches!(it, Server::Transport { .. }),
        |it| matches!(it, Server::Service { .. }),
        |it| matches!(it, Server::Nginx { .. }),
        |it| matches!(it, Server::Hyper { .. }),
    ];
    for is_server in servers {
        let cells = results.pick(|name| match name {
            Name::Http(HttpName::Matrix { server, .. }) => is_server(server).then_some(()),
            _ => None,
        });
        let cells: Vec<_> = cells.map(|(_, cell)| cell).collect();
        assert_eq!(cells.len(), 2);
        for cell in cells {
            assert!(cell.rps > 0.0 && !cell.is_void(), "{}", cell.id());
            let cpu = (cell.server_cpu_ms(), cell.client_cpu_ms());
            assert!(matches!(cpu, (Some(_), Some(_))), "{}: {cpu:?}", cell.id());
        }
    }
    // A run is as fast as itself, and says that it was a quick one.
    let said = done(&["bench", "compare", &out, &out]);
    assert!(said.starts_with("Quick runs: before, http: "), "{said}");
    assert!(
        said.contains("No cell differs by more than its interval."),
        "{said}"
    );
}

/// Platen's own forms stand in for a Gotenberg: the address is measured as that of one is.
#[test]
fn conversions_are_measured_beside_the_address_of_a_gotenberg() {
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let service = Service::start(&[]);
    let address = format!("http://{}", service.address);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let mut arguments = vec!["bench", "office", "-q", "--documents", "letter.docx"];
    arguments.extend(["--sections", "compare", "--rounds", "1", "--samples", "2"]);
    arguments.extend(["--gotenberg", &address, "--out", &out]);
    done(&arguments);
    let results = Results::read(folder.path()).unwrap();
    for wanted in [By::Platen, By::Gotenberg, By::OneShot] {
        let cells = results.pick(|name| match name {
            Name::Office(OfficeName::Compare { by, .. }) => (*by == wanted).then_some(()),
            _ => None,
        });
        let cells: Vec<_> = cells.map(|(_, cell)| cell).collect();
        assert_eq!(cells.len(), 1, "{wanted:?}");
        let is_good = !cells[0].is_void() && cells[0].size_bytes.is_some_and(|it| it > 5_000);
        assert!(is_good, "{wanted:?}: {:?}", cells[0]);
    }
    assert!(
        !results
            .notes
            .iter()
            .any(|it| it.contains("Gotenberg was left out"))
    );
}

#[test]
fn another_machine_is_not_loaded_without_consent() {
    // An address for documentation (RFC 5737), which nothing answers.
    let address = "http://192.0.2.1:3000";
    for (arguments, told) in [
        (vec!["bench", "office", "--gotenberg", address], "--yes"),
        (
            vec!["bench", "render", "--quick", "--url", address],
            "--yes",
        ),
        (vec!["bench", "flow", "--quick", "--url", address], "--yes"),
        (
            vec!["bench", "http", "--peer", address],
            "is not this machine",
        ),
    ] {
        // Should it try, nothing answers.
        let mut command = Command::new("timeout");
        let command = command
            .args(["60", env!("CARGO_BIN_EXE_platen")])
            .args(&arguments);
        let output = command.current_dir(root()).output().unwrap();
        let said = text(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(said.contains(told), "{arguments:?}: {said}");
    }
}
