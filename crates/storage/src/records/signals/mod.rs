//! Signals between services on their way in and out. PostgreSQL or Redis carries them.

pub mod redis;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::{Notify, broadcast};

use super::peers::Signal;

/// Signals that may wait to be sent.
const MAX_UNSENT: usize = 4_096;
/// Signals that a receiver may be behind.
const MAX_UNREAD: usize = 4_096;
/// How long signals are collected, to be sent together.
pub(crate) const COLLECT: Duration = Duration::from_millis(2);
/// Pause after a connection that failed.
pub(crate) const PAUSE: Duration = Duration::from_millis(500);
/// How often a connection is checked: a network that forgot it does not say so.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Signals on their way in and out.
pub(crate) struct Signals {
    unsent: Mutex<Vec<Signal>>,
    /// Wakes the task that sends.
    pub has_unsent: Notify,
    received: broadcast::Sender<Signal>,
}

impl Default for Signals {
    fn default() -> Self {
        Self {
            unsent: Mutex::default(),
            has_unsent: Notify::new(),
            received: broadcast::Sender::new(MAX_UNREAD),
        }
    }
}

impl Signals {
    fn unsent(&self) -> MutexGuard<'_, Vec<Signal>> {
        self.unsent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a signal. If too many wait, one that stands for all takes their place.
    pub(crate) fn notify(&self, signal: Signal) {
        let mut unsent = self.unsent();
        if unsent.len() >= MAX_UNSENT {
            unsent.clear();
            unsent.push(Signal::Missed);
        }
        unsent.push(signal);
        drop(unsent);
        self.has_unsent.notify_one();
    }

    /// Takes the signals that wait to be sent.
    pub(crate) fn take_unsent(&self) -> Vec<Signal> {
        std::mem::take(&mut *self.unsent())
    }

    /// Receives the signals of other services from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Signal> {
        self.received.subscribe()
    }

    /// Passes a signal of another service on.
    pub(crate) fn receive(&self, signal: Signal) {
        // Fails if nobody listens.
        let _ = self.received.send(signal);
    }
}

/// A line of a message: a letter and what it is about.
fn line(signal: &Signal) -> (char, &str) {
    match signal {
        Signal::Ready(id) => ('r', id),
        Signal::Answered(id) => ('a', id),
        Signal::Stopped(id) => ('s', id),
        Signal::Published => ('p', ""),
        Signal::Template(key) => ('t', key),
        Signal::Flow(key) => ('f', key),
        Signal::Keys => ('k', ""),
        Signal::Used(what) => ('u', what),
        Signal::Missed => ('m', ""),
    }
}

/// A newer version may send what this one does not know.
pub(crate) fn read(line: &str) -> Option<Signal> {
    let mut rest = line.chars();
    let kind = rest.next()?;
    let about = rest.as_str().to_owned();
    match kind {
        'r' => Some(Signal::Ready(about)),
        'a' => Some(Signal::Answered(about)),
        's' => Some(Signal::Stopped(about)),
        'p' => Some(Signal::Published),
        't' => Some(Signal::Template(about)),
        'f' => Some(Signal::Flow(about)),
        'k' => Some(Signal::Keys),
        'u' => Some(Signal::Used(about)),
        'm' => Some(Signal::Missed),
        _ => None,
    }
}

/// Signals as few messages of at most `most` bytes, without repetitions.
pub(crate) fn payloads(signals: &[Signal], most: usize) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut payloads: Vec<String> = Vec::new();
    for signal in signals.iter().filter(|signal| seen.insert(*signal)) {
        let (mut kind, mut about) = line(signal);
        if about.contains(['\n', '\0']) || about.len() + 2 > most {
            (kind, about) = ('m', "");
        }
        match payloads.last_mut() {
            Some(last) if last.len() + about.len() + 2 <= most => {
                last.push('\n');
                last.push(kind);
                last.push_str(about);
            }
            _ => payloads.push(format!("{kind}{about}")),
        }
    }
    payloads
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a message.
    const MOST: usize = 7_900;

    #[test]
    fn signals_survive_their_messages() {
        let sent = [
            Signal::Ready("01h".into()),
            Signal::Answered("01h".into()),
            Signal::Ready("01h".into()),
            Signal::Stopped("2".into()),
            Signal::Published,
            Signal::Template("a key".into()),
            Signal::Flow("f".into()),
            Signal::Keys,
            Signal::Used("r 1 2".into()),
        ];
        let payloads = payloads(&sent, MOST);
        assert_eq!(payloads.len(), 1);
        let heard: Vec<Signal> = payloads[0].lines().filter_map(read).collect();
        let mut expected = sent.to_vec();
        expected.remove(2);
        assert_eq!(heard, expected);
        assert_eq!(read("?later"), None);
    }

    #[test]
    fn what_does_not_fit_is_divided_or_stands_for_all() {
        let many: Vec<Signal> = (0..1_000)
            .map(|number| Signal::Ready(format!("{number:026}")))
            .collect();
        let payloads_of_many = payloads(&many, MOST);
        assert!(payloads_of_many.iter().all(|one| one.len() <= MOST));
        let lines = payloads_of_many.iter().flat_map(|one| one.lines());
        assert_eq!(lines.filter_map(read).collect::<Vec<_>>(), many);
        let long = Signal::Template("k".repeat(9_000));
        let broken = Signal::Template("a\nb".into());
        assert_eq!(payloads(&[long], MOST), ["m"]);
        assert_eq!(payloads(&[broken], MOST), ["m"]);
    }

    #[test]
    fn a_flood_stands_for_all() {
        let signals = Signals::default();
        for number in 0..MAX_UNSENT + 1 {
            signals.notify(Signal::Ready(number.to_string()));
        }
        let last = Signal::Ready(MAX_UNSENT.to_string());
        assert_eq!(signals.take_unsent(), [Signal::Missed, last]);
    }
}
