//! How a program is started: as it is, or wrapped so that it sees less of the machine.

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
    enclosure::{self, Finding},
    fence,
};
use tokio::{process::Command as TokioCommand, sync::OnceCell};

use crate::process::Command;

/// Wraps a command before it is started. A jail is one of these.
pub trait Launcher: Send + Sync + std::fmt::Debug + 'static {
    /// The command that starts `command` within the launcher's walls. `folder` is the child's own.
    fn wrap(&self, command: Command, folder: &Path) -> Command;

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
    /// Children see that there are other files, but open none of them.
    pub fence: bool,
}

impl Isolation {
    /// The folder that is `/tmp` for a child whose own folder this is.
    #[must_use]
    pub fn tmp(&self, folder: &Path) -> PathBuf {
        match self.files {
            true => folder.join(enclosure::TMP),
            false => "/tmp".into(),
        }
    }

    /// The user that a child takes itself for, where that is another than this process has.
    #[must_use]
    pub fn user(&self) -> Option<u32> {
        self.files.then_some(enclosure::USER)
    }

    /// Whether children can open files of others.
    #[must_use]
    pub fn opens_others(&self) -> bool {
        !self.files && !self.fence
    }

    /// A name for logs and metrics.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self { files: true, .. } => "full",
            Self { fence: true, .. } => "landlock",
            Self { network: true, .. } => "network",
            _ => "none",
        }
    }
}

/// Starts programs as they are.
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

/// Starts programs behind walls of their own ([`enclosure`]).
#[derive(Clone, Debug)]
pub struct Enclosure {
    program: PathBuf,
}

impl Enclosure {
    /// The launcher, where an attempt shows that this machine allows it; why not, otherwise.
    /// `program` calls [`enclosure::serve`] where its arguments ask for it.
    ///
    /// # Errors
    /// What failed, or got through.
    pub async fn detect(program: &Path) -> Result<Self, String> {
        try_to_pass(program, enclosure::attempt).await?;
        Ok(Self {
            program: program.to_owned(),
        })
    }
}

/// Has a program make walls around itself and try to read a file outside; why they do not hold, otherwise.
async fn try_to_pass(
    program: &Path,
    attempt: fn(&Path, &Path, &Path) -> std::io::Result<Finding>,
) -> Result<(), String> {
    let path = program.to_owned();
    let attempt = tokio::task::spawn_blocking(move || {
        let (folder, within) = attempt_folder()?;
        let secret = folder.join("secret");
        let found =
            std::fs::write(&secret, "secret").and_then(|()| attempt(&path, &within, &secret));
        let _ = std::fs::remove_dir_all(&folder);
        found
    });
    match attempt.await.map_err(std::io::Error::other).flatten() {
        Ok(Finding::Held) => Ok(()),
        Ok(Finding::Failed(why)) => Err(why),
        Err(error) => Err(error.to_string()),
    }
}

fn attempt_folder() -> std::io::Result<(PathBuf, PathBuf)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let (pid, started) = (std::process::id(), crate::table::start_ticks());
    let folder = std::env::temp_dir().join(format!("platen-attempt-{pid}-{started}-{number}"));
    let within = folder.join("own");
    std::fs::create_dir(&folder)?;
    std::fs::create_dir(&within)?;
    Ok((folder, within))
}

impl Launcher for Enclosure {
    fn wrap(&self, command: Command, folder: &Path) -> Command {
        let arguments = command.walls(folder).arguments();
        command.behind(&self.program, arguments)
    }

    fn isolation(&self) -> Isolation {
        Isolation {
            network: true,
            files: true,
            fence: false,
        }
    }
}

/// Starts programs behind a [`fence`], and as another launcher does.
#[derive(Clone, Debug)]
pub struct Fence {
    program: PathBuf,
    within: Arc<dyn Launcher>,
}

impl Fence {
    /// The launcher, where an attempt shows that this machine allows it; why not, otherwise.
    /// `program` calls [`fence::serve`] where its arguments ask for it.
    ///
    /// # Errors
    /// What failed, or got through.
    pub async fn detect(program: &Path, within: Arc<dyn Launcher>) -> Result<Self, String> {
        try_to_pass(program, fence::attempt).await?;
        Ok(Self {
            program: program.to_owned(),
            within,
        })
    }
}

impl Launcher for Fence {
    fn wrap(&self, command: Command, folder: &Path) -> Command {
        let arguments = fence::arguments(&command.walls(folder));
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

/// How much children are to be shut in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demand {
    /// As well as the machine allows.
    #[default]
    Auto,
    /// Behind walls, or not at all.
    Required,
    /// Without namespaces: files by Landlock, the network by a namespace where there is one.
    Landlock,
    /// As any other program.
    Off,
}

impl Demand {
    /// By its name: `auto`, `required`, `landlock` or `off`.
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

/// A launcher, and why there is no better one.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The launcher.
    pub launcher: Arc<dyn Launcher>,
    /// Why children are not behind walls, where they are not.
    pub reason: Option<String>,
}

/// Walls are demanded, and this machine does not allow them.
#[derive(Clone, Debug, thiserror::Error)]
#[error("outside programs cannot be shut in on this machine: {reason}")]
pub struct NoWalls {
    /// What failed.
    pub reason: String,
}

/// The program that makes walls, where this one has said that it does.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
/// What the attempt found.
static FOUND: OnceCell<Result<Enclosure, String>> = OnceCell::const_new();

/// Says that this program calls [`enclosure::serve`] where its arguments ask for it.
pub fn announce_walls() {
    // Also where the file of this program has been replaced since.
    let own = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    let _ = PROGRAM.set(own);
}

/// The best launcher that is wanted and works on this machine, which is found out once.
///
/// # Errors
/// Where walls are demanded, and there are none.
pub async fn choose_launcher(demand: Demand) -> Result<Chosen, NoWalls> {
    if demand == Demand::Off {
        return Ok(Chosen {
            launcher: Arc::new(Plain),
            reason: Some("they are switched off".to_owned()),
        });
    }
    if demand == Demand::Landlock {
        let (launcher, reason) = detect_fence().await;
        let reason = reason.or_else(|| Some("namespaces are switched off".to_owned()));
        return Ok(Chosen { launcher, reason });
    }
    let find = || async {
        let none = || "this program makes no walls".to_owned();
        Enclosure::detect(PROGRAM.get().ok_or_else(none)?).await
    };
    let reason = match FOUND.get_or_init(find).await {
        Ok(enclosure) => {
            return Ok(Chosen {
                launcher: Arc::new(enclosure.clone()),
                reason: None,
            });
        }
        Err(reason) => reason.clone(),
    };
    if demand == Demand::Required {
        return Err(NoWalls { reason });
    }
    let (launcher, without) = detect_fence().await;
    let reason = match without {
        None => reason,
        Some(without) => format!("{reason}; {without}"),
    };
    Ok(Chosen {
        launcher,
        reason: Some(reason),
    })
}

/// The best launcher without walls, and why it has no fence where it has none.
async fn detect_fence() -> (Arc<dyn Launcher>, Option<String>) {
    let within = detect_launcher().await;
    let Some(program) = PROGRAM.get() else {
        return (within, None);
    };
    match Fence::detect(program, within.clone()).await {
        Ok(fence) => (Arc::new(fence), None),
        Err(reason) => (within, Some(reason)),
    }
}

/// The best launcher that needs no help of this program.
pub async fn detect_launcher() -> Arc<dyn Launcher> {
    match Unshare::detect().await {
        Some(launcher) => Arc::new(launcher),
        None => Arc::new(Plain),
    }
}
