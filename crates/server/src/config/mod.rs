//! Configuration of the service: defaults, overridden by `platen.toml`, the environment and flags,
//! in this order.

mod bind;
mod download;
mod editor;
mod exposure;
mod flow;
mod gotenberg;
mod gotenberg_variables;
mod hardening;
mod oidc;
mod outside;
mod print;
mod process;
mod result;
mod s3;
mod secret_file;
mod settings;
mod signature;
#[cfg(test)]
mod tests;
mod trace;
mod url_lists;
mod value;
mod webhook;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use platen_delivery::Bind;
use platen_engine::IsolationSettings;
use platen_fonts::FontSettings;
use serde::Serialize;

pub use self::{
    download::DownloadConfig,
    editor::EditorConfig,
    exposure::ExposureConfig,
    flow::FlowConfig,
    gotenberg::GotenbergConfig,
    hardening::Weakness,
    oidc::OidcConfig,
    outside::{DatabaseConfig, MailConfig},
    process::{CONTROLLER_SOCKET, ProcessConfig},
    result::ResultConfig,
    s3::S3Config,
    secret_file::{read_secret_file, secret_variable},
    settings::{SETTINGS, Setting, Settings},
    signature::SignatureConfig,
    trace::TraceConfig,
    url_lists::UrlLists,
    value::{ChildIsolation, LogFormat, LogLevel, RenderIsolation, RenderMode, SandboxLevel},
    webhook::WebhookConfig,
};

/// Why the configuration is invalid.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}

impl ConfigError {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: Some(hint.into()),
        }
    }
}

