//! Flows and their runs as parts of the service: what they are made of, and how they start and end.

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use platen_outbound::{Outbound, Settings as OutboundSettings, Trust};
use platen_runs::{
    Dispatcher, RunState, Settings,
    execution::{ChromiumPrint, Mail, OfficeConvert, Pieces, Services, Smtp, Tools},
};
use platen_storage::SqliteStore;
use tokio::{runtime::Handle, sync::watch};

use crate::{
    app::App,
    config::{Config, ConfigError, LogLevel},
    problem::chain,
    routes::{flows::view::word, render::later::SECRET},
};

/// Looks at runs that are to end before a shutdown.
const LOOK: Duration = Duration::from_millis(20);
/// Longest wait of a request for what a former process left.
const MAX_SETTLE: Duration = Duration::from_secs(30);

/// Flows and their runs.
pub(crate) struct Flows {
    pub(crate) dispatcher: Arc<Dispatcher>,
    outbound: Arc<Outbound>,
    mail: Option<Arc<dyn Mail>>,
    started: OnceLock<()>,
    /// True when it is known whether runs are handed out.
    settled: watch::Sender<bool>,
    has_webhook_secret: bool,
}

impl Flows {
    pub(crate) fn new(store: &SqliteStore, config: &Config) -> Result<Self, ConfigError> {
        let outbound = Arc::new(Outbound::new(&OutboundSettings {
            allowed_hosts: config.flow.allowed_hosts.clone(),
            allow_private_addresses: config.flow.allow_private_addresses,
            ..OutboundSettings::default()
        }));
        let lease = Duration::from_millis(config.flow.lease_ms);
        let secrets = config.flow.secrets_file.as_deref().map(secrets);
        let mut known = secrets.transpose()?.unwrap_or_default();
        if let Some(secret) = &config.webhook_secret {
            known.insert(SECRET.to_owned(), secret.clone());
        }
        let settings = Settings {
            sync_queue: config.flow.sync_queue as usize,
            async_queue: config.flow.async_queue as usize,
            lease,
            heartbeat: lease * 3 / 10,
            max_worker_losses: config.flow.max_deaths,
            retention: Duration::from_secs(u64::from(config.flow.retention_hours) * 3600),
            outbound: Some(Arc::clone(&outbound)),
            secrets: known,
            ..Settings::default()
        };
        let dispatcher = Dispatcher::new(store.runs(), store.flows(), store.templates(), settings);
        Ok(Self {
            dispatcher,
            outbound,
            mail: mail(config)?,
            started: OnceLock::new(),
            settled: watch::Sender::new(false),
            has_webhook_secret: config.webhook_secret.is_some(),
        })
    }

    /// Whether flows may reach an address.
    pub(crate) fn allows(&self, url: &str) -> bool {
        self.outbound.allows(url)
    }

    /// Whether results that are sent are signed.
    pub(crate) fn has_webhook_secret(&self) -> bool {
        self.has_webhook_secret
    }

    /// Whether runs are handed out.
    pub(crate) fn is_started(&self) -> bool {
        self.started.get().is_some()
    }

    /// Takes up what a former process left, and begins to hand runs out.
    pub(crate) async fn start(&self, app: &Arc<App>) {
        self.take_up(app).await;
        self.settled.send_replace(true);
    }

    /// Waits until what a former process left is taken up: before that it is not known which flows
    /// are published.
    pub(crate) async fn settle(&self) {
        let mut settled = self.settled.subscribe();
        // The sender lives as long as this.
        let _ = tokio::time::timeout(MAX_SETTLE, settled.wait_for(|settled| *settled)).await;
    }

    async fn take_up(&self, app: &Arc<App>) {
        if let Err(error) = self.dispatcher.start().await {
            let fields = [("cause", chain(&error).into())];
            let message = "flows do not run: what a former process left cannot be taken up";
            app.log.event(LogLevel::Error, message, &fields);
            return;
        }
        let slots = app.config.flow.slots as usize;
        if slots > 0 {
            let shared = Arc::clone(app);
            let scripts = tokio::task::spawn_blocking(move || shared.sandbox.runner().ok());
            let services = Services {
                engine: Arc::clone(&app.engine),
                scripts: scripts.await.ok().flatten(),
                outbound: Arc::clone(&self.outbound),
                tools: self.tools(app),
            };
            platen_runs::embedded::start(&self.dispatcher, Arc::new(services), slots);
        }
        let _ = self.started.set(());
        let shared = Arc::clone(app);
        tokio::spawn(async move {
            let flows = &shared.flows;
            for (key, version) in flows.dispatcher.all_published() {
                flows.compile_ahead(&shared, &key, version).await;
            }
        });
    }

