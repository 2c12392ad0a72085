//! Gotenberg's lists of URLs: regular expressions beside the lists of hosts.

use platen_outbound::UrlRules;
use serde::Serialize;

use super::{ConfigError, Settings};

/// URLs that are allowed and denied, by their users.
#[derive(Clone, Debug, Serialize)]
pub struct UrlLists {
    pub(super) chromium_allow_list: Vec<String>,
    chromium_deny_list: Vec<String>,
    pub(super) api_download_from_allow_list: Vec<String>,
    api_download_from_deny_list: Vec<String>,
    pub(super) webhook_allow_list: Vec<String>,
    webhook_deny_list: Vec<String>,
    pub(super) webhook_error_allow_list: Vec<String>,
    webhook_error_deny_list: Vec<String>,
    /// URLs of pages and of what they load.
    #[serde(skip)]
    pub chromium: UrlRules,
    /// URLs that `downloadFrom` names.
    #[serde(skip)]
    pub download: UrlRules,
    /// URLs of webhooks.
    #[serde(skip)]
    pub webhook: UrlRules,
    /// URLs of errors and events of webhooks, where there are lists for them.
    #[serde(skip)]
    pub webhook_error: Option<UrlRules>,
}

impl UrlLists {
    pub(super) fn resolve(settings: &Settings) -> Result<Self, ConfigError> {
        let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
        let mut lists = Self {
            chromium_allow_list: list(&settings.chromium_allow_list),
            chromium_deny_list: list(&settings.chromium_deny_list),
            api_download_from_allow_list: list(&settings.api_download_from_allow_list),
            api_download_from_deny_list: list(&settings.api_download_from_deny_list),
            webhook_allow_list: list(&settings.webhook_allow_list),
            webhook_deny_list: list(&settings.webhook_deny_list),
            webhook_error_allow_list: list(&settings.webhook_error_allow_list),
            webhook_error_deny_list: list(&settings.webhook_error_deny_list),
            chromium: UrlRules::default(),
            download: UrlRules::default(),
            webhook: UrlRules::default(),
            webhook_error: None,
        };
        let rules = |prefix: &str, allowed: &[String], denied: &[String]| {
            UrlRules::new(allowed, denied).map_err(|error| {
                ConfigError::new(
                    format!("{prefix}_ALLOW_LIST or {prefix}_DENY_LIST: {error}"),
                    "write regular expressions such as `^https://example\\.com/`",
                )
            })
        };
        lists.chromium = rules(
            "CHROMIUM",
            &lists.chromium_allow_list,
            &lists.chromium_deny_list,
        )?;
        lists.download = rules(
            "API_DOWNLOAD_FROM",
            &lists.api_download_from_allow_list,
            &lists.api_download_from_deny_list,
        )?;
        lists.webhook = rules(
            "WEBHOOK",
            &lists.webhook_allow_list,
            &lists.webhook_deny_list,
        )?;
        let (allowed, denied) = (
            &lists.webhook_error_allow_list,
            &lists.webhook_error_deny_list,
        );
        if !allowed.is_empty() || !denied.is_empty() {
            lists.webhook_error = Some(rules("WEBHOOK_ERROR", allowed, denied)?);
        }
        Ok(lists)
    }
}
