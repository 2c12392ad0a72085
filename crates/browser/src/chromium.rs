//! One Chromium process with many contexts, and the [`Keeper`] that has one ready.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use platen_fonts::Installed;
use platen_pool::{
    Command, Handle, Limits, Pipes, Process, Program, Purpose, Reason, Spawner, StartError,
};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::{
    config::Config,
    devtools::{self, CallError, Connection, Events},
    program::{Switches, arguments, find_chromium_in},
    remote::Remotes,
};

/// Interval of memory measurements: short enough to catch a page before it exhausts the machine, at
/// the cost of one pass over `/proc`.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// A page that crashes this soon after a process was killed for its memory counts as having
/// exceeded the limit: the kill does not say which page the process belonged to.
const MEMORY_BLAME: Duration = Duration::from_secs(2);

/// A Chromium process.
pub(crate) struct Chromium {
    pub(crate) connection: Connection,
    pub(crate) version: String,
    /// Its process; none if others started it.
    process: Option<Process>,
    pages: AtomicU32,
    retired: AtomicBool,
    /// The process was killed because it did not answer.
    given_up: AtomicBool,
    memory_bytes: AtomicU64,
    memory_kill: Mutex<Option<(Instant, u64)>>,
}

/// Starts Chromium.
fn spawn(
    spawner: &Spawner,
    config: &Config,
    switches: &Switches,
    fonts: &Installed,
) -> Result<Process, StartError> {
    let image = spawner.origin().image();
    let program = find_chromium_in(&image, config.program.as_deref())?;
    let folder = spawner.folder()?;
    let installed = image.resolve(&program).unwrap_or(program);
    let command = Command::new(installed.clone())
        .installed(installed.parent().unwrap_or(&installed))
        .env("FONTCONFIG_FILE", &fonts.configuration)
        .nests()
        .args(arguments(&folder.path().join("profile"), switches))
        .pipes(Pipes::ThreeAndFour)
        .limits(Limits::default());
    let command = fonts.folders.iter().fold(command, Command::reads);
    spawner.spawn(command, folder)
}

impl Chromium {
    /// Connects to a process that has started.
    async fn connect(mut process: Process, config: &Config) -> Result<Arc<Self>, StartError> {
        let (Some(input), Some(output)) = (process.input.take(), process.output.take()) else {
            return Err(process.handle().ended_early().await);
        };
        let handle = process.handle().clone();
        match Self::over(Connection::new(input, output), Some(process)).await {
            Ok(chromium) => {
                tokio::spawn(watch_memory(
                    Arc::downgrade(&chromium),
                    handle,
                    config.clone(),
                ));
                Ok(chromium)
            }
            Err(_) => Err(handle.ended_early().await),
        }
    }

    /// Connects to a process that others started, at `host:port`.
    pub(crate) async fn attach(address: &str) -> std::io::Result<Arc<Self>> {
        let connection = devtools::connect(address).await?;
        let chromium = Self::over(connection, None).await;
        chromium.map_err(|error| match error {
            CallError::Closed | CallError::TooLong | CallError::AnswerTooLong => {
                std::io::ErrorKind::ConnectionReset.into()
            }
            CallError::Refused(message) => std::io::Error::other(message),
        })
    }

    /// Prepares a browser.
    async fn over(
        connection: Connection,
        process: Option<Process>,
    ) -> Result<Arc<Self>, CallError> {
        let answer = connection
            .call(None, "Browser.getVersion", json!({}))
            .await?;
        let answer: Value = serde_json::from_str(answer.get()).unwrap_or_default();
        let version = answer["product"].as_str().unwrap_or("unknown").to_owned();
        // A browser of others may have pages of others, whose requests must not be held up here.
        if process.is_some() {
            deny_requests_outside_of_pages(&connection).await?;
        }
        Ok(Arc::new(Self {
            connection,
            version,
            process,
            pages: AtomicU32::new(0),
            retired: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
            memory_bytes: AtomicU64::new(0),
            memory_kill: Mutex::new(None),
        }))
    }

    /// True if others started it.
    pub(crate) fn is_remote(&self) -> bool {
        self.process.is_none()
    }

