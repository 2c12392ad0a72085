//! The cookies of a job: Chromium shows them to scripts, and the requests that Platen sends carry
//! those that are for their URL.

use serde_json::{Value, json};

use super::Page;
use crate::{
    error::Error,
    options::{Cookie, SameSite},
};

impl SameSite {
    /// Its name in the DevTools protocol.
    fn name(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Lax => "Lax",
            Self::None => "None",
        }
    }
}

impl Page {
    /// Sets the cookies that scripts see. The request interceptor sets the request headers.
    pub(super) async fn show_cookies(&self, cookies: &[Cookie]) -> Result<(), Error> {
        let cookies: Vec<Value> = cookies.iter().map(described).collect();
        let set: Result<Value, Error> = self
            .call("Network.setCookies", json!({ "cookies": cookies }))
            .await;
        set.map(drop).map_err(|error| match error {
            Error::Refused { message, .. } => Error::bad_option("cookies", message),
            other => other,
        })
    }
}

fn described(cookie: &Cookie) -> Value {
    let mut described = json!({
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
    });
    // Chromium takes `None` of secure cookies only, and Gotenberg drops it.
    let same_site = cookie.same_site;
    if let Some(same_site) = same_site.filter(|it| *it != SameSite::None || cookie.secure) {
        described["sameSite"] = same_site.name().into();
    }
    described
}

/// The value of the header `Cookie` of a request; `None` without any.
pub(super) fn header_for(cookies: &[Cookie], url: &str) -> Option<String> {
    let cookies = cookies.iter().filter(|cookie| is_for(cookie, url));
    let pairs: Vec<String> = cookies
        .map(|cookie| format!("{}={}", cookie.name, cookie.value))
        .collect();
    (!pairs.is_empty()).then(|| pairs.join("; "))
}

/// RFC 6265, section 5.4.
fn is_for(cookie: &Cookie, url: &str) -> bool {
    let is_encrypted = url
        .split_once("://")
        .is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https"));
    (is_encrypted || !cookie.secure)
        && is_of_host(&cookie.domain, &host_of(url))
        && is_of_path(&cookie.path, path_of(url))
}

fn is_of_host(domain: &str, host: &str) -> bool {
    match domain.strip_prefix('.') {
        Some(domain) => {
            host == domain
                || host
                    .strip_suffix(domain)
                    .is_some_and(|rest| rest.ends_with('.'))
        }
        None => host == domain,
    }
}

/// RFC 6265, section 5.1.4.
fn is_of_path(own: &str, path: &str) -> bool {
    path.strip_prefix(own)
        .is_some_and(|rest| rest.is_empty() || own.ends_with('/') || rest.starts_with('/'))
}

fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => host,
    };
    host.to_ascii_lowercase()
}

fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let rest = &rest[..end];
    rest.find('/').map_or("/", |start| &rest[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_paths_are_read() {
        let url = "https://user@A.example.com:8443/x?y#z";
        assert_eq!(
            (host_of(url).as_str(), path_of(url)),
            ("a.example.com", "/x")
        );
        assert_eq!(host_of("http://[::1]:80/"), "[::1]");
        assert_eq!(path_of("http://a?b/c"), "/");
        assert_eq!(path_of("http://a/b/#c/d"), "/b/");
    }

    fn cookie() -> Cookie {
        Cookie {
            name: "a".into(),
            value: "b".into(),
            domain: "example.com".into(),
            path: "/".into(),
            secure: false,
            http_only: false,
            same_site: None,
        }
    }

    #[test]
    fn cookies_go_to_their_hosts_only() {
        let goes = |domain: &str, host: &str| {
            let domain = domain.into();
            is_for(&Cookie { domain, ..cookie() }, &format!("http://{host}/x"))
        };
        assert!(goes("example.com", "example.com:8080"));
        assert!(!goes("example.com", "a.example.com"));
        assert!(goes(".example.com", "a.example.com"));
        assert!(!goes(".example.com", "badexample.com"));
    }

    #[test]
    fn cookies_go_to_their_paths_only() {
        let goes = |path: &str, url: &str| {
            let path = path.into();
            is_for(&Cookie { path, ..cookie() }, url)
        };
        for url in ["http://example.com", "http://example.com/a/b?c"] {
            assert!(goes("/", url), "{url}");
        }
        for url in ["/a", "/a/", "/a/b", "/a?b"] {
            assert!(goes("/a", &format!("http://example.com{url}")), "{url}");
        }
        for url in ["", "/", "/ab", "/b/a", "/A", "/?/a"] {
            assert!(!goes("/a", &format!("http://example.com{url}")), "{url}");
        }
        assert!(goes("/a/", "http://example.com/a/b"));
        assert!(!goes("/a/", "http://example.com/a"));
    }

    #[test]
    fn secure_cookies_need_https() {
        let secure = [Cookie {
            secure: true,
            ..cookie()
        }];
        assert_eq!(header_for(&secure, "http://example.com/"), None);
        let sent = header_for(&secure, "https://example.com/");
        assert_eq!(sent.as_deref(), Some("a=b"));
        let both = header_for(&[cookie(), cookie()], "http://example.com/");
        assert_eq!(both.as_deref(), Some("a=b; a=b"));
    }

    #[test]
    fn chromium_gets_what_a_cookie_says() {
        let strict = Cookie {
            path: "/a".into(),
            secure: true,
            http_only: true,
            same_site: Some(SameSite::Strict),
            ..cookie()
        };
        let described = described(&strict);
        assert_eq!(described["path"], "/a");
        assert_eq!(described["secure"], true);
        assert_eq!(described["httpOnly"], true);
        assert_eq!(described["sameSite"], "Strict");
        assert!(super::described(&cookie()).get("sameSite").is_none());
    }
}
