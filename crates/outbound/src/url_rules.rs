//! Which URLs may be reached, by regular expressions: lists of what is allowed and what is denied.

use std::{net::IpAddr, sync::Arc};

use fancy_regex::{Regex, RegexBuilder};
use ureq::http::Uri;
use url::Host;

/// Largest compiled part of an expression that has no look-around and no back-reference, in bytes.
const MAX_COMPILED_BYTES: usize = 4 << 20;
/// How often an expression may try another way through a URL. Only those with look-around or
/// back-references do; the others run in linear time.
const MAX_BACKTRACKS: usize = 100_000;

/// Regular expressions of URLs. Whoever runs the service writes them; strangers choose the URLs.
#[derive(Clone, Debug, Default)]
pub struct UrlRules {
    allowed: Arc<[Regex]>,
    denied: Arc<[Regex]>,
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

    /// Whether a URL may be reached, which others allow if `is_listed`. It may not where an expression
    /// exceeds its bound.
    pub(crate) fn allows(&self, uri: &Uri, is_listed: bool) -> bool {
        let url = plain(uri);
        let is_allowed = |rule: &Regex| verdict(rule, &url).unwrap_or(false);
        let is_denied = |rule: &Regex| verdict(rule, &url).unwrap_or(true);
        (is_listed || self.allowed.iter().any(is_allowed)) && !self.denied.iter().any(is_denied)
    }
}

/// Whether an expression matches a URL; `None`, which the log says, if that exceeds a bound.
fn verdict(rule: &Regex, url: &str) -> Option<bool> {
    let verdict = rule.is_match(url).ok();
    if verdict.is_none() {
        tracing::warn!(
            expression = rule.as_str(),
            bytes = url.len(),
            "a URL is not reached: comparing it with an expression of a list exceeds the bound"
        );
    }
    verdict
}

/// A URL without the name of a user, which could look like the host that an expression means, with its host in
/// lower case, an address in its usual form, and without a dot behind it and the port of its scheme: all of them
/// name the same host.
fn plain(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let host = uri.host().unwrap_or_default().to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    let host = address(host).unwrap_or_else(|| host.to_owned());
    let default = match scheme {
        "http" => 80,
        _ => 443,
    };
    let port = uri.port_u16().filter(|port| *port != default);
    let port = port.map(|port| format!(":{port}"));
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    format!("{scheme}://{host}{}{path}", port.unwrap_or_default())
}

/// The address that a host in another form of numbers means, such as `0xa9fea9fe`; resolvers take
/// these forms, too.
fn address(host: &str) -> Option<String> {
    let address = match Host::parse(host).ok()? {
        Host::Ipv4(address) => IpAddr::V4(address),
        Host::Ipv6(address) => IpAddr::V6(address).to_canonical(),
        Host::Domain(_) => return None,
    };
    Some(match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    })
}

fn compiled(list: &[String]) -> Result<Arc<[Regex]>, String> {
    let compile = |text: &String| {
        RegexBuilder::new(text)
            .delegate_size_limit(MAX_COMPILED_BYTES)
            .backtrack_limit(MAX_BACKTRACKS)
            .build()
            .map_err(|error| format!("`{text}`: {error}"))
    };
    list.iter().map(compile).collect()
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
        let denied = UrlRules::new(&list(".+"), &list("^https://admin\\.a/")).unwrap();
        for same in ["admin.a", "admin.a.", "admin.a:443", "ADMIN.A.:443"] {
            let url = format!("https://{same}/").parse().unwrap();
            assert!(!denied.allows(&url, false), "{same}");
        }
        let metadata = UrlRules::new(&list(".+"), &list(r"^http://169\.254\.")).unwrap();
        for same in [
            "169.254.169.254",
            "2852039166",
            "0xA9FEA9FE",
            "0251.0376.0251.0376",
            "169.254.43518",
            "[::ffff:a9fe:a9fe]",
        ] {
            let url = format!("http://{same}/latest").parse().unwrap();
            assert!(!metadata.allows(&url, false), "{same}");
        }
        let local = UrlRules::new(&list(r"^http://\[::1\]:80/$"), &[]).unwrap();
        assert!(!local.allows(&"http://[0:0::1]/".parse().unwrap(), false));
        let local = UrlRules::new(&list(r"^http://\[::1\]/$"), &[]).unwrap();
        assert!(local.allows(&"http://[0:0::1]/".parse().unwrap(), false));
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
    fn expressions_may_look_around() {
        let list = |text: &str| vec![text.to_owned()];
        let allows = |rules: &UrlRules, url: &str| rules.allows(&url.parse().unwrap(), false);
        let rules = UrlRules::new(&list("^https://(?!internal\\.)"), &[]).unwrap();
        assert!(allows(&rules, "https://example.com/"));
        assert!(!allows(&rules, "https://internal.example.com/"));
        // What Gotenberg denies unless another list is set.
        let rules = UrlRules::new(&list(".+"), &list(r"^file:(?!//\/tmp/).*")).unwrap();
        assert!(allows(&rules, "https://example.com/"));
        let rules = UrlRules::new(&list(r"^https://(\w+)\.\1\.com/"), &[]).unwrap();
        assert!(allows(&rules, "https://a.a.com/") && !allows(&rules, "https://a.b.com/"));
    }

    #[test]
    fn expressions_that_do_not_end_allow_nothing() {
        let list = |text: &str| vec![text.to_owned()];
        let endless = r"^https://example\.com/(?=a)(a|a|aa)+(?<!b)$";
        let url = format!("https://example.com/{}b", "a".repeat(200));
        let url = url.parse().unwrap();
        let allowed = UrlRules::new(&list(endless), &[]).unwrap();
        assert!(!allowed.allows(&url, false));
        let denied = UrlRules::new(&list(".+"), &list(endless)).unwrap();
        assert!(!denied.allows(&url, false));
        assert!(denied.allows(&"https://example.com/b".parse().unwrap(), false));
    }

    #[test]
    fn invalid_expressions_are_refused() {
        let list = |text: &str| vec![text.to_owned()];
        let error = UrlRules::new(&list("^https://(example"), &[]).expect_err("a parenthesis");
        assert!(error.contains("`^https://(example`"), "{error}");
        assert!(UrlRules::new(&list(r"(\w{1000}){1000}"), &[]).is_err());
    }
}
