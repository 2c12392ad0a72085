//! Connections that wait for a request, by address. Where there is no room for another connection, one
//! of them is let go, of the address that has the most: whoever holds connections open without asking
//! for anything takes room from himself and from nobody else.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::task::AbortHandle;

use crate::Peer;

/// Who connections are counted for. A client of IPv6 has a network of its own (RFC 6177), of which it
/// may use any address.
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
    /// Given to the next that begins to wait, so that the oldest has the least.
    next: u64,
    by_owner: HashMap<Owner, BTreeMap<u64, AbortHandle>>,
}

/// Connections that wait for a request.
#[derive(Debug, Default)]
pub(crate) struct Crowd(Mutex<Waiting>);

impl Crowd {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the connection that has waited longest, of the address that has the most waiting. False
    /// where none waits.
    pub(crate) fn let_one_go(&self) -> bool {
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

/// The place of a connection in the crowd.
#[derive(Debug)]
pub(crate) struct Place {
    crowd: Arc<Crowd>,
    owner: Owner,
    connection: AbortHandle,
    /// Where it stands while it waits.
    at: Mutex<Option<u64>>,
}

impl Place {
    pub(crate) fn new(crowd: Arc<Crowd>, peer: &Peer, connection: AbortHandle) -> Self {
        Self {
            crowd,
            owner: Owner::of(peer),
            connection,
            at: Mutex::new(None),
        }
    }

    fn at(&self) -> MutexGuard<'_, Option<u64>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on the connection waits for a request, and may be let go.
    pub(crate) fn wait(&self) {
        let mut at = self.at();
        if at.is_some() {
            return;
        }
        let mut waiting = self.crowd.lock();
        let place = waiting.next;
        waiting.next += 1;
        let all = waiting.by_owner.entry(self.owner).or_default();
        all.insert(place, self.connection.clone());
        *at = Some(place);
    }

    /// A request is there. False where the connection was let go in the meantime.
    pub(crate) fn begin(&self) -> bool {
        let Some(place) = self.at().take() else {
            return true;
        };
        let mut waiting = self.crowd.lock();
        let Some(all) = waiting.by_owner.get_mut(&self.owner) else {
            return false;
        };
        let was_there = all.remove(&place).is_some();
        if all.is_empty() {
            waiting.by_owner.remove(&self.owner);
        }
        was_there
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(crowd: &Arc<Crowd>, peer: &str) -> (Place, tokio::task::JoinHandle<()>) {
        let task = tokio::spawn(std::future::pending());
        let peer = Peer::Tcp(peer.parse().unwrap());
        let place = Place::new(Arc::clone(crowd), &peer, task.abort_handle());
        place.wait();
        (place, task)
    }

    #[tokio::test]
    async fn the_address_with_the_most_loses_its_oldest() {
        let crowd = Arc::new(Crowd::default());
        let (alone, _alone_task) = place(&crowd, "192.0.2.1:1");
        let (first, first_task) = place(&crowd, "[2001:db8::1]:1");
        let (second, _second_task) = place(&crowd, "[2001:db8::2]:1");
        assert!(crowd.let_one_go());
        assert!(first_task.await.unwrap_err().is_cancelled());
        assert!(!first.begin());
        // One that has its request is not let go.
        assert!(second.begin() && alone.begin());
        assert!(!crowd.let_one_go());
    }

    #[tokio::test]
    async fn those_that_have_ended_leave_nothing_behind() {
        let crowd = Arc::new(Crowd::default());
        drop(place(&crowd, "192.0.2.1:1"));
        drop(place(&crowd, "[::ffff:192.0.2.1]:2"));
        assert!(crowd.lock().by_owner.is_empty());
    }
}
