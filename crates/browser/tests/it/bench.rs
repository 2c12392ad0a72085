//! The pool under test, and helpers that count its processes.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use platen_browser::{
    Browser, Config, Error, File, Job, Lane, Launcher, Output, PageOptions, PdfOptions, Plain,
    Source, find_chromium,
};

/// False, with a visible message, if Chromium is not installed.
pub(crate) fn has_chromium() -> bool {
    let found = find_chromium(None);
    if let Err(error) = &found {
        let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!all, "{error}");
        println!("SKIP: {error}");
    }
    found.is_ok()
}

pub(crate) struct Bench {
    pub(crate) browser: Arc<Browser>,
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) fn bench(config: Config) -> Bench {
    bench_with(config, Arc::new(Plain))
}

pub(crate) fn bench_with(config: Config, launcher: Arc<dyn Launcher>) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let browser = Browser::new(config, launcher, folder.path()).unwrap();
    Bench {
        browser: Arc::new(browser),
        folder,
    }
}

pub(crate) fn small() -> Config {
    Config {
        slots: 2,
        reserved: 0,
        spares: 1,
        ..Config::default()
    }
}

pub(crate) fn job(html: &str) -> Job {
    Job {
        source: Source::Document {
            html: html.to_owned(),
            files: Arc::new(BTreeMap::new()),
        },
        page: PageOptions::default(),
        output: Output::Pdf(PdfOptions::default()),
        lane: Lane::Batch,
        timeout: Duration::from_secs(60),
        key: None,
    }
}

pub(crate) fn scripted(html: &str) -> Job {
    let mut job = job(html);
    job.page.java_script = true;
    job
}

pub(crate) fn with_files(html: &str, files: &[(&str, &str, &[u8])]) -> Job {
    let files = files.iter().map(|(name, media_type, bytes)| {
        let file = File {
            media_type: (*media_type).to_owned(),
            bytes: bytes.to_vec().into(),
        };
        ((*name).to_owned(), file)
    });
    let mut job = job("");
    job.source = Source::Document {
        html: html.to_owned(),
        files: Arc::new(files.collect::<BTreeMap<_, _>>()),
    };
    job
}

impl Bench {
    pub(crate) async fn bytes(&self, job: Job) -> Result<Vec<u8>, Error> {
        self.browser.print(job).await?.bytes().await
    }

    /// Checks that the next page prints normally.
    pub(crate) async fn still_works(&self) {
        let text = text_of(&self.bytes(job("<p>all is well</p>")).await.unwrap());
        assert!(text.contains("all is well"), "{text}");
        let browser = &self.browser;
        eventually("full strength", || {
            let pages = browser.status().pages;
            pages.in_use == 0 && pages.idle >= 1 && pages.children == pages.idle
        })
        .await;
    }

    /// Number of Chromium's renderer processes.
    pub(crate) fn renderers(&self) -> usize {
        let is_renderer = |pid: &i32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("--type=renderer")
        };
        processes_in(self.folder.path())
            .iter()
            .filter(|pid| is_renderer(pid))
            .count()
    }

    /// Pid of the main Chromium process.
    pub(crate) fn leader(&self) -> i32 {
        let all = processes_in(self.folder.path());
        all.into_iter().find(is_leader).expect("Chromium runs")
    }

    /// Shuts the pool down and checks that nothing of it is left.
    pub(crate) async fn end(self) {
        self.browser.shutdown(Duration::from_secs(10)).await;
        let folder = self.folder.path().to_owned();
        assert_eq!(
            processes_in(&folder),
            Vec::<i32>::new(),
            "processes are left"
        );
        drop(self.browser);
        eventually("no folder is left", || {
            std::fs::read_dir(&folder).unwrap().next().is_none()
        })
        .await;
    }
}

fn is_leader(pid: &i32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    line.contains("--remote-debugging-pipe") && !line.contains("--type=")
}

/// Number of main Chromium processes.
pub(crate) fn leaders(folder: &Path) -> usize {
    processes_in(folder)
        .iter()
        .filter(|pid| is_leader(pid))
        .count()
}

pub(crate) fn signal(pid: i32, name: &str) {
    let arguments = [format!("-{name}"), pid.to_string()];
    let _ = std::process::Command::new("kill").args(arguments).status();
}

/// Waits until the condition holds; the timeout is only a safety net.
pub(crate) async fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_true() {
        assert!(Instant::now() < deadline, "never true: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Living processes whose environment names this folder.
pub(crate) fn processes_in(folder: &Path) -> Vec<i32> {
    let needle = format!("PLATEN_CHILD_FOLDER={}", folder.display());
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_in = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&needle)
    };
    pids.filter(is_in).collect()
}

/// The text of a PDF, extracted by poppler's `pdftotext`.
pub(crate) fn text_of(pdf: &[u8]) -> String {
    assert!(pdf.starts_with(b"%PDF-"), "not a PDF: {} bytes", pdf.len());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pdf).unwrap();
    let output = std::process::Command::new("pdftotext")
        .arg("-layout")
        .arg(file.path())
        .arg("-")
        .output();
    match output {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => panic!("pdftotext (poppler-utils): {error}"),
    }
}

pub(crate) fn pages_of(pdf: &[u8]) -> usize {
    text_of(pdf).matches('\u{c}').count()
}

/// A server on loopback that counts connections and answers with the given response.
pub(crate) struct Server {
    pub(crate) port: u16,
    hits: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) async fn start(answer: String) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let hits = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&hits);
        tokio::spawn(async move {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                tokio::spawn(async move {
                    let mut buffer = [0; 4096];
                    let _ = stream.read(&mut buffer).await;
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        Self { port, hits }
    }

    pub(crate) async fn plain(media_type: &str, body: &str) -> Self {
        let length = body.len();
        Self::start(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\n{body}"
        ))
        .await
    }

    pub(crate) fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }
}
