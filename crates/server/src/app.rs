//! What all requests share.

use std::{
    fs::File,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use platen_engine::Engine;
use platen_fault::Resource;
use platen_storage::SqliteStore;
use tokio::sync::Semaphore;

use crate::{
    auth::Keys,
    chromium::Chromium,
    config::{Config, ConfigError},
    flows::Flows,
    lane::Slots,
    libreoffice::LibreOffice,
    log::Log,
    metrics::{Gauges, Metrics},
    pieces::PieceStore,
    rate_limit::RateLimit,
    results::Results,
    sandbox::Sandbox,
    team::Team,
    templates::Library,
    webhook::Webhooks,
};

/// What all requests share.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) engine: Arc<Engine>,
    pub(crate) library: Library,
    pub(crate) flow_library: Library,
    pub(crate) flows: Flows,
    pub(crate) chromium: Chromium,
    pub(crate) libreoffice: LibreOffice,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) pieces: Arc<PieceStore>,
    pub(crate) results: Results,
    pub(crate) webhooks: Webhooks,
    pub(crate) slots: Slots,
    pub(crate) bodies: Arc<Semaphore>,
    pub(crate) spool: Arc<Semaphore>,
    pub(crate) keys: Keys,
    pub(crate) requests: RateLimit,
    pub(crate) renders: RateLimit,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) log: Log,
    /// Where other processes serve, too.
    pub(crate) team: Option<Team>,
    warm: AtomicBool,
    /// Chromium is there, or need not be.
    chromium_warm: AtomicBool,
    /// As `chromium_warm`.
    libreoffice_warm: AtomicBool,
    draining: AtomicBool,
    /// Held as long as the service lives, by the process that owns the data folder.
    lock: Option<File>,
}

impl App {
    pub(crate) fn new(
        mut config: Config,
        (engine, sandbox): (Engine, Arc<Sandbox>),
        store: &SqliteStore,
        (pieces, results): (PieceStore, Results),
        metrics: Arc<Metrics>,
        log: Log,
        (team, lock): (Option<Team>, Option<File>),
    ) -> Result<Self, ConfigError> {
        let is_shared = team.as_ref().is_some_and(|team| !team.is_owner());
        let library = |store, resource| {
            Library::new(store, resource, &config, Arc::clone(&metrics), is_shared)
        };
        let templates = library(store.templates(), Resource::Template);
        let flow_templates = library(store.flows(), Resource::Flow);
        let keys = Keys::new(&config);
        // From here on only their hashes are in memory.
        config.api_key_admin.clear();
        config.api_key_render.clear();
        config.metrics_token = None;
        config.worker_token = None;
        let flows = Flows::new(store, &config)?;
        config.webhook_secret = None;
        Ok(Self {
            engine: Arc::new(engine),
            library: templates,
            flow_library: flow_templates,
            flows,
            chromium: Chromium::new(&config),
            libreoffice: LibreOffice::new(&config, log.clone()),
            sandbox,
            pieces: Arc::new(pieces),
            results,
            webhooks: Webhooks::new(&config),
            slots: Slots::new(&config, Arc::clone(&metrics)),
            bodies: crate::body::rooms(&config),
            spool: crate::spool::room(&config),
            keys,
            requests: RateLimit::new(config.rate_limit_max),
            renders: RateLimit::new(config.rate_limit_render_max),
            metrics,
            log,
            team,
            warm: AtomicBool::new(false),
            chromium_warm: AtomicBool::new(!config.chromium_warm),
            libreoffice_warm: AtomicBool::new(!config.libreoffice_warm),
            draining: AtomicBool::new(false),
            lock,
            config,
        })
    }

    pub(crate) fn set_warm(&self) {
        self.warm.store(true, Ordering::Release);
    }

    pub(crate) fn is_warm(&self) -> bool {
        self.warm.load(Ordering::Acquire)
    }

    /// Chromium was ready once.
    pub(crate) fn set_chromium_warm(&self) {
        self.chromium_warm.store(true, Ordering::Release);
    }

    /// LibreOffice was ready once.
    pub(crate) fn set_libreoffice_warm(&self) {
        self.libreoffice_warm.store(true, Ordering::Release);
    }

    /// Whether Chromium and LibreOffice are there, those that are to start with the service.
    pub(crate) fn children_are_warm(&self) -> [bool; 2] {
        let is_warm = |flag: &AtomicBool| flag.load(Ordering::Acquire);
        [
            is_warm(&self.chromium_warm),
            is_warm(&self.libreoffice_warm),
        ]
    }

    /// Whether runs are handed out, here or by the owner of the data folder.
    pub(crate) fn has_flows(&self) -> bool {
        self.team.as_ref().is_some_and(|team| !team.is_owner()) || self.flows.is_started()
    }

    /// Gives the data folder to whoever wants it next. What still ends in the background may hold
    /// this a little longer than the service lives.
    pub(crate) fn let_folder_go(&self) {
        if let Some(lock) = &self.lock {
            // Where it fails, the end of the process does it.
            let _ = lock.unlock();
        }
    }

    pub(crate) fn set_draining(&self) {
        self.draining.store(true, Ordering::Release);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    pub(crate) fn gauges(&self) -> Gauges {
        let (cached_templates, cached_bytes) = self.library.cached();
        Gauges {
            waiting: self.slots.waiting(),
            in_use: self.slots.in_use(),
            slots: self.slots.total(),
            cached_templates,
            cached_bytes,
            log_dropped: self.log.dropped(),
            ready: self.is_warm() && !self.is_draining(),
        }
    }
}
