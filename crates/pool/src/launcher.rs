//! Launchers: start a program directly, or in a sandbox.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use platen_jail::{
    fence,
    sandbox::{self, Finding},
};
use tokio::{process::Command as TokioCommand, sync::OnceCell};

use crate::{command::Command, image::Image};

/// Wraps a command before it starts, for instance in a sandbox.
pub trait Launcher: Send + Sync + std::fmt::Debug + 'static {
    /// The command that runs `command` inside the launcher's sandbox. `folder` is the child's own.
    fn wrap(&self, command: Command, folder: &Path) -> Command;

    /// What the sandbox isolates children from.
    fn isolation(&self) -> Isolation;

    /// Removes what a child that has ended leaves outside of its folder; `pid` is the one that was
    /// started.
    fn ended(&self) -> fn(pid: u32) {
        |_| {}
    }

    /// Where children have their programs from.
    fn image(&self) -> Image {
        Image::host()
    }
}

/// What children are isolated from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Isolation {
    /// Children have no network, not even loopback.
    pub network: bool,
    /// Children see only programs, libraries, fonts and their own folder.
    pub files: bool,
    /// Children see other files but Landlock keeps them from opening any.
    pub fence: bool,
    /// Children run in containers, with an image as their root.
    pub container: bool,
    /// Children are user 0 inside, without any capability.
    pub is_root_inside: bool,
    /// Children run elsewhere: who runs them isolates them, or nobody.
    pub remote: bool,
}

impl Isolation {
    /// The host path of what a child sees as `/tmp`; `folder` is the child's own.
    #[must_use]
    pub fn tmp(&self, folder: &Path) -> PathBuf {
        match self.files {
            true => folder.join(sandbox::TMP),
            false => "/tmp".into(),
        }
    }

    /// The user id inside the sandbox, if it differs from that of this process.
    #[must_use]
    pub fn user(&self) -> Option<u32> {
        let user = if self.is_root_inside {
            0
        } else {
            sandbox::USER
        };
        self.files.then_some(user)
    }

    /// Whether children can open files outside their own folder.
    #[must_use]
    pub fn opens_others(&self) -> bool {
        !self.files && !self.fence
    }

    /// The label for logs and metrics: `container`, `full`, `landlock`, `network`, `remote` or
    /// `none`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self {
                container: true, ..
            } => "container",
            Self { files: true, .. } => "full",
            Self { fence: true, .. } => "landlock",
            Self { network: true, .. } => "network",
            Self { remote: true, .. } => "remote",
            _ => "none",
        }
    }
}

/// Starts programs without any isolation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Launcher for Plain {
    fn wrap(&self, command: Command, _: &Path) -> Command {
        command
    }

    fn isolation(&self) -> Isolation {
        Isolation::default()
    }
}

/// Starts programs in their own user and network namespaces, with `unshare` of util-linux.
#[derive(Clone, Debug)]
pub struct Unshare {
    program: OsString,
}

impl Unshare {
    const ARGUMENTS: [&str; 4] = ["--user", "--map-current-user", "--net", "--"];

    /// The launcher, if a trial run succeeds on this machine.
    pub async fn detect() -> Option<Self> {
        let program = OsString::from("unshare");
        // In a fresh network namespace the only interface is a loopback that is down, so the
        // routing table has nothing but its header line.
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
    fn wrap(&self, command: Command, _: &Path) -> Command {
        command.behind(&self.program, Self::ARGUMENTS)
    }

    fn isolation(&self) -> Isolation {
        Isolation {
            network: true,
            ..Isolation::default()
        }
    }
}

/// Starts each program in a sandbox of namespaces ([`sandbox`]).
#[derive(Clone, Debug)]
pub struct Sandbox {
    program: PathBuf,
}

impl Sandbox {
    /// Probes the sandbox on this machine. `program` must call [`sandbox::serve`] when its
    /// arguments ask for it.
    ///
    /// # Errors
    /// Why the sandbox does not work here.
    pub async fn detect(program: &Path) -> Result<Self, String> {
        probe(program, sandbox::probe).await?;
        Ok(Self {
            program: program.to_owned(),
        })
    }
}

/// Runs a probe inside a sandbox that tries to read a file outside it.
async fn probe(
    program: &Path,
    probe: fn(&Path, &Path, &Path) -> std::io::Result<Finding>,
) -> Result<(), String> {
    let path = program.to_owned();
    let probe = tokio::task::spawn_blocking(move || {
        let (folder, within) = probe_folder()?;
        let secret = folder.join("secret");
        let found = std::fs::write(&secret, "secret").and_then(|()| probe(&path, &within, &secret));
        let _ = std::fs::remove_dir_all(&folder);
        found
    });
    match probe.await.map_err(std::io::Error::other).flatten() {
        Ok(Finding::Held) => Ok(()),
        Ok(Finding::Failed(why)) => Err(why),
        Err(error) => Err(error.to_string()),
    }
}

fn probe_folder() -> std::io::Result<(PathBuf, PathBuf)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let (pid, started) = (std::process::id(), crate::table::start_ticks());
    let folder = std::env::temp_dir().join(format!("platen-probe-{pid}-{started}-{number}"));
    let within = folder.join("own");
    std::fs::create_dir(&folder)?;
    std::fs::create_dir(&within)?;
    Ok((folder, within))
}

