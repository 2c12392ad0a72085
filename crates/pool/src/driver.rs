//! The driver of a pool: how its child processes start, answer and stop.

use std::{
    fmt,
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    error::StartError,
    folder::{Folder, Root},
    launcher::{Isolation, Launcher},
    process::{Command, Process},
};

/// Starts, probes and stops one kind of child process.
pub trait Driver: Send + Sync + 'static {
    /// What a job receives, such as a connection to the child.
    type Child: Send + 'static;

    /// A short name for messages and folders: letters and hyphens.
    fn name(&self) -> &'static str;

    /// Starts a child that is ready for a job. When the future is dropped, the processes started
    /// by `spawner` are killed.
    fn start(
        &self,
        spawner: &Spawner,
        purpose: Purpose,
    ) -> impl Future<Output = Result<Started<Self::Child>, StartError>> + Send;

    /// Health check by a real round trip. The pool sets a timeout.
    fn probe(&self, child: &mut Self::Child) -> impl Future<Output = Result<(), Unsound>> + Send;

    /// Recovers a child whose job was dropped half-way, and proves it healthy. The pool sets a
    /// timeout. By default such a child is replaced.
    fn salvage(
        &self,
        _child: &mut Self::Child,
    ) -> impl Future<Output = Result<(), Unsound>> + Send {
        std::future::ready(Err(Unsound))
    }

    /// Asks a child to exit. The pool sets a timeout; the process is killed in any case.
    fn stop(&self, child: Self::Child) -> impl Future<Output = ()> + Send;

    /// True if a job left state in the child that later jobs would see; the child is replaced then.
    fn is_spent(&self, _child: &Self::Child) -> bool {
        false
    }

    /// False if the child is known to be dead, without asking it.
    fn is_alive(&self, _child: &Self::Child) -> bool {
        true
    }
}

/// A child failed its health check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("health check failed")]
pub struct Unsound;

/// What a child is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A spare, started ahead of need.
    Spare,
    /// The retry of a job whose first child crashed. If children share something that may have
    /// crashed with it, this one should get its own, so that the cause is certain.
    Retry,
}

/// A started child.
#[derive(Debug)]
pub struct Started<C> {
    /// What jobs receive.
    pub child: C,
    /// Its own process, if it has one. The pool kills, measures and watches it.
    pub process: Option<Process>,
}

/// Starts processes for a driver.
#[derive(Clone)]
pub struct Spawner {
    pub(crate) root: Arc<Root>,
    pub(crate) launcher: Arc<dyn Launcher>,
}

impl fmt::Debug for Spawner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("Spawner");
        text.field("root", &self.root)
            .field("launcher", &self.launcher);
        text.finish()
    }
}

impl Spawner {
    /// A new empty folder, removed when its process has ended.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn folder(&self) -> Result<Folder, StartError> {
        self.root.folder().map_err(|source| StartError::Folder {
            path: PathBuf::from(self.root.path()),
            source,
        })
    }

    /// The folder that holds those of all processes, and lives as long as the pool.
    #[must_use]
    pub fn place(&self) -> &Path {
        self.root.path()
    }

    /// Starts a process whose working, home and temporary folder is `folder`.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn spawn(&self, command: Command, folder: Folder) -> Result<Process, StartError> {
        Process::start(self.launcher.as_ref(), command, folder)
    }

    /// The isolation of the children.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        self.launcher.isolation()
    }
}
