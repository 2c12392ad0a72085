//! A weak value of each setting, and a configuration without any.

use std::{fs, os::unix::fs::PermissionsExt};

use super::*;
use crate::config::{SETTINGS, Settings};

const ADMIN: &str = "9f86d081884c7d659a2feaa0c55ad015";
const RENDER: &str = "60303ae22b998861bce3b28f33eec1be";
const METRICS: &str = "fd61a03af4f77d870fc21e05e7e80678";
const WEBHOOK: &str = "c3e97dd6e97fb5125688c97f36720cbe";

/// A folder as the service makes it, with a key.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let key = folder.path().join("key.pem");
    fs::write(&key, "key").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    folder
}

fn strong(folder: &tempfile::TempDir) -> Settings {
    Settings {
        api_key_admin: Some(vec![ADMIN.to_owned()]),
        api_key_render: Some(vec![RENDER.to_owned()]),
        metrics_token: Some(METRICS.to_owned()),
        child_isolation: Some(ChildIsolation::Required),
        render_isolation: Some(RenderIsolation::Jail),
        data_dir: Some(folder.path().to_owned()),
        ..Settings::default()
    }
}

/// What is weak, apart from the user who runs the tests.
fn weaknesses(settings: Settings) -> Vec<Weakness> {
    let mut found = Config::resolve(settings).unwrap().weaknesses();
    found.retain(|weakness| weakness.subject != "user");
    found
}

fn list(entries: &[&str]) -> Option<Vec<String>> {
    Some(entries.iter().map(|&entry| entry.to_owned()).collect())
}

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

/// Changes one setting of a strong configuration.
type Change = Box<dyn Fn(&mut Settings)>;

/// A weakness: the setting, a part of the advice, and the change that causes it.
type Row = (&'static str, &'static str, Change);

fn row(subject: &'static str, part: &'static str, change: impl Fn(&mut Settings) + 'static) -> Row {
    (subject, part, Box::new(change))
}

fn weak() -> Vec<Row> {
    let mut rows = weak_secrets();
    rows.extend(weak_surroundings());
    rows.extend(weak_connections());
    rows
}

fn weak_secrets() -> Vec<Row> {
    let short = || list(&["0f3a9b2c7d1e5f60"]);
    vec![
        row("API_KEY_ADMIN", "no admin key", |it| {
            it.api_key_admin = None
        }),
        row("API_KEY_ADMIN", "shorter than 24", move |it| {
            it.api_key_admin = short();
        }),
        row("API_KEY_ADMIN", "as examples do", |it| {
            it.api_key_admin = list(&["change-me-please-change-me"]);
        }),
        row("API_KEY_ADMIN", "different characters", |it| {
            it.api_key_admin = list(&["xyxyxyxyxyxyxyxyxyxyxyxyxyxy"]);
        }),
        row("API_KEY_RENDER", "shorter than 24", move |it| {
            it.api_key_render = short();
        }),
        row("API_KEY_RENDER", "the same as API_KEY_ADMIN", |it| {
            it.api_key_render = list(&[ADMIN]);
        }),
        row("METRICS_TOKEN", "open to everyone", |it| {
            it.metrics_token = None
        }),
        row("METRICS_TOKEN", "the same as API_KEY_RENDER", |it| {
            it.metrics_token = text(RENDER);
        }),
        row("WORKER_TOKEN", "shorter than 24", |it| {
            it.worker_token = text("0f3a9b2c")
        }),
        row("WEBHOOK_SECRET", "without a signature", |it| {
            it.webhook_allowed_hosts = list(&["hooks.example.com"]);
        }),
        row("WEBHOOK_SECRET", "shorter than 24", |it| {
            it.webhook_secret = text("0f3a9b2c")
        }),
    ]
}

