//! Large uploads: a service of its own takes them in flat memory, and nothing of them is left.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// What a document has that nobody reads.
const BALLAST_BYTES: usize = 200 << 20;
/// What the service may hold more while it takes the document.
const GROWTH_BYTES: u64 = 64 << 20;

struct Service {
    process: Child,
    address: String,
    folder: tempfile::TempDir,
}

impl Service {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_platen"))
            .args(["serve", "--bind", "127.0.0.1:0", "--log-format", "json"])
            .arg("--data-dir")
            .arg(folder.path().join("data"))
            .env("TMPDIR", folder.path())
            .env("LIBREOFFICE_WARM", "true")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
            line["address"].as_str().map(str::to_owned)
        });
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            process,
            address: address.unwrap(),
            folder,
        }
    }

    /// The most memory that it ever held.
    fn peak_bytes(&self) -> u64 {
        let status = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.unwrap().split_whitespace().next().unwrap();
        kibibytes.parse::<u64>().unwrap() * 1024
    }

    /// Files without a name that it holds.
    fn nameless(&self) -> usize {
        let entries = std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).unwrap();
        let targets = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        let folder = self.folder.path().to_string_lossy().into_owned();
        let is_nameless = |path: &std::path::PathBuf| {
            let path = path.to_string_lossy();
            path.starts_with(&folder) && path.ends_with("(deleted)")
        };
        targets.filter(is_nameless).count()
    }

    fn wait_until(&self, what: &str, mut is_true: impl FnMut() -> bool) {
        let start = Instant::now();
        while !is_true() {
            assert!(start.elapsed() < Duration::from_secs(60), "never: {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a form with a file, as much of it as `most` says; all that comes back.
    fn send(&self, path: &str, document: &Path, most: u64) -> Option<Vec<u8>> {
        let head =
            "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"big.docx\"\r\n\r\n";
        let tail = "\r\n--b--\r\n";
        let size = document.metadata().unwrap().len();
        let length = head.len() as u64 + size + tail.len() as u64;
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: multipart/form-data; boundary=b\r\ncontent-length: {length}\r\n\r\n{head}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        std::io::copy(&mut File::open(document).unwrap().take(most), &mut stream).unwrap();
        if most < size {
            return None;
        }
        stream.write_all(tail.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        Some(answer)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = Command::new("kill")
            .arg(self.process.id().to_string())
            .status();
        let _ = self.process.wait();
    }
}

/// A document of Word with a part that nothing refers to.
fn document(path: &Path) {
    let mut writer = ZipWriter::new(File::create(path).unwrap());
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut add = |name: &str, bytes: &[u8]| {
        writer.start_file(name, stored).unwrap();
        writer.write_all(bytes).unwrap();
    };
    add("[Content_Types].xml", br#"<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="bin" ContentType="application/octet-stream"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#);
    add("_rels/.rels", br#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#);
    add("word/document.xml", br#"<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Large</w:t></w:r></w:p></w:body></w:document>"#);
    add("word/ballast.bin", &vec![7; BALLAST_BYTES]);
    writer.finish().unwrap();
}

#[test]
fn large_uploads_take_flat_memory_and_leave_nothing() {
    if platen_engine::office::find_libreoffice(None).is_err() {
        let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!all, "LibreOffice is not installed");
        println!("SKIP: LibreOffice is not installed");
        return;
    }
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let (small, large) = (folder.path().join("small"), folder.path().join("large"));
    document(&large);
    std::fs::write(&small, "no document").unwrap();
    for path in ["/convert", "/forms/libreoffice/convert"] {
        // What the first request makes the service load is not the upload's.
        service.send(path, &small, u64::MAX).unwrap();
        let before = service.peak_bytes();
        let answer = service.send(path, &large, u64::MAX).unwrap();
        let text = String::from_utf8_lossy(&answer[..answer.len().min(2000)]);
        assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
        let growth = service.peak_bytes() - before;
        assert!(growth < GROWTH_BYTES, "{path}: {growth}");
        service.wait_until("the upload is gone", || service.nameless() == 0);
        // A client that goes away.
        service.send(path, &large, 100 << 20);
        service.wait_until("the broken upload is gone", || service.nameless() == 0);
    }
    let jobs = walk(service.folder.path());
    assert!(
        jobs.iter().all(|name| !name.starts_with("job-")),
        "{jobs:?}"
    );
}

/// Names of all folders and files below.
fn walk(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        names.push(entry.file_name().to_string_lossy().into_owned());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.extend(walk(&entry.path()));
        }
    }
    names
}
