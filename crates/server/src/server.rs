//! Start and end of the service.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use platen_delivery::{ListenError, Listener, Sharing};
use platen_engine::{
    Engine, Format, Isolation, RenderOptions,
    browser::{NoWalls, choose_launcher},
};
use platen_storage::SqliteStore;
use serde_json::Value as Json;
use tokio::sync::watch;

use crate::{
    app::App,
    config::{ChildIsolation, Config, ConfigError, LogLevel, RenderIsolation},
    delivery, link_key,
    log::Log,
    metrics::Metrics,
    pieces::PieceStore,
    problem::chain,
    results::{self, Results},
    routes,
    sandbox::Sandbox,
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
    /// A setting cannot be used.
    #[error("a setting cannot be used")]
    Config(#[source] ConfigError),
    /// Documents are to be made in sandboxes, and there are none.
    #[error("documents cannot be made in sandboxes, as RENDER_ISOLATION=jail says")]
    Isolation(#[source] platen_engine::jail::Error),
    /// `CHILD_ISOLATION` demands what this machine does not allow.
    #[error("CHILD_ISOLATION is `required`")]
    Walls(#[from] NoWalls),
    /// A thread or a signal handler cannot be had.
    #[error("the system gives no thread or signal")]
    System(#[from] std::io::Error),
}

/// A service that listens.
pub struct Server {
    app: Arc<App>,
    listeners: Vec<Listener>,
    address: SocketAddr,
}

/// A tiny document, so that the first request finds fonts read and caches filled.
const WARM_TEMPLATE: &str =
    r#"{"key":"warm","name":"Warm","body":[{"type":"text","content":"Hello, {{ name }}"}]}"#;

impl Server {
    /// Opens the store and listens.
    ///
    /// # Errors
    /// Where the address is taken or the store is damaged.
    pub async fn start(config: Config) -> Result<Self, Error> {
        let mut listeners = Vec::new();
        for bind in &config.bind {
            listeners.extend(Listener::bind(bind, Sharing::Alone)?);
        }
        Self::start_on(config, listeners).await
    }

    /// Opens the store and takes connections from `listeners`, whatever the configuration says.
    ///
    /// # Errors
    /// Where the store is damaged.
    pub async fn start_on(config: Config, listeners: Vec<Listener>) -> Result<Self, Error> {
        let log = Log::start(config.log_format, config.log_level)?;
        let address = listeners.iter().find_map(Listener::address);
        let address = address.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
        let app = tokio::task::spawn_blocking(move || open(config, log))
            .await
            .map_err(std::io::Error::other)??;
        if !app.keys.are_needed() {
            let message = "no API key is set: everybody on this machine may do everything";
            app.log.event(LogLevel::Warn, message, &[]);
        }
        isolate(&app).await?;
        Ok(Self {
            app: Arc::new(app),
            listeners,
            address,
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
        let app = self.app;
        let addresses: Vec<String> = self.listeners.iter().map(Listener::to_string).collect();
        let fields = [
            ("address", Json::from(addresses.join(", "))),
            ("slots", Json::from(app.slots.total())),
            ("version", Json::from(env!("CARGO_PKG_VERSION"))),
        ];
        app.log.event(LogLevel::Info, "listening", &fields);
        tokio::spawn(warm(Arc::clone(&app)));
        {
            let app = Arc::clone(&app);
            tokio::task::spawn_blocking(move || app.sandbox.announce(&app.log));
        }
        if app.config.chromium_warm {
            let app = Arc::clone(&app);
            // Whether it works is said by the first page that needs it.
            tokio::spawn(async move { app.chromium.browser().await.map(drop) });
        }
        if app.config.libreoffice_warm {
            let app = Arc::clone(&app);
            tokio::spawn(async move { app.libreoffice.office().await.map(drop) });
        }
        tokio::spawn({
            let app = Arc::clone(&app);
            async move { app.flows.start(&app).await }
        });
        let sweeping = tokio::spawn(results::upkeep(Arc::clone(&app)));
        let (stop, stopped) = watch::channel(());
        let router = routes::router(Arc::clone(&app));
        let connections = delivery::serve(Arc::clone(&app), self.listeners, router, stopped);
        let mut connections = tokio::spawn(connections);
        shutdown.await;
        app.set_draining();
        app.log.event(LogLevel::Info, "shutting down", &[]);
        // Tells the accept loop to close the port, and every connection to end after its answer.
        drop(stop);
        let bound = Duration::from_millis(app.config.shutdown_timeout_ms);
        let begin = Instant::now();
        let finished = tokio::time::timeout(bound, &mut connections).await;
        let message = if finished.is_ok() {
            "everything taken is finished"
        } else {
            connections.abort();
            "the time for finishing is over; the rest is dropped"
        };
        app.log.event(LogLevel::Info, message, &[]);
        app.flows.stop(bound.saturating_sub(begin.elapsed())).await;
        if !app
            .webhooks
            .drain(bound.saturating_sub(begin.elapsed()))
            .await
        {
            let message = "the time for finishing is over; results for webhooks are dropped";
            app.log.event(LogLevel::Warn, message, &[]);
        }
        sweeping.abort();
        app.chromium.shutdown(Duration::ZERO).await;
        app.libreoffice.shutdown(Duration::ZERO).await;
        let log = app.log.clone();
        let _ = tokio::task::spawn_blocking(move || log.flush()).await;
    }
}

/// Finds out how well LibreOffice and Chromium can be shut in, and says it.
async fn isolate(app: &App) -> Result<(), Error> {
    let demand = app.config.child_isolation;
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
    app.log.event(level, message, &fields);
    Ok(())
}

fn open(config: Config, log: Log) -> Result<App, Error> {
    let folder = config.database_folder();
    // What is cached here would not learn of another service's writes.
    std::fs::create_dir_all(folder)?;
    let lock = std::fs::File::create(folder.join("platen.lock"))?;
    if lock.try_lock().is_err() {
        return Err(Error::InUse(folder.display().to_string()));
    }
    let store = SqliteStore::open(folder).map_err(|source| Error::Store {
        folder: folder.display().to_string(),
        source,
    })?;
    let key = Arc::new(link_key::open(folder).map_err(Error::LinkKey)?);
    let pieces = PieceStore::open(&config, Arc::clone(&key)).map_err(Error::Blobs)?;
    let metrics = Arc::new(Metrics::default());
    let results = Results::open(&config, key, Arc::clone(&metrics)).map_err(Error::Results)?;
    let sandbox = Arc::new(Sandbox::new(&config));
    let mut engine = Engine::new(&config.fonts()).with_helpers({
        let sandbox = Arc::clone(&sandbox);
        Box::new(move || sandbox.runner().map_err(|problem| problem.detail))
    });
    if config.render_isolation == RenderIsolation::Jail {
        let isolation = Isolation::start(config.isolation()).map_err(Error::Isolation)?;
        let level = isolation.level().name();
        log.event(
            LogLevel::Info,
            "documents are made in sandboxes",
            &[("sandbox", level.into())],
        );
        engine = engine.with_isolation(isolation);
    }
    let stored = (pieces, results);
    App::new(
        config,
        (engine, sandbox),
        &store,
        stored,
        metrics,
        log,
        lock,
    )
    .map_err(Error::Config)
}

async fn warm(app: Arc<App>) {
    let shared = Arc::clone(&app);
    let rendered = tokio::task::spawn_blocking(move || {
        let data = serde_json::json!({"name": "Platen"});
        let formats = [Format::Pdf, Format::Docx, Format::Xlsx];
        let options = RenderOptions::default();
        let source = WARM_TEMPLATE.as_bytes();
        let documents = shared
            .engine
            .render_source(source, data, &formats, &options)?;
        drop(documents);
        Ok::<(), platen_engine::Error>(())
    })
    .await;
    match rendered {
        Ok(Ok(())) => {
            app.set_warm();
            app.log.event(LogLevel::Info, "ready", &[]);
        }
        Ok(Err(error)) => {
            let fields = [("cause", Json::from(chain(&error)))];
            app.log
                .event(LogLevel::Error, "the engine cannot render", &fields);
        }
        Err(error) => {
            let fields = [("cause", Json::from(error.to_string()))];
            app.log
                .event(LogLevel::Error, "the engine cannot render", &fields);
        }
    }
}

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// Where the service cannot start.
pub async fn serve(config: Config) -> Result<(), Error> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let server = Server::start(config).await?;
    server
        .run(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
        .await;
    Ok(())
}