fn weak_surroundings() -> Vec<Row> {
    vec![
        row("CHILD_ISOLATION", "without a sandbox", |it| {
            it.child_isolation = Some(ChildIsolation::Off);
        }),
        row("CHILD_ISOLATION", "whatever there is", |it| {
            it.child_isolation = None
        }),
        row("RENDER_ISOLATION", "set jail", |it| {
            it.render_isolation = Some(RenderIsolation::Inline);
        }),
        row("RENDER_ISOLATION", "set jail", |it| {
            it.render_isolation = None
        }),
        row("SANDBOX_LEVEL", "without seccomp", |it| {
            it.sandbox_level = Some(SandboxLevel::ProcessOnly);
        }),
        row("PLATEN_BIND", "without TLS", |it| {
            it.bind = text("0.0.0.0:3000")
        }),
        row("PLATEN_BIND", "without TLS", |it| {
            it.bind = text("systemd://")
        }),
        row("TRUSTED_PROXIES", "name only the proxies", |it| {
            it.trusted_proxies = list(&["0.0.0.0/0"]);
        }),
        row("CORS_ALLOWED_ORIGINS", "every site", |it| {
            it.cors_allowed_origins = list(&["*"]);
        }),
        row("CORS_ALLOWED_ORIGINS", "https:// origins", |it| {
            it.cors_allowed_origins = list(&["http://app.example.com"]);
        }),
        row("PUBLIC_URL", "do not use TLS", |it| {
            it.public_url = text("http://documents.example.com");
        }),
        row("RATE_LIMIT_MAX", "without limit", |it| {
            it.rate_limit_max = Some(0)
        }),
        row("RATE_LIMIT_RENDER_MAX", "without limit", |it| {
            it.rate_limit_render_max = Some(0);
        }),
    ]
}

fn weak_connections() -> Vec<Row> {
    vec![
        row("OIDC_ISSUER", "https:// issuer", |it| {
            it.oidc_issuer = text("http://id.example.com");
            it.oidc_client_id = text("platen");
            it.oidc_default_role = text("viewer");
        }),
        row("EDITOR_FRAME_ANCESTORS", "https:// origins", |it| {
            it.editor_frame_ancestors = list(&["http://app.example.com"]);
        }),
        row("DATABASE_URL", "without TLS", |it| {
            it.database_url = text("postgres://u:p@db.example.com/d");
        }),
        row("DATABASE_URL", "not checked", |it| {
            it.database_url = text("postgres://u:p@db.example.com/d?sslmode=require");
        }),
        row("REDIS_URL", "without TLS", |it| {
            it.redis_url = text("redis://:p@redis.example.com");
        }),
        row("SMTP_URL", "without TLS", |it| {
            it.smtp_url = text("smtp://u:p@mail.example.com");
        }),
        row("OTEL_EXPORTER_OTLP_ENDPOINT", "without TLS", |it| {
            it.otel_exporter_otlp_endpoint = text("http://collector.example.com:4318");
            it.otel_exporter_otlp_headers = text("x-key=value");
        }),
        row("FLOW_ALLOWED_HOSTS", "every host", |it| {
            it.flow_allowed_hosts = list(&["*"])
        }),
        row("FLOW_ALLOWED_HOSTS", "internal network", |it| {
            it.flow_allowed_hosts = list(&["*.example.com"]);
            it.flow_allow_private_addresses = Some(true);
        }),
        row("CHROMIUM_ALLOWED_HOSTS", "internal network", |it| {
            it.chromium_allowed_hosts = list(&["*.example.com"]);
            it.chromium_allow_private_addresses = Some(true);
        }),
        row("WEBHOOK_ALLOWED_HOSTS", "internal network", |it| {
            it.webhook_allowed_hosts = list(&["*.example.com"]);
            it.webhook_allow_private_addresses = Some(true);
            it.webhook_secret = text(WEBHOOK);
        }),
        row("SIGNATURE_ALLOWED_HOSTS", "internal network", |it| {
            it.signature_allowed_hosts = list(&["*.example.com"]);
            it.signature_allow_private_addresses = Some(true);
        }),
        row("DOWNLOAD_ALLOWED_HOSTS", "internal network", |it| {
            it.download_allowed_hosts = list(&["*.example.com"]);
            it.download_allow_private_addresses = Some(true);
        }),
    ]
}

