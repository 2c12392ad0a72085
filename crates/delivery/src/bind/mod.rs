//! Addresses to listen on, and their sockets.

mod inherited;
mod listener;
mod queue;
mod unix;

use std::{fmt, path::PathBuf, str::FromStr};

pub(crate) use self::listener::Accepted;
pub use self::{
    inherited::{pass_fds, receive_fds},
    listener::{ListenError, Listener, Sharing},
    queue::AcceptPolicy,
};

/// Address families that a host name may resolve to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4 and IPv6.
    Any,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// A name, or an IP address without brackets.
    pub host: String,
    /// The port; 0 lets the kernel choose a free one.
    pub port: u16,
    /// Address families that the name may resolve to.
    pub family: Family,
}

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bind {
    /// `tcp://host:port`, `tcp4://`, `tcp6://`, or just `host:port`.
    Tcp(Endpoint),
    /// `tls://host:port?cert=FILE&key=FILE`: TCP with TLS, and HTTP/2 or HTTP/1.1 inside.
    Tls {
        /// Host and port.
        endpoint: Endpoint,
        /// PEM file with the certificate and its intermediate certificates.
        certificate: PathBuf,
        /// PEM file with the private key.
        key: PathBuf,
    },
    /// `unix:///path?mode=660`: a UNIX socket in the file system.
    Unix {
        /// Path of the socket.
        path: PathBuf,
        /// File mode; if `None`, the process's umask decides.
        mode: Option<u32>,
    },
    /// `unix://@name`: a UNIX socket in Linux's abstract namespace.
    Abstract(String),
    /// `systemd://` or `systemd://name`: sockets opened by the service manager, either all of them
    /// or those of one `FileDescriptorName=`.
    Activated(Option<String>),
}

/// An address that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an address to listen on: {reason}")]
pub struct BindError {
    text: String,
    reason: &'static str,
}

impl Bind {
    /// Whether only processes on this machine can connect.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(endpoint) | Self::Tls { endpoint, .. } => endpoint.is_local(),
            Self::Unix { .. } | Self::Abstract(_) => true,
            Self::Activated(_) => false,
        }
    }
}

impl Endpoint {
    fn is_local(&self) -> bool {
        self.host == "localhost"
            || self
                .host
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }

    fn read(text: &str, family: Family) -> Result<Self, &'static str> {
        let (host, port) = text.rsplit_once(':').ok_or("a port is missing")?;
        let port = port.parse().map_err(|_| "the port is not a number")?;
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let host = match (bare, host) {
            (Some(bare), _) => bare,
            (None, "") => return Err("a host is missing"),
            (None, host) if host.contains(':') => return Err("IPv6 addresses need brackets"),
            (None, host) => host,
        };
        Ok(Self {
            host: host.to_owned(),
            port,
            family,
        })
    }
}

impl From<std::net::SocketAddr> for Endpoint {
    fn from(address: std::net::SocketAddr) -> Self {
        Self {
            host: address.ip().to_string(),
            port: address.port(),
            family: Family::Any,
        }
    }
}

impl FromStr for Bind {
    type Err = BindError;

    fn from_str(text: &str) -> Result<Self, BindError> {
        read(text).map_err(|reason| BindError {
            text: text.to_owned(),
            reason,
        })
    }
}

fn read(text: &str) -> Result<Bind, &'static str> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Endpoint::read(text, Family::Any).map(Bind::Tcp);
    };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let value = |name: &str| {
        query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find_map(|(key, value)| (key == name).then_some(value))
    };
    match scheme {
        "tcp" | "http" => Endpoint::read(place, Family::Any).map(Bind::Tcp),
        "tcp4" => Endpoint::read(place, Family::V4).map(Bind::Tcp),
        "tcp6" => Endpoint::read(place, Family::V6).map(Bind::Tcp),
        "tls" | "ssl" | "https" => Ok(Bind::Tls {
            endpoint: Endpoint::read(place, Family::Any)?,
            certificate: value("cert").ok_or("`?cert=FILE` is missing")?.into(),
            key: value("key").ok_or("`&key=FILE` is missing")?.into(),
        }),
        "unix" => match place.strip_prefix('@') {
            Some("") => Err("a name is missing"),
            Some(name) => Ok(Bind::Abstract(name.to_owned())),
            None if !place.starts_with('/') => Err("the path must begin with a slash"),
            None => {
                let mode = value("mode").map(|mode| u32::from_str_radix(mode, 8));
                Ok(Bind::Unix {
                    path: place.into(),
                    mode: mode.transpose().map_err(|_| "the mode is not octal")?,
                })
            }
        },
        "systemd" => Ok(Bind::Activated(
            Some(place.to_owned()).filter(|name| !name.is_empty()),
        )),
        _ => Err("the scheme must be tcp, tcp4, tcp6, tls, unix or systemd"),
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(endpoint) => match endpoint.family {
                Family::Any => write!(f, "{endpoint}"),
                Family::V4 => write!(f, "tcp4://{endpoint}"),
                Family::V6 => write!(f, "tcp6://{endpoint}"),
            },
            Self::Tls {
                endpoint,
                certificate,
                key,
            } => {
                let (certificate, key) = (certificate.display(), key.display());
                write!(f, "tls://{endpoint}?cert={certificate}&key={key}")
            }
            Self::Unix { path, mode } => {
                write!(f, "unix://{}", path.display())?;
                mode.map_or(Ok(()), |mode| write!(f, "?mode={mode:o}"))
            }
            Self::Abstract(name) => write!(f, "unix://@{name}"),
            Self::Activated(name) => write!(f, "systemd://{}", name.as_deref().unwrap_or("")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written_the_same() {
        for text in [
            "127.0.0.1:3000",
            "[::1]:0",
            "localhost:80",
            "tcp4://localhost:80",
            "tcp6://[::]:80",
            "tls://0.0.0.0:443?cert=/a/b.pem&key=/a/k.pem",
            "unix:///run/platen.sock",
            "unix:///run/platen.sock?mode=660",
            "unix://@platen",
            "systemd://",
            "systemd://public",
        ] {
            assert_eq!(text.parse::<Bind>().unwrap().to_string(), text);
        }
        let plain: Bind = "127.0.0.1:3000".parse().unwrap();
        assert_eq!(plain, "tcp://127.0.0.1:3000".parse().unwrap());
        assert!(plain.is_local() && !"0.0.0.0:1".parse::<Bind>().unwrap().is_local());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, reason) in [
            ("3000", "a port is missing"),
            ("::1:3000", "brackets"),
            ("localhost:99999", "the port is not a number"),
            ("tls://a:1?cert=x", "key"),
            ("unix://relative", "slash"),
            ("unix:///a?mode=9", "octal"),
            ("ftp://a:1", "the scheme must be"),
        ] {
            let error = text.parse::<Bind>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
