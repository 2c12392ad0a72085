//! The flow subsystem: its parts, startup and shutdown.

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use platen_outbound::{Outbound, Settings as OutboundSettings, Trust};
use platen_render::{StoredAssets, chain};
use platen_runs::{
    Dispatcher, Mask, RunState, Settings, embedded,
    execution::{ChromiumPrint, Mail, OfficeConvert, Pieces, Replay, Services, Smtp, Tools},
};
use platen_supervise::ProcessGroup;
use tokio::{runtime::Handle, sync::watch};

use crate::{
    config::{Config, ConfigError},
    metrics::Metrics,
    pieces::PieceStore,
    rendering::{Renderer, libreoffice::LibreOffice},
    sandbox::Sandbox,
    stores::Stores,
};

/// Name of the secret that signs webhooks.
pub(crate) const WEBHOOK_SECRET: &str = "WEBHOOK_SECRET";

/// Poll interval while a shutdown waits for runs.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a request waits for recovery of the previous process's runs.
const MAX_SETTLE: Duration = Duration::from_secs(30);

/// Flows and their runs.
pub(crate) struct Flows {
    pub(crate) dispatcher: Arc<Dispatcher>,
    /// Hides secrets in what people see of runs.
    pub(crate) mask: Mask,
    outbound: Arc<Outbound>,
    mail: Option<Arc<dyn Mail>>,
    started: OnceLock<()>,
    /// True once recovery has ended, whether or not the dispatcher started.
    settled: watch::Sender<bool>,
    has_webhook_secret: bool,
    services: FlowServices,
    /// Concurrent runs of this process.
    slots: usize,
    /// Concurrent deferred requests of this process.
    deferred_slots: usize,
}

/// Dependencies of flow steps.
pub(crate) struct FlowServices {
    pub(crate) renderer: Arc<Renderer>,
    pub(crate) libreoffice: Arc<LibreOffice>,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) pieces: Arc<PieceStore>,
    pub(crate) replay: Arc<dyn Replay>,
    pub(crate) metrics: Arc<Metrics>,
}

impl Flows {
    pub(crate) fn new(
        store: &Stores,
        config: &Config,
        services: FlowServices,
    ) -> Result<Self, ConfigError> {
        let outbound = Arc::new(Outbound::new(&OutboundSettings {
            allowed_hosts: config.flow.allowed_hosts.clone(),
            allow_private_addresses: config.flow.allow_private_addresses,
            ..OutboundSettings::default()
        }));
        let lease = Duration::from_millis(config.flow.lease_ms);
        let secrets = config.flow.secrets_file.as_deref().map(secrets);
        let mut known = secrets.transpose()?.unwrap_or_default();
        if let Some(secret) = &config.webhook_secret {
            known.insert(WEBHOOK_SECRET.to_owned(), secret.clone());
        }
        let mask = mask(config, &known);
        let settings = Settings {
            sync_queue: config.flow.sync_queue as usize,
            async_queue: config.flow.async_queue as usize,
            lease,
            heartbeat: lease * 3 / 10,
            max_worker_losses: config.flow.max_deaths,
            retention: Duration::from_secs(u64::from(config.flow.retention_hours) * 3600),
            outbound: Some(Arc::clone(&outbound)),
            secrets: known,
            fleet: store.peers(),
            ..Settings::default()
        };
        let dispatcher = Dispatcher::new(store.runs(), store.flows(), store.templates(), settings);
        Ok(Self {
            dispatcher,
            mask,
            outbound,
            mail: mail(config)?,
            started: OnceLock::new(),
            settled: watch::Sender::new(false),
            has_webhook_secret: config.webhook_secret.is_some(),
            services,
            slots: config.flow.slots as usize,
            deferred_slots: config.webhook.max_queue as usize,
        })
    }

    /// True if the allowlist permits this URL for flows.
    pub(crate) fn allows(&self, url: &str) -> bool {
        self.outbound.allows(url)
    }

    /// True if a key to sign deliveries is configured.
    pub(crate) fn has_webhook_secret(&self) -> bool {
        self.has_webhook_secret
    }

