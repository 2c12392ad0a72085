//! Sessions of browsers: a cookie that stands for an API key, signed and with an end.
//!
//! The cookie has no secret in it, and needs no storage: any process or service with the same
//! signing key accepts it, as long as the API key is configured. Scripts cannot read it, and
//! browsers do not send it with requests from other sites; what changes something needs a header
//! besides, which only a page of this service can set.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hyper::{
    HeaderMap, Method,
    header::{COOKIE, HeaderName, HeaderValue},
};
use platen_fault::Code;
use platen_signing::LinkKey;

use crate::problem::Problem;

/// Name of the cookie.
const COOKIE_NAME: &str = "platen_session";
/// Name of the cookie of a sign-in by a provider.
const SIGN_IN: &str = "platen_sign_in";
/// Name of the cookie of an ID token, which the provider gets when its user signs out.
const ID_TOKEN: &str = "platen_id_token";
/// Longer ID tokens are not kept: browsers take cookies of 4,096 bytes.
const MAX_ID_TOKEN_BYTES: usize = 3_800;
/// How long a user may take at the provider, in seconds.
pub(crate) const SIGN_IN_SECONDS: u64 = 600;
/// The header that a request with a cookie needs, unless it only reads.
const REQUEST_HEADER: HeaderName = HeaderName::from_static("x-platen-studio");
/// Duration of a session.
const LIFETIME: Duration = Duration::from_secs(12 * 3600);

/// Makes and verifies the cookies.
#[derive(Clone)]
pub(crate) struct Sessions {
    key: Arc<LinkKey>,
    /// Whether all connections are by TLS, so that browsers send cookies by HTTPS only.
    pub(crate) is_secure: bool,
}

fn subject(fingerprint: &str) -> String {
    format!("session\n{fingerprint}")
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

impl Sessions {
    pub(crate) fn new(key: Arc<LinkKey>, is_secure: bool) -> Self {
        Self { key, is_secure }
    }

    /// The key that signs the cookies.
    pub(crate) fn key(&self) -> Arc<LinkKey> {
        Arc::clone(&self.key)
    }

    /// The cookie of a new session for the key with this fingerprint.
    pub(crate) fn begin(&self, fingerprint: &str, is_secure: bool) -> Option<HeaderValue> {
        let expires = now() + LIFETIME.as_secs();
        let signature = self.key.sign(&subject(fingerprint), expires);
        let value = format!("{expires}.{fingerprint}.{signature}");
        cookie((COOKIE_NAME, &value), LIFETIME, "Strict", is_secure)
    }

    /// Fingerprint of the key of the session of a request.
    pub(crate) fn fingerprint<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let mut parts = value_of(headers, COOKIE_NAME)?.splitn(3, '.');
        let (expires, fingerprint, signature) = (parts.next()?, parts.next()?, parts.next()?);
        let expires = expires.parse().ok()?;
        self.key
            .allows(&subject(fingerprint), expires, signature, now())
            .then_some(fingerprint)
    }
}

/// The header that deletes the cookie of a session.
pub(crate) fn end(is_secure: bool) -> Option<HeaderValue> {
    cookie((COOKIE_NAME, ""), Duration::ZERO, "Strict", is_secure)
}

/// The cookie of a sign-in that has begun. The browser sends it when it comes back from the site of
/// the provider.
pub(crate) fn begin_sign_in(value: &str, is_secure: bool) -> Option<HeaderValue> {
    let lifetime = Duration::from_secs(SIGN_IN_SECONDS);
    cookie((SIGN_IN, value), lifetime, "Lax", is_secure)
}

/// The header that deletes the cookie of a sign-in.
pub(crate) fn end_sign_in(is_secure: bool) -> Option<HeaderValue> {
    cookie((SIGN_IN, ""), Duration::ZERO, "Lax", is_secure)
}

/// The cookie of the ID token of a session. Other sites cannot make a browser send it.
pub(crate) fn keep_id_token(token: &str, is_secure: bool) -> Option<HeaderValue> {
    let token = if token.len() <= MAX_ID_TOKEN_BYTES {
        token
    } else {
        ""
    };
    cookie((ID_TOKEN, token), LIFETIME, "Strict", is_secure)
}

/// The header that deletes the cookie of an ID token.
pub(crate) fn end_id_token(is_secure: bool) -> Option<HeaderValue> {
    cookie((ID_TOKEN, ""), Duration::ZERO, "Strict", is_secure)
}

/// The ID token of the session of a request.
pub(crate) fn id_token_of(headers: &HeaderMap) -> Option<&str> {
    value_of(headers, ID_TOKEN).filter(|token| !token.is_empty())
}

/// The cookie of the sign-in that a browser has begun.
pub(crate) fn sign_in_of(headers: &HeaderMap) -> Option<&str> {
    value_of(headers, SIGN_IN)
}

fn cookie(
    (name, value): (&str, &str),
    lifetime: Duration,
    same_site: &str,
    is_secure: bool,
) -> Option<HeaderValue> {
    let secure = if is_secure { "; Secure" } else { "" };
    let seconds = lifetime.as_secs();
    let text = format!(
        "{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite={same_site}{secure}"
    );
    HeaderValue::from_str(&text).ok()
}

fn value_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let cookies = headers.get_all(COOKIE).iter();
    let pairs = cookies.filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|value| value.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// Checks that a request with a cookie comes from a page of this service.
///
/// # Errors
/// 403 if it changes something and lacks the header that another site cannot set.
pub(crate) fn check_origin(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if method.is_safe() || headers.contains_key(REQUEST_HEADER) {
        return Ok(());
    }
    let detail = "a request of a browser session needs the header `X-Platen-Studio: 1`; programs \
                  send an API key instead of a cookie";
    Err(Problem::new(Code::Forbidden, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(cookie: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let value = format!("theme=dark; {COOKIE_NAME}={cookie}");
        headers.insert(COOKIE, HeaderValue::from_str(&value).unwrap());
        headers
    }

    #[test]
    fn a_cookie_stands_for_its_key_only_and_not_for_ever() {
        let sessions = Sessions::new(Arc::new(LinkKey::new([7; 32])), false);
        let cookie = sessions.begin("abc", true).unwrap();
        let text = cookie.to_str().unwrap();
        assert!(text.ends_with("; HttpOnly; SameSite=Strict; Secure"));
        let value = text.split(['=', ';']).nth(1).unwrap();
        assert_eq!(sessions.fingerprint(&with(value)), Some("abc"));
        let forged = value.replace(".abc.", ".abd.");
        assert_eq!(sessions.fingerprint(&with(&forged)), None);
        let other = Sessions::new(Arc::new(LinkKey::new([8; 32])), false);
        assert_eq!(other.fingerprint(&with(value)), None);
        let signature = sessions.key.sign(&subject("abc"), 1_000);
        let expired = format!("1000.abc.{signature}");
        assert_eq!(sessions.fingerprint(&with(&expired)), None);
        for broken in ["", "a", "1.2", "1.2.3.4", "999999999999999999999.a.b"] {
            assert_eq!(sessions.fingerprint(&with(broken)), None);
        }
    }

    #[test]
    fn changes_need_a_header_that_other_sites_cannot_set() {
        assert!(check_origin(&Method::GET, &HeaderMap::new()).is_ok());
        assert!(check_origin(&Method::PUT, &HeaderMap::new()).is_err());
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_HEADER, HeaderValue::from_static("1"));
        assert!(check_origin(&Method::PUT, &headers).is_ok());
    }
}
