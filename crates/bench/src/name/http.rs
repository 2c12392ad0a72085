//! Names of cells of the pack of response bodies.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a body is produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BodyKind {
    /// Parts with a known total length.
    Array,
    /// Parts with an unknown total length, sent in chunks.
    Chunk,
    /// A string.
    String,
    /// A file.
    Io,
}

impl BodyKind {
    /// All kinds, in the order of the tables.
    pub const ALL: [Self; 4] = [Self::Array, Self::Chunk, Self::String, Self::Io];

    /// The letter in `Body-Conf`.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Array => 'a',
            Self::Chunk => 'c',
            Self::String => 's',
            Self::Io => 'i',
        }
    }

    /// Text of tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Chunk => "chunk",
            Self::String => "string",
            Self::Io => "io",
        }
    }
}

/// What the server listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SocketKind {
    /// IPv4.
    Tcp,
    /// IPv6.
    Tcp6,
    /// TLS over IPv4.
    Ssl,
    /// TLS over IPv6.
    Ssl6,
    /// A UNIX socket.
    Unix,
    /// An abstract UNIX socket.
    Aunix,
}

impl SocketKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Tcp,
        Self::Tcp6,
        Self::Ssl,
        Self::Ssl6,
        Self::Unix,
        Self::Aunix,
    ];

    /// Parses a name as in Puma's scripts: `tcp4` is `tcp`, `ssl4` is `ssl`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "tcp4" => Some(Self::Tcp),
            "ssl4" => Some(Self::Ssl),
            name => Self::ALL.into_iter().find(|it| it.as_str() == name),
        }
    }

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Tcp6 => "tcp6",
            Self::Ssl => "ssl",
            Self::Ssl6 => "ssl6",
            Self::Unix => "unix",
            Self::Aunix => "aunix",
        }
    }

    /// Whether it is encrypted.
    #[must_use]
    pub fn is_tls(self) -> bool {
        matches!(self, Self::Ssl | Self::Ssl6)
    }

    /// Whether it is a UNIX socket, which wrk does not support.
    #[must_use]
    pub fn is_unix(self) -> bool {
        matches!(self, Self::Unix | Self::Aunix)
    }
}

/// Whether a file is in the page cache when it is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PageCache {
    /// In memory.
    Hot,
    /// Only on disk.
    Cold,
}

/// What is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Route {
    /// A body made for the benchmark, described by `Body-Conf`.
    Fixture,
    /// A stored result.
    Stored,
    /// A rendering, made for the response.
    Render,
}

/// What answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Server {
    /// Platen's HTTP transport alone.
    Transport {
        /// Version of Platen.
        version: String,
    },
    /// `platen serve`.
    Service {
        /// Version of Platen.
        version: String,
    },
    /// Puma.
    Puma {
        /// Version of Puma.
        version: String,
        /// Version of Ruby.
        ruby: String,
    },
    /// nginx.
    Nginx {
        /// Its version.
        version: String,
    },
    /// hyper without Platen's transport, in the same binary.
    Hyper {
        /// Its version.
        version: String,
    },
    /// A server that was already running.
    Address(String),
}

impl fmt::Display for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport { version } => write!(formatter, "delivery of Platen {version}"),
            Self::Service { version } => write!(formatter, "platen serve {version}"),
            Self::Puma { version, ruby } => write!(formatter, "puma {version} (ruby {ruby})"),
            Self::Nginx { version } => write!(formatter, "nginx {version}"),
            Self::Hyper { version } => write!(formatter, "hyper {version}"),
            Self::Address(address) => formatter.write_str(address),
        }
    }
}

/// The name of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    tag = "section",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum HttpName {
    /// A kind and size of body under full load.
    Matrix {
        /// What is requested.
        route: Route,
        /// How the body is produced.
        kind: BodyKind,
        /// Size of the body, in units of 1,024 bytes.
        kilobytes: usize,
        /// What answers.
        server: Server,
        /// What it listens on.
        socket: SocketKind,
        /// Where the file of an `io` body was; absent where that was not recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cache: Option<PageCache>,
    },
    /// A file, requested once at a time.
    Files {
        /// What is requested.
        route: Route,
        /// Size of the file, in units of 1,024 bytes.
        kilobytes: usize,
        /// What answers.
        server: Server,
        /// What it listens on.
        socket: SocketKind,
        /// Where the file was.
        cache: PageCache,
    },
    /// Strings of 10 kB, requested on a number of connections.
    Connections {
        /// What answers.
        server: Server,
        /// Threads of the client.
        threads: usize,
    },
}

impl HttpName {
    /// What answers.
    #[must_use]
    pub fn server(&self) -> &Server {
        match self {
            Self::Matrix { server, .. }
            | Self::Files { server, .. }
            | Self::Connections { server, .. } => server,
        }
    }
}

impl fmt::Display for HttpName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Matrix {
                kind,
                kilobytes,
                server,
                socket,
                ..
            } => write!(
                formatter,
                "matrix/{} of {kilobytes} kB, {server}, {}",
                kind.as_str(),
                socket.as_str()
            ),
            Self::Files {
                kilobytes,
                server,
                cache,
                ..
            } => write!(
                formatter,
                "files/{kilobytes} kB, {server}, {}",
                match cache {
                    PageCache::Hot => "hot",
                    PageCache::Cold => "cold",
                }
            ),
            Self::Connections { server, threads } => {
                write!(formatter, "connections/{server}, {threads} client threads")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_named_as_in_the_scripts_of_puma() {
        for socket in SocketKind::ALL {
            assert_eq!(SocketKind::parse(socket.as_str()), Some(socket));
        }
        assert_eq!(SocketKind::parse("ssl4"), Some(SocketKind::Ssl));
        assert_eq!(SocketKind::parse("udp"), None);
    }
}
