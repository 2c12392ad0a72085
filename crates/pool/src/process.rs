//! One external process: started, watched, killed with its family, reaped, its folder removed.
//! Every external process of Platen starts here.

use std::{
    collections::VecDeque,
    process::ExitStatus,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use rustix::process::{Pid, Resource, Rlimit};
use tokio::{
    io::AsyncReadExt,
    net::UnixStream,
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    sync::{Notify, mpsc, watch},
};

use crate::{
    command::{Command, Limits},
    error::StartError,
    folder::Folder,
    launcher::Launcher,
    table::{self, Member},
};

/// How much of the end of a child's standard error is kept, in bytes.
const STDERR_KEPT: usize = 4096;
/// How long to keep killing the family of a dead child.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(5);

/// A running process. Dropping it kills the whole family.
#[derive(Debug)]
pub struct Process {
    handle: Handle,
    /// Pipe to what the child reads.
    pub input: Option<ChildStdin>,
    /// Pipe from what the child writes.
    pub output: Option<ChildStdout>,
    /// A connection to the child, if who started it made one.
    pub socket: Option<UnixStream>,
}

impl Process {
    /// Starts a program in its own folder.
    pub(crate) fn start(
        launcher: &dyn Launcher,
        command: Command,
        folder: Folder,
    ) -> Result<Self, StartError> {
        let program = command.program().to_string_lossy().into_owned();
        let limits = command.limits;
        let mut built = launcher.wrap(command, folder.path()).prepare(&folder);
        let failed = |source| StartError::Spawn {
            program: program.clone(),
            source,
        };
        let mut child = built.spawn().map_err(failed)?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        let pid = pid.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
        set_limits(pid, limits);
        let (shared, ends) = Shared::new(pid, None);
        let input = child.stdin.take();
        let output = child.stdout.take();
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(keep_stderr(stderr, Arc::clone(&shared), ends.stderr_read));
        }
        let supervised = Supervised {
            child,
            pid,
            folder,
            ended: launcher.ended(),
        };
        tokio::spawn(supervise(
            supervised,
            Arc::clone(&shared),
            ends.exited,
            ends.gone,
        ));
        Ok(Self {
            handle: Handle(shared),
            input,
            output,
            socket: None,
        })
    }

    /// A process that another process started and supervises.
    pub(crate) fn distant(pid: i32) -> (Self, Distance) {
        let (kills, kill_members) = mpsc::channel(KILLS);
        let (shared, ends) = Shared::new(
            pid,
            Some(Distant {
                kills,
                members: Mutex::default(),
            }),
        );
        let process = Self {
            handle: Handle(Arc::clone(&shared)),
            input: None,
            output: None,
            socket: None,
        };
        let distance = Distance {
            shared,
            ends,
            kill_members,
        };
        (process, distance)
    }

    /// A handle that outlives this value and may be cloned.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.handle.kill();
    }
}

/// Requests to kill a member that wait to be passed on; a further one is made again.
const KILLS: usize = 16;

/// What is known here of a process that another process supervises.
#[derive(Debug)]
struct Distant {
    kills: mpsc::Sender<i32>,
    members: Mutex<Vec<Member>>,
}

/// Who reports on a process: the senders of its ends.
#[derive(Debug)]
struct Ends {
    exited: watch::Sender<Option<ExitStatus>>,
    gone: watch::Sender<bool>,
    stderr_read: watch::Sender<bool>,
}

/// The other side of [`Process::distant`]: tells the process's handles what happens, and what they
/// ask for.
#[derive(Debug)]
pub(crate) struct Distance {
    shared: Arc<Shared>,
    ends: Ends,
    kill_members: mpsc::Receiver<i32>,
}

/// What a handle asks for.
#[derive(Debug)]
pub(crate) enum Wish {
    Kill,
    KillMember(i32),
}

impl Distance {
    /// The next wish.
    pub(crate) async fn wish(&mut self) -> Wish {
        tokio::select! {
            () = self.shared.kill.notified() => Wish::Kill,
            Some(pid) = self.kill_members.recv() => Wish::KillMember(pid),
        }
    }

