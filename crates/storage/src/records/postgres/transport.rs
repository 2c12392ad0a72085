//! How well the way to a PostgreSQL server is protected, for advice to operators.

use std::path::Path;

use tokio_postgres::config::Host;

use super::address::{Address, Verification};
use crate::Error;

/// Protection of the connections to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// They stay on this machine.
    Local,
    /// They may be without TLS.
    Plain,
    /// They use TLS with whoever answers: the certificate is not checked.
    Unverified,
    /// They use TLS with a certificate that is checked.
    Verified,
}

impl Transport {
    /// The protection of connections to the server at `url`, whose authorities `ca_file` may name.
    ///
    /// # Errors
    /// [`Error::Address`].
    pub fn of(url: &str, ca_file: Option<&Path>) -> Result<Self, Error> {
        let address = Address::parse(url)?;
        let has_authorities = address.ca_file.is_some() || ca_file.is_some();
        Ok(match address.verification {
            _ if is_local(&address) => Self::Local,
            Verification::Disable | Verification::Prefer => Self::Plain,
            Verification::Require if !has_authorities => Self::Unverified,
            Verification::Require | Verification::Authority | Verification::Full => Self::Verified,
        })
    }
}

fn is_local(address: &Address) -> bool {
    let addresses = address.config.get_hostaddrs();
    if !addresses.is_empty() {
        return addresses.iter().all(std::net::IpAddr::is_loopback);
    }
    address.config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|address| address.is_loopback())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_way_counts() {
        let of = |url: &str| Transport::of(url, None).unwrap();
        for local in [
            "postgres://u@localhost/d",
            "postgres://u@127.0.0.1/d?sslmode=disable",
            "postgres://u@%2Frun%2Fpostgresql/d",
        ] {
            assert_eq!(of(local), Transport::Local, "{local}");
        }
        for (mode, expected) in [
            ("", Transport::Plain),
            ("?sslmode=disable", Transport::Plain),
            ("?sslmode=prefer", Transport::Plain),
            ("?sslmode=require", Transport::Unverified),
            (
                "?sslmode=require&sslrootcert=/etc/ca.pem",
                Transport::Verified,
            ),
            ("?sslmode=verify-ca", Transport::Verified),
            ("?sslmode=verify-full", Transport::Verified),
        ] {
            assert_eq!(of(&format!("postgres://u@db/d{mode}")), expected, "{mode}");
            let two = of(&format!("postgres://u@localhost,db/d{mode}"));
            assert_eq!(two, expected, "{mode}");
        }
        let url = "postgres://u@db/d?sslmode=require";
        let with_file = Transport::of(url, Some(Path::new("/etc/ca.pem")));
        assert_eq!(with_file.unwrap(), Transport::Verified);
        assert!(Transport::of("mysql://u@db/d", None).is_err());
    }
}
