//! ID tokens: signed JSON (RFC 7515, RFC 7519) with the claims of OpenID Connect Core 1.0, section 2.
//!
//! Only signatures of RSA and P-256 with SHA-256 are accepted, whatever a token says: neither `none`
//! nor a shared secret.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value as Json;
use subtle::ConstantTimeEq;

/// Longest token, in bytes.
const MAX_BYTES: usize = 64 << 10;
/// Most keys of a provider that are read.
const MAX_KEYS: usize = 100;
/// How far the clocks of provider and service may be apart, in seconds.
const LEEWAY: u64 = 60;

/// Why a token is refused, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// It is no token.
    #[error("the ID token is malformed")]
    Malformed,
    /// Its algorithm is not accepted.
    #[error("the ID token is not signed with RS256 or ES256")]
    Algorithm,
    /// The provider has no such key; it may have new ones.
    #[error("the provider has no key of the ID token's `kid`")]
    UnknownKey,
    /// The signature does not fit.
    #[error("the signature of the ID token is wrong")]
    Signature,
    /// It is of another provider.
    #[error("`iss` of the ID token is not the issuer")]
    Issuer,
    /// It is for another client.
    #[error("`aud` or `azp` of the ID token is not the client")]
    Audience,
    /// It has expired, or is of the future.
    #[error("the ID token has expired, or is not valid yet")]
    Time,
    /// It answers another sign-in.
    #[error("`nonce` of the ID token is not that of this sign-in")]
    Nonce,
    /// It names nobody.
    #[error("the ID token has no `sub`")]
    Subject,
}

/// The keys of a provider (RFC 7517).
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct KeySet {
    #[serde(default)]
    keys: Vec<Json>,
}

/// A key, as far as it is used.
#[derive(Debug, Deserialize)]
struct Key {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    alg: Option<String>,
    n: Option<String>,
    e: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that must be understood; none are.
    crit: Option<Json>,
}

/// What a token must say.
pub(crate) struct Expected<'e> {
    pub(crate) issuer: &'e str,
    pub(crate) client_id: &'e str,
    pub(crate) nonce: &'e str,
    /// Seconds since 1970.
    pub(crate) now: u64,
}

fn decoded(text: &str) -> Result<Vec<u8>, Refusal> {
    BASE64_URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|_| Refusal::Malformed)
}

impl Key {
    /// Whether it may have signed with this algorithm.
    fn fits(&self, header: &Header) -> bool {
        let kind = match header.alg.as_str() {
            "RS256" => "RSA",
            _ => "EC",
        };
        let of_other =
            |wanted: &Option<String>, is: &str| wanted.as_deref().is_some_and(|one| one != is);
        self.kty == kind
            && !of_other(&self.purpose, "sig")
            && !of_other(&self.alg, &header.alg)
            && (header.kid.is_none() || self.kid == header.kid)
    }

    fn verifies(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> bool {
        let part = |text: &Option<String>| decoded(text.as_deref()?).ok();
        match algorithm {
            "RS256" => {
                let (Some(n), Some(e)) = (part(&self.n), part(&self.e)) else {
                    return false;
                };
                RsaPublicKeyComponents { n, e }
                    .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
                    .is_ok()
            }
            "ES256" if self.crv.as_deref() == Some("P-256") => {
                let (Some(x), Some(y)) = (part(&self.x), part(&self.y)) else {
                    return false;
                };
                let point = [&[4], x.as_slice(), y.as_slice()].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, signature)
                    .is_ok()
            }
            _ => false,
        }
    }
}

/// The claims of a token that a key of the provider has signed and that is for this sign-in.
///
/// # Errors
/// Why it is refused.
pub(crate) fn verify(token: &str, keys: &KeySet, expected: &Expected<'_>) -> Result<Json, Refusal> {
    if token.len() > MAX_BYTES {
        return Err(Refusal::Malformed);
    }
    let (message, signature) = token.rsplit_once('.').ok_or(Refusal::Malformed)?;
    let (header, claims) = message.split_once('.').ok_or(Refusal::Malformed)?;
    let read: Result<Header, _> = serde_json::from_slice(&decoded(header)?);
    let header = read.map_err(|_| Refusal::Malformed)?;
    if !matches!(header.alg.as_str(), "RS256" | "ES256") || header.crit.is_some() {
        return Err(Refusal::Algorithm);
    }
    let signature = decoded(signature)?;
    // Keys of other kinds may have any form.
    let keys = keys.keys.iter().take(MAX_KEYS);
    let keys = keys.filter_map(|key| Key::deserialize(key).ok());
    let mut fitting = keys.filter(|key| key.fits(&header)).peekable();
    if fitting.peek().is_none() {
        return Err(Refusal::UnknownKey);
    }
    if !fitting.any(|key| key.verifies(&header.alg, message.as_bytes(), &signature)) {
        return Err(Refusal::Signature);
    }
    let claims: Json = serde_json::from_slice(&decoded(claims)?).map_err(|_| Refusal::Malformed)?;
    check(&claims, expected)?;
    Ok(claims)
}

/// OpenID Connect Core 1.0, section 3.1.3.7.
fn check(claims: &Json, expected: &Expected<'_>) -> Result<(), Refusal> {
    let text = |name: &str| claims[name].as_str().unwrap_or_default();
    if text("iss") != expected.issuer {
        return Err(Refusal::Issuer);
    }
    let (is_for_client, is_for_others) = match &claims["aud"] {
        Json::String(one) => (one == expected.client_id, false),
        Json::Array(all) => (
            all.iter().any(|one| one == expected.client_id),
            all.len() > 1,
        ),
        _ => (false, false),
    };
    let party = claims.get("azp").map(|party| party == expected.client_id);
    if !is_for_client || !party.unwrap_or(!is_for_others) {
        return Err(Refusal::Audience);
    }
    let seconds = |name: &str| claims[name].as_f64();
    let now = expected.now as f64;
    let leeway = LEEWAY as f64;
    let has_ended = seconds("exp").is_none_or(|end| end + leeway <= now);
    let is_early = |name: &str| seconds(name).is_some_and(|start| start > now + leeway);
    if has_ended || is_early("nbf") || is_early("iat") {
        return Err(Refusal::Time);
    }
    if !bool::from(text("nonce").as_bytes().ct_eq(expected.nonce.as_bytes())) {
        return Err(Refusal::Nonce);
    }
    match text("sub") {
        "" => Err(Refusal::Subject),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
