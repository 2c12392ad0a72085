//! Documents and a converter for the tests.

use std::{
    io::{Cursor, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use platen_office::{
    Config, Document, Error, Job, Office, Options, Origin, Plain, Source, Starter, Target,
    detect_launcher,
};
use platen_pool::{
    Bounds, Controller, Demand, Greeting, Isolation, Process, Program, Programs, Server, StartError,
};
use tokio::task::JoinHandle;
use zip::write::SimpleFileOptions;

/// Generous: no test is about speed.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A converter with its own folder; `None`, with a visible message, if LibreOffice is not
/// installed.
pub struct Bench {
    pub office: Office,
    pub folder: tempfile::TempDir,
    controller: Option<JoinHandle<()>>,
}

pub async fn bench(config: Config) -> Option<Bench> {
    if platen_office::find_libreoffice(None).is_err() {
        assert!(
            std::env::var("REQUIRE_ALL").as_deref() != Ok("1"),
            "LibreOffice is not installed"
        );
        eprintln!("SKIP: LibreOffice is not installed");
        return None;
    }
    bench_behind(config, detect_launcher().await).await
}

/// The same with a launcher.
pub async fn bench_behind(config: Config, origin: impl Into<Origin>) -> Option<Bench> {
    if platen_office::find_libreoffice(None).is_err() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let office = Office::new(config, origin, folder.path()).unwrap();
    let controller = None;
    Some(Bench {
        office,
        folder,
        controller,
    })
}

/// Programs of a controller: LibreOffice without a sandbox.
struct Offices(Starter);

impl Programs for Offices {
    async fn start(&self, program: Program) -> Result<Process, StartError> {
        assert_eq!(program, Program::LibreOffice);
        self.0.start().await
    }

    fn greeting(&self) -> Greeting {
        Greeting {
            version: String::new(),
            isolation: Isolation::default().into(),
            chromium: Err("none".to_owned()),
            libreoffice: Ok("any".to_owned()),
            max_processes: 8,
        }
    }

    fn say(&self, text: String) {
        eprintln!("{text}");
    }
}

/// A converter whose processes a controller starts, without a sandbox: documents go over the
/// connection.
pub async fn bench_by_controller(config: Config) -> Option<Bench> {
    if platen_office::find_libreoffice(None).is_err() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let starter = Starter::new(config.clone(), Arc::new(Plain), folder.path()).unwrap();
    let socket = folder.path().join("s");
    let bounds = Bounds {
        users: Vec::new(),
        max_processes: 8,
        max_memory_bytes: 4 << 30,
    };
    let server = Server::listen(&socket, Offices(starter), bounds).unwrap();
    let controller = Some(tokio::spawn(server.run(std::future::pending())));
    let origin = Origin::Controller(Arc::new(Controller::new(&socket, Demand::Auto)));
    let office = Office::new(config, origin, folder.path()).unwrap();
    Some(Bench {
        office,
        folder,
        controller,
    })
}

/// Converters of each kind: documents go as files, and over a connection; with the LibreOffice that
/// is installed, and the newest.
pub async fn benches() -> Vec<Bench> {
    let mut all = Vec::new();
    all.extend(bench(small()).await);
    all.extend(bench_by_controller(small()).await);
    if let Some(program) = newest() {
        let program = Some(program);
        all.extend(bench(Config { program, ..small() }).await);
    }
    all
}

/// The newest LibreOffice of Debian's backports, which `.ci/newest-libreoffice.sh` fetches where
/// the system has an older one.
fn newest() -> Option<PathBuf> {
    let home = || std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{}/.cache", home()));
    let program = Path::new(&cache).join("platen/libreoffice/usr/bin/soffice");
    if program.exists() {
        return Some(program);
    }
    let system = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let is_wanted = system.contains("VERSION_CODENAME=bookworm");
    let is_required = std::env::var("REQUIRE_ALL").as_deref() == Ok("1");
    assert!(!(is_wanted && is_required), "{program:?} is missing");
    eprintln!("SKIP: the newest LibreOffice is missing");
    None
}

/// A configuration of one process and one spare.
pub fn small() -> Config {
    Config {
        slots: 1,
        reserved: 0,
        ..Config::default()
    }
}

impl Bench {
    pub async fn convert(&self, input: Bytes, target: Target) -> Result<Bytes, Error> {
        self.with(input, None, target, &[]).await
    }

    pub async fn with(
        &self,
        input: Bytes,
        name: Option<&str>,
        target: Target,
        options: &[(&str, &str)],
    ) -> Result<Bytes, Error> {
        let mut job = job(input, target, options);
        job.name = name.map(str::to_owned);
        self.office.convert(job).await.map(bytes)
    }

    /// The converter's LibreOffice processes, including zombies.
    pub fn processes(&self) -> Vec<(u32, char)> {
        let mark = self.folder.path().display().to_string();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else {
                continue;
            };
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let Some((_, rest)) = stat.rsplit_once(") ") else {
                continue;
            };
            let state = rest.chars().next().unwrap_or('?');
            let parent = rest.split(' ').nth(1).and_then(|it| it.parse::<u32>().ok());
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let ours = String::from_utf8_lossy(&line).contains(&mark);
            if ours || (state == 'Z' && parent == Some(std::process::id())) {
                found.push((pid, state));
            }
        }
        found
    }

    /// Pids of the working processes.
    pub fn pids(&self) -> Vec<u32> {
        let processes = self.processes();
        processes
            .iter()
            .filter(|it| it.1 != 'Z')
            .map(|it| it.0)
            .collect()
    }

    /// Shuts the converter down and checks that nothing of it is left.
    pub async fn close(self) {
        self.office.shutdown(Duration::from_secs(20)).await;
        if let Some(controller) = &self.controller {
            controller.abort();
            until("the controller has ended", async || {
                controller.is_finished()
            })
            .await;
            std::fs::remove_file(self.folder.path().join("s")).unwrap();
        }
        until("no process is left", async || self.processes().is_empty()).await;
        drop(self.office);
        let files = || {
            std::fs::read_dir(self.folder.path())
                .unwrap()
                .flatten()
                .count()
        };
        until("no file is left", async || files() == 0).await;
        let mark = self.folder.path().display().to_string();
        drop(self.folder);
        assert!(!Path::new(&mark).exists());
    }
}

/// Waits until `is_so`, which nothing announces. The time limit is only a safety net.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < end, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Pipes of this process's converters.
pub fn pipes() -> Vec<String> {
    let mark = format!("_platen-{}-", std::process::id());
    let entries = std::fs::read_dir("/tmp").unwrap().flatten();
    let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
    names
        .filter(|it| it.starts_with("OSL_PIPE") && it.contains(&mark))
        .collect()
}

pub fn job(input: Bytes, target: Target, options: &[(&str, &str)]) -> Job {
    let mut set = Options::default();
    for (name, value) in options {
        set.set(name, value).unwrap();
    }
    let mut job = Job::new(Source::Content(input.into()), target);
    (job.options, job.timeout) = (set, PATIENCE);
    job
}

pub fn bytes(document: Document) -> Bytes {
    document.body.read().unwrap()
}

pub fn zip(parts: &[(&str, &[u8])]) -> Bytes {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        let stored = zip::CompressionMethod::Stored;
        let deflated = zip::CompressionMethod::Deflated;
        let method = if *name == "mimetype" {
            stored
        } else {
            deflated
        };
        let options = SimpleFileOptions::default().compression_method(method);
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner().into()
}

const TYPES: &str = r#"<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="jpg" ContentType="image/jpeg"/><Default Extension="png" ContentType="image/png"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/word/settings.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.settings+xml"/></Types>"#;
const RELATIONS: &str = r#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#;

/// A DOCX with a body, and relationships of the document and of its settings.
pub fn docx_with(body: &str, relations: &str, settings_relations: &str, settings: &str) -> Bytes {
    let document = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><w:body>{body}<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr></w:body></w:document>"#
    );
    let list = |relations: &str| {
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rIdS" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/settings" Target="settings.xml"/>{relations}</Relationships>"#
        )
    };
    let settings = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><w:settings xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">{settings}</w:settings>"#
    );
    let settings_relations = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{settings_relations}</Relationships>"#
    );
    zip(&[
        ("[Content_Types].xml", TYPES.as_bytes()),
        ("_rels/.rels", RELATIONS.as_bytes()),
        ("word/document.xml", document.as_bytes()),
        ("word/_rels/document.xml.rels", list(relations).as_bytes()),
        ("word/settings.xml", settings.as_bytes()),
        (
            "word/_rels/settings.xml.rels",
            settings_relations.as_bytes(),
        ),
    ])
}

