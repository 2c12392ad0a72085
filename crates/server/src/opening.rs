//! What the service opens before it listens: the data folder, the database, sandboxes.

use std::{
    fs::File,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use platen_delivery::Bind;
use platen_engine::{Engine, Isolation, IsolationSource};
use platen_render::chain;
use platen_supervise::{HANDOVER_GRACE, ProcessGroup};
use tokio::runtime::Handle;
use tracing::{info, warn};

use crate::{
    auth::StoredKeys,
    config::{Config, RenderIsolation},
    files::Files,
    metrics::Metrics,
    pieces::PieceStore,
    results::Results,
    sandbox::Sandbox,
    services::{Opened, Services},
    session::Sessions,
    start_error::Error,
    stores::{self, Stores, Use},
};

/// Poll interval of conditions that a start or a shutdown waits for.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Name of the file by which a service locks its data folder.
const LOCK: &str = "platen.lock";

/// Locks the data folder: this process's caches would not notice writes of another service. A
/// successor waits for its predecessor.
pub(crate) fn lock(config: &Config, group: Option<&ProcessGroup>) -> Result<File, Error> {
    let folder = config.database_folder();
    // An empty service beside the data of a volume would look as if they were lost.
    let around = folder.parent().map(|around| around.join(LOCK));
    if !folder.exists() && around.is_some_and(|lock| lock.exists()) {
        let folder = folder.display().to_string();
        return Err(Error::FolderAround { folder });
    }
    let made = platen_storage::create_folder(folder).and_then(|()| File::create(folder.join(LOCK)));
    let lock = made.map_err(|source| Error::Folder {
        folder: folder.display().to_string(),
        source,
    })?;
    let patience = patience(config, group);
    let begin = Instant::now();
    // `File::lock` has no timeout, hence the polling.
    while lock.try_lock().is_err() {
        if begin.elapsed() >= patience {
            return Err(Error::InUse(folder.display().to_string()));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(lock)
}

/// How long to wait for what a predecessor in the same process group holds.
fn patience(config: &Config, group: Option<&ProcessGroup>) -> Duration {
    group.map_or(Duration::ZERO, |_| {
        Duration::from_millis(config.shutdown_timeout_ms) + HANDOVER_GRACE
    })
}

/// Why the database cannot be opened or migrated.
pub(crate) fn store_failure(config: &Config, source: platen_storage::Error) -> Error {
    match (&config.database.url, source) {
        (Some(_), platen_storage::Error::InUse) => Error::DatabaseInUse,
        (Some(_), platen_storage::Error::NameInUse(name)) => Error::NameInUse(name),
        (_, source @ platen_storage::Error::TooOld { .. }) => Error::NotMigrated(source),
        (Some(_), source) => Error::Database(source),
        (None, source) => Error::Store {
            folder: config.database_folder().display().to_string(),
            source,
        },
    }
}

/// Opens the data folder, the database and the backends. Blocks.
///
/// # Errors
/// What cannot be opened.
pub(crate) fn open(config: Config, group: Option<ProcessGroup>) -> Result<Services, Error> {
    let folder = config.database_folder();
    let failed = |source| store_failure(&config, source);
    let follower = group.as_ref().filter(|group| !group.is_leader());
    let (lock, how, blobs) = match follower {
        None => {
            let lock = lock(&config, group.as_ref())?;
            let how = Use::Owner(patience(&config, group.as_ref()));
            (Some(lock), how, folder.join("blobs"))
        }
        // The leader handles requests about custom actions.
        Some(group) => (None, Use::Follower, group.own_folder()),
    };
    let strangers =
        (config.render_isolation == RenderIsolation::Auto).then(|| isolation_of_strangers(&config));
    let sandbox = Arc::new(Sandbox::new(&config));
    let engine = load_engine(&config);
    let redis = stores::redis(&config)?;
    let (store, database_lock) = Stores::open(&config, how, redis).map_err(failed)?;
    let (fleet, is_follower) = (store.peers(), follower.is_some());
    let keys = StoredKeys::open(store.keys(), fleet.as_ref(), is_follower);
    let keys = Handle::current().block_on(keys).map_err(failed)?;
    // All processes sign with its key, and store results.
    let files = Files::open(&config, &blobs)?;
    let pieces = PieceStore::new(
        files.pieces,
        Arc::clone(&files.key),
        config.s3.is_piece_redirected,
    );
    let is_tls = |bind: &Bind| matches!(bind, Bind::Tls { .. });
    let public_url = config.results.public_url.as_deref().unwrap_or_default();
    let is_secure = config.bind.iter().all(is_tls) || public_url.starts_with("https:");
    let sessions = Sessions::new(Arc::clone(&files.key), is_secure);
    let metrics = Arc::new(Metrics::default());
    let results = Results::new(&config, files.results, files.key, Arc::clone(&metrics));
    let signatures = config.signature.open().map_err(Error::Config)?;
    let engine = engine()
        .with_signatures(signatures)
        .with_pages_in(config.isolation());
    let mut engine = engine.with_helpers({
        let sandbox = Arc::clone(&sandbox);
        Arc::new(move || sandbox.runner().map_err(|problem| problem.detail))
    });
    if let Some(strangers) = strangers {
        engine = engine.with_isolation_of_strangers(strangers);
    } else if config.render_isolation == RenderIsolation::Jail {
        let isolation = Isolation::start(config.isolation()).map_err(Error::Isolation)?;
        let sandbox = isolation.level().name();
        info!(sandbox, "documents render in sandboxes");
        engine = engine.with_isolation(isolation);
    }
    let opened = Opened {
        store,
        keys: Arc::new(keys),
        engine,
        sandbox,
        pieces,
        results,
        requests: files.requests,
        bucket: files.bucket,
        metrics,
        sessions,
        group,
        lock,
        database_lock,
    };
    Services::new(config, opened).map_err(Error::Config)
}

/// Sandboxes for untrusted input, which start when they are asked for. Without sandboxes the service
/// handles that input itself.
fn isolation_of_strangers(config: &Config) -> Box<IsolationSource> {
    let settings = config.isolation();
    let started = OnceLock::new();
    let start = move || match Isolation::start(settings.clone()) {
        Ok(isolation) => {
            let sandbox = isolation.level().name();
            info!(sandbox, "templates in requests render in sandboxes");
            Some(Arc::new(isolation))
        }
        Err(error) => {
            let message =
                "templates in requests render without a sandbox: this system supports none";
            warn!(cause = chain(&error), "{message}");
            None
        }
    };
    Box::new(move || started.get_or_init(&start).clone())
}

/// Loads fonts in a thread: opening the database waits for the disk meanwhile. The function that it
/// returns waits for the engine that has them.
fn load_engine(config: &Config) -> impl FnOnce() -> Engine + use<> {
    let fonts = config.fonts();
    let own = fonts.clone();
    let loading = std::thread::Builder::new()
        .name("load-fonts".to_owned())
        .spawn(move || Engine::new(&own));
    move || match loading {
        Ok(thread) => thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(_) => Engine::new(&fonts),
    }
}
