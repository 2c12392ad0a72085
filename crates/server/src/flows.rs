//! Flows and their runs as parts of the service: what they are made of, and how they start and end.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use platen_engine::{
    flow::{Services, Tools},
    outbound::{Outbound, Settings as OutboundSettings},
};
use platen_runs::{Dispatcher, Settings};
use platen_storage::SqliteStore;

use crate::{
    app::App,
    config::{Config, ConfigError, LogLevel},
    problem::chain,
};

/// Looks at runs that are to end before a shutdown.
const LOOK: Duration = Duration::from_millis(20);

/// Flows and their runs.
pub(crate) struct Flows {
    pub(crate) dispatcher: Arc<Dispatcher>,
    outbound: Arc<Outbound>,
    started: OnceLock<()>,
}

impl Flows {
    pub(crate) fn new(store: &SqliteStore, config: &Config) -> Result<Self, ConfigError> {
        let outbound = Arc::new(Outbound::new(&OutboundSettings {
            allowed_hosts: config.flow_allowed_hosts.clone(),
            allow_private_addresses: config.flow_allow_private_addresses,
            ..OutboundSettings::default()
        }));
        let lease = Duration::from_millis(config.flow_lease_ms);
        let secrets = config.flow_secrets_file.as_deref().map(secrets);
        let settings = Settings {
            sync_queue: config.flow_sync_queue as usize,
            async_queue: config.flow_async_queue as usize,
            lease,
            beat: lease * 3 / 10,
            max_deaths: config.flow_max_deaths,
            retention: Duration::from_secs(u64::from(config.flow_retention_hours) * 3600),
            outbound: Some(Arc::clone(&outbound)),
            secrets: secrets.transpose()?.unwrap_or_default(),
            ..Settings::default()
        };
        let dispatcher = Dispatcher::new(store.runs(), store.flows(), store.templates(), settings);
        Ok(Self {
            dispatcher,
            outbound,
            started: OnceLock::new(),
        })
    }

    /// Whether runs are handed out.
    pub(crate) fn is_started(&self) -> bool {
        self.started.get().is_some()
    }

    /// Takes up what a former process left, and begins to hand runs out.
    pub(crate) async fn start(&self, app: &Arc<App>) {
        if let Err(error) = self.dispatcher.start().await {
            let fields = [("cause", chain(&error).into())];
            let message = "flows do not run: what a former process left cannot be taken up";
            app.log.event(LogLevel::Error, message, &fields);
            return;
        }
        let slots = app.config.flow_slots as usize;
        if slots > 0 {
            let shared = Arc::clone(app);
            let scripts = tokio::task::spawn_blocking(move || shared.sandbox.runner().ok());
            let services = Services {
                engine: Arc::clone(&app.engine),
                scripts: scripts.await.ok().flatten(),
                outbound: Arc::clone(&self.outbound),
                tools: Tools::default(),
            };
            platen_runs::embedded::start(&self.dispatcher, Arc::new(services), slots);
        }
        let _ = self.started.set(());
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
    }
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
