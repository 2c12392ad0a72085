//! Every setting, once: its name in `platen.toml`, its variable, its type.

use std::path::PathBuf;

use serde::Deserialize;

use super::{
    ConfigError,
    value::{ChildIsolation, FromVariable, LogFormat, LogLevel, RenderIsolation, SandboxLevel},
};

/// Names of a setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// In `platen.toml`.
    pub name: &'static str,
    /// In the environment.
    pub variable: &'static str,
    /// What it decides.
    pub about: &'static str,
}

macro_rules! settings {
    ($($name:ident: $kind:ty = $variable:literal, $about:literal;)+) => {
        /// Settings of one origin; what it leaves open is `None`.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Settings {
            $(
                #[doc = $about]
                #[serde(default)]
                pub $name: Option<$kind>,
            )+
        }

        /// All settings.
        pub const SETTINGS: &[Setting] = &[
            $(Setting { name: stringify!($name), variable: $variable, about: $about },)+
        ];

        impl Settings {
            /// These, with those of `other` where these leave something open.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                Self { $($name: self.$name.or(other.$name),)+ }
            }

            pub(super) fn from_environment(
                environment: impl Fn(&str) -> Option<String>,
            ) -> Result<Self, ConfigError> {
                Ok(Self { $($name: variable(&environment, $variable)?,)+ })
            }
        }
    };
}

