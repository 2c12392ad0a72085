//! LibreOffice processes as children of a pool.

use std::{
    ffi::OsString,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bytes::Bytes;
use md5::{Digest, Md5};
use parking_lot::Mutex;
use platen_fonts::{FontSettings, Installed};
use platen_pool::{
    Command, Driver, Folder, Handle, Purpose, Spawner, StartError, Started, Unsound,
};
use platen_urp::{Client, Conversion, Input, Options, Output};

use crate::{
    config::Config,
    profile::{self, Template},
    program::{Installation, find_allocator, find_libreoffice},
};

/// Starts and supervises LibreOffice processes.
pub(crate) struct Soffice {
    config: Config,
    template: tokio::sync::OnceCell<Template>,
    version: Mutex<Option<String>>,
}

/// A process that is ready for a conversion.
pub(crate) struct Worker {
    pub(crate) client: Client,
    /// The folder that holds the folder of the current job.
    pub(crate) jobs_in: PathBuf,
    /// The same folder by the path that LibreOffice uses: in a sandbox, one that reveals nothing of
    /// this machine.
    pub(crate) jobs_seen_in: PathBuf,
    pub(crate) jobs: u64,
    pub(crate) process: Handle,
    /// Whether it has seen authors of changes or comments, which would affect the colors of
    /// changes in later documents.
    pub(crate) knows_authors: bool,
    /// Whether it turned out to be unsuitable for that reason and must be replaced.
    pub(crate) is_spent: bool,
    _pipes: PipeFiles,
}

/// Interval between attempts to connect to a pipe that does not exist yet.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl Soffice {
    pub(crate) fn new(config: Config) -> Self {
        Self {
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
    let overlay = profile::overlay(installation, &place.join("installation"));
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
            .reads(installation.root())
            .writes(&self.profile);
        let fonts = self.fonts.folders.iter();
        let command = fonts.fold(command, |command, folder| command.reads(folder));
        let command = match find_allocator() {
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
        let installation = find_libreoffice(self.config.program.as_deref())?;
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
        let client = loop {
            let connected = Client::connect_unix(&launch.pipe, Options::default()).await;
            match connected {
                Ok(client) => break client,
                Err(platen_urp::Error::Connect { .. }) if process.handle().is_running() => {
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
                Err(_) if !process.handle().is_running() => {
                    return Err(process.handle().ended_early().await);
                }
                Err(error) => return Err(StartError::Unusable(Box::new(error))),
            }
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
        let isolation = spawner.isolation();
        let (jobs_in, jobs_seen_in) = match isolation.files {
            true => (isolation.tmp(&path), "/tmp".into()),
            false => (path.clone(), path),
        };
        Ok(Started {
            child: Worker {
                client,
                jobs_in,
                jobs_seen_in,
                jobs: 0,
                process: process.handle().clone(),
                knows_authors: false,
                is_spent: false,
                _pipes: launch.pipes,
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
