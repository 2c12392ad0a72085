//! Options of a connection.

use std::time::Duration;

use crate::codec::Limits;

/// Options of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Limits on what is accepted from the peer.
    pub limits: Limits,
    /// Slots to use in each of the peer's caches, at most 256; 0 disables caching.
    pub cache_slots: u16,
    /// Timeout for the handshake.
    pub handshake: Duration,
    /// How long a call waits without any message from the peer before it fails.
    pub silence: Duration,
    /// Calls from the peer served at a time; more are answered with an exception.
    pub served: usize,
    /// Exported objects that may exist at a time.
    pub exports: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            cache_slots: 256,
            handshake: Duration::from_secs(20),
            silence: Duration::from_secs(120),
            served: 64,
            exports: 256,
        }
    }
}
