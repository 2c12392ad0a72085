//! Where requests come from while there are no API keys: this machine, and which pages in its browsers.

use std::net::IpAddr;

use hyper::{HeaderMap, Method, header::ORIGIN};
use platen_fault::Code;

use crate::problem::Problem;

/// Whether a host, with or without its port, is this machine.
pub(crate) fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    };
    let address = name.parse::<IpAddr>();
    name == "localhost"
        || name.ends_with(".localhost")
        || address.is_ok_and(|address| address.is_loopback())
}

/// Without keys, pages of other sites in a browser of this machine must not change anything: browsers send simple
/// requests of theirs without asking first, and say where they come from.
///
/// # Errors
/// 403 for a page that `allowed` does not name.
pub(crate) fn check_page(
    method: &Method,
    headers: &HeaderMap,
    allowed: &[String],
) -> Result<(), Problem> {
    let Some(origin) = headers.get(ORIGIN).filter(|_| !method.is_safe()) else {
        return Ok(());
    };
    let origin = origin.to_str().unwrap_or_default();
    let host = origin.split_once("://").map_or("", |(_, host)| host);
    // What a browser says of a page behind a proxy that gives another `Host`; pages cannot set it.
    let is_own = headers
        .get("sec-fetch-site")
        .is_some_and(|it| it == "same-origin");
    if is_own || is_local(host) || allowed.iter().any(|one| one == "*" || one == origin) {
        return Ok(());
    }
    let detail = "without API keys, pages of other sites may not change anything: set API_KEY_ADMIN, or \
                  name them in CORS_ALLOWED_ORIGINS";
    Err(Problem::new(Code::Forbidden, detail))
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn pages_of_other_sites_change_nothing_without_keys() {
        let allowed = vec!["https://app.example".to_owned()];
        let check = |method: Method, origin: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
            check_page(&method, &headers, &allowed).is_ok()
        };
        for own in [
            "http://localhost:5173",
            "http://[::1]:3000",
            "https://app.example",
        ] {
            assert!(check(Method::POST, own), "{own}");
        }
        for other in [
            "https://attacker.example",
            "http://localhost.attacker.example",
            "null",
            "",
        ] {
            assert!(!check(Method::POST, other), "{other}");
            assert!(check(Method::GET, other), "{other}");
        }
        assert!(check_page(&Method::POST, &HeaderMap::new(), &[]).is_ok());
    }
}
