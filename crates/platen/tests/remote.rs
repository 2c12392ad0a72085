//! LibreOffice and Chromium that others run, on a host and port.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    io::Read,
    net::{TcpListener, TcpStream},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::Arc,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use platen_browser::find_chromium;
use platen_office::find_libreoffice;
use process::{Service, has_chromium, has_libreoffice, is_missing, waiting::wait_until};

/// A program that listens, in a process group of its own, and its folder.
struct Remote {
    process: Child,
    address: String,
    folder: tempfile::TempDir,
}

impl Remote {
    fn office() -> Self {
        Self::office_at(free_port())
    }

    fn office_at(port: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = find_libreoffice(None).unwrap().program;
        let profile = folder.path().join("profile");
        let start = || {
            let mut command = Command::new(&program);
            command
                .args(["--headless", "--invisible", "--nologo", "--norestore"])
                .arg(format!("--accept=socket,host=127.0.0.1,port={port};urp;"))
                .arg(format!(
                    "-env:UserInstallation=file://{}",
                    profile.display()
                ))
                .env("TMPDIR", folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .process_group(0);
            command.spawn().unwrap()
        };
        let mut process = start();
        wait_until("LibreOffice listens", || {
            // With a new profile it only makes it, and asks to be started again.
            if process.try_wait().unwrap().is_some() {
                process = start();
            }
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Self::new(process, port, folder)
    }

    fn chromium() -> Self {
        Self::chromium_at(free_port())
    }

    fn chromium_at(port: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let process = Command::new(find_chromium(None).unwrap())
            .args(["--headless", "--no-sandbox", "--disable-gpu"])
            .arg(format!("--remote-debugging-port={port}"))
            .arg(format!(
                "--user-data-dir={}",
                folder.path().join("p").display()
            ))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        wait_until("Chromium listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Self::new(process, port, folder)
    }

    fn new(process: Child, port: u16, folder: tempfile::TempDir) -> Self {
        Self {
            process,
            address: format!("127.0.0.1:{port}"),
            folder,
        }
    }

    fn port(&self) -> u16 {
        self.address.rsplit(':').next().unwrap().parse().unwrap()
    }

    fn signal(&self, signal: &str) {
        let group = format!("-{}", self.process.id());
        let _ = Command::new("kill").args([signal, "--", &group]).status();
    }

    fn kill(&mut self) {
        self.signal("-9");
        let _ = self.process.wait();
    }

    /// Folders of jobs that are left in its folder for temporary files.
    fn job_folders(&self) -> usize {
        let entries = std::fs::read_dir(self.folder.path()).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("platen-job")).count()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Whether an answer is a 503 that says when to try again.
fn is_refused(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer).to_lowercase();
    text.starts_with("http/1.1 503") && text.contains("\r\nretry-after: ")
}

#[test]
fn documents_go_to_libreoffice_elsewhere_as_long_as_one_is_there() {
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let (mut first, mut second) = (Remote::office(), Remote::office());
    let remotes = format!("{},{}", first.address, second.address);
    let service = Service::start(&[("OFFICE_REMOTE", &remotes), ("LIBREOFFICE_PATH", "/none")]);
    for (name, text) in [("a.txt", "text"), ("a.csv", "a,b"), ("a.rtf", "{\\rtf1 a}")] {
        assert_eq!(service.convert(name, text.as_bytes()), "200", "{name}");
    }
    assert!(service.children().is_empty(), "{:?}", service.children());
    let level = "platen_pool_isolation{pool=\"libreoffice\",level=\"remote\"} 1";
    assert_eq!(service.metrics(level).len(), 1);
    wait_until("nothing of a document is left", || {
        first.job_folders() + second.job_folders() == 0
    });
    // One is lost: the other does its work.
    first.kill();
    for _ in 0..4 {
        assert_eq!(service.convert("a.txt", b"text"), "200");
    }
    // Both are: a clear answer, and one that comes back is found.
    let port = second.port();
    second.kill();
    service.wait_until("conversions are refused", || {
        is_refused(&service.converted("a.txt", b"text"))
    });
    let _again = Remote::office_at(port);
    service.wait_until("conversions go on", || {
        service.convert("a.txt", b"text") == "200"
    });
}

/// A text that takes LibreOffice seconds.
fn long_text() -> Vec<u8> {
    "A line of a long text.\n".repeat(60_000).into_bytes()
}

#[test]
fn deadlines_hold_for_libreoffice_elsewhere_that_hangs() {
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let office = Remote::office();
    let variables = [
        ("OFFICE_REMOTE", &*office.address),
        ("OFFICE_TIMEOUT_MS", "3000"),
    ];
    let service = Service::start(&variables);
    assert_eq!(service.convert("a.txt", b"text"), "200");
    office.signal("-STOP");
    for _ in 0..3 {
        let start = Instant::now();
        let status = service.convert("a.txt", b"text");
        assert!(
            status.starts_with("504") || status.starts_with("503"),
            "{status}"
        );
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{:?}",
            start.elapsed()
        );
    }
    office.signal("-CONT");
    service.wait_until("conversions go on", || {
        service.convert("a.txt", b"text") == "200"
    });
}

#[test]
fn a_document_whose_libreoffice_elsewhere_dies_goes_to_another() {
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let (mut first, second) = (Remote::office(), Remote::office());
    let remotes = format!("{},{}", first.address, second.address);
    let service = Service::start(&[("OFFICE_REMOTE", &remotes)]);
    // As many documents as processes, so that the one that dies has one.
    let long = long_text();
    std::thread::scope(|scope| {
        let send = || service.convert("a.txt", &long);
        let both = [scope.spawn(send), scope.spawn(send)];
        wait_until("both have a document", || {
            first.job_folders() + second.job_folders() == 2
        });
        first.kill();
        for answer in both {
            assert_eq!(answer.join().unwrap(), "200");
        }
    });
}

#[test]
fn the_command_converts_by_libreoffice_elsewhere() {
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let office = Remote::office();
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.txt");
    std::fs::write(&input, "text").unwrap();
    let run = |address: &str, arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_platen"))
            .args(["convert", "--office", address])
            .args(arguments)
            .arg(&input)
            .env("LIBREOFFICE_PATH", "/none")
            .output()
            .unwrap()
    };
    let address = format!("tcp://{}", office.address);
    let done = run(&address, &["--filter", "MS Word 97"]);
    assert!(done.status.success(), "{done:?}");
    let made = std::fs::read(folder.path().join("a.doc")).unwrap();
    assert!(made.starts_with(b"\xd0\xcf\x11\xe0"));
    let failed = |address: &str, arguments: &[&str], exit_code, words: &str| {
        let output = run(address, arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(exit_code), "{text}");
        assert!(text.contains(words), "{words}: {text}");
    };
    failed(&address, &["--io", "file"], 1, "only stream works");
    failed(&address, &["--filter", "nothing"], 1, "--list-filters");
    failed("tcp://nowhere", &[], 1, "tcp://HOST:PORT");
    let nobody = format!("tcp://127.0.0.1:{}", free_port());
    failed(&nobody, &[], 2, "refused");
}

/// An end of a tunnel of stunnel, whose section is that of docs/reference/convert.md.
struct TunnelEnd(Child);

impl TunnelEnd {
    fn start(folder: &std::path::Path, name: &str, service: &str) -> Self {
        let path = folder.join(format!("{name}.conf"));
        let text = format!("foreground = yes\npid =\n[office]\n{service}\nverifyPeer = yes\n");
        std::fs::write(&path, text).unwrap();
        let mut command = Command::new("stunnel");
        command.arg(&path).current_dir(folder).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for TunnelEnd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn documents_travel_through_a_tunnel_of_tls() {
    let has_stunnel = Command::new("stunnel").arg("-version").output().is_ok();
    if is_missing("LibreOffice", has_libreoffice()) || is_missing("stunnel", has_stunnel) {
        return;
    }
    let office = Remote::office();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["office", "client", "stranger"] {
        let line = format!(
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -keyout {name}.key -out {name}.crt"
        );
        let mut command = Command::new("openssl");
        let output = command
            .args(line.split(' '))
            .current_dir(at)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let read = |ending: &str| std::fs::read(at.join(format!("{name}.{ending}"))).unwrap();
        std::fs::write(
            at.join(format!("{name}.pem")),
            [read("key"), read("crt")].concat(),
        )
        .unwrap();
    }
    let tunnel = free_port();
    let far = format!(
        "accept = 127.0.0.1:{tunnel}\nconnect = {}\ncert = office.pem\nCAfile = client.crt",
        office.address
    );
    let _far = TunnelEnd::start(at, "far", &far);
    wait_until("the far end listens", || {
        TcpStream::connect(("127.0.0.1", tunnel)).is_ok()
    });
    let near = |name: &str| {
        let port = free_port();
        let service = format!(
            "client = yes\naccept = 127.0.0.1:{port}\nconnect = 127.0.0.1:{tunnel}\n\
             cert = {name}.pem\nCAfile = office.crt"
        );
        let end = TunnelEnd::start(at, name, &service);
        wait_until("the tunnel listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        (end, format!("tcp://127.0.0.1:{port}"))
    };
    std::fs::write(at.join("a.txt"), "text").unwrap();
    let convert = |address: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
        command.args(["convert", "--office", address, "a.txt"]);
        command.current_dir(at).output().unwrap()
    };
    let (_end, address) = near("client");
    let is_done = |address: &str| {
        let _ = std::fs::remove_file(at.join("a.pdf"));
        let done = convert(address);
        let made = std::fs::read(at.join("a.pdf")).unwrap_or_default();
        assert_eq!(
            done.status.success(),
            made.starts_with(b"%PDF-"),
            "{done:?}"
        );
        done.status.success()
    };
    assert!(is_done(&address));
    // Who has another certificate reaches nothing, and the other one still does.
    let (_stranger, closed) = near("stranger");
    assert!(!is_done(&closed));
    assert!(is_done(&address));
}

#[test]
fn links_of_documents_are_not_followed_elsewhere() {
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let office = Remote::office();
    let service = Service::start(&[("OFFICE_REMOTE", &office.address)]);
    let secret = office.folder.path().join("secret.png");
    // A picture of any kind: a page as one.
    let png = service.converted("a.txt&to=png", b"text");
    let start = png.windows(4).position(|it| it == b"\r\n\r\n").unwrap() + 4;
    std::fs::write(&secret, &png[start..]).unwrap();
    let rtf = format!(
        r#"{{\rtf1{{\field{{\*\fldinst {{INCLUDEPICTURE "file://{}" \\d }}}}{{\fldrslt x}}}}\par end}}"#,
        secret.display()
    );
    let pdf = service.converted("a.rtf", rtf.as_bytes());
    assert!(pdf.starts_with(b"HTTP/1.1 200"));
    let picture = b"/Subtype/Image";
    assert!(!pdf.windows(picture.len()).any(|it| it == picture));
}

#[test]
fn pages_go_to_chromium_elsewhere_as_long_as_one_is_there() {
    if is_missing("Chromium", has_chromium()) {
        return;
    }
    let (mut first, mut second) = (Remote::chromium(), Remote::chromium());
    // A name instead of an address: Chromium wants to be called by its address.
    let remotes = format!("localhost:{},{}", first.port(), second.address);
    let variables = [
        ("CHROMIUM_REMOTE", &*remotes),
        ("CHROMIUM_PATH", "/none"),
        ("CHROMIUM_SPARE_PAGES", "1"),
    ];
    let service = Service::start(&variables);
    for _ in 0..4 {
        assert_eq!(service.print("<p>text"), "200");
    }
    assert!(service.children().is_empty(), "{:?}", service.children());
    let level = "platen_pool_isolation{pool=\"chromium\",level=\"remote\"} 1";
    assert_eq!(service.metrics(level).len(), 1);
    first.kill();
    service.wait_until("pages go to the other", || {
        service.print("<p>text") == "200"
    });
    for _ in 0..3 {
        assert_eq!(service.print("<p>text"), "200");
    }
    let port = second.port();
    second.kill();
    let kind = "content-type: application/json\r\n";
    service.wait_until("pages are refused", || {
        is_refused(&service.post("/render/html-to-pdf", kind, br#"{"html":"<p>text"}"#))
    });
    let _again = Remote::chromium_at(port);
    service.wait_until("pages go on", || service.print("<p>text") == "200");
}

#[test]
fn pages_elsewhere_load_nothing_that_is_not_allowed() {
    if is_missing("Chromium", has_chromium()) {
        return;
    }
    // A server that counts who comes.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.map(|mut stream| stream.read(&mut [0; 100]));
        }
    });
    let chromium = Remote::chromium();
    let service = Service::start(&[("CHROMIUM_REMOTE", &chromium.address)]);
    let page = format!(
        "<img src=http://{place}/a.png><link rel=stylesheet href=http://{place}/a.css>\
         <link rel=preconnect href=http://{place}><link rel=prefetch href=http://{place}/b>\
         <iframe src=http://{place}/c></iframe><img src=file:///etc/passwd>\
         <script>fetch('http://{place}/d'); new WebSocket('ws://{place}/e')</script><p>text"
    );
    assert_eq!(service.print(&page), "200");
    let scripts = serde_json::json!({ "javaScript": true });
    service.print_with(&page, scripts);
    assert_eq!(count.load(Ordering::SeqCst), 0, "somebody came");
}

#[test]
fn the_doctor_says_which_answers() {
    if is_missing("Chromium", has_chromium()) {
        return;
    }
    let chromium = Remote::chromium();
    let silent = free_port();
    let output = Command::new(env!("CARGO_BIN_EXE_platen"))
        .arg("doctor")
        .env("CHROMIUM_REMOTE", &chromium.address)
        .env("OFFICE_REMOTE", format!("127.0.0.1:{silent}"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |name: &str| {
        text.lines()
            .find(|line| line.contains(name))
            .unwrap_or_default()
    };
    assert!(line("CHROMIUM_REMOTE").starts_with("ok"), "{text}");
    assert!(line("OFFICE_REMOTE").starts_with("--"), "{text}");
    assert!(line("OFFICE_REMOTE").contains("refused"), "{text}");
}
