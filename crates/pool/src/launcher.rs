//! How a program is started: as it is, or wrapped so that it sees less of the machine.

use std::{ffi::OsString, process::Stdio, time::Duration};

use tokio::process::Command as TokioCommand;

use crate::process::Command;

/// Wraps a command before it is started. A jail is one of these.
pub trait Launcher: Send + Sync + std::fmt::Debug + 'static {
    /// The command that starts `command` within the launcher's walls.
    fn wrap(&self, command: Command) -> Command;

    /// What the walls keep out.
    fn isolation(&self) -> Isolation;
}

/// What children cannot reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Isolation {
    /// Children have no network, not even loopback.
    pub network: bool,
    /// Children see no files but programs, libraries, fonts and their own folder.
    pub files: bool,
}

/// Starts programs as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Launcher for Plain {
    fn wrap(&self, command: Command) -> Command {
        command
    }

    fn isolation(&self) -> Isolation {
        Isolation::default()
    }
}

/// Starts programs in a user and network namespace of their own by `unshare` of util-linux.
#[derive(Clone, Debug)]
pub struct Unshare {
    program: OsString,
}

impl Unshare {
    const ARGUMENTS: [&str; 4] = ["--user", "--map-current-user", "--net", "--"];

    /// The launcher, where a trial shows that this machine allows it.
    pub async fn detect() -> Option<Self> {
        let program = OsString::from("unshare");
        // A namespace whose only interface is loopback, which is down, has this table of routes.
        let trial = "[ \"$(wc -l </proc/net/route)\" -le 1 ]";
        let mut command = TokioCommand::new(&program);
        command.args(Self::ARGUMENTS).args(["sh", "-c", trial]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null()).kill_on_drop(true);
        let status = tokio::time::timeout(Duration::from_secs(5), command.status()).await;
        let works = matches!(status, Ok(Ok(status)) if status.success());
        works.then_some(Self { program })
    }
}

impl Launcher for Unshare {
    fn wrap(&self, command: Command) -> Command {
        command.behind(&self.program, Self::ARGUMENTS)
    }

    fn isolation(&self) -> Isolation {
        Isolation {
            network: true,
            files: false,
        }
    }
}

/// The best launcher that works on this machine.
pub async fn detect_launcher() -> std::sync::Arc<dyn Launcher> {
    match Unshare::detect().await {
        Some(launcher) => std::sync::Arc::new(launcher),
        None => std::sync::Arc::new(Plain),
    }
}
