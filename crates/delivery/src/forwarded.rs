//! What proxies say about the client of a request: the header `Forwarded` (RFC 7239), or
//! `X-Forwarded-For`, `-Proto` and `-Host`, which nobody has specified and everybody sends.
//!
//! Each proxy appends the address that has connected to it, so the list is read from its end: as
//! long as an address is that of a trusted proxy, the one before it is that proxy's word. What
//! stands before the first untrusted address was written by anybody.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::{HeaderMap, HeaderName, Request, header::HOST, uri::Authority};

use crate::{Peer, TrustedProxies};

/// Most proxies in a chain; entries before them are not read.
const MAX_HOPS: usize = 32;
/// Longest host, in bytes: a domain name (RFC 1035, section 2.3.4) and a port.
const MAX_HOST_BYTES: usize = 261;

const FORWARDED: HeaderName = HeaderName::from_static("forwarded");
const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// What is known of the client of a request beyond its connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Address of the client; `None` if it is the other end of the connection.
    pub client: Option<IpAddr>,
    /// Scheme and host that the client used, `https://documents.example.com`; `None` if no trusted
    /// proxy has said so.
    pub base_url: Option<String>,
}

/// What one proxy said.
#[derive(Clone, Copy, Debug, Default)]
struct Hop<'h> {
    /// The address that had connected to it; `None` if it is hidden or malformed.
    client: Option<IpAddr>,
    scheme: Option<&'static str>,
    host: Option<&'h str>,
}

impl TrustedProxies {
    /// The origin of a request that `peer` sent. Headers of others than trusted proxies count for
    /// nothing, and what is malformed ends the list.
    ///
    /// A proxy that sets one kind of header may pass on the other from a client; so if a request has
    /// both, and they name different clients, neither is believed.
    #[must_use]
    pub fn origin<B>(&self, peer: &Peer, request: &Request<B>) -> Origin {
        if !self.trusts(peer) {
            return Origin::default();
        }
        let headers = request.headers();
        let common = || self.common(request);
        match (headers.contains_key(FORWARDED), headers.contains_key(FOR)) {
            (false, _) => common(),
            (true, false) => self.standard(request),
            (true, true) => {
                let (standard, common) = (self.standard(request), common());
                if standard.client != common.client {
                    return Origin::default();
                }
                let is_same = standard.base_url == common.base_url;
                Origin {
                    client: standard.client,
                    base_url: standard.base_url.filter(|_| is_same),
                }
            }
        }
    }

    /// The origin by `Forwarded`.
    fn standard<B>(&self, request: &Request<B>) -> Origin {
        let elements = from_end(request.headers(), FORWARDED);
        let (_, hop) = self.walk(elements.map(|text| text.and_then(element).unwrap_or_default()));
        origin(request, hop)
    }

    /// The origin by the headers `X-Forwarded-…`.
    fn common<B>(&self, request: &Request<B>) -> Origin {
        let headers = request.headers();
        let (depth, found) = self.walk(from_end(headers, FOR).map(|text| Hop {
            client: text.and_then(address),
            ..Hop::default()
        }));
        let hop = Hop {
            scheme: at(headers, PROTO, depth).and_then(scheme),
            host: at(headers, FORWARDED_HOST, depth).and_then(host),
            ..found
        };
        origin(request, hop)
    }

    /// The word of the last proxy that is trusted, and how many stand behind it.
    fn walk<'h>(&self, hops: impl Iterator<Item = Hop<'h>>) -> (usize, Hop<'h>) {
        let mut found = (0, Hop::default());
        for (depth, hop) in hops.take(MAX_HOPS).enumerate() {
            let Some(client) = hop.client else { break };
            found = (depth, hop);
            if !self.trusts_address(client) {
                break;
            }
        }
        found
    }
}

