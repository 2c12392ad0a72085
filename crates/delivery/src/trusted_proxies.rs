//! Proxies in front of the service, which are believed what they say about their clients.

use std::net::IpAddr;

use crate::Peer;

/// The word for proxies that connect through a UNIX socket.
const UNIX: &str = "unix";

/// Networks wider than this are not the proxies of one installation: IPv4, IPv6.
const WIDE: [u32; 2] = [8, 16];

/// Addresses and networks of proxies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies {
    networks: Vec<Network>,
    unix: bool,
}

/// An entry of the list that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{entry}` is not a proxy: {reason}")]
pub struct TrustedProxyError {
    entry: String,
    reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    prefix: u32,
}

impl TrustedProxies {
    /// Reads a list of addresses (`10.0.0.5`, `fd00::5`), networks (`10.0.0.0/8`, `fd00::/8`) and
    /// `unix`.
    ///
    /// # Errors
    /// An entry is none of these, or an address has bits beyond its prefix.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Result<Self, TrustedProxyError> {
        let mut proxies = Self::default();
        for entry in entries.iter().map(|entry| entry.as_ref().trim()) {
            if entry == UNIX {
                proxies.unix = true;
                continue;
            }
            let network = Network::parse(entry).map_err(|reason| TrustedProxyError {
                entry: entry.to_owned(),
                reason,
            })?;
            proxies.networks.push(network);
        }
        Ok(proxies)
    }

    /// Whether nobody is trusted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.networks.is_empty() && !self.unix
    }

    /// Whether the other end of a connection is a trusted proxy.
    #[must_use]
    pub fn trusts(&self, peer: &Peer) -> bool {
        match peer {
            Peer::Tcp(address) => self.trusts_address(address.ip()),
            Peer::Unix => self.unix,
        }
    }

    /// Whether `address` is that of a trusted proxy.
    #[must_use]
    pub fn trusts_address(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks
            .iter()
            .any(|network| network.contains(address))
    }

    /// Whether the list contains a network wider than 8 bits of IPv4 or 16 of IPv6: strangers could
    /// say whatever they want.
    #[must_use]
    pub fn has_wide_network(&self) -> bool {
        self.networks.iter().any(|network| match network.address {
            IpAddr::V4(_) => network.prefix < WIDE[0],
            IpAddr::V6(_) => network.prefix < WIDE[1],
        })
    }
}

impl Network {
    fn parse(entry: &str) -> Result<Self, String> {
        let unreadable =
            || "write an address (10.0.0.5), a network (10.0.0.0/8, fd00::/8) or `unix`".to_owned();
        let (address, prefix) = match entry.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (entry, None),
        };
        let written: IpAddr = address.parse().map_err(|_| unreadable())?;
        let width = width(written);
        let prefix = match prefix {
            None => width,
            // `parse` alone would accept a plus sign.
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let prefix: u32 = digits.parse().map_err(|_| unreadable())?;
                if prefix > width {
                    return Err(format!("its prefix is longer than {width} bits"));
                }
                prefix
            }
            Some(_) => return Err(unreadable()),
        };
        // An IPv4 address in IPv6 notation is that IPv4 address.
        let (address, prefix) = match written.to_canonical() {
            IpAddr::V4(address) if written.is_ipv6() && prefix >= 96 => {
                (IpAddr::V4(address), prefix - 96)
            }
            IpAddr::V4(_) if written.is_ipv6() => (written, prefix),
            address => (address, prefix),
        };
        let network = Self { address, prefix };
        if bits(address) & !network.mask() != 0 {
            return Err("its address has bits beyond its prefix".to_owned());
        }
        Ok(network)
    }

    /// The bits of the prefix, aligned as those of [`bits`].
    fn mask(&self) -> u128 {
        let all = u128::MAX >> (128 - width(self.address));
        let rest = width(self.address) - self.prefix;
        all.checked_shl(rest).unwrap_or(0) & all
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4()
            && (bits(self.address) ^ bits(address)) & self.mask() == 0
    }
}

