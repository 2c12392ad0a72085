//! Settings of the processes of LibreOffice and Chromium: who starts them, and how long they live.

use std::path::PathBuf;

use platen_browser::{Mode, is_address};
use serde::Serialize;

use super::{ChildIsolation, ConfigError, RenderMode, Settings};

/// Where the controller listens unless `CONTROLLER_SOCKET` says otherwise.
pub const CONTROLLER_SOCKET: &str = "/run/platen/controller.sock";

/// Who starts LibreOffice and Chromium, and how long a process lives.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessConfig {
    /// Their isolation.
    pub child_isolation: ChildIsolation,
    /// Who starts them.
    pub render_mode: RenderMode,
    /// Where the controller listens.
    pub controller_socket: PathBuf,
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
        let socket = settings.controller_socket.clone();
        Ok(Self {
            child_isolation: settings.child_isolation.unwrap_or_default(),
            render_mode: settings.render_mode.unwrap_or_default(),
            controller_socket: socket.unwrap_or_else(|| CONTROLLER_SOCKET.into()),
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
        }
    }
}
