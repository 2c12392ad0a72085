//! Programs that are measured: started on free ports in their own folders, and ended with all of
//! their child processes.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::File,
    io,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{
    Error,
    client::{Request, Target},
    cpu::living_descendants,
    cpu_group::{self, CpuGroup},
};

/// How long a program may take until it answers.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// How long it may take to exit before it is killed.
const END_TIMEOUT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(2);

/// A running program, ended when this is dropped.
#[derive(Debug)]
pub struct Program {
    name: String,
    child: Child,
    folder: TempDir,
    target: Target,
    /// Counts its processor time, where that can be.
    _group: Option<CpuGroup>,
}

impl Program {
    /// Starts `command`, which will listen at `target`. Its output goes to a file in `folder`,
    /// which is removed with the program.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(
        name: &str,
        command: Command,
        folder: TempDir,
        target: Target,
    ) -> Result<Self, Error> {
        Self::start_in(CpuGroup::make(), name, command, folder, target)
    }

    fn start_in(
        mut group: Option<CpuGroup>,
        name: &str,
        command: Command,
        folder: TempDir,
        target: Target,
    ) -> Result<Self, Error> {
        let mut command = match &group {
            Some(group) => group.enter(command),
            None => command,
        };
        let log = folder.path().join("output.log");
        let output = File::create(&log).map_err(Error::file("make", &log))?;
        let errors = output.try_clone().map_err(Error::file("open", &log))?;
        let started = command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn();
        let child = started.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::Missing {
                program: name.to_owned(),
                hint: format!(
                    "`{}` was not found",
                    Path::new(command.get_program()).display()
                ),
            },
            _ => Error::program(name, format!("cannot start: {error}")),
        })?;
        if let Some(group) = &mut group {
            group.count(child.id());
        }
        Ok(Self {
            name: name.to_owned(),
            child,
            folder,
            target,
            _group: group,
        })
    }

    /// Waits until `path` is answered with status 200.
    ///
    /// # Errors
    /// The program exits or takes too long.
    pub fn wait_ready(&mut self, path: &str) -> Result<Duration, Error> {
        let begun = Instant::now();
        let request = Request::get(path);
        loop {
            if let Ok((answer, _)) = request.fetch(&self.target)
                && answer.status == 200
            {
                return Ok(begun.elapsed());
            }
            self.check(begun, START_TIMEOUT)?;
            std::thread::sleep(POLL);
        }
    }

    /// Waits until the program listens.
    ///
    /// # Errors
    /// See [`Program::wait_ready`].
    pub fn wait_listening(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        while self.target.connect().is_err() {
            self.check(begun, START_TIMEOUT)?;
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Fails once the program has exited, or has taken longer than `timeout` since `begun`.
    ///
    /// # Errors
    /// See above; with the last lines of its output.
    pub fn check(&mut self, begun: Instant, timeout: Duration) -> Result<(), Error> {
        let ended = self.child.try_wait().ok().flatten();
        if ended.is_none() && begun.elapsed() < timeout {
            return Ok(());
        }
        let what = match ended {
            Some(status) => format!("ended with {status}"),
            None => format!("does not answer at {}", self.target),
        };
        Err(Error::program(
            &self.name,
            format!("{what}\n{}", self.last_output()),
        ))
    }

    /// Its output so far.
    #[must_use]
    pub fn output(&self) -> String {
        let text = std::fs::read(self.folder.path().join("output.log")).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The last lines of its output.
    #[must_use]
    pub fn last_output(&self) -> String {
        let text = self.output();
        let lines: Vec<&str> = text.lines().collect();
        let last = lines.len().saturating_sub(12);
        lines[last..].join("\n")
    }

    /// Where it listens.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Root of its process tree.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its folder, which is removed with it.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let below = living_descendants(self.child.id());
        self.signal(Signal::TERM);
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < END_TIMEOUT {
            std::thread::sleep(POLL);
        }
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
            // Descendants that it has left behind belong to nobody.
            for pid in below {
                let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
                let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
            }
        }
    }
}

/// A free TCP port on this machine.
///
/// # Errors
/// There is none.
pub fn free_port() -> Result<u16, Error> {
    let listener = TcpListener::bind("127.0.0.1:0");
    let address = listener.and_then(|listener| listener.local_addr());
    let address = address.map_err(|error| Error::program("network", error.to_string()))?;
    Ok(address.port())
}

