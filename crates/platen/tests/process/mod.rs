//! A service as a process of its own, and what it leaves.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

#[path = "../waiting/mod.rs"]
pub mod waiting;

/// True, said aloud, where a program is not installed.
pub fn is_missing(what: &str, is_found: bool) -> bool {
    if !is_found {
        let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!all, "{what} is missing");
        println!("SKIP: {what} is missing");
    }
    !is_found
}

pub fn has_libreoffice() -> bool {
    platen_office::find_libreoffice(None).is_ok()
}

pub fn has_chromium() -> bool {
    platen_browser::find_chromium(None).is_ok()
}

/// A folder that `.ci/packages.sh` fetches.
pub fn fetched(name: &str) -> PathBuf {
    let home = || std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{}/.cache", home()));
    PathBuf::from(cache).join("platen").join(name)
}

/// The folder of veraPDF; `None`, said aloud, if it is missing.
pub fn verapdf() -> Option<PathBuf> {
    let jars = fetched("verapdf");
    let java = Command::new("java").arg("--version").output().is_ok();
    (!is_missing("veraPDF", java && jars.is_dir())).then_some(jars)
}

/// Validates files by veraPDF: pairs of a flavour and a path.
#[track_caller]
pub fn validate(jars: &Path, pairs: &[String]) {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let output = Command::new("java")
        .args(["-cp", &format!("{}/*", jars.display())])
        .arg(manifest.join("../../tests/conformance/Validate.java"))
        .args(pairs)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complaint}");
    let sound = said.lines().filter(|line| line.ends_with(" ok")).count();
    assert_eq!(sound, pairs.len() / 2, "{said}");
}

/// A service, whose temporary files are in its folder.
pub struct Service {
    pub process: Child,
    pub address: String,
    pub folder: tempfile::TempDir,
}

impl Service {
    pub fn start(variables: &[(&str, &str)]) -> Self {
        let binary = env!("CARGO_BIN_EXE_platen");
        Self::spawn(
            tempfile::tempdir().unwrap(),
            Command::new(binary),
            variables,
        )
    }

    /// Starts `binary` by the command that `wrapper` makes for its data folder.
    pub fn start_under(
        wrapper: impl FnOnce(&Path) -> Command,
        binary: &str,
        variables: &[(&str, &str)],
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let mut command = wrapper(&data);
        command.arg(binary);
        Self::spawn(folder, command, variables)
    }