    /// True if the dispatcher accepts runs.
    pub(crate) fn is_started(&self) -> bool {
        self.started.get().is_some()
    }

    /// True if runs are accepted, by this process or by the leader of its `group`.
    pub(crate) fn are_served(&self, group: Option<&ProcessGroup>) -> bool {
        group.is_some_and(|group| !group.is_leader()) || self.is_started()
    }

    /// Recovers the state of the previous process; from then on runs are accepted.
    pub(crate) async fn start(self: Arc<Self>) {
        self.take_up().await;
        self.settled.send_replace(true);
    }

    /// Waits for recovery: before that, the published flows are unknown.
    pub(crate) async fn settle(&self) {
        let mut settled = self.settled.subscribe();
        // `self` owns the sender, so the channel cannot close.
        let _ = tokio::time::timeout(MAX_SETTLE, settled.wait_for(|settled| *settled)).await;
    }

    async fn take_up(self: &Arc<Self>) {
        if let Err(error) = self.dispatcher.start().await {
            let message = "flows do not run: the runs of the previous process cannot be recovered";
            tracing::error!(cause = chain(&error), "{message}");
            return;
        }
        let _ = self.started.set(());
    }

    /// Hands runs out, once there is a sandbox for their code, or known to be none: a run that waits for
    /// it has begun, and a service that is killed three times meanwhile would give the run up.
    pub(crate) async fn hand_out(self: &Arc<Self>) {
        let mut settled = self.settled.subscribe();
        // `self` owns the sender, so the channel cannot close.
        let _ = settled.wait_for(|settled| *settled).await;
        if !self.is_started() {
            return;
        }
        let sandbox = Arc::clone(&self.services.sandbox);
        let services = Arc::new(Services {
            engine: Arc::clone(&self.services.renderer.engine),
            scripts: Arc::new(move || sandbox.runner().map_err(|problem| problem.detail)),
            outbound: Arc::clone(&self.outbound),
            tools: self.tools(),
        });
        embedded::start(&self.dispatcher, Arc::clone(&services), self.slots);
        embedded::start_deferred(&self.dispatcher, services, self.deferred_slots);
        for (key, version) in self.dispatcher.all_published() {
            self.compile_ahead(&key, version).await;
        }
    }

    /// Compiles the long code of a flow version in advance, so that no run waits for it. If that
    /// fails, the first run compiles the code.
    pub(crate) async fn compile_ahead(&self, key: &str, version: u32) {
        let Ok(flow) = self.dispatcher.version(key, version).await else {
            return;
        };
        let sandbox = Arc::clone(&self.services.sandbox);
        let metrics = Arc::clone(&self.services.metrics);
        let compile = move || {
            if let Ok(runner) = sandbox.runner() {
                metrics.compiled(flow.loaded.compile_ahead(&runner));
            }
        };
        let _ = tokio::task::spawn_blocking(compile).await;
    }

    /// Capabilities that this service gives to steps.
    fn tools(&self) -> Tools {
        let services = &self.services;
        let libreoffice = Arc::clone(&services.libreoffice);
        let convert = OfficeConvert::new(Handle::current(), move |job| {
            let libreoffice = Arc::clone(&libreoffice);
            Box::pin(async move { libreoffice.convert_for_flow(job).await })
        });
        let chromium = Arc::clone(&services.renderer.chromium);
        let longest = services.renderer.timeout;
        let print = ChromiumPrint::new(Handle::current(), longest, move |job| {
            let chromium = Arc::clone(&chromium);
            Box::pin(async move { chromium.print_for_flow(job).await })
        });
        Tools {
            convert: Some(Arc::new(convert)),
            print: Some(Arc::new(print)),
            mail: self.mail.clone(),
            pieces: Some(Arc::clone(&services.pieces) as Arc<dyn Pieces>),
            replay: Some(Arc::clone(&services.replay)),
            assets: services.renderer.assets_dir.clone(),
            stored: Some(Arc::clone(&services.renderer.assets) as Arc<dyn StoredAssets>),
        }
    }