    /// The family as it is now.
    pub(crate) fn measured(&self, bytes: u64, members: Vec<Member>) {
        self.shared.memory_bytes.store(bytes, Ordering::Relaxed);
        if let Some(distant) = &self.shared.distant {
            *distant.members.lock() = members;
        }
    }

    /// The process has exited.
    pub(crate) fn exited(&self, status: ExitStatus, stderr: &str) {
        self.shared
            .stderr
            .lock()
            .extend(stderr.bytes().take(STDERR_KEPT));
        self.ends.stderr_read.send_replace(true);
        self.ends.exited.send_replace(Some(status));
    }

    /// Nothing is left of it.
    pub(crate) fn gone(&self) {
        self.ends.gone.send_replace(true);
    }
}

#[derive(Debug)]
struct Shared {
    pid: i32,
    /// Set if another process supervises it.
    distant: Option<Distant>,
    kill: Notify,
    exited: watch::Receiver<Option<ExitStatus>>,
    gone: watch::Receiver<bool>,
    stderr_read: watch::Receiver<bool>,
    stderr: Mutex<VecDeque<u8>>,
    /// Memory of the family at the last measurement, in bytes.
    memory_bytes: AtomicU64,
}

impl Shared {
    fn new(pid: i32, distant: Option<Distant>) -> (Arc<Self>, Ends) {
        let (exited_sender, exited) = watch::channel(None);
        let (gone_sender, gone) = watch::channel(false);
        let (read_sender, stderr_read) = watch::channel(false);
        let shared = Self {
            pid,
            distant,
            kill: Notify::new(),
            exited,
            gone,
            stderr_read,
            stderr: Mutex::default(),
            memory_bytes: AtomicU64::new(0),
        };
        let ends = Ends {
            exited: exited_sender,
            gone: gone_sender,
            stderr_read: read_sender,
        };
        (Arc::new(shared), ends)
    }
}

/// A cloneable reference to a process. It does not keep the process alive.
#[derive(Clone, Debug)]
pub struct Handle(Arc<Shared>);

impl Handle {
    /// The process id, which is also the id of its process group.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.0.pid
    }

    /// Kills the whole family. [`Handle::gone`] resolves once nothing is left of it.
    pub fn kill(&self) {
        self.0.kill.notify_one();
    }

    /// True until the process has exited.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.0.exited.borrow().is_none() && self.0.exited.has_changed().is_ok()
    }

    /// Waits for the exit status; `None` if it is unknown.
    pub async fn exited(&self) -> Option<ExitStatus> {
        let mut exited = self.0.exited.clone();
        exited
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|status| *status)
    }

    /// Waits until the rest of the family has exited too and the folder is removed.
    pub async fn gone(&self) {
        let _ = self.0.gone.clone().wait_for(|gone| *gone).await;
    }

    /// The end of its standard error.
    #[must_use]
    pub fn stderr(&self) -> String {
        let kept = self.0.stderr.lock();
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    /// The error for a program that exited before it was ready.
    pub async fn ended_early(&self) -> StartError {
        let status = match tokio::time::timeout(Duration::from_secs(1), self.exited()).await {
            Ok(Some(status)) => status.to_string(),
            Ok(None) | Err(_) => "no status".to_owned(),
        };
        let mut stderr_read = self.0.stderr_read.clone();
        let read = stderr_read.wait_for(|read| *read);
        let _ = tokio::time::timeout(Duration::from_millis(200), read).await;
        StartError::Ended {
            status,
            stderr: self.stderr(),
        }
    }

    /// Memory of its family in bytes. Reads `/proc`, so it blocks.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.memory_in(&table::Table::read())
    }

    /// Memory of its family in a table of all processes; what was told last of a distant process.
    pub(crate) fn memory_in(&self, table: &table::Table) -> u64 {
        match &self.0.distant {
            Some(_) => self.last_memory_bytes(),
            None => table.memory_bytes(self.0.pid),
        }
    }

    /// Memory of its family in bytes at the pool's last measurement, also after it has exited; 0
    /// before the first.
    #[must_use]
    pub fn last_memory_bytes(&self) -> u64 {
        self.0.memory_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn measured(&self, bytes: u64) {
        self.0.memory_bytes.store(bytes, Ordering::Relaxed);
    }

    /// The processes of its family. Reads `/proc`, so it blocks.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        match &self.0.distant {
            Some(distant) => distant.members.lock().clone(),
            None => table::Table::read().members(self.0.pid),
        }
    }

    /// Kills one process if it still belongs to the family.
    pub fn kill_member(&self, pid: i32) {
        if let Some(distant) = &self.0.distant {
            let _ = distant.kills.try_send(pid);
        } else if self.is_running() && table::Table::read().family(self.0.pid).contains(&pid) {
            table::kill(pid);
        }
    }
}

