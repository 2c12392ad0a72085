//! Keys that were made while the service runs: a copy of the store in memory, and how it stays
//! true. A process that makes or deletes a key reads the store again at once and signals the other
//! services; these also look at the store's mark from time to time, in case a signal was lost.
//! Processes beside the leader look before each request that shows such a key.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use parking_lot::{Mutex, RwLock};
use platen_runs::Fleet;
use platen_storage::{Error, KeyStore, KeysMark, NewKey, Peers, Signal, StoredKey};
use rustc_hash::FxHashMap;
use subtle::ConstantTimeEq;
use tokio::{
    sync::broadcast::error::RecvError,
    time::{MissedTickBehavior, interval},
};

use super::{
    credential::{Hash, hash, number_of},
    identity::Identity,
};
use crate::{
    link_key,
    scope::{Role, Scope, Scopes},
    templates::MAX_AGE,
};

/// The first letters of each key.
const PREFIX: &str = "plt_";
/// What the session of a key begins with; its id follows.
pub(super) const STORED: &str = "key-";
/// Bytes of the random part of a key that are its id.
const ID_BYTES: usize = 8;
/// Interval of the notes of last uses, and of the uses of a key that the leader hears of.
const NOTE_INTERVAL: Duration = Duration::from_secs(15);
/// How long a request waits for the keys to be read.
const MAX_LOOK: Duration = Duration::from_secs(2);

/// The keys of the store.
pub(crate) struct StoredKeys {
    store: Arc<dyn KeyStore>,
    known: RwLock<Arc<Known>>,
    /// Held while the store is read, so that an older state does not replace a newer one. When the
    /// last read that succeeded began: who came before that needs no read of its own.
    reading: tokio::sync::Mutex<Instant>,
    /// Other services that write to the store.
    peers: Option<Arc<dyn Peers>>,
    /// Whether the leader, another process, writes to the store.
    is_follower: bool,
    /// When keys were used since the last note; in a follower, when the leader heard of them.
    uses: Mutex<FxHashMap<String, i64>>,
}

/// A state of the store.
#[derive(Default)]
struct Known {
    mark: KeysMark,
    by_id: FxHashMap<String, Entry>,
}

struct Entry {
    hash: Hash,
    expires_unix_ms: Option<i64>,
    identity: Arc<Identity>,
}

/// A key that was just made.
pub(crate) struct MadeKey {
    /// The key itself, which is shown once.
    pub(crate) secret: String,
    pub(crate) id: String,
    pub(crate) hash: Hash,
}

/// Milliseconds since 1970-01-01T00:00:00Z.
pub(crate) fn now_unix_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

/// What a key may do: the scopes of its roles, and those that it has besides. Names that this
/// version does not know count for nothing.
pub(crate) fn scopes_of(roles: &str, scopes: &str) -> Scopes {
    let roles = roles.split_whitespace().filter_map(Role::parse);
    let of_roles = roles.fold(Scopes::default(), |all, role| all.and(role.scopes()));
    let scopes = scopes.split_whitespace().filter_map(Scope::parse);
    scopes.fold(of_roles, |all, scope| all.and(Scopes::of(&[scope])))
}

/// A new key.
///
/// # Errors
/// The system has no random numbers.
pub(crate) fn make_key() -> std::io::Result<MadeKey> {
    let random = link_key::random()?;
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let (id, rest) = random.split_at(ID_BYTES);
    let id = hex(id);
    let secret = format!("{PREFIX}{id}_{}", hex(rest));
    Ok(MadeKey {
        hash: hash(secret.as_bytes()),
        secret,
        id,
    })
}

/// The id of a key, if it looks like one of the store.
pub(super) fn id_of(key: &[u8]) -> Option<&str> {
    let key = std::str::from_utf8(key).ok()?;
    let (id, _) = key.strip_prefix(PREFIX)?.split_once('_')?;
    Some(id)
}

impl From<StoredKey> for Entry {
    fn from(StoredKey { key, .. }: StoredKey) -> Self {
        Self {
            hash: key.hash,
            expires_unix_ms: key.expires_unix_ms,
            identity: Arc::new(Identity {
                name: format!("key {} ({})", key.name, key.id),
                person: key.name.clone(),
                scopes: scopes_of(&key.roles, &key.scopes),
                number: number_of(&key.id),
                reference: format!("{STORED}{}", key.id),
                only: None,
                requests_per_minute: key.requests_per_minute,
            }),
        }
    }
}

