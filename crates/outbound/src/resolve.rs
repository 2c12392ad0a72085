//! Names of hosts: looked up beside the request, which does not wait longer than its time; only addresses that
//! may be reached are given to it.

use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread::Builder,
    time::Instant,
};

use ureq::{
    config::Config as AgentConfig,
    http::Uri,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::NextTimeout,
    },
};

use crate::{
    is_public,
    stop::{POLL_INTERVAL, check},
};

/// Number of addresses of a name that are tried before the request fails.
const MAX_ADDRESSES: usize = 8;
/// Names that are looked up at a time. A lookup cannot be interrupted and ends by the system's own limits.
const MAX_LOOKUPS: usize = 128;

static LOOKUPS: AtomicUsize = AtomicUsize::new(0);

/// A lookup that goes on.
struct Lookup;

impl Lookup {
    fn begin() -> io::Result<Self> {
        let more = |count: usize| (count < MAX_LOOKUPS).then_some(count + 1);
        let begun = LOOKUPS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        match begun {
            Ok(_) => Ok(Self),
            Err(_) => Err(io::Error::other(format!(
                "{MAX_LOOKUPS} names of hosts are being looked up already"
            ))),
        }
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        LOOKUPS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A resolver that returns only permitted addresses.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    pub resolver: DefaultResolver,
    pub allow_private: bool,
}

impl Resolver for Guard {
    fn resolve(
        &self,
        uri: &Uri,
        _: &AgentConfig,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(ureq::Error::HostNotFound);
        };
        let name = DefaultResolver::host_and_port(scheme, authority);
        let addresses = addresses(name.ok_or(ureq::Error::HostNotFound)?, timeout)?;
        let mut allowed = self.resolver.empty();
        let may_be_reached = |address: &&SocketAddr| self.allow_private || is_public(address.ip());
        for address in addresses.iter().filter(may_be_reached).take(MAX_ADDRESSES) {
            allowed.push(*address);
        }
        match (allowed.is_empty(), addresses.is_empty()) {
            (false, _) => Ok(allowed),
            (true, true) => Err(ureq::Error::HostNotFound),
            (true, false) => {
                let kind = io::ErrorKind::PermissionDenied;
                Err(io::Error::new(kind, "the address of the host is private").into())
            }
        }
    }
}

/// The addresses of a host and port.
fn addresses(name: String, timeout: NextTimeout) -> Result<Vec<SocketAddr>, ureq::Error> {
    if let Ok(address) = name.parse() {
        return Ok(vec![address]);
    }
    let lookup = Lookup::begin()?;
    let (done, found) = sync_channel(1);
    let thread = Builder::new().name("platen-lookup".to_owned());
    thread.spawn(move || {
        let found: io::Result<Vec<SocketAddr>> = name.to_socket_addrs().map(Iterator::collect);
        drop(lookup);
        // The request may not wait any more.
        let _ = done.send(found);
    })?;
    let begun = Instant::now();
    loop {
        check()?;
        let left = timeout.after.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(ureq::Error::Timeout(timeout.reason));
        }
        match found.recv_timeout(left.min(POLL_INTERVAL)) {
            Ok(found) => return Ok(found?),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(ureq::Error::HostNotFound),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookups_are_counted() {
        let before = LOOKUPS.load(Ordering::Relaxed);
        let lookups: Vec<Lookup> = (before..MAX_LOOKUPS)
            .map_while(|_| Lookup::begin().ok())
            .collect();
        assert!(Lookup::begin().is_err());
        drop(lookups);
        assert!(Lookup::begin().is_ok());
    }
}
