//! Start and end of the service.

use std::{
    fs::File,
    io,
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use platen_browser::{SandboxUnavailable, choose_launcher};
use platen_delivery::{AcceptPolicy, ListenError, Listener, Sharing};
use platen_engine::{Engine, Isolation, IsolationSource};
use platen_render::chain;
use platen_storage::SqliteStore;
use serde_json::Value as Json;
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    config::{ChildIsolation, Config, ConfigError, LogLevel, RenderIsolation},
    delivery::{self, Connections, Listeners},
    extension::{Extension, ExtensionFactory},
    link_key,
    log::Log,
    metrics::Metrics,
    pieces::PieceStore,
    readiness::CHILD_START_TIMEOUT,
    results::{self, Results},
    router::router,
    sandbox::Sandbox,
    services::{Opened, Services},
    team::{Channel, HANDOVER_GRACE, Membership, MembershipError, Team, load::Loads},
};

/// Why the service could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The store cannot be opened.
    #[error("the data folder `{folder}` cannot be opened")]
    Store {
        /// The folder.
        folder: String,
        /// Why.
        source: platen_storage::Error,
    },
    /// The data folder cannot be made or written to.
    #[error("the data folder `{folder}` cannot be written to")]
    Folder {
        /// The folder.
        folder: String,
        /// Why.
        source: std::io::Error,
    },
    /// Another service uses the data folder.
    #[error("the data folder `{0}` is in use by another service")]
    InUse(String),
    /// The store of blobs cannot be opened.
    #[error("the blobs in the data folder cannot be opened")]
    Blobs(#[source] platen_storage::blobs::BlobError),
    /// The folder of stored results cannot be opened.
    #[error("the stored results in the data folder cannot be opened")]
    Results(#[source] platen_storage::blobs::BlobError),
    /// The key of signed links cannot be had.
    #[error("the key of signed links, `link.key` in the data folder, cannot be used")]
    LinkKey(#[source] std::io::Error),
    /// The place that a supervisor gives cannot be taken.
    #[error(transparent)]
    Membership(#[from] MembershipError),
    /// A setting cannot be used.
    #[error("a setting cannot be used")]
    Config(#[source] ConfigError),
    /// Documents are to be made in sandboxes, and there are none.
    #[error("documents cannot be made in sandboxes, as RENDER_ISOLATION=jail says")]
    Isolation(#[source] platen_jail::Error),
    /// `CHILD_ISOLATION` demands what this machine does not allow.
    #[error("CHILD_ISOLATION is `required`")]
    Walls(#[from] SandboxUnavailable),
    /// A thread or a signal handler cannot be had.
    #[error("the system gives no thread or signal")]
    System(#[from] std::io::Error),
}

/// A service that listens.
pub struct Server {
    services: Arc<Services>,
    extensions: Vec<Arc<dyn Extension>>,
    listeners: Listeners,
    address: SocketAddr,
    supervisor: Option<Channel>,
}

/// Between two checks of a condition that a start or a shutdown waits for.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl Server {
    /// Opens the store and listens.
    ///
    /// # Errors
    /// Where the address is taken or the store is damaged.
    pub async fn start(config: Config, extensions: &[ExtensionFactory]) -> Result<Self, Error> {
        let mut listeners = Vec::new();
        for bind in &config.bind {
            listeners.extend(Listener::bind(bind, Sharing::Alone)?);
        }
        Self::start_on(config, listeners, extensions).await
    }

    /// Opens the store and takes connections from `listeners`, whatever the configuration says.
    ///
    /// # Errors
    /// Where the store is damaged.
    pub async fn start_on(
        config: Config,
        listeners: Vec<Listener>,
        extensions: &[ExtensionFactory],
    ) -> Result<Self, Error> {
        let listeners = Listeners {
            public: listeners,
            peers: None,
            loads: None,
        };
        Self::start_as(config, listeners, None, extensions).await
    }

    /// Takes the place that a supervisor has given to this process.
    async fn join(
        config: Config,
        membership: Membership,
        extensions: &[ExtensionFactory],
    ) -> Result<Self, Error> {
        let supervisor = Channel::of(&membership)?;
        let loads = Loads::open(&membership.team)?;
        let mut public = membership.public;
        for listener in &mut public {
            listener.share_accepts(Arc::clone(&loads) as Arc<dyn AcceptPolicy>)?;
        }
        let listeners = Listeners {
            public,
            peers: Some(membership.own),
            loads: Some(loads),
        };
        let place = (membership.team, supervisor);
        Self::start_as(config, listeners, Some(place), extensions).await
    }

    async fn start_as(
        config: Config,
        listeners: Listeners,
        place: Option<(Team, Channel)>,
        extensions: &[ExtensionFactory],
    ) -> Result<Self, Error> {
        let (team, supervisor) = place.unzip();
        let log = Log::start(config.log_format, config.log_level)?;
        let address = listeners.public.iter().find_map(Listener::address);
        let address = address.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
        let services = tokio::task::spawn_blocking(move || open(config, team, log))
            .await
            .map_err(std::io::Error::other)??;
        if !services.keys.are_needed() {
            let message = "no API key is set: everybody on this machine may do everything";
            services.log.event(LogLevel::Warn, message, &[]);
        }
        warn_of_foreign_variables(&services);
        isolate(&services).await?;
        Ok(Self {
            extensions: extensions.iter().map(|make| make(&services)).collect(),
            services: Arc::new(services),
            listeners,
            address,
            supervisor,
        })
    }

    /// The first address in the network that is listened on; port 0 where there is none.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` ends, then finishes what was taken, for as long as the
    /// configuration allows.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let services = self.services;
        say_listening(&services, &self.listeners.public);
        start_parts(&services);
        if let Some(supervisor) = &self.supervisor {
            tokio::spawn(say_ready(Arc::clone(&services), supervisor.another()));
        }
        let results = Arc::clone(&services.results);
        let sweeping = tokio::spawn(results::sweep_expired(results, services.log.clone()));
        let (stop, stopped) = watch::channel(());
        let router = router(&services, &self.extensions);
        let is_one_of_several = self.supervisor.is_some();
        let connections = {
            let (services, listeners) = (Arc::clone(&services), self.listeners);
            async move {
                // Another process takes what comes meanwhile, or it waits in the queue, which the
                // supervisor holds.
                if is_one_of_several {
                    until_ready(&services).await;
                }
                let connections = Connections {
                    flows: Arc::clone(&services.flows),
                    metrics: Arc::clone(&services.metrics),
                    log: services.log.clone(),
                    team: services.team.clone(),
                };
                delivery::serve(connections, &services.config, listeners, router, stopped).await;
            }
        };
        let connections = tokio::spawn(connections);
        let supervised = async {
            match self.supervisor {
                Some(supervisor) => supervisor.closed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = shutdown => {}
            () = supervised => {
                let message = "the supervisor has ended";
                services.log.event(LogLevel::Error, message, &[]);
            }
        }
        services.readiness.set_draining();
        services.log.event(LogLevel::Info, "shutting down", &[]);
        // Tells the accept loop to close the port, and every connection to end after its answer.
        drop(stop);
        finish(&services, &self.extensions, connections).await;
        sweeping.abort();
    }
}

/// Once for all processes.
fn warn_of_foreign_variables(services: &Services) {
    if services.is_follower() {
        return;
    }
    for foreign in &services.config.foreign {
        let fields = [
            ("variable", Json::from(foreign.variable)),
            ("instead", Json::from(foreign.instead)),
        ];
        let message = "a variable of another product is set, which decides nothing here";
        services.log.event(LogLevel::Warn, message, &fields);
    }
}

fn say_listening(services: &Services, listeners: &[Listener]) {
    let addresses: Vec<String> = listeners.iter().map(Listener::to_string).collect();
    let mut fields = vec![
        ("address", Json::from(addresses.join(", "))),
        ("slots", Json::from(services.renderer.slots.total())),
        ("version", Json::from(env!("CARGO_PKG_VERSION"))),
    ];
    let worker = services.team.as_ref().map(|team| Json::from(team.index));
    fields.extend(worker.map(|worker| ("worker", worker)));
    services.log.event(LogLevel::Info, "listening", &fields);
}

/// Starts what works besides the connections.
fn start_parts(services: &Services) {
    let (readiness, log) = (&services.readiness, &services.log);
    let engine = Arc::clone(&services.renderer.engine);
    tokio::spawn(Arc::clone(readiness).warm_engine(engine, log.clone()));
    {
        let (sandbox, log) = (Arc::clone(&services.sandbox), log.clone());
        tokio::task::spawn_blocking(move || sandbox.announce(&log));
    }
    if services.config.chromium_warm {
        let chromium = Arc::clone(&services.renderer.chromium);
        tokio::spawn(Arc::clone(readiness).start_chromium(chromium, log.clone()));
    }
    if services.config.libreoffice_warm {
        let libreoffice = Arc::clone(&services.libreoffice);
        tokio::spawn(Arc::clone(readiness).start_libreoffice(libreoffice, log.clone()));
    }
    if !services.is_follower() {
        tokio::spawn(Arc::clone(&services.flows).start());
    }
}

/// Waits for what was taken, for as long as the configuration allows, and ends the rest.
async fn finish(
    services: &Services,
    extensions: &[Arc<dyn Extension>],
    mut connections: JoinHandle<()>,
) {
    let bound = Duration::from_millis(services.config.shutdown_timeout_ms);
    let begin = Instant::now();
    let finished = tokio::time::timeout(bound, &mut connections).await;
    let message = if finished.is_ok() {
        "everything taken is finished"
    } else {
        connections.abort();
        "the time for finishing is over; the rest is dropped"
    };
    services.log.event(LogLevel::Info, message, &[]);
    let left = || bound.saturating_sub(begin.elapsed());
    services.flows.stop(left()).await;
    for extension in extensions {
        if !extension.drain(left()).await {
            let message = "shutdown timeout: results for webhooks dropped";
            services.log.event(LogLevel::Warn, message, &[]);
        }
    }
    services.renderer.chromium.shutdown(Duration::ZERO).await;
    services.libreoffice.shutdown(Duration::ZERO).await;
    services.unlock_folder();
    let log = services.log.clone();
    let _ = tokio::task::spawn_blocking(move || log.flush()).await;
}

/// Finds out how well LibreOffice and Chromium can be shut in, and says it.
async fn isolate(services: &Services) -> Result<(), Error> {
    let demand = services.config.child_isolation;
    let chosen = choose_launcher(demand.into()).await?;
    let isolation = chosen.launcher.isolation();
    let level = match (isolation.files, demand) {
        (false, ChildIsolation::Auto) => LogLevel::Warn,
        _ => LogLevel::Info,
    };
    let fields = [
        ("level", Json::from(isolation.name())),
        ("reason", chosen.reason.into()),
    ];
    let message = "isolation of LibreOffice and Chromium";
    services.log.event(level, message, &fields);
    Ok(())
}

async fn until_ready(services: &Services) {
    while !(services.readiness.is_engine_ready() && services.has_flows()) {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Says to the supervisor that this process takes work, when it does, and then that it is well.
async fn say_ready(services: Arc<Services>, supervisor: io::Result<Channel>) {
    until_ready(&services).await;
    let warm_children = async {
        let readiness = &services.readiness;
        while !(readiness.is_chromium_ready() && readiness.is_libreoffice_ready()) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    // A process without them renders all the same: it says of itself that it is not ready.
    let _ = tokio::time::timeout(CHILD_START_TIMEOUT, warm_children).await;
    if let Ok(supervisor) = supervisor {
        supervisor.say_ready();
        supervisor.keep_saying_well().await;
    }
}

/// Makes the data folder this process's alone: what is cached here would not learn of another
/// service's writes. A successor waits for its predecessor.
fn lock(config: &Config, team: Option<&Team>) -> Result<File, Error> {
    let folder = config.database_folder();
    let made = platen_storage::create_folder(folder)
        .and_then(|()| File::create(folder.join("platen.lock")));
    let lock = made.map_err(|source| Error::Folder {
        folder: folder.display().to_string(),
        source,
    })?;
    let patience = team.map_or(Duration::ZERO, |_| {
        Duration::from_millis(config.shutdown_timeout_ms) + HANDOVER_GRACE
    });
    let begin = Instant::now();
    while lock.try_lock().is_err() {
        if begin.elapsed() >= patience {
            return Err(Error::InUse(folder.display().to_string()));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(lock)
}

fn open(config: Config, team: Option<Team>, log: Log) -> Result<Services, Error> {
    let folder = config.database_folder();
    let failed = |source| Error::Store {
        folder: folder.display().to_string(),
        source,
    };
    let follower = team.as_ref().filter(|team| !team.is_owner());
    let (lock, store, blobs) = match follower {
        None => {
            let lock = lock(&config, team.as_ref())?;
            let store = SqliteStore::open(folder).map_err(failed)?;
            (Some(lock), store, folder.join("blobs"))
        }
        // The owner answers what is asked of pieces.
        Some(team) => {
            let store = SqliteStore::open_reader(folder).map_err(failed)?;
            (None, store, team.own_folder())
        }
    };
    // All processes sign with it, and store results.
    let key = Arc::new(link_key::open(folder).map_err(Error::LinkKey)?);
    let pieces = PieceStore::open(&blobs, &config, Arc::clone(&key)).map_err(Error::Blobs)?;
    let metrics = Arc::new(Metrics::default());
    let results = Results::open(&config, key, Arc::clone(&metrics)).map_err(Error::Results)?;
    let sandbox = Arc::new(Sandbox::new(&config));
    let mut engine = Engine::new(&config.fonts()).with_helpers({
        let sandbox = Arc::clone(&sandbox);
        Arc::new(move || sandbox.runner().map_err(|problem| problem.detail))
    });
    if config.render_isolation == RenderIsolation::Auto {
        engine = engine.with_isolation_of_strangers(isolation_when_needed(&config, &log));
    } else if config.render_isolation == RenderIsolation::Jail {
        let isolation = Isolation::start(config.isolation()).map_err(Error::Isolation)?;
        let level = isolation.level().name();
        log.event(
            LogLevel::Info,
            "documents are made in sandboxes",
            &[("sandbox", level.into())],
        );
        engine = engine.with_isolation(isolation);
    }
    let opened = Opened {
        store,
        engine,
        sandbox,
        pieces,
        results,
        metrics,
        log,
        team,
        lock,
    };
    Services::new(config, opened).map_err(Error::Config)
}

/// Starts sandboxes for what strangers bring once, when they are first needed; where there can be
/// none, that is done in the service.
fn isolation_when_needed(config: &Config, log: &Log) -> Box<IsolationSource> {
    let (settings, log) = (config.isolation(), log.clone());
    let started = OnceLock::new();
    let start = move || match Isolation::start(settings.clone()) {
        Ok(isolation) => {
            let fields = [("sandbox", isolation.level().name().into())];
            let message = "templates that requests bring are read in sandboxes";
            log.event(LogLevel::Info, message, &fields);
            Some(Arc::new(isolation))
        }
        Err(error) => {
            let fields = [("cause", Json::from(chain(&error)))];
            let message = "templates that requests bring are read in the service: no sandbox";
            log.event(LogLevel::Warn, message, &fields);
            None
        }
    };
    Box::new(move || started.get_or_init(&start).clone())
}

/// Serves until SIGTERM, SIGINT or SIGHUP; in the place that a supervisor gives, where there is one.
///
/// # Errors
/// Where the service cannot start.
pub async fn serve(config: Config, extensions: &[ExtensionFactory]) -> Result<(), Error> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // Of a terminal that closes; certificates are read again without a signal.
    let mut hang_up = signal(SignalKind::hangup())?;
    let server = match Membership::take(&config)? {
        None => Server::start(config, extensions).await?,
        Some(membership) => Server::join(config, membership, extensions).await?,
    };
    server
        .run(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = hang_up.recv() => {}
            }
        })
        .await;
    Ok(())
}