/// A DOCX of paragraphs.
pub fn docx(paragraphs: usize) -> Bytes {
    let mut body = String::new();
    for number in 1..=paragraphs {
        body.push_str(&format!(
            "<w:p><w:r><w:t>Paragraph {number}: the quick brown fox jumps over the lazy dog.</w:t></w:r></w:p>"
        ));
    }
    docx_with(&body, "", "", "")
}

/// A flat OpenDocument text.
pub fn flat_text(body: &str) -> Bytes {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>{body}</office:text></office:body></office:document>"#
    )
    .into()
}

/// A flat OpenDocument spreadsheet.
pub fn flat_sheet(rows: &str) -> Bytes {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet><table:table table:name="One">{rows}</table:table></office:spreadsheet></office:body></office:document>"#
    )
    .into()
}

/// A flat OpenDocument presentation with one slide.
pub fn flat_slides() -> Bytes {
    r#"<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.presentation"><office:body><office:presentation><draw:page draw:name="p1"><draw:frame svg:width="10cm" svg:height="3cm" svg:x="2cm" svg:y="2cm"><draw:text-box><text:p>A slide</text:p></draw:text-box></draw:frame></draw:page></office:presentation></office:body></office:document>"#.into()
}

/// Number of pages of a PDF from LibreOffice.
pub fn pages(pdf: &[u8]) -> usize {
    let marks = [
        &b"/Type/Page/"[..],
        b"/Type/Page\n",
        b"/Type/Page>",
        b"/Type/Page ",
    ];
    let count = |mark: &[u8]| pdf.windows(mark.len()).filter(|it| *it == mark).count();
    marks.iter().map(|mark| count(mark)).sum()
}
