//! A launcher that starts programs in containers of an OCI runtime.

mod config;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use platen_jail::container::{self, Runtime};

use crate::{
    command::{Command, Pipes},
    driver::Spawner,
    image::Image,
    launcher::{Isolation, Launcher, PROGRAM},
    origin::Origin,
};

/// Runtimes in order of preference: with runc, the user inside is 0.
const RUNTIMES: [&str; 2] = ["crun", "runc"];
/// Where runtimes are installed besides the folders of `PATH`.
const FOLDERS: [&str; 3] = ["/usr/bin", "/usr/sbin", "/usr/local/sbin"];
/// How long a program may take to tell its version in a container.
const TRIAL: Duration = Duration::from_secs(30);

/// How containers are started, as settings say it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerSettings {
    /// crun or runc, by name or path; if `None`, the first one found.
    pub runtime: Option<PathBuf>,
    /// The folder with the unpacked image.
    pub image: PathBuf,
    /// Most memory of a container, in bytes.
    pub memory_bytes: Option<u64>,
    /// Most processors of a container.
    pub processors: Option<f64>,
}

/// Starts each program in a container.
#[derive(Clone, Debug)]
pub struct Containers {
    program: PathBuf,
    runtime: Runtime,
    settings: ContainerSettings,
}

impl Containers {
    /// Checks the settings. Also returns why limits are not kept, if they are not.
    ///
    /// # Errors
    /// What is missing, and what to do.
    pub fn new(settings: &ContainerSettings) -> Result<(Self, Option<String>), String> {
        let image = &settings.image;
        if !image.is_absolute() || !image.is_dir() {
            return Err(format!(
                "CONTAINER_ROOTFS is `{}`, not the path of a folder with an unpacked image",
                image.display()
            ));
        }
        let none = || "this program does not start containers".to_owned();
        let containers = Self {
            program: PROGRAM.get().ok_or_else(none)?.clone(),
            runtime: find_runtime(settings.runtime.as_deref())?,
            settings: settings.clone(),
        };
        let (memory, processors) = (settings.memory_bytes, settings.processors);
        let limited = platen_jail::make_room_for_containers(memory, processors);
        let unlimited = |refusal| {
            format!(
                "{refusal}: containers have no such limit; the service still ends processes above \
                 its own limits of memory"
            )
        };
        Ok((containers, limited.err().map(unlimited)))
    }

    /// Starts a program of the image that tells its version; its folder is made below `parent`.
    ///
    /// # Errors
    /// What the host, the runtime or the program says.
    pub async fn try_out(&self, program: &Path, parent: &Path) -> Result<(), String> {
        let failed = |error: &dyn std::error::Error| match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        let origin: Origin = std::sync::Arc::new(self.clone()).into();
        let spawner = Spawner::new("trial", origin, parent).map_err(|error| failed(&error))?;
        let folder = spawner.folder().map_err(|error| failed(&error))?;
        let command = Command::new(program).arg("--version");
        let process = spawner.spawn(command, folder);
        let process = process.map_err(|error| failed(&error))?;
        let exit = tokio::time::timeout(TRIAL, process.handle().exited()).await;
        let tried = match exit {
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(_) => Err(process.handle().ended_early().await.to_string()),
            Err(_) => Err(format!("{} did not answer", program.display())),
        };
        process.handle().kill();
        process.handle().gone().await;
        tried
    }

    /// The runtime's path.
    #[must_use]
    pub fn runtime(&self) -> &Path {
        &self.runtime.program
    }
}

/// The runtime that was named, or the first that is installed.
fn find_runtime(named: Option<&Path>) -> Result<Runtime, String> {
    let names: Vec<PathBuf> = match named {
        Some(named) => vec![named.to_owned()],
        None => RUNTIMES.iter().map(PathBuf::from).collect(),
    };
    let mut folders = Image::host().folders();
    folders.extend(FOLDERS.map(PathBuf::from));
    // An absolute path replaces the folder that it is joined to; others with a folder mean nothing.
    let is_name = |path: &&PathBuf| path.is_absolute() || path.components().count() == 1;
    let mut paths = names
        .iter()
        .filter(is_name)
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = paths.find(|path| path.is_absolute() && path.is_file());
    let program = found.ok_or_else(|| {
        let name = named.map_or("crun or runc".to_owned(), |name| name.display().to_string());
        format!(
            "{name} is not installed: install crun (Debian and Ubuntu: apt-get install crun), or \
             name crun or runc in CONTAINER_RUNTIME"
        )
    })?;
    Ok(Runtime { program })
}

impl Launcher for Containers {
    fn wrap(&self, command: Command, folder: &Path) -> Command {
        command.through(&self.program, |command| self.arguments(command, folder))
    }

    fn isolation(&self) -> Isolation {
        Isolation {
            network: true,
            files: true,
            container: true,
            is_root_inside: self.runtime.user() == 0,
            ..Isolation::default()
        }
    }

    fn ended(&self) -> fn(pid: u32) {
        platen_jail::remove_groups_of_container
    }

    fn image(&self) -> Image {
        Image::new(&self.settings.image)
    }
}

impl Containers {
    fn arguments(&self, command: &Command, folder: &Path) -> Vec<OsString> {
        let access = command.container_spec(folder);
        // Next to the folders of the children, so that it is removed with the pool.
        let stage = folder.parent().unwrap_or(folder).join("containers");
        // If it cannot be made, the start says so.
        let _ = std::fs::create_dir_all(&stage);
        let config = config::of(command, &access, &stage, self.runtime.user());
        let spec = container::Spec {
            access,
            runtime: self.runtime.clone(),
            image: self.settings.image.clone(),
            stage,
            memory_bytes: self.settings.memory_bytes,
            processors: self.settings.processors,
            descriptors: match command.piped() {
                Pipes::ThreeAndFour => 2,
                Pipes::None | Pipes::Standard => 0,
            },
            config: config.to_string(),
        };
        spec.arguments()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_found_by_name_and_by_path() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = folder.path().join("crun");
        std::fs::write(&runtime, "").unwrap();
        let found = find_runtime(Some(&runtime)).unwrap();
        assert_eq!(found.program, runtime);
        for missing in ["no-such-runtime", "bin/crun", "/no/such/crun"] {
            let error = find_runtime(Some(Path::new(missing))).unwrap_err();
            assert!(error.starts_with(missing), "{error}");
            assert!(error.contains("apt-get install crun"), "{error}");
        }
    }

    #[test]
    fn an_image_must_be_a_folder_with_an_absolute_path() {
        for image in ["", "relative", "/no/such/folder", "/etc/passwd"] {
            let settings = ContainerSettings {
                image: image.into(),
                ..ContainerSettings::default()
            };
            let error = Containers::new(&settings).unwrap_err();
            assert!(error.contains("CONTAINER_ROOTFS"), "{error}");
        }
    }
}