/// The resolved configuration of the service.
#[derive(Clone, Debug, Serialize)]
pub struct Config {
    /// Addresses to listen on; port 0 selects a free port.
    #[serde(serialize_with = "bind::serialize")]
    pub bind: Vec<Bind>,
    /// Threads that serve connections.
    pub threads: u32,
    /// Worker processes under a supervisor; 0 for a single process without one.
    pub workers: u32,
    /// The supervisor kills and restarts a process without a heartbeat for this long.
    pub worker_timeout_ms: u64,
    /// What stands between the service and strangers.
    #[serde(flatten)]
    pub exposure: ExposureConfig,
    /// Folder of the database.
    pub data_dir: PathBuf,
    /// Keys with the admin scope.
    #[serde(skip)]
    pub api_key_admin: Vec<String>,
    /// Keys that may render and read templates.
    #[serde(skip)]
    pub api_key_render: Vec<String>,
    /// Bearer token of `/metrics`; open to all if `None`.
    #[serde(skip)]
    pub metrics_token: Option<String>,
    /// Whether Gotenberg's variable asks for its password, which is a key, on its front page and, where
    /// they have no token, on the metrics.
    #[serde(skip)]
    pub asks_for_password: bool,
    /// Requests per minute and client; 0 for no limit.
    pub rate_limit_max: u32,
    /// Renderings per minute and client; each item of a batch counts. 0 for no limit.
    pub rate_limit_render_max: u32,
    /// Concurrent renderings, including the reserved slots.
    pub max_concurrent_pages: u32,
    /// Renderings that may wait for a slot; more get 503.
    pub render_max_queue_depth: u32,
    /// Slots reserved for previews.
    pub render_preview_reserved_slots: u32,
    /// Concurrent renderings of one batch.
    pub batch_concurrency: u32,
    /// Most items of one batch.
    pub batch_max_items: u32,
    /// Bytes of all documents of one JSON or ZIP batch.
    pub batch_max_bytes: u64,
    /// Deadline of a rendering, including the wait for a slot.
    pub render_timeout_ms: u64,
    /// Largest request body.
    pub max_body_bytes: u64,
    /// Bytes of all request bodies held at once; more get 503.
    pub max_inflight_body_bytes: u64,
    /// Largest form with files. Long parts go to temporary files.
    pub form_max_body_bytes: u64,
    /// Bytes of all uploads in temporary files at once; more get 503.
    pub max_spool_bytes: u64,
    /// Largest head of a request.
    pub max_header_bytes: u64,
    /// Time limit for the head of a request, and for an idle connection.
    pub header_timeout_ms: u64,
    /// Time limit for the body of a request.
    pub body_timeout_ms: u64,
    /// Connections whose client reads nothing for this long are closed.
    pub write_timeout_ms: u64,
    /// Concurrent connections. At the limit, an idle connection is closed: one from the address
    /// with the most connections.
    pub max_connections: u32,
    /// PostgreSQL database.
    #[serde(flatten)]
    pub database: DatabaseConfig,
    /// Files that outlive requests.
    #[serde(flatten)]
    pub s3: S3Config,
    /// How long a shutdown waits for requests and runs in progress.
    pub shutdown_timeout_ms: u64,
    /// Flows.
    #[serde(flatten)]
    pub flow: FlowConfig,
    /// Stored results.
    #[serde(flatten)]
    pub results: ResultConfig,
    /// Key that signs webhook deliveries.
    #[serde(skip)]
    pub webhook_secret: Option<String>,
    /// Token that workers authenticate with.
    #[serde(skip)]
    pub worker_token: Option<String>,
    /// Compiled templates in the cache.
    pub template_cache_max_items: u32,
    /// Bytes of the sources of the compiled templates in the cache.
    pub template_cache_max_bytes: u64,
    /// Log format.
    pub log_format: LogFormat,
    /// Log level.
    pub log_level: LogLevel,
    /// Folders whose fonts take precedence over the system's.
    pub fonts_dirs: Vec<PathBuf>,
    /// Also use the system's fonts.
    pub system_fonts: bool,
    /// Folder of the assets that templates reference.
    pub assets_dir: Option<PathBuf>,
    /// Folder of the benchmark results that `/bench` shows.
    pub bench_results_dir: Option<PathBuf>,
    /// Which templates render in a sandbox.
    pub render_isolation: RenderIsolation,
    /// Memory limit of one sandboxed rendering.
    pub render_memory_bytes: u64,
    /// CPU limit of one sandboxed rendering.
    pub render_cpu_ms: u32,
    /// Largest document of a sandboxed rendering.
    pub render_max_output_bytes: u64,
    /// Bytes of all stored custom actions.
    pub blobs_max_bytes: u64,
    /// Mail server for flows.
    #[serde(flatten)]
    pub mail: MailConfig,
    /// Minimum sandbox level for code and for sandboxed rendering.
    pub sandbox_level: SandboxLevel,
    /// LibreOffice executable; if `None`, the first one found.
    pub libreoffice_path: Option<PathBuf>,
    /// Start LibreOffice with the service.
    pub libreoffice_warm: bool,
    /// Concurrent conversions, each in a LibreOffice process of its own.
    pub office_slots: u32,
    /// Deadline of a conversion, including the wait.
    pub office_timeout_ms: u64,
    /// Largest document to convert.
    pub office_max_body_bytes: u64,
    /// Who starts LibreOffice and Chromium, and how long a process lives.
    #[serde(flatten)]
    pub processes: ProcessConfig,
    /// Chromium executable; if `None`, the first one found.
    pub chromium_path: Option<PathBuf>,
    /// Start Chromium with the service.
    pub chromium_warm: bool,
    /// Idle pages that Chromium keeps open in advance.
    pub chromium_spare_pages: u32,
    /// Hosts that HTML pages may load from.
    pub chromium_allowed_hosts: Vec<String>,
    /// Permits loopback and private addresses for the allowed hosts.
    pub chromium_allow_private_addresses: bool,
    /// Webhook delivery of results.
    #[serde(flatten)]
    pub webhook: WebhookConfig,
    /// Gotenberg's routes.
    #[serde(flatten)]
    pub gotenberg: GotenbergConfig,
    /// Signing keys, and the authorities that are asked and trusted.
    #[serde(flatten)]
    pub signature: SignatureConfig,
    /// Distributed traces.
    #[serde(flatten)]
    pub trace: TraceConfig,
}

/// Most worker processes.
const MAX_WORKERS: u32 = 256;

impl Config {
    /// Merges the text of a file, the environment and flags.
    ///
    /// # Errors
    /// For an unknown setting, a value that cannot be parsed, or contradictory settings.
    pub fn load(
        file: Option<&str>,
        environment: impl Fn(&str) -> Option<String>,
        flags: Settings,
    ) -> Result<Self, ConfigError> {
        let file = file
            .map(Settings::from_toml)
            .transpose()?
            .unwrap_or_default();
        gotenberg_variables::check(&environment)?;
        let variables = |name: &str| gotenberg_variables::variable(&environment, name);
        let variables = Settings::from_environment(variables)?;
        let asks_for_password = gotenberg_variables::asks_for_password(&environment);
        let settings = flags.or(variables).or(file).or_amazon(environment);
        let mut config = Self::resolve(settings)?;
        config.asks_for_password = asks_for_password;
        Ok(config)
    }

