//! Settings of Gotenberg's routes, by its names.

use hyper::header::HeaderName;
use serde::Serialize;

use super::{ConfigError, DownloadConfig, Settings, UrlLists, is_on};

/// Which of Gotenberg's routes there are, and where.
#[derive(Clone, Debug, Serialize)]
pub struct GotenbergConfig {
    /// Path before its routes, with a slash at both ends.
    #[serde(rename = "api_root_path")]
    pub root_path: String,
    /// Files that forms name by URL.
    #[serde(flatten)]
    pub download: DownloadConfig,
    /// URLs that are allowed and denied by regular expressions.
    #[serde(flatten)]
    pub urls: UrlLists,
    /// Header by which clients know their request, in lower case.
    #[serde(rename = "api_correlation_id_header")]
    pub trace_header: String,
    /// Switches off `/forms/chromium`.
    pub chromium_disable_routes: bool,
    /// Switches off scripts in the pages of `/forms/chromium`.
    pub chromium_disable_javascript: bool,
    /// Switches off `/forms/libreoffice`.
    pub libreoffice_disable_routes: bool,
    /// Switches off `/forms/pdfengines` and `/forms/pdf`.
    pub pdfengines_disable_routes: bool,
    /// Switches off `/prometheus/metrics`.
    pub prometheus_disable_collect: bool,
}

/// Headers of requests and answers that mean something else to clients, proxies or the service.
const HEADERS_IN_USE: [&str; 36] = [
    "accept",
    "accept-encoding",
    "accept-ranges",
    "age",
    "allow",
    "authorization",
    "cache-control",
    "connection",
    "content-disposition",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "cookie",
    "date",
    "etag",
    "expect",
    "forwarded",
    "host",
    "idempotency-key",
    "keep-alive",
    "last-modified",
    "location",
    "origin",
    "platen-signature",
    "range",
    "retry-after",
    "server",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "vary",
    "www-authenticate",
    "x-api-key",
];

/// Whether the header `name`, in lower case, is needed for something else than an identifier.
fn has_other_meaning(name: &str) -> bool {
    let is_of_a_family = |prefix: &str| name.starts_with(prefix);
    HEADERS_IN_USE.contains(&name)
        || ["access-control-", "if-", "proxy-", "sec-", "x-forwarded-"]
            .into_iter()
            .any(is_of_a_family)
        || (is_of_a_family("gotenberg-") && name != "gotenberg-trace")
}

impl GotenbergConfig {
    pub(super) fn resolve(settings: &Settings) -> Result<Self, ConfigError> {
        let root = settings.api_root_path.as_deref().unwrap_or("/");
        let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./".contains(sign);
        if !root.starts_with('/') || !root.chars().all(is_plain) || root.contains("//") {
            return Err(ConfigError {
                message: "API_ROOT_PATH must be a path such as `/gotenberg/`".to_owned(),
                hint: Some("use letters, digits, `-`, `_` and `.`, with a slash first".to_owned()),
            });
        }
        let header = settings.api_correlation_id_header.as_deref();
        let header = header.unwrap_or("Gotenberg-Trace").to_ascii_lowercase();
        if HeaderName::from_bytes(header.as_bytes()).is_err() {
            return Err(ConfigError::new(
                "API_CORRELATION_ID_HEADER must be the name of a header",
                "use letters, digits and `-`, as in `X-Correlation-Id`",
            ));
        }
        if has_other_meaning(&header) {
            return Err(ConfigError {
                message: format!(
                    "API_CORRELATION_ID_HEADER must not be `{header}`: HTTP or Gotenberg's forms \
                     use this header for something else"
                ),
                hint: Some("use a header of your own, such as `X-Correlation-Id`".to_owned()),
            });
        }
        Ok(Self {
            trace_header: header,
            root_path: format!("{}/", root.trim_end_matches('/')),
            download: DownloadConfig::resolve(settings),
            urls: UrlLists::resolve(settings)?,
            chromium_disable_routes: is_on(settings.chromium_disable_routes),
            chromium_disable_javascript: is_on(settings.chromium_disable_javascript),
            libreoffice_disable_routes: is_on(settings.libreoffice_disable_routes),
            pdfengines_disable_routes: is_on(settings.pdfengines_disable_routes),
            prometheus_disable_collect: is_on(settings.prometheus_disable_collect),
        })
    }

    /// Whether the route at `path` is switched off.
    #[must_use]
    pub fn disables(&self, path: &str) -> bool {
        [
            (self.chromium_disable_routes, "/forms/chromium/"),
            (self.libreoffice_disable_routes, "/forms/libreoffice/"),
            (self.pdfengines_disable_routes, "/forms/pdfengines/"),
            (self.pdfengines_disable_routes, "/forms/pdf/"),
            (self.prometheus_disable_collect, "/prometheus/"),
        ]
        .into_iter()
        .any(|(off, prefix)| off && path.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(root: &str) -> Result<GotenbergConfig, ConfigError> {
        GotenbergConfig::resolve(&Settings {
            api_root_path: Some(root.to_owned()),
            chromium_disable_routes: Some(true),
            ..Settings::default()
        })
    }

    #[test]
    fn a_root_path_has_slashes_at_both_ends() {
        for (given, kept) in [("/", "/"), ("/a", "/a/"), ("/a/b/", "/a/b/")] {
            assert_eq!(resolve(given).unwrap().root_path, kept);
        }
        for wrong in ["", "a", "/a b", "//", "/a?b"] {
            assert!(resolve(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_header_of_requests_has_a_name() {
        let named = |name: &str| {
            GotenbergConfig::resolve(&Settings {
                api_correlation_id_header: Some(name.to_owned()),
                ..Settings::default()
            })
        };
        assert_eq!(named("X-Request").unwrap().trace_header, "x-request");
        assert_eq!(
            named("Gotenberg-Trace").unwrap().trace_header,
            "gotenberg-trace"
        );
        assert!(named("a b").is_err() && named("").is_err());
        for in_use in [
            "Content-Type",
            "AUTHORIZATION",
            "host",
            "X-Api-Key",
            "X-Forwarded-For",
            "Gotenberg-Webhook-Url",
        ] {
            let error = named(in_use).expect_err(in_use);
            assert!(error.message.contains("something else"), "{error:?}");
        }
    }

    #[test]
    fn only_what_is_switched_off_is_off() {
        let config = resolve("/").unwrap();
        assert!(config.disables("/forms/chromium/convert/html"));
        assert!(!config.disables("/forms/libreoffice/convert"));
        assert!(!config.disables("/prometheus/metrics"));
    }
}
