//! Fault points for tests: the process aborts there, as with `kill -9`. `PLATEN_FAULT=name` selects
//! a point, `PLATEN_FAULT=name:3` its third pass. Only builds with debug assertions have them.

/// Points in the order in which every run passes them.
#[cfg(debug_assertions)]
pub const POINTS: [&str; 9] = [
    "accepting",
    "accepted",
    "ready",
    "claimed",
    "working",
    "journalled",
    "finishing",
    "finished",
    "answered",
];

/// Points of a run that answers early, sleeps, or receives a callback.
#[cfg(debug_assertions)]
pub const WAITING_POINTS: [&str; 4] = ["responded", "suspended", "woken", "called-back"];

/// Aborts the process if this point is selected.
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
