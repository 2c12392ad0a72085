//! Requests that are refused although hyper has parsed them: two implementations could read them
//! differently, which request smuggling lives on (RFC 9112, section 11.2), or they ask for what is
//! not supported.

use http::{
    HeaderMap, HeaderValue, Method, Request, Version,
    header::{EXPECT, HOST, TRANSFER_ENCODING},
    uri::{Authority, Uri},
};

use crate::Refusal;

pub(super) fn check<B>(request: &Request<B>) -> Result<(), Refusal> {
    if request.method() == Method::CONNECT {
        return Err(Refusal::method());
    }
    let headers = request.headers();
    check_host(request.uri(), headers, request.version())?;
    // hyper has made sure that a coding ends with `chunked`, which is the only one supported.
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let coding = codings.next();
    if coding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
        || codings.next().is_some()
    {
        return Err(Refusal::malformed("the transfer coding is not `chunked`"));
    }
    let is_known = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"100-continue");
    match headers.get_all(EXPECT).iter().all(is_known) {
        true => Ok(()),
        false => Err(Refusal::expectation()),
    }
}

/// One host, and the same everywhere (RFC 9112, section 3.2; RFC 9113, section 8.3.1).
fn check_host(uri: &Uri, headers: &HeaderMap, version: Version) -> Result<(), Refusal> {
    let mut hosts = headers.get_all(HOST).iter();
    let (host, other) = (hosts.next(), hosts.next());
    if other.is_some() {
        return Err(Refusal::malformed("`Host` is repeated"));
    }
    let Some(host) = host else {
        return match version {
            Version::HTTP_11 => Err(Refusal::malformed("`Host` is missing")),
            _ => Ok(()),
        };
    };
    if !is_host(host.as_bytes()) {
        return Err(Refusal::malformed("`Host` is not a host name or address"));
    }
    let is_same = |authority: &Authority| {
        let port = match uri.scheme_str() {
            Some("https") => b":443",
            _ => &b":80"[..],
        };
        let bare = |name| <[u8]>::strip_suffix(name, port).unwrap_or(name).to_owned();
        bare(authority.as_str().as_bytes()).eq_ignore_ascii_case(&bare(host.as_bytes()))
    };
    match uri.authority() {
        Some(authority) if !is_same(authority) => Err(Refusal::malformed(
            "`Host` and the target name different hosts",
        )),
        _ => Ok(()),
    }
}

/// Whether a value may be a host and a port (RFC 9110, section 7.2; RFC 3986, section 3.2.2). It
/// may be empty, if the target has no authority.
fn is_host(value: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(byte);
    value.iter().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(target: &str, version: Version, lines: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().uri(target).version(version);
        for (name, value) in lines {
            request = request.header(*name, *value);
        }
        let checked = check(&request.body(()).unwrap());
        checked.map_or_else(|refusal| refusal.status().as_u16(), |()| 200)
    }

    #[test]
    fn there_is_one_host() {
        let with = |hosts: &[(&str, &str)]| status("/", Version::HTTP_11, hosts);
        assert_eq!(with(&[]), 400);
        assert_eq!(status("/", Version::HTTP_10, &[]), 200);
        assert_eq!(status("http://a/", Version::HTTP_2, &[]), 200);
        assert_eq!(with(&[("host", "a"), ("host", "a")]), 400);
        for host in ["a b", "a/b", "a@b", "a\tb", "a\"b"] {
            assert_eq!(with(&[("host", host)]), 400, "{host}");
        }
        for host in ["", "a.example:80", "[::1]:80", "a_b"] {
            assert_eq!(with(&[("host", host)]), 200, "{host}");
        }
    }

    #[test]
    fn the_target_names_the_same_host() {
        let with = |target, host| status(target, Version::HTTP_11, &[("host", host)]);
        for (target, host) in [
            ("http://a/", "A"),
            ("http://a:80/", "a"),
            ("https://a/", "a:443"),
            ("http://a:8080/", "a:8080"),
        ] {
            assert_eq!(with(target, host), 200, "{target} {host}");
        }
        for (target, host) in [
            ("http://a/", "b"),
            ("http://a/", ""),
            ("http://a:8080/", "a"),
            ("http://a:80/", "a:443"),
            ("http://x@a/", "a"),
        ] {
            assert_eq!(with(target, host), 400, "{target} {host}");
        }
        assert_eq!(status("http://a/", Version::HTTP_2, &[("host", "b")]), 400);
    }

    #[test]
    fn one_coding_and_one_expectation_are_supported() {
        let with = |lines: &[(&str, &str)]| {
            status("/", Version::HTTP_11, &[&[("host", "a")], lines].concat())
        };
        let coding = "transfer-encoding";
        assert_eq!(
            with(&[(coding, "Chunked"), ("expect", "100-Continue")]),
            200
        );
        assert_eq!(with(&[(coding, "gzip, chunked")]), 400);
        assert_eq!(with(&[(coding, "chunked"), (coding, "chunked")]), 400);
        assert_eq!(with(&[("expect", "wonders")]), 417);
        let known = ("expect", "100-continue");
        assert_eq!(with(&[known, ("expect", "wonders")]), 417);
    }
}
