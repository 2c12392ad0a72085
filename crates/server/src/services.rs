//! The components of the service: each is created once and shared.

use std::{fs::File, sync::Arc, time::Duration};

use parking_lot::Mutex;
use platen_engine::Engine;
use platen_fault::Resource;
use platen_runs::execution::Replay;
use platen_storage::ServiceLock;
use platen_supervise::ProcessGroup;

use crate::{
    auth::Keys,
    config::{Config, ConfigError},
    deferred::{DeferredRequests, Replayer, RequestStore},
    flows::{FlowServices, Flows},
    intake::Intake,
    metrics::Metrics,
    pieces::PieceStore,
    rate_limit::RateLimit,
    readiness::Readiness,
    rendering::{Renderer, chromium::Chromium, libreoffice::LibreOffice, slots::Slots},
    results::Results,
    sandbox::Sandbox,
    stores::Stores,
    templates::TemplateRepository,
};

/// Components that are created first because they can fail.
pub(crate) struct Opened {
    pub(crate) store: Stores,
    pub(crate) engine: Engine,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) pieces: PieceStore,
    pub(crate) results: Results,
    pub(crate) metrics: Arc<Metrics>,
    /// Position in the process group, if there are several processes.
    pub(crate) group: Option<ProcessGroup>,
    /// Lock on the data folder; the leader holds it.
    pub(crate) lock: Option<File>,
    /// Lock on the PostgreSQL database; the leader holds it.
    pub(crate) database_lock: Option<ServiceLock>,
}

/// The components of the service.
pub struct Services {
    /// The configuration, without secrets.
    pub config: Config,
    /// Renders documents from templates.
    pub renderer: Arc<Renderer>,
    /// Converts documents.
    pub libreoffice: Arc<LibreOffice>,
    pub(crate) flow_definitions: TemplateRepository,
    pub(crate) flows: Arc<Flows>,
    /// Accepts requests to be executed later.
    pub deferred: Arc<DeferredRequests>,
    pub(crate) replayer: Arc<Replayer>,
    /// Key that signs results sent to webhooks (`WEBHOOK_SECRET`).
    pub webhook_key: Option<Arc<str>>,
    pub(crate) pieces: Arc<PieceStore>,
    pub(crate) results: Arc<Results>,
    /// Limits the memory and disk space of bodies and uploads.
    pub intake: Arc<Intake>,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) keys: Arc<Keys>,
    /// Rate limit of renderings, per minute and client.
    pub(crate) render_rate: Arc<RateLimit>,
    pub(crate) readiness: Arc<Readiness>,
    /// Metrics of `/metrics`.
    pub metrics: Arc<Metrics>,
    pub(crate) group: Option<ProcessGroup>,
    lock: Option<File>,
    database_lock: Mutex<Option<ServiceLock>>,
}

impl Services {
    /// Creates the services for `config`.
    ///
    /// # Errors
    /// If a file that a setting names is unusable.
    pub(crate) fn new(mut config: Config, opened: Opened) -> Result<Self, ConfigError> {
        let Opened {
            store,
            engine,
            sandbox,
            pieces,
            results,
            metrics,
            group,
            lock,
            database_lock,
        } = opened;
        let keys = Arc::new(take_keys(&mut config));
        let is_shared = group.as_ref().is_some_and(|group| !group.is_leader());
        let repository = |store, resource| {
            TemplateRepository::new(store, resource, &config, Arc::clone(&metrics), is_shared)
        };
        let renderer = Arc::new(Renderer {
            engine: Arc::new(engine),
            templates: repository(store.templates(), Resource::Template),
            slots: Arc::new(Slots::new(&config, Arc::clone(&metrics))),
            chromium: Arc::new(Chromium::new(&config)),
            metrics: Arc::clone(&metrics),
            timeout: config.render_timeout(),
            assets_dir: config.assets_dir.clone(),
        });
        let flow_definitions = repository(store.flows(), Resource::Flow);
        let libreoffice = Arc::new(LibreOffice::new(&config));
        let pieces = Arc::new(pieces);
        let results = Arc::new(results);
        let intake = Arc::new(Intake::new(&config, Arc::clone(&metrics)));
        let replayer = Arc::new(replayer(&config, &results, &intake));
        let used_by_flows = FlowServices {
            renderer: Arc::clone(&renderer),
            libreoffice: Arc::clone(&libreoffice),
            sandbox: Arc::clone(&sandbox),
            pieces: Arc::clone(&pieces),
            replay: Arc::clone(&replayer) as Arc<dyn Replay>,
            metrics: Arc::clone(&metrics),
        };
        let flows = Arc::new(Flows::new(&store, &config, used_by_flows)?);
        let deferred = Arc::new(DeferredRequests {
            flows: Arc::clone(&flows),
            store: Arc::clone(replayer.store()),
            intake: Arc::clone(&intake),
            progress: Arc::clone(replayer.progress()),
        });
        let webhook_key = config.webhook_secret.take().map(Arc::from);
        Ok(Self {
            renderer,
            libreoffice,
            flow_definitions,
            flows,
            pieces,
            deferred,
            replayer,
            webhook_key,
            results,
            intake,
            sandbox,
            keys,
            render_rate: Arc::new(RateLimit::new(config.rate_limit_render_max)),
            readiness: Arc::new(Readiness::new(&config)),
            metrics,
            group,
            lock,
            database_lock: Mutex::new(database_lock),
            config,
        })
    }

    /// True if another process, the leader, owns the data folder.
    pub(crate) fn is_follower(&self) -> bool {
        self.group.as_ref().is_some_and(|group| !group.is_leader())
    }

    /// Completes once another service has taken the database of this one. May be awaited once.
    pub(crate) async fn database_lost(&self) {
        let lock = self.database_lock.lock().take();
        match lock {
            Some(lock) => lock.lost().await,
            None => std::future::pending().await,
        }
    }

    /// Unlocks the data folder for the next service. Background work may keep references to these
    /// services longer.
    pub(crate) fn unlock_folder(&self) {
        if let Some(lock) = &self.lock {
            // If unlocking fails, the lock ends with the process.
            let _ = lock.unlock();
        }
    }
}

/// The keys of `config`, of which memory holds only the hashes afterwards.
fn take_keys(config: &mut Config) -> Keys {
    let keys = Keys::new(config);
    config.api_key_admin.clear();
    config.api_key_render.clear();
    config.metrics_token = None;
    config.worker_token = None;
    keys
}

fn replayer(config: &Config, results: &Arc<Results>, intake: &Arc<Intake>) -> Replayer {
    let store = RequestStore::new(
        config.database_folder().join("deferred"),
        config.webhook.deferred_max_bytes,
        Duration::from_secs(u64::from(config.flow.retention_hours) * 3_600),
    );
    Replayer::new(Arc::new(store), Arc::clone(results), Arc::clone(intake))
}
