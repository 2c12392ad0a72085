//! Every setting, once: its name in `platen.toml`, its variable, its type, its default and what it
//! decides. `docs/reference/settings.md` is made from it.

use std::path::PathBuf;

use serde::Deserialize;

use super::{
    ConfigError,
    value::{ChildIsolation, FromVariable, LogFormat, LogLevel, RenderIsolation, SandboxLevel},
};

/// A setting, for those who set it.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// What it belongs to.
    pub group: &'static str,
    /// In `platen.toml`.
    pub name: &'static str,
    /// In the environment.
    pub variable: &'static str,
    /// The values that it takes.
    pub values: &'static str,
    /// What holds where nothing is said; `none` for nothing.
    pub default: &'static str,
    /// What it decides, in Markdown.
    pub about: &'static str,
}

impl Setting {
    /// What its number counts, for a number that has a unit.
    #[must_use]
    pub fn unit(&self) -> Option<&'static str> {
        let (_, last) = self.name.rsplit_once('_')?;
        match last {
            "bytes" => Some("bytes"),
            "ms" => Some("milliseconds"),
            "seconds" => Some("seconds"),
            "hours" => Some("hours"),
            _ => None,
        }
    }
}

macro_rules! settings {
    ($($group:literal {
        $($name:ident: $kind:ty = $variable:literal, $default:literal, $about:literal;)+
    })+) => {
        /// Settings of one origin; what it leaves open is `None`.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Settings {
            $($(
                #[doc = $about]
                #[serde(default)]
                pub $name: Option<$kind>,
            )+)+
        }

        /// All settings.
        pub const SETTINGS: &[Setting] = &[
            $($(Setting {
                group: $group,
                name: stringify!($name),
                variable: $variable,
                values: <$kind as FromVariable>::VALUES,
                default: $default,
                about: $about,
            },)+)+
        ];

        impl Settings {
            /// These, with those of `other` where these leave something open.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                Self { $($($name: self.$name.or(other.$name),)+)+ }
            }

            pub(super) fn from_environment(
                environment: impl Fn(&str) -> Option<String>,
            ) -> Result<Self, ConfigError> {
                Ok(Self { $($($name: variable(&environment, $variable)?,)+)+ })
            }
        }
    };
}

