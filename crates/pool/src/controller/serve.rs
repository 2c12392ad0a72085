//! The controller's end: starts programs for the services of permitted users, one connection for
//! each process, and ends a process with its connection.

use std::{
    future::Future,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{fs::PermissionsExt, process::ExitStatusExt},
    },
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde::de::IgnoredAny;
use tokio::{
    net::UnixListener,
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
};

use super::{
    message::{Answer, Greeting, PROTOCOL, Program, Refusal, Relative, Request},
    packet::{self, Packets},
};
use crate::{
    error::StartError,
    process::{Handle, Process},
    table::Table,
};

/// How long a connection may take for its first message, and to take a packet.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a program may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Interval of the measurements that services get.
const USAGE_INTERVAL: Duration = Duration::from_millis(250);
/// Connections besides those of processes: greetings, and those that are refused.
const OTHERS: usize = 32;
/// Pause after a connection could not be accepted, for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What a controller starts.
pub trait Programs: Send + Sync + 'static {
    /// Starts a program of the controller's own configuration.
    fn start(&self, program: Program) -> impl Future<Output = Result<Process, StartError>> + Send;

    /// What can be started.
    fn greeting(&self) -> Greeting;

    /// Reports what operators should know.
    fn say(&self, text: String);
}

/// Whom a controller serves, and how much of it.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Users whose services may connect; if empty, the controller's own.
    pub users: Vec<u32>,
    /// Processes at once. A process counts until nothing is left of it.
    pub max_processes: usize,
    /// A process whose family holds more memory is killed, whatever its service does. In bytes.
    pub max_memory_bytes: u64,
}

/// A controller that listens.
#[derive(Debug)]
pub struct Server<P> {
    listener: UnixListener,
    path: PathBuf,
    shared: Arc<Shared<P>>,
}

#[derive(Debug)]
struct Shared<P> {
    programs: P,
    bounds: Bounds,
    processes: Arc<Semaphore>,
    table: watch::Sender<Arc<Table>>,
}

impl<P: Programs> Server<P> {
    /// Listens at `path`. Must be called within a tokio runtime.
    ///
    /// Everybody may connect who reaches the folder of the socket: who is served is decided by the
    /// user of each connection, which the kernel tells (`SO_PEERCRED`).
    ///
    /// # Errors
    /// Another process listens there, or the socket cannot be created.
    pub fn listen(path: &Path, programs: P, mut bounds: Bounds) -> io::Result<Self> {
        if bounds.users.is_empty() {
            bounds.users.push(rustix::process::getuid().as_raw());
        }
        let listener = packet::listen(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666))?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            shared: Arc::new(Shared {
                programs,
                processes: Arc::new(Semaphore::new(bounds.max_processes)),
                bounds,
                table: watch::Sender::default(),
            }),
        })
    }

    /// Serves until `stop` is ready, then ends all processes.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let mut connections = JoinSet::new();
        let places = Arc::new(Semaphore::new(self.shared.bounds.max_processes + OTHERS));
        let accepting = async {
            loop {
                let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                    return;
                };
                match packet::accept(&self.listener).await {
                    Ok((packets, user)) => {
                        let shared = Arc::clone(&self.shared);
                        connections.spawn(async move {
                            let _place = place;
                            shared.serve(packets, user).await;
                        });
                        while connections.try_join_next().is_some() {}
                    }
                    Err(error) => {
                        self.shared.programs.say(format!("cannot accept: {error}"));
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                }
            }
        };
        tokio::select! {
            () = accepting => {}
            () = measure(&self.shared) => {}
            () = stop => {}
        }
        let _ = std::fs::remove_file(&self.path);
        // Dropped connections kill their processes; their folders go with the last of them.
        connections.shutdown().await;
        let all = u32::try_from(self.shared.bounds.max_processes).unwrap_or(u32::MAX);
        let ended = self.shared.processes.acquire_many(all);
        let _ = tokio::time::timeout(PATIENCE, ended).await;
    }
}

/// Reads the process table as long as anybody wants it.
async fn measure<P: Programs>(shared: &Shared<P>) {
    loop {
        tokio::time::sleep(USAGE_INTERVAL).await;
        if shared.table.receiver_count() > 0
            && let Ok(table) = tokio::task::spawn_blocking(Table::read).await
        {
            shared.table.send_replace(Arc::new(table));
        }
    }
}

/// Kills a process when its connection is gone, and keeps its place until nothing is left of it.
struct Ending {
    handle: Handle,
    place: Option<OwnedSemaphorePermit>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.handle.kill();
        let (handle, place) = (self.handle.clone(), self.place.take());
        tokio::spawn(async move {
            handle.gone().await;
            drop(place);
        });
    }
}

