//! Secrets in what people see of runs: masked.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value as Json};

/// What stands in place of a secret.
pub const MASKED: &str = "••••••";
/// Shorter values are no secrets: they stand in every other text.
const MIN_SECRET_BYTES: usize = 4;
/// Names of members whose values are secret, in lower case without `-` and `_`.
const SECRET_NAMES: [&str; 15] = [
    "accesstoken",
    "authorization",
    "cookie",
    "csrftoken",
    "idtoken",
    "passphrase",
    "passwd",
    "privatekey",
    "proxyauthorization",
    "refreshtoken",
    "sessiontoken",
    "setcookie",
    "token",
    "xeditortoken",
    "xauthtoken",
];
/// What names of secret members end with.
const SECRET_ENDS: [&str; 3] = ["password", "secret", "apikey"];
/// Words before the credentials of a header.
const SCHEMES: [&str; 2] = ["Bearer ", "Basic "];
/// Shorter credentials are words that follow `Basic` or `Bearer` in a sentence.
const MIN_CREDENTIAL_BYTES: usize = 12;
/// What the keys that the service makes begin with.
const KEY_PREFIX: &str = "plt_";

/// Masks secrets in texts and JSON: known values, values of members such as `authorization` and
/// `password`, and credentials behind `Bearer` and `Basic`.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    /// Known secrets in the forms in which they occur, longest first.
    values: Vec<String>,
}

impl Mask {
    /// A mask of known secrets, as they are, in JSON, in addresses and as base64.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut mask = Self::default();
        mask.add(secrets);
        mask
    }

    /// The same mask with another secret.
    #[must_use]
    pub fn with(&self, secret: &str) -> Self {
        let mut mask = self.clone();
        mask.add([secret]);
        mask
    }

    fn add<'a>(&mut self, secrets: impl IntoIterator<Item = &'a str>) {
        let secrets = secrets.into_iter();
        let long = secrets.filter(|secret| secret.len() >= MIN_SECRET_BYTES);
        self.values.extend(long.flat_map(forms));
        let by_length = |one: &String, other: &String| (other.len(), one).cmp(&(one.len(), other));
        self.values.sort_unstable_by(by_length);
        self.values.dedup();
    }

    /// `text` without secrets.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for value in &self.values {
            if masked.contains(value.as_str()) {
                masked = masked.replace(value.as_str(), MASKED);
            }
        }
        for scheme in SCHEMES {
            masked = without_tokens(&masked, scheme, MIN_CREDENTIAL_BYTES);
        }
        without_tokens(&masked, KEY_PREFIX, MIN_CREDENTIAL_BYTES)
    }

    /// `value` without secrets: in its texts, in names of members, and whole members by their name.
    #[must_use]
    pub fn value(&self, value: &Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(text)),
            Json::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Json::Object(members) => {
                let member = |(name, inner): (&String, &Json)| {
                    let inner = match is_secret_name(name) {
                        true => hidden(inner),
                        false => self.value(inner),
                    };
                    (self.text(name), inner)
                };
                Json::Object(members.iter().map(member).collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }
}

/// The forms in which a secret occurs.
fn forms(secret: &str) -> Vec<String> {
    let quoted = Json::from(secret).to_string();
    let encoded = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect::<String>();
    vec![
        secret.to_owned(),
        quoted.trim_matches('"').to_owned(),
        encoded.replace('+', "%20"),
        encoded,
        STANDARD.encode(secret),
    ]
}

fn is_secret_name(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(|letter| !matches!(letter, '-' | '_'))
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    SECRET_NAMES.contains(&plain.as_str()) || SECRET_ENDS.iter().any(|end| plain.ends_with(end))
}

/// The value of a secret member: its shape without what it says.
fn hidden(value: &Json) -> Json {
    match value {
        Json::String(text) if !text.is_empty() => MASKED.into(),
        Json::Number(_) => MASKED.into(),
        Json::Array(items) => items.iter().map(hidden).collect(),
        Json::Object(members) => {
            let members = members.iter();
            Json::Object(
                members
                    .map(|(name, inner)| (name.clone(), hidden(inner)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// `text` without the tokens of at least `least` bytes behind each `start`.
fn without_tokens(text: &str, start: &str, least: usize) -> String {
    let mut parts = text.split(start);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_of_token =
            |letter: char| letter.is_ascii_alphanumeric() || "-._~+/=".contains(letter);
        let end = part
            .find(|letter| !is_of_token(letter))
            .unwrap_or(part.len());
        masked.push_str(start);
        match end >= least {
            true => {
                masked.push_str(MASKED);
                masked.push_str(&part[end..]);
            }
            false => masked.push_str(part),
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn known_secrets_are_masked_in_every_form() {
        let mask = Mask::new(["pa ss\"word/1", "abc", "pa ss\"word/1 and more"]);
        let said = |text: &str| mask.text(text);
        assert_eq!(said("it is pa ss\"word/1."), format!("it is {MASKED}."));
        assert_eq!(
            said("pa ss\"word/1 and more"),
            MASKED,
            "the longer one first"
        );
        assert_eq!(
            said(r#"{"a":"pa ss\"word/1"}"#),
            format!(r#"{{"a":"{MASKED}"}}"#)
        );
        assert_eq!(said("?p=pa+ss%22word%2F1&b"), format!("?p={MASKED}&b"));
        assert_eq!(said("?p=pa%20ss%22word%2F1"), format!("?p={MASKED}"));
        assert_eq!(said(&STANDARD.encode("pa ss\"word/1")), MASKED);
        assert_eq!(
            said("abc is too short to be one"),
            "abc is too short to be one"
        );
        assert_eq!(mask.with("wxyz").text("wxyz"), MASKED);
    }

    #[test]
    fn credentials_are_masked_by_where_they_stand() {
        let mask = Mask::default();
        let key = format!("plt_{}_{}", "0a".repeat(8), "9".repeat(48));
        assert_eq!(
            mask.text(&format!("with {key},")),
            format!("with plt_{MASKED},")
        );
        assert_eq!(
            mask.text("Authorization: Bearer eyJhbGciOiJFZERTQSJ9.e30.x and Basic data"),
            format!("Authorization: Bearer {MASKED} and Basic data")
        );
        let value = json!({"Authorization": "x", "x-api-key": "y", "Set-Cookie": ["a=1"], "dbPassword": 7,
            "client_secret": null, "nested": {"token": {"a": "b"}}, "tokens": 12, "name": "Ada"});
        assert_eq!(
            mask.value(&value),
            json!({"Authorization": MASKED, "x-api-key": MASKED, "Set-Cookie": [MASKED], "dbPassword": MASKED,
                "client_secret": null, "nested": {"token": {"a": MASKED}}, "tokens": 12, "name": "Ada"})
        );
    }
}
