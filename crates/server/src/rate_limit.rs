//! Rate limits per minute and client: a token bucket per client, in a bounded map. What a client
//! takes at another service of a fleet leaves its bucket here a moment later.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use platen_fault::Code;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::{auth::Caller, problem::Problem};

/// Most clients with a bucket of their own; the others share one.
const MAX_CLIENTS: usize = 50_000;

/// Client identity for rate limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub(crate) enum Client {
    /// An API key or a user, by its number.
    Key(u64),
    /// An API key with a limit of its own.
    Limited { number: u64, per_minute: u32 },
    /// An IP address; for IPv6, its /64 network.
    Address(u128),
    /// All clients beyond `MAX_CLIENTS`.
    Rest,
}

impl Client {
    pub(crate) fn new(caller: &Caller, address: IpAddr) -> Self {
        match (caller, address.to_canonical()) {
            (Caller::Known(identity), _) => Self::Key(identity.number),
            (Caller::Anonymous, IpAddr::V4(address)) => {
                Self::Address(u128::from(u32::from(address)))
            }
            (Caller::Anonymous, IpAddr::V6(address)) => {
                Self::Address(u128::from(address) >> 64 << 64)
            }
        }
    }
}

/// The client whose requests count: its key may have a limit of its own.
pub(crate) fn limited(caller: &Caller, address: IpAddr) -> Client {
    match caller {
        Caller::Known(identity) => match identity.requests_per_minute {
            Some(per_minute) => Client::Limited {
                number: identity.number,
                per_minute,
            },
            None => Client::Key(identity.number),
        },
        Caller::Anonymous => Client::new(caller, address),
    }
}

struct Bucket {
    tokens: f64,
    seen: Instant,
}

/// A limit per minute.
pub(crate) struct RateLimit {
    per_minute: f64,
    buckets: Mutex<FxHashMap<Client, Bucket>>,
    /// Usage that was not sent to other services yet; `None` if there are no
    /// others.
    unsent: Option<Mutex<FxHashMap<Client, u32>>>,
}

impl RateLimit {
    /// Collects usage for other services.
    pub(crate) fn shared(self) -> Self {
        Self {
            unsent: Some(Mutex::default()),
            ..self
        }
    }

    /// What clients took since the last call, of at most `limit` clients.
    pub(crate) fn unsent(&self, limit: usize) -> Vec<(Client, u32)> {
        let Some(unsent) = &self.unsent else {
            return Vec::new();
        };
        let mut unsent = unsent.lock();
        if unsent.len() <= limit {
            return unsent.drain().collect();
        }
        let some: Vec<Client> = unsent.keys().take(limit).copied().collect();
        let some = some.into_iter();
        some.filter_map(|client| unsent.remove_entry(&client))
            .collect()
    }

    /// A client took tokens at another service.
    pub(crate) fn took_elsewhere(&self, client: Client, count: u32) {
        let per_minute = self.per_minute_of(client);
        if per_minute <= 0.0 {
            return;
        }
        let now = Instant::now();
        let mut buckets = self.buckets.lock();
        let client = self.make_room(&mut buckets, client, now);
        let bucket = buckets.entry(client).or_insert(Bucket {
            tokens: per_minute,
            seen: now,
        });
        // A debt of a minute at most: that is what a service admits before it hears of another.
        bucket.tokens = (bucket.tokens - f64::from(count)).max(-per_minute);
    }

    /// A rate limit; 0 disables it.
    pub(crate) fn new(per_minute: u32) -> Self {
        Self {
            per_minute: f64::from(per_minute),
            buckets: Mutex::default(),
            unsent: None,
        }
    }

    /// Takes `count` tokens from the client's bucket.
    ///
    /// # Errors
    /// 429 with the time to wait.
    pub(crate) fn take(&self, client: Client, count: u32) -> Result<(), Problem> {
        self.take_at(client, count, Instant::now())
            .map_err(|wait| too_many(wait, self.per_minute_of(client)))
    }

    fn take_at(&self, client: Client, count: u32, now: Instant) -> Result<(), Duration> {
        let per_minute = self.per_minute_of(client);
        if per_minute <= 0.0 {
            return Ok(());
        }
        let mut buckets = self.buckets.lock();
        let client = self.make_room(&mut buckets, client, now);
        let bucket = buckets.entry(client).or_insert(Bucket {
            tokens: per_minute,
            seen: now,
        });
        let elapsed = now.saturating_duration_since(bucket.seen).as_secs_f64();
        bucket.seen = now;
        bucket.tokens = (bucket.tokens + elapsed * per_minute / 60.0).min(per_minute);
        // A batch larger than the bucket may pass when the bucket is full, and leaves a debt.
        let needed = f64::from(count).min(per_minute);
        if bucket.tokens < needed {
            let seconds = (needed - bucket.tokens) * 60.0 / per_minute;
            return Err(Duration::from_secs_f64(seconds));
        }
        bucket.tokens -= f64::from(count);
        if let Some(unsent) = &self.unsent {
            let mut unsent = unsent.lock();
            if unsent.len() < MAX_CLIENTS || unsent.contains_key(&client) {
                let known = unsent.entry(client).or_default();
                *known = known.saturating_add(count);
            }
        }
        Ok(())
    }

