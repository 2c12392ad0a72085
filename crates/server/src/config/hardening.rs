//! What `HARDEN_PRODUCTION` refuses: settings that are fine on a developer's machine and weak where
//! strangers connect. `platen doctor` gives the same list as advice.

mod file_access;
mod secret_strength;

use axum::http::Uri;
use platen_delivery::Bind;
use platen_storage::{Redis, Transport};

use self::secret_strength::weakness_of;
use super::{ChildIsolation, Config, RenderIsolation, RenderMode, SandboxLevel};

/// A weak setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakness {
    /// The variable of the setting, or a short name of what is weak.
    pub subject: &'static str,
    /// What is weak, and what to do, in one sentence.
    pub advice: String,
}

impl Config {
    /// Everything that is weak in this configuration, with its files and its process. The secrets
    /// must still be there.
    #[must_use]
    pub fn weaknesses(&self) -> Vec<Weakness> {
        let mut findings = Findings(Vec::new());
        self.find_weaknesses(&mut findings);
        file_access::find(self, &mut findings);
        if file_access::is_root() {
            findings.add(
                "user",
                "the process runs as root: run it as a user of its own",
            );
        }
        findings.0
    }

    fn find_weaknesses(&self, findings: &mut Findings) {
        self.find_in_secrets(findings);
        self.find_in_sandboxes(findings);
        self.find_in_addresses(findings);
        self.find_in_servers(findings);
        self.find_in_allowed_hosts(findings);
        let limits = [
            ("RATE_LIMIT_MAX", self.rate_limit_max),
            ("RATE_LIMIT_RENDER_MAX", self.rate_limit_render_max),
        ];
        for (name, _) in limits.into_iter().filter(|(_, limit)| *limit == 0) {
            findings.add(name, "one client may send without limit: set a number");
        }
    }

