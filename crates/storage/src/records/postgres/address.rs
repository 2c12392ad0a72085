//! The address of a PostgreSQL server, as libpq reads it, with the modes of TLS that the client
//! library does not know. Source:
//! <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS>.

use std::path::PathBuf;

use tokio_postgres::{
    Config,
    config::{Host, SslMode, TargetSessionAttrs},
};

use crate::Error;

/// How the server is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verification {
    /// No TLS.
    Disable,
    /// TLS if the server offers it; its certificate is not checked.
    Prefer,
    /// TLS; the certificate is checked only if a file of authorities is given.
    Require,
    /// TLS, with a certificate of a trusted authority.
    Authority,
    /// TLS, with a certificate of a trusted authority for this host.
    Full,
}

/// Where the server is, and how it is authenticated.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub config: Config,
    pub verification: Verification,
    /// `sslrootcert` of the address.
    pub ca_file: Option<PathBuf>,
}

impl Address {
    /// # Errors
    /// [`Error::Address`].
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        let wrong = |reason: &str| Error::Address(reason.to_owned());
        let (scheme, _) = url.split_once("://").unwrap_or_default();
        if !["postgres", "postgresql"].contains(&scheme) {
            return Err(wrong("it does not begin with postgres://"));
        }
        let mut verification = Verification::Prefer;
        let mut ca_file = None;
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let mut rest = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name {
                "sslmode" => verification = mode(value)?,
                // Percent-encoding is not expected in the path of a file.
                "sslrootcert" if value == "system" => {}
                "sslrootcert" => ca_file = Some(PathBuf::from(value)),
                _ => rest.push(parameter),
            }
        }
        let plain = match rest.is_empty() {
            true => place.to_owned(),
            false => format!("{place}?{}", rest.join("&")),
        };
        let mut config: Config = plain.parse().map_err(|error| wrong(&reason_of(&error)))?;
        check(&config)?;
        config.ssl_mode(match verification {
            Verification::Disable => SslMode::Disable,
            Verification::Prefer => SslMode::Prefer,
            _ => SslMode::Require,
        });
        // Of several hosts, the one that accepts writes: the others are its replicas.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_application_name().is_none() {
            config.application_name("platen");
        }
        Ok(Self {
            config,
            verification,
            ca_file,
        })
    }

    /// The user, for messages to the operator.
    pub(super) fn user(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    /// The database, for messages to the operator.
    pub(super) fn database(&self) -> &str {
        self.config.get_dbname().unwrap_or(self.user())
    }
}

fn mode(value: &str) -> Result<Verification, Error> {
    Ok(match value {
        "disable" => Verification::Disable,
        "prefer" | "allow" => Verification::Prefer,
        "require" => Verification::Require,
        "verify-ca" => Verification::Authority,
        "verify-full" => Verification::Full,
        _ => {
            return Err(Error::Address(
                "its sslmode is none of disable, prefer, require, verify-ca and verify-full"
                    .to_owned(),
            ));
        }
    })
}

/// What must be named so that nothing is guessed from the environment of the process.
fn check(config: &Config) -> Result<(), Error> {
    let missing = if config.get_hosts().is_empty() {
        "it names no host"
    } else if config.get_user().is_none_or(str::is_empty) {
        "it names no user"
    } else if config.get_hosts().iter().any(is_empty) {
        "one of its hosts is empty"
    } else {
        return Ok(());
    };
    Err(Error::Address(missing.to_owned()))
}

fn is_empty(host: &Host) -> bool {
    matches!(host, Host::Tcp(name) if name.is_empty())
}

/// The cause without the address itself, which may contain a password.
fn reason_of(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_files_are_read() {
        let read = |url: &str| Address::parse(url).unwrap();
        let full = read("postgres://u:p@h:6543/d?sslmode=verify-full&sslrootcert=/etc/ca.pem");
        assert_eq!(full.verification, Verification::Full);
        assert_eq!(full.ca_file, Some(PathBuf::from("/etc/ca.pem")));
        assert_eq!((full.user(), full.database()), ("u", "d"));
        assert_eq!(full.config.get_ports(), [6543]);
        let two = read("postgresql://u@a,b/d?connect_timeout=3&sslmode=disable");
        assert_eq!(two.config.get_hosts().len(), 2);
        assert_eq!(two.verification, Verification::Disable);
        assert_eq!(read("postgres://u@h").verification, Verification::Prefer);
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (url, reason) in [
            ("mysql://u:secret@h/d", "does not begin"),
            ("", "does not begin"),
            ("postgres://h/d", "no user"),
            ("postgres://u:secret@/d", "host"),
            ("postgres://u:secret@h:port/d", "port"),
            ("postgres://u:secret@h/d?sslmode=on", "sslmode"),
            ("postgres://u:secret@h/d?sslmood=require", "sslmood"),
        ] {
            let said = Address::parse(url).unwrap_err().to_string();
            assert!(said.contains(reason), "{url}: {said}");
            assert!(!said.contains("secret"), "{said}");
            assert!(said.contains("write postgres://"), "{said}");
        }
    }
}
