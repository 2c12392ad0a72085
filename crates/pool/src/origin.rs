//! Where the processes of a pool come from: this process starts them, or a controller does.

use std::{path::PathBuf, sync::Arc};

use crate::{
    container::{ContainerSettings, Containers},
    controller::Controller,
    image::Image,
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

    /// Where processes that this process starts have their programs from.
    #[must_use]
    pub fn image(&self) -> Image {
        match self {
            Self::Here(launcher) => launcher.image(),
            Self::Controller(_) | Self::Remote => Image::host(),
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

/// Whether a text is a host and a port, such as `office.internal:2002` or `[::1]:2002`.
#[must_use]
pub fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let is_host = match host.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            let known = |it: char| it.is_ascii_alphanumeric() || "-._".contains(it);
            !host.is_empty() && host.chars().all(known)
        }
    };
    is_host && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Who starts processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Mode {
    /// This process.
    #[default]
    ChildProcess,
    /// The controller that listens at a path.
    Socket(PathBuf),
    /// This process, in containers.
    Container(ContainerSettings),
}

impl Mode {
    /// Where the processes that this process starts have their programs from; none if another
    /// process starts them.
    #[must_use]
    pub fn image(&self) -> Option<Image> {
        match self {
            Self::ChildProcess => Some(Image::host()),
            Self::Socket(_) => None,
            Self::Container(settings) => Some(Image::new(&settings.image)),
        }
    }
}

/// The origin that [`choose_origin`] selected.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The origin.
    pub origin: Origin,
    /// Why it is weaker than the full sandbox, if it is; a controller knows that itself.
    pub reason: Option<String>,
}

/// Selects the strongest isolation that `demand` allows and this machine supports, containers, or
/// the controller, which need not be there yet. Probes the machine once per process.
///
/// # Errors
/// A sandbox is required and unavailable, or containers are.
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
        Mode::Container(settings) => {
            let (containers, reason) =
                Containers::new(settings).map_err(SandboxUnavailable::Container)?;
            let origin = Origin::from(Arc::new(containers));
            Ok(Chosen { origin, reason })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_address;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for good in [
            "a:1",
            "office-1.internal:2002",
            "10.0.0.1:65535",
            "[::1]:9222",
        ] {
            assert!(is_address(good), "{good}");
        }
        for bad in [
            "",
            "a",
            ":1",
            "a:",
            "a:0",
            "a:65536",
            "::1:80",
            "http://a:1",
            "a/b:1",
            "[x]:1",
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }
}
