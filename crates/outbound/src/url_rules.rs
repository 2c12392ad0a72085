//! Which URLs may be reached, by regular expressions: lists of what is allowed and what is denied.

use regex::{RegexSet, RegexSetBuilder};
use ureq::http::Uri;

/// Largest compiled list, in bytes.
const MAX_COMPILED_BYTES: usize = 4 << 20;

/// Regular expressions of URLs. They run in linear time, so there is no look-around and no
/// back-reference.
#[derive(Clone, Debug, Default)]
pub struct UrlRules {
    allowed: RegexSet,
    denied: RegexSet,
}

impl UrlRules {
    /// Compiles the lists.
    ///
    /// # Errors
    /// The first expression that is none, and why.
    pub fn new(allowed: &[String], denied: &[String]) -> Result<Self, String> {
        Ok(Self {
            allowed: compiled(allowed)?,
            denied: compiled(denied)?,
        })
    }

    /// Whether a URL may be reached, which others allow if `is_listed`.
    pub(crate) fn allows(&self, uri: &Uri, is_listed: bool) -> bool {
        let url = plain(uri);
        (is_listed || self.allowed.is_match(&url)) && !self.denied.is_match(&url)
    }
}

/// A URL without the name of a user, which could look like the host that an expression means, and
/// with its host in lower case.
fn plain(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let host = uri.host().unwrap_or_default().to_ascii_lowercase();
    let port = uri.port_u16().map(|port| format!(":{port}"));
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    format!("{scheme}://{host}{}{path}", port.unwrap_or_default())
}

fn compiled(list: &[String]) -> Result<RegexSet, String> {
    let mut builder = RegexSetBuilder::new(list);
    builder.size_limit(MAX_COMPILED_BYTES);
    builder.build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_see_the_host_that_is_reached() {
        let list = |text: &str| vec![text.to_owned()];
        let rules = UrlRules::new(&list(r"^https://example\.com(:|/)"), &list("/secret")).unwrap();
        let allows = |url: &str, is_listed| rules.allows(&url.parse().unwrap(), is_listed);
        assert!(allows("https://EXAMPLE.com/a?b", false));
        assert!(allows("https://example.com:8443", false));
        for wrong in [
            "https://example.com/secret",
            "https://example.com:a@localhost/",
            "https://example.com.localhost/",
            "http://example.com/",
        ] {
            assert!(!allows(wrong, false), "{wrong}");
        }
        assert!(allows("http://localhost/", true) && !allows("http://localhost/secret", true));
        let nothing = UrlRules::default();
        assert!(!nothing.allows(&"https://example.com/".parse().unwrap(), false));
    }

    #[test]
    fn expressions_that_need_more_than_linear_time_are_refused() {
        let list = |text: &str| vec![text.to_owned()];
        let error = UrlRules::new(&list("^file:(?!//tmp/).*"), &[]).expect_err("look-around");
        assert!(error.contains("look-around"), "{error}");
        assert!(UrlRules::new(&[], &list(r"(a)\1")).is_err());
        assert!(UrlRules::new(&list(r"(\w{1000}){1000}"), &[]).is_err());
    }
}