fn origin<B>(request: &Request<B>, hop: Hop<'_>) -> Origin {
    // Proxies that do not say the host pass on the client's.
    let own = || {
        let header = request.headers().get(HOST).and_then(|it| it.to_str().ok());
        let authority = request.uri().authority().map(Authority::as_str);
        header.or(authority).and_then(host)
    };
    let base_url = hop.scheme.and_then(|scheme| {
        let host = hop.host.or_else(own)?;
        Some(format!("{scheme}://{host}"))
    });
    Origin {
        client: hop.client,
        base_url,
    }
}

/// The elements of a list header, the last one first; `None` for a value that is not text.
fn from_end(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = Option<&str>> {
    let mut lines: Vec<_> = headers.get_all(name).iter().collect();
    lines.reverse();
    lines.into_iter().flat_map(|line| {
        let text = line.to_str().ok();
        let is_unreadable = text.is_none();
        let elements = text.map(|text| split_from_end(text, b','));
        let elements = elements.into_iter().flatten().map(Some);
        elements.chain(is_unreadable.then_some(None))
    })
}

/// The parts of `text` between separators outside of quotes, the last one first, without empty
/// ones. From the end, so that quotes which a client has left open do not change where the parts
/// of proxies begin.
fn split_from_end(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    let parts = std::iter::from_fn(move || {
        let text = rest.take()?;
        let mut is_quoted = false;
        let at = text.bytes().rposition(|byte| {
            is_quoted ^= byte == b'"';
            byte == separator && !is_quoted
        });
        Some(match at {
            Some(at) => {
                rest = Some(&text[..at]);
                text[at + 1..].trim()
            }
            None => text.trim(),
        })
    });
    parts.filter(|part| !part.is_empty())
}

/// The value as far from the end of a list as the client is; the first one if the list is shorter,
/// as proxies that replace the value leave one.
fn at(headers: &HeaderMap, name: HeaderName, depth: usize) -> Option<&str> {
    from_end(headers, name).take(depth + 1).last().flatten()
}

/// An element of `Forwarded` (RFC 7239, section 4); `None` if it is malformed.
fn element(text: &str) -> Option<Hop<'_>> {
    let mut hop = Hop::default();
    let (mut has_for, mut has_proto, mut has_host) = (false, false, false);
    for pair in split_from_end(text, b';') {
        let (name, value) = pair.split_once('=')?;
        let value = match value.strip_prefix('"') {
            // No address, scheme or host contains a quote or a backslash.
            Some(rest) => rest
                .strip_suffix('"')
                .filter(|inner| !inner.contains(['"', '\\']))?,
            None => value,
        };
        let is_again = if name.eq_ignore_ascii_case("for") {
            hop.client = address(value);
            std::mem::replace(&mut has_for, true)
        } else if name.eq_ignore_ascii_case("proto") {
            hop.scheme = scheme(value);
            std::mem::replace(&mut has_proto, true)
        } else if name.eq_ignore_ascii_case("host") {
            hop.host = host(value);
            std::mem::replace(&mut has_host, true)
        } else {
            false
        };
        if is_again {
            return None;
        }
    }
    Some(hop)
}

/// An address, with a port or without.
fn address(text: &str) -> Option<IpAddr> {
    let is_port = |port: &str| {
        !port.is_empty() && port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit())
    };
    if let Some(rest) = text.strip_prefix('[') {
        let (inner, port) = rest.split_once(']')?;
        let is_whole = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        let address: Ipv6Addr = inner.parse().ok().filter(|_| is_whole)?;
        return Some(IpAddr::V6(address).to_canonical());
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    let (address, port) = text.split_once(':')?;
    let address: Ipv4Addr = address.parse().ok().filter(|_| is_port(port))?;
    Some(IpAddr::V4(address))
}

fn scheme(text: &str) -> Option<&'static str> {
    let known = ["https", "http"];
    known
        .into_iter()
        .find(|known| text.eq_ignore_ascii_case(known))
}

/// A host, with a port or without, which can stand in a URL.
fn host(text: &str) -> Option<&str> {
    let is_host = text.len() <= MAX_HOST_BYTES
        && !text.contains('@')
        && text
            .parse::<Authority>()
            .is_ok_and(|authority| !authority.host().is_empty());
    is_host.then_some(text)
}

#[cfg(test)]
mod tests;
