//! Startup and shutdown of the service.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_core::future::BoxFuture;
use platen_browser::{Controller, Mode, Origin, SandboxUnavailable, choose_origin};
use platen_delivery::{AcceptPolicy, Listener, Sharing};
use platen_render::chain;
use platen_supervise::{AcceptBalancer, Channel, Membership, ProcessGroup};
use tokio::{sync::watch, task::JoinHandle};
use tracing::{error, info, warn};

use crate::{
    config::{ChildIsolation, Config, ProcessConfig},
    containers, deferred,
    delivery::{self, Connections, Listeners},
    extension::{Extension, ExtensionFactory},
    log, open_files,
    opening::{POLL_INTERVAL, open},
    readiness::CHILD_START_TIMEOUT,
    results,
    router::router,
    services::Services,
    shared_limits,
    start_error::Error,
};

/// How long an end waits for the probes of isolation, which take tens of milliseconds.
const MAX_PROBES: Duration = Duration::from_secs(5);

/// A service that listens.
pub struct Server {
    services: Arc<Services>,
    extensions: Vec<Arc<dyn Extension>>,
    listeners: Listeners,
    address: SocketAddr,
    supervisor: Option<Channel>,
    /// Probes of the isolation of LibreOffice and Chromium, which nothing waits for.
    isolating: Option<JoinHandle<()>>,
}

