//! Editor tokens: the holder edits one template until the token ends. They need no storage: the
//! token says what it allows, signed with `EDITOR_TOKEN_SECRET`, and is worth no more than the key
//! that made it is now.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use platen_signing::LinkKey;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::scope::{Scope, Scopes};

/// The first letters of each token.
const PREFIX: &str = "plte.";
/// Longest token, in bytes.
const MAX_BYTES: usize = 2_048;

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grant {
    /// Key of the template.
    #[serde(rename = "t")]
    pub(crate) template: String,
    /// What its holder may do with it.
    #[serde(rename = "s")]
    pub(crate) scopes: Vec<Scope>,
    /// Who edits, for the audit log.
    #[serde(rename = "n")]
    pub(crate) name: String,
    /// The key that made the token, as sessions say it; empty if there are no keys.
    #[serde(rename = "b")]
    pub(crate) issuer: String,
    /// Its end, in seconds since 1970.
    #[serde(rename = "e")]
    pub(crate) expires: u64,
}

impl Grant {
    pub(crate) fn scopes(&self) -> Scopes {
        Scopes::of(&self.scopes)
    }
}

/// Makes and verifies the tokens.
pub(crate) struct EditorTokens(LinkKey);

impl EditorTokens {
    pub(crate) fn new(secret: &str) -> Self {
        let key = Sha256::digest(format!("platen editor token\n{secret}"));
        Self(LinkKey::new(key.into()))
    }

    /// The token of a grant.
    pub(crate) fn sign(&self, grant: &Grant) -> String {
        let text = serde_json::to_vec(grant).unwrap_or_default();
        let text = BASE64_URL_SAFE_NO_PAD.encode(text);
        let signature = self.0.sign(&text, grant.expires);
        format!("{PREFIX}{text}.{signature}")
    }

    /// What a token says, if this service signed it and it has not ended at `now`.
    pub(super) fn read(&self, token: &[u8], now: u64) -> Option<Grant> {
        let (text, signature) = split(token)?;
        let grant = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        let grant: Grant = serde_json::from_slice(&grant).ok()?;
        let is_valid = self.0.allows(text, grant.expires, signature, now);
        is_valid.then_some(grant)
    }
}

/// Whether a key is an editor token.
pub(super) fn is_token(key: &[u8]) -> bool {
    key.starts_with(PREFIX.as_bytes())
}

fn split(token: &[u8]) -> Option<(&str, &str)> {
    if token.len() > MAX_BYTES {
        return None;
    }
    let token = std::str::from_utf8(token).ok()?;
    token.strip_prefix(PREFIX)?.split_once('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant() -> Grant {
        Grant {
            template: "invoice".to_owned(),
            scopes: vec![Scope::Read, Scope::Draft],
            name: "Ada".to_owned(),
            issuer: "key-1".to_owned(),
            expires: 100,
        }
    }

    #[test]
    fn a_token_says_what_was_granted_until_its_end() {
        let tokens = EditorTokens::new("a secret");
        let token = tokens.sign(&grant());
        assert!(is_token(token.as_bytes()));
        assert_eq!(tokens.read(token.as_bytes(), 99), Some(grant()));
        assert_eq!(tokens.read(token.as_bytes(), 100), None, "it has ended");
        let other = EditorTokens::new("another secret");
        assert_eq!(other.read(token.as_bytes(), 99), None);
    }

    #[test]
    fn nobody_can_change_a_token() {
        let tokens = EditorTokens::new("a secret");
        let token = tokens.sign(&grant());
        let (_, signature) = split(token.as_bytes()).unwrap();
        for changed in [
            Grant {
                template: "letter".to_owned(),
                ..grant()
            },
            Grant {
                scopes: vec![Scope::Publish],
                ..grant()
            },
            Grant {
                expires: 200,
                ..grant()
            },
        ] {
            let text = BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(&changed).unwrap());
            let forged = format!("{PREFIX}{text}.{signature}");
            assert_eq!(tokens.read(forged.as_bytes(), 50), None);
        }
        let long = format!("{PREFIX}{}.a", "a".repeat(MAX_BYTES));
        for broken in ["", "plte.", "plte.a", "plte.a.b", "plte..", &long] {
            assert_eq!(tokens.read(broken.as_bytes(), 50), None);
        }
        assert_eq!(tokens.read(b"plte.\xff.a", 50), None);
    }
}
