//! LibreOffice processes as children of a pool.

use std::{
    ffi::OsString,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use md5::{Digest, Md5};
use parking_lot::Mutex;
use platen_fonts::{FontSettings, Installed};
use platen_pool::{
    Command, Controller, Driver, Folder, Handle, Image, Origin, Process, Program, Purpose, Spawner,
    StartError, Started, Unsound,
};
use platen_urp::{Bridge, Client, Conversion, Files, Input, Options, Output};
use tokio::net::UnixStream;

use crate::{
    config::Config,
    profile::{self, Template},
    program::{Installation, find_allocator, find_libreoffice_in},
    remote::{self, Lease, Members},
    socket::connect,
};

/// Starts and supervises LibreOffice processes.
pub(crate) struct Soffice {
    config: Config,
    members: Arc<Members>,
    template: tokio::sync::OnceCell<Template>,
    version: Mutex<Option<String>>,
}

/// A process that is ready for a conversion.
pub(crate) struct Worker {
    pub(crate) client: Client,
    pub(crate) place: Place,
    /// Its process, if it is known here.
    pub(crate) process: Option<Handle>,
    /// Whether it has seen authors of changes or comments, which would affect the colors of
    /// changes in later documents.
    pub(crate) knows_authors: bool,
    /// Whether it turned out to be unsuitable for that reason and must be replaced.
    pub(crate) is_spent: bool,
    _held: Held,
}

/// What must be kept as long as a process is used.
enum Held {
    /// Its pipes, if it was started here.
    Pipes(#[expect(dead_code)] Option<PipeFiles>),
    /// The right to use a process of others.
    Lease(#[expect(dead_code)] Lease),
}

/// How documents get to a process, and results back.
pub(crate) enum Place {
    /// As files in a folder.
    Folder {
        /// The folder that holds the folder of the current job.
        path: PathBuf,
        /// The same folder by the path that LibreOffice uses: in a sandbox, one that reveals
        /// nothing of this machine.
        seen: PathBuf,
    },
    /// Over the connection.
    Elsewhere(Elsewhere),
}

/// A LibreOffice with which this process shares no folder.
pub(crate) struct Elsewhere {
    /// The files that it sees.
    pub(crate) files: Files,
    /// Where it may write.
    pub(crate) folder: PathBuf,
    /// The folder of a job in that one, if others may write there, too.
    pub(crate) job: Option<String>,
    /// The folder for large documents and results here.
    pub(crate) spool: PathBuf,
}

impl Elsewhere {
    async fn new(client: &Client, spawner: &Spawner) -> Result<Self, StartError> {
        let failed = |error| StartError::Unusable(Box::new(error));
        // A temporary folder of its own is the same for each, so that documents, which can show
        // where they are, do not differ.
        let folder = match spawner.isolation().files {
            true => "/tmp".into(),
            false => {
                let url = client.temporary_folder().await.map_err(failed)?;
                let path = url.strip_prefix("file://").unwrap_or("/tmp");
                PathBuf::from(path)
            }
        };
        Ok(Self {
            files: client.files().await.map_err(failed)?,
            folder,
            job: matches!(spawner.origin(), Origin::Remote).then(remote::job_folder),
            spool: spawner.place().to_owned(),
        })
    }
}

/// A process that has been started, and a connection to it.
pub(crate) struct Launched {
    pub(crate) process: Process,
    pub(crate) stream: UnixStream,
    /// What is shared with it, if it was started here.
    here: Option<(Place, PipeFiles)>,
}

/// Interval between attempts to connect to a pipe that does not exist yet.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl Soffice {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            members: Members::new(&config.remote),
            config,
            template: tokio::sync::OnceCell::new(),
            version: Mutex::new(None),
        }
    }

    /// Version of the last process started.
    pub(crate) fn version(&self) -> Option<String> {
        let version = self.version.lock();
        version.clone()
    }

    /// The profile to copy, prepared once by a separate start.
    async fn template(
        &self,
        spawner: &Spawner,
        installation: &Installation,
    ) -> Result<&Template, StartError> {
        let make = || make_template(spawner, installation, &self.config);
        self.template.get_or_try_init(make).await
    }

    /// Connects to a process of others.
    async fn attach(&self, spawner: &Spawner) -> Result<Started<Worker>, StartError> {
        let attached = self.members.attach().await?;
        let elsewhere = Elsewhere::new(&attached.client, spawner).await?;
        *self.version.lock() = Some(attached.version);
        Ok(Started {
            child: Worker {
                client: attached.client,
                place: Place::Elsewhere(elsewhere),
                process: None,
                knows_authors: false,
                is_spent: false,
                _held: Held::Lease(attached.lease),
            },
            process: None,
        })
    }

    /// Starts a process and connects to it.
    pub(crate) async fn launch(&self, spawner: &Spawner) -> Result<Launched, StartError> {
        let image = spawner.origin().image();
        let installation = find_libreoffice_in(&image, self.config.program.as_deref())?;
        let template = self.template(spawner, &installation).await?;
        let folder = spawner.folder()?;
        let path = folder.path().to_owned();
        let profile = path.join("profile");
        let overlay = template.overlay.as_deref();
        let launch = Launch::new(spawner, &folder, profile, overlay, &template.fonts);
        let copied = profile::copy(&template.profile, &launch.profile);
        copied.map_err(|source| StartError::Folder {
            path: path.clone(),
            source,
        })?;
        let process = spawner.spawn(launch.command(&installation), folder)?;
        let stream = loop {
            match connect(&launch.pipe).await {
                Ok(stream) => break stream,
                Err(_) if process.handle().is_running() => {
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
                Err(_) => return Err(process.handle().ended_early().await),
            }
        };
        let isolation = spawner.isolation();
        let (path, seen) = match isolation.files {
            true => (isolation.tmp(&path), "/tmp".into()),
            false => (path.clone(), path),
        };
        Ok(Launched {
            process,
            stream,
            here: Some((Place::Folder { path, seen }, launch.pipes)),
        })
    }
}

/// Has the controller start a process.
async fn ask(controller: &Controller) -> Result<Launched, StartError> {
    let mut process = controller.start(Program::LibreOffice).await?;
    let Some(stream) = process.socket.take() else {
        return Err(process.handle().ended_early().await);
    };
    Ok(Launched {
        process,
        stream,
        here: None,
    })
}

/// The client of a connection; if it fails, why the process ended, if it did.
async fn client(stream: UnixStream, process: &Handle) -> Result<Client, StartError> {
    let (reader, writer) = stream.into_split();
    let bridge = Bridge::start(Box::new(reader), Box::new(writer), Options::default()).await;
    let client = match bridge {
        Ok(bridge) => Client::over(bridge).await,
        Err(error) => Err(error),
    };
    match client {
        Ok(client) => Ok(client),
        Err(_) if !process.is_running() => Err(process.ended_early().await),
        Err(error) => Err(StartError::Unusable(Box::new(error))),
    }
}

async fn make_template(
    spawner: &Spawner,
    installation: &Installation,
    config: &Config,
) -> Result<Template, StartError> {
    let folder = spawner.folder()?;
    // Next to the folders of the children, so that it is removed with the pool.
    let place = spawner.place().join("template");
    let failed = |source| StartError::Folder {
        path: place.clone(),
        source,
    };
    // Leftovers of an earlier attempt.
    let _ = std::fs::remove_dir_all(&place);
    // Not in the folder of the process, which is removed as soon as the process exits.
    let made = place.join("first");
    profile::write_settings(&made, &installation.version).map_err(failed)?;
    let overlay = profile::overlay(
        &spawner.origin().image(),
        installation,
        &place.join("installation"),
    );
    let overlay = overlay.map_err(failed)?;
    let fonts = fonts(&config.fonts, place.join("fonts"))
        .await
        .map_err(failed)?;
    let launch = Launch::new(spawner, &folder, made.clone(), overlay.as_deref(), &fonts);
    let process = spawner.spawn(launch.command(installation), folder)?;
    let handle = process.handle().clone();
    let ready = async {
        while handle.is_running() && std::fs::metadata(&launch.pipe).is_err() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    let after = config.start_timeout;
    let in_time = tokio::time::timeout(after, ready).await;
    in_time.map_err(|_| StartError::TimedOut { after })?;
    let profile = place.join("profile");
    handle.kill();
    handle.gone().await;
    profile::copy(&made, &profile).map_err(failed)?;
    profile::write_settings(&profile, &installation.version).map_err(failed)?;
    Ok(Template {
        profile,
        overlay,
        fonts,
    })
}

async fn fonts(settings: &FontSettings, place: PathBuf) -> io::Result<Installed> {
    let settings = settings.clone();
    let install = move || platen_fonts::install(&settings, &place);
    let installed = tokio::task::spawn_blocking(install).await;
    installed.map_err(io::Error::other).flatten()
}

/// Parameters of a start.
struct Launch {
    name: String,
    pipe: PathBuf,
    profile: PathBuf,
    overlay: Option<PathBuf>,
    fonts: Installed,
    pipes: PipeFiles,
    image: Image,
}

impl Launch {
    fn new(
        spawner: &Spawner,
        folder: &Folder,
        profile: PathBuf,
        overlay: Option<&Path>,
        fonts: &Installed,
    ) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("platen-{}-{number}", std::process::id());
        let isolation = spawner.isolation();
        let own = || std::fs::metadata(folder.path()).map_or(0, |data| data.uid());
        let user = isolation.user().unwrap_or_else(own);
        // LibreOffice creates its pipes there, whatever the temporary folder is.
        let tmp = isolation.tmp(folder.path());
        let pipe = |name: &str| tmp.join(format!("OSL_PIPE_{user}_{name}"));
        let own = pipe(&single_instance(&profile));
        let pipe = pipe(&name);
        Self {
            pipes: PipeFiles(vec![pipe.clone(), own]),
            name,
            pipe,
            profile,
            overlay: overlay.map(Path::to_owned),
            fonts: fonts.clone(),
            image: spawner.origin().image(),
        }
    }

    fn command(&self, installation: &Installation) -> Command {
        let url = |name: &str, path: &Path| {
            let mut switch = OsString::from(format!("-env:{name}=file://"));
            switch.push(path);
            switch
        };
        let command = Command::new(installation.program.clone())
            .args(["--headless", "--invisible", "--nologo", "--nodefault"])
            .args(["--norestore", "--nofirststartwizard", "--nolockcheck"])
            .arg(format!("--accept=pipe,name={};urp;", self.name))
            .arg(url("UserInstallation", &self.profile))
            .env("SAL_USE_VCLPLUGIN", "svp")
            .env("FONTCONFIG_FILE", &self.fonts.configuration)
            .installed(installation.root())
            .writes(&self.profile);
        let fonts = self.fonts.folders.iter();
        let command = fonts.fold(command, |command, folder| command.reads(folder));
        let command = match find_allocator(&self.image) {
            Some(allocator) => command.env("LD_PRELOAD", allocator),
            None => command,
        };
        match &self.overlay {
            Some(overlay) => command.arg(url("BRAND_BASE_DIR", overlay)).reads(overlay),
            None => command,
        }
    }
}

/// A document with a single word, for warming up.
const WORD: &[u8] = include_bytes!("profile/word.fodt");

async fn warm(client: &Client) -> Result<(), StartError> {
    let conversion = Conversion {
        filter: "writer_pdf_Export".to_owned(),
        import_filter: Some("OpenDocument Text Flat XML".to_owned()),
        ..Conversion::default()
    };
    let word = Input::Bytes(Bytes::from_static(WORD));
    let converted = client.convert(word, Output::Bytes, &conversion).await;
    match converted {
        Ok(_) => Ok(()),
        Err(error) => Err(StartError::Unusable(Box::new(error))),
    }
}

/// Name of the pipe by which a second start would find the first. LibreOffice derives it from the
/// profile, and drops leading zeros of the digest's bytes.
fn single_instance(profile: &Path) -> String {
    let url = format!("file://{}", profile.display());
    let units: Vec<u8> = url.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let hash = Md5::digest(&units);
    let digits: String = hash.iter().map(|byte| format!("{byte:x}")).collect();
    format!("SingleOfficeIPC_{digits}")
}

/// The pipes that a killed LibreOffice leaves behind, removed on drop.
struct PipeFiles(Vec<PathBuf>);

impl Drop for PipeFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Driver for Soffice {
    type Child = Worker;

    fn name(&self) -> &'static str {
        "libreoffice"
    }

    async fn start(
        &self,
        spawner: &Spawner,
        purpose: Purpose,
    ) -> Result<Started<Worker>, StartError> {
        if matches!(spawner.origin(), Origin::Remote) {
            return self.attach(spawner).await;
        }
        let launched = match spawner.origin().controller() {
            Some(controller) => ask(controller).await?,
            None => self.launch(spawner).await?,
        };
        let Launched {
            process,
            stream,
            here,
        } = launched;
        let client = client(stream, process.handle()).await?;
        let (place, pipes) = match here {
            Some((place, pipes)) => (place, Some(pipes)),
            None => (
                Place::Elsewhere(Elsewhere::new(&client, spawner).await?),
                None,
            ),
        };
        let version = client.version().await;
        let version = version.map_err(|error| StartError::Unusable(Box::new(error)))?;
        // The first document of a process waits for fonts and libraries; a spare loads them in
        // advance.
        if purpose == Purpose::Spare {
            warm(&client).await?;
        }
        let mut last = self.version.lock();
        *last = Some(version);
        drop(last);
        Ok(Started {
            child: Worker {
                client,
                place,
                process: Some(process.handle().clone()),
                knows_authors: false,
                is_spent: false,
                _held: Held::Pipes(pipes),
            },
            process: Some(process),
        })
    }

    async fn probe(&self, worker: &mut Worker) -> Result<(), Unsound> {
        worker.client.ping().await.map_err(|_| Unsound)
    }

    /// Profile and documents are disposable, so the kill that follows loses nothing.
    async fn stop(&self, worker: Worker) {
        drop(worker);
    }

    fn is_spent(&self, worker: &Worker) -> bool {
        worker.is_spent
    }

    fn starts_at_will(&self) -> bool {
        self.config.remote.is_empty()
    }

    fn is_alive(&self, worker: &Worker) -> bool {
        !worker.client.bridge().is_closed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_pipe_is_known() {
        let name = single_instance(Path::new("/srv/p"));
        assert_eq!(name, "SingleOfficeIPC_6c41229de41a66afdeca3c4fc6708781");
    }
}
