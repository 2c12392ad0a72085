//! SHA-256 of content, as it is written in names and headers.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

use super::BlobDigest;

/// SHA-256 of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum([u8; 32]);

impl Sum {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The sum of what `hasher` was given; it begins anew.
    pub(super) fn finish(hasher: &mut Sha256) -> Self {
        Self(hasher.finalize_reset().into())
    }

    pub(super) fn to_hex(self) -> BlobDigest {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// As S3 writes checksums.
    pub(super) fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }
}

/// Whether a name is a digest in hexadecimal.
pub(super) fn is_digest(name: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.len() == 64 && name.bytes().all(is_digit)
}
