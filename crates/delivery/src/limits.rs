//! Limits of connections.

use std::time::Duration;

/// Limits of connections. [`Limits::default`] has the defaults.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum number of connections; further ones wait in the kernel's queue.
    pub connections: usize,
    /// Maximum size of a request head, in bytes.
    pub head_bytes: usize,
    /// Maximum number of headers of a request, at most 128.
    pub headers: usize,
    /// Timeout of a request head, from its first byte.
    pub head_timeout: Duration,
    /// Timeout of an idle connection, before the first request and between requests.
    pub idle_timeout: Duration,
    /// Timeout of a request body, since the last byte received.
    pub body_timeout: Duration,
    /// Timeout of a client that reads nothing of its response.
    pub write_timeout: Duration,
    /// How long a request continues after the client has half-closed the connection.
    pub half_closed_timeout: Duration,
    /// How long a connection waits for one more request when the service stops: a request in flight
    /// must not be lost.
    pub stop_timeout: Duration,
    /// How long a closing connection is drained, so that the client receives its response.
    pub linger_timeout: Duration,
    /// Maximum number of bytes drained.
    pub linger_bytes: usize,
    /// Frames of a stream are gathered into writes of about this size, in bytes.
    pub gather_bytes: usize,
    /// Writes of at least this size go to a writer thread, in bytes.
    pub large_bytes: usize,
    /// Maximum number of writer threads.
    pub writer_threads: usize,
    /// Size of the kernel's send buffer (`SO_SNDBUF`), in bytes; the kernel's choice if `None`.
    pub send_buffer_bytes: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4_096,
            head_bytes: 64 << 10,
            headers: 100,
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            half_closed_timeout: Duration::from_secs(30),
            stop_timeout: Duration::from_millis(500),
            linger_timeout: Duration::from_secs(2),
            linger_bytes: 4 << 20,
            gather_bytes: 384 << 10,
            large_bytes: 384 << 10,
            writer_threads: 2 * std::thread::available_parallelism().map_or(2, usize::from),
            send_buffer_bytes: None,
        }
    }
}
