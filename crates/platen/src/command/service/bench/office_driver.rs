//! `platen bench office-driver`: one LibreOffice, spoken to by its protocol alone. Each line of
//! standard input is a document, a tab, where its PDF goes, a tab, and how the bytes travel.

use std::{
    error::Error,
    io::{BufRead, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use platen_fault::Code;
use platen_office::{find_libreoffice, profile_settings};
use platen_urp::{Client, Conversion, Input, Options, Output, Phases, Transfer};

use crate::report::Failure;

const START_TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

type Boxed = Box<dyn Error>;

/// Runs until standard input ends.
pub fn run() -> Result<ExitCode, Failure> {
    let failed = |error: Boxed| Failure::new(Code::InternalError, error.to_string());
    drive().map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}

fn drive() -> Result<(), Boxed> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut soffice = Soffice::start()?;
    let client = runtime.block_on(soffice.connect())?;
    let mut out = std::io::stdout();
    writeln!(out, "up")?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let fields: Vec<&str> = line.split('\t').collect();
        let [input, output, way] = fields[..] else {
            return Err("a line is not INPUT, OUTPUT and WAY".into());
        };
        let converted = convert(&client, Path::new(input), Path::new(output), way);
        let answer = match runtime.block_on(converted) {
            Ok((phases, bytes)) => done(&phases, bytes),
            Err(error) => format!("failed {}", error.to_string().replace('\n', " ")),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn done(phases: &Phases, bytes: u64) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    format!(
        "done put={:.3} load={:.3} store={:.3} get={:.3} close={:.3} bytes={bytes}",
        ms(phases.put),
        ms(phases.load),
        ms(phases.store),
        ms(phases.get),
        ms(phases.close)
    )
}

fn transfer(name: &str) -> Result<Transfer, Boxed> {
    match name {
        "file" => Ok(Transfer::File),
        "stream" => Ok(Transfer::Stream),
        _ => Err(format!("unknown way `{name}`").into()),
    }
}

/// `path` lets LibreOffice read and write files itself; else bytes go in and out as they are told to.
async fn convert(
    client: &Client,
    input: &Path,
    output: &Path,
    way: &str,
) -> Result<(Phases, u64), Boxed> {
    let mut conversion = Conversion {
        filter: "writer_pdf_Export".to_owned(),
        import_filter: Some("MS Word 2007 XML".to_owned()),
        ..Conversion::default()
    };
    if way == "path" {
        let out = Output::Path(output.into());
        let converted = client.convert(Input::Path(input.into()), out, &conversion);
        let phases = converted.await?.phases;
        return Ok((phases, output.metadata()?.len()));
    }
    let (one, other) = way.split_once(',').unwrap_or((way, way));
    (conversion.input, conversion.output) = (transfer(one)?, transfer(other)?);
    let bytes = Input::Bytes(std::fs::read(input)?.into());
    let converted = client.convert(bytes, Output::Bytes, &conversion).await?;
    let size = converted.bytes.map_or(0, |bytes| bytes.len());
    Ok((converted.phases, size as u64))
}

/// A process of LibreOffice with a profile of its own; killed when it is dropped.
struct Soffice {
    command: Command,
    child: Child,
    folder: PathBuf,
    pipe: PathBuf,
}

impl Soffice {
    fn start() -> Result<Self, Boxed> {
        let installation = find_libreoffice(None)?;
        let name = format!("platen-driver-{}", std::process::id());
        let folder = std::env::temp_dir().join(&name);
        let user = folder.join("profile/user");
        std::fs::create_dir_all(&user)?;
        let settings = profile_settings(&installation.version, &[]);
        std::fs::write(user.join("registrymodifications.xcu"), settings)?;
        let own = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&user)?);
        let profile = folder.join("profile");
        let mut command = Command::new(&installation.program);
        command
            .args(["--headless", "--invisible", "--nologo", "--nodefault"])
            .args(["--norestore", "--nofirststartwizard", "--nolockcheck"])
            .arg(format!("--accept=pipe,name={name};urp;"))
            .arg(format!(
                "-env:UserInstallation=file://{}",
                profile.display()
            ))
            .env("SAL_USE_VCLPLUGIN", "svp")
            .env("TMPDIR", &folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn()?;
        Ok(Self {
            command,
            child,
            folder,
            pipe: PathBuf::from(format!("/tmp/OSL_PIPE_{own}_{name}")),
        })
    }

    async fn connect(&mut self) -> Result<Client, Boxed> {
        let begun = Instant::now();
        loop {
            match Client::connect_unix(&self.pipe, Options::default()).await {
                Ok(client) => return Ok(client),
                Err(error) if begun.elapsed() > START_TIMEOUT => return Err(error.into()),
                // A new profile wants to be started again.
                Err(_) if self.child.try_wait()?.is_some() => self.child = self.command.spawn()?,
                Err(_) => tokio::time::sleep(POLL).await,
            }
        }
    }
}

impl Drop for Soffice {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.pipe);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
