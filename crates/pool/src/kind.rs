//! What a pool must know about a kind of child.

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

/// A kind of child: how it is started, seen after and stopped.
pub trait Kind: Send + Sync + 'static {
    /// A started child: what a job is given, such as a connection.
    type Child: Send + 'static;

    /// A short name for messages and folders, of letters and hyphens.
    fn name(&self) -> &'static str;

    /// Starts a child that is ready for a job. The future may be dropped; what it has started by
    /// `spawner` is killed then.
    fn start(
        &self,
        spawner: &Spawner,
        purpose: Purpose,
    ) -> impl Future<Output = Result<Started<Self::Child>, StartError>> + Send;

    /// Proves by a real round trip that the child answers. The pool sets a time limit.
    fn probe(&self, child: &mut Self::Child) -> impl Future<Output = Result<(), Unsound>> + Send;

    /// Brings a child whose job was dropped half-way back into a sound state, and proves it. The
    /// pool sets a time limit. Without this such a child is replaced.
    fn salvage(
        &self,
        _child: &mut Self::Child,
    ) -> impl Future<Output = Result<(), Unsound>> + Send {
        std::future::ready(Err(Unsound))
    }

    /// Asks a child to leave. The pool sets a time limit; its process is killed in any case.
    fn stop(&self, child: Self::Child) -> impl Future<Output = ()> + Send;

    /// True where a job has left something in the child that later ones would meet: it then does no more.
    fn is_spent(&self, _child: &Self::Child) -> bool {
        false
    }

    /// False where it is known, without asking, that the child is dead.
    fn is_alive(&self, _child: &Self::Child) -> bool {
        true
    }
}

/// A child does not answer as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the child does not answer as it should")]
pub struct Unsound;

/// What a child is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The stock of the pool.
    Stock,
    /// The second attempt of a job whose first child died. Where children share something that
    /// may have died with it, this one should have its own, so that the guilt is clear.
    Retry,
}

/// A child that was started.
#[derive(Debug)]
pub struct Started<C> {
    /// What jobs are given.
    pub child: C,
    /// Its process, where it has one of its own. The pool kills it, measures it and watches it.
    pub process: Option<Process>,
}

/// Starts processes on behalf of a kind.
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
    /// A new empty folder, which is removed when the process that gets it has ended.
    ///
    /// # Errors
    /// When it cannot be made.
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

    /// What children cannot reach.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        self.launcher.isolation()
    }
}
