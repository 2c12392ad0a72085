//! Who converts: Platen, its protocol alone with every way of bytes, and others.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};

use bytes::Bytes;
use platen_office::{Demand, Office, choose_launcher, find_libreoffice};
use platen_urp::{Conversion, Input, Output, Phases, Transfer};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::{Failure, job, office, plain, soffice::Soffice};

/// One conversion.
pub(crate) struct Sample {
    pub(crate) total_ms: f64,
    /// Put, load, store, get, close.
    pub(crate) phases_ms: Option<[f64; 5]>,
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn phases_ms(phases: &Phases) -> Option<[f64; 5]> {
    let Phases {
        put,
        load,
        store,
        get,
        close,
    } = phases;
    Some([put, load, store, get, close].map(|it| ms(*it)))
}

/// The ways of bytes through the protocol.
const WAYS: [(&str, Option<(Transfer, Transfer)>); 5] = [
    ("urp, path", None),
    ("urp, file", Some((Transfer::File, Transfer::File))),
    ("urp, stream", Some((Transfer::Stream, Transfer::Stream))),
    ("urp, file,stream", Some((Transfer::File, Transfer::Stream))),
    ("urp, stream,file", Some((Transfer::Stream, Transfer::File))),
];

#[allow(clippy::large_enum_variant, reason = "there are a handful of them")]
pub(crate) enum Contestant {
    Platen(&'static str, Box<Office>),
    /// One process for all ways.
    Urp(
        &'static str,
        std::sync::Arc<Soffice>,
        Option<(Transfer, Transfer)>,
    ),
    Unoserver(Unoserver),
    Gotenberg(String),
    OneShot,
}

impl Contestant {
    /// All that there are, Platen first.
    pub(crate) async fn all() -> Result<Vec<Self>, Failure> {
        let chosen = choose_launcher(Demand::Auto).await?;
        let walls = office(1, chosen.launcher).await?;
        let mut all = vec![
            Self::Platen("Platen", Box::new(walls)),
            Self::Platen("Platen, no isolation", Box::new(office(1, plain()).await?)),
        ];
        let soffice =
            std::sync::Arc::new(Soffice::start(crate::soffice::Difference::default()).await?);
        for (name, way) in WAYS {
            all.push(Self::Urp(name, soffice.clone(), way));
        }
        match std::env::var_os("UNOSERVER") {
            Some(folder) => all.push(Self::Unoserver(Unoserver::start(&folder.into()).await?)),
            None => eprintln!("UNOSERVER is not set: left out"),
        }
        match std::env::var("GOTENBERG_URL") {
            Ok(url) => all.push(Self::Gotenberg(url)),
            Err(_) => eprintln!("GOTENBERG_URL is not set: left out"),
        }
        all.push(Self::OneShot);
        Ok(all)
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Platen(name, _) | Self::Urp(name, ..) => name,
            Self::Unoserver(_) => "unoserver, its client library",
            Self::Gotenberg(_) => "Gotenberg",
            Self::OneShot => "soffice --convert-to",
        }
    }

    pub(crate) async fn convert(&mut self, path: &Path) -> Result<Sample, Failure> {
        let start = Instant::now();
        let phases_ms = match self {
            Self::Platen(_, office) => {
                let times = office.convert(job(path)).await?.times;
                return Ok(Sample {
                    total_ms: ms(times.total),
                    phases_ms: phases_ms(&times.phases),
                });
            }
            Self::Urp(_, soffice, way) => phases_ms(&urp(soffice, path, *way).await?),
            Self::Unoserver(unoserver) => {
                unoserver.convert(path).await?;
                None
            }
            Self::Gotenberg(url) => {
                gotenberg(url, path).await?;
                None
            }
            Self::OneShot => {
                one_shot(path)?;
                None
            }
        };
        Ok(Sample {
            total_ms: ms(start.elapsed()),
            phases_ms,
        })
    }

