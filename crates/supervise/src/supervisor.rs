//! The supervisor: opens the sockets, starts the processes, restarts those that exit, and replaces
//! them one by one on a signal.

use std::{
    ffi::OsString,
    fs::DirBuilder,
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::DirBuilderExt,
    },
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use futures_core::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use platen_delivery::{Bind, ListenError, Listener, Sharing};
use tempfile::TempDir;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::{mpsc, oneshot},
    task::JoinSet,
};
use tracing::{error, info, warn};

use crate::{
    group::{HANDOVER_GRACE, ProcessGroup, socket},
    member::{Ended, Member},
};

/// Timeout of a process start.
const MAX_START: Duration = Duration::from_secs(60);
/// A process that ran for this long counts as healthy: the restart delay resets.
const WELL: Duration = Duration::from_secs(10);
/// First delay before the restart of a short-lived process; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Socket paths have 107 bytes (unix(7)); this leaves space for the file names.
const MAX_FOLDER_BYTES: usize = 95;
/// Longest delay before a restart.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Why supervision failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuperviseError {
    /// Cannot listen on an address.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A system call failed.
    #[error("the worker processes cannot be supervised")]
    System(#[from] io::Error),
    /// A process exited before it was ready; it has logged the reason.
    #[error("worker process {0} did not start")]
    NotStarted(u32),
}

/// Settings of the supervisor.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Addresses that all processes listen on.
    pub binds: Vec<Bind>,
    /// Number of processes.
    pub workers: u32,
    /// The data folder.
    pub data_folder: PathBuf,
    /// Shutdown timeout of a process.
    pub shutdown_timeout: Duration,
    /// The supervisor kills and replaces a process without a heartbeat for this long.
    pub heartbeat_timeout: Duration,
}

/// Everything needed to start a process.
struct Plan {
    program: PathBuf,
    arguments: Vec<OsString>,
    count: u32,
    /// Folder of the peer sockets.
    folder: PathBuf,
    /// The same folder if it is temporary; dropping it removes the folder.
    _temporary: Option<TempDir>,
    /// The listeners of each address; none once the processes end.
    public: Mutex<Vec<Vec<Listener>>>,
    /// The peer listener of each process.
    own: Vec<Listener>,
    /// How long a process may take to exit.
    patience: Duration,
    /// How long a process may go without a heartbeat.
    silence: Duration,
}

impl Plan {
    fn open(
        settings: &Settings,
        program: PathBuf,
        arguments: Vec<OsString>,
    ) -> Result<Self, Error> {
        let (folder, temporary) = folder(&settings.data_folder)?;
        let bind = |bind| Listener::bind(bind, Sharing::Alone);
        let public = settings.binds.iter().map(bind).collect::<Result<_, _>>()?;
        let mut own = Vec::new();
        for index in 0..settings.workers {
            let path = socket(&folder, index);
            let mode = Some(0o600);
            own.extend(Listener::bind(&Bind::Unix { path, mode }, Sharing::Alone)?);
        }
        Ok(Self {
            program,
            arguments,
            count: settings.workers,
            folder,
            _temporary: temporary,
            public: Mutex::new(public),
            own,
            patience: settings.shutdown_timeout + HANDOVER_GRACE / 2,
            silence: settings.heartbeat_timeout,
        })
    }