#[test]
fn a_strong_configuration_has_no_weakness() {
    let folder = folder();
    assert_eq!(weaknesses(strong(&folder)), []);
    let key = folder.path().join("key.pem");
    let open = Settings {
        bind: Some(format!("tls://0.0.0.0:443?cert=/c&key={}", key.display())),
        worker_token: text(WEBHOOK),
        database_url: text("postgres://u:p@db.example.com/d?sslmode=verify-full"),
        redis_url: text("rediss://:p@redis.example.com"),
        smtp_url: text("smtp://u:p@mail.example.com?tls=required"),
        public_url: text("https://documents.example.com"),
        cors_allowed_origins: list(&["https://app.example.com", "http://localhost:5173"]),
        flow_allowed_hosts: list(&["*.example.com", "internal.example.com"]),
        chromium_allowed_hosts: list(&["internal.example.com"]),
        chromium_allow_private_addresses: Some(true),
        otel_exporter_otlp_endpoint: text("http://127.0.0.1:4318"),
        otel_exporter_otlp_headers: text("x-key=value"),
        child_isolation: Some(ChildIsolation::Landlock),
        ..strong(&folder)
    };
    assert_eq!(weaknesses(open), []);
    let behind_a_proxy = Settings {
        bind: text("0.0.0.0:3000"),
        trusted_proxies: list(&["10.0.0.0/8"]),
        redis_url: text("redis://localhost"),
        smtp_url: text("smtp://localhost"),
        database_url: text("postgres://u:p@localhost/d"),
        ..strong(&folder)
    };
    assert_eq!(weaknesses(behind_a_proxy), []);
}

#[test]
fn keys_may_be_made_while_the_service_runs() {
    let folder = folder();
    let without_render_key = Settings {
        api_key_render: None,
        ..strong(&folder)
    };
    assert_eq!(weaknesses(without_render_key), []);
    let by_provider = Settings {
        api_key_admin: None,
        oidc_issuer: text("https://id.example"),
        oidc_client_id: text("platen"),
        oidc_roles: Some(vec!["staff=admin".to_owned()]),
        ..strong(&folder)
    };
    assert_eq!(weaknesses(by_provider), []);
}

#[test]
fn each_weakness_is_found_alone() {
    let folder = folder();
    for (subject, part, change) in weak() {
        let mut settings = strong(&folder);
        change(&mut settings);
        let found = weaknesses(settings);
        let [only] = found.as_slice() else {
            panic!("{subject} {part}: {found:?}");
        };
        assert_eq!(only.subject, subject, "{found:?}");
        assert!(only.advice.contains(part), "{found:?}");
        assert!(!only.advice.contains('\n'), "{found:?}");
    }
}

#[test]
fn files_that_others_may_read_are_found() {
    let folder = folder();
    let key = folder.path().join("key.pem");
    let secrets = folder.path().join("secrets.toml");
    fs::write(&secrets, "").unwrap();
    let settings = || Settings {
        bind: Some(format!("tls://0.0.0.0:443?cert=/c&key={}", key.display())),
        flow_secrets_file: Some(secrets.clone()),
        ..strong(&folder)
    };
    let open = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    open(&secrets, 0o640);
    assert_eq!(weaknesses(settings()), []);
    for (path, subject, weak, fine) in [
        (&*secrets, "FLOW_SECRETS_FILE", 0o644, 0o600),
        (&*key, "PLATEN_BIND", 0o604, 0o600),
        (folder.path(), "PLATEN_DATA_DIR", 0o755, 0o700),
    ] {
        open(path, weak);
        let found = weaknesses(settings());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].subject, subject);
        assert!(found[0].advice.contains("give it mode"), "{found:?}");
        open(path, fine);
    }
    assert_eq!(weaknesses(settings()), []);
}

#[test]
fn the_guide_has_a_row_for_each() {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let guide = std::path::Path::new(&root).join("../../docs/operations.md");
    let guide = fs::read_to_string(guide).unwrap();
    let rows: Vec<&str> = guide
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    for (subject, ..) in weak() {
        assert!(SETTINGS.iter().any(|setting| setting.variable == subject));
        let is_there = rows
            .iter()
            .any(|row| row.contains(&format!("| `{subject}`")));
        assert!(is_there, "{subject} has no row in docs/operations.md");
    }
}