impl Server {
    /// Opens the store and listens.
    ///
    /// # Errors
    /// If the address is in use or the store is damaged.
    pub fn start<'a>(
        config: Config,
        extensions: &'a [ExtensionFactory],
    ) -> BoxFuture<'a, Result<Self, Error>> {
        Box::pin(async move {
            let mut listeners = Vec::new();
            for bind in &config.bind {
                listeners.extend(Listener::bind(bind, Sharing::Alone)?);
            }
            Self::start_on(config, listeners, extensions).await
        })
    }

    /// Opens the store and accepts connections from `listeners` instead of the configured
    /// addresses.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn start_on<'a>(
        config: Config,
        listeners: Vec<Listener>,
        extensions: &'a [ExtensionFactory],
    ) -> BoxFuture<'a, Result<Self, Error>> {
        Box::pin(async move {
            let listeners = Listeners {
                public: listeners,
                peers: None,
                balancer: None,
            };
            Self::start_as(config, listeners, None, extensions).await
        })
    }

    /// Joins the supervisor's process group.
    async fn join(
        config: Config,
        membership: Membership,
        extensions: &[ExtensionFactory],
    ) -> Result<Self, Error> {
        let supervisor = Channel::of(&membership)?;
        let balancer = AcceptBalancer::open(&membership.group)?;
        let mut public = membership.public;
        for listener in &mut public {
            listener.share_accepts(Arc::clone(&balancer) as Arc<dyn AcceptPolicy>)?;
        }
        let listeners = Listeners {
            public,
            peers: Some(membership.own),
            balancer: Some(balancer),
        };
        let place = (membership.group, supervisor);
        Self::start_as(config, listeners, Some(place), extensions).await
    }

    async fn start_as(
        config: Config,
        listeners: Listeners,
        place: Option<(ProcessGroup, Channel)>,
        extensions: &[ExtensionFactory],
    ) -> Result<Self, Error> {
        let (group, supervisor) = place.unzip();
        let traces = config.trace.export().map_err(Error::Config)?;
        log::install(config.log_format, config.log_level, traces)?;
        let address = listeners.public.iter().find_map(Listener::address);
        let address = address.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
        let processes = &config.processes;
        let is_isolation_demanded = matches!(processes.mode(), Mode::Container(_))
            || processes.child_isolation != ChildIsolation::Auto;
        let settings = config.clone();
        // Where any isolation will do, the probes only tell the log, and take longer than the start.
        let (demanded, isolating) = match is_isolation_demanded {
            true => (Some(settings), None),
            false => (None, Some(tokio::spawn(announce_isolation(settings)))),
        };
        let opened = tokio::task::spawn_blocking(move || open(config, group)).await;
        let services = match opened.map_err(std::io::Error::other)? {
            Ok(services) => services,
            Err(error) => {
                finish_probes(isolating).await;
                return Err(error);
            }
        };
        if !services.keys.are_needed() {
            warn!(
                "no API key is set: every process on this machine has full access (API_KEY_ADMIN)"
            );
        }
        if let Some(config) = demanded {
            isolate(config).await?;
        }
        Ok(Self {
            extensions: extensions.iter().map(|make| make(&services)).collect(),
            services: Arc::new(services),
            listeners,
            address,
            supervisor,
            isolating,
        })
    }

    /// The first TCP address; port 0 if there is none.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` completes, then finishes the work in progress within the shutdown
    /// timeout.
    ///
    /// # Errors
    /// Another service took the database.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let services = self.services;
        say_listening(&services, &self.listeners.public);
        // Before the start of flows: runs that the previous process left behind need the routes.
        let router = router(&services, &self.extensions);
        start_parts(&services);
        if let Some(supervisor) = &self.supervisor {
            tokio::spawn(say_ready(Arc::clone(&services), supervisor.another()));
        }
        let results = Arc::clone(&services.results);
        let sweeping = tokio::spawn(results::sweep_expired(results));
        let requests = Arc::clone(&services.deferred.store);
        let sweeping_requests = tokio::spawn(deferred::sweep_expired(requests));
        let (stop, stopped) = watch::channel(());
        let is_one_of_several = self.supervisor.is_some();
        let connections = {
            let (services, listeners) = (Arc::clone(&services), self.listeners);
            async move {
                // Until this process is ready, other processes accept connections, or they wait in
                // the supervisor's listen queue.
                if is_one_of_several {
                    until_ready(&services).await;
                }
                let connections = Connections {
                    keys: Arc::clone(&services.keys),
                    flows: Arc::clone(&services.flows),
                    metrics: Arc::clone(&services.metrics),
                    group: services.group.clone(),
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
        let mut ended = Ok(());
        tokio::select! {
            () = shutdown => {}
            () = services.database_lost() => {
                error!("another service has taken the database: this one ends");
                ended = Err(Error::DatabaseInUse);
            }
            () = supervised => {
                error!("the supervisor has ended");
            }
        }
        services.readiness.set_draining();
        info!("shutting down");
        // Closes the listeners; each connection closes after its current response.
        drop(stop);
        finish(&services, connections).await;
        finish_probes(self.isolating).await;
        sweeping.abort();
        sweeping_requests.abort();
        ended
    }
}

fn say_listening(services: &Services, listeners: &[Listener]) {
    let addresses: Vec<String> = listeners.iter().map(Listener::to_string).collect();
    info!(
        address = addresses.join(", "),
        slots = services.renderer.slots.total(),
        version = env!("CARGO_PKG_VERSION"),
        worker = services.group.as_ref().map(|group| group.index),
        "listening"
    );
    if services.is_follower() {
        return;
    }
    let lacking = [
        (
            services.renderer.chromium.is_installed(),
            "Chromium is not installed: HTML and URLs to PDF get 501",
            platen_browser::INSTALL_HINT,
        ),
        (
            services.libreoffice.check_installed().is_ok(),
            "LibreOffice is not installed: conversions of Office files get 501",
            platen_office::INSTALL_HINT,
        ),
    ];
    for (_, message, hint) in lacking.into_iter().filter(|(there, ..)| !there) {
        info!(hint, "{message}");
    }
    if let Some(address) = addresses.first() {
        let url = match address.split_once("://") {
            None => format!("http://{address}/docs"),
            Some(("tls", address)) => format!("https://{address}/docs"),
            Some(_) => return,
        };
        info!(url, "open this page to try the API");
    }
}

/// Starts the background services.
fn start_parts(services: &Arc<Services>) {
    let readiness = &services.readiness;
    tokio::spawn(warm(Arc::clone(services)));
    if services.config.chromium_warm {
        let chromium = Arc::clone(&services.renderer.chromium);
        tokio::spawn(Arc::clone(readiness).start_chromium(chromium));
    }
    if services.config.libreoffice_warm {
        let libreoffice = Arc::clone(&services.libreoffice);
        tokio::spawn(Arc::clone(readiness).start_libreoffice(libreoffice));
    }
    if !services.is_follower() {
        tokio::spawn(Arc::clone(&services.keys.stored).keep_up());
        tokio::spawn(Arc::clone(&services.flows).start());
        tokio::spawn(services.renderer.templates.clone().follow_fleet());
        tokio::spawn(services.flow_definitions.clone().follow_fleet());
    }
    if let Some(fleet) = &services.fleet {
        let limits = vec![
            Arc::clone(&services.request_rate),
            Arc::clone(&services.render_rate),
        ];
        let peers = Arc::clone(&fleet.peers);
        tokio::spawn(shared_limits::exchange(peers, limits));
    }
}

/// Makes the engine ready, and then starts the sandboxes, which take several times as long: the first
/// use waits for them. Runs of flows are handed out after that.
async fn warm(services: Arc<Services>) {
    let engine = Arc::clone(&services.renderer.engine);
    Arc::clone(&services.readiness)
        .warm_engine(Arc::clone(&engine))
        .await;
    tokio::task::spawn_blocking(move || drop(engine.isolation_of_strangers()));
    let sandbox = Arc::clone(&services.sandbox);
    let _ = tokio::task::spawn_blocking(move || sandbox.announce()).await;
    if !services.is_follower() {
        services.flows.hand_out().await;
    }
}

/// Waits for the work in progress, up to the shutdown timeout, and aborts the rest.
async fn finish(services: &Services, mut connections: JoinHandle<()>) {
    let bound = Duration::from_millis(services.config.shutdown_timeout_ms);
    let begin = Instant::now();
    let finished = tokio::time::timeout(bound, &mut connections).await;
    if finished.is_ok() {
        info!("all connections finished");
    } else {
        connections.abort();
        info!("shutdown timeout: open connections dropped");
    }
    services
        .flows
        .stop(bound.saturating_sub(begin.elapsed()))
        .await;
    services.keys.stored.note_uses().await;
    services.replayer.set_routes(None);
    services.renderer.chromium.shutdown(Duration::ZERO).await;
    services.libreoffice.shutdown(Duration::ZERO).await;
    services.unlock_folder();
    let _ = tokio::task::spawn_blocking(log::flush).await;
}

/// Probes and logs the isolation available for LibreOffice and Chromium.
async fn isolate(config: Config) -> Result<(), Error> {
    let processes = config.processes.clone();
    tokio::spawn(async move { try_remotes(&processes).await });
    let demand = config.processes.child_isolation;
    let mode = config.processes.mode();
    if let Mode::Container(settings) = &mode {
        return Ok(containers::prove(&config, settings).await?);
    }
    let chosen = choose_origin(&mode, demand.into()).await?;
    if let Origin::Controller(controller) = &chosen.origin {
        return greet(controller, demand).await;
    }
    let isolation = chosen.origin.isolation();
    let (level, reason) = (isolation.name(), chosen.reason);
    if !isolation.files && demand == ChildIsolation::Auto {
        warn!(level, reason, "isolation of LibreOffice and Chromium");
    } else {
        info!(level, reason, "isolation of LibreOffice and Chromium");
    }
    Ok(())
}

/// Waits for probes, which remove what they have made, but not for those that hang.
async fn finish_probes(isolating: Option<JoinHandle<()>>) {
    if let Some(isolating) = isolating {
        let _ = tokio::time::timeout(MAX_PROBES, isolating).await;
    }
}

/// Logs the isolation, which is whatever the machine has.
async fn announce_isolation(config: Config) {
    if let Err(error) = isolate(config).await {
        error!(
            cause = chain(&error),
            "isolation of LibreOffice and Chromium"
        );
    }
}

/// Logs which processes of others answer. The service starts nevertheless: they may come later.
async fn try_remotes(config: &ProcessConfig) {
    for address in &config.office_remote {
        say_remote(
            "LibreOffice",
            address,
            platen_office::try_remote(address).await,
        );
    }
    for address in &config.chromium_remote {
        say_remote(
            "Chromium",
            address,
            platen_browser::try_remote(address).await,
        );
    }
}

fn say_remote(program: &str, address: &str, tried: Result<String, String>) {
    match tried {
        Ok(version) => info!(
            program,
            remote = address,
            version,
            "a remote process answers"
        ),
        Err(cause) => error!(
            program,
            remote = address,
            cause,
            "a remote process does not answer"
        ),
    }
}

/// Logs what the controller can do. Without one the service starts nevertheless: it may come later.
async fn greet(controller: &Controller, demand: ChildIsolation) -> Result<(), Error> {
    match controller.greet().await {
        Ok(greeting) => {
            let lacking = [&greeting.chromium, &greeting.libreoffice];
            for reason in lacking.into_iter().filter_map(|found| found.as_ref().err()) {
                warn!(reason, "the controller cannot start a program");
            }
            info!(
                version = greeting.version,
                level = controller.isolation().name(),
                chromium = greeting.chromium.ok(),
                libreoffice = greeting.libreoffice.ok(),
                maxProcesses = greeting.max_processes,
                "isolation of LibreOffice and Chromium: the controller's"
            );
            let isolation = controller.isolation();
            if demand == ChildIsolation::Required && !isolation.files {
                let reason = format!("the controller's is `{}`", isolation.name());
                return Err(SandboxUnavailable::Sandbox { reason }.into());
            }
        }
        Err(error) => {
            let cause = error.to_string();
            error!(
                cause,
                "documents that need LibreOffice or Chromium get 503 until then"
            );
        }
    }
    Ok(())
}

async fn until_ready(services: &Services) {
    while !(services.readiness.is_engine_ready()
        && services.flows.are_served(services.group.as_ref()))
    {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Reports to the supervisor when this process is ready, then sends heartbeats.
async fn say_ready(services: Arc<Services>, supervisor: io::Result<Channel>) {
    until_ready(&services).await;
    let warm_children = async {
        let readiness = &services.readiness;
        while !(readiness.is_chromium_ready() && readiness.is_libreoffice_ready()) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    // On a timeout, serve anyway: the process can render without them, and its readiness check
    // reports them.
    let _ = tokio::time::timeout(CHILD_START_TIMEOUT, warm_children).await;
    if let Ok(supervisor) = supervisor {
        supervisor.say_ready();
        supervisor.send_heartbeats().await;
    }
}

/// Serves until SIGTERM, SIGINT or SIGHUP; joins the process group under a supervisor.
///
/// # Errors
/// If the service cannot start.
pub fn serve<'a>(
    config: Config,
    extensions: &'a [ExtensionFactory],
) -> BoxFuture<'a, Result<(), Error>> {
    Box::pin(async move {
        use tokio::signal::unix::{SignalKind, signal};
        open_files::raise_limit();
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        // A closing terminal sends SIGHUP; certificates reload without a signal.
        let mut hang_up = signal(SignalKind::hangup())?;
        let server = match Membership::take(&config.bind)? {
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
            .await
    })
}