    fn public(&self) -> MutexGuard<'_, Vec<Vec<Listener>>> {
        self.public.lock()
    }

    /// Closes the addresses of clients as soon as the last process has closed them: a connection
    /// that nobody accepts would wait in vain.
    fn close(&self) {
        self.public().clear();
    }

    fn group(&self, index: u32) -> ProcessGroup {
        ProcessGroup {
            index,
            count: self.count,
            folder: self.folder.clone(),
        }
    }

    /// Starts the process `index` and passes its sockets.
    fn start(&self, index: u32) -> io::Result<Member> {
        let member = Member::spawn(&self.program, &self.arguments, &self.group(index))?;
        for sockets in self.public().iter() {
            let sockets: Vec<BorrowedFd<'_>> = sockets.iter().map(AsFd::as_fd).collect();
            member.give(&sockets)?;
        }
        member.give(&[self.own[index as usize].as_fd()])?;
        Ok(member)
    }

    /// Starts the process `index` and waits until it is ready.
    async fn start_ready(&self, index: u32) -> io::Result<Member> {
        let mut member = self.start(index)?;
        match member.ready(MAX_START).await {
            Ok(()) => {
                info!(
                    worker = member.index,
                    pid = member.pid,
                    "worker process ready"
                );
                Ok(member)
            }
            Err(error) => {
                let (worker, pid) = (member.index, member.pid);
                error!(worker, pid, cause = %error, "worker process did not become ready");
                member.kill().await;
                Err(error)
            }
        }
    }

    async fn stop(&self, mut member: Member) {
        if !member.stop(self.patience).await {
            let (worker, pid) = (member.index, member.pid);
            warn!(worker, pid, "worker process killed: shutdown timeout");
        }
    }

    /// Stops a process that may still be starting. Let it finish: it accepts connections before it
    /// reports ready.
    async fn stop_starting(&self, starting: impl Future<Output = io::Result<Member>>) {
        if let Ok(Ok(member)) = tokio::time::timeout(self.patience, starting).await {
            self.stop(member).await;
        }
    }

    /// Replaces `member` with a new process. On failure, `Err` holds the predecessor if it is still
    /// running. `None` once both have ended, if `orders` closes meanwhile.
    async fn replace(
        &self,
        member: Member,
        orders: &mut mpsc::Receiver<Order>,
    ) -> Option<Result<Member, Option<Member>>> {
        match member.index {
            0 => self.replace_leader(member, orders).await,
            _ => self.replace_follower(member, orders).await,
        }
    }

    async fn replace_leader(
        &self,
        member: Member,
        orders: &mut mpsc::Receiver<Order>,
    ) -> Option<Result<Member, Option<Member>>> {
        // Only one process can own the data folder: the successor completes its start-up and then
        // waits for the lock.
        let replacing = async {
            let starting = self.start_ready(member.index);
            let (successor, ()) = tokio::join!(starting, self.stop(member));
            successor
        };
        let mut replacing = std::pin::pin!(replacing);
        tokio::select! {
            successor = replacing.as_mut() => Some(successor.map_err(|_| None)),
            () = closed(orders) => {
                self.stop_starting(replacing).await;
                None
            }
        }
    }

    async fn replace_follower(
        &self,
        mut member: Member,
        orders: &mut mpsc::Receiver<Order>,
    ) -> Option<Result<Member, Option<Member>>> {
        let mut starting = std::pin::pin!(self.start_ready(member.index));
        let started = tokio::select! {
            started = starting.as_mut() => started,
            () = closed(orders) => {
                tokio::join!(self.stop(member), self.stop_starting(starting));
                return None;
            }
        };
        let Ok(successor) = started else {
            return Some(Err(member.is_alive().then_some(member)));
        };
        let mut stopping = std::pin::pin!(self.stop(member));
        tokio::select! {
            () = stopping.as_mut() => Some(Ok(successor)),
            () = closed(orders) => {
                tokio::join!(stopping, self.stop(successor));
                None
            }
        }
    }
}

/// A folder for the peer sockets: in the data folder, or temporary if that path is too long for a
/// socket.
fn folder(data: &Path) -> io::Result<(PathBuf, Option<TempDir>)> {
    platen_storage::create_folder(data)?;
    let folder = data.canonicalize()?.join("workers");
    if folder.as_os_str().len() > MAX_FOLDER_BYTES {
        let temporary = tempfile::Builder::new().prefix("platen-").tempdir()?;
        return Ok((temporary.path().to_owned(), Some(temporary)));
    }
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok((folder, None)),
    }
}

type Error = SuperviseError;

/// Asks for a replacement; the answer is whether it succeeded.
type Order = oneshot::Sender<bool>;

