//! The converters: Platen as a service, its protocol client alone with every way of transferring
//! bytes, unoserver, Gotenberg, and LibreOffice started for each document; Platen and the latter also
//! with a newer LibreOffice.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use tempfile::TempDir;

use super::{Options, WORD, convert_request, line::LineProgram};
use crate::{
    Error, Outcome,
    client::Target,
    environment::first_line,
    gotenberg,
    name::{By, Way},
    program::{Program, find, folder, free_port},
    recorder::Recorder,
};

/// Keeps one unoserver client, as a service written in Python would.
const UNOSERVER_CLIENT: &str = r#"
import sys
from unoserver.client import UnoClient
client = UnoClient(port=sys.argv[1])
print("up", flush=True)
for line in sys.stdin:
    path, out = line.rstrip("\n").split("\t")
    client.convert(inpath=path, outpath=out, convert_to="pdf", update_index=False)
    print("done", flush=True)
"#;

enum Means {
    Service(Program),
    Lines {
        program: Arc<LineProgram>,
        way: Option<&'static str>,
        server: Option<Program>,
    },
    Gotenberg(Target),
    OneShot(PathBuf),
}

/// A converter.
pub(super) struct Contestant {
    pub(super) by: By,
    means: Means,
    folder: TempDir,
}

/// All available converters, Platen first.
pub(super) fn contestants(
    options: &Options,
    recorder: &mut Recorder,
) -> Result<Vec<Contestant>, Error> {
    let mut all = Vec::new();
    for (by, isolation) in [(By::Platen, "auto"), (By::NotIsolated, "off")] {
        let settings = [
            ("CHILD_ISOLATION", isolation),
            ("OFFICE_SLOTS", "1"),
            ("LIBREOFFICE_WARM", "true"),
        ];
        let service = options.platen.serve(&settings, &[])?;
        all.push(Contestant::new(by, Means::Service(service))?);
    }
    let mut command = Command::new(&options.platen.program);
    command.args(["bench", "office-driver"]);
    let driver = Arc::new(LineProgram::start("platen bench office-driver", command)?);
    for way in Way::ALL {
        let means = Means::Lines {
            program: Arc::clone(&driver),
            way: Some(way.argument()),
            server: None,
        };
        all.push(Contestant::new(By::Protocol(way), means)?);
    }
    match unoserver(options) {
        Ok(unoserver) => all.push(unoserver),
        Err(error) => recorder.note(format!("unoserver was left out: {error}.")),
    }
    match &options.gotenberg {
        Some(url) => {
            let target = Target::parse(url)?;
            all.push(Contestant::new(By::Gotenberg, Means::Gotenberg(target))?);
        }
        None => recorder.note(
            "Gotenberg was left out: give its address with --gotenberg, or use `make bench`, which builds \
             it where Go is installed.",
        ),
    }
    if let Some(soffice) = find("soffice") {
        all.push(Contestant::new(By::OneShot, Means::OneShot(soffice))?);
    }
    match &options.newest {
        Some(soffice) => all.extend(newest(options, soffice, recorder)?),
        None => recorder.note(
            "The newest LibreOffice was left out: give its program with --newest-libreoffice, or use \
             `make bench-office` on Debian 12.",
        ),
    }
    Ok(all)
}

/// Platen, and LibreOffice started for each document, with a newer LibreOffice.
fn newest(
    options: &Options,
    soffice: &Path,
    recorder: &mut Recorder,
) -> Result<[Contestant; 2], Error> {
    let program = soffice.display().to_string();
    let version = first_line(&program, &["--version"]).ok_or_else(|| Error::Missing {
        program: program.clone(),
        hint: "--newest-libreoffice names LibreOffice's program `soffice`".to_owned(),
    })?;
    recorder.note(format!("The newest LibreOffice is {version}."));
    let settings = [
        ("CHILD_ISOLATION", "auto"),
        ("LIBREOFFICE_PATH", program.as_str()),
        ("OFFICE_SLOTS", "1"),
        ("LIBREOFFICE_WARM", "true"),
    ];
    let service = options.platen.serve(&settings, &[])?;
    Ok([
        Contestant::new(By::NewestPlaten, Means::Service(service))?,
        Contestant::new(By::NewestOneShot, Means::OneShot(soffice.to_owned()))?,
    ])
}