settings! {
    bind: String = "PLATEN_BIND", "Addresses to listen on, with commas: host:port, tls://, unix://, systemd://; 127.0.0.1:3000.";
    threads: u32 = "PLATEN_THREADS", "Threads that serve connections; cores.";
    workers: u32 = "PLATEN_WORKERS", "Processes that serve together under a supervisor, which share cores and slots; 0 for one process and no supervisor; 0.";
    worker_timeout_ms: u64 = "PLATEN_WORKER_TIMEOUT_MS", "Such a process that hangs for so long is killed and started again; 60000.";
    host: String = "HOST", "Address to listen on, where `bind` is not given.";
    port: u16 = "PORT", "Port to listen on, where `bind` is not given.";
    data_dir: PathBuf = "PLATEN_DATA_DIR", "Folder of the database; platen-data.";
    api_key_admin: Vec<String> = "API_KEY_ADMIN", "Keys that may do everything.";
    api_key_render: Vec<String> = "API_KEY_RENDER", "Keys that may render and read templates.";
    metrics_token: String = "METRICS_TOKEN", "Bearer token of /metrics; open where absent.";
    rate_limit_max: u32 = "RATE_LIMIT_MAX", "Requests a minute and client, 0 for no limit; 60000.";
    rate_limit_render_max: u32 = "RATE_LIMIT_RENDER_MAX", "Renderings a minute and client, 0 for no limit; 60000.";
    max_concurrent_pages: u32 = "MAX_CONCURRENT_PAGES", "Render slots, the reserved ones included; cores + 1.";
    render_max_queue_depth: u32 = "RENDER_MAX_QUEUE_DEPTH", "Renderings that may wait for a slot; 256.";
    render_preview_reserved_slots: u32 = "RENDER_PREVIEW_RESERVED_SLOTS", "Slots only for previews; 1.";
    batch_concurrency: u32 = "BATCH_CONCURRENCY", "Items of one batch rendered at once; 5.";
    batch_max_items: u32 = "BATCH_MAX_ITEMS", "Items of one batch; 1000.";
    batch_max_bytes: u64 = "BATCH_MAX_BYTES", "Bytes of the documents of one JSON or ZIP batch; 256 MiB.";
    render_timeout_ms: u64 = "RENDER_TIMEOUT_MS", "Deadline of a rendering with its wait; 65000.";
    max_body_bytes: u64 = "MAX_BODY_BYTES", "Largest request body; 32 MiB.";
    max_inflight_body_bytes: u64 = "MAX_INFLIGHT_BODY_BYTES", "Bytes of all bodies held at once; 512 MiB.";
    form_max_body_bytes: u64 = "FORM_MAX_BODY_BYTES", "Largest form with files; 256 MiB.";
    max_spool_bytes: u64 = "MAX_SPOOL_BYTES", "Bytes of all uploads in temporary files at once; 4 GiB.";
    max_header_bytes: u64 = "MAX_HEADER_BYTES", "Largest head of a request; 64 KiB.";
    header_timeout_ms: u64 = "HEADER_TIMEOUT_MS", "Time for the head of a request, and of idle connections; 30000.";
    body_timeout_ms: u64 = "BODY_TIMEOUT_MS", "Time for the body of a request; 60000.";
    write_timeout_ms: u64 = "WRITE_TIMEOUT_MS", "A client that takes nothing of its answer for so long is dropped; 60000.";
    max_connections: u32 = "MAX_CONNECTIONS", "Connections at once; 2048.";
    shutdown_timeout_ms: u64 = "SHUTDOWN_TIMEOUT_MS", "Time that a shutdown waits for what was taken; 30000.";
    flow_slots: u32 = "FLOW_SLOTS", "Runs of flows at once in this process, 0 where workers do them all; four times the cores.";
    flow_timeout_ms: u64 = "FLOW_TIMEOUT_MS", "How long a request waits for the answer of a flow; 30000.";
    flow_sync_queue: u32 = "FLOW_SYNC_QUEUE", "Runs that may wait for a slot while a request waits for them; 1024.";
    flow_async_queue: u32 = "FLOW_ASYNC_QUEUE", "Runs that may wait for a slot while nobody does; 100000.";
    flow_lease_ms: u64 = "FLOW_LEASE_MS", "A worker that is silent for so long loses its runs; 10000.";
    flow_max_deaths: u32 = "FLOW_MAX_DEATHS", "Workers that may die of a run before it is not tried again; 2.";
    flow_retention_hours: u32 = "FLOW_RETENTION_HOURS", "How long runs that have ended are kept; 168.";
    flow_allowed_hosts: Vec<String> = "FLOW_ALLOWED_HOSTS", "Hosts that flows may reach, such as `*.example.com`; none.";
    flow_allow_private_addresses: bool = "FLOW_ALLOW_PRIVATE_ADDRESSES", "Those hosts may have loopback and private addresses, too; false.";
    blobs_max_bytes: u64 = "BLOBS_MAX_BYTES", "Bytes of all archives of pieces; 256 MiB.";
    results_max_bytes: u64 = "RESULTS_MAX_BYTES", "Bytes of all results that are stored for links, 0 for none; 10 GiB.";
    results_ttl_seconds: u64 = "RESULTS_TTL_SECONDS", "How long a stored result is kept where the request does not say; 86400.";
    results_max_ttl_seconds: u64 = "RESULTS_MAX_TTL_SECONDS", "How long a request may have a result kept; 604800.";
    results_sweep_seconds: u64 = "RESULTS_SWEEP_SECONDS", "Time between sweeps that take results away whose time is over; 60.";
    results_cache_bytes: u64 = "RESULTS_CACHE_BYTES", "Bytes of stored results kept in memory; 64 MiB.";
    public_url: String = "PUBLIC_URL", "Where clients reach the service: links to results begin so; with a slash where absent.";
    smtp_url: String = "SMTP_URL", "Mail server of flows, such as smtps://user:password@mail.example.com; none.";
    smtp_ca_file: PathBuf = "SMTP_CA_FILE", "PEM file of the authorities, the only ones, that the mail server's certificate may come from; the public ones where absent.";
    smtp_from: String = "SMTP_FROM", "Sender of the mail of flows, such as Platen <platen@example.com>.";
    flow_secrets_file: PathBuf = "FLOW_SECRETS_FILE", "TOML file of secrets, NAME = \"value\"; flows name those that they use.";
    webhook_secret: String = "WEBHOOK_SECRET", "Key of the HMAC-SHA256 signature of results that are sent; none where absent.";
    worker_token: String = "WORKER_TOKEN", "Token that workers connect with; none connect where absent.";
    cors_allowed_origins: Vec<String> = "CORS_ALLOWED_ORIGINS", "Origins that browsers may call from; `*` for all.";
    template_cache_max_items: u32 = "TEMPLATE_CACHE_MAX_ITEMS", "Compiled templates kept; 512.";
    template_cache_max_bytes: u64 = "TEMPLATE_CACHE_MAX_BYTES", "Bytes of the sources of compiled templates kept; 64 MiB.";
    log_format: LogFormat = "LOG_FORMAT", "json or text.";
    log_level: LogLevel = "LOG_LEVEL", "error, warn, info or debug; info.";
    fonts_dirs: Vec<PathBuf> = "PLATEN_FONTS_DIR", "Folders whose fonts win over the system's.";
    system_fonts: bool = "PLATEN_SYSTEM_FONTS", "Uses the system's fonts, too; true.";
    assets_dir: PathBuf = "PLATEN_ASSETS_DIR", "Folder of assets that templates name.";
    bench_results_dir: PathBuf = "BENCH_RESULTS_DIR", "Folder of benchmark results that /bench shows; none where absent.";
    render_isolation: RenderIsolation = "RENDER_ISOLATION", "Where documents are made: inline, in the service; jail, in a sandbox each; auto, in a sandbox where the request brings the template; auto.";
    render_memory_bytes: u64 = "RENDER_MEMORY_BYTES", "Memory of one rendering, in a sandbox or in the service; 1 GiB.";
    render_cpu_ms: u32 = "RENDER_CPU_MS", "Processor time of one rendering in a sandbox; 60000.";
    render_max_output_bytes: u64 = "RENDER_MAX_OUTPUT_BYTES", "Largest document made in a sandbox; 512 MiB.";
    sandbox_level: SandboxLevel = "SANDBOX_LEVEL", "Sandbox level below which code, and rendering in sandboxes, is refused: process-only, no-namespaces or full; no-namespaces.";
    libreoffice_path: PathBuf = "LIBREOFFICE_PATH", "LibreOffice's program; the first that is installed.";
    libreoffice_warm: bool = "LIBREOFFICE_WARM", "Starts LibreOffice with the service, not with the first document; false.";
    office_slots: u32 = "OFFICE_SLOTS", "Conversions at once, a LibreOffice each; cores.";
    office_timeout_ms: u64 = "OFFICE_TIMEOUT_MS", "Deadline of a conversion with its wait; 120000.";
    office_max_body_bytes: u64 = "OFFICE_MAX_BODY_BYTES", "Largest document to convert; 256 MiB.";
    child_isolation: ChildIsolation = "CHILD_ISOLATION", "auto, required or off: LibreOffice and Chromium behind walls; auto.";
    chromium_path: PathBuf = "CHROMIUM_PATH", "Chromium's program; the first that is installed.";
    chromium_warm: bool = "CHROMIUM_WARM", "Starts Chromium with the service, not with the first page of HTML; false.";
    chromium_spare_pages: u32 = "CHROMIUM_SPARE_PAGES", "Pages that Chromium has ready ahead of need; 2.";
    chromium_allowed_hosts: Vec<String> = "CHROMIUM_ALLOWED_HOSTS", "Hosts that pages of HTML may load from, such as `*.example.com`; none.";
    webhook_allowed_hosts: Vec<String> = "WEBHOOK_ALLOWED_HOSTS", "Hosts that results may be sent to, such as `*.example.com`; none.";
    webhook_allow_private_addresses: bool = "WEBHOOK_ALLOW_PRIVATE_ADDRESSES", "Those hosts may have loopback and private addresses, too; false.";
    webhook_max_queue: u32 = "WEBHOOK_MAX_QUEUE", "Results for webhooks under way at once; 16.";
    webhook_max_retries: u32 = "WEBHOOK_MAX_RETRIES", "Tries to send a result after the first; 4.";
    webhook_retry_wait_ms: u64 = "WEBHOOK_RETRY_WAIT_MS", "Wait before the second try, doubled each time up to 30 s; 1000.";
    webhook_timeout_ms: u64 = "WEBHOOK_TIMEOUT_MS", "Time of one try; 30000.";
    chromium_allow_private_addresses: bool = "CHROMIUM_ALLOW_PRIVATE_ADDRESSES", "Allowed hosts may have loopback and private addresses, too; false.";
}

