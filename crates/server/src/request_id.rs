//! Request ids: the client's if it is valid, otherwise generated.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use hyper::HeaderMap;

/// Name of the header.
pub(crate) const HEADER: &str = "x-request-id";
const MAX_BYTES: usize = 128;

/// The id of a request with `headers`.
pub(crate) fn of(headers: &HeaderMap) -> Arc<str> {
    let given = headers.get(HEADER).and_then(|value| value.to_str().ok());
    match given {
        Some(given) if is_sane(given) => given.into(),
        _ => fresh().into(),
    }
}

fn is_sane(given: &str) -> bool {
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'.' | b':' | b'/' | b'+' | b'=')
    };
    !given.is_empty() && given.len() <= MAX_BYTES && given.bytes().all(plain)
}

fn fresh() -> String {
    static PROCESS: OnceLock<RandomState> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // SipHash with the process's random key: unique within the process, not guessable outside.
    let state = PROCESS.get_or_init(RandomState::new);
    format!("{:016x}{:08x}", state.hash_one(count), count & 0xFFFF_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sane_identifiers_are_taken() {
        assert!(is_sane("4bf92f35-77b3.A_b"));
        assert!(!is_sane("") && !is_sane("a b") && !is_sane(&"x".repeat(129)));
        assert_ne!(fresh(), fresh());
    }
}
