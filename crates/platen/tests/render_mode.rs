//! LibreOffice and Chromium started by others than the service: by a controller.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use process::{Service, has_chromium, has_libreoffice, is_missing, walk};

const PLATEN: &str = env!("CARGO_BIN_EXE_platen");

/// A controller with a folder of its own, which holds its socket and its temporary files.
struct Controller {
    process: Child,
    folder: tempfile::TempDir,
}

impl Controller {
    fn start(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let process = run(folder.path(), Command::new(PLATEN), variables);
        Self { process, folder }
    }

    fn socket(&self) -> String {
        self.folder.path().join("s").display().to_string()
    }

    fn serve(&self, variables: &[(&str, &str)]) -> Service {
        let socket = self.socket();
        let own = [("RENDER_MODE", "socket"), ("CONTROLLER_SOCKET", &*socket)];
        Service::start(&[&own, variables].concat())
    }

    fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    fn restart(&mut self, variables: &[(&str, &str)]) {
        self.kill();
        self.process = run(self.folder.path(), Command::new(PLATEN), variables);
    }

    /// Programs that it started: numbers and command lines.
    fn programs(&self) -> Vec<(u32, String)> {
        programs_in(self.folder.path())
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a controller, and waits until it listens.
fn run(folder: &Path, mut command: Command, variables: &[(&str, &str)]) -> Child {
    let mut process = command
        .arg("controller")
        .arg("--socket")
        .arg(folder.join("s"))
        .env("TMPDIR", folder)
        .envs(variables.iter().copied())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let listens = lines.any(|line| line.unwrap().starts_with("controller on "));
    assert!(listens, "the controller ended");
    std::thread::spawn(move || lines.for_each(drop));
    process
}

/// Programs whose folder is below this one.
fn programs_in(folder: &Path) -> Vec<(u32, String)> {
    let mark = format!("PLATEN_CHILD_FOLDER={}", folder.display());
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let read = |pid: u32, name: &str| {
        let bytes = std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    };
    pids.filter(|pid| read(*pid, "environ").contains(&mark))
        .map(|pid| (pid, read(pid, "cmdline")))
        .filter(|(_, line)| {
            let program = line.split(' ').next().unwrap_or_default();
            program.ends_with("soffice.bin") || program.contains("chrom")
        })
        .collect()
}

fn lacks_programs() -> bool {
    is_missing("LibreOffice", has_libreoffice()) || is_missing("Chromium", has_chromium())
}

/// A sheet with one formula, which shows where the document is.
const WHERE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet><table:table table:name="Sheet"><table:table-row><table:table-cell table:formula="of:=CELL(&quot;FILENAME&quot;)" office:value-type="string"/></table:table-row></table:table></office:spreadsheet></office:body></office:document>"#;

#[test]
fn a_controller_starts_everything_and_the_service_nothing() {
    if lacks_programs() {
        return;
    }
    let controller = Controller::start(&[]);
    let service = controller.serve(&[]);
    assert_eq!(service.print("<p>text"), "200");
    for (name, text) in [("a.txt", "text"), ("a.csv", "a,b"), ("a.rtf", "{\\rtf1 a}")] {
        assert_eq!(service.convert(name, text.as_bytes()), "200", "{name}");
    }
    let answer = service.converted("where.fods&to=csv", WHERE.as_bytes());
    let text = String::from_utf8_lossy(&answer);
    assert!(
        text.contains("file:///tmp/job-current/where.fods"),
        "{text}"
    );
    assert!(service.children().is_empty(), "{:?}", service.children());
    assert!(controller.programs().len() >= 3);
    // What the controller tells is what the service shows.
    let level = service.metrics("platen_pool_isolation{pool=\"libreoffice\"");
    assert_eq!(level.iter().filter(|line| line.ends_with(" 1")).count(), 1);
    service.wait_until("memory is told", || {
        let all = service.metrics("platen_pool_memory_bytes{pool=\"libreoffice\"}");
        all.iter().any(|line| !line.ends_with(" 0"))
    });
    // With the service all of it goes, however the service ends.
    let mut service = service;
    service.process.kill().unwrap();
    service.process.wait().unwrap();
    service.wait_until("none is left", || controller.programs().is_empty());
    let left = || {
        let names = walk(controller.folder.path());
        names.iter().filter(|name| name.ends_with(".lock")).count()
    };
    service.wait_until("their folders are left to the controller", || left() <= 2);
}

#[test]
fn while_there_is_no_controller_requests_get_503_and_then_go_on() {
    if lacks_programs() {
        return;
    }
    let mut controller = Controller::start(&[]);
    let service = controller.serve(&[]);
    assert_eq!(service.convert("a.txt", b"text"), "200");
    assert_eq!(service.print("<p>text"), "200");
    controller.kill();
    let missing = |answer: &[u8]| {
        let text = String::from_utf8_lossy(answer).to_lowercase();
        text.starts_with("http/1.1 503") && text.contains("\r\nretry-after: ")
    };
    service.wait_until("conversions are refused", || {
        missing(&service.converted("a.txt", b"text"))
    });
    let page = br#"{"html":"<p>text"}"#;
    let kind = "content-type: application/json\r\n";
    service.wait_until("pages are refused", || {
        missing(&service.post("/render/html-to-pdf", kind, page))
    });
    controller.restart(&[]);
    service.wait_until("conversions go on", || {
        service.convert("a.txt", b"text") == "200"
    });
    service.wait_until("pages go on", || service.print("<p>text") == "200");
    // A controller that comes after its service is found, too.
    assert!(service.children().is_empty());
}

#[test]
fn each_document_has_a_process_of_its_own_if_that_is_asked_for() {
    if lacks_programs() {
        return;
    }
    let controller = Controller::start(&[]);
    let fresh = [("PROCESS_MAX_JOBS", "1"), ("OFFICE_SLOTS", "1")];
    for by_controller in [true, false] {
        let service = match by_controller {
            true => controller.serve(&fresh),
            false => Service::start(&fresh),
        };
        let starts = |text: &str| {
            let lines = service.metrics(text);
            let numbers = lines
                .iter()
                .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
            numbers.sum::<u64>()
        };
        let office = "platen_pool_starts_total{pool=\"libreoffice\"}";
        let chromium = "platen_pool_process_starts_total{pool=\"chromium\"}";
        for count in 1..=3 {
            assert_eq!(service.convert("a.txt", b"text"), "200");
            assert_eq!(service.print("<p>text"), "200");
            // One for each document, and spares.
            assert!(starts(office) >= count, "{}", starts(office));
            assert!(starts(chromium) >= count, "{}", starts(chromium));
        }
    }
}

#[test]
fn a_controller_has_other_rights_than_the_service() {
    let is_root = own_user() == 0;
    if lacks_programs() || is_missing("root, to become other users", is_root) {
        return;
    }
    // A user that reaches neither this folder nor the program: both are given to it.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("platen");
    std::fs::copy(PLATEN, &program).unwrap();
    let owned = Command::new("chown")
        .arg("-R")
        .arg("nobody")
        .arg(folder.path())
        .status();
    assert!(owned.unwrap().success());
    let as_nobody = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]);
        command.arg(&program);
        command
    };
    let mut process = run(
        folder.path(),
        as_nobody(),
        &[("CONTROLLER_ALLOW_USER", "root")],
    );
    let socket = folder.path().join("s").display().to_string();
    let own = [("RENDER_MODE", "socket"), ("CONTROLLER_SOCKET", &*socket)];
    let service = Service::start(&own);
    assert_eq!(service.convert("a.txt", b"text"), "200");
    assert_eq!(service.print("<p>text"), "200");
    for (pid, line) in programs_in(folder.path()) {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let user = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        assert!(
            user.is_none_or(|user| user.trim().starts_with("65534")),
            "{line}: {user:?}"
        );
    }
    // Its own user is not permitted, as another was named.
    let refused = as_nobody()
        .args(["convert", "/etc/hostname", "-o", "/dev/null", "--to", "pdf"])
        .envs(own)
        .output()
        .unwrap();
    assert!(!refused.status.success());
    process.kill().unwrap();
    process.wait().unwrap();
}

/// The user of this process.
fn own_user() -> u32 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").unwrap().uid()
}

#[test]
fn two_controllers_on_one_socket_and_other_mistakes_are_told() {
    if lacks_programs() {
        return;
    }
    let controller = Controller::start(&[]);
    let said = |arguments: &[&str]| {
        let output = Command::new(PLATEN)
            .arg("controller")
            .args(arguments)
            .env("TMPDIR", controller.folder.path())
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = said(&["--socket", &controller.socket()]);
    assert!(
        text.contains("no other controller may listen there"),
        "{text}"
    );
    let text = said(&["--allow-user", "nobody-of-that-name"]);
    assert!(text.contains("there is no user"), "{text}");
    let text = said(&["--max-processes", "0"]);
    assert!(text.contains("between 1 and"), "{text}");
    // Both ends are still well.
    let service = controller.serve(&[("CHILD_ISOLATION", "auto")]);
    assert_eq!(service.convert("a.txt", b"text"), "200");
}
