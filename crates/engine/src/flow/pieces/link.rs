//! Links to archives that end by themselves: HMAC-SHA256 (RFC 2104) over the digest and the end.

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::manifest::hex;

/// Where archives are, on the app.
pub const PATH: &str = "/pieces/archives/";

/// A link to the archive of a piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// Address of the archive on the app, from its first `/`.
    pub path: String,
    /// SHA-256 of the archive, in hexadecimal.
    pub digest: String,
}

/// The key that links are signed with.
pub struct LinkKey([u8; 32]);

impl LinkKey {
    /// A key.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// A link to the archive of `digest` until `expires`, in seconds since 1970.
    #[must_use]
    pub fn link(&self, digest: &str, expires: u64) -> Link {
        let signature = self.sign(digest, expires);
        Link {
            path: format!("{PATH}{digest}?expires={expires}&signature={signature}"),
            digest: digest.to_owned(),
        }
    }

    /// Whether a link was signed with this key and has not ended at `now`.
    #[must_use]
    pub fn allows(&self, digest: &str, expires: u64, signature: &str, now: u64) -> bool {
        self.signed(digest, expires, signature) && now < expires
    }

    /// Whether `signature` is this key's for `subject` and `expires`, ended or not.
    #[must_use]
    pub fn signed(&self, subject: &str, expires: u64, signature: &str) -> bool {
        let expected = self.sign(subject, expires);
        // In constant time: what is compared is public except for where it differs.
        expected.len() == signature.len()
            && expected
                .bytes()
                .zip(signature.bytes())
                .fold(0, |seen, (one, other)| seen | (one ^ other))
                == 0
    }

    /// The signature of what a link leads to, `subject`, until `expires`. In hexadecimal.
    #[must_use]
    pub fn sign(&self, subject: &str, expires: u64) -> String {
        let message = format!("{subject}\n{expires}");
        hex(&authenticate(&self.0, message.as_bytes()))
    }
}

/// HMAC-SHA256, RFC 2104.
pub(in crate::flow) fn authenticate(key: &[u8], message: &[u8]) -> [u8; 32] {
    // Keys of any length are taken.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("every key has a length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_end_and_cannot_be_made_up() {
        let key = LinkKey::new([7; 32]);
        let link = key.link("ab", 100);
        let signature = link.path.rsplit_once('=').unwrap().1.to_owned();
        assert!(link.path.starts_with("/pieces/archives/ab?expires=100&"));
        assert!(key.allows("ab", 100, &signature, 99));
        assert!(!key.allows("ab", 100, &signature, 100), "it has ended");
        assert!(key.signed("ab", 100, &signature), "but it was signed");
        assert!(!key.allows("ab", 101, &signature, 99));
        assert!(!key.allows("ac", 100, &signature, 99));
        assert!(!key.allows("ab", 100, "", 99));
        assert!(!LinkKey::new([8; 32]).allows("ab", 100, &signature, 99));
    }

    #[test]
    fn codes_are_those_of_the_standard() {
        // Python: hmac.new(bytes([11]) * 20 + bytes(12), b"Hi There", "sha256"), the first case of
        // RFC 4231 with its key filled up by zeros, which changes nothing.
        let mut key = [0; 32];
        key[..20].fill(11);
        let code = hex(&authenticate(&key, b"Hi There"));
        assert_eq!(
            code,
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
    }
}