fn width(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusts(entries: &[&str], address: &str) -> bool {
        let proxies = TrustedProxies::parse(entries).unwrap();
        proxies.trusts_address(address.parse().unwrap())
    }

    #[test]
    fn networks_contain_their_addresses_and_no_others() {
        for (entry, inside, outside) in [
            ("10.0.0.5", "10.0.0.5", "10.0.0.4"),
            ("10.0.0.4/31", "10.0.0.5", "10.0.0.6"),
            ("10.0.0.0/8", "10.255.255.255", "11.0.0.0"),
            ("128.0.0.0/1", "255.255.255.255", "127.255.255.255"),
            ("0.0.0.0/0", "203.0.113.9", "::1"),
            ("fd00::5", "fd00::5", "fd00::6"),
            ("fd00::/8", "fdff::1", "fe00::"),
            ("2001:db8:1::/48", "2001:db8:1:ffff::", "2001:db8:2::"),
            ("::/0", "2001:db8::1", "203.0.113.9"),
            ("::ffff:10.0.0.0/104", "10.9.9.9", "11.0.0.0"),
            ("::ffff:10.0.0.7", "10.0.0.7", "10.0.0.8"),
            ("10.0.0.0/8", "::ffff:10.1.1.1", "::ffff:11.1.1.1"),
        ] {
            assert!(trusts(&[entry], inside), "{entry} {inside}");
            assert!(!trusts(&[entry], outside), "{entry} {outside}");
        }
        assert!(trusts(&["10.0.0.1", " fd00::1 "], "fd00::1"));
    }

    #[test]
    fn every_prefix_divides_where_it_says() {
        for prefix in 0..=32_u32 {
            let network = Network::parse(&format!("0.0.0.0/{prefix}")).unwrap();
            for bit in 0..32_u32 {
                let address = IpAddr::from((1_u32 << (31 - bit)).to_be_bytes());
                assert_eq!(network.contains(address), bit >= prefix, "{prefix} {bit}");
            }
        }
        for prefix in 0..=128_u32 {
            let network = Network::parse(&format!("::/{prefix}")).unwrap();
            for bit in 0..128_u32 {
                let address = IpAddr::from((1_u128 << (127 - bit)).to_be_bytes());
                assert_eq!(network.contains(address), bit >= prefix, "{prefix} {bit}");
            }
        }
    }

    #[test]
    fn sockets_are_trusted_by_name_only() {
        let named = TrustedProxies::parse(&["unix"]).unwrap();
        assert!(named.trusts(&Peer::Unix) && !named.is_empty());
        assert!(!named.trusts_address(IpAddr::from([127, 0, 0, 1])));
        let others = TrustedProxies::parse(&["0.0.0.0/0", "::/0"]).unwrap();
        assert!(!others.trusts(&Peer::Unix));
        let none = TrustedProxies::default();
        assert!(none.is_empty() && !none.trusts(&Peer::Unix));
    }

    #[test]
    fn what_is_no_network_is_refused_with_a_reason() {
        for (entry, reason) in [
            ("", "write an address"),
            ("proxy.example.com", "write an address"),
            ("10.0.0.0/33", "longer than 32"),
            ("fd00::/129", "longer than 128"),
            ("10.0.0.1/8", "bits beyond its prefix"),
            ("fd00::1/64", "bits beyond its prefix"),
            ("10.0.0.0/+8", "write an address"),
            ("10.0.0.0/", "write an address"),
            ("10.0.0.0/8/8", "write an address"),
            ("10.0.0.5:80", "write an address"),
            ("[fd00::5]", "write an address"),
            ("fe80::1%eth0", "write an address"),
            ("*", "write an address"),
            ("unix:", "write an address"),
            ("::ffff:10.0.0.1/8", "bits beyond its prefix"),
        ] {
            let error = TrustedProxies::parse(&[entry]).unwrap_err().to_string();
            assert!(error.contains(reason), "{entry}: {error}");
        }
    }

    #[test]
    fn wide_networks_are_noticed() {
        let is_wide = |entry| TrustedProxies::parse(&[entry]).unwrap().has_wide_network();
        assert!(is_wide("0.0.0.0/0") && is_wide("::/0") && is_wide("2000::/3"));
        assert!(!is_wide("10.0.0.0/8") && !is_wide("fd00::/16") && !is_wide("unix"));
    }
}
