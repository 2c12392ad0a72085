//! Named points at which tests end the process, as `kill -9` would: `PLATEN_FAULT=name` or
//! `PLATEN_FAULT=name:3` for the third time. Only builds with debug assertions have them.

/// Points in the order in which every run passes them.
#[cfg(debug_assertions)]
pub const POINTS: [&str; 9] = [
    "accepting",
    "accepted",
    "hinted",
    "claimed",
    "working",
    "journalled",
    "finishing",
    "finished",
    "answered",
];

/// Points that a run passes which answers while it goes on, sleeps, and is called back.
#[cfg(debug_assertions)]
pub const WAITING_POINTS: [&str; 4] = ["responded", "suspended", "woken", "called-back"];

/// Ends the process where this point was asked for.
#[cfg(debug_assertions)]
pub(crate) fn point(name: &str) {
    use std::sync::{
        OnceLock,
        atomic::{AtomicI64, Ordering},
    };
    static ARMED: OnceLock<Option<(String, AtomicI64)>> = OnceLock::new();
    let armed = ARMED.get_or_init(|| {
        let text = std::env::var("PLATEN_FAULT").ok()?;
        let (name, count) = text.split_once(':').unwrap_or((&text, "1"));
        Some((name.to_owned(), AtomicI64::new(count.parse().unwrap_or(1))))
    });
    if let Some((wanted, left)) = armed
        && wanted == name
        && left.fetch_sub(1, Ordering::Relaxed) == 1
    {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn point(_: &str) {}