    /// The limit of a client.
    fn per_minute_of(&self, client: Client) -> f64 {
        match client {
            Client::Limited { per_minute, .. } => f64::from(per_minute),
            Client::Key(_) | Client::Address(_) | Client::Rest => self.per_minute,
        }
    }

    fn make_room(
        &self,
        buckets: &mut FxHashMap<Client, Bucket>,
        client: Client,
        now: Instant,
    ) -> Client {
        if buckets.len() < MAX_CLIENTS || buckets.contains_key(&client) {
            return client;
        }
        // Buckets untouched for a minute are full again, unless in debt: drop them.
        buckets.retain(|_, bucket| {
            bucket.tokens < 0.0 || now.saturating_duration_since(bucket.seen).as_secs() < 60
        });
        if buckets.len() < MAX_CLIENTS {
            client
        } else {
            Client::Rest
        }
    }
}

fn too_many(wait: Duration, per_minute: f64) -> Problem {
    let detail = format!("more than {per_minute} requests per minute");
    Problem::new(Code::RateLimited, detail).retry_after(wait.as_secs() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back() {
        let limit = RateLimit::new(2);
        let now = Instant::now();
        let take = |client, seconds| {
            limit
                .take_at(client, 1, now + Duration::from_secs(seconds))
                .is_ok()
        };
        let (one, other) = (Client::Address(1), Client::Address(2));
        assert!(take(one, 0) && take(one, 0) && !take(one, 0));
        assert!(take(other, 0));
        assert!(!take(one, 10) && take(one, 31) && !take(one, 31));
    }

    #[test]
    fn each_address_of_ipv4_is_a_client_however_it_connected() {
        let of = |text: &str| Client::new(&Caller::Anonymous, text.parse().unwrap());
        assert_ne!(of("::ffff:192.0.2.1"), of("::ffff:192.0.2.2"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::2"));
    }

    #[test]
    fn a_batch_leaves_a_debt() {
        let limit = RateLimit::new(10);
        let now = Instant::now();
        assert!(limit.take_at(Client::Key(0), 30, now).is_ok());
        let later = now + Duration::from_secs(100);
        assert!(limit.take_at(Client::Key(0), 1, later).is_err());
    }

    #[test]
    fn what_a_client_takes_elsewhere_counts() {
        let (one, other) = (RateLimit::new(4).shared(), RateLimit::new(4).shared());
        let (now, client) = (Instant::now(), Client::Key(1));
        let take = |limit: &RateLimit| limit.take_at(client, 1, now).is_ok();
        assert!((0..3).all(|_| take(&one)) && take(&other));
        let sent = one.unsent(9);
        assert_eq!(sent, [(client, 3)]);
        assert!(one.unsent(9).is_empty());
        for (client, count) in sent {
            other.took_elsewhere(client, count);
        }
        assert!(!take(&other) && take(&one));
        // Usage elsewhere is not passed on.
        assert_eq!(other.unsent(9), [(client, 1)]);
        for address in 0..5 {
            let _ = one.take_at(Client::Address(address), 1, now);
        }
        assert_eq!((one.unsent(2).len(), one.unsent(9).len()), (2, 4));
    }

    #[test]
    fn a_key_may_have_a_limit_of_its_own() {
        let now = Instant::now();
        let key = |per_minute| Client::Limited {
            number: 1,
            per_minute,
        };
        for general in [0, 1, 9] {
            let limit = RateLimit::new(general);
            let take = |client| limit.take_at(client, 1, now).is_ok();
            assert!(take(key(2)) && take(key(2)) && !take(key(2)));
            limit.took_elsewhere(key(3), 3);
            assert!(!take(key(3)));
        }
    }

    #[test]
    fn the_map_is_bounded() {
        let limit = RateLimit::new(1);
        let now = Instant::now();
        for address in 0..(MAX_CLIENTS as u128 + 10) {
            let _ = limit.take_at(Client::Address(address), 1, now);
        }
        let buckets = limit.buckets.lock();
        assert!(buckets.len() <= MAX_CLIENTS + 1);
    }
}