    fn find_in_secrets(&self, findings: &mut Findings) {
        // With either, administrators make a key for each application, so that none needs theirs.
        if self.api_key_admin.is_empty() && self.exposure.oidc.issuer.is_none() {
            let advice = "no admin key and no identity provider are set, so nobody can make keys: \
                          set one (openssl rand -hex 24)";
            findings.add("API_KEY_ADMIN", advice);
        }
        if self.metrics_token.is_none() && !self.asks_for_password {
            findings.add("METRICS_TOKEN", "/metrics is open to everyone: set a token");
        }
        if self.webhook_secret.is_none() && !self.webhook.allowed_hosts.is_empty() {
            let advice = "results go to webhooks without a signature: set a secret";
            findings.add("WEBHOOK_SECRET", advice);
        }
        let mut known: Vec<(&'static str, &str)> = Vec::new();
        for (name, secret) in self.own_secrets() {
            if let Some(reason) = weakness_of(secret) {
                let advice = format!("{reason}: generate one with openssl rand -hex 24");
                findings.add(name, advice);
            }
            let same = known.iter().find(|(_, other)| *other == secret);
            if let Some((other, _)) = same {
                let advice = format!("it is the same as {other}: give each a value of its own");
                findings.add(name, advice);
            }
            known.push((name, secret));
        }
    }

    /// The secrets that callers authenticate with, or that sign.
    pub(crate) fn own_secrets(&self) -> Vec<(&'static str, &str)> {
        let mut secrets: Vec<(&'static str, &str)> = Vec::new();
        for key in &self.api_key_admin {
            secrets.push(("API_KEY_ADMIN", key));
        }
        for key in &self.api_key_render {
            secrets.push(("API_KEY_RENDER", key));
        }
        let single = [
            ("METRICS_TOKEN", &self.metrics_token),
            ("WORKER_TOKEN", &self.worker_token),
            ("WEBHOOK_SECRET", &self.webhook_secret),
            ("EDITOR_TOKEN_SECRET", &self.exposure.editor.token_secret),
        ];
        for (name, secret) in single {
            secrets.extend(secret.as_deref().map(|secret| (name, secret)));
        }
        secrets
    }

    fn find_in_sandboxes(&self, findings: &mut Findings) {
        let advice = match self.processes.child_isolation {
            // Containers are what isolates then.
            _ if self.processes.render_mode == RenderMode::Container => None,
            ChildIsolation::Off => Some("LibreOffice and Chromium run without a sandbox"),
            ChildIsolation::Auto => Some("LibreOffice and Chromium run with whatever there is"),
            ChildIsolation::Required | ChildIsolation::Landlock => None,
        };
        if let Some(advice) = advice {
            let advice = format!("{advice}: set required, or landlock in a container");
            findings.add("CHILD_ISOLATION", advice);
        }
        let advice = match self.render_isolation {
            RenderIsolation::Inline => Some("templates of callers render in the service"),
            RenderIsolation::Auto => {
                Some("without sandboxes, callers' templates would render in the service")
            }
            RenderIsolation::Jail => None,
        };
        if let Some(advice) = advice {
            findings.add("RENDER_ISOLATION", format!("{advice}: set jail"));
        }
        if self.sandbox_level == SandboxLevel::ProcessOnly {
            let advice = "code runs without seccomp: set no-namespaces or full";
            findings.add("SANDBOX_LEVEL", advice);
        }
    }

    fn find_in_addresses(&self, findings: &mut Findings) {
        let is_plain =
            |bind: &&Bind| matches!(bind, Bind::Tcp(_) | Bind::Activated(_)) && !bind.is_local();
        let plain = self.bind.iter().find(is_plain);
        if let Some(bind) = plain.filter(|_| self.exposure.trusted.is_empty()) {
            let advice = format!(
                "{bind} takes keys and documents without TLS: use tls://, bind to 127.0.0.1, or \
                 name the proxies in front in TRUSTED_PROXIES"
            );
            findings.add("PLATEN_BIND", advice);
        }
        if self.exposure.trusted.has_wide_network() {
            let advice = "strangers could say who they are: name only the proxies";
            findings.add("TRUSTED_PROXIES", advice);
        }
        let origins = &self.exposure.allowed_origins;
        if origins.iter().any(|origin| origin == "*") {
            let advice = "pages of every site may call the service: name the sites";
            findings.add("CORS_ALLOWED_ORIGINS", advice);
        }
        if origins.iter().any(|origin| is_plain_url(origin)) {
            let advice = "pages that come without TLS may call the service: name https:// origins";
            findings.add("CORS_ALLOWED_ORIGINS", advice);
        }
        let framing = &self.exposure.editor.frame_ancestors;
        if framing.iter().any(|origin| is_plain_url(origin)) {
            let advice = "pages that come without TLS may frame the editor: name https:// origins";
            findings.add("EDITOR_FRAME_ANCESTORS", advice);
        }
        if (self.exposure.oidc.issuer.as_deref()).is_some_and(is_plain_url) {
            let advice = "who signs in is asked for without TLS: use an https:// issuer";
            findings.add("OIDC_ISSUER", advice);
        }
        if self.results.public_url.as_deref().is_some_and(is_plain_url) {
            let advice = "links to results do not use TLS: set an https:// address";
            findings.add("PUBLIC_URL", advice);
        }
    }

    fn find_in_servers(&self, findings: &mut Findings) {
        let database = &self.database;
        let transport = database.url.as_deref();
        let transport = transport.map(|url| Transport::of(url, database.ca_file.as_deref()));
        let advice = match transport {
            Some(Ok(Transport::Plain)) => Some("records may travel without TLS"),
            Some(Ok(Transport::Unverified)) => Some("the server's certificate is not checked"),
            // An address that cannot be understood stops the start by itself.
            Some(Ok(Transport::Local | Transport::Verified) | Err(_)) | None => None,
        };
        if let Some(advice) = advice {
            let advice = format!("{advice}: add sslmode=verify-full to the address");
            findings.add("DATABASE_URL", advice);
        }
        let redis = self.database.redis.url.as_deref();
        let redis = redis.and_then(|url| Redis::new(url, None).ok());
        if redis.is_some_and(|redis| !redis.is_protected()) {
            let advice = "signals and the password travel without TLS: use rediss://";
            findings.add("REDIS_URL", advice);
        }
        let mail = self.mail.url.as_deref();
        if mail.is_some_and(|url| url.starts_with("smtp://") && !requires_tls(url)) {
            let advice = "mail and its password may travel without TLS: use smtps://, or \
                          ?tls=required";
            findings.add("SMTP_URL", advice);
        }
        let collector = self
            .trace
            .endpoint
            .as_deref()
            .filter(|url| is_plain_url(url));
        if collector.is_some() && !self.trace.headers.is_empty() {
            let advice = "OTEL_EXPORTER_OTLP_HEADERS travel without TLS: use https://";
            findings.add("OTEL_EXPORTER_OTLP_ENDPOINT", advice);
        }
    }

    fn find_in_allowed_hosts(&self, findings: &mut Findings) {
        #[rustfmt::skip]
        let lists = [
            ("FLOW_ALLOWED_HOSTS", &self.flow.allowed_hosts, self.flow.allow_private_addresses),
            ("CHROMIUM_ALLOWED_HOSTS", &self.chromium_allowed_hosts, self.chromium_allow_private_addresses),
            ("WEBHOOK_ALLOWED_HOSTS", &self.webhook.allowed_hosts, self.webhook.allow_private_addresses),
            ("DOWNLOAD_ALLOWED_HOSTS", &self.gotenberg.download.allowed_hosts, self.gotenberg.download.allow_private_addresses),
            ("SIGNATURE_ALLOWED_HOSTS", &self.signature.allowed_hosts, self.signature.allow_private_addresses),
        ];
        for (name, hosts, allows_private) in lists {
            if hosts.iter().any(|host| host == "*") {
                findings.add(name, "requests may go to every host: name the hosts");
            } else if allows_private && hosts.iter().any(|host| host.contains('*')) {
                let advice = "private addresses are allowed for hosts that a pattern matches, so \
                              whoever controls a name reaches the internal network: name each host";
                findings.add(name, advice);
            }
        }
        let urls = &self.gotenberg.urls;
        #[rustfmt::skip]
        let lists = [
            ("CHROMIUM_ALLOW_LIST", &urls.chromium_allow_list, self.chromium_allow_private_addresses),
            ("WEBHOOK_ALLOW_LIST", &urls.webhook_allow_list, self.webhook.allow_private_addresses),
            ("WEBHOOK_ERROR_ALLOW_LIST", &urls.webhook_error_allow_list, self.webhook.allow_private_addresses),
            ("API_DOWNLOAD_FROM_ALLOW_LIST", &urls.api_download_from_allow_list, self.gotenberg.download.allow_private_addresses),
        ];
        for (name, _, _) in lists
            .iter()
            .filter(|(_, list, is_private)| *is_private && !list.is_empty())
        {
            let advice = "private addresses are allowed for URLs that an expression matches: name \
                          each host in a list of hosts";
            findings.add(name, advice);
        }
    }
}

/// The weaknesses found so far.
struct Findings(Vec<Weakness>);

impl Findings {
    fn add(&mut self, subject: &'static str, advice: impl Into<String>) {
        self.0.push(Weakness {
            subject,
            advice: advice.into(),
        });
    }
}

/// Whether a URL has no TLS and leads to another machine.
fn is_plain_url(url: &str) -> bool {
    url.starts_with("http://") && !is_local(url)
}

fn requires_tls(url: &str) -> bool {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    is_local(url)
        || query
            .split('&')
            .any(|parameter| parameter == "tls=required")
}

/// Whether the host of a URL is this machine.
fn is_local(url: &str) -> bool {
    let uri = url.parse::<Uri>();
    let host = uri.as_ref().ok().and_then(Uri::host).unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;