    /// Adds the metrics of runs.
    pub(crate) fn write_metrics(&self, text: &mut String) {
        let dispatcher = &self.dispatcher;
        let depth = dispatcher.depth();
        let mut gauge = |name: &str, help: &str, values: &[(&str, usize)]| {
            let _ = writeln!(
                text,
                "# HELP platen_{name} {help}\n# TYPE platen_{name} gauge"
            );
            for (labels, value) in values {
                let _ = writeln!(text, "platen_{name}{labels} {value}");
            }
        };
        let waiting = [
            ("{lane=\"sync\"}", depth.sync),
            ("{lane=\"async\"}", depth.asynchronous),
            ("{lane=\"parked\"}", depth.parked),
        ];
        gauge(
            "runs_waiting",
            "Runs waiting for a slot, by lane.",
            &waiting,
        );
        if let Some(queued) = dispatcher.queued_in_fleet() {
            gauge(
                "fleet_runs_waiting",
                "Runs of all services that wait for a slot.",
                &[("", queued)],
            );
        }
        gauge(
            "runs_held",
            "Runs in progress.",
            &[("", dispatcher.running())],
        );
        gauge(
            "run_slots",
            "Slots here and in workers.",
            &[("", dispatcher.slots())],
        );
        let _ = writeln!(
            text,
            "# HELP platen_runs_ended_total Runs that ended, by state.\n\
             # TYPE platen_runs_ended_total counter"
        );
        for state in RunState::ALL.into_iter().filter(|state| state.is_end()) {
            let count = dispatcher.ended(state);
            let state = state.as_str();
            let _ = writeln!(text, "platen_runs_ended_total{{state=\"{state}\"}} {count}");
        }
    }

    /// Stops accepting runs and waits for active ones. After `bound`, gives the rest back to the
    /// queue.
    pub(crate) async fn stop(&self, bound: Duration) {
        self.dispatcher.drain();
        let empty = async {
            while self.dispatcher.running() > 0 {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        };
        if tokio::time::timeout(bound, empty).await.is_err() {
            self.dispatcher.give_back().await;
        }
        self.dispatcher.close().await;
    }
}

/// The mail server, if one is configured.
fn mail(config: &Config) -> Result<Option<Arc<dyn Mail>>, ConfigError> {
    let Some(url) = &config.mail.url else {
        return Ok(None);
    };
    let hint = "set SMTP_URL to smtps://user:password@host, and SMTP_FROM to an address";
    let from = config.mail.from.as_deref().unwrap_or_default();
    let trust = match &config.mail.ca_file {
        None => Trust::default(),
        Some(file) => Trust::only(file).map_err(|error| {
            let reason = format!("SMTP_CA_FILE, {}: {error}", file.display());
            ConfigError::new(reason, "it is a PEM file of certificates")
        })?,
    };
    let smtp = Smtp::new(url, from, &trust).map_err(|reason| ConfigError::new(reason, hint))?;
    Ok(Some(Arc::new(smtp)))
}

/// Hides what this service knows as secret.
fn mask(config: &Config, of_flows: &BTreeMap<String, String>) -> Mask {
    let own = config.own_secrets().into_iter().map(|(_, secret)| secret);
    // `smtp://user:password@host`.
    let of_mail = config.mail.url.as_deref().and_then(|url| {
        let (user, _) = url.rsplit_once('@')?;
        user.rsplit_once(':').map(|(_, password)| password)
    });
    Mask::new(
        own.chain(of_flows.values().map(String::as_str))
            .chain(of_mail),
    )
}

/// Reads the secrets, by name.
fn secrets(file: &Path) -> Result<BTreeMap<String, String>, ConfigError> {
    let refused = |reason: String| {
        ConfigError::new(
            format!("the secrets in {}: {reason}", file.display()),
            "write a line NAME = \"value\" for each",
        )
    };
    let text = std::fs::read_to_string(file).map_err(|error| refused(error.to_string()))?;
    // Use the bare message: the full error quotes the line, which is a secret.
    toml::from_str(&text).map_err(|error| refused(error.message().to_owned()))
}
