//! Authentication: API keys with scopes, stored as SHA-256 hashes and compared in constant time, and
//! sessions of browsers that stand for them.

mod credential;
mod editor_token;
mod identity;
mod stored;
mod user;

use std::sync::Arc;

use hyper::{
    HeaderMap,
    header::{HeaderValue, WWW_AUTHENTICATE},
};
use platen_fault::Code;
use subtle::{Choice, ConstantTimeEq};

use self::{
    credential::{Hash, fingerprint, hash, key_of, number_of},
    stored::STORED,
    user::USER,
};
pub(crate) use self::{
    editor_token::{EditorTokens, Grant},
    identity::{Actor, Caller, Identity},
    stored::{MadeKey, StoredKeys, make_key, now_unix_ms, scopes_of},
    user::User,
};
pub use crate::scope::{Access, Role, Scope, Scopes};
use crate::{config::Config, operation::Operation, problem::Problem, session::Sessions};

/// A key of the settings.
struct ConfiguredKey {
    hash: Hash,
    identity: Arc<Identity>,
    role: Role,
}

/// All that callers authenticate with.
pub(crate) struct Keys {
    configured: Vec<ConfiguredKey>,
    pub(crate) stored: Arc<StoredKeys>,
    metrics: Option<Hash>,
    /// Without a token for them, metrics ask for any key.
    metrics_need_key: bool,
    worker: Option<Hash>,
    /// Verifies editor tokens.
    pub(crate) editor: Option<Arc<EditorTokens>>,
    /// Whether users of an identity provider sign in.
    pub(crate) has_users: bool,
    /// Accepts sessions instead of keys.
    sessions: Option<Sessions>,
}

const UNKNOWN: &str = "this API key is unknown, expired or deleted";

impl ConfiguredKey {
    fn new(key: &str, role: Role, setting: &str) -> Self {
        let hash = hash(key.as_bytes());
        let fingerprint = fingerprint(&hash);
        Self {
            identity: Arc::new(Identity {
                name: format!("{setting} key {}", &fingerprint[..8]),
                person: String::new(),
                scopes: role.scopes(),
                number: number_of(&fingerprint),
                reference: fingerprint,
                only: None,
                requests_per_minute: None,
            }),
            hash,
            role,
        }
    }
}

impl Keys {
    pub(crate) fn new(config: &Config, stored: Arc<StoredKeys>) -> Self {
        let admin = config.api_key_admin.iter();
        let admin = admin.map(|key| ConfiguredKey::new(key, Role::Admin, "admin"));
        let render = config.api_key_render.iter();
        let render = render.map(|key| ConfiguredKey::new(key, Role::Operator, "render"));
        let token = |token: &Option<String>| Some(hash(token.as_ref()?.as_bytes()));
        Self {
            configured: admin.chain(render).collect(),
            stored,
            metrics: token(&config.metrics_token),
            metrics_need_key: config.asks_for_password,
            worker: token(&config.worker_token),
            editor: config
                .exposure
                .editor
                .token_secret
                .as_deref()
                .map(|secret| Arc::new(EditorTokens::new(secret))),
            has_users: config.exposure.oidc.issuer.is_some(),
            sessions: None,
        }
    }

    /// Accepts the cookies of `sessions`, too.
    pub(crate) fn with_sessions(self, sessions: Sessions) -> Self {
        Self {
            sessions: Some(sessions),
            ..self
        }
    }

    /// Whose key it is.
    ///
    /// # Errors
    /// 401 for an unknown key.
    pub(crate) fn sign_in(&self, key: &str) -> Result<Arc<Identity>, Problem> {
        self.of_key(key.as_bytes())
            .ok_or_else(|| unauthorized(UNKNOWN))
    }

    fn of_key(&self, key: &[u8]) -> Option<Arc<Identity>> {
        let of_settings = || Some(Arc::clone(&self.configured(&hash(key))?.identity));
        self.stored.find(key).or_else(of_settings)
    }

    /// Whom a session or an editor token refers to.
    fn of_reference(&self, reference: &str) -> Option<Arc<Identity>> {
        if let Some(id) = reference.strip_prefix(STORED) {
            return self.stored.of_id(id);
        }
        if let Some(user) = reference.strip_prefix(USER) {
            let user = User::read(user).filter(|_| self.has_users)?;
            return Some(Arc::new(user.identity()));
        }
        let mut keys = self.configured.iter();
        let known = keys.find(|key| key.identity.reference == reference)?;
        Some(Arc::clone(&known.identity))
    }