    pub(crate) async fn end(self) {
        match self {
            Self::Platen(_, office) => office.shutdown(Duration::ZERO).await,
            Self::Unoserver(mut unoserver) => {
                // It has soffice end with it where it is asked to.
                let pid = unoserver.server.id().unwrap_or(0).to_string();
                let _ = Command::new("kill").arg(pid).status().await;
                let _ = unoserver.server.wait().await;
                let _ = std::fs::remove_dir_all(&unoserver.folder);
            }
            _ => {}
        }
    }
}

/// What Platen tells LibreOffice for a document of Word.
pub(crate) fn conversion() -> Conversion {
    Conversion {
        filter: "writer_pdf_Export".to_owned(),
        import_filter: Some("MS Word 2007 XML".to_owned()),
        ..Conversion::default()
    }
}

async fn urp(
    soffice: &Soffice,
    path: &Path,
    way: Option<(Transfer, Transfer)>,
) -> Result<Phases, Failure> {
    let out = soffice.folder.join("out.pdf");
    let mut conversion = conversion();
    let (input, output) = match way {
        None => (Input::Path(path.to_owned()), Output::Path(out)),
        Some((input, output)) => {
            (conversion.input, conversion.output) = (input, output);
            let bytes = Bytes::from(tokio::fs::read(path).await?);
            (Input::Bytes(bytes), Output::Bytes)
        }
    };
    Ok(soffice
        .client
        .convert(input, output, &conversion)
        .await?
        .phases)
}

/// An unoserver, and a client that stays, as a service written in Python has it.
pub(crate) struct Unoserver {
    server: Child,
    folder: PathBuf,
    _client: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

const CLIENT: &str = r#"
import sys
from unoserver.client import UnoClient
client = UnoClient(port=sys.argv[1])
print("up", flush=True)
for line in sys.stdin:
    path, out = line.rstrip("\n").split("\t")
    client.convert(inpath=path, outpath=out, convert_to="pdf", update_index=False)
    print("done", flush=True)
"#;

impl Unoserver {
    async fn start(modules: &PathBuf) -> Result<Self, Failure> {
        let installation = find_libreoffice(None)?;
        let folder = std::env::temp_dir().join(format!("platen-unoserver-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let port = free_port()?;
        let python = || {
            let mut command = Command::new("/usr/bin/python3");
            command.env("PYTHONPATH", modules).kill_on_drop(true);
            command
        };
        let mut server = python()
            .args([
                "-m",
                "unoserver.server",
                "--port",
                &port,
                "--uno-port",
                &free_port()?,
            ])
            .arg("--executable")
            .arg(installation.program.with_file_name("soffice"))
            .arg("--user-installation")
            .arg(folder.join("p"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        // Its own waits: 5 s and 2 s, and a profile that is made.
        for _ in 0..600 {
            if tokio::net::TcpStream::connect(format!("127.0.0.1:{port}"))
                .await
                .is_ok()
            {
                break;
            }
            if let Some(status) = server.try_wait()? {
                return Err(format!("unoserver ended: {status}").into());
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let mut client = python()
            .args(["-c", CLIENT, &port])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (client.stdin.take(), client.stdout.take());
        let (input, output) = (input.ok_or("a pipe")?, output.ok_or("a pipe")?);
        let mut output = BufReader::new(output).lines();
        output
            .next_line()
            .await?
            .ok_or("the client of unoserver ended")?;
        Ok(Self {
            server,
            folder,
            _client: client,
            input,
            output,
        })
    }

    async fn convert(&mut self, path: &Path) -> Result<(), Failure> {
        let out = self.folder.join("out.pdf");
        let line = format!("{}\t{}\n", path.display(), out.display());
        self.input.write_all(line.as_bytes()).await?;
        self.output
            .next_line()
            .await?
            .ok_or("the client of unoserver ended")?;
        Ok(())
    }
}

/// Below those that the system gives to whoever asks for any, as unoserver takes some seconds to use it.
fn free_port() -> Result<String, Failure> {
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let first = 20_000 + u16::try_from(std::process::id() % 10_000)?;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let mut ports = (0..100).map(|_| first + NEXT.fetch_add(1, Ordering::Relaxed));
    let port = ports.find(is_free).ok_or("no port is free")?;
    Ok(port.to_string())
}

/// With the settings that the others have: indexes stay as they are.
async fn gotenberg(url: &str, path: &Path) -> Result<(), Failure> {
    let file = format!("files=@{}", path.display());
    let status = Command::new("curl")
        .args([
            "-sf",
            "-o",
            "/dev/null",
            "-F",
            &file,
            "-F",
            "updateIndexes=false",
        ])
        .arg(format!("{url}/forms/libreoffice/convert"))
        .status()
        .await?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("Gotenberg at {url} does not convert").into()),
    }
}

/// One start of LibreOffice for one document, with a profile that is ready.
fn one_shot(path: &Path) -> Result<(), Failure> {
    let installation = find_libreoffice(None)?;
    let folder = std::env::temp_dir().join(format!("platen-one-shot-{}", std::process::id()));
    let status = std::process::Command::new(&installation.program)
        .arg(format!(
            "-env:UserInstallation=file://{}/p",
            folder.display()
        ))
        .args(["--headless", "--convert-to", "pdf", "--outdir"])
        .arg(&folder)
        .arg(path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    std::io::stderr().flush()?;
    match status.code() {
        // A new profile wants to be started again.
        Some(81) => one_shot(path),
        _ => Ok(()),
    }
}
