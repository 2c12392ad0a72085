//! Settings of the editor in pages of other sites.

use serde::Serialize;

use super::{ConfigError, Settings};

/// Shortest secret, in characters.
const MIN_SECRET: usize = 32;

/// The editor in pages of other sites.
#[derive(Clone, Debug, Serialize)]
pub struct EditorConfig {
    /// Secret that editor tokens are signed with.
    #[serde(skip)]
    pub token_secret: Option<String>,
    /// Origins whose pages may frame the editor.
    #[serde(rename = "editor_frame_ancestors")]
    pub frame_ancestors: Vec<String>,
}

impl EditorConfig {
    pub(super) fn resolve(settings: &Settings) -> Result<Self, ConfigError> {
        let secret = settings.editor_token_secret.clone();
        let secret = secret.filter(|secret| !secret.is_empty());
        let is_short = |secret: &String| secret.chars().count() < MIN_SECRET;
        if secret.as_ref().is_some_and(is_short) {
            return Err(ConfigError::new(
                format!("EDITOR_TOKEN_SECRET has fewer than {MIN_SECRET} characters"),
                "generate one with: openssl rand -hex 32",
            ));
        }
        let frame_ancestors = settings.editor_frame_ancestors.clone().unwrap_or_default();
        if let Some(wrong) = frame_ancestors.iter().find(|origin| !is_origin(origin)) {
            return Err(ConfigError::new(
                format!("EDITOR_FRAME_ANCESTORS: `{wrong}` is not an origin"),
                "list origins, such as https://app.example.com,https://*.example.org:8443",
            ));
        }
        Ok(Self {
            token_secret: secret,
            frame_ancestors,
        })
    }
}

/// Whether a text is an origin, with nothing in it that would end a source of a content security
/// policy. Its host may begin with `*.`.
fn is_origin(text: &str) -> bool {
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| {
        let name = host.strip_prefix("*.").unwrap_or(host);
        let is_part = |letter: char| {
            letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | ':' | '[' | ']')
        };
        !name.is_empty() && name.chars().all(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(secret: &str, ancestors: &[&str]) -> Result<EditorConfig, ConfigError> {
        EditorConfig::resolve(&Settings {
            editor_token_secret: Some(secret.to_owned()),
            editor_frame_ancestors: Some(ancestors.iter().map(|&one| one.to_owned()).collect()),
            ..Settings::default()
        })
    }

    #[test]
    fn origins_are_origins_and_secrets_are_long() {
        let secret = "a".repeat(32);
        let good = [
            "https://app.example.com",
            "http://localhost:8080",
            "https://*.a.example",
        ];
        assert_eq!(read(&secret, &good).unwrap().frame_ancestors, good);
        for wrong in [
            "*",
            "app.example.com",
            "https://",
            "https://a.example/path",
            "https://a.example; script-src *",
            "https://a.example 'self'",
            "https://a.*.example",
        ] {
            assert!(read(&secret, &[wrong]).is_err(), "{wrong}");
        }
        assert!(read("short", &[]).is_err());
        assert!(read("", &[]).unwrap().token_secret.is_none());
    }
}