    /// Who holds an editor token: it is worth no more than the key that made it.
    fn of_token(&self, token: &[u8]) -> Option<Arc<Identity>> {
        let grant = self.grant(token)?;
        let (issuer, scopes, number, limit) = match grant.issuer.as_str() {
            // It was made while there were no keys.
            "" if !self.are_needed() => {
                let name = "anonymous".to_owned();
                (name, Scopes::ALL, number_of("tokens of nobody"), None)
            }
            "" => return None,
            reference => {
                let it = self.of_reference(reference)?;
                (
                    it.name.clone(),
                    it.scopes,
                    it.number,
                    it.requests_per_minute,
                )
            }
        };
        let who = match grant.name.as_str() {
            "" => "somebody",
            name => name,
        };
        Some(Arc::new(Identity {
            name: format!("{who} with an editor token of {issuer}"),
            person: grant.name.clone(),
            scopes: grant.scopes().within(scopes),
            // The key chooses names and templates: its tokens count as it does.
            number,
            reference: String::new(),
            only: Some((grant.template, grant.expires)),
            requests_per_minute: limit,
        }))
    }

    /// Names and roles of the keys of the settings.
    pub(crate) fn of_settings(&self) -> impl Iterator<Item = (&str, Role)> {
        self.configured
            .iter()
            .map(|key| (key.identity.name.as_str(), key.role))
    }

    /// Learns what other processes did to the stored keys, if a request shows one.
    pub(crate) async fn look_before_request(&self, headers: &HeaderMap) {
        if self.shown_id(headers).is_some() {
            self.stored.look_before_request().await;
        }
    }

    /// Whether the leader is to hear of a request, so that the last use of its key is noted.
    pub(crate) fn is_use_to_tell(&self, headers: &HeaderMap) -> bool {
        let id = self.shown_id(headers);
        id.is_some_and(|id| self.stored.is_use_to_tell(&id))
    }

    /// Notes the use of the stored key that a request of another process shows.
    pub(crate) fn note_use(&self, headers: &HeaderMap) {
        // Finding the caller notes the use; an unknown caller changes nothing.
        let _ = self.caller(headers);
    }

    /// The id of the stored key that a request shows, or its session stands for.
    fn shown_id(&self, headers: &HeaderMap) -> Option<String> {
        if let Some(key) = key_of(headers) {
            let known = stored::id_of(&key).map(str::to_owned);
            return known.or_else(|| self.issuer_of(&key));
        }
        let session = self.sessions.as_ref()?.fingerprint(headers)?;
        session.strip_prefix(STORED).map(str::to_owned)
    }

    /// The id of the stored key that made an editor token.
    fn issuer_of(&self, token: &[u8]) -> Option<String> {
        let issuer = self.grant(token)?.issuer;
        issuer.strip_prefix(STORED).map(str::to_owned)
    }

    /// What an editor token says that has not ended.
    fn grant(&self, token: &[u8]) -> Option<Grant> {
        let now = u64::try_from(now_unix_ms() / 1_000).unwrap_or_default();
        self.editor.as_ref()?.read(token, now)
    }

    /// True if a request shows a cookie, but no key.
    pub(crate) fn is_session(&self, headers: &HeaderMap) -> bool {
        key_of(headers).is_none() && self.session(headers).is_some()
    }

    /// Who the session of a request stands for.
    fn session(&self, headers: &HeaderMap) -> Option<Arc<Identity>> {
        self.of_reference(self.sessions.as_ref()?.fingerprint(headers)?)
    }

    /// Checks the worker token.
    ///
    /// # Errors
    /// 401 for a missing or wrong token, 403 if no token is configured.
    pub(crate) fn check_worker(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(expected) = &self.worker else {
            let detail = "workers cannot connect: set WORKER_TOKEN";
            return Err(Problem::new(Code::Forbidden, detail));
        };
        let given = key_of(headers).map(|key| hash(&key)).unwrap_or_default();
        if given.ct_eq(expected).into() {
            Ok(())
        } else {
            Err(unauthorized("workers must authenticate with WORKER_TOKEN"))
        }
    }