settings! {
    "Addresses and processes" {
        bind: String = "PLATEN_BIND", "127.0.0.1:3000", "Addresses to listen on, with commas: `HOST:PORT`, `tls://HOST:PORT?cert=FILE&key=FILE`, `unix://PATH`, `systemd://`.";
        host: String = "HOST", "127.0.0.1", "Address to listen on where `bind` is not given.";
        port: u16 = "PORT", "3000", "Port to listen on where `bind` is not given.";
        threads: u32 = "PLATEN_THREADS", "cores", "Threads that serve connections, in each process.";
        workers: u32 = "PLATEN_WORKERS", "0", "Processes that serve together under a supervisor and divide the cores and slots among them; 0 for one process without a supervisor.";
        worker_timeout_ms: u64 = "PLATEN_WORKER_TIMEOUT_MS", "60000", "A process that is silent towards the supervisor for so long is killed and started again.";
        data_dir: PathBuf = "PLATEN_DATA_DIR", "platen-data", "Folder of the database, of results and of archives of pieces.";
        shutdown_timeout_ms: u64 = "SHUTDOWN_TIMEOUT_MS", "30000", "Time that a shutdown waits for requests and runs that were accepted.";
        log_format: LogFormat = "LOG_FORMAT", "text", "Form of the log on standard error: lines for people, or a JSON object a line.";
        log_level: LogLevel = "LOG_LEVEL", "info", "What is logged: this level and those above it. Requests are `info`, health checks `debug`.";
    }
    "Access" {
        api_key_admin: Vec<String> = "API_KEY_ADMIN", "none", "Keys that may do everything; at least 8 characters each. Without any key the service listens on this machine only.";
        api_key_render: Vec<String> = "API_KEY_RENDER", "none", "Keys that may render and read templates.";
        metrics_token: String = "METRICS_TOKEN", "none", "Bearer token of `/metrics`, which is open to all without it.";
        rate_limit_max: u32 = "RATE_LIMIT_MAX", "60000", "Requests a minute and client, counted by each process; 0 for no limit.";
        rate_limit_render_max: u32 = "RATE_LIMIT_RENDER_MAX", "60000", "Renderings a minute and client, each item of a batch counted; 0 for no limit.";
        cors_allowed_origins: Vec<String> = "CORS_ALLOWED_ORIGINS", "none", "Origins that browsers may call from; `*` for all.";
        worker_token: String = "WORKER_TOKEN", "none", "Token that `platen worker` connects with; no worker can connect without it.";
    }
    "Connections and bodies" {
        max_connections: u32 = "MAX_CONNECTIONS", "2048", "Connections at once; at the limit one that only waits for a request is closed, from the address that has the most.";
        max_header_bytes: u64 = "MAX_HEADER_BYTES", "64 KiB", "Largest head of a request; at least 8 KiB.";
        header_timeout_ms: u64 = "HEADER_TIMEOUT_MS", "30000", "Time to send the head of a request. A connection that is idle for longer is closed.";
        body_timeout_ms: u64 = "BODY_TIMEOUT_MS", "60000", "Time to send the body of a request.";
        write_timeout_ms: u64 = "WRITE_TIMEOUT_MS", "60000", "A client that takes nothing of its answer for so long is dropped.";
        max_body_bytes: u64 = "MAX_BODY_BYTES", "32 MiB", "Largest request body without files.";
        max_inflight_body_bytes: u64 = "MAX_INFLIGHT_BODY_BYTES", "512 MiB", "Bytes of all bodies in memory at once; more get 503.";
        form_max_body_bytes: u64 = "FORM_MAX_BODY_BYTES", "256 MiB", "Largest form with files; what is long of it is in temporary files.";
        max_spool_bytes: u64 = "MAX_SPOOL_BYTES", "4 GiB", "Bytes of all uploads in temporary files at once; more get 503.";
    }
    "Rendering" {
        max_concurrent_pages: u32 = "MAX_CONCURRENT_PAGES", "cores + 1", "Renderings at once, those in reserved slots included.";
        render_preview_reserved_slots: u32 = "RENDER_PREVIEW_RESERVED_SLOTS", "1", "Slots that only previews may use.";
        render_max_queue_depth: u32 = "RENDER_MAX_QUEUE_DEPTH", "256", "Renderings that may wait for a slot; more get 503.";
        render_timeout_ms: u64 = "RENDER_TIMEOUT_MS", "65000", "Deadline of a rendering, the wait for a slot included.";
        render_isolation: RenderIsolation = "RENDER_ISOLATION", "auto", "Where templates are read and documents are made. `auto`: those that a request brings, to render or to check, in a sandbox each where the system allows sandboxes; stored ones in the service. `jail`: all in a sandbox each, or the service does not start. `inline`: all in the service. Code runs in a sandbox of its own whatever this says.";
        render_memory_bytes: u64 = "RENDER_MEMORY_BYTES", "1 GiB", "Memory of one rendering, in a sandbox or in the service.";
        render_cpu_ms: u32 = "RENDER_CPU_MS", "60000", "Processor time of one rendering in a sandbox.";
        render_max_output_bytes: u64 = "RENDER_MAX_OUTPUT_BYTES", "512 MiB", "Largest document made in a sandbox.";
        batch_concurrency: u32 = "BATCH_CONCURRENCY", "5", "Items of one batch rendered at once.";
        batch_max_items: u32 = "BATCH_MAX_ITEMS", "1000", "Items of one batch.";
        batch_max_bytes: u64 = "BATCH_MAX_BYTES", "256 MiB", "Bytes of all documents of one JSON or ZIP batch.";
        template_cache_max_items: u32 = "TEMPLATE_CACHE_MAX_ITEMS", "512", "Compiled templates kept in memory.";
        template_cache_max_bytes: u64 = "TEMPLATE_CACHE_MAX_BYTES", "64 MiB", "Bytes of the sources of the compiled templates kept in memory.";
        fonts_dirs: Vec<PathBuf> = "PLATEN_FONTS_DIR", "none", "Folders whose fonts win over the system's.";
        system_fonts: bool = "PLATEN_SYSTEM_FONTS", "true", "Whether the system's fonts are used, too.";
        assets_dir: PathBuf = "PLATEN_ASSETS_DIR", "none", "Folder of the assets that templates name.";
    }
    "Sandboxes" {
        sandbox_level: SandboxLevel = "SANDBOX_LEVEL", "no-namespaces", "Level of sandbox below which code, and rendering in sandboxes, is refused.";
        child_isolation: ChildIsolation = "CHILD_ISOLATION", "auto", "How LibreOffice and Chromium are shut in. `auto`: as well as the system allows. `required`: wholly, or the service does not start. `landlock`: without namespaces, as in most containers. `off`: as any other program.";
    }
    "LibreOffice" {
        libreoffice_path: PathBuf = "LIBREOFFICE_PATH", "none", "LibreOffice's program; without it, the first that is installed.";
        libreoffice_warm: bool = "LIBREOFFICE_WARM", "false", "Whether LibreOffice starts with the service, which is ready only then, and not with the first document.";
        office_slots: u32 = "OFFICE_SLOTS", "cores", "Conversions at once, a LibreOffice each.";
        office_timeout_ms: u64 = "OFFICE_TIMEOUT_MS", "120000", "Deadline of a conversion, the wait for a slot included.";
        office_max_body_bytes: u64 = "OFFICE_MAX_BODY_BYTES", "256 MiB", "Largest document to convert.";
    }
    "Chromium" {
        chromium_path: PathBuf = "CHROMIUM_PATH", "none", "Chromium's program; without it, the first that is installed.";
        chromium_warm: bool = "CHROMIUM_WARM", "false", "Whether Chromium starts with the service, which is ready only then, and not with the first page of HTML.";
        chromium_spare_pages: u32 = "CHROMIUM_SPARE_PAGES", "2", "Pages that Chromium has ready ahead of need.";
        chromium_allowed_hosts: Vec<String> = "CHROMIUM_ALLOWED_HOSTS", "none", "Hosts that pages of HTML may load from, such as `*.example.com`.";
        chromium_allow_private_addresses: bool = "CHROMIUM_ALLOW_PRIVATE_ADDRESSES", "false", "Whether those hosts may have loopback and private addresses.";
    }
    "Flows" {
        flow_slots: u32 = "FLOW_SLOTS", "4 x cores", "Runs of flows at once in this process; 0 where workers do them all.";
        flow_timeout_ms: u64 = "FLOW_TIMEOUT_MS", "30000", "How long a request waits for the answer of a flow.";
        flow_sync_queue: u32 = "FLOW_SYNC_QUEUE", "1024", "Runs that may wait for a slot while a request waits for them.";
        flow_async_queue: u32 = "FLOW_ASYNC_QUEUE", "100000", "Runs that may wait for a slot while nobody waits for them.";
        flow_lease_ms: u64 = "FLOW_LEASE_MS", "10000", "A worker that is silent for so long loses its runs to others.";
        flow_max_deaths: u32 = "FLOW_MAX_DEATHS", "2", "Workers that may die of a run before it is not tried again.";
        flow_retention_hours: u32 = "FLOW_RETENTION_HOURS", "168", "How long runs that have ended are kept.";
        flow_allowed_hosts: Vec<String> = "FLOW_ALLOWED_HOSTS", "none", "Hosts that flows may reach, such as `*.example.com`.";
        flow_allow_private_addresses: bool = "FLOW_ALLOW_PRIVATE_ADDRESSES", "false", "Whether those hosts may have loopback and private addresses.";
        flow_secrets_file: PathBuf = "FLOW_SECRETS_FILE", "none", "TOML file of secrets, `NAME = \"value\"`; flows name those that they use.";
        blobs_max_bytes: u64 = "BLOBS_MAX_BYTES", "256 MiB", "Bytes of all archives of pieces.";
        smtp_url: String = "SMTP_URL", "none", "Mail server of flows, such as `smtps://user:password@mail.example.com`.";
        smtp_ca_file: PathBuf = "SMTP_CA_FILE", "none", "PEM file of the only authorities that the mail server's certificate may come from; without it, the public ones.";
        smtp_from: String = "SMTP_FROM", "none", "Sender of the mail of flows, such as `Platen <platen@example.com>`.";
    }
    "Stored results" {
        results_max_bytes: u64 = "RESULTS_MAX_BYTES", "10 GiB", "Bytes of all results that are stored for links; 0 stores none.";
        results_ttl_seconds: u64 = "RESULTS_TTL_SECONDS", "86400", "How long a stored result is kept where the request does not say.";
        results_max_ttl_seconds: u64 = "RESULTS_MAX_TTL_SECONDS", "604800", "How long a request may have a result kept.";
        results_sweep_seconds: u64 = "RESULTS_SWEEP_SECONDS", "60", "Time between sweeps that remove results whose time is over.";
        results_cache_bytes: u64 = "RESULTS_CACHE_BYTES", "64 MiB", "Bytes of stored results kept in memory.";
        public_url: String = "PUBLIC_URL", "none", "Where clients reach the service: links to results begin so. Without it they begin with a slash.";
    }
    "Results sent to webhooks" {
        webhook_allowed_hosts: Vec<String> = "WEBHOOK_ALLOWED_HOSTS", "none", "Hosts that results may be sent to, such as `*.example.com`.";
        webhook_allow_private_addresses: bool = "WEBHOOK_ALLOW_PRIVATE_ADDRESSES", "false", "Whether those hosts may have loopback and private addresses.";
        webhook_secret: String = "WEBHOOK_SECRET", "none", "Key of the HMAC-SHA256 signature of results that are sent; without it they are not signed.";
        webhook_max_queue: u32 = "WEBHOOK_MAX_QUEUE", "16", "Results for webhooks under way at once.";
        webhook_max_retries: u32 = "WEBHOOK_MAX_RETRIES", "4", "Tries to send a result after the first.";
        webhook_retry_wait_ms: u64 = "WEBHOOK_RETRY_WAIT_MS", "1000", "Wait before the second try, doubled each time up to 30 s.";
        webhook_timeout_ms: u64 = "WEBHOOK_TIMEOUT_MS", "30000", "Time of one try.";
    }
    "Benchmarks" {
        bench_results_dir: PathBuf = "BENCH_RESULTS_DIR", "none", "Folder of benchmark results that `/bench` shows.";
    }
}

