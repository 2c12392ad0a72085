//! Limits of connections.

use std::time::Duration;

/// Limits of connections. [`Limits::default`] has the defaults.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum number of connections; further ones wait in the kernel's queue.
    pub connections: usize,
    /// Maximum size of a request head, in bytes. It has 100 headers at most.
    pub head_bytes: usize,
    /// Timeout of a request head, from the beginning of the connection or the end of the previous
    /// response: also that of an idle connection.
    pub head_timeout: Duration,
    /// How often an HTTP/2 client that is silent is asked whether it is still there.
    pub ping_interval: Duration,
    /// Timeout of a request body, since the last byte received.
    pub body_timeout: Duration,
    /// Timeout of a client that reads nothing of its response.
    pub write_timeout: Duration,
    /// How long a response may pause once the client has half-closed the connection: it may have
    /// disconnected.
    pub half_closed_timeout: Duration,
    /// How long a connection waits for one more request when the service stops: a request in flight
    /// must not be lost.
    pub stop_timeout: Duration,
    /// How long a closing connection is drained, so that the client receives its response.
    pub linger_timeout: Duration,
    /// Maximum number of bytes drained.
    pub linger_bytes: usize,
    /// Size of the kernel's send buffer (`SO_SNDBUF`), in bytes; the kernel's choice if `None`.
    pub send_buffer_bytes: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4_096,
            head_bytes: 64 << 10,
            head_timeout: Duration::from_secs(10),
            ping_interval: Duration::from_secs(75),
            body_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            half_closed_timeout: Duration::from_secs(1),
            stop_timeout: Duration::from_millis(500),
            linger_timeout: Duration::from_secs(2),
            linger_bytes: 4 << 20,
            send_buffer_bytes: None,
        }
    }
}
