//! Values of rows, the same whichever database they come from.

use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Number(i64),
    Flag(bool),
    Text(String),
    Bytes(Vec<u8>),
}

/// A row, in the order of its table's columns.
pub(super) type Row = Vec<Value>;

impl Value {
    pub(super) fn size_bytes(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Flag(_) => 1,
            Self::Number(_) => 8,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }

    /// Feeds `hasher` so that two rows are the same exactly if their bytes are.
    pub(super) fn digest(&self, hasher: &mut Sha256) {
        let (kind, content): (u8, &[u8]) = match self {
            Self::Null => (0, &[]),
            Self::Number(number) => return sized(hasher, 1, &number.to_le_bytes()),
            Self::Flag(flag) => return sized(hasher, 2, &[u8::from(*flag)]),
            Self::Text(text) => (3, text.as_bytes()),
            Self::Bytes(bytes) => (4, bytes),
        };
        sized(hasher, kind, content);
    }

    /// As part of a key.
    pub(super) fn to_json(&self) -> Json {
        match self {
            Self::Number(number) => Json::from(*number),
            Self::Text(text) => Json::from(&**text),
            Self::Flag(flag) => Json::from(*flag),
            Self::Null | Self::Bytes(_) => Json::Null,
        }
    }
}

fn sized(hasher: &mut Sha256, kind: u8, content: &[u8]) {
    hasher.update([kind]);
    hasher.update((content.len() as u64).to_le_bytes());
    hasher.update(content);
}
