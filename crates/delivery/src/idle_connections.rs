//! Idle connections by client address. When all slots are taken, one idle connection of the address
//! with the most of them is evicted: a client that holds connections open without sending requests
//! loses only its own.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};
use tokio::task::AbortHandle;

use crate::Peer;

/// The client that connections are counted for. An IPv6 client usually has a whole /64 network (RFC
/// 6177), so its connections are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Owner {
    V4([u8; 4]),
    V6([u8; 8]),
    Unix,
}

impl Owner {
    fn of(peer: &Peer) -> Self {
        let Peer::Tcp(address) = peer else {
            return Self::Unix;
        };
        match address.ip().to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => {
                let mut network = [0; 8];
                network.copy_from_slice(&address.octets()[..8]);
                Self::V6(network)
            }
        }
    }
}

#[derive(Debug, Default)]
struct Waiting {
    /// Sequence number of the next idle connection; the oldest has the lowest.
    next: u64,
    by_owner: HashMap<Owner, BTreeMap<u64, AbortHandle>>,
}

/// Connections without a request.
#[derive(Debug, Default)]
pub(crate) struct IdleConnections(Mutex<Waiting>);

impl IdleConnections {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock()
    }

    /// Aborts the longest idle connection of the address with the most of them. False if none is
    /// idle.
    pub(crate) fn evict_one(&self) -> bool {
        let mut waiting = self.lock();
        let Some(most) = waiting.by_owner.values_mut().max_by_key(|all| all.len()) else {
            return false;
        };
        let oldest = most.pop_first();
        waiting.by_owner.retain(|_, all| !all.is_empty());
        oldest.is_some_and(|(_, connection)| {
            connection.abort();
            true
        })
    }
}

/// A connection's entry among the idle ones.
#[derive(Debug)]
pub(crate) struct IdleSlot {
    idle_connections: Arc<IdleConnections>,
    owner: Owner,
    connection: AbortHandle,
    /// Sequence number while the connection is idle.
    at: Mutex<Option<u64>>,
}

impl IdleSlot {
    pub(crate) fn new(
        idle_connections: Arc<IdleConnections>,
        peer: &Peer,
        connection: AbortHandle,
    ) -> Self {
        Self {
            idle_connections,
            owner: Owner::of(peer),
            connection,
            at: Mutex::new(None),
        }
    }

    /// Counts the connection to `peer`, the client of a proxy, from now on. False if the connection
    /// was evicted in the meantime.
    pub(crate) fn pass_to(&mut self, peer: &Peer) -> bool {
        let was_there = self.begin();
        self.owner = Owner::of(peer);
        if was_there {
            self.wait();
        }
        was_there
    }

    fn at(&self) -> MutexGuard<'_, Option<u64>> {
        self.at.lock()
    }

    /// Marks the connection as idle: from now on it may be evicted.
    pub(crate) fn wait(&self) {
        let mut at = self.at();
        if at.is_some() {
            return;
        }
        let mut waiting = self.idle_connections.lock();
        let idle_slot = waiting.next;
        waiting.next += 1;
        let all = waiting.by_owner.entry(self.owner).or_default();
        all.insert(idle_slot, self.connection.clone());
        *at = Some(idle_slot);
    }

    /// Called when a request has arrived. False if the connection was evicted in the meantime.
    pub(crate) fn begin(&self) -> bool {
        let Some(idle_slot) = self.at().take() else {
            return true;
        };
        let mut waiting = self.idle_connections.lock();
        let Some(all) = waiting.by_owner.get_mut(&self.owner) else {
            return false;
        };
        let was_there = all.remove(&idle_slot).is_some();
        if all.is_empty() {
            waiting.by_owner.remove(&self.owner);
        }
        was_there
    }
}

impl Drop for IdleSlot {
    fn drop(&mut self) {
        self.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle_slot(
        idle_connections: &Arc<IdleConnections>,
        peer: &str,
    ) -> (IdleSlot, tokio::task::JoinHandle<()>) {
        let task = tokio::spawn(std::future::pending());
        let peer = Peer::Tcp(peer.parse().unwrap());
        let idle_slot = IdleSlot::new(Arc::clone(idle_connections), &peer, task.abort_handle());
        idle_slot.wait();
        (idle_slot, task)
    }

    #[tokio::test]
    async fn the_address_with_the_most_loses_its_oldest() {
        let idle_connections = Arc::new(IdleConnections::default());
        let (alone, _alone_task) = idle_slot(&idle_connections, "192.0.2.1:1");
        let (first, first_task) = idle_slot(&idle_connections, "[2001:db8::1]:1");
        let (second, _second_task) = idle_slot(&idle_connections, "[2001:db8::2]:1");
        assert!(idle_connections.evict_one());
        assert!(first_task.await.unwrap_err().is_cancelled());
        assert!(!first.begin());
        // A connection with a request is not evicted.
        assert!(second.begin() && alone.begin());
        assert!(!idle_connections.evict_one());
    }

    #[tokio::test]
    async fn clients_of_a_proxy_count_on_their_own() {
        let idle_connections = Arc::new(IdleConnections::default());
        let slots: Vec<_> = ["203.0.113.1:1", "203.0.113.2:1", "203.0.113.2:2"]
            .map(|client| {
                let (mut slot, task) = idle_slot(&idle_connections, "10.0.0.1:1");
                assert!(slot.pass_to(&Peer::Tcp(client.parse().unwrap())));
                (slot, task)
            })
            .into_iter()
            .collect();
        assert!(idle_connections.evict_one());
        let evicted: Vec<bool> = slots.iter().map(|(slot, _)| !slot.begin()).collect();
        assert_eq!(evicted, [false, true, false]);
    }

    #[tokio::test]
    async fn those_that_have_ended_leave_nothing_behind() {
        let idle_connections = Arc::new(IdleConnections::default());
        drop(idle_slot(&idle_connections, "192.0.2.1:1"));
        drop(idle_slot(&idle_connections, "[::ffff:192.0.2.1]:2"));
        assert!(idle_connections.lock().by_owner.is_empty());
    }
}