/// A child and its folder, cleaned up if the supervising task is dropped with its runtime.
struct Supervised {
    child: Child,
    pid: i32,
    folder: Folder,
    ended: fn(u32),
}

impl Drop for Supervised {
    fn drop(&mut self) {
        // The process id cannot be reused while its exit status has not been collected.
        if self.child.id().is_some() {
            table::kill_group(self.pid);
        }
    }
}

/// Waits for the exit, kills and reaps whatever the process leaves behind, and removes the folder.
async fn supervise(
    mut supervised: Supervised,
    shared: Arc<Shared>,
    exited: watch::Sender<Option<ExitStatus>>,
    gone: watch::Sender<bool>,
) {
    let pid = supervised.pid;
    let mut family = Vec::new();
    let status = loop {
        tokio::select! {
            status = supervised.child.wait() => break status.unwrap_or_default(),
            () = shared.kill.notified() => {
                // The family is read before the kill: afterwards its orphans have a new parent.
                let found = tokio::task::spawn_blocking(move || table::Table::read().family(pid));
                family = found.await.unwrap_or_default();
                table::kill_group(pid);
                family.iter().filter(|member| **member != pid).for_each(|member| table::kill(*member));
            }
        }
    };
    exited.send_replace(Some(status));
    // The leader has just been reaped. Its id is not reused while a member of its group lives.
    table::kill_group(pid);
    let path = supervised.folder.path().to_owned();
    let swept = tokio::time::timeout(SWEEP_TIMEOUT, async {
        let mut pause = Duration::from_millis(1);
        loop {
            let path = path.clone();
            let sweep = tokio::task::spawn_blocking(move || table::kill_marked(&path)).await;
            let sweep = sweep.unwrap_or_default();
            family
                .iter()
                .chain(&sweep.found)
                .filter(|member| **member != pid)
                .for_each(|member| table::reap(*member));
            if sweep.is_clean() {
                break;
            }
            family.extend(sweep.found);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    });
    let _ = swept.await;
    if let Ok(pid) = u32::try_from(pid) {
        let ended = supervised.ended;
        let _ = tokio::task::spawn_blocking(move || ended(pid)).await;
    }
    drop(supervised);
    gone.send_replace(true);
}

/// Reads standard error to its end, so that the child never blocks on it, and keeps the tail.
async fn keep_stderr(mut stderr: ChildStderr, shared: Arc<Shared>, read: watch::Sender<bool>) {
    let mut buffer = [0; 1024];
    while let Ok(count) = stderr.read(&mut buffer).await {
        if count == 0 {
            break;
        }
        let mut kept = shared.stderr.lock();
        kept.extend(&buffer[..count]);
        let excess = kept.len().saturating_sub(STDERR_KEPT);
        kept.drain(..excess);
    }
    read.send_replace(true);
}

fn set_limits(pid: i32, limits: Limits) {
    let bound = |value| Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    let values = [
        // A core dump would hold the input of the job.
        (Resource::Core, 0),
        (Resource::Nofile, limits.open_files),
        (Resource::Fsize, limits.file_size_bytes),
    ];
    for (resource, value) in values {
        // A limit that is already lower cannot be raised, and need not be.
        let _ = rustix::process::prlimit(Pid::from_raw(pid), resource, bound(value));
    }
}