fn variable<T: FromVariable>(
    environment: &impl Fn(&str) -> Option<String>,
    name: &str,
) -> Result<Option<T>, ConfigError> {
    // An empty variable is how compose files and shells say "not set".
    let Some(text) = environment(name).filter(|text| !text.trim().is_empty()) else {
        return Ok(None);
    };
    T::from_variable(&text)
        .map(Some)
        .map_err(|expected| ConfigError {
            message: format!("the variable {name} does not hold {expected}"),
            hint: None,
        })
}

impl Settings {
    pub(super) fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let table: toml::Table = toml::from_str(text).map_err(|error| ConfigError {
            message: format!("the configuration file is not TOML: {error}"),
            hint: None,
        })?;
        for name in table.keys() {
            if !SETTINGS.iter().any(|setting| setting.name == name) {
                return Err(unknown(name));
            }
        }
        toml::from_str(text).map_err(|error| ConfigError {
            message: format!("the configuration file: {error}"),
            hint: None,
        })
    }
}

fn unknown(name: &str) -> ConfigError {
    let near = SETTINGS
        .iter()
        .map(|setting| {
            (
                strsim::damerau_levenshtein(setting.name, name),
                setting.name,
            )
        })
        .min();
    let message = format!("the configuration file has an unknown setting `{name}`");
    match near {
        Some((distance, near)) if distance <= 4 => {
            ConfigError::new(message, format!("did you mean `{near}`?"))
        }
        _ => ConfigError::new(message, "`platen serve --print-config` shows all settings"),
    }
}
