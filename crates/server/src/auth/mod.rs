//! Authentication: API keys with scopes, stored as SHA-256 hashes and compared in constant time.

use std::borrow::Cow;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyper::{
    HeaderMap,
    header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE},
};
use platen_fault::Code;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::{config::Config, problem::Problem, session::Sessions};

/// Access level of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// No authentication.
    Open,
    /// The metrics token, if one is configured.
    Metrics,
    /// A key of any scope.
    Render,
    /// A key of the admin scope.
    Admin,
}

/// The caller of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// No key is configured, or the route does not need one.
    Anonymous,
    /// A known key, by its index in the configuration.
    Key { index: usize, admin: bool },
}

type Hash = [u8; 32];

/// The configured keys.
pub(crate) struct Keys {
    keys: Vec<(Hash, bool)>,
    metrics: Option<Hash>,
    worker: Option<Hash>,
    /// Accepts sessions instead of keys.
    sessions: Option<Sessions>,
}

/// What a session says about a key: a hash of its hash, which does not help to guess it.
fn fingerprint(hash: &Hash) -> String {
    let again = Sha256::digest(hash);
    let digits = again[..16].iter().map(|byte| format!("{byte:02x}"));
    digits.collect()
}

fn hash(text: &[u8]) -> Hash {
    Sha256::digest(text).into()
}

impl Keys {
    pub(crate) fn new(config: &Config) -> Self {
        let admin = config.api_key_admin.iter().map(|key| (key, true));
        let render = config.api_key_render.iter().map(|key| (key, false));
        Self {
            keys: admin
                .chain(render)
                .map(|(key, admin)| (hash(key.as_bytes()), admin))
                .collect(),
            metrics: config
                .metrics_token
                .as_ref()
                .map(|token| hash(token.as_bytes())),
            worker: config
                .worker_token
                .as_ref()
                .map(|token| hash(token.as_bytes())),
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

    /// What the cookie of a session says about a key, and whether the key has the admin scope.
    ///
    /// # Errors
    /// 401 for an unknown key.
    pub(crate) fn fingerprint(&self, key: &str) -> Result<(String, bool), Problem> {
        match self.find(&hash(key.as_bytes())) {
            Some(Caller::Key { index, admin }) => Ok((fingerprint(&self.keys[index].0), admin)),
            _ => Err(unauthorized("this API key is unknown")),
        }
    }

    /// Who a caller is, for the audit log.
    pub(crate) fn name(&self, caller: Caller, is_session: bool) -> String {
        let Caller::Key { index, admin } = caller else {
            return "anonymous".to_owned();
        };
        let scope = if admin { "admin" } else { "render" };
        let print = self.keys.get(index).map(|(known, _)| fingerprint(known));
        let print = print.unwrap_or_default();
        let by = if is_session { "session of " } else { "" };
        format!("{by}{scope} key {}", &print[..8.min(print.len())])
    }

    /// True if a request shows a cookie, but no key.
    pub(crate) fn is_session(&self, headers: &HeaderMap) -> bool {
        key_of(headers).is_none() && self.session(headers).is_some()
    }

    /// The key that the session of a request stands for.
    fn session(&self, headers: &HeaderMap) -> Option<Caller> {
        let shown = self.sessions.as_ref()?.fingerprint(headers)?;
        let mut keys = self.keys.iter().enumerate();
        keys.find_map(|(index, (known, admin))| {
            (fingerprint(known) == shown).then_some(Caller::Key {
                index,
                admin: *admin,
            })
        })
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
        !self.keys.is_empty()
    }

    /// Authenticates the caller and checks `access`.
    ///
    /// # Errors
    /// 401 for a missing or unknown key, 403 for one of the wrong scope.
    pub(crate) fn check(&self, headers: &HeaderMap, access: Access) -> Result<Caller, Problem> {
        match access {
            Access::Open => Ok(Caller::Anonymous),
            Access::Metrics => self.check_metrics(headers),
            Access::Render | Access::Admin if !self.are_needed() => Ok(Caller::Anonymous),
            Access::Render | Access::Admin => {
                let caller = match key_of(headers) {
                    Some(key) => (self.find(&hash(&key)))
                        .ok_or_else(|| unauthorized("this API key is unknown"))?,
                    None => self.session(headers).ok_or_else(|| {
                        unauthorized("an API key is required, in the header X-Api-Key")
                    })?,
                };
                match caller {
                    Caller::Key { admin: false, .. } if access == Access::Admin => {
                        Err(Problem::new(
                            Code::Forbidden,
                            "this API key may not change templates, flows or custom actions",
                        ))
                    }
                    caller => Ok(caller),
                }
            }
        }
    }

    fn check_metrics(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        let Some(expected) = &self.metrics else {
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

    fn find(&self, given: &Hash) -> Option<Caller> {
        let mut found = None;
        for (index, (known, admin)) in self.keys.iter().enumerate() {
            // Compare every key: the time must not reveal which one matches.
            let same: Choice = given.ct_eq(known);
            if bool::from(same) && found.is_none() {
                found = Some(Caller::Key {
                    index,
                    admin: *admin,
                });
            }
        }
        found
    }
}

/// The key of a request: as it is, as a bearer token, or as the password of Basic credentials
/// (RFC 7617) with any name.
fn key_of(headers: &HeaderMap) -> Option<Cow<'_, [u8]>> {
    if let Some(key) = headers.get("x-api-key") {
        return Some(key.as_bytes().into());
    }
    let value = headers.get(AUTHORIZATION)?.as_bytes();
    let space = value.iter().position(|byte| *byte == b' ')?;
    let (scheme, token) = (&value[..space], value[space..].trim_ascii());
    if scheme.eq_ignore_ascii_case(b"bearer") {
        return Some(token.into());
    }
    if !scheme.eq_ignore_ascii_case(b"basic") {
        return None;
    }
    let pair = BASE64_STANDARD.decode(token).ok()?;
    let colon = pair.iter().position(|byte| *byte == b':')?;
    Some(pair[colon + 1..].to_vec().into())
}

fn unauthorized(detail: &str) -> Problem {
    Problem::new(Code::Unauthorized, detail).with_header(
        WWW_AUTHENTICATE,
        HeaderValue::from_static("Bearer realm=\"platen\""),
    )
}
