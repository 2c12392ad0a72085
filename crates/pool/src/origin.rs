//! Where the processes of a pool come from: this process starts them, or a controller does.

use std::{path::PathBuf, sync::Arc};

use crate::{
    controller::Controller,
    launcher::{Demand, Isolation, Launcher, SandboxUnavailable, choose_launcher},
};

/// Where processes come from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// This process starts them, through a launcher.
    Here(Arc<dyn Launcher>),
    /// A controller starts them.
    Controller(Arc<Controller>),
    /// They run elsewhere; only connections to them are made here.
    Remote,
}

impl Origin {
    /// What the processes are isolated from.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        match self {
            Self::Here(launcher) => launcher.isolation(),
            Self::Controller(controller) => controller.isolation(),
            Self::Remote => Isolation {
                remote: true,
                ..Isolation::default()
            },
        }
    }

    /// The controller, if there is one.
    #[must_use]
    pub fn controller(&self) -> Option<&Controller> {
        match self {
            Self::Controller(controller) => Some(controller),
            Self::Here(_) | Self::Remote => None,
        }
    }
}

impl From<Arc<dyn Launcher>> for Origin {
    fn from(launcher: Arc<dyn Launcher>) -> Self {
        Self::Here(launcher)
    }
}

impl<L: Launcher> From<Arc<L>> for Origin {
    fn from(launcher: Arc<L>) -> Self {
        Self::Here(launcher)
    }
}

/// Who starts processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// This process.
    #[default]
    ChildProcess,
    /// The controller that listens at a path.
    Socket(PathBuf),
}

/// The origin that [`choose_origin`] selected.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The origin.
    pub origin: Origin,
    /// Why it is weaker than the full sandbox, if it is; a controller knows that itself.
    pub reason: Option<String>,
}

/// Selects the strongest isolation that `demand` allows and this machine supports, or the
/// controller, which need not be there yet. Probes the machine once per process.
///
/// # Errors
/// A sandbox is required and unavailable.
pub async fn choose_origin(mode: &Mode, demand: Demand) -> Result<Chosen, SandboxUnavailable> {
    match mode {
        Mode::ChildProcess => {
            let (launcher, reason) = choose_launcher(demand).await?;
            let origin = Origin::Here(launcher);
            Ok(Chosen { origin, reason })
        }
        Mode::Socket(path) => {
            let controller = Controller::new(path, demand);
            let origin = Origin::Controller(Arc::new(controller));
            let reason = None;
            Ok(Chosen { origin, reason })
        }
    }
}
