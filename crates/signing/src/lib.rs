//! Signatures with a secret key: HMAC-SHA256 (RFC 2104), in hexadecimal.
//!
//! Platen's links expire and cannot be forged ([`LinkKey`]); bodies that are sent to webhooks are
//! signed with the time ([`signature_header`]).

use std::fmt::Write;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The key that signs links.
pub struct LinkKey([u8; 32]);

impl LinkKey {
    /// Wraps a key of 32 random bytes.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// The signature of a link's target, `subject`, until `expires`, in seconds since 1970.
    ///
    /// A line feed separates the two. A subject of several parts must separate them itself.
    #[must_use]
    pub fn sign(&self, subject: &str, expires: u64) -> String {
        signature(&self.0, format!("{subject}\n{expires}").as_bytes())
    }

    /// Whether this key has signed `subject` and `expires`. The expiry time is not checked.
    #[must_use]
    pub fn signed(&self, subject: &str, expires: u64, signature: &str) -> bool {
        let expected = self.sign(subject, expires);
        // In constant time: otherwise the duration would reveal how much of a guess is correct.
        expected.len() == signature.len()
            && expected
                .bytes()
                .zip(signature.bytes())
                .fold(0, |seen, (one, other)| seen | (one ^ other))
                == 0
    }

    /// Whether a link was signed with this key and has not expired at `now`.
    #[must_use]
    pub fn allows(&self, subject: &str, expires: u64, signature: &str, now: u64) -> bool {
        self.signed(subject, expires, signature) && now < expires
    }
}

/// HMAC-SHA256 of `message` with `key`, in hexadecimal.
///
/// # Panics
/// Never: HMAC accepts keys of any length.
#[must_use]
pub fn signature(key: &[u8], message: &[u8]) -> String {
    of_parts(key, &[message])
}

/// The value of the header `Platen-Signature` of a body that is sent at `seconds` since 1970:
/// `t=SECONDS,v1=HEX`, with the signature of `SECONDS.BODY`.
///
/// The receiver can tell who has sent the body and that it is not an old one sent again.
#[must_use]
pub fn signature_header(key: &[u8], seconds: u64, body: &[u8]) -> String {
    let signature = of_parts(key, &[format!("{seconds}.").as_bytes(), body]);
    format!("t={seconds},v1={signature}")
}

fn of_parts(key: &[u8], parts: &[&[u8]]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("every key has a length");
    for part in parts {
        mac.update(part);
    }
    let mut text = String::with_capacity(64);
    for byte in mac.finalize().into_bytes() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_expire_and_cannot_be_made_up() {
        let key = LinkKey::new([7; 32]);
        let signature = key.sign("ab", 100);
        assert!(key.allows("ab", 100, &signature, 99));
        assert!(!key.allows("ab", 100, &signature, 100), "it has expired");
        assert!(key.signed("ab", 100, &signature), "but it was signed");
        assert!(!key.allows("ab", 101, &signature, 99));
        assert!(!key.allows("ac", 100, &signature, 99));
        assert!(!key.allows("ab", 100, "", 99));
        assert!(!LinkKey::new([8; 32]).allows("ab", 100, &signature, 99));
    }

    #[test]
    fn a_header_signs_the_time_and_the_body() {
        let expected = signature(b"key", b"12.body");
        let header = signature_header(b"key", 12, b"body");
        assert_eq!(header, format!("t=12,v1={expected}"));
    }

    #[test]
    fn codes_are_those_of_the_standard() {
        // The first case of RFC 4231.
        assert_eq!(
            signature(&[11; 20], b"Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
    }
}