    pub(crate) fn is_alive(&self) -> bool {
        let runs = |process: &Process| process.handle().is_running();
        self.connection.is_open() && self.process.as_ref().is_none_or(runs)
    }

    pub(crate) fn takes_pages(&self, config: &Config) -> bool {
        self.is_alive()
            && !self.retired.load(Ordering::Relaxed)
            && self.pages.load(Ordering::Relaxed) < config.max_pages
    }

    /// Why the process takes no more pages.
    fn end_of(&self, config: &Config) -> Reason {
        if self.given_up.load(Ordering::Relaxed) {
            Reason::Unhealthy
        } else if !self.is_alive() {
            Reason::Crashed
        } else if self.pages.load(Ordering::Relaxed) >= config.max_pages {
            Reason::RecycledJobs
        } else {
            Reason::RecycledMemory
        }
    }

    /// The memory limit in bytes, if a page process was just killed for exceeding it.
    pub(crate) fn killed_for_memory(&self) -> Option<u64> {
        let kill = self.memory_kill.lock();
        kill.filter(|(time, _)| time.elapsed() < MEMORY_BLAME)
            .map(|(_, bytes)| bytes)
    }

    /// Kills the process because it does not answer, or leaves it to others.
    pub(crate) fn give_up(&self) {
        self.given_up.fetch_or(self.is_alive(), Ordering::Relaxed);
        self.retired.store(true, Ordering::Relaxed);
        match &self.process {
            Some(process) => process.handle().kill(),
            None => self.connection.close(),
        }
    }

    /// Disposes of a context without waiting.
    pub(crate) fn dispose_later(&self, context: &str) {
        let params = json!({ "browserContextId": context });
        if !self
            .connection
            .send(None, "Target.disposeBrowserContext", params)
        {
            self.retired.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Tasks hold the connection, too.
        self.connection.close();
    }
}

/// Requests outside a page's session, such as those of shared workers, arrive at the browser's own
/// session and are denied.
async fn deny_requests_outside_of_pages(connection: &Connection) -> Result<(), CallError> {
    let patterns = json!({ "patterns": [{ "urlPattern": "*" }] });
    let events = connection.events("");
    if let Err(CallError::Closed) = connection.call(None, "Fetch.enable", patterns).await {
        return Err(CallError::Closed);
    }
    tokio::spawn(refuse_all(connection.clone(), events));
    Ok(())
}

async fn refuse_all(connection: Connection, mut events: Events) {
    while let Some(event) = events.recv().await {
        if event.method == "Fetch.requestPaused" {
            let params: Value = event.params().unwrap_or_default();
            let refusal = json!({
                "requestId": params["requestId"],
                "errorReason": "BlockedByClient",
            });
            let _ = connection.call(None, "Fetch.failRequest", refusal).await;
        }
    }
}

/// Kills page processes above their memory limit, and retires a Chromium process tree above its
/// own.
async fn watch_memory(chromium: Weak<Chromium>, process: Handle, config: Config) {
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let Some(chromium) = chromium.upgrade() else {
            return;
        };
        if !chromium.is_alive() {
            return;
        }
        let handle = process.clone();
        let members = tokio::task::spawn_blocking(move || handle.members()).await;
        let members = members.unwrap_or_default();
        let all: u64 = members.iter().map(|member| member.own_bytes).sum();
        chromium.memory_bytes.store(all, Ordering::Relaxed);
        if all > config.process_memory_bytes {
            chromium.retired.store(true, Ordering::Relaxed);
        }
        let is_page = |line: &str| line.contains("--type=renderer");
        for member in members {
            if member.own_bytes > config.page_memory_bytes && is_page(&member.command_line) {
                let kill = (Instant::now(), config.page_memory_bytes);
                *chromium.memory_kill.lock() = Some(kill);
                process.kill_member(member.pid);
            }
        }
    }
}

/// Why a process is replaced.
const PROCESS_REASONS: [Reason; 4] = [
    Reason::Crashed,
    Reason::Unhealthy,
    Reason::RecycledJobs,
    Reason::RecycledMemory,
];

