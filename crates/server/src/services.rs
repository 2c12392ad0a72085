//! The components of the service: each is created once and shared.

use std::{fs::File, sync::Arc};

use parking_lot::Mutex;
use platen_engine::Engine;
use platen_fault::Resource;
use platen_runs::{Fleet, execution::Replay};
use platen_storage::{
    AuditStore, DraftStore, ServiceLock,
    blobs::{Bucket, RequestFiles},
};
use platen_supervise::ProcessGroup;

use crate::{
    assets::AssetStore,
    auth::{Keys, StoredKeys},
    config::{Config, ConfigError},
    deferred::{DeferredRequests, Replayer, RequestStore},
    flows::{FlowServices, Flows},
    intake::Intake,
    metrics::Metrics,
    oidc::Oidc,
    pieces::PieceStore,
    rate_limit::RateLimit,
    readiness::Readiness,
    rendering::{Renderer, chromium::Chromium, libreoffice::LibreOffice, slots::Slots},
    results::Results,
    sandbox::Sandbox,
    session::Sessions,
    stores::Stores,
    templates::{TemplateRepository, Writers},
};

/// Components that are created first because they can fail.
pub(crate) struct Opened {
    pub(crate) store: Stores,
    pub(crate) keys: Arc<StoredKeys>,
    pub(crate) engine: Engine,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) pieces: PieceStore,
    pub(crate) results: Results,
    pub(crate) requests: Arc<dyn RequestFiles>,
    pub(crate) bucket: Option<Arc<Bucket>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) sessions: Sessions,
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
    pub(crate) drafts: Arc<dyn DraftStore>,
    pub(crate) audit: Arc<dyn AuditStore>,
    pub(crate) flow_definitions: TemplateRepository,
    pub(crate) flows: Arc<Flows>,
    /// Accepts requests to be executed later.
    pub deferred: Arc<DeferredRequests>,
    pub(crate) replayer: Arc<Replayer>,
    /// Key that signs results sent to webhooks (`WEBHOOK_SECRET`).
    pub webhook_key: Option<Arc<str>>,
    pub(crate) pieces: Arc<PieceStore>,
    pub(crate) results: Arc<Results>,
    /// The bucket of results, custom actions and deferred requests, if they are in one.
    pub(crate) bucket: Option<Arc<Bucket>>,
    /// Limits the memory and disk space of bodies and uploads.
    pub intake: Arc<Intake>,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) keys: Arc<Keys>,
    /// Sign-in by an identity provider.
    pub(crate) oidc: Option<Arc<Oidc>>,
    /// Sessions of browsers.
    pub(crate) sessions: Sessions,
    /// Rate limit of requests, per minute and client.
    pub(crate) request_rate: Arc<RateLimit>,
    /// Rate limit of renderings, per minute and client.
    pub(crate) render_rate: Arc<RateLimit>,
    /// This service among others on the database.
    pub(crate) fleet: Option<Fleet>,
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
            keys,
            engine,
            sandbox,
            pieces,
            results,
            requests,
            bucket,
            metrics,
            sessions,
            group,
            lock,
            database_lock,
        } = opened;
        let fleet = store.peers();
        let writers = writers(group.as_ref(), fleet.as_ref());
        let repository = |store, resource| {
            let (metrics, writers) = (Arc::clone(&metrics), writers.clone());
            TemplateRepository::new(store, resource, &config, metrics, writers)
        };
        let templates = repository(store.templates(), Resource::Template);
        let assets = AssetStore::new(store.assets(), config.assets_dir.clone());
        let renderer = renderer(&config, engine, templates, assets, &metrics);
        let flow_definitions = repository(store.flows(), Resource::Flow);
        let intake = Arc::new(Intake::new(&config, Arc::clone(&metrics)));
        let libreoffice = Arc::new(LibreOffice::new(&config, Arc::clone(&intake)));
        let pieces = Arc::new(pieces);
        let results = Arc::new(results);
        let replayer = replayer(requests, &results, &intake);
        let used_by_flows = FlowServices {
            renderer: Arc::clone(&renderer),
            libreoffice: Arc::clone(&libreoffice),
            sandbox: Arc::clone(&sandbox),
            pieces: Arc::clone(&pieces),
            replay: Arc::clone(&replayer) as Arc<dyn Replay>,
            metrics: Arc::clone(&metrics),
        };
        let flows = Arc::new(Flows::new(&store, &config, used_by_flows)?);
        let deferred = deferred(&flows, &replayer, &intake);
        Ok(Self {
            oidc: oidc(&mut config, &sessions),
            renderer,
            libreoffice,
            drafts: store.drafts(),
            audit: store.audit(),
            flow_definitions,
            flows,
            pieces,
            deferred,
            replayer,
            webhook_key: config.webhook_secret.take().map(Arc::from),
            results,
            bucket,
            intake,
            sandbox,
            keys: Arc::new(take_keys(&mut config, keys).with_sessions(sessions.clone())),
            sessions,
            request_rate: rate(config.rate_limit_max, fleet.as_ref()),
            render_rate: rate(config.rate_limit_render_max, fleet.as_ref()),
            fleet,
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

fn renderer(
    config: &Config,
    engine: Engine,
    templates: TemplateRepository,
    assets: AssetStore,
    metrics: &Arc<Metrics>,
) -> Arc<Renderer> {
    let assets = Arc::new(assets);
    assets.read_ahead();
    Arc::new(Renderer {
        engine: Arc::new(engine),
        templates,
        slots: Arc::new(Slots::new(config, Arc::clone(metrics))),
        chromium: Arc::new(Chromium::new(config)),
        metrics: Arc::clone(metrics),
        timeout: config.render_timeout(),
        assets_dir: config.assets_dir.clone(),
        assets,
    })
}

/// Who else writes templates and flows.
fn writers(group: Option<&ProcessGroup>, fleet: Option<&Fleet>) -> Writers {
    match (group, fleet) {
        (Some(group), _) if !group.is_leader() => Writers::Leader,
        (_, Some(fleet)) => Writers::Fleet(Arc::clone(&fleet.peers)),
        _ => Writers::Alone,
    }
}

/// A rate limit that counts in all services.
fn rate(per_minute: u32, fleet: Option<&Fleet>) -> Arc<RateLimit> {
    let limit = RateLimit::new(per_minute);
    Arc::new(match fleet {
        Some(_) => limit.shared(),
        None => limit,
    })
}

/// The keys of `config`, of which memory holds only the hashes afterwards.
fn take_keys(config: &mut Config, stored: Arc<StoredKeys>) -> Keys {
    let keys = Keys::new(config, stored);
    config.api_key_admin.clear();
    config.api_key_render.clear();
    config.metrics_token = None;
    config.exposure.editor.token_secret = None;
    config.worker_token = None;
    config.s3.link_secret = None;
    config.s3.secret_access_key = None;
    config.s3.session_token = None;
    keys
}

/// Sign-in by the identity provider of `config`, which keeps no secret of it.
fn oidc(config: &mut Config, sessions: &Sessions) -> Option<Arc<Oidc>> {
    let secret = config.exposure.oidc.client_secret.take();
    Oidc::new(&config.exposure.oidc, secret, sessions.key()).map(Arc::new)
}

fn replayer(
    requests: Arc<dyn RequestFiles>,
    results: &Arc<Results>,
    intake: &Arc<Intake>,
) -> Arc<Replayer> {
    let requests = Arc::new(RequestStore::new(requests));
    Arc::new(Replayer::new(
        requests,
        Arc::clone(results),
        Arc::clone(intake),
    ))
}

fn deferred(
    flows: &Arc<Flows>,
    replayer: &Replayer,
    intake: &Arc<Intake>,
) -> Arc<DeferredRequests> {
    Arc::new(DeferredRequests {
        dispatcher: Arc::clone(&flows.dispatcher),
        store: Arc::clone(replayer.store()),
        intake: Arc::clone(intake),
        progress: Arc::clone(replayer.progress()),
    })
}