fn variable<T: FromVariable>(
    environment: &impl Fn(&str) -> Option<String>,
    name: &str,
) -> Result<Option<T>, ConfigError> {
    // An empty variable is how compose files and shells say "not set".
    let Some(text) = environment(name).filter(|text| !text.trim().is_empty()) else {
        return Ok(None);
    };
    match T::from_variable(&text) {
        Some(value) => Ok(Some(value)),
        None => Err(ConfigError {
            message: format!("the variable {name} does not hold {}", T::VALUES),
            hint: None,
        }),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// The value that a default says, as `platen.toml` would hold it.
    fn value_of(default: &str, cores: i64) -> toml::Value {
        let size = |(count, unit): (&str, &str)| {
            let shift = match unit {
                "KiB" => 10,
                "MiB" => 20,
                "GiB" => 30,
                _ => return None,
            };
            Some(count.parse::<i64>().ok()? << shift)
        };
        let number = match default {
            "cores" => Some(cores),
            "cores + 1" => Some(cores + 1),
            "4 x cores" => Some(4 * cores),
            _ => default.split_once(' ').and_then(size),
        };
        let number = number.or_else(|| default.parse().ok());
        let truth = || default.parse().ok().map(toml::Value::Boolean);
        number
            .map(toml::Value::Integer)
            .or_else(truth)
            .unwrap_or_else(|| toml::Value::String(default.to_owned()))
    }

    #[test]
    fn defaults_are_as_they_are_said() {
        let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get() as i64);
        let config = Config::resolve(Settings::default()).unwrap();
        let decided: toml::Table = toml::from_str(&config.to_toml()).unwrap();
        for setting in SETTINGS {
            let said = value_of(setting.default, cores);
            let found = match (decided.get(setting.name), setting.name) {
                // Both stand in `bind` once they are read.
                (None, "host" | "port") => {
                    let bind = decided["bind"].as_str().unwrap();
                    assert!(
                        bind.split(':').any(|part| part == setting.default),
                        "{bind}"
                    );
                    continue;
                }
                (None, _) => toml::Value::from("none"),
                (Some(toml::Value::Array(list)), _) if list.is_empty() => toml::Value::from("none"),
                (Some(value), _) => value.clone(),
            };
            assert_eq!(found, said, "{}", setting.name);
        }
    }

    #[test]
    fn every_setting_is_explained_once() {
        for (index, setting) in SETTINGS.iter().enumerate() {
            let again = SETTINGS[index + 1..]
                .iter()
                .find(|other| other.name == setting.name || other.variable == setting.variable);
            assert!(again.is_none(), "{again:?}");
            assert!(setting.about.ends_with('.'), "{setting:?}");
            let has_unit = setting.unit().is_some();
            assert!(
                !has_unit || setting.values == "a whole number",
                "{setting:?}"
            );
        }
    }
}
