//! Every setting, once: its name in `platen.toml`, its variable, its type, its default and what it
//! decides. `docs/reference/settings.md` is made from it.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{
    ConfigError, secret_file,
    value::{
        ChildIsolation, FromVariable, LogFormat, LogLevel, RenderIsolation, RenderMode,
        SandboxLevel,
    },
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
    /// Whether it is a secret: never shown, and a file may hold it ([`Setting::file_variable`]).
    pub is_secret: bool,
}

impl Setting {
    /// The variable that names a file with the value, for a secret: `METRICS_TOKEN_FILE`.
    #[must_use]
    pub fn file_variable(&self) -> Option<String> {
        self.is_secret
            .then(|| secret_file::variable_of(self.variable))
    }

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

/// Whether a setting has the mark `secret` before its variable.
macro_rules! is_secret {
    () => {
        false
    };
    (secret) => {
        true
    };
}

macro_rules! settings {
    ($($group:literal {
        $($name:ident: $kind:ty = $($secret:ident)? $variable:literal, $default:literal, $about:literal;)+
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
                is_secret: is_secret!($($secret)?),
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
                Ok(Self { $($($name: variable(
                    &environment,
                    $variable,
                    is_secret!($($secret)?),
                )?,)+)+ })
            }
        }
    };
}

settings! {
    "Addresses and processes" {
        bind: String = "PLATEN_BIND", "127.0.0.1:3000", "Listen addresses, comma-separated: `HOST:PORT`, `tls://HOST:PORT?cert=FILE&key=FILE`, `unix://PATH`, `systemd://`.";
        host: String = "HOST", "127.0.0.1", "Listen address if `bind` is not set.";
        port: u16 = "PORT", "3000", "Listen port if `bind` is not set.";
        threads: u32 = "PLATEN_THREADS", "cores", "Threads that serve connections, per process.";
        workers: u32 = "PLATEN_WORKERS", "0", "Worker processes under a supervisor. Defaults per core are divided among them, except that of FLOW_SLOTS. 0 runs one process without a supervisor.";
        worker_timeout_ms: u64 = "PLATEN_WORKER_TIMEOUT_MS", "60000", "The supervisor kills and restarts a process without a heartbeat for this long.";
        trusted_proxies: Vec<String> = "TRUSTED_PROXIES", "none", "Proxies and load balancers in front of the service: addresses (`10.0.0.5`), networks (`10.0.0.0/8`, `fd00::/8`), and `unix` for those that connect through a Unix socket. Only their `Forwarded` and `X-Forwarded-*` headers are believed: the client for rate limits and the log is the last address that is none of them.";
        proxy_protocol: bool = "PROXY_PROTOCOL", "false", "Connections of `TRUSTED_PROXIES` begin with a header of the PROXY protocol, version 2, before TLS; others are refused.";
        data_dir: PathBuf = "PLATEN_DATA_DIR", "platen-data", "Folder of the database (unless `database_url` names another), the stored results and the archives of custom actions.";
        database_url: String = secret "DATABASE_URL", "none", "PostgreSQL database for templates, flows and runs, `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full`; without it they are in SQLite in the data folder. Several services use a database if `S3_BUCKET` is set, too.";
        database_ca_file: PathBuf = "DATABASE_CA_FILE", "none", "PEM file of certificate authorities for the PostgreSQL server, instead of the system's.";
        database_migrate: bool = "DATABASE_MIGRATE", "true", "Migrate the database, PostgreSQL or SQLite, when the service starts. With `false` the service refuses to start on an older schema: run `platen migrate apply` first.";
        redis_url: String = secret "REDIS_URL", "none", "Redis or Valkey server that carries the signals between several services instead of PostgreSQL, `redis://USER:PASSWORD@HOST:PORT`, `rediss://` for TLS. Nothing is stored there, and nothing is lost with it.";
        redis_ca_file: PathBuf = "REDIS_CA_FILE", "none", "PEM file of the only certificate authorities to trust for the Redis server; by default the system's.";
        shutdown_timeout_ms: u64 = "SHUTDOWN_TIMEOUT_MS", "30000", "How long a shutdown waits for requests and runs in progress.";
        log_format: LogFormat = "LOG_FORMAT", "text", "Log format on standard error: lines of text, or one JSON object per line.";
        log_level: LogLevel = "LOG_LEVEL", "info", "Minimum log level. Requests are logged at `info`, health checks at `debug`.";
    }
    "Traces" {
        otel_exporter_otlp_endpoint: String = "OTEL_EXPORTER_OTLP_ENDPOINT", "none", "Collector that gets the spans of requests, runs, steps and documents: OTLP over HTTP with JSON bodies, `http://HOST:4318`. Without it nothing is exported.";
        otel_exporter_otlp_headers: String = secret "OTEL_EXPORTER_OTLP_HEADERS", "none", "Headers of the requests to the collector, `NAME=VALUE,NAME=VALUE`; values may be percent-encoded.";
        otel_service_name: String = "OTEL_SERVICE_NAME", "platen", "Name of this service in traces.";
        otel_resource_attributes: String = "OTEL_RESOURCE_ATTRIBUTES", "none", "Further attributes of this service in traces, `NAME=VALUE,NAME=VALUE`.";
        otel_traces_sampler: String = "OTEL_TRACES_SAMPLER", "parentbased_always_on", "Traces that are recorded: `always_on`, `always_off`, `traceidratio`, or `parentbased_` with `always_on`, `always_off` or `traceidratio`, which follow the caller's decision where there is one.";
        otel_traces_sampler_arg: f64 = "OTEL_TRACES_SAMPLER_ARG", "none", "Share of traces that `traceidratio` records, from 0 to 1; all of them without it.";
    }
    "Access" {
        api_key_admin: Vec<String> = secret "API_KEY_ADMIN", "none", "API keys for all operations; at least 8 characters each. Without any API key the service listens only on loopback addresses and Unix sockets.";
        api_key_render: Vec<String> = secret "API_KEY_RENDER", "none", "API keys with the role `operator` ([roles](roles.md)): makes documents, starts and looks after runs, reads templates and flows.";
        editor_token_secret: String = secret "EDITOR_TOKEN_SECRET", "none", "Secret that [editor tokens](access.md#editor-tokens) are signed with, the same at all services; at least 32 characters. Without it there are none.";
        editor_frame_ancestors: Vec<String> = "EDITOR_FRAME_ANCESTORS", "none", "Origins whose pages may have the editor in a frame, such as `https://app.example.com`.";
        oidc_issuer: String = "OIDC_ISSUER", "none", "Identity provider whose users [sign in to Studio](access.md#sign-in-with-openid-connect): its issuer, as its description names it.";
        oidc_client_id: String = "OIDC_CLIENT_ID", "none", "Client ID of this service at the identity provider.";
        oidc_client_secret: String = secret "OIDC_CLIENT_SECRET", "none", "Client secret of this service at the identity provider; not needed for a public client.";
        oidc_scopes: String = "OIDC_SCOPES", "openid profile email", "Scopes that the identity provider is asked for.";
        oidc_roles_claim: String = "OIDC_ROLES_CLAIM", "groups", "Claim whose values become roles; dots lead into objects, as in `realm_access.roles`.";
        oidc_roles: Vec<String> = "OIDC_ROLES", "none", "Roles by values of the claim, `VALUE=ROLE,VALUE=ROLE`, such as `doc-admins=admin,editors=publisher`.";
        oidc_default_role: String = "OIDC_DEFAULT_ROLE", "none", "Role of every user of the identity provider; without it, users without a mapped value are refused.";
        oidc_allow_private_addresses: bool = "OIDC_ALLOW_PRIVATE_ADDRESSES", "false", "Reach the identity provider at loopback and private addresses, too.";
        metrics_token: String = secret "METRICS_TOKEN", "none", "Bearer token for `/metrics`; without it `/metrics` is open to everyone.";
        rate_limit_max: u32 = "RATE_LIMIT_MAX", "60000", "Requests per minute and client, counted per process; with several services on one database, in all of them together. 0 for no limit.";
        rate_limit_render_max: u32 = "RATE_LIMIT_RENDER_MAX", "60000", "Renderings per minute and client, counted per process; with several services on one database, in all of them together. Each item of a batch counts. 0 for no limit.";
        cors_allowed_origins: Vec<String> = "CORS_ALLOWED_ORIGINS", "none", "Origins that may call the service from a browser (CORS); `*` for all.";
        harden_production: bool = "HARDEN_PRODUCTION", "false", "Refuse to start with weak settings, and list all of them ([which](../operations.md#refuse-weak-settings)). `platen doctor` gives the same list as advice.";
        worker_token: String = secret "WORKER_TOKEN", "none", "Token that `platen worker` authenticates with; without it no worker can connect.";
    }
    "Connections and bodies" {
        max_connections: u32 = "MAX_CONNECTIONS", "2048", "Concurrent connections. At the limit the service closes an idle connection of the address that has the most.";
        max_header_bytes: u64 = "MAX_HEADER_BYTES", "64 KiB", "Largest request head; at least 8 KiB.";
        header_timeout_ms: u64 = "HEADER_TIMEOUT_MS", "30000", "Timeout for the head of a request, and for an idle connection.";
        body_timeout_ms: u64 = "BODY_TIMEOUT_MS", "60000", "Timeout for the body of a request.";
        write_timeout_ms: u64 = "WRITE_TIMEOUT_MS", "60000", "The service closes a connection whose client reads none of the response for this long.";
        max_body_bytes: u64 = "MAX_BODY_BYTES", "32 MiB", "Largest request body without files.";
        max_inflight_body_bytes: u64 = "MAX_INFLIGHT_BODY_BYTES", "512 MiB", "Bytes of all request bodies in memory at once, of the JSON in them once it is read, and of stored assets while they are sent; further requests get 503, and one that alone takes more gets 413.";
        form_max_body_bytes: u64 = "FORM_MAX_BODY_BYTES", "256 MiB", "Largest form with files. Large parts go to temporary files.";
        max_spool_bytes: u64 = "MAX_SPOOL_BYTES", "4 GiB", "Bytes of all uploads in temporary files at once; further uploads get 503.";
        deferred_max_bytes: u64 = "DEFERRED_MAX_BYTES", "4 GiB", "Bytes of all requests on disk that are executed later (`?async=true`, `Gotenberg-Webhook-Url`); further ones get 503, forms 429.";
    }
    "Rendering" {
        max_concurrent_pages: u32 = "MAX_CONCURRENT_PAGES", "cores + 1", "Concurrent renderings, including those in reserved slots.";
        render_preview_reserved_slots: u32 = "RENDER_PREVIEW_RESERVED_SLOTS", "1", "Slots reserved for previews.";
        render_max_queue_depth: u32 = "RENDER_MAX_QUEUE_DEPTH", "256", "Renderings that may wait for a slot; further requests get 503.";
        render_timeout_ms: u64 = "RENDER_TIMEOUT_MS", "65000", "Deadline of a rendering, including the wait for a slot.";
        render_isolation: RenderIsolation = "RENDER_ISOLATION", "auto", "Which templates are parsed and rendered in a sandbox of their own. `auto`: templates inside a request, if the system supports sandboxes; stored templates render in the service. `jail`: all templates; without a sandbox the service does not start. `inline`: none. Code always runs in a sandbox of its own.";
        render_memory_bytes: u64 = "RENDER_MEMORY_BYTES", "1 GiB", "Memory limit of one rendering, in a sandbox or in the service.";
        render_cpu_ms: u32 = "RENDER_CPU_MS", "60000", "CPU time limit of one rendering in a sandbox.";
        render_max_output_bytes: u64 = "RENDER_MAX_OUTPUT_BYTES", "512 MiB", "Largest document of a rendering in a sandbox.";
        batch_concurrency: u32 = "BATCH_CONCURRENCY", "5", "Items of one batch that render concurrently.";
        batch_max_items: u32 = "BATCH_MAX_ITEMS", "1000", "Largest number of items in a batch.";
        batch_max_bytes: u64 = "BATCH_MAX_BYTES", "256 MiB", "Bytes of all documents in a JSON or ZIP batch.";
        template_cache_max_items: u32 = "TEMPLATE_CACHE_MAX_ITEMS", "512", "Compiled templates in the cache.";
        template_cache_max_bytes: u64 = "TEMPLATE_CACHE_MAX_BYTES", "64 MiB", "Source bytes of the compiled templates in the cache.";
        fonts_dirs: Vec<PathBuf> = "PLATEN_FONTS_DIR", "none", "Font folders that take precedence over system fonts.";
        system_fonts: bool = "PLATEN_SYSTEM_FONTS", "true", "Also use the fonts of the system.";
        assets_dir: PathBuf = "PLATEN_ASSETS_DIR", "none", "Asset folder for templates.";
    }
    "Sandboxes" {
        sandbox_level: SandboxLevel = "SANDBOX_LEVEL", "no-namespaces", "Minimum sandbox level; below it the service refuses code and sandboxed rendering.";
        child_isolation: ChildIsolation = "CHILD_ISOLATION", "auto", "Isolation of LibreOffice and Chromium. `auto`: the strongest that the system supports. `required`: full isolation; without it the service does not start. `landlock`: Landlock instead of namespaces, as in most containers. `off`: none.";
    }
    "Processes of LibreOffice and Chromium" {
        render_mode: RenderMode = "RENDER_MODE", "child-process", "Who starts LibreOffice and Chromium. `child-process`: the service. `socket`: a controller (`platen controller`) at `controller_socket`, whose `CHILD_ISOLATION` and paths count; the service itself then starts neither. `container`: the service, each in a container with the image in `container_rootfs`; `CHILD_ISOLATION` does not count then.";
        controller_socket: PathBuf = "CONTROLLER_SOCKET", "/run/platen/controller.sock", "Unix socket of the controller.";
        container_rootfs: PathBuf = "CONTAINER_ROOTFS", "none", "Folder with the unpacked image of containers, which has LibreOffice and Chromium; `libreoffice_path` and `chromium_path` are paths in it.";
        container_runtime: PathBuf = "CONTAINER_RUNTIME", "none", "OCI runtime that starts containers: crun or runc, by name or path; by default the first one found.";
        container_memory_bytes: u64 = "CONTAINER_MEMORY_BYTES", "none", "Memory of one container, where the system allows control groups. Above it the kernel ends processes in it.";
        container_processors: f64 = "CONTAINER_PROCESSORS", "none", "Processors of one container, such as 0.5, where the system allows control groups; a whole number everywhere.";
        process_max_jobs: u32 = "PROCESS_MAX_JOBS", "none", "Documents or pages after which a process is replaced; by default 200 documents and 500 pages. With 1 each has a process of its own, which starts ahead of need (`office_spares`, `chromium_spare_pages`).";
        office_spares: u32 = "OFFICE_SPARES", "1", "Idle LibreOffice processes that are kept ready.";
        office_remote: Vec<String> = "OFFICE_REMOTE", "none", "LibreOffice processes that others run, `host:port`, each started with `--accept=socket,...;urp;`. The service then starts none, and `office_slots` is their number. They have no sandbox of Platen's.";
        chromium_remote: Vec<String> = "CHROMIUM_REMOTE", "none", "Chromium processes that others run, `host:port`, each started with `--remote-debugging-port`. The service then starts none. They have no sandbox and no memory limits of Platen's.";
    }
    "LibreOffice" {
        libreoffice_path: PathBuf = "LIBREOFFICE_PATH", "none", "LibreOffice executable; by default the first one found.";
        libreoffice_warm: bool = "LIBREOFFICE_WARM", "false", "Start LibreOffice with the service instead of with the first document. The service becomes ready once LibreOffice has started.";
        office_slots: u32 = "OFFICE_SLOTS", "cores", "Concurrent conversions, one LibreOffice process each.";
        office_timeout_ms: u64 = "OFFICE_TIMEOUT_MS", "120000", "Deadline of a conversion, including the wait for a slot.";
        office_max_body_bytes: u64 = "OFFICE_MAX_BODY_BYTES", "256 MiB", "Largest document to convert.";
    }
    "Chromium" {
        chromium_path: PathBuf = "CHROMIUM_PATH", "none", "Chromium executable; by default the first one found.";
        chromium_warm: bool = "CHROMIUM_WARM", "false", "Start Chromium with the service instead of with the first HTML page. The service becomes ready once Chromium has started.";
        chromium_spare_pages: u32 = "CHROMIUM_SPARE_PAGES", "2", "Idle pages that Chromium keeps open in advance.";
        chromium_allowed_hosts: Vec<String> = "CHROMIUM_ALLOWED_HOSTS", "none", "Hosts that HTML pages may load from, such as `*.example.com`.";
        chromium_allow_list: Vec<String> = "CHROMIUM_ALLOW_LIST", "none", "Regular expressions of URLs that HTML pages may load, beside the hosts of `CHROMIUM_ALLOWED_HOSTS`, as Gotenberg has them; none contains a comma. `.+` allows every host on the internet.";
        chromium_deny_list: Vec<String> = "CHROMIUM_DENY_LIST", "none", "Regular expressions of URLs that are denied, whatever allows them.";
        chromium_allow_private_addresses: bool = "CHROMIUM_ALLOW_PRIVATE_ADDRESSES", "false", "Allow loopback and private addresses for these hosts and URLs.";
    }
    "Flows" {
        flow_slots: u32 = "FLOW_SLOTS", "4 x cores", "Concurrent flow runs in this process; 0 leaves all runs to workers.";
        flow_timeout_ms: u64 = "FLOW_TIMEOUT_MS", "30000", "How long a request waits for the answer of its flow.";
        flow_sync_queue: u32 = "FLOW_SYNC_QUEUE", "1024", "Queue limit of runs whose caller waits for the answer.";
        flow_async_queue: u32 = "FLOW_ASYNC_QUEUE", "100000", "Queue limit of runs without a waiting caller.";
        flow_lease_ms: u64 = "FLOW_LEASE_MS", "10000", "A worker without a heartbeat for this long loses its runs to other workers.";
        flow_max_deaths: u32 = "FLOW_MAX_DEATHS", "2", "Lost workers after which a run is dead-lettered.";
        flow_retention_hours: u32 = "FLOW_RETENTION_HOURS", "168", "Retention of finished runs.";
        flow_allowed_hosts: Vec<String> = "FLOW_ALLOWED_HOSTS", "none", "Hosts that flows may connect to, such as `*.example.com`; `*` is every host.";
        flow_allow_private_addresses: bool = "FLOW_ALLOW_PRIVATE_ADDRESSES", "false", "Allow loopback and private addresses for these hosts.";
        flow_secrets_file: PathBuf = "FLOW_SECRETS_FILE", "none", "TOML file of secrets, `NAME = \"value\"`; a flow lists the secrets that it uses.";
        blobs_max_bytes: u64 = "BLOBS_MAX_BYTES", "256 MiB", "Bytes of all archives of custom actions.";
        smtp_url: String = secret "SMTP_URL", "none", "Mail server for flows, such as `smtps://user:password@mail.example.com`.";
        smtp_ca_file: PathBuf = "SMTP_CA_FILE", "none", "PEM file of the only certificate authorities to trust for the mail server; by default those that the system trusts.";
        smtp_from: String = "SMTP_FROM", "none", "Sender address of mail from flows, such as `Platen <platen@example.com>`.";
    }
    "S3 bucket" {
        s3_bucket: String = "S3_BUCKET", "none", "Bucket of stored results, custom actions and requests that wait to be executed, which several services can share; without it they are in the data folder. The name must exist.";
        s3_endpoint: String = "S3_ENDPOINT", "none", "Address of its server, such as `https://s3.example.com`; by default Amazon's in the region. `AWS_ENDPOINT_URL_S3` and `AWS_ENDPOINT_URL` are read, too.";
        s3_region: String = "S3_REGION", "us-east-1", "Region of the bucket. `AWS_REGION` and `AWS_DEFAULT_REGION` are read, too.";
        s3_access_key_id: String = secret "S3_ACCESS_KEY_ID", "none", "Identifier of the key for the bucket. Without it and the secret, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` are read.";
        s3_secret_access_key: String = secret "S3_SECRET_ACCESS_KEY", "none", "Secret of the key for the bucket.";
        s3_session_token: String = secret "S3_SESSION_TOKEN", "none", "Token of a temporary key.";
        s3_path_style: bool = "S3_PATH_STYLE", "none", "Whether the bucket's name is in the path of addresses (`https://s3.example.com/BUCKET`) rather than in the host; by default it is if there is an `s3_endpoint`.";
        s3_prefix: String = "S3_PREFIX", "none", "Prefix of all keys, so that others can use the bucket, too.";
        s3_ca_file: PathBuf = "S3_CA_FILE", "none", "PEM file of the only certificate authorities to trust for the server; by default those that the system trusts.";
        s3_timeout_ms: u64 = "S3_TIMEOUT_MS", "30000", "How long an operation may take with its retries, and a second longer for each MiB of content.";
        piece_redirect: bool = "PIECE_REDIRECT", "false", "Workers are sent to an address in the bucket for archives of custom actions, by 307, instead of being sent the archive; they must be able to reach it.";
        s3_cache_bytes: u64 = "S3_CACHE_BYTES", "1 GiB", "Disk space for copies of objects, in unnamed files of `bucket-cache` in the data folder.";
        link_secret: String = secret "LINK_SECRET", "none", "Secret that the key of signed links is made from, the same at all services that share results; at least 32 characters. Without it the key is in the bucket, or in the data folder.";
    }
    "Stored results" {
        results_max_bytes: u64 = "RESULTS_MAX_BYTES", "10 GiB", "Bytes of all stored results; 0 disables storage.";
        results_ttl_seconds: u64 = "RESULTS_TTL_SECONDS", "86400", "Default retention of a stored result.";
        results_max_ttl_seconds: u64 = "RESULTS_MAX_TTL_SECONDS", "604800", "Longest retention that a request may ask for.";
        results_sweep_seconds: u64 = "RESULTS_SWEEP_SECONDS", "60", "Interval between sweeps that remove expired results.";
        results_cache_bytes: u64 = "RESULTS_CACHE_BYTES", "64 MiB", "Bytes of stored results in the memory cache.";
        result_redirect: bool = "RESULT_REDIRECT", "false", "Links to results answer 307 with an address in the bucket, which clients must be able to reach, instead of sending the document. HTML and SVG are always sent.";
        public_url: String = "PUBLIC_URL", "none", "Base URL of the service as clients see it, the prefix of links to results. Without it they begin with the address that a trusted proxy names, or with a slash.";
    }
    "Results sent to webhooks" {
        webhook_allowed_hosts: Vec<String> = "WEBHOOK_ALLOWED_HOSTS", "none", "Hosts that results may be sent to, such as `*.example.com`.";
        webhook_allow_list: Vec<String> = "WEBHOOK_ALLOW_LIST", "none", "Regular expressions of URLs that results may be sent to, beside the hosts of `WEBHOOK_ALLOWED_HOSTS`, as Gotenberg has them; none contains a comma. `.+` allows every host on the internet.";
        webhook_deny_list: Vec<String> = "WEBHOOK_DENY_LIST", "none", "Regular expressions of URLs that are denied, whatever allows them.";
        webhook_error_allow_list: Vec<String> = "WEBHOOK_ERROR_ALLOW_LIST", "none", "Regular expressions of URLs that errors and events may be sent to. Where this or `WEBHOOK_ERROR_DENY_LIST` is set, `WEBHOOK_ALLOW_LIST` and `WEBHOOK_DENY_LIST` are for results only.";
        webhook_error_deny_list: Vec<String> = "WEBHOOK_ERROR_DENY_LIST", "none", "Regular expressions of URLs that errors and events are not sent to.";
        webhook_disable: bool = "WEBHOOK_DISABLE", "false", "Gotenberg's forms ignore the headers of webhooks and answer with their result.";
        webhook_allow_private_addresses: bool = "WEBHOOK_ALLOW_PRIVATE_ADDRESSES", "false", "Allow loopback and private addresses for these hosts and URLs.";
        webhook_secret: String = secret "WEBHOOK_SECRET", "none", "HMAC-SHA256 key that signs webhook deliveries; without it they are not signed.";
        webhook_enable_sync_mode: bool = "WEBHOOK_ENABLE_SYNC_MODE", "false", "Gotenberg's forms with a webhook are answered when their result is delivered, and not when they are accepted.";
        webhook_max_queue: u32 = "WEBHOOK_MAX_QUEUE", "16", "Deferred requests in progress at once, including the delivery of their results; further ones wait on disk.";
        webhook_max_retries: u32 = "WEBHOOK_MAX_RETRIES", "4", "Retries after the first attempt.";
        webhook_retry_wait_ms: u64 = "WEBHOOK_RETRY_WAIT_MS", "1000", "Delay before the first retry, doubled for each further one up to 30 s.";
        webhook_timeout_ms: u64 = "WEBHOOK_TIMEOUT_MS", "30000", "Timeout of one attempt.";
    }
    "Files that forms name" {
        download_allowed_hosts: Vec<String> = "DOWNLOAD_ALLOWED_HOSTS", "none", "Hosts from which Gotenberg's `downloadFrom` may load files, such as `*.example.com`.";
        api_download_from_allow_list: Vec<String> = "API_DOWNLOAD_FROM_ALLOW_LIST", "none", "Regular expressions of URLs that `downloadFrom` may load, beside the hosts of `DOWNLOAD_ALLOWED_HOSTS`, as Gotenberg has them; none contains a comma. `.+` allows every host on the internet.";
        api_download_from_deny_list: Vec<String> = "API_DOWNLOAD_FROM_DENY_LIST", "none", "Regular expressions of URLs that are denied, whatever allows them.";
        api_disable_download_from: bool = "API_DISABLE_DOWNLOAD_FROM", "false", "Forms ignore `downloadFrom`.";
        download_allow_private_addresses: bool = "DOWNLOAD_ALLOW_PRIVATE_ADDRESSES", "false", "Allow loopback and private addresses for these hosts and URLs.";
        download_timeout_ms: u64 = "DOWNLOAD_TIMEOUT_MS", "30000", "Timeout of all files that a form names.";
    }
    "Gotenberg's routes" {
        api_root_path: String = "API_ROOT_PATH", "/", "Path before Gotenberg's routes, such as `/gotenberg/`; they answer without it, too. The other routes of the service have none.";
        api_correlation_id_header: String = "API_CORRELATION_ID_HEADER", "gotenberg-trace", "Name of the header by which clients of Gotenberg's forms know their request: they may set it, and it is in the response and in deliveries.";
        chromium_disable_routes: bool = "CHROMIUM_DISABLE_ROUTES", "false", "Gotenberg's routes below `/forms/chromium` answer 404.";
        chromium_disable_javascript: bool = "CHROMIUM_DISABLE_JAVASCRIPT", "false", "The pages of Gotenberg's routes below `/forms/chromium` run no scripts.";
        libreoffice_disable_routes: bool = "LIBREOFFICE_DISABLE_ROUTES", "false", "Gotenberg's routes below `/forms/libreoffice` answer 404.";
        pdfengines_disable_routes: bool = "PDFENGINES_DISABLE_ROUTES", "false", "Gotenberg's routes below `/forms/pdfengines` and `/forms/pdf` answer 404.";
        prometheus_disable_collect: bool = "PROMETHEUS_DISABLE_COLLECT", "false", "`/prometheus/metrics` answers 404; `/metrics` stays.";
    }
    "Signatures of PDF files" {
        signature_keys_dir: PathBuf = "SIGNATURE_KEYS_DIR", "none", "Folder of the keys that sign: `NAME.pem` with key and certificates, or `NAME.p12` (PKCS #12) with its password in `NAME.password`. Whoever may render may sign with them.";
        signature_trust_file: PathBuf = "SIGNATURE_TRUST_FILE", "none", "PEM file with the authorities that are trusted where signatures are verified.";
        timestamp_url: String = "TIMESTAMP_URL", "none", "Address of the timestamp authority (RFC 3161).";
        signature_allowed_hosts: Vec<String> = "SIGNATURE_ALLOWED_HOSTS", "none", "Hosts of OCSP services and lists of revoked certificates that signatures of level B-LT ask, such as `*.example.com`. That of `TIMESTAMP_URL` may be asked without it.";
        signature_allow_private_addresses: bool = "SIGNATURE_ALLOW_PRIVATE_ADDRESSES", "false", "Allow loopback and private addresses for these hosts and `TIMESTAMP_URL`.";
    }
    "Benchmarks" {
        bench_results_dir: PathBuf = "BENCH_RESULTS_DIR", "none", "Folder of benchmark results that `/bench` shows.";
    }
}

fn variable<T: FromVariable>(
    environment: &impl Fn(&str) -> Option<String>,
    name: &str,
    is_secret: bool,
) -> Result<Option<T>, ConfigError> {
    let text = match is_secret {
        true => secret_file::secret_variable(environment, name)?,
        false => secret_file::set_variable(environment, name),
    };
    let Some(text) = text else {
        return Ok(None);
    };
    match T::from_variable(&text) {
        Some(value) => Ok(Some(value)),
        None => Err(ConfigError {
            message: format!("the variable {name} must be {}", T::VALUES),
            hint: None,
        }),
    }
}

impl Settings {
    pub(super) fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let mut table: toml::Table = toml::from_str(text).map_err(|error| ConfigError {
            message: format!("the configuration file is not TOML: {error}"),
            hint: None,
        })?;
        let has_files = read_files(&mut table)?;
        for name in table.keys() {
            if !SETTINGS.iter().any(|setting| setting.name == name) {
                return Err(unknown(name));
            }
        }
        // From the text, if possible: an error then says the line.
        let settings = match has_files {
            true => table.try_into(),
            false => toml::from_str(text),
        };
        settings.map_err(|error| ConfigError {
            message: format!("the configuration file: {error}"),
            hint: None,
        })
    }
}