    fn spawn(folder: tempfile::TempDir, mut command: Command, variables: &[(&str, &str)]) -> Self {
        let mut process = command
            .args(["serve", "--bind", "127.0.0.1:0", "--log-format", "json"])
            .arg("--data-dir")
            .arg(folder.path().join("data"))
            .env("TMPDIR", folder.path())
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
            line["address"].as_str().map(str::to_owned)
        });
        // Whoever reads the log must go on reading.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            process,
            address: address.unwrap(),
            folder,
        }
    }

    fn status(&self, name: &str) -> u64 {
        let status = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kibibytes = line.unwrap().split_whitespace().next().unwrap();
        kibibytes.parse::<u64>().unwrap() * 1024
    }

    /// The most memory that it ever held.
    pub fn peak_bytes(&self) -> u64 {
        self.status("VmHWM:")
    }

    /// The memory that it holds.
    pub fn memory_bytes(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// What its descriptors lead to.
    pub fn descriptors(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).unwrap();
        entries
            .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
            .collect()
    }

    /// Files without a name that it holds.
    pub fn nameless(&self) -> usize {
        let folder = self.folder.path().to_string_lossy().into_owned();
        let is_nameless = |path: &&PathBuf| {
            let path = path.to_string_lossy();
            path.starts_with(&folder) && path.ends_with("(deleted)")
        };
        self.descriptors().iter().filter(is_nameless).count()
    }

    /// Processes that were started for it, by their number and command line.
    pub fn children(&self) -> Vec<(u32, String)> {
        let mark = format!("PLATEN_CHILD_FOLDER={}", self.folder.path().display());
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let read = |pid: u32, name: &str| {
            let bytes = std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            String::from_utf8_lossy(&bytes).replace('\0', " ")
        };
        pids.filter(|pid| read(*pid, "environ").contains(&mark))
            .map(|pid| (pid, read(pid, "cmdline")))
            .collect()
    }

    /// Sends what `head` and `body` are; all that comes back.
    pub fn post(&self, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
        self.exchange("POST", path, headers, body)
    }

    /// As [`Service::post`], with any method.
    pub fn exchange(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
        let length = body.len();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
        );
        // The service may answer before it has read everything.
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// A document to PDF: the status. `name` may have options behind it.
    pub fn convert(&self, name: &str, document: &[u8]) -> String {
        status_of(&self.converted(name, document))
    }

    /// As [`Service::convert`]: all that comes back.
    pub fn converted(&self, name: &str, document: &[u8]) -> Vec<u8> {
        let kind = "content-type: application/octet-stream\r\n";
        self.post(&format!("/convert?filename={name}"), kind, document)
    }

    /// Processes that have ended and that it has not reaped.
    pub fn zombies(&self) -> usize {
        let parent = self.process.id().to_string();
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let stats =
            entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        let is_ours = |stat: &String| {
            let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            let fields: Vec<&str> = rest.split_whitespace().collect();
            fields.first() == Some(&"Z") && fields.get(1) == Some(&parent.as_str())
        };
        stats.filter(is_ours).count()
    }

    /// Files of jobs that are left.
    pub fn job_files(&self) -> usize {
        let names = walk(self.folder.path());
        names.iter().filter(|name| name.starts_with("job-")).count()
    }

    /// A page to PDF: the status.
    pub fn print(&self, html: &str) -> String {
        self.print_with(html, serde_json::json!({}))
    }

    /// As [`Service::print`], with options.
    pub fn print_with(&self, html: &str, options: serde_json::Value) -> String {
        let body = serde_json::json!({ "html": html, "options": options }).to_string();
        let kind = "content-type: application/json\r\n";
        status_of(&self.post("/render/html-to-pdf", kind, body.as_bytes()))
    }

    /// The metrics whose line contains `text`.
    pub fn metrics(&self, text: &str) -> Vec<String> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let lines = answer.lines().filter(|line| line.contains(text));
        lines.map(str::to_owned).collect()
    }

    pub fn wait_until(&self, what: &str, is_true: impl FnMut() -> bool) {
        waiting::wait_until(what, is_true);
    }

    /// Sends a form with a file, as much of it as `most` says; all that comes back.
    pub fn send(&self, path: &str, document: &Path, most: u64) -> Option<Vec<u8>> {
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

    /// Ends it as a shell does.
    pub fn terminate(&mut self) {
        let _ = Command::new("kill")
            .arg(self.process.id().to_string())
            .status();
        let _ = self.process.wait();
    }
}

/// A document of Word with this body, and parts besides.
pub fn docx(body: &str, besides: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut add = |name: &str, bytes: &[u8]| {
        writer.start_file(name, options).unwrap();
        writer.write_all(bytes).unwrap();
    };
    add("[Content_Types].xml", br#"<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="bin" ContentType="application/octet-stream"/><Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#);
    add("_rels/.rels", br#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/><Relationship Id="r2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>"#);
    add("docProps/core.xml", br#"<?xml version="1.0" encoding="UTF-8"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A title</dc:title></cp:coreProperties>"#);
    let document = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>"#
    );
    add("word/document.xml", document.as_bytes());
    for (name, bytes) in besides {
        add(name, bytes);
    }
    writer.finish().unwrap().into_inner()
}

/// Paragraphs.
pub fn paragraphs(count: usize, text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>").repeat(count)
}

/// The status, and with a problem its code.
pub fn status_of(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(&answer[..answer.len().min(4000)]).into_owned();
    let status = text.split(' ').nth(1).unwrap_or("none");
    let code = text.split("\"code\":\"").nth(1);
    let code = code.and_then(|rest| rest.split('"').next());
    match code {
        Some(code) => format!("{status} {code}"),
        None => status.to_owned(),
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.terminate();
    }
}

/// Names of all folders and files below.
pub fn walk(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        names.push(entry.file_name().to_string_lossy().into_owned());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.extend(walk(&entry.path()));
        }
    }
    names
}
