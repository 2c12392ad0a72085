//! Sign-in by OpenID Connect: the authorization code flow with PKCE (RFC 7636). Between its two
//! requests the browser holds what belongs together, signed; the service stores nothing.

mod id_token;
mod provider;
mod roles;

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use platen_signing::LinkKey;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use self::{
    id_token::Refusal,
    provider::{Exchange, Provider, form},
};
use crate::{auth::User, config::OidcConfig, link_key, session::SIGN_IN_SECONDS};

/// Longest name of a user and longest `sub`, in characters.
const MAX_NAME: usize = 100;
const MAX_SUBJECT: usize = 255;

/// Why a sign-in failed, for the log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The provider cannot be reached.
    #[error("the identity provider was not reached")]
    Outbound(#[from] platen_outbound::Error),
    /// It answers with an error.
    #[error("the identity provider answered {0} {1}")]
    Status(u16, String),
    /// It answers with something else.
    #[error("the answer of the identity provider is not the JSON that it should be")]
    NotJson,
    /// Its description is of another issuer.
    #[error("the identity provider says that its issuer is `{0}`, which OIDC_ISSUER is not")]
    OtherIssuer(String),
    /// Its endpoints have no TLS.
    #[error("the identity provider names an address without TLS: {0}")]
    Plain(String),
    /// The claims are of another user.
    #[error("the user information is about another user than the ID token")]
    OtherUser,
    /// The token is refused.
    #[error(transparent)]
    Token(#[from] Refusal),
    /// Too many others wait for it.
    #[error("too many sign-ins wait for the identity provider")]
    Busy,
    /// There are no random numbers.
    #[error("the system has no random numbers")]
    Random(#[from] std::io::Error),
}

/// A sign-in that has begun: what the browser keeps, and where it goes.
pub(crate) struct Begun {
    /// The value of the cookie.
    pub(crate) cookie: String,
    /// The address at the provider.
    pub(crate) url: String,
}

/// Sign-in by a provider.
pub(crate) struct Oidc {
    config: OidcConfig,
    provider: Provider,
    key: Arc<LinkKey>,
}

fn subject(state: &str) -> String {
    format!("sign-in\n{state}")
}

impl Oidc {
    /// Sign-in as the settings say, if they name a provider.
    pub(crate) fn new(
        config: &OidcConfig,
        secret: Option<String>,
        key: Arc<LinkKey>,
    ) -> Option<Self> {
        config.issuer.as_ref()?;
        Some(Self {
            provider: Provider::new(config.clone(), secret),
            config: config.clone(),
            key,
        })
    }

    /// The verifier of PKCE and the nonce of a sign-in: nobody can compute them without the key of
    /// this service.
    fn derived(&self, kind: &str, state: &str) -> String {
        self.key.sign(&format!("{kind}\n{state}"), 0)
    }

    /// Begins a sign-in at `now`, in seconds since 1970. Blocks.
    ///
    /// # Errors
    /// The provider does not say where it is.
    pub(crate) fn begin(&self, redirect_uri: &str, now: u64) -> Result<Begun, Error> {
        let description = self.provider.description()?;
        let state = link_key::random()?;
        let state: String = state.iter().map(|byte| format!("{byte:02x}")).collect();
        let challenge = Sha256::digest(self.derived("pkce", &state));
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(challenge);
        let nonce = self.derived("nonce", &state);
        let query = form(&[
            ("response_type", "code"),
            (
                "client_id",
                self.config.client_id.as_deref().unwrap_or_default(),
            ),
            ("redirect_uri", redirect_uri),
            ("scope", &self.config.scopes),
            ("state", &state),
            ("nonce", &nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        let url = &description.authorization_endpoint;
        let separator = if url.contains('?') { '&' } else { '?' };
        let expires = now + SIGN_IN_SECONDS;
        let signature = self.key.sign(&subject(&state), expires);
        Ok(Begun {
            cookie: format!("{expires}.{state}.{signature}"),
            url: format!("{url}{separator}{query}"),
        })
    }

    /// The state of the sign-in that a cookie stands for, if this service began it for this browser
    /// and it has not ended.
    fn state<'c>(&self, cookie: &'c str, now: u64) -> Option<&'c str> {
        let mut parts = cookie.splitn(3, '.');
        let (expires, state, signature) = (parts.next()?, parts.next()?, parts.next()?);
        let expires = expires.parse().ok()?;
        self.key
            .allows(&subject(state), expires, signature, now)
            .then_some(state)
    }

    /// Whether an answer of the provider belongs to the sign-in of a cookie.
    pub(crate) fn belongs(&self, cookie: &str, state: &str, now: u64) -> bool {
        let begun = self.state(cookie, now);
        begun.is_some_and(|begun| begun.as_bytes().ct_eq(state.as_bytes()).into())
    }

    /// Where a browser signs out at the provider, if it announces that (OpenID Connect RP-Initiated
    /// Logout 1.0); it comes back to `back`. Blocks.
    ///
    /// # Errors
    /// The provider does not say where it is.
    pub(crate) fn end(&self, id_token: &str, back: &str) -> Result<Option<String>, Error> {
        let description = self.provider.description()?;
        let Some(url) = &description.end_session_endpoint else {
            return Ok(None);
        };
        let client_id = self.config.client_id.as_deref().unwrap_or_default();
        let query = form(&[
            ("id_token_hint", id_token),
            ("client_id", client_id),
            ("post_logout_redirect_uri", back),
        ]);
        let separator = if url.contains('?') { '&' } else { '?' };
        Ok(Some(format!("{url}{separator}{query}")))
    }

    /// Who a code stands for, and the ID token that says so. Its state was checked. Blocks.
    ///
    /// # Errors
    /// The provider fails, or its token is refused.
    pub(crate) fn finish(
        &self,
        code: &str,
        state: &str,
        issuer: Option<&str>,
        redirect_uri: &str,
        now: u64,
    ) -> Result<(User, String), Error> {
        let description = self.provider.description()?;
        let is_named = description.authorization_response_iss_parameter_supported;
        let expected = self.config.issuer.as_deref();
        // RFC 9207: an answer of another provider must not be sent to this one.
        if issuer.is_some() && issuer != expected || issuer.is_none() && is_named {
            return Err(Refusal::Issuer.into());
        }
        let (claims, id_token) = self.provider.claims(&Exchange {
            code,
            verifier: &self.derived("pkce", state),
            redirect_uri,
            nonce: &self.derived("nonce", state),
            now,
        })?;
        Ok((self.user(&claims), id_token))
    }

    fn user(&self, claims: &Json) -> User {
        let text = |name: &str| claims[name].as_str().filter(|text| !text.is_empty());
        let subject = text("sub").unwrap_or_default();
        let named = ["preferred_username", "email", "name"].into_iter();
        let name = named.filter_map(text).next().unwrap_or(subject);
        let shown = |text: &str, most: usize| -> String {
            let letters = text.chars().filter(|letter| !letter.is_control());
            letters.take(most).collect()
        };
        User {
            subject: shown(subject, MAX_SUBJECT),
            name: shown(name, MAX_NAME),
            roles: roles::of(claims, &self.config),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oidc(key: u8) -> Oidc {
        let config = OidcConfig {
            issuer: Some("https://id.example".to_owned()),
            client_id: Some("platen".to_owned()),
            ..OidcConfig::default()
        };
        Oidc::new(&config, None, Arc::new(LinkKey::new([key; 32]))).unwrap()
    }

    #[test]
    fn an_answer_belongs_to_the_browser_that_began() {
        let oidc_of_service = oidc(1);
        let signature = oidc_of_service.key.sign(&subject("abc"), 100);
        let cookie = format!("100.abc.{signature}");
        let belongs = |cookie: &str, state: &str, now| oidc_of_service.belongs(cookie, state, now);
        assert!(belongs(&cookie, "abc", 99));
        assert!(!belongs(&cookie, "abd", 99) && !belongs(&cookie, "", 99));
        assert!(!belongs(&cookie, "abc", 100), "it took too long");
        assert!(!oidc(2).belongs(&cookie, "abc", 99));
        for broken in ["", "1", "1.2", "1.2.3", "a.abc.b"] {
            assert!(!belongs(broken, "abc", 0), "{broken}");
        }
    }

    #[test]
    fn users_have_names_without_control_characters() {
        let user = |claims: Json| oidc(1).user(&claims);
        let ada = user(serde_json::json!({"sub": "1", "email": "ada@a.example", "name": "Ada"}));
        assert_eq!((&*ada.name, &*ada.subject), ("ada@a.example", "1"));
        assert!(ada.roles.is_empty());
        let long = user(serde_json::json!({"sub": "x".repeat(999), "name": "a\n".repeat(999)}));
        assert_eq!((long.subject.len(), &*long.name), (255, &*"a".repeat(100)));
    }
}
