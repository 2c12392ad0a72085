//! Isolation of the real LibreOffice and Chromium: what they can read, and what is left when they crash.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    net::TcpListener,
    path::Path,
    process::{Command, Output},
};

use platen_browser::find_chromium;
use platen_jail::{
    fence,
    sandbox::{self, Finding, Spec},
};
use platen_office::find_libreoffice;
use process::{Service, has_chromium, has_libreoffice, is_missing};

const PLATEN: &str = env!("CARGO_BIN_EXE_platen");
const SECRET: &str = "nobody may know this";

/// True, and printed, if this machine cannot isolate programs with namespaces.
fn is_sandbox_missing() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (own, secret) = (folder.path().join("own"), folder.path().join("secret"));
    std::fs::create_dir(&own).unwrap();
    std::fs::write(&secret, SECRET).unwrap();
    let found = sandbox::probe(Path::new(PLATEN), &own, &secret).unwrap();
    is_missing("a machine that allows sandboxes", found == Finding::Held)
}

/// What isolates a program.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Nothing,
    Sandbox,
    Fence,
}

/// Runs a program as it is, or shut in, in a folder of its own.
fn run(program: &Path, folder: &Path, arguments: &[&str], by: By) -> Output {
    let is_free = by == By::Nothing;
    let mut command = Command::new(if is_free { program } else { Path::new(PLATEN) });
    if !is_free {
        let spec = Spec {
            folder: folder.to_owned(),
            reads: vec![program.parent().unwrap().to_owned()],
            open_files: 1024,
            file_size_bytes: 1 << 30,
            nests: true,
            ..Spec::default()
        };
        match by {
            By::Fence => command.args(fence::arguments(&spec)),
            _ => command.args(spec.arguments()),
        };
        command.arg(program);
    }
    // The fonts of the service, as a machine may have none of its own.
    let fonts = platen_fonts::install(
        &platen_fonts::FontSettings::default(),
        &folder.join("fonts"),
    );
    command.env("FONTCONFIG_FILE", fonts.unwrap().configuration);
    command.args(arguments).current_dir(folder);
    for name in ["HOME", "TMPDIR"] {
        command.env(name, folder);
    }
    command.output().unwrap()
}

#[test]
fn libreoffice_cannot_read_a_file_outside() {
    if is_missing("LibreOffice", has_libreoffice()) || is_sandbox_missing() {
        return;
    }
    let soffice = find_libreoffice(None).unwrap().program;
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, SECRET).unwrap();
    let secret = secret.to_str().unwrap();
    // The first start of a profile only makes it, so a third would tell nothing else.
    let read = |by| {
        let folder = tempfile::tempdir().unwrap();
        let profile = format!("-env:UserInstallation=file://{}/p", folder.path().display());
        let made = folder.path().join("secret.html");
        let to = ["--convert-to", "html", "--outdir"];
        let out = folder.path().to_str().unwrap();
        for _ in 0..2 {
            let all = [&[&*profile, "--headless"], &to[..], &[out, secret]].concat();
            run(&soffice, folder.path(), &all, by);
        }
        std::fs::read_to_string(made).unwrap_or_default()
    };
    assert!(
        read(By::Nothing).contains(SECRET),
        "without a sandbox, it reads the file"
    );
    assert!(!read(By::Sandbox).contains(SECRET));
    assert!(!read(By::Fence).contains(SECRET));
}

#[test]
fn chromium_cannot_read_a_file_outside_or_connect() {
    if is_missing("Chromium", has_chromium()) || is_sandbox_missing() {
        return;
    }
    let chromium = find_chromium(None).unwrap().canonicalize().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, SECRET).unwrap();
    let secret = format!("file://{}", secret.display());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    listener.set_nonblocking(true).unwrap();
    let show = |url: &str, by| {
        let folder = tempfile::tempdir().unwrap();
        let profile = format!("--user-data-dir={}/p", folder.path().display());
        let switches = [
            "--no-sandbox",
            "--headless",
            "--disable-gpu",
            "--timeout=2000",
        ];
        let all = [&switches[..], &[&profile, "--dump-dom", url]].concat();
        let output = run(&chromium, folder.path(), &all, by);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(
        show(&secret, By::Nothing).contains(SECRET),
        "without a sandbox, it reads the file"
    );
    for by in [By::Sandbox, By::Fence] {
        let shown = show(&secret, by);
        assert!(!shown.contains(SECRET), "{shown}");
        show(&address, by);
        assert!(listener.accept().is_err(), "nobody came");
    }
    show(&address, By::Nothing);
    assert!(listener.accept().is_ok(), "without a sandbox, it connects");
}

#[test]
fn the_programs_of_a_service_see_nothing_and_may_do_nothing() {
    let missing =
        is_missing("LibreOffice", has_libreoffice()) || is_missing("Chromium", has_chromium());
    if missing || is_sandbox_missing() {
        return;
    }
    let service = Service::start(&[("CHILD_ISOLATION", "required")]);
    assert_eq!(service.convert("a.txt", b"text"), "200");
    assert_eq!(service.print("<p>text"), "200");
    for pool in ["libreoffice", "chromium"] {
        let line = format!("platen_pool_isolation{{pool=\"{pool}\",level=\"full\"}} 1");
        assert_eq!(service.metrics(&line).len(), 1);
    }
    let own = std::fs::read_link("/proc/self/ns/net").unwrap();
    let is_program = |line: &str| {
        let program = line.split(' ').next().unwrap_or_default();
        program.ends_with("soffice.bin") || program.contains("chrom")
    };
    let children = service.children();
    let programs: Vec<_> = children
        .iter()
        .filter(|(_, line)| is_program(line))
        .collect();
    assert!(programs.len() >= 3, "{children:?}");
    for (pid, line) in programs {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        for held in ["NoNewPrivs:\t1", "CapEff:\t0000000000000000"] {
            // Chromium's own sandbox has a process that keeps what it needs in its own namespace.
            assert!(
                status.contains(held) || line.contains("zygote"),
                "{line}: {status}"
            );
        }
        let net = std::fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
        assert_ne!(net, own, "{line}");
        let root = format!("/proc/{pid}/root");
        for path in ["/etc/shadow", "/etc/hostname", "/home", "/root", "/var/log"] {
            assert!(
                !Path::new(&format!("{root}{path}")).exists(),
                "{line}: {path}"
            );
        }
        let data = format!("{root}{}/data", service.folder.path().display());
        assert!(!Path::new(&data).exists(), "{line}: the service's data");
    }
}