fn unoserver(options: &Options) -> Result<Contestant, Error> {
    let modules = options.unoserver.as_ref().ok_or_else(|| Error::Missing {
        program: "unoserver".to_owned(),
        hint: "`make bench-office` fetches it; or --unoserver DIR".to_owned(),
    })?;
    let python = || {
        let mut command = Command::new("/usr/bin/python3");
        command.env("PYTHONPATH", modules);
        command
    };
    let folder = folder()?;
    let (port, uno_port) = (free_port()?, free_port()?);
    let mut command = python();
    command
        .args(["-m", "unoserver.server", "--port", &port.to_string()])
        .args(["--uno-port", &uno_port.to_string()])
        .arg("--executable")
        .arg(find("soffice").unwrap_or_else(|| "soffice".into()))
        .arg("--user-installation")
        .arg(folder.path().join("profile"))
        .env("TMPDIR", folder.path());
    let target = Target::Tcp(format!("127.0.0.1:{port}"));
    let mut server = Program::start("unoserver", command, folder, target)?;
    server.wait_listening()?;
    let mut command = python();
    command.args(["-c", UNOSERVER_CLIENT, &port.to_string()]);
    let program = LineProgram::start("unoserver's client", command)?;
    let means = Means::Lines {
        program: Arc::new(program),
        way: None,
        server: Some(server),
    };
    Contestant::new(By::Unoserver, means)
}

type Convert<'a> = Box<dyn FnMut() -> Outcome + 'a>;

impl Contestant {
    fn new(by: By, means: Means) -> Result<Self, Error> {
        Ok(Self {
            by,
            means,
            folder: folder()?,
        })
    }

    /// Root of the process tree that converts.
    pub(super) fn pid(&self) -> Option<u32> {
        match &self.means {
            Means::Service(program) => Some(program.pid()),
            Means::Lines {
                server: Some(server),
                ..
            } => Some(server.pid()),
            Means::Lines { program, .. } => Some(program.pid()),
            Means::Gotenberg(_) | Means::OneShot(_) => None,
        }
    }

    /// A function that creates a client for this document.
    pub(super) fn connect<'a>(
        &'a self,
        path: &Path,
    ) -> Result<impl Fn() -> Result<Convert<'a>, Error> + Sync + use<'a>, Error> {
        let path = path.to_owned();
        let request = match &self.means {
            Means::Service(_) | Means::Gotenberg(_) => {
                let content = std::fs::read(&path).map_err(Error::file("read", &path))?;
                let is_ours = matches!(self.means, Means::Service(_));
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                Some(Arc::new(match is_ours {
                    true => convert_request(&name, &content, None),
                    false => gotenberg::request(
                        "/forms/libreoffice/convert",
                        &[("updateIndexes", "false")],
                        &gotenberg::File {
                            name: &name,
                            media_type: WORD,
                            content: &content,
                        },
                    ),
                }))
            }
            _ => None,
        };
        let output = self.folder.path().join("out.pdf");
        Ok(move || -> Result<Convert<'a>, Error> {
            let (path, output, request) = (path.clone(), output.clone(), request.clone());
            match (&self.means, request) {
                (Means::Service(program), Some(request)) => {
                    let mut connection = program.target().connect()?;
                    Ok(Box::new(move || connection.send(&request)))
                }
                (Means::Gotenberg(target), Some(request)) => {
                    let mut connection = target.connect()?;
                    Ok(Box::new(move || connection.send(&request)))
                }
                (Means::Lines { program, way, .. }, _) => {
                    Ok(Box::new(move || program.convert(&path, &output, *way)))
                }
                _ => Ok(Box::new(move || self.one_shot(&path))),
            }
        })
    }

    /// Starts LibreOffice for one document, with a profile that exists after the first start.
    fn one_shot(&self, path: &Path) -> Outcome {
        let Means::OneShot(soffice) = &self.means else {
            return Outcome::default();
        };
        let folder = self.folder.path();
        let profile = format!("-env:UserInstallation=file://{}/profile", folder.display());
        // With a new profile, LibreOffice asks to be restarted by exit code 81.
        for _ in 0..2 {
            let status = Command::new(soffice)
                .arg(&profile)
                .args(["--headless", "--convert-to", "pdf", "--outdir"])
                .arg(folder)
                .arg(path)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            match status.map(|status| status.code()) {
                Ok(Some(0)) => {
                    let made =
                        folder.join(path.with_extension("pdf").file_name().unwrap_or_default());
                    let size_bytes = made.metadata().map_or(0, |it| it.len());
                    let _ = std::fs::remove_file(made);
                    return Outcome {
                        is_good: size_bytes > 0,
                        status: 200,
                        size_bytes,
                        ..Outcome::default()
                    };
                }
                Ok(Some(81)) => {}
                _ => return Outcome::default(),
            }
        }
        Outcome::default()
    }
}
