//! API keys that were made while the service runs. A key is made and deleted, never changed, except
//! for the time of its last use. The store has a hash of each key, from which the key cannot be
//! computed.

use super::StoreFuture;

/// Number of keys that a store holds; it refuses more.
pub const MAX_KEYS: u32 = 10_000;

/// The store of API keys.
pub trait KeyStore: Send + Sync {
    /// All keys, oldest first.
    fn list(&self) -> StoreFuture<'_, Vec<StoredKey>>;

    /// A mark of the set of keys: it differs whenever keys were made, changed or deleted since.
    fn mark(&self) -> StoreFuture<'_, KeysMark>;

    /// Stores a key; false if there are [`MAX_KEYS`] already.
    fn create(&self, key: NewKey) -> StoreFuture<'_, bool>;

    /// Replaces what a key is for, what it may do, its limit and its end, if its number is still
    /// `number`. The key gets a new number. False if somebody else has changed it since.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound).
    fn update(&self, number: u64, key: NewKey) -> StoreFuture<'_, bool>;

    /// Deletes a key.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound).
    fn delete(&self, id: String) -> StoreFuture<'_, ()>;

    /// Notes when keys were last used, by their ids. Earlier times than those known, and unknown
    /// ids, change nothing.
    fn note_uses(&self, uses: Vec<(String, i64)>) -> StoreFuture<'_, ()>;
}

/// What tells two sets of keys apart. Numbers are not given again, so a set has the same count and
/// the same highest number only if it is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeysMark {
    /// Number of keys.
    pub count: u64,
    /// Number of the newest key.
    pub newest: u64,
}

/// A key to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    /// Its name in requests and in the key itself.
    pub id: String,
    /// What it is for, as people say it.
    pub name: String,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// Roles, separated by spaces.
    pub roles: String,
    /// Scopes besides those of the roles, separated by spaces.
    pub scopes: String,
    /// Requests per minute; `None` for the limit of all clients.
    pub requests_per_minute: Option<u32>,
    /// Who made it.
    pub created_by: String,
    /// When it stops to be valid, in milliseconds since 1970-01-01T00:00:00Z.
    pub expires_unix_ms: Option<i64>,
}

/// A stored key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    /// What was stored.
    pub key: NewKey,
    /// Number of its last change among all changes of keys, ascending.
    pub number: u64,
    /// When it was made, in milliseconds since 1970-01-01T00:00:00Z.
    pub created_unix_ms: i64,
    /// When it was last used, in milliseconds since 1970-01-01T00:00:00Z.
    pub last_used_unix_ms: Option<i64>,
}

/// Reads a hash; a row that was tampered with matches no key.
pub(super) fn hash_of(bytes: &[u8]) -> [u8; 32] {
    <[u8; 32]>::try_from(bytes).unwrap_or_default()
}
