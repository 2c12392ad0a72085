//! Settings of the processes of LibreOffice and Chromium: who starts them, and how long they live.

use std::path::PathBuf;

use platen_browser::{ContainerSettings, Mode, is_address};
use serde::Serialize;

use super::{ChildIsolation, ConfigError, RenderMode, Settings};

/// Where the controller listens unless `CONTROLLER_SOCKET` says otherwise.
pub const CONTROLLER_SOCKET: &str = "/run/platen/controller.sock";

/// Least memory of a container in which LibreOffice or Chromium starts.
const MIN_CONTAINER_BYTES: u64 = 128 << 20;

/// Who starts LibreOffice and Chromium, and how long a process lives.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessConfig {
    /// Their isolation.
    pub child_isolation: ChildIsolation,
    /// Who starts them.
    pub render_mode: RenderMode,
    /// Where the controller listens.
    pub controller_socket: PathBuf,
    /// Folder with the image of containers.
    pub container_rootfs: Option<PathBuf>,
    /// Runtime that starts containers; if `None`, the first one found.
    pub container_runtime: Option<PathBuf>,
    /// Memory of one container.
    pub container_memory_bytes: Option<u64>,
    /// Processors of one container.
    pub container_processors: Option<f64>,
    /// Documents or pages after which a process is replaced; if `None`, the default of each program.
    pub process_max_jobs: Option<u32>,
    /// Idle LibreOffice processes that are kept ready.
    pub office_spares: u32,
    /// LibreOffice processes that others run.
    pub office_remote: Vec<String>,
    /// Chromium processes that others run.
    pub chromium_remote: Vec<String>,
}

impl ProcessConfig {
    pub(super) fn resolve(settings: &Settings) -> Result<Self, ConfigError> {
        if settings.process_max_jobs == Some(0) {
            return Err(ConfigError::new(
                "process_max_jobs is 0",
                "omit the setting for the default of each program",
            ));
        }
        let office_remote = settings.office_remote.clone().unwrap_or_default();
        let chromium_remote = settings.chromium_remote.clone().unwrap_or_default();
        for (name, all) in [
            ("OFFICE_REMOTE", &office_remote),
            ("CHROMIUM_REMOTE", &chromium_remote),
        ] {
            if let Some(wrong) = all.iter().find(|address| !is_address(address)) {
                return Err(ConfigError::new(
                    format!("{name}: `{wrong}` is no address"),
                    "list hosts with ports, such as office-1:2002,office-2:2002",
                ));
            }
        }
        check_containers(settings)?;
        let socket = settings.controller_socket.clone();
        Ok(Self {
            child_isolation: settings.child_isolation.unwrap_or_default(),
            render_mode: settings.render_mode.unwrap_or_default(),
            controller_socket: socket.unwrap_or_else(|| CONTROLLER_SOCKET.into()),
            container_rootfs: settings.container_rootfs.clone(),
            container_runtime: settings.container_runtime.clone(),
            container_memory_bytes: settings.container_memory_bytes,
            container_processors: settings.container_processors,
            process_max_jobs: settings.process_max_jobs,
            office_spares: settings.office_spares.unwrap_or(1),
            office_remote,
            chromium_remote,
        })
    }

    /// Who starts processes, as pools want to know it.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match self.render_mode {
            RenderMode::ChildProcess => Mode::ChildProcess,
            RenderMode::Socket => Mode::Socket(self.controller_socket.clone()),
            RenderMode::Container => Mode::Container(ContainerSettings {
                runtime: self.container_runtime.clone(),
                image: self.container_rootfs.clone().unwrap_or_default(),
                memory_bytes: self.container_memory_bytes,
                processors: self.container_processors,
            }),
        }
    }
}

/// What can be told without looking at the machine.
fn check_containers(settings: &Settings) -> Result<(), ConfigError> {
    let is_used = settings.render_mode == Some(RenderMode::Container);
    if is_used && settings.container_rootfs.is_none() {
        return Err(ConfigError::new(
            "RENDER_MODE is `container`, but CONTAINER_ROOTFS is not set",
            "set it to a folder with an unpacked image that has LibreOffice and Chromium",
        ));
    }
    if settings
        .container_memory_bytes
        .is_some_and(|bytes| bytes < MIN_CONTAINER_BYTES)
    {
        return Err(ConfigError::new(
            "container_memory_bytes is less than 128 MiB",
            "LibreOffice and Chromium need more; 2 GiB are usual",
        ));
    }
    let is_wrong = |number: f64| !number.is_finite() || number < 0.01;
    if settings.container_processors.is_some_and(is_wrong) {
        return Err(ConfigError::new(
            "container_processors is less than 0.01",
            "set a number of processors, such as 0.5 or 2",
        ));
    }
    Ok(())
}