/// A new temporary folder.
///
/// # Errors
/// The folder cannot be created.
pub fn folder() -> Result<TempDir, Error> {
    let folder = tempfile::Builder::new()
        .prefix("platen-bench-")
        .tempdir()
        .map_err(Error::file("make", std::env::temp_dir()))?;
    folders().insert(folder.path().to_owned());
    Ok(folder)
}

/// Folders that may still exist.
fn folders() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    FOLDERS.lock()
}

/// Ends all child processes and removes their folders. For signals that end this process before its
/// values are dropped.
pub fn end_all() {
    let below = || {
        let pids = living_descendants(std::process::id()).into_iter();
        pids.filter_map(|pid| i32::try_from(pid).ok().and_then(Pid::from_raw))
    };
    below().for_each(|pid| {
        let _ = kill_process(pid, Signal::TERM);
    });
    let begun = Instant::now();
    while below().next().is_some() && begun.elapsed() < END_TIMEOUT {
        std::thread::sleep(POLL);
    }
    below().for_each(|pid| {
        let _ = kill_process(pid, Signal::KILL);
    });
    cpu_group::remove_all();
    for folder in std::mem::take(&mut *folders()) {
        // Most have been removed with their programs.
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Finds a program in `PATH`.
#[must_use]
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    // nginx is often in a folder that is not in the `PATH` of users.
    folders.push("/usr/sbin".into());
    folders
        .into_iter()
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// The Platen binary, as a service.
#[derive(Clone, Debug)]
pub struct Platen {
    /// Its path.
    pub program: PathBuf,
}

/// Settings of a measured service: no rate limits.
const LIFTED: [(&str, &str); 3] = [
    ("RATE_LIMIT_MAX", "0"),
    ("RATE_LIMIT_RENDER_MAX", "0"),
    ("WORKER_TOKEN", WORKER_TOKEN),
];
/// Worker token of measured services, which listen on this machine only.
pub const WORKER_TOKEN: &str = "benchmark-worker-token";

impl Platen {
    /// Starts `platen serve` on a free port with an empty data folder, and waits until it is ready.
    ///
    /// # Errors
    /// It does not start.
    pub fn serve(&self, settings: &[(&str, &str)], arguments: &[&str]) -> Result<Program, Error> {
        let mut program = self.begin(settings, arguments)?;
        program.wait_ready("/health/ready")?;
        Ok(program)
    }

    /// Like [`Platen::serve`], without waiting.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn begin(&self, settings: &[(&str, &str)], arguments: &[&str]) -> Result<Program, Error> {
        self.begin_in(CpuGroup::make(), settings, arguments)
    }

    /// Like [`Platen::begin`], at once: a control group for its processor time takes longer to make and to enter
    /// than a service takes to start.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn begin_alone(&self) -> Result<Program, Error> {
        self.begin_in(None, &[], &[])
    }

    fn begin_in(
        &self,
        group: Option<CpuGroup>,
        settings: &[(&str, &str)],
        arguments: &[&str],
    ) -> Result<Program, Error> {
        let folder = folder()?;
        let address = format!("127.0.0.1:{}", free_port()?);
        let mut command = Command::new(&self.program);
        command
            .args(["serve", "--bind", &address, "--data-dir"])
            .arg(folder.path().join("data"))
            .args(arguments)
            .env("TMPDIR", folder.path())
            .envs(LIFTED)
            .envs(settings.iter().copied());
        for name in ["API_KEY_ADMIN", "API_KEY_RENDER", "PLATEN_CONFIG"] {
            command.env_remove(name);
        }
        let target = Target::Tcp(address);
        Program::start_in(group, "platen serve", command, folder, target)
    }

    /// Starts a worker with this many slots for a service.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn work(&self, app: &Target, slots: usize) -> Result<Program, Error> {
        let folder = folder()?;
        let mut command = Command::new(&self.program);
        command
            .args(["worker", "--app", &app.to_string()])
            .args(["--slots", &slots.to_string()])
            .env("TMPDIR", folder.path())
            .env("WORKER_TOKEN", WORKER_TOKEN);
        Program::start("platen worker", command, folder, app.clone())
    }

    /// Starts another subcommand, which listens at `target`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        name: &str,
        arguments: &[A],
        target: Target,
    ) -> Result<Program, Error> {
        let folder = folder()?;
        let mut command = Command::new(&self.program);
        command.args(arguments).env("TMPDIR", folder.path());
        Program::start(name, command, folder, target)
    }
}
