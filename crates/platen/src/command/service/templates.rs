//! `platen templates`: templates of a running service, over HTTP.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::{Args, Subcommand};
use platen_fault::Code;
use platen_outbound::TlsRefusal;
use serde_json::Value as Json;
use ureq::{Agent, Body, http::Response};

use super::{TLS_HINT, TrustArguments, advice, read};
use crate::report::{Failure, OutputArguments, print_line, say};

/// Largest answer that is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 << 20;
/// How long a connection may take, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the service may take to begin its answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Arguments of `platen templates`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen templates push invoice.json --note \"new logo\"\n  \
    platen templates pull invoice -o invoice.json\n  \
    platen templates list --url https://platen.example.com --ca-file ca.pem\n  \
    platen templates history invoice\n\n\
    With http:// neither the key nor the templates are encrypted.")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    connection: Connection,
}

/// Where the service is, and who asks.
#[derive(Debug, Args)]
pub struct Connection {
    /// URL of the service, https:// or http://.
    #[arg(
        long,
        global = true,
        env = "PLATEN_URL",
        default_value = "http://127.0.0.1:3000"
    )]
    url: String,
    /// API key.
    #[arg(long, global = true, env = "PLATEN_API_KEY", hide_env_values = true)]
    api_key: Option<String>,
    #[command(flatten)]
    trust: TrustArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Store a template, as a new version if it exists.
    Push {
        /// Template: a JSON file.
        file: PathBuf,
        /// What changed.
        #[arg(long)]
        note: Option<String>,
    },
    /// Fetch a template.
    Pull {
        /// Key of the template.
        key: String,
        /// Output file; by default standard output.
        #[arg(long = "output", short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Version; by default the current one.
        #[arg(long)]
        version: Option<u32>,
    },
    /// List templates.
    List,
    /// List the versions of a template.
    History {
        /// Key of the template.
        key: String,
    },
}

/// The service.
pub struct Service<'a> {
    pub agent: Agent,
    pub url: &'a str,
    key: Option<&'a str>,
}

