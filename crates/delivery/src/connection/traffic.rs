//! What the parts of a connection know of each other: requests in flight, and input that nobody has
//! read.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use crate::idle_connections::IdleSlot;

/// Protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// State of one connection.
pub(super) struct Traffic {
    pub(super) protocol: Protocol,
    /// Without requests the connection is idle and may be evicted.
    idle_slot: IdleSlot,
    requests: AtomicUsize,
    /// Bytes have arrived since the last request.
    has_input: AtomicBool,
    /// A request body was dropped before its end.
    has_abandoned_body: AtomicBool,
    /// Another protocol uses the connection.
    is_upgraded: AtomicBool,
}

impl Traffic {
    pub(super) fn new(protocol: Protocol, idle_slot: IdleSlot) -> Self {
        Self {
            protocol,
            idle_slot,
            requests: AtomicUsize::new(0),
            has_input: AtomicBool::new(false),
            has_abandoned_body: AtomicBool::new(false),
            is_upgraded: AtomicBool::new(false),
        }
    }

    /// A request has arrived.
    pub(super) fn begin(self: &Arc<Self>) -> UnderWay {
        if self.requests.fetch_add(1, Ordering::AcqRel) == 0 {
            // If the connection was evicted just now, its task ends before anything is answered.
            self.idle_slot.begin();
        }
        self.has_abandoned_body.store(false, Ordering::Relaxed);
        UnderWay(Arc::clone(self))
    }

    /// Whether the connection has a request whose response is not complete.
    pub(super) fn has_request(&self) -> bool {
        self.requests.load(Ordering::Acquire) > 0
    }

    /// Everything is written. Only then is the connection idle: the protocol library drops a body
    /// when it has its last bytes, not when the client has them.
    pub(super) fn flushed(&self) {
        if !self.has_request() {
            self.idle_slot.wait();
        }
    }

    pub(super) fn received(&self) {
        self.has_input.store(true, Ordering::Relaxed);
    }

    /// Whether part of a request has arrived, but not all of its head.
    pub(super) fn has_partial_head(&self) -> bool {
        self.has_input.load(Ordering::Relaxed) && !self.has_request()
    }

    pub(super) fn abandon_body(&self) {
        self.has_abandoned_body.store(true, Ordering::Relaxed);
    }

    pub(super) fn upgrade(&self) {
        self.is_upgraded.store(true, Ordering::Relaxed);
    }

    /// Whether the client may still be sending what nobody will read.
    pub(super) fn is_sending_in_vain(&self) -> bool {
        let is_sending = self.has_input.load(Ordering::Relaxed)
            || self.has_abandoned_body.load(Ordering::Relaxed);
        is_sending && !self.is_upgraded.load(Ordering::Relaxed)
    }
}

/// A request in flight. Dropped when its response was handed to the protocol library or aborted.
pub(super) struct UnderWay(Arc<Traffic>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let traffic = &self.0;
        traffic.has_input.store(false, Ordering::Relaxed);
        let was_last = traffic.requests.fetch_sub(1, Ordering::AcqRel) == 1;
        // A reset stream of HTTP/2 ends without a write.
        if was_last && traffic.protocol == Protocol::Http2 {
            traffic.idle_slot.wait();
        }
    }
}

#[cfg(test)]
impl UnderWay {
    /// A request on a connection of its own.
    pub(super) fn alone() -> Self {
        let connection = tokio::spawn(async {}).abort_handle();
        let idle_slot = IdleSlot::new(Arc::default(), &crate::Peer::Unix, connection);
        Arc::new(Traffic::new(Protocol::Http2, idle_slot)).begin()
    }
}
