//! The configuration as text.

use std::fmt::Write as _;

use super::{Config, SETTINGS};

impl Config {
    /// The resolved configuration as TOML, without secrets.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let decided = toml::Table::try_from(self).unwrap_or_default();
        let mut text = String::new();
        for setting in SETTINGS {
            let (name, variable) = (setting.name, setting.variable);
            let file = setting.file_variable();
            let file = file.map_or_else(String::new, |file| format!(" or {file}"));
            let _ = writeln!(text, "# {} {variable}{file}", setting.about);
            let _ = match (self.secrets(name), decided.get(name)) {
                (Some(count), _) => writeln!(text, "# {name}: {count} set, not shown"),
                (None, Some(value)) => writeln!(text, "{name} = {value}"),
                // `bind` contains both after resolution.
                (None, None) if matches!(name, "host" | "port") => {
                    writeln!(text, "# {name}: see bind")
                }
                (None, None) => writeln!(text, "# {name}: not set"),
            };
        }
        text
    }

    /// Number of values of a secret setting; `None` if the setting is not secret.
    pub(super) fn secrets(&self, name: &str) -> Option<usize> {
        match name {
            "api_key_admin" => Some(self.api_key_admin.len()),
            "api_key_render" => Some(self.api_key_render.len()),
            "editor_token_secret" => Some(usize::from(self.exposure.editor.token_secret.is_some())),
            "oidc_client_secret" => Some(usize::from(self.exposure.oidc.client_secret.is_some())),
            "metrics_token" => Some(usize::from(self.metrics_token.is_some())),
            "webhook_secret" => Some(usize::from(self.webhook_secret.is_some())),
            "smtp_url" => Some(usize::from(self.mail.url.is_some())),
            "otel_exporter_otlp_headers" => Some(usize::from(!self.trace.headers.is_empty())),
            "database_url" => Some(usize::from(self.database.url.is_some())),
            "redis_url" => Some(usize::from(self.database.redis.url.is_some())),
            "link_secret" => Some(usize::from(self.s3.link_secret.is_some())),
            "s3_access_key_id" => Some(usize::from(self.s3.access_key_id.is_some())),
            "s3_secret_access_key" => Some(usize::from(self.s3.secret_access_key.is_some())),
            "s3_session_token" => Some(usize::from(self.s3.session_token.is_some())),
            "worker_token" => Some(usize::from(self.worker_token.is_some())),
            _ => None,
        }
    }
}
