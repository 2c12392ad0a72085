//! The key or the token that a request shows.

use std::borrow::Cow;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyper::{HeaderMap, header::AUTHORIZATION};
use sha2::{Digest, Sha256};

/// SHA-256 of a key.
pub(super) type Hash = [u8; 32];

pub(super) fn hash(text: &[u8]) -> Hash {
    Sha256::digest(text).into()
}

/// What a session says about a key: a hash of its hash, which does not help to guess it.
pub(super) fn fingerprint(hash: &Hash) -> String {
    let again = Sha256::digest(hash);
    let digits = again[..16].iter().map(|byte| format!("{byte:02x}"));
    digits.collect()
}

/// The number that stands for a key or a user where requests are counted.
pub(super) fn number_of(text: &str) -> u64 {
    let hash = Sha256::digest(text);
    let first = hash.first_chunk().copied();
    u64::from_be_bytes(first.unwrap_or_default())
}

/// The key of a request: as it is, as a bearer token, or as the password of Basic credentials
/// (RFC 7617) with any name.
pub(super) fn key_of(headers: &HeaderMap) -> Option<Cow<'_, [u8]>> {
    if let Some(key) = headers.get("x-api-key") {
        return Some(key.as_bytes().into());
    }
    // As clients of Pulp Engine send editor tokens.
    if let Some(token) = headers.get("x-editor-token") {
        return Some(token.as_bytes().into());
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