/// Replaces `NAME_file` of each secret in `table` by `NAME` with what the file contains; returns
/// whether there was any.
fn read_files(table: &mut toml::Table) -> Result<bool, ConfigError> {
    let mut has_files = false;
    for setting in SETTINGS.iter().filter(|setting| setting.is_secret) {
        let by_file = format!("{}_file", setting.name);
        let Some(path) = table.remove(&by_file) else {
            continue;
        };
        has_files = true;
        if table.contains_key(setting.name) {
            return Err(secret_file::both(setting.name, &by_file));
        }
        let path = path.as_str().ok_or_else(|| ConfigError {
            message: format!("the configuration file: {by_file} must be a path"),
            hint: None,
        })?;
        let text = secret_file::read_secret_file(&by_file, Path::new(path))?;
        let is_list = setting.values == <Vec<String> as FromVariable>::VALUES;
        let value = match Vec::from_variable(&text) {
            Some(list) if is_list => toml::Value::try_from::<Vec<String>>(list),
            _ => Ok(toml::Value::from(text.trim())),
        };
        let value = value.map_err(|error| ConfigError {
            message: format!("the configuration file: {by_file}: {error}"),
            hint: None,
        })?;
        table.insert(setting.name.to_owned(), value);
    }
    Ok(has_files)
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
