//! Headers of proxies, honest and forged.

use proptest::prelude::*;

use super::*;

const PROXY: &str = "10.0.0.1";

fn proxies() -> TrustedProxies {
    TrustedProxies::parse(&["10.0.0.0/8", "fd00::/8", "unix"]).unwrap()
}

fn request(lines: &[(&str, &str)]) -> Request<()> {
    let mut request = Request::builder().uri("/render");
    for (name, value) in lines {
        request = request.header(*name, value.as_bytes());
    }
    request.body(()).unwrap()
}

fn peer(address: &str) -> Peer {
    Peer::Tcp((address.parse::<IpAddr>().unwrap(), 4711).into())
}

/// The origin of a request that a trusted proxy sent.
fn of(lines: &[(&str, &str)]) -> Origin {
    proxies().origin(&peer(PROXY), &request(lines))
}

/// The client of a request that a trusted proxy sent, as text; empty for the proxy itself.
fn client(lines: &[(&str, &str)]) -> String {
    of(lines)
        .client
        .map_or_else(String::new, |address| address.to_string())
}

fn base_url(lines: &[(&str, &str)]) -> String {
    of(lines).base_url.unwrap_or_default()
}

#[test]
fn the_rightmost_untrusted_address_is_the_client() {
    for (value, expected) in [
        ("203.0.113.9", "203.0.113.9"),
        ("203.0.113.9:5123", "203.0.113.9"),
        ("198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("198.51.100.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        (
            "198.51.100.1,203.0.113.9 ,10.0.0.3,\t10.0.0.2",
            "203.0.113.9",
        ),
        ("2001:db8::7", "2001:db8::7"),
        ("[2001:db8::7]:443", "2001:db8::7"),
        ("::ffff:203.0.113.9, fd00::2", "203.0.113.9"),
        // All are ours: the first that they name.
        ("10.0.0.4, 10.0.0.3", "10.0.0.4"),
        (", 203.0.113.9, ,", "203.0.113.9"),
        // What is malformed ends the list.
        ("unknown", ""),
        ("203.0.113.9, unknown", ""),
        ("unknown, 203.0.113.9", "203.0.113.9"),
        ("203.0.113.9, garbage, 10.0.0.2", "10.0.0.2"),
        ("203.0.113.9:port", ""),
        ("203.0.113.256", ""),
        ("203.0.113.9:123456", ""),
        ("[2001:db8::7", ""),
        ("[2001:db8::7]443", ""),
        ("fe80::1%eth0", ""),
        ("", ""),
    ] {
        assert_eq!(client(&[("x-forwarded-for", value)]), expected, "{value}");
    }
    let lines = [
        ("x-forwarded-for", "198.51.100.1"),
        ("x-forwarded-for", "203.0.113.9, 10.0.0.2"),
    ];
    assert_eq!(client(&lines), "203.0.113.9");
    let lines = [
        ("x-forwarded-for", "203.0.113.9"),
        ("x-forwarded-for", "10.0.0.2"),
    ];
    assert_eq!(client(&lines), "203.0.113.9");
    let lines = [
        ("x-forwarded-for", "203.0.113.9"),
        ("x-forwarded-for", "\u{e9}"),
    ];
    assert_eq!(client(&lines), "", "a value that is not text");
}

#[test]
fn the_standard_header_is_read_the_same() {
    for (value, expected) in [
        ("for=203.0.113.9", "203.0.113.9"),
        (
            "For=\"203.0.113.9:47011\";Proto=https;by=10.0.0.1",
            "203.0.113.9",
        ),
        ("for=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
        (
            "for=198.51.100.1, for=203.0.113.9, for=10.0.0.2",
            "203.0.113.9",
        ),
        ("for=203.0.113.9;host=\"a,b\"", "203.0.113.9"),
        ("for=203.0.113.9;ext=\"a;b,c\", for=10.0.0.2", "203.0.113.9"),
        // A quote that the client has left open does not swallow the proxy's element.
        ("for=\"198.51.100.1, for=203.0.113.9", "203.0.113.9"),
        (
            "host=\"\", for=\"198.51.100.1;x=\"\"\", for=203.0.113.9",
            "203.0.113.9",
        ),
        ("for=unknown", ""),
        ("for=_hidden", ""),
        ("for=203.0.113.9, for=_hidden", ""),
        ("proto=https", ""),
        ("for=203.0.113.9;for=198.51.100.1", ""),
        ("for=203.0.113.9;junk", ""),
        ("for=\"203.0.113\\.9\"", ""),
        ("", ""),
    ] {
        assert_eq!(client(&[("forwarded", value)]), expected, "{value}");
    }
}

#[test]
fn strangers_are_not_believed() {
    let forged = [
        ("x-forwarded-for", "192.0.2.1"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "evil.example"),
        ("forwarded", "for=192.0.2.1;proto=https;host=evil.example"),
    ];
    let request = request(&forged);
    for stranger in [peer("203.0.113.9"), peer("11.0.0.1"), peer("::1")] {
        assert_eq!(proxies().origin(&stranger, &request), Origin::default());
    }
    let nobody = TrustedProxies::default();
    assert_eq!(nobody.origin(&peer(PROXY), &request), Origin::default());
    assert_eq!(nobody.origin(&Peer::Unix, &request), Origin::default());
}

#[test]
fn a_socket_may_be_that_of_a_proxy() {
    let request = request(&[("x-forwarded-for", "203.0.113.9")]);
    let origin = proxies().origin(&Peer::Unix, &request);
    assert_eq!(origin.client, Some(IpAddr::from([203, 0, 113, 9])));
}

#[test]
fn two_kinds_of_headers_must_name_one_client() {
    let both = |standard, common| {
        client(&[
            ("host", "a.example"),
            ("forwarded", standard),
            ("x-forwarded-for", common),
        ])
    };
    assert_eq!(both("for=203.0.113.9", "203.0.113.9"), "203.0.113.9");
    assert_eq!(both("for=192.0.2.1", "203.0.113.9"), "");
    assert_eq!(both("", "203.0.113.9"), "");
    let urls = |standard, proto| {
        base_url(&[
            ("host", "a.example"),
            ("forwarded", standard),
            ("x-forwarded-for", "203.0.113.9"),
            ("x-forwarded-proto", proto),
        ])
    };
    assert_eq!(
        urls("for=203.0.113.9;proto=https", "https"),
        "https://a.example"
    );
    assert_eq!(
        urls("for=203.0.113.9;proto=https;host=evil.example", "https"),
        ""
    );
    // Without X-Forwarded-For, the other headers of its kind are not the proxy's.
    let lines = [
        ("forwarded", "for=203.0.113.9"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "evil.example"),
    ];
    assert_eq!(base_url(&lines), "");
}

#[test]
fn the_address_that_the_client_used_is_known() {
    let of = |proto: &str, host: &str, own: &str| {
        base_url(&[
            ("host", own),
            ("x-forwarded-for", "203.0.113.9, 10.0.0.2"),
            ("x-forwarded-proto", proto),
            ("x-forwarded-host", host),
        ])
    };
    assert_eq!(of("https", "a.example:8443", "b"), "https://a.example:8443");
    assert_eq!(of("HTTP", "[2001:db8::1]", "b"), "http://[2001:db8::1]");
    assert_eq!(of("https", "", "b.example"), "https://b.example");
    // As far from the end as the client, or all that there is.
    assert_eq!(of("https, http", "a.example, b", "c"), "https://a.example");
    assert_eq!(
        of("http, https, http", "x, a.example, b", "c"),
        "https://a.example"
    );
    for (proto, host) in [
        ("ftp", "a.example"),
        ("https://", "a.example"),
        ("", "a.example"),
        ("javascript", "a.example"),
    ] {
        assert_eq!(of(proto, host, "b"), "", "{proto} {host}");
    }
    for host in ["a.example/path", "user@a.example", "a b", "a\"b", ":80"] {
        let url = of("https", host, "own.example");
        assert_eq!(url, "https://own.example", "{host}");
    }
    let long = format!("{}.example", "a".repeat(300));
    assert_eq!(of("https", &long, "own.example"), "https://own.example");
    let standard = [
        ("host", "own.example"),
        (
            "forwarded",
            "for=203.0.113.9;proto=https;host=\"a.example:8443\"",
        ),
    ];
    assert_eq!(base_url(&standard), "https://a.example:8443");
}

#[test]
fn long_lists_are_read_to_their_bound() {
    let mut value = "203.0.113.9, ".to_owned();
    value.push_str(&"10.0.0.2, ".repeat(MAX_HOPS - 1));
    assert_eq!(client(&[("x-forwarded-for", &value)]), "203.0.113.9");
    value.push_str("10.0.0.2");
    assert_eq!(client(&[("x-forwarded-for", &value)]), "10.0.0.2");
}

proptest! {
    /// Whatever a client writes, the address that the proxy appends is the client's.
    #[test]
    fn nothing_that_a_client_writes_changes_its_address(
        common in "[ -~]{0,60}",
        standard in "[ -~]{0,60}",
    ) {
        let value = format!("{common}, 203.0.113.9");
        prop_assert_eq!(client(&[("x-forwarded-for", &value)]), "203.0.113.9");
        let value = format!("{standard}, for=203.0.113.9;proto=https;host=a.example");
        let origin = of(&[("forwarded", &value)]);
        prop_assert_eq!(origin.client, Some(IpAddr::from([203, 0, 113, 9])));
        prop_assert_eq!(origin.base_url.as_deref(), Some("https://a.example"));
    }

    /// No header makes a stranger anyone else, and none makes the reader panic.
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(32_u8..=255, 0..200)) {
        let mut any = request(&[]);
        if let Ok(value) = http::HeaderValue::from_bytes(&bytes) {
            for name in [FORWARDED, FOR, PROTO, FORWARDED_HOST] {
                any.headers_mut().insert(name, value.clone());
            }
        }
        let _ = proxies().origin(&peer(PROXY), &any);
        prop_assert_eq!(proxies().origin(&peer("192.0.2.1"), &any), Origin::default());
    }
}
