//! What one client may take.

use std::time::Duration;

/// Bounds of connections. Every default is the value of [`Limits::default`].
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at once; more wait in the kernel's queue.
    pub connections: usize,
    /// Bytes of a request's head.
    pub head_bytes: usize,
    /// Header lines of a request, at most 128.
    pub headers: usize,
    /// Time for a head, from its first byte.
    pub head_timeout: Duration,
    /// Time between two requests, and before the first.
    pub idle_timeout: Duration,
    /// A body of which nothing comes for so long has ended.
    pub body_timeout: Duration,
    /// A client that takes nothing of its answer for so long is dropped.
    pub write_timeout: Duration,
    /// How long an answer is worked on after the client has closed its end.
    pub half_closed_timeout: Duration,
    /// How long a connection waits for one more request when the service stops: one that is under
    /// way must not be lost.
    pub stop_timeout: Duration,
    /// How long a closing connection is read on, so that the client sees its answer.
    pub linger_timeout: Duration,
    /// How much is read on.
    pub linger_bytes: usize,
    /// Frames of a stream are gathered into writes of about so many bytes.
    pub gather_bytes: usize,
    /// Writes of so many bytes go to a thread.
    pub large_bytes: usize,
    /// Threads for them.
    pub writer_threads: usize,
    /// Size of the kernel's send buffer, where it is not left to the kernel.
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
