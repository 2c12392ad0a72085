//! The driver of a pool: how its child processes start, prove their health and stop.

use std::{
    fmt,
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    command::Command,
    error::StartError,
    folder::{Folder, Root},
    launcher::Isolation,
    origin::Origin,
    process::Process,
};

/// Starts, probes and stops one kind of child process.
pub trait Driver: Send + Sync + 'static {
    /// What a job works with, for instance a connection to the child.
    type Child: Send + 'static;

    /// A short name for messages and folder names: letters and hyphens.
    fn name(&self) -> &'static str;

    /// Starts a child and returns it ready for a job. Dropping the future kills every process that
    /// `spawner` started for it.
    fn start(
        &self,
        spawner: &Spawner,
        purpose: Purpose,
    ) -> impl Future<Output = Result<Started<Self::Child>, StartError>> + Send;

    /// Health check: a real round trip to the child. The pool applies `probe_timeout`.
    fn probe(&self, child: &mut Self::Child) -> impl Future<Output = Result<(), Unsound>> + Send;

    /// Recovers a child whose job was interrupted, and proves it healthy. The pool applies a
    /// timeout. The default replaces the child.
    fn salvage(
        &self,
        _child: &mut Self::Child,
    ) -> impl Future<Output = Result<(), Unsound>> + Send {
        std::future::ready(Err(Unsound))
    }

    /// Asks a child to exit. The pool applies `stop_timeout` and then kills the process anyway.
    fn stop(&self, child: Self::Child) -> impl Future<Output = ()> + Send;

    /// False if there is a fixed number of children, which others have started: the retry of a job then
    /// takes any of them instead of one started for it.
    fn starts_at_will(&self) -> bool {
        true
    }

    /// True if a job left state in the child that later jobs would see; such a child is replaced.
    fn is_spent(&self, _child: &Self::Child) -> bool {
        false
    }

    /// False if the child is known to be dead. Must not block or contact the child.
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
    /// The retry of a job whose first child crashed. If children share a resource that may have
    /// crashed with it, this child gets its own, so that a second crash is certainly the input's
    /// fault.
    Retry,
}

/// A started child.
#[derive(Debug)]
pub struct Started<C> {
    /// The connection that jobs use.
    pub child: C,
    /// The process behind it, if the child has its own. The pool kills, measures and watches it.
    pub process: Option<Process>,
}

/// Starts processes on behalf of a driver.
#[derive(Clone)]
pub struct Spawner {
    pub(crate) root: Arc<Root>,
    origin: Origin,
}

impl fmt::Debug for Spawner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("Spawner");
        text.field("root", &self.root).field("origin", &self.origin);
        text.finish()
    }
}

impl Spawner {
    /// Starts processes without a pool, with their folders in one below `parent`. Removes those of
    /// dead owners.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new(kind: &str, origin: impl Into<Origin>, parent: &Path) -> std::io::Result<Self> {
        Ok(Self {
            root: Arc::new(Root::create(parent, kind)?),
            origin: origin.into(),
        })
    }

    /// Creates an empty folder, removed once its process has ended.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn folder(&self) -> Result<Folder, StartError> {
        self.root.folder().map_err(|source| StartError::Folder {
            path: PathBuf::from(self.root.path()),
            source,
        })
    }

    /// The pool's own folder, which holds those of all its children and lives as long as the pool.
    #[must_use]
    pub fn place(&self) -> &Path {
        self.root.path()
    }

    /// Starts a process with `folder` as its working, home and temporary folder.
    ///
    /// # Errors
    /// The program cannot be started, or nothing is started here ([`Origin`]).
    pub fn spawn(&self, command: Command, folder: Folder) -> Result<Process, StartError> {
        match &self.origin {
            Origin::Here(launcher) => Process::start(launcher.as_ref(), command, folder),
            Origin::Controller(_) | Origin::Remote => {
                Err(StartError::Unusable("nothing is started here".into()))
            }
        }
    }

    /// Where processes come from.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// What the children are isolated from.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        self.origin.isolation()
    }
}
