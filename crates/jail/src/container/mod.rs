//! A container for an external program: an OCI runtime (crun or runc) starts the program of an
//! image, with a root that is that image, one folder to write to, and no network.
//!
//! The owner starts this program again with [`KIND`] and [`Spec::arguments`]. That process enters a
//! user, pid and mount namespace; the runtime runs there as the only root, and the state of its
//! containers lives on a file system in memory that nobody else sees. When any of the processes or
//! the owner exits, the kernel kills all of them, the container too, and nothing is left to delete.
//! Sources: the OCI runtime specification, `user_namespaces(7)`, `pid_namespaces(7)`.

mod root;
mod serve;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

pub use self::serve::serve;
use crate::sandbox;

/// Second argument of a process that runs a program in a container.
pub const KIND: &str = "contain";

/// A program that starts containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// Its path.
    pub program: PathBuf,
}

impl Runtime {
    /// User and group id inside containers. runc insists on a user 0, and only one user can be
    /// mapped without further rights.
    #[must_use]
    pub fn user(&self) -> u32 {
        if self.is_runc() { 0 } else { sandbox::USER }
    }

    /// Whether it is runc; others take the arguments of crun.
    #[must_use]
    pub fn is_runc(&self) -> bool {
        self.program.file_name().is_some_and(|name| name == "runc")
    }

    /// The command that runs the container of a bundle. Control groups are not the runtime's matter:
    /// it would have to know which of them this service may change.
    fn command(&self, stage: &Path, descriptors: &OsString) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec![self.program.clone().into(), "--root".into()];
        all.push(stage.join(STATE).into());
        let without_groups = match self.is_runc() {
            true => "--rootless=true",
            false => "--cgroup-manager=disabled",
        };
        all.extend([without_groups.into(), "run".into()]);
        all.extend(["--preserve-fds".into(), descriptors.clone()]);
        all.extend(["--bundle".into(), stage.join(BUNDLE).into()]);
        all.push("platen".into());
        all
    }
}

/// Folders below [`Spec::stage`]: the state of the runtime, its input, and the root of the container.
const STATE: &str = "state";
const BUNDLE: &str = "bundle";
const ROOT: &str = "root";

/// Where the root of the container is, which the configuration must name.
#[must_use]
pub fn root_below(stage: &Path) -> PathBuf {
    stage.join(ROOT)
}

/// A container and its program.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// What the program may read and write besides the image, and its limits.
    pub access: sandbox::Spec,
    /// Who starts it.
    pub runtime: Runtime,
    /// The folder with the image.
    pub image: PathBuf,
    /// An empty folder, over which a private file system is mounted; containers may share it.
    pub stage: PathBuf,
    /// Most memory, if the host allows control groups.
    pub memory_bytes: Option<u64>,
    /// Most processors, if the host allows control groups or it is a whole number.
    pub processors: Option<f64>,
    /// How many descriptors after the standard ones the program gets.
    pub descriptors: u32,
    /// The configuration by the OCI runtime specification.
    pub config: String,
}

impl Spec {
    /// Command line of the process that starts the container.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        let text = |value: Option<String>| OsString::from(value.unwrap_or_default());
        let mut all = self.access.arguments_of(KIND);
        all.push(self.runtime.program.clone().into());
        all.push(self.image.clone().into());
        all.push(self.stage.clone().into());
        all.push(text(self.memory_bytes.map(|bytes| bytes.to_string())));
        all.push(text(self.processors.map(|number| number.to_string())));
        all.push(self.descriptors.to_string().into());
        all.push(self.config.clone().into());
        all
    }

    /// Parses a command line into the owner's pid and the specification.
    fn parse(arguments: &[OsString]) -> Option<(i32, Self)> {
        let (owner, access, rest) = sandbox::Spec::parse(arguments)?;
        let [runtime, image, stage, memory, processors, count, config] = rest else {
            return None;
        };
        let spec = Self {
            access,
            runtime: Runtime {
                program: runtime.into(),
            },
            image: image.into(),
            stage: stage.into(),
            memory_bytes: memory.to_str()?.parse().ok(),
            processors: processors.to_str()?.parse().ok(),
            descriptors: count.to_str()?.parse().ok()?,
            config: config.to_str()?.to_owned(),
        };
        Some((owner, spec))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(runtime: &str) -> Spec {
        Spec {
            access: sandbox::Spec {
                folder: "/srv/a".into(),
                reads: vec!["/srv/fonts".into()],
                ..sandbox::Spec::default()
            },
            runtime: Runtime {
                program: runtime.into(),
            },
            image: "/srv/image".into(),
            stage: "/srv/stage".into(),
            memory_bytes: Some(7),
            processors: Some(0.5),
            descriptors: 2,
            config: "{\"a\":\"ü\"}".to_owned(),
        }
    }

    #[test]
    fn specifications_come_back() {
        let without = Spec {
            memory_bytes: None,
            processors: None,
            ..spec("/usr/bin/crun")
        };
        for spec in [spec("/usr/bin/crun"), without] {
            let arguments = spec.arguments();
            let (_, read) = Spec::parse(&arguments[2..]).unwrap();
            assert_eq!(read, spec);
            assert_eq!(Spec::parse(&arguments[3..]), None);
        }
    }

    #[test]
    fn each_runtime_gets_its_own_switches() {
        let crun = spec("/usr/bin/crun").runtime;
        let runc = spec("/usr/sbin/runc").runtime;
        let has = |runtime: &Runtime, switch: &str| {
            let command = runtime.command(Path::new("/s"), &"2".into());
            command.iter().any(|one| one == switch)
        };
        assert!(has(&crun, "--cgroup-manager=disabled") && !has(&crun, "--rootless=true"));
        assert!(has(&runc, "--rootless=true") && !has(&runc, "--cgroup-manager=disabled"));
        assert_eq!((crun.user(), runc.user()), (sandbox::USER, 0));
    }
}