#[test]
fn killed_at_any_process_nothing_is_left() {
    if is_missing("LibreOffice", has_libreoffice()) || is_sandbox_missing() {
        return;
    }
    let service = Service::start(&[("OFFICE_SLOTS", "1")]);
    let mounts = || std::fs::read_to_string("/proc/self/mounts").unwrap();
    let before = mounts();
    assert_eq!(service.convert("a.txt", b"text"), "200");
    // The process that was started, the first of its namespace, and LibreOffice itself.
    for member in 0..3 {
        let mut children = service.children();
        children.sort_unstable();
        let first = children.first().map(|(pid, _)| group_of(*pid));
        children.retain(|(pid, _)| Some(group_of(*pid)) == first);
        let (pid, line) = children.get(member).expect("three processes").clone();
        let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.unwrap().success(), "{line}");
        let gone = || {
            !service
                .children()
                .iter()
                .any(|(one, _)| children.iter().any(|(other, _)| one == other))
        };
        service.wait_until("the whole family is gone", gone);
        assert_eq!(service.convert("a.txt", b"text"), "200");
    }
    assert_eq!(mounts(), before);
}

/// The process group of a process.
fn group_of(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace()
        .nth(2)
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn with_the_service_all_of_it_goes() {
    let missing =
        is_missing("LibreOffice", has_libreoffice()) || is_missing("Chromium", has_chromium());
    if missing || is_sandbox_missing() {
        return;
    }
    let mut service = Service::start(&[]);
    assert_eq!(service.convert("a.txt", b"text"), "200");
    assert_eq!(service.print("<p>text"), "200");
    assert!(service.children().len() >= 6);
    service.process.kill().unwrap();
    service.process.wait().unwrap();
    service.wait_until("none is left", || service.children().is_empty());
}

#[test]
fn isolation_can_be_required_and_switched_off() {
    let refused = Command::new(PLATEN)
        .args(["convert", "x.txt", "-o", "x.pdf"])
        .env("CHILD_ISOLATION", "much")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && text.contains("auto, required, landlock or off"),
        "{text}"
    );
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let service = Service::start(&[("CHILD_ISOLATION", "off")]);
    assert_eq!(service.convert("a.txt", b"text"), "200");
    let line = "platen_pool_isolation{pool=\"libreoffice\",level=\"none\"} 1";
    assert_eq!(service.metrics(line).len(), 1);
}

#[test]
fn a_service_without_namespaces_has_a_fence() {
    let missing =
        is_missing("LibreOffice", has_libreoffice()) || is_missing("Chromium", has_chromium());
    if missing || is_landlock_missing() {
        return;
    }
    let service = Service::start(&[("CHILD_ISOLATION", "landlock")]);
    for (name, text) in [("a.txt", "text"), ("a.csv", "a,b"), ("a.rtf", "{\\rtf1 a}")] {
        assert_eq!(service.convert(name, text.as_bytes()), "200", "{name}");
    }
    assert_eq!(service.print("<p>text"), "200");
    for pool in ["libreoffice", "chromium"] {
        let line = format!("platen_pool_isolation{{pool=\"{pool}\",level=\"landlock\"}} 1");
        assert_eq!(service.metrics(&line).len(), 1);
    }
}

/// True, said aloud, where the kernel has no Landlock.
fn is_landlock_missing() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (own, secret) = (folder.path().join("own"), folder.path().join("secret"));
    std::fs::create_dir(&own).unwrap();
    std::fs::write(&secret, SECRET).unwrap();
    let found = fence::probe(Path::new(PLATEN), &own, &secret).unwrap();
    is_missing("a kernel with Landlock", found == Finding::Held)
}

/// A sheet with one formula, which shows where the document is.
const WHERE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet><table:table table:name="Sheet"><table:table-row><table:table-cell table:formula="of:=CELL(&quot;FILENAME&quot;)" office:value-type="string"/></table:table-row></table:table></office:spreadsheet></office:body></office:document>"#;

#[test]
fn documents_do_not_learn_where_the_service_keeps_them() {
    if is_missing("LibreOffice", has_libreoffice()) || is_sandbox_missing() {
        return;
    }
    let service = Service::start(&[("CHILD_ISOLATION", "required")]);
    for _ in 0..2 {
        let answer = service.converted("where.fods&to=csv", WHERE.as_bytes());
        let text = String::from_utf8_lossy(&answer);
        assert!(
            text.contains("file:///tmp/job-current/where.fods"),
            "{text}"
        );
        let own = service.folder.path().display().to_string();
        assert!(!text.contains(&own) && !text.contains("pool"), "{text}");
    }
    assert_eq!(service.job_files(), 0);
}