    /// Fills in defaults. Defaults per core are divided among the worker processes, except the flow
    /// slots: one process executes all runs.
    ///
    /// # Errors
    /// For contradictory settings.
    pub fn resolve(settings: Settings) -> Result<Self, ConfigError> {
        let (cores, share, reserved) = shares(&settings);
        Self::checked(Self {
            bind: bind::addresses(&settings)?,
            exposure: ExposureConfig::resolve(&settings)?,
            flow: FlowConfig::resolve(&settings, cores),
            results: ResultConfig::resolve(&settings)?,
            webhook: WebhookConfig::resolve(&settings),
            gotenberg: GotenbergConfig::resolve(&settings)?,
            signature: SignatureConfig::resolve(&settings),
            trace: TraceConfig::resolve(&settings)?,
            database: DatabaseConfig::resolve(&settings),
            s3: S3Config::resolve(&settings)?,
            mail: MailConfig::resolve(&settings),
            processes: ProcessConfig::resolve(&settings)?,
            threads: settings.threads.unwrap_or(share).max(1),
            workers: settings.workers.unwrap_or(0),
            worker_timeout_ms: settings.worker_timeout_ms.unwrap_or(60_000),
            data_dir: settings.data_dir.unwrap_or_else(|| "platen-data".into()),
            api_key_admin: settings.api_key_admin.unwrap_or_default(),
            api_key_render: settings.api_key_render.unwrap_or_default(),
            metrics_token: settings.metrics_token,
            asks_for_password: false,
            rate_limit_max: settings.rate_limit_max.unwrap_or(60_000),
            rate_limit_render_max: settings.rate_limit_render_max.unwrap_or(60_000),
            max_concurrent_pages: settings.max_concurrent_pages.unwrap_or(share + reserved),
            render_max_queue_depth: settings.render_max_queue_depth.unwrap_or(256),
            render_preview_reserved_slots: reserved,
            batch_concurrency: settings.batch_concurrency.unwrap_or(5),
            batch_max_items: settings.batch_max_items.unwrap_or(1_000),
            batch_max_bytes: settings.batch_max_bytes.unwrap_or(256 << 20),
            render_timeout_ms: settings.render_timeout_ms.unwrap_or(65_000),
            max_body_bytes: settings.max_body_bytes.unwrap_or(32 << 20),
            max_inflight_body_bytes: settings.max_inflight_body_bytes.unwrap_or(512 << 20),
            form_max_body_bytes: settings.form_max_body_bytes.unwrap_or(256 << 20),
            max_spool_bytes: settings.max_spool_bytes.unwrap_or(4 << 30),
            max_header_bytes: settings.max_header_bytes.unwrap_or(64 << 10),
            header_timeout_ms: settings.header_timeout_ms.unwrap_or(30_000),
            body_timeout_ms: settings.body_timeout_ms.unwrap_or(60_000),
            write_timeout_ms: settings.write_timeout_ms.unwrap_or(60_000),
            max_connections: settings.max_connections.unwrap_or(2_048),
            shutdown_timeout_ms: settings.shutdown_timeout_ms.unwrap_or(30_000),
            webhook_secret: settings.webhook_secret,
            worker_token: settings.worker_token,
            template_cache_max_items: settings.template_cache_max_items.unwrap_or(512),
            template_cache_max_bytes: settings.template_cache_max_bytes.unwrap_or(64 << 20),
            log_format: settings.log_format.unwrap_or_default(),
            log_level: settings.log_level.unwrap_or_default(),
            fonts_dirs: settings.fonts_dirs.unwrap_or_default(),
            system_fonts: settings.system_fonts.unwrap_or(true),
            assets_dir: settings.assets_dir,
            bench_results_dir: settings.bench_results_dir,
            render_isolation: settings.render_isolation.unwrap_or_default(),
            render_memory_bytes: settings.render_memory_bytes.unwrap_or(1 << 30),
            render_cpu_ms: settings.render_cpu_ms.unwrap_or(60_000),
            render_max_output_bytes: settings.render_max_output_bytes.unwrap_or(512 << 20),
            blobs_max_bytes: settings.blobs_max_bytes.unwrap_or(256 << 20),
            sandbox_level: settings.sandbox_level.unwrap_or_default(),
            libreoffice_path: settings.libreoffice_path,
            libreoffice_warm: settings.libreoffice_warm.unwrap_or(false),
            office_slots: settings.office_slots.unwrap_or(share).max(1),
            office_timeout_ms: settings.office_timeout_ms.unwrap_or(120_000),
            office_max_body_bytes: settings.office_max_body_bytes.unwrap_or(256 << 20),
            chromium_path: settings.chromium_path,
            chromium_warm: settings.chromium_warm.unwrap_or(false),
            chromium_spare_pages: settings.chromium_spare_pages.unwrap_or(2),
            chromium_allowed_hosts: settings.chromium_allowed_hosts.unwrap_or_default(),
            chromium_allow_private_addresses: is_on(settings.chromium_allow_private_addresses),
        })
    }