impl StoredKeys {
    /// Reads the keys of a store.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn open(
        store: Arc<dyn KeyStore>,
        fleet: Option<&Fleet>,
        is_follower: bool,
    ) -> Result<Self, Error> {
        let keys = Self {
            store,
            known: RwLock::default(),
            reading: tokio::sync::Mutex::new(Instant::now()),
            peers: fleet.map(|fleet| Arc::clone(&fleet.peers)),
            is_follower,
            uses: Mutex::default(),
        };
        keys.look().await?;
        Ok(keys)
    }

    /// Reads the keys again if they are others than those known. Whoever waits for a read meanwhile
    /// shares the next one: each request of a follower looks, and one after another they would wait
    /// for longer than [`MAX_LOOK`].
    async fn look(&self) -> Result<(), Error> {
        let came = Instant::now();
        let mut last_began = self.reading.lock().await;
        if *last_began > came {
            return Ok(());
        }
        let began = Instant::now();
        let mark = self.store.mark().await?;
        if mark != self.known.read().mark {
            let stored = self.store.list().await?.into_iter();
            let by_id = stored.map(|one| (one.key.id.clone(), Entry::from(one)));
            // If the list has what came after the mark, the next look reads it again.
            *self.known.write() = Arc::new(Known {
                mark,
                by_id: by_id.collect(),
            });
        }
        *last_began = began;
        Ok(())
    }

    /// Looks at the store before a request that shows one of its keys, where no signal tells.
    pub(super) async fn look_before_request(&self) {
        if !self.is_follower {
            return;
        }
        // Requests wait for each other here.
        match tokio::time::timeout(MAX_LOOK, self.look()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "API keys were not read; those known before stay valid");
            }
            Err(_) => {
                tracing::warn!("API keys were not read in time; those known before stay valid");
            }
        }
    }

    /// Follows what other services do, and notes last uses, until the process ends.
    pub(crate) async fn keep_up(self: Arc<Self>) {
        let mut signals = self.peers.as_ref().map(|peers| peers.listen());
        let mut looks = interval(MAX_AGE);
        let mut notes = interval(NOTE_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        notes.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let signal = async {
                match &mut signals {
                    Some(signals) => signals.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                signal = signal => match signal {
                    Ok(Signal::Keys | Signal::Missed) | Err(RecvError::Lagged(_)) => {
                        self.look_again().await;
                    }
                    Ok(_) => {}
                    Err(RecvError::Closed) => signals = None,
                },
                _ = looks.tick(), if self.peers.is_some() => self.look_again().await,
                _ = notes.tick() => self.note_uses().await,
            }
        }
    }

    async fn look_again(&self) {
        if let Err(error) = self.look().await {
            tracing::debug!(%error, "API keys were not read");
        }
    }

    /// Stores a key; false if there are too many.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn create(&self, key: NewKey) -> Result<bool, Error> {
        let is_stored = self.store.create(key).await?;
        self.changed().await?;
        Ok(is_stored)
    }

    /// Replaces what a key is for, what it may do, its limit and its end, if `number` is still its
    /// number; false otherwise.
    ///
    /// # Errors
    /// There is no such key, or the store fails.
    pub(crate) async fn update(&self, number: u64, key: NewKey) -> Result<bool, Error> {
        let is_stored = self.store.update(number, key).await?;
        self.changed().await?;
        Ok(is_stored)
    }

    /// Deletes a key.
    ///
    /// # Errors
    /// There is no such key, or the store fails.
    pub(crate) async fn delete(&self, id: String) -> Result<(), Error> {
        self.store.delete(id).await?;
        self.changed().await
    }

    async fn changed(&self) -> Result<(), Error> {
        if let Some(peers) = &self.peers {
            peers.notify(Signal::Keys);
        }
        self.look().await
    }

    /// All keys, with the last uses that this process knows.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn list(&self) -> Result<Vec<StoredKey>, Error> {
        self.note_uses().await;
        self.store.list().await
    }

    /// Who shows this key, if it is valid.
    pub(super) fn find(&self, key: &[u8]) -> Option<Arc<Identity>> {
        let id = id_of(key)?;
        let known = Arc::clone(&self.known.read());
        let entry = known.by_id.get(id)?;
        if !bool::from(hash(key).ct_eq(&entry.hash)) {
            return None;
        }
        self.valid(id, entry)
    }

    /// Whom a session stands for that was begun with the key of this id, if the key is valid.
    pub(super) fn of_id(&self, id: &str) -> Option<Arc<Identity>> {
        let known = Arc::clone(&self.known.read());
        self.valid(id, known.by_id.get(id)?)
    }

    fn valid(&self, id: &str, entry: &Entry) -> Option<Arc<Identity>> {
        let now = now_unix_ms();
        if entry.expires_unix_ms.is_some_and(|end| end <= now) {
            return None;
        }
        if !self.is_follower {
            // Only ids of the store get here, whose number has a bound.
            self.uses.lock().insert(id.to_owned(), now);
        }
        Some(Arc::clone(&entry.identity))
    }

    /// Whether the leader is to hear of a request with this key, because it notes last uses and has
    /// not heard of this key from here for a while.
    pub(super) fn is_use_to_tell(&self, id: &str) -> bool {
        if !self.is_follower || !self.known.read().by_id.contains_key(id) {
            return false;
        }
        let now = now_unix_ms();
        let mut uses = self.uses.lock();
        let seen = uses.get(id).copied().unwrap_or_default();
        let is_due = now - seen >= NOTE_INTERVAL.as_millis() as i64;
        if is_due {
            uses.insert(id.to_owned(), now);
        }
        is_due
    }

    /// Writes down when keys were last used.
    pub(crate) async fn note_uses(&self) {
        if self.is_follower {
            return;
        }
        let uses = std::mem::take(&mut *self.uses.lock());
        if uses.is_empty() {
            return;
        }
        // What is not written is lost: the next use counts again.
        if let Err(error) = self.store.note_uses(uses.into_iter().collect()).await {
            tracing::debug!(%error, "last uses of API keys were not written");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use platen_storage::StoreFuture;
    use tokio::task::JoinSet;

    use super::*;

    /// A store without keys that counts how often it is read.
    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl KeyStore for Counted {
        fn list(&self) -> StoreFuture<'_, Vec<StoredKey>> {
            Box::pin(async { Ok(Vec::new()) })
        }

        fn mark(&self) -> StoreFuture<'_, KeysMark> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Box::pin(async {
                // As a database, so that others come meanwhile.
                tokio::task::yield_now().await;
                Ok(KeysMark::default())
            })
        }

        fn create(&self, _: NewKey) -> StoreFuture<'_, bool> {
            Box::pin(async { Ok(false) })
        }

        fn update(&self, _: u64, _: NewKey) -> StoreFuture<'_, bool> {
            Box::pin(async { Ok(false) })
        }

        fn delete(&self, _: String) -> StoreFuture<'_, ()> {
            Box::pin(async { Ok(()) })
        }

        fn note_uses(&self, _: Vec<(String, i64)>) -> StoreFuture<'_, ()> {
            Box::pin(async { Ok(()) })
        }
    }

    #[tokio::test]
    async fn requests_that_wait_share_one_read_of_the_store() {
        let store = Arc::new(Counted::default());
        let keys = StoredKeys::open(Arc::clone(&store) as Arc<dyn KeyStore>, None, true);
        let keys = Arc::new(keys.await.unwrap());
        let read = || store.0.swap(0, Ordering::Relaxed);
        assert_eq!(read(), 1);
        let mut requests = JoinSet::new();
        for _ in 0..1_000 {
            let keys = Arc::clone(&keys);
            requests.spawn(async move { keys.look_before_request().await });
        }
        requests.join_all().await;
        // Those that came while the first one read need the read after it, and no more.
        assert!((1..=3).contains(&read()));
        // Who comes later reads.
        keys.look_before_request().await;
        assert_eq!(read(), 1);
    }

    #[test]
    fn a_key_names_its_id_and_no_two_are_the_same() {
        let (one, other) = (make_key().unwrap(), make_key().unwrap());
        assert_ne!(one.secret, other.secret);
        assert_eq!(one.secret.len(), 4 + 16 + 1 + 48);
        assert_eq!(id_of(one.secret.as_bytes()), Some(one.id.as_str()));
        assert_eq!(one.hash, hash(one.secret.as_bytes()));
        for wrong in ["", "plt_", "plt_abc", "abc_def", "PLT_a_b"] {
            assert_eq!(id_of(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(id_of(b"plt_\xff_a"), None);
    }

    #[test]
    fn unknown_roles_and_scopes_give_nothing() {
        assert_eq!(scopes_of("owner", "fly"), Scopes::default());
        let some = scopes_of("viewer", "runs");
        assert_eq!(some.to_string(), "read preview runs");
        assert_eq!(scopes_of("viewer admin", ""), Scopes::ALL);
    }
}