/// Runs `settings.workers` processes of this program until SIGTERM or SIGINT. SIGHUP and SIGUSR1
/// replace them one by one without dropping a request.
///
/// # Errors
/// If an address cannot be listened on, or a process does not start.
pub fn supervise(settings: Settings) -> BoxFuture<'static, Result<(), SuperviseError>> {
    Box::pin(async move {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        let mut user = signal(SignalKind::user_defined1())?;
        let program = std::env::current_exe()?;
        let arguments = std::env::args_os().skip(1).collect();
        let plan = Arc::new(Plan::open(&settings, program, arguments)?);
        let mut keepers = JoinSet::new();
        let mut is_ending = true;
        let orders = {
            let mut starting = std::pin::pin!(start_all(&plan, &mut keepers));
            tokio::select! {
                started = starting.as_mut() => {
                    is_ending = false;
                    started?
                }
                // Processes accept connections before they report ready. Let those that are starting
                // finish, then shut them down like the others.
                _ = terminate.recv() => starting.await?,
                _ = interrupt.recv() => starting.await?,
            }
        };
        while !is_ending {
            is_ending = tokio::select! {
                _ = terminate.recv() => true,
                _ = interrupt.recv() => true,
                _ = hang_up.recv() => false,
                _ = user.recv() => false,
            };
            if !is_ending {
                // Whoever stops the service does not wait for a replacement, which may take minutes.
                is_ending = tokio::select! {
                    () = replace_all(&orders) => false,
                    _ = terminate.recv() => true,
                    _ = interrupt.recv() => true,
                };
            }
        }
        info!("stopping the worker processes");
        // Closing the channel of a `keep` task shuts its process down. The leader comes last: the
        // others send requests to it until they have answered theirs.
        let mut orders = orders.into_iter();
        let leader = orders.next();
        drop(orders);
        let others = async { while keepers.len() > 1 && keepers.join_next().await.is_some() {} };
        // The leader needs time for its own work.
        let _ = tokio::time::timeout(plan.patience / 2, others).await;
        plan.close();
        drop(leader);
        while keepers.join_next().await.is_some() {}
        Ok(())
    })
}

/// Starts the leader first: the followers read what it creates.
async fn start_all(
    plan: &Arc<Plan>,
    keepers: &mut JoinSet<()>,
) -> Result<Vec<mpsc::Sender<Order>>, SuperviseError> {
    let mut orders = Vec::new();
    for index in 0..plan.count {
        let member = plan.start_ready(index).await;
        let member = member.map_err(|_| Error::NotStarted(index))?;
        let (sender, receiver) = mpsc::channel(1);
        keepers.spawn(keep(Arc::clone(plan), member, receiver));
        orders.push(sender);
    }
    Ok(orders)
}

async fn replace_all(orders: &[mpsc::Sender<Order>]) {
    info!("replacing the worker processes");
    // The leader last: if the new program does not start, nothing is lost.
    for order in orders.iter().rev() {
        let (answer, done) = oneshot::channel();
        if order.send(answer).await.is_err() || !done.await.unwrap_or(false) {
            error!("replacement aborted: the new worker process did not start");
            return;
        }
    }
    info!("worker processes replaced");
}

/// Restarts a process whenever it exits, until `orders` closes.
async fn keep(plan: Arc<Plan>, member: Member, mut orders: mpsc::Receiver<Order>) {
    let index = member.index;
    let mut current = Some(member);
    let mut wait = FIRST_WAIT;
    let mut born = Instant::now();
    loop {
        let Some(mut member) = current.take() else {
            born = Instant::now();
            let mut starting = std::pin::pin!(plan.start_ready(index));
            let started = tokio::select! {
                started = starting.as_mut() => started,
                () = closed(&mut orders) => {
                    plan.stop_starting(starting).await;
                    return;
                }
            };
            match started {
                Ok(member) => current = Some(member),
                Err(_) if pause(&mut wait, &mut orders).await => {}
                Err(_) => return,
            }
            continue;
        };
        tokio::select! {
            Ended { cause } = member.ended(plan.silence) => {
                let (worker, pid) = (member.index, member.pid);
                error!(worker, pid, cause, "worker process ended; restarting it");
                if born.elapsed() > WELL {
                    wait = FIRST_WAIT;
                } else if !pause(&mut wait, &mut orders).await {
                    return;
                }
            }
            order = orders.recv() => {
                let Some(answer) = order else {
                    plan.stop(member).await;
                    return;
                };
                born = Instant::now();
                let Some(replaced) = plan.replace(member, &mut orders).await else {
                    return;
                };
                let _ = answer.send(replaced.is_ok());
                current = replaced.map_or_else(|old| old, Some);
            }
        }
    }
}

/// Waits for the restart delay. False if the supervisor shuts down meanwhile.
async fn pause(wait: &mut Duration, orders: &mut mpsc::Receiver<Order>) -> bool {
    let now = *wait;
    *wait = (now * 2).min(LAST_WAIT);
    tokio::select! {
        () = tokio::time::sleep(now) => true,
        () = closed(orders) => false,
    }
}

/// Completes when the supervisor shuts down. Rejects replacement requests meanwhile.
async fn closed(orders: &mut mpsc::Receiver<Order>) {
    while let Some(answer) = orders.recv().await {
        let _ = answer.send(false);
    }
}
