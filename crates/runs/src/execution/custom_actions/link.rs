//! Links to archives that expire.

use platen_signing::LinkKey;
use serde::{Deserialize, Serialize};

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

impl Link {
    /// A link to the archive of `digest` until `expires`, in seconds since 1970, signed with `key`.
    #[must_use]
    pub fn new(key: &LinkKey, digest: &str, expires: u64) -> Self {
        let signature = key.sign(digest, expires);
        Self {
            path: format!("{PATH}{digest}?expires={expires}&signature={signature}"),
            digest: digest.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_carries_its_own_signature() {
        let key = LinkKey::new([7; 32]);
        let link = Link::new(&key, "ab", 100);
        let (address, signature) = link.path.rsplit_once('=').unwrap();
        assert_eq!(address, "/pieces/archives/ab?expires=100&signature");
        assert!(key.allows(&link.digest, 100, signature, 99));
    }
}