    /// Compiles the long code of a version of a flow, so that no run waits for it. What cannot be
    /// done now is done by the first run.
    pub(crate) async fn compile_ahead(&self, app: &Arc<App>, key: &str, version: u32) {
        let Ok(flow) = self.dispatcher.version(key, version).await else {
            return;
        };
        let app = Arc::clone(app);
        let compile = move || {
            if let Ok(runner) = app.sandbox.runner() {
                app.metrics.compiled(flow.loaded.compile_ahead(&runner));
            }
        };
        let _ = tokio::task::spawn_blocking(compile).await;
    }

    /// What steps need besides, of this service.
    fn tools(&self, app: &Arc<App>) -> Tools {
        let shared = Arc::clone(app);
        let convert = OfficeConvert::new(Handle::current(), move |job| {
            let app = Arc::clone(&shared);
            Box::pin(async move { app.libreoffice.convert_for_flow(job).await })
        });
        let shared = Arc::clone(app);
        let longest = app.config.render_timeout();
        let print = ChromiumPrint::new(Handle::current(), longest, move |job| {
            let app = Arc::clone(&shared);
            Box::pin(async move { app.chromium.print_for_flow(job).await })
        });
        Tools {
            convert: Some(Arc::new(convert)),
            print: Some(Arc::new(print)),
            mail: self.mail.clone(),
            pieces: Some(Arc::clone(&app.pieces) as Arc<dyn Pieces>),
            assets: app.config.assets_dir.clone(),
        }
    }

    /// Runs for Prometheus.
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
            "Runs that slots know of and have not taken.",
            &waiting,
        );
        gauge(
            "runs_held",
            "Runs that slots have.",
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
            let state = word(state);
            let _ = writeln!(text, "platen_runs_ended_total{{state=\"{state}\"}} {count}");
        }
    }

    /// Takes no more runs on, and waits for those under way; the rest is given back.
    pub(crate) async fn stop(&self, bound: Duration) {
        self.dispatcher.drain();
        let empty = async {
            while self.dispatcher.running() > 0 {
                tokio::time::sleep(LOOK).await;
            }
        };
        if tokio::time::timeout(bound, empty).await.is_err() {
            self.dispatcher.give_back().await;
        }
        self.dispatcher.close().await;
    }
}

/// The mail server, where one is set up.
fn mail(config: &Config) -> Result<Option<Arc<dyn Mail>>, ConfigError> {
    let Some(url) = &config.smtp_url else {
        return Ok(None);
    };
    let hint = "set SMTP_URL to smtps://user:password@host, and SMTP_FROM to an address";
    let from = config.smtp_from.as_deref().unwrap_or_default();
    let trust = match &config.smtp_ca_file {
        None => Trust::default(),
        Some(file) => Trust::only(file).map_err(|error| {
            let reason = format!("SMTP_CA_FILE, {}: {error}", file.display());
            ConfigError::new(reason, "it is a PEM file of certificates")
        })?,
    };
    let smtp = Smtp::new(url, from, &trust).map_err(|reason| ConfigError::new(reason, hint))?;
    Ok(Some(Arc::new(smtp)))
}

/// Secrets by name.
fn secrets(file: &Path) -> Result<BTreeMap<String, String>, ConfigError> {
    let refused = |reason: String| {
        ConfigError::new(
            format!("the secrets in {}: {reason}", file.display()),
            "write a line NAME = \"value\" for each",
        )
    };
    let text = std::fs::read_to_string(file).map_err(|error| refused(error.to_string()))?;
    // What the error quotes would be a secret.
    toml::from_str(&text).map_err(|error| refused(error.message().to_owned()))
}
