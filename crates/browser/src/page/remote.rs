//! Exceptions as DevTools describes them.

use serde_json::Value;

/// The first line of an exception.
pub(super) fn thrown(details: &Value) -> String {
    let text = details["exception"]["description"].as_str();
    let text = text.or(details["exception"]["value"].as_str());
    let text = text.or(details["text"].as_str()).unwrap_or("it throws");
    text.lines().next().unwrap_or_default().to_owned()
}