/// Statistics of the processes.
#[derive(Clone, Copy, Debug)]
pub struct Processes {
    /// Processes started.
    pub starts: u64,
    /// Memory of the process trees, as last measured, in bytes.
    pub memory_bytes: u64,
    /// Processes replaced, by reason.
    pub replaced: [(Reason, u64); PROCESS_REASONS.len()],
}

/// The process that takes new pages.
#[derive(Default)]
struct Current {
    process: Option<Arc<Chromium>>,
    /// Shut down: no process is kept; one still in use belongs to its page.
    is_closed: bool,
}

/// Keeps a process ready for new pages.
pub(crate) struct Keeper {
    config: Config,
    fonts: OnceCell<Installed>,
    current: tokio::sync::Mutex<Current>,
    remotes: Remotes,
    /// All processes that live, for their memory.
    living: Mutex<Vec<Weak<Chromium>>>,
    is_root: bool,
    without_sandbox: AtomicBool,
    /// Whether the process started last uses its own sandbox.
    sandboxed: AtomicBool,
    starts: AtomicU64,
    /// Replacements, in the order of [`PROCESS_REASONS`].
    replaced: [AtomicU64; PROCESS_REASONS.len()],
    version: Mutex<Option<String>>,
}

impl Keeper {
    pub(crate) fn new(config: Config) -> Self {
        // Chromium refuses to run its own sandbox as root.
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|data| {
            use std::os::unix::fs::MetadataExt;
            data.uid() == 0
        });
        Self {
            remotes: Remotes::new(&config.remote),
            config,
            fonts: OnceCell::new(),
            current: tokio::sync::Mutex::default(),
            living: Mutex::default(),
            is_root,
            without_sandbox: AtomicBool::new(false),
            sandboxed: AtomicBool::new(!is_root),
            starts: AtomicU64::new(0),
            replaced: Default::default(),
            version: Mutex::new(None),
        }
    }

    /// A process for one more page. A retry gets a process of its own, so that a crash affects no
    /// other page, and so does every page if a process prints one only.
    pub(crate) async fn chromium(
        &self,
        spawner: &Spawner,
        purpose: Purpose,
    ) -> Result<Arc<Chromium>, StartError> {
        if !self.remotes.is_empty() {
            let (chromium, is_new) = self.remotes.chromium(&self.config).await?;
            if is_new {
                self.count_start(&chromium);
            }
            chromium.pages.fetch_add(1, Ordering::Relaxed);
            return Ok(chromium);
        }
        if purpose == Purpose::Retry || self.config.max_pages <= 1 {
            let own = self.start(spawner).await?;
            own.retired.store(true, Ordering::Relaxed);
            return Ok(own);
        }
        // Held while a process starts, so that others wait for it instead of starting one each.
        let mut current = self.current.lock().await;
        let usable = current
            .process
            .as_ref()
            .filter(|chromium| chromium.takes_pages(&self.config));
        let chromium = match usable {
            Some(chromium) => Arc::clone(chromium),
            None => {
                if let Some(old) = current.process.take() {
                    self.count(old.end_of(&self.config));
                }
                let started = self.start(spawner).await?;
                if !current.is_closed {
                    current.process = Some(Arc::clone(&started));
                }
                started
            }
        };
        chromium.pages.fetch_add(1, Ordering::Relaxed);
        Ok(chromium)
    }

    /// Starts a process that nobody has connected to.
    pub(crate) async fn spawn(&self, spawner: &Spawner) -> Result<Process, StartError> {
        let fonts = self.fonts.get_or_try_init(|| self.lay_out_fonts(spawner));
        let is_root = match spawner.isolation().user() {
            Some(user) => user == 0,
            None => self.is_root,
        };
        let sandbox = !is_root && !self.without_sandbox.load(Ordering::Relaxed);
        self.sandboxed.store(sandbox, Ordering::Relaxed);
        let switches = Switches {
            sandbox,
            script_heap_mb: self.config.script_heap_mb,
        };
        spawn(spawner, &self.config, &switches, fonts.await?)
    }

    /// Starts a process here, without Chromium's own sandbox if there can be none.
    async fn start_here(&self, spawner: &Spawner) -> Result<Arc<Chromium>, StartError> {
        let process = self.spawn(spawner).await?;
        match Chromium::connect(process, &self.config).await {
            Err(StartError::Ended { stderr, .. }) if self.sandbox() && lacks_sandbox(&stderr) => {
                self.without_sandbox.store(true, Ordering::Relaxed);
                Chromium::connect(self.spawn(spawner).await?, &self.config).await
            }
            other => other,
        }
    }

    /// Starts a process and connects to it.
    pub(crate) async fn start(&self, spawner: &Spawner) -> Result<Arc<Chromium>, StartError> {
        let started = match spawner.origin().controller() {
            Some(controller) => {
                let process = controller.start(Program::Chromium).await?;
                Chromium::connect(process, &self.config).await?
            }
            None => self.start_here(spawner).await?,
        };
        self.count_start(&started);
        Ok(started)
    }

    fn count_start(&self, started: &Arc<Chromium>) {
        self.starts.fetch_add(1, Ordering::Relaxed);
        let mut living = self.living.lock();
        living.retain(|chromium| chromium.strong_count() > 0);
        living.push(Arc::downgrade(started));
        drop(living);
        let mut version = self.version.lock();
        *version = Some(started.version.clone());
    }

    /// Writes the fonts next to the processes' folders, so that they are removed with the pool.
    async fn lay_out_fonts(&self, spawner: &Spawner) -> Result<Installed, StartError> {
        let (settings, path) = (self.config.fonts.clone(), spawner.place().join("fonts"));
        let place = path.clone();
        let install = move || platen_fonts::install(&settings, &place);
        let installed = tokio::task::spawn_blocking(install).await;
        let installed = installed.map_err(std::io::Error::other).flatten();
        installed.map_err(|source| StartError::Folder { path, source })
    }

    /// Releases the process and keeps none from now on; it exits after its last page.
    pub(crate) async fn release(&self) {
        let mut current = self.current.lock().await;
        current.is_closed = true;
        current.process = None;
        self.remotes.release().await;
    }

    fn count(&self, reason: Reason) {
        let index = PROCESS_REASONS.iter().position(|one| *one == reason);
        if let Some(counter) = index.and_then(|index| self.replaced.get(index)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Statistics of the processes.
    pub(crate) fn processes(&self) -> Processes {
        let living = self.living.lock();
        let living = living.iter().filter_map(Weak::upgrade);
        let memory = living.map(|chromium| chromium.memory_bytes.load(Ordering::Relaxed));
        let count = |index: usize| self.replaced[index].load(Ordering::Relaxed);
        Processes {
            starts: self.starts.load(Ordering::Relaxed),
            memory_bytes: memory.sum(),
            replaced: std::array::from_fn(|index| (PROCESS_REASONS[index], count(index))),
        }
    }

    /// Version of the process started last.
    pub(crate) fn version(&self) -> Option<String> {
        let version = self.version.lock();
        version.clone()
    }

    /// Whether Chromium's own sandbox is used, if a process was started.
    pub(crate) fn sandbox(&self) -> bool {
        self.sandboxed.load(Ordering::Relaxed)
    }
}

/// Whether Chromium ended because it could not build its own sandbox: there are no namespaces, or it
/// may not change the root in one, as with Podman's default seccomp profile. Then its zygote dies.
fn lacks_sandbox(stderr: &str) -> bool {
    stderr.contains("sandbox") || stderr.contains("zygote")
}

#[cfg(test)]
mod tests {
    use super::lacks_sandbox;

    #[test]
    fn a_missing_sandbox_is_known_by_what_chromium_says() {
        assert!(lacks_sandbox(
            "[FATAL:zygote_host_impl_linux.cc:132] No usable sandbox! If you are running on Ubuntu"
        ));
        assert!(lacks_sandbox(
            "Check failed: sys_chroot(\"/proc/self/fdinfo/\") == 0\n[FATAL:content/browser/\
             zygote_host/zygote_host_impl_linux.cc:254] Failed to receive hello message from zygote"
        ));
        assert!(!lacks_sandbox(
            "error while loading shared libraries: libnss3.so"
        ));
    }
}