impl Launcher for Sandbox {
    fn wrap(&self, command: Command, folder: &Path) -> Command {
        let arguments = command.sandbox_spec(folder).arguments();
        command.behind(&self.program, arguments)
    }

    fn isolation(&self) -> Isolation {
        Isolation {
            network: true,
            files: true,
            ..Isolation::default()
        }
    }
}

/// Restricts programs with Landlock ([`fence`]), inside another launcher.
#[derive(Clone, Debug)]
pub struct Fence {
    program: PathBuf,
    within: Arc<dyn Launcher>,
}

impl Fence {
    /// Probes Landlock on this machine. `program` must call [`fence::serve`] when its arguments ask
    /// for it.
    ///
    /// # Errors
    /// Why Landlock does not work here.
    pub async fn detect(program: &Path, within: Arc<dyn Launcher>) -> Result<Self, String> {
        probe(program, fence::probe).await?;
        Ok(Self {
            program: program.to_owned(),
            within,
        })
    }
}

impl Launcher for Fence {
    fn wrap(&self, command: Command, folder: &Path) -> Command {
        let arguments = fence::arguments(&command.sandbox_spec(folder));
        let command = self.within.wrap(command, folder);
        command.behind(&self.program, arguments)
    }

    fn isolation(&self) -> Isolation {
        Isolation {
            fence: true,
            ..self.within.isolation()
        }
    }
}

/// How strictly children must be sandboxed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demand {
    /// The strongest sandbox that this machine allows.
    #[default]
    Auto,
    /// The full sandbox; fail if it is unavailable.
    Required,
    /// No namespaces for files: Landlock restricts files, and a network namespace the network where
    /// one can be created.
    Landlock,
    /// No sandbox.
    Off,
}

impl Demand {
    /// Parses `auto`, `required`, `landlock` or `off`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [
            ("auto", Self::Auto),
            ("required", Self::Required),
            ("landlock", Self::Landlock),
            ("off", Self::Off),
        ]
        .into_iter()
        .find_map(|(known, demand)| (known == name).then_some(demand))
    }
}

/// The launcher that [`choose_launcher`] selected, and why it is weaker than the full sandbox if it
/// is.
type Selected = (Arc<dyn Launcher>, Option<String>);

/// What isolates processes is required but unavailable on this machine.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SandboxUnavailable {
    /// There is no sandbox.
    #[error("sandbox unavailable: {reason}")]
    Sandbox {
        /// Why the probe failed.
        reason: String,
    },
    /// There are no containers.
    #[error("containers unavailable: {0}")]
    Container(String),
}

impl SandboxUnavailable {
    /// What asks for it.
    #[must_use]
    pub fn demand(&self) -> &'static str {
        match self {
            Self::Sandbox { .. } => "CHILD_ISOLATION is `required`",
            Self::Container(_) => "RENDER_MODE is `container`",
        }
    }
}

/// The program that sets up sandboxes: this one, after [`announce_sandbox_program`].
pub(crate) static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
/// Result of the probe, which runs once per process.
static FOUND: OnceCell<Result<Sandbox, String>> = OnceCell::const_new();

/// Declares that this program calls [`sandbox::serve`] when its arguments ask for it. Without this,
/// no sandbox is used.
pub fn announce_sandbox_program() {
    // Unlike the path of the executable, this keeps working after an update has replaced the file.
    let own = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    let _ = PROGRAM.set(own);
}

/// Selects the strongest launcher that `demand` allows and this machine supports. Probes once per
/// process.
///
/// # Errors
/// A sandbox is required and unavailable.
pub(crate) async fn choose_launcher(demand: Demand) -> Result<Selected, SandboxUnavailable> {
    if demand == Demand::Off {
        return Ok((Arc::new(Plain), Some("sandbox switched off".to_owned())));
    }
    if demand == Demand::Landlock {
        let (launcher, reason) = detect_fence().await;
        let reason = reason.or_else(|| Some("namespaces are switched off".to_owned()));
        return Ok((launcher, reason));
    }
    let find = || async {
        let none = || "this program does not set up sandboxes".to_owned();
        Sandbox::detect(PROGRAM.get().ok_or_else(none)?).await
    };
    let reason = match FOUND.get_or_init(find).await {
        Ok(sandbox) => {
            return Ok((Arc::new(sandbox.clone()), None));
        }
        Err(reason) => reason.clone(),
    };
    if demand == Demand::Required {
        return Err(SandboxUnavailable::Sandbox { reason });
    }
    let (launcher, without) = detect_fence().await;
    let reason = match without {
        None => reason,
        Some(without) => format!("{reason}; {without}"),
    };
    Ok((launcher, Some(reason)))
}

/// The strongest launcher without mount namespaces, and why it lacks Landlock if it does.
async fn detect_fence() -> Selected {
    let within = detect_launcher().await;
    let Some(program) = PROGRAM.get() else {
        return (within, None);
    };
    match Fence::detect(program, within.clone()).await {
        Ok(fence) => (Arc::new(fence), None),
        Err(reason) => (within, Some(reason)),
    }
}

/// The strongest launcher that works without [`announce_sandbox_program`].
pub async fn detect_launcher() -> Arc<dyn Launcher> {
    match Unshare::detect().await {
        Some(launcher) => Arc::new(launcher),
        None => Arc::new(Plain),
    }
}
