//! Which hosts and addresses may be reached: an allow-list of names, and only public addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An entry of the allow-list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    host: String,
    subdomains: bool,
    port: Option<u16>,
}

impl HostPattern {
    /// Parses `example.com`, `*.example.com` or `*`, each also with `:port`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim().to_ascii_lowercase();
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host.to_owned(), port.parse().ok())
            }
            _ => (text, None),
        };
        let bare = host.strip_prefix("*.").map(str::to_owned);
        Self {
            subdomains: bare.is_some(),
            host: bare.unwrap_or(host),
            port,
        }
    }

    /// Whether the entry matches a host (in lower case) and a port. Without a port it matches 80
    /// and 443.
    #[must_use]
    pub fn matches(&self, host: &str, port: u16) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        let is_host = if self.host == "*" {
            true
        } else if self.subdomains {
            host.strip_suffix(self.host.as_str())
                .is_some_and(|rest| rest.ends_with('.') && rest.len() > 1)
        } else {
            host == self.host
        };
        let is_port = match self.port {
            Some(own) => own == port,
            None => port == 80 || port == 443,
        };
        is_host && is_port
    }
}

/// Whether an address belongs to the public internet (IANA's special-purpose registries for IPv4
/// and IPv6; RFC 6890). An IPv6 address that embeds an IPv4 address is judged by that one.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_documentation()
        || a == 0
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19))
        // Every machine of Azure reaches its host's service there, which knows secrets of the machine.
        || address.octets() == [168, 63, 129, 16];
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let carried = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // IPv4-mapped and NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            carried(high, low)
        }
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => carried(high, low),
        // IETF protocol assignments including Teredo, and documentation.
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_public() {
        let refused = [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "168.63.129.16",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.88.99.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::",
            "2002:a00:1::",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "3fff::1",
        ];
        for text in refused {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        let public = [
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1",
            "::ffff:8.8.8.8",
        ];
        for text in public {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn patterns_mean_what_they_say() {
        let matches =
            |pattern: &str, host: &str, port| HostPattern::parse(pattern).matches(host, port);
        assert!(matches("example.com", "example.com", 443));
        assert!(matches("Example.com", "example.com.", 80));
        assert!(!matches("example.com", "example.com", 8080));
        assert!(!matches("example.com", "evil-example.com", 443));
        assert!(!matches("example.com", "a.example.com", 443));
        assert!(matches("*.example.com", "a.b.example.com", 443));
        assert!(!matches("*.example.com", "example.com", 443));
        assert!(!matches("*.example.com", "badexample.com", 443));
        assert!(matches("127.0.0.1:8080", "127.0.0.1", 8080));
        assert!(matches("[::1]:8080", "[::1]", 8080));
    }
}