    fn checked(self) -> Result<Self, ConfigError> {
        if self.workers > MAX_WORKERS {
            return Err(ConfigError::new(
                format!("workers is above {MAX_WORKERS}"),
                "one process per core is enough",
            ));
        }
        if self.max_concurrent_pages <= self.render_preview_reserved_slots {
            return Err(ConfigError::new(
                "every render slot is reserved for previews",
                "set max_concurrent_pages above render_preview_reserved_slots",
            ));
        }
        if self.max_inflight_body_bytes < self.max_body_bytes {
            return Err(ConfigError::new(
                "max_inflight_body_bytes is below max_body_bytes",
                "no body of that size would ever be accepted: raise it, or lower max_body_bytes",
            ));
        }
        if self.max_header_bytes < 8_192 {
            return Err(ConfigError::new(
                "max_header_bytes is below 8192",
                "clients send heads of several kilobytes; omit the setting for the default, 65536",
            ));
        }
        if self.worker_timeout_ms < 2_000 {
            return Err(ConfigError::new(
                "worker_timeout_ms is below 2000",
                "processes send a heartbeat twice a second; omit the setting for the default, 60000",
            ));
        }
        let positive = [
            ("batch_concurrency", u64::from(self.batch_concurrency)),
            ("render_timeout_ms", self.render_timeout_ms),
            ("render_cpu_ms", u64::from(self.render_cpu_ms)),
            ("header_timeout_ms", self.header_timeout_ms),
            ("body_timeout_ms", self.body_timeout_ms),
            ("write_timeout_ms", self.write_timeout_ms),
            ("webhook_timeout_ms", self.webhook.timeout_ms),
            ("download_timeout_ms", self.gotenberg.download.timeout_ms),
            ("flow_timeout_ms", self.flow.timeout_ms),
            ("flow_lease_ms", self.flow.lease_ms),
            ("max_connections", u64::from(self.max_connections)),
            ("max_body_bytes", self.max_body_bytes),
        ];
        if let Some((name, _)) = positive.into_iter().find(|(_, value)| *value == 0) {
            return Err(ConfigError::new(
                format!("{name} is 0"),
                "omit the setting for its default",
            ));
        }
        let keys = self.api_key_admin.iter().chain(&self.api_key_render);
        if keys.into_iter().any(|key| key.len() < 8) {
            return Err(ConfigError::new(
                "an API key is shorter than 8 characters",
                "generate one with: openssl rand -hex 24",
            ));
        }
        let open = self.bind.iter().find(|bind| !bind.is_local());
        if let Some(open) = open.filter(|_| !self.has_keys()) {
            return Err(ConfigError::new(
                format!(
                    "without API keys the service does not listen on {open}, which other machines may reach"
                ),
                "set API_KEY_ADMIN (openssl rand -hex 24), or bind to 127.0.0.1",
            ));
        }
        Ok(self)
    }

    /// True if requests need an API key.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        let has_keys = !self.api_key_admin.is_empty() || !self.api_key_render.is_empty();
        has_keys || self.exposure.oidc.issuer.is_some()
    }

    /// Longest time from a request to its document, including the wait for a slot.
    #[must_use]
    pub fn render_timeout(&self) -> Duration {
        Duration::from_millis(self.render_timeout_ms)
    }

    /// Sandbox settings of renderings.
    pub(crate) fn isolation(&self) -> IsolationSettings {
        IsolationSettings {
            fonts: self.fonts(),
            memory_bytes: self.render_memory_bytes,
            cpu_ms: self.render_cpu_ms,
            wall_ms: self.render_timeout_ms,
            output_bytes: self.render_max_output_bytes,
            // A body and a template, which may be a stored one, plus overhead.
            input_bytes: u32::try_from(2 * self.max_body_bytes + (1 << 20)).unwrap_or(u32::MAX),
            spares: self.max_concurrent_pages as usize,
            least: self.sandbox_level.into(),
            ..IsolationSettings::default()
        }
    }

    pub(crate) fn fonts(&self) -> FontSettings {
        FontSettings {
            folders: self.fonts_dirs.clone(),
            system: self.system_fonts,
        }
    }

    /// Whether several services may use the database: the files of each are there for all.
    #[must_use]
    pub fn shares_files(&self) -> bool {
        self.s3.bucket.is_some()
    }

    /// The data folder.
    #[must_use]
    pub fn database_folder(&self) -> &Path {
        &self.data_dir
    }
}

/// Cores of this machine, those for each worker process, and the slots reserved for previews.
fn shares(settings: &Settings) -> (u32, u32, u32) {
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get() as u32);
    let share = cores.div_ceil(settings.workers.unwrap_or(1).max(1));
    let reserved = settings.render_preview_reserved_slots.unwrap_or(1);
    (cores, share, reserved)
}

fn is_on(setting: Option<bool>) -> bool {
    setting.unwrap_or(false)
}