impl<P: Programs> Shared<P> {
    async fn serve(&self, packets: Packets, user: u32) {
        if !self.bounds.users.contains(&user) {
            // Whatever it says is read: what is left unread would discard the answer.
            let said = packets.receive::<IgnoredAny>();
            let _ = tokio::time::timeout(PATIENCE, said).await;
            let text = format!("user {user} is not served: --allow-user names who is");
            self.programs.say(text.clone());
            tell(&packets, &Answer::Refused(Refusal::Other(text))).await;
            return;
        }
        let first = tokio::time::timeout(PATIENCE, packets.receive::<Request>()).await;
        let answer = match first {
            Ok(Ok(Some((Request::Hello { protocol } | Request::Start { protocol, .. }, _))))
                if protocol != PROTOCOL =>
            {
                let mine = env!("CARGO_PKG_VERSION");
                Answer::Refused(Refusal::Other(format!(
                    "the controller is of version {mine}: run the same version at both ends"
                )))
            }
            Ok(Ok(Some((Request::Hello { .. }, _)))) => Answer::Hello(self.programs.greeting()),
            Ok(Ok(Some((Request::Start { program, .. }, _)))) => {
                match self.start(&packets, program).await {
                    Ok(()) => return,
                    Err(refusal) => Answer::Refused(refusal),
                }
            }
            // Neither; or nothing in time.
            _ => return,
        };
        tell(&packets, &answer).await;
    }

    /// Starts a process and stays with it until it or the connection ends.
    async fn start(&self, packets: &Packets, program: Program) -> Result<(), Refusal> {
        let max = self.bounds.max_processes;
        let place = Arc::clone(&self.processes).try_acquire_owned();
        let place = place.map_err(|_| {
            Refusal::Other(format!(
                "the controller holds {max} processes (--max-processes)"
            ))
        })?;
        let starting = tokio::time::timeout(START_TIMEOUT, self.programs.start(program));
        let started = tokio::select! {
            started = starting => started,
            // The service has gone, or says what it must not yet: the start is dropped.
            _ = packets.receive::<Request>() => return Ok(()),
        };
        let after = START_TIMEOUT;
        let mut process = started.unwrap_or(Err(StartError::TimedOut { after }))?;
        let handle = process.handle().clone();
        let ending = Ending {
            handle: handle.clone(),
            place: Some(place),
        };
        let failed = |error: io::Error| Refusal::Other(error.to_string());
        let descriptors = descriptors(&mut process).map_err(failed)?;
        let borrowed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        let isolation = self.programs.greeting().isolation;
        let pid = handle.pid();
        let answer = Answer::Started { pid, isolation };
        let sent = tokio::time::timeout(PATIENCE, packets.send(&answer, &borrowed)).await;
        drop(descriptors);
        if matches!(sent, Ok(Ok(()))) {
            self.attend(packets, &handle).await;
        }
        drop(ending);
        Ok(())
    }

    async fn attend(&self, packets: &Packets, handle: &Handle) {
        let mut table = self.table.subscribe();
        let status = loop {
            tokio::select! {
                status = handle.exited() => break status.unwrap_or_default(),
                request = packets.receive::<Request>() => match request {
                    Ok(Some((Request::Kill {}, _))) => handle.kill(),
                    Ok(Some((Request::KillMember { pid }, _))) => {
                        let handle = handle.clone();
                        let killed = tokio::task::spawn_blocking(move || handle.kill_member(pid));
                        let _ = killed.await;
                    }
                    // The end of the connection, or a message that has no place here.
                    _ => return,
                },
                Ok(()) = table.changed() => {
                    let table = Arc::clone(&table.borrow_and_update());
                    if !self.usage(packets, handle, table).await {
                        return;
                    }
                }
            }
        };
        let (status, stderr) = (status.into_raw(), handle.stderr());
        if tell(packets, &Answer::Exited { status, stderr }).await {
            handle.gone().await;
            tell(packets, &Answer::Gone {}).await;
        }
    }

    /// Tells what a family holds, and kills one that holds too much. False if the service does not
    /// listen.
    async fn usage(&self, packets: &Packets, handle: &Handle, table: Arc<Table>) -> bool {
        let pid = handle.pid();
        let measured =
            tokio::task::spawn_blocking(move || (table.memory_bytes(pid), table.members(pid)));
        let Ok((bytes, members)) = measured.await else {
            return true;
        };
        if bytes > self.bounds.max_memory_bytes {
            let mb = bytes >> 20;
            self.programs.say(format!(
                "process {pid} is killed: it holds {mb} MiB (--max-memory-mb)"
            ));
            handle.kill();
        }
        let members = Relative::of(members);
        tell(packets, &Answer::Usage { bytes, members }).await
    }
}

/// Sends a message; false if it is not taken in time.
async fn tell(packets: &Packets, answer: &Answer) -> bool {
    let sent = tokio::time::timeout(PATIENCE, packets.send(answer, &[])).await;
    matches!(sent, Ok(Ok(())))
}

/// The descriptors of a process, for who asked for it.
fn descriptors(process: &mut Process) -> io::Result<Vec<OwnedFd>> {
    let mut all = Vec::new();
    if let Some(input) = process.input.take() {
        all.push(input.into_owned_fd()?);
    }
    if let Some(output) = process.output.take() {
        all.push(output.into_owned_fd()?);
    }
    if let Some(socket) = process.socket.take() {
        all.push(socket.into_std()?.into());
    }
    Ok(all)
}
