//! The supervisor: opens the sockets, starts the processes, replaces those that end, and exchanges
//! them one after the other when it is told to.

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

/// How long a process may take until it is ready.
const MAX_START: Duration = Duration::from_secs(60);
/// A process that lived for so long was well.
const WELL: Duration = Duration::from_secs(10);
/// The first wait before a process that did not live long is started again; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Paths of sockets have 107 bytes (unix(7)); this leaves room for their names.
const MAX_FOLDER_BYTES: usize = 95;
/// The longest.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Why processes cannot be supervised.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuperviseError {
    /// An address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The system refuses something.
    #[error("the worker processes cannot be supervised")]
    System(#[from] io::Error),
    /// A process ended before it was ready; it has said why.
    #[error("worker process {0} did not start")]
    NotStarted(u32),
}

/// How processes are supervised.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Addresses that all processes listen on.
    pub binds: Vec<Bind>,
    /// Number of processes.
    pub workers: u32,
    /// The data folder.
    pub data_folder: PathBuf,
    /// Longest shutdown of a process.
    pub shutdown_timeout: Duration,
    /// A process whose heartbeat is missing for so long is killed and replaced.
    pub heartbeat_timeout: Duration,
}

/// What a process is started with.
struct Plan {
    program: PathBuf,
    arguments: Vec<OsString>,
    count: u32,
    /// Where the sockets of the processes are.
    folder: PathBuf,
    /// The same, where it is removed at the end.
    _temporary: Option<TempDir>,
    /// The sockets of each address.
    public: Vec<Vec<Listener>>,
    /// The socket of each process.
    own: Vec<Listener>,
    /// How long a process may take until it has ended.
    patience: Duration,
    /// How long one may not say that it is well.
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
            public,
            own,
            patience: settings.shutdown_timeout + HANDOVER_GRACE / 2,
            silence: settings.heartbeat_timeout,
        })
    }

    fn group(&self, index: u32) -> ProcessGroup {
        ProcessGroup {
            index,
            count: self.count,
            folder: self.folder.clone(),
        }
    }

    /// Starts the process `index` and gives it its sockets.
    fn start(&self, index: u32) -> io::Result<Member> {
        let member = Member::spawn(&self.program, &self.arguments, &self.group(index))?;
        for sockets in &self.public {
            let sockets: Vec<BorrowedFd<'_>> = sockets.iter().map(AsFd::as_fd).collect();
            member.give(&sockets)?;
        }
        member.give(&[self.own[index as usize].as_fd()])?;
        Ok(member)
    }

    /// Starts the process `index` and waits until it takes work.
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

    /// Another process in the place of `member`; none where the successor did not start and the
    /// predecessor is no more.
    async fn replace(&self, mut member: Member) -> Result<Member, Option<Member>> {
        if member.index != 0 {
            return match self.start_ready(member.index).await {
                Ok(successor) => {
                    self.stop(member).await;
                    Ok(successor)
                }
                Err(_) if member.is_alive() => Err(Some(member)),
                Err(_) => Err(None),
            };
        }
        // Only one process can own the data folder: the successor waits for it, with everything
        // else done.
        let starting = self.start_ready(member.index);
        let stopping = self.stop(member);
        let (successor, ()) = tokio::join!(starting, stopping);
        successor.map_err(|_| None)
    }
}

/// In the data folder, unless its path is too long for sockets.
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

/// Asks for another process; answered with whether there is one.
type Order = oneshot::Sender<bool>;

/// Serves with `settings.workers` processes of this program, until SIGTERM or SIGINT. SIGHUP and
/// SIGUSR1 replace them one after the other, without a request being dropped.
///
/// # Errors
/// Where an address cannot be listened on, or the processes do not start.
pub async fn supervise(settings: Settings) -> Result<(), SuperviseError> {
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
            // Processes take connections before they say that they are ready, so those that are
            // starting are ended as all others are, once they have started.
            _ = terminate.recv() => starting.await?,
            _ = interrupt.recv() => starting.await?,
        }
    };
    while !is_ending {
        tokio::select! {
            _ = terminate.recv() => is_ending = true,
            _ = interrupt.recv() => is_ending = true,
            _ = hang_up.recv() => replace_all(&orders).await,
            _ = user.recv() => replace_all(&orders).await,
        }
    }
    info!("stopping the worker processes");
    // Ends every keeper, which ends its process.
    drop(orders);
    while keepers.join_next().await.is_some() {}
    Ok(())
}

/// The owner of the data folder first: the others read what it makes.
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
    // The owner last: where the new program does not start, nothing has been lost.
    for order in orders.iter().rev() {
        let (answer, done) = oneshot::channel();
        if order.send(answer).await.is_err() || !done.await.unwrap_or(false) {
            error!("replacement aborted: the new worker process did not start");
            return;
        }
    }
    info!("worker processes replaced");
}

/// Keeps a process alive until `orders` closes.
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
                    if let Ok(Ok(member)) = tokio::time::timeout(plan.patience, starting).await {
                        plan.stop(member).await;
                    }
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
                let replaced = plan.replace(member).await;
                let _ = answer.send(replaced.is_ok());
                current = replaced.map_or_else(|old| old, Some);
            }
        }
    }
}

/// Waits before another try; false where the supervisor ends meanwhile.
async fn pause(wait: &mut Duration, orders: &mut mpsc::Receiver<Order>) -> bool {
    let now = *wait;
    *wait = (now * 2).min(LAST_WAIT);
    tokio::select! {
        () = tokio::time::sleep(now) => true,
        () = closed(orders) => false,
    }
}

/// Ends when the supervisor ends; orders that come meanwhile are answered with a no.
async fn closed(orders: &mut mpsc::Receiver<Order>) {
    while let Some(answer) = orders.recv().await {
        let _ = answer.send(false);
    }
}