impl Connection {
    /// A client of the service.
    ///
    /// # Errors
    /// An address that is none; authorities that cannot be read.
    pub fn service(&self) -> Result<Service<'_>, Failure> {
        let url = self.url.trim_end_matches('/');
        if !["http://", "https://"]
            .iter()
            .any(|scheme| url.starts_with(scheme))
        {
            return Err(Failure::caller(
                format!("`{url}` is not an http:// or https:// address"),
                "see --url and PLATEN_URL",
            ));
        }
        // The key goes nowhere but to the service.
        let settings = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(ANSWER_TIMEOUT))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .tls_config(self.trust.trust()?.agent_config());
        Ok(Service {
            agent: settings.build().into(),
            url,
            key: self.api_key.as_deref(),
        })
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let service = arguments.connection.service()?;
    match &arguments.action {
        Action::Push { file, note } => service.push(file, note.as_deref(), output)?,
        Action::Pull {
            key,
            output: file,
            version,
        } => service.pull(key, file.as_deref(), *version)?,
        Action::List => service.list(output)?,
        Action::History { key } => service.history(key, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Service<'_> {
    fn push(
        &self,
        file: &std::path::Path,
        note: Option<&str>,
        output: OutputArguments,
    ) -> Result<(), Failure> {
        let bytes = read(file)?;
        let template: Json = serde_json::from_slice(&bytes).map_err(|error| {
            let message = format!("`{}` is not JSON: {error}", file.display());
            Failure::new(Code::InvalidJson, message)
        })?;
        let key = template["key"].as_str().ok_or_else(|| {
            Failure::caller(
                "the template has no `key`",
                "add one: \"key\": \"my-template\"",
            )
        })?;
        let path = format!("{}/templates/{}", self.url, encoded(key));
        let current = self.authorised(self.agent.head(&path)).call();
        let current = current.map_err(|error| self.unreachable(&error))?;
        let sent = match current.headers().get("etag") {
            Some(version) if current.status() == 200 => {
                let request = self.agent.put(&path).header("if-match", version);
                self.noted(request, note).send(&bytes[..])
            }
            _ => {
                let request = self.agent.post(format!("{}/templates", self.url));
                self.noted(request, note).send(&bytes[..])
            }
        };
        let answer = self.json(sent)?;
        if output.json {
            print_line(&answer.to_string());
        } else if !output.quiet {
            let version = &answer["version"];
            say(format_args!("{key}: version {version} stored"));
        }
        Ok(())
    }

    fn pull(
        &self,
        key: &str,
        file: Option<&std::path::Path>,
        version: Option<u32>,
    ) -> Result<(), Failure> {
        let version = version.map(|version| format!("/versions/{version}"));
        let path = format!("/templates/{}{}", encoded(key), version.unwrap_or_default());
        let sent = self.authorised(self.agent.get(format!("{}{path}", self.url)));
        let bytes = self.bytes(sent.call())?;
        match file {
            None => print_line(String::from_utf8_lossy(&bytes).trim_end()),
            Some(file) => std::fs::write(file, &bytes)
                .map_err(|error| Failure::file("write", &file.display().to_string(), &error))?,
        }
        Ok(())
    }

    fn list(&self, output: OutputArguments) -> Result<(), Failure> {
        let templates = self.pages("/templates", "templates")?;
        if output.json {
            print_line(&Json::from(templates).to_string());
            return Ok(());
        }
        for one in &templates {
            let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
            print_line(&format!(
                "{:<32} {:>5}  {}  {}",
                text("key"),
                one["version"],
                text("updatedAt"),
                text("name")
            ));
        }
        Ok(())
    }

    fn history(&self, key: &str, output: OutputArguments) -> Result<(), Failure> {
        let path = format!("/templates/{}/versions", encoded(key));
        let versions = self.pages(&path, "versions")?;
        if output.json {
            print_line(&Json::from(versions).to_string());
            return Ok(());
        }
        for one in &versions {
            let restored = one["restoredFrom"]
                .as_u64()
                .map_or(String::new(), |version| {
                    format!("(restored from {version}) ")
                });
            print_line(&format!(
                "{:>5}  {}  {:>8} bytes  {restored}{}",
                one["version"],
                one["createdAt"].as_str().unwrap_or_default(),
                one["sizeBytes"],
                one["note"].as_str().unwrap_or_default()
            ));
        }
        Ok(())
    }

    /// All pages of a list.
    fn pages(&self, path: &str, field: &str) -> Result<Vec<Json>, Failure> {
        let mut all = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let request = self
                .agent
                .get(format!("{}{path}", self.url))
                .query("limit", "500");
            let request = match &after {
                Some(after) => request.query("after", after),
                None => request,
            };
            let mut page = self.json(self.authorised(request).call())?;
            if let Some(entries) = page[field].as_array_mut() {
                all.append(entries);
            }
            match page["next"].as_str() {
                Some(next) => after = Some(next.to_owned()),
                None => return Ok(all),
            }
        }
    }

    /// `request` with the key.
    pub fn authorised<B>(&self, request: ureq::RequestBuilder<B>) -> ureq::RequestBuilder<B> {
        match self.key {
            Some(key) => request.header("x-api-key", key),
            None => request,
        }
    }

    fn noted<B>(
        &self,
        request: ureq::RequestBuilder<B>,
        note: Option<&str>,
    ) -> ureq::RequestBuilder<B> {
        let request = self
            .authorised(request)
            .header("content-type", "application/json");
        match note {
            Some(note) => request.header("x-change-note", encoded(note)),
            None => request,
        }
    }

    /// What the service answers.
    ///
    /// # Errors
    /// What it says is wrong; that it does not answer.
    pub fn json(&self, sent: Result<Response<Body>, ureq::Error>) -> Result<Json, Failure> {
        let bytes = self.bytes(sent)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Failure::caller(
                format!("`{}` does not respond like Platen: {error}", self.url),
                "check --url",
            )
        })
    }

    fn bytes(&self, sent: Result<Response<Body>, ureq::Error>) -> Result<Vec<u8>, Failure> {
        let mut answer = sent.map_err(|error| self.unreachable(&error))?;
        let status = answer.status();
        let limited = answer.body_mut().with_config().limit(MAX_ANSWER_BYTES);
        let bytes = limited
            .read_to_vec()
            .map_err(|error| self.unreachable(&error))?;
        if status.is_success() {
            return Ok(bytes);
        }
        let problem: Json = serde_json::from_slice(&bytes).unwrap_or_default();
        let detail = problem["detail"].as_str().unwrap_or_default();
        let hint = match status.as_u16() {
            401 | 403 => "give an admin key with --api-key or PLATEN_API_KEY",
            300..=399 => "the URL redirects: pass the service's own URL with --url",
            404 => "`list` shows what exists",
            409 => "stored versions are never replaced: choose another name or version",
            412 => "a newer version was stored in the meantime: pull it, then push again",
            _ => "the service's log has details under the request ID",
        };
        let message = format!("{status}: {detail}");
        Err(Failure::of_problem(status.as_u16(), &problem, message).with_hint(hint))
    }

    fn unreachable(&self, error: &ureq::Error) -> Failure {
        let is_plain = self.url.starts_with("http://");
        let (code, cause, hint) = match (TlsRefusal::within(error), error) {
            (Some(refusal), _) => {
                let hint = advice(&refusal);
                (Code::InvalidOption, refusal.to_string(), hint)
            }
            (None, ureq::Error::Protocol(_)) if is_plain => (
                Code::InvalidOption,
                "the server does not speak HTTP on this port; it may expect TLS".to_owned(),
                TLS_HINT,
            ),
            _ => (
                Code::RequestFailed,
                error.to_string(),
                "is `platen serve` running there? See --url and PLATEN_URL",
            ),
        };
        let message = format!("`{}` cannot be reached: {cause}", self.url);
        Failure::new(code, message).with_hint(hint)
    }
}

/// `text` percent-encoded, so that a path or a header can carry it.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(byte as char);
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