    pub(crate) fn are_needed(&self) -> bool {
        !self.configured.is_empty() || self.has_users
    }

    /// Authenticates the caller of a route and checks its access. `path` is that of the request.
    ///
    /// # Errors
    /// 401 for a missing or unknown key, 403 for one without the scope, and for an editor token that
    /// is for another template or not for this route.
    pub(crate) fn admit(
        &self,
        headers: &HeaderMap,
        route: &Operation,
        path: &str,
    ) -> Result<Caller, Problem> {
        let caller = self.authorize(headers, route.access)?;
        match caller.only() {
            Some(template) if !route.is_for_editor(template, path) => Err(Problem::new(
                Code::Forbidden,
                format!("this editor token is for the template `{template}` only"),
            )),
            _ => Ok(caller),
        }
    }

    /// Authenticates the caller and checks `access`.
    ///
    /// # Errors
    /// 401 for a missing or unknown key, 403 for one without the scope, and for an editor token.
    pub(crate) fn check(&self, headers: &HeaderMap, access: Access) -> Result<Caller, Problem> {
        let caller = self.authorize(headers, access)?;
        match caller.only() {
            Some(_) => Err(Problem::new(
                Code::Forbidden,
                "an editor token does not allow this",
            )),
            None => Ok(caller),
        }
    }

    fn authorize(&self, headers: &HeaderMap, access: Access) -> Result<Caller, Problem> {
        let needed = match access {
            Access::Open => return Ok(Caller::Anonymous),
            Access::Metrics => return self.check_metrics(headers),
            Access::AnyOf(scopes) => scopes,
        };
        let caller = self.caller(headers)?;
        match caller.scopes().meets(needed) {
            true => Ok(caller),
            false => Err(forbidden(needed)),
        }
    }

    /// Who sends a request, whatever it is for.
    ///
    /// # Errors
    /// 401 for a missing or unknown key.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        match key_of(headers) {
            Some(token) if editor_token::is_token(&token) => {
                let found = self.of_token(&token);
                found.ok_or_else(|| unauthorized("this editor token is unknown or has ended"))
            }
            _ if !self.are_needed() => return Ok(Caller::Anonymous),
            Some(key) => self.of_key(&key).ok_or_else(|| unauthorized(UNKNOWN)),
            None => self
                .session(headers)
                .ok_or_else(|| unauthorized("an API key is required, in the header X-Api-Key")),
        }
        .map(Caller::Known)
    }

    fn check_metrics(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        let Some(expected) = &self.metrics else {
            if self.metrics_need_key {
                self.caller(headers)?;
            }
            return Ok(Caller::Anonymous);
        };
        let given = key_of(headers).map(|key| hash(&key)).unwrap_or_default();
        if given.ct_eq(expected).into() {
            Ok(Caller::Anonymous)
        } else {
            Err(unauthorized(
                "metrics require the bearer token METRICS_TOKEN",
            ))
        }
    }

    fn configured(&self, given: &Hash) -> Option<&ConfiguredKey> {
        let mut found = None;
        for known in &self.configured {
            // Compare every key: the time must not reveal which one matches.
            let same: Choice = given.ct_eq(&known.hash);
            if bool::from(same) && found.is_none() {
                found = Some(known);
            }
        }
        found
    }
}

fn unauthorized(detail: &str) -> Problem {
    Problem::new(Code::Unauthorized, detail).with_header(
        WWW_AUTHENTICATE,
        HeaderValue::from_static("Bearer realm=\"platen\""),
    )
}

/// The caller is known, but lacks all of these scopes.
fn forbidden(needed: Scopes) -> Problem {
    let scopes: Vec<String> = needed
        .iter()
        .map(|one| format!("`{}`", one.as_str()))
        .collect();
    let roles = Role::ALL.into_iter();
    let roles: Vec<&str> = roles
        .filter(|role| role.scopes().meets(needed))
        .map(Role::as_str)
        .collect();
    let detail = format!(
        "this needs the scope {}; these roles have it: {}",
        scopes.join(" or "),
        roles.join(", ")
    );
    Problem::new(Code::Forbidden, detail)
}
