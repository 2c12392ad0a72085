//! Files as values of a flow: `{"$file": {"name", "mediaType", "sizeBytes", "base64"}}`.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value as Json, json};

/// The member that marks a file.
pub(super) const MARK: &str = "$file";

/// A file as a value.
pub(super) fn value(name: &str, media_type: &str, bytes: &[u8]) -> Json {
    json!({MARK: {
        "name": name,
        "mediaType": media_type,
        "sizeBytes": bytes.len(),
        "base64": STANDARD.encode(bytes),
    }})
}
