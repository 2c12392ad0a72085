//! The identity provider: its description (OpenID Connect Discovery 1.0), its keys, and the exchange
//! of a code for an ID token.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use parking_lot::Mutex;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platen_outbound::{Outbound, RequestLimits, Settings};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value as Json;

use super::{
    Error,
    id_token::{self, Expected, KeySet, Refusal},
};
use crate::config::OidcConfig;

/// Time limit of a request to the provider.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer of the provider, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// How long its description is believed.
const DESCRIPTION_AGE: Duration = Duration::from_secs(3_600);
/// Time between two reads of its keys.
const KEYS_AGE: Duration = Duration::from_secs(60);

/// What the provider says of itself, as far as it is used.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Description {
    issuer: String,
    pub(super) authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    /// OpenID Connect RP-Initiated Logout 1.0.
    pub(super) end_session_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// RFC 9207: the answer to a sign-in names the issuer.
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
    access_token: Option<String>,
}

/// A code that the browser brought, and what belongs to it.
pub(super) struct Exchange<'e> {
    pub(super) code: &'e str,
    pub(super) verifier: &'e str,
    pub(super) redirect_uri: &'e str,
    pub(super) nonce: &'e str,
    /// Seconds since 1970.
    pub(super) now: u64,
}

/// The provider, with what is known of it.
pub(super) struct Provider {
    config: OidcConfig,
    /// Taken from the configuration, which is printed.
    secret: Option<String>,
    client: Outbound,
    description: Mutex<Option<(Instant, Arc<Description>)>>,
    keys: Mutex<Option<(Instant, Arc<KeySet>)>>,
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Fields as `application/x-www-form-urlencoded`, or as a query.
pub(super) fn form(fields: &[(&str, &str)]) -> String {
    let fields = fields.iter();
    let fields: Vec<String> = fields
        .map(|(name, value)| format!("{name}={}", encoded(value)))
        .collect();
    fields.join("&")
}

/// The host of an address with its port.
fn host_of(url: &str) -> Option<String> {
    let uri: hyper::Uri = url.parse().ok()?;
    let host = uri.host()?;
    Some(match uri.port_u16() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

impl Provider {
    pub(super) fn new(config: OidcConfig, secret: Option<String>) -> Self {
        let client = client(&config, config.issuer.as_deref().and_then(host_of));
        Self {
            config,
            secret,
            client,
            description: Mutex::default(),
            keys: Mutex::default(),
        }
    }

    fn issuer(&self) -> &str {
        self.config.issuer.as_deref().unwrap_or_default()
    }

    /// What the provider says of itself. Blocks.
    pub(super) fn description(&self) -> Result<Arc<Description>, Error> {
        if let Some((at, known)) = &*self.description.lock()
            && at.elapsed() < DESCRIPTION_AGE
        {
            return Ok(Arc::clone(known));
        }
        let issuer = self.issuer();
        let base = issuer.trim_end_matches('/');
        let url = format!("{base}/.well-known/openid-configuration");
        let found: Description = self.read(&self.client, &url, &[])?;
        if found.issuer != issuer {
            let found = found.issuer.chars().take(200).collect();
            return Err(Error::OtherIssuer(found));
        }
        // What must not be read on its way comes by TLS, unless the issuer itself does not.
        let scheme = if issuer.starts_with("https://") {
            "https://"
        } else {
            "http"
        };
        let all = [
            &found.authorization_endpoint,
            &found.token_endpoint,
            &found.jwks_uri,
        ];
        let all = all.into_iter().chain(&found.userinfo_endpoint);
        let all = all.chain(&found.end_session_endpoint);
        if let Some(plain) = all.into_iter().find(|url| !url.starts_with(scheme)) {
            return Err(Error::Plain(plain.chars().take(200).collect()));
        }
        let found = Arc::new(found);
        *self.description.lock() = Some((Instant::now(), Arc::clone(&found)));
        Ok(found)
    }

    /// A client that reaches the host of an endpoint: the provider names it.
    fn client_of(&self, url: &str) -> Outbound {
        client(&self.config, host_of(url))
    }

    /// The keys of the provider, read again if they are older than `age`. Blocks.
    fn keys(&self, description: &Description, age: Duration) -> Result<Arc<KeySet>, Error> {
        if let Some((at, known)) = &*self.keys.lock()
            && at.elapsed() < age
        {
            return Ok(Arc::clone(known));
        }
        let url = &description.jwks_uri;
        let found: KeySet = self.read(&self.client_of(url), url, &[])?;
        let found = Arc::new(found);
        *self.keys.lock() = Some((Instant::now(), Arc::clone(&found)));
        Ok(found)
    }

    /// The claims about the user whom a code stands for, and the ID token that has them. Blocks.
    pub(super) fn claims(&self, exchange: &Exchange<'_>) -> Result<(Json, String), Error> {
        let description = self.description()?;
        let tokens = self.exchange(&description, exchange)?;
        let client_id = self.config.client_id.as_deref().unwrap_or_default();
        let expected = Expected {
            issuer: self.issuer(),
            client_id,
            nonce: exchange.nonce,
            now: exchange.now,
        };
        let keys = self.keys(&description, DESCRIPTION_AGE)?;
        let mut read = id_token::verify(&tokens.id_token, &keys, &expected);
        if matches!(read, Err(Refusal::UnknownKey | Refusal::Signature)) {
            // It may have new keys; they are read once a minute at most.
            let keys = self.keys(&description, KEYS_AGE)?;
            read = id_token::verify(&tokens.id_token, &keys, &expected);
        }
        let claims = read?;
        let claims = self.with_user_info(&description, tokens.access_token.as_deref(), claims)?;
        Ok((claims, tokens.id_token))
    }

    fn exchange(
        &self,
        description: &Description,
        exchange: &Exchange<'_>,
    ) -> Result<Tokens, Error> {
        let client_id = self.config.client_id.as_deref().unwrap_or_default();
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", exchange.code),
            ("redirect_uri", exchange.redirect_uri),
            ("code_verifier", exchange.verifier),
        ];
        let mut headers = vec![header("content-type", "application/x-www-form-urlencoded")];
        let methods = description.token_endpoint_auth_methods_supported.as_deref();
        // Without a list, `client_secret_basic` is meant.
        let takes_basic =
            methods.is_none_or(|all| all.iter().any(|one| one == "client_secret_basic"));
        match &self.secret {
            Some(secret) if takes_basic => {
                // RFC 6749, section 2.3.1: both are encoded first.
                let pair = format!("{}:{}", encoded(client_id), encoded(secret));
                let value = format!("Basic {}", BASE64_STANDARD.encode(pair));
                headers.push(header("authorization", &value));
            }
            Some(secret) => fields.extend([("client_id", client_id), ("client_secret", secret)]),
            None => fields.push(("client_id", client_id)),
        }
        let url = &description.token_endpoint;
        self.ask(
            &self.client_of(url),
            "POST",
            url,
            &headers,
            form(&fields).as_bytes(),
        )
    }

    /// Adds what the provider says elsewhere, if the ID token lacks the claim with the roles.
    fn with_user_info(
        &self,
        description: &Description,
        access_token: Option<&str>,
        mut claims: Json,
    ) -> Result<Json, Error> {
        let (Some(url), Some(token)) = (&description.userinfo_endpoint, access_token) else {
            return Ok(claims);
        };
        if !super::roles::claim(&claims, &self.config.roles_claim).is_null() {
            return Ok(claims);
        }
        let headers = [header("authorization", &format!("Bearer {token}"))];
        let info: Json = self.read(&self.client_of(url), url, &headers)?;
        // Section 5.3.2: an answer about another user must not be used.
        if info["sub"] != claims["sub"] {
            return Err(Error::OtherUser);
        }
        if let (Json::Object(claims), Json::Object(info)) = (&mut claims, info) {
            for (name, value) in info {
                claims.entry(name).or_insert(value);
            }
        }
        Ok(claims)
    }

    fn read<T: DeserializeOwned>(
        &self,
        client: &Outbound,
        url: &str,
        headers: &[(String, String)],
    ) -> Result<T, Error> {
        self.ask(client, "GET", url, headers, b"")
    }

    fn ask<T: DeserializeOwned>(
        &self,
        client: &Outbound,
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<T, Error> {
        let accept = header("accept", "application/json");
        let headers = [headers, &[accept]].concat();
        let limits = RequestLimits::default();
        let answer = client.send_within(method, url, &headers, body, &limits)?;
        if answer.status != 200 {
            // RFC 6749, section 5.2: the error has a name; what else is there may be secret.
            let problem: Option<Json> = serde_json::from_slice(&answer.body).ok();
            let name = problem
                .as_ref()
                .and_then(|problem| problem["error"].as_str());
            let name = name.unwrap_or_default().chars().take(100).collect();
            return Err(Error::Status(answer.status, name));
        }
        serde_json::from_slice(&answer.body).map_err(|_| Error::NotJson)
    }
}

fn header(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

fn client(config: &OidcConfig, host: Option<String>) -> Outbound {
    Outbound::new(&Settings {
        allowed_hosts: host.into_iter().collect(),
        allow_private_addresses: config.allow_private_addresses,
        timeout: TIMEOUT,
        max_bytes: MAX_BYTES,
        max_idle_connections: 0,
        ..Settings::default()
    })
}
