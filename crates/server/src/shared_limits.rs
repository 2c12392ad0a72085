//! Rate limits that count in all services of a fleet: each sends the usage of its clients to
//! the others four times a second. A client that floods several services at once gets through what they admit
//! within that time, and pays for it afterwards.

use std::{fmt::Write, sync::Arc, time::Duration};

use platen_storage::{Peers, Signal};
use tokio::{
    sync::broadcast::error::RecvError,
    time::{MissedTickBehavior, interval},
};

use crate::rate_limit::{Client, RateLimit};

/// Interval between two exchanges.
const INTERVAL: Duration = Duration::from_millis(250);
/// Maximum number of clients in an exchange; the next one has the others.
const MAX_CLIENTS: usize = 2_000;
/// Clients in one signal, so that it fits into a notification.
const PER_SIGNAL: usize = 100;

/// Exchanges the usage of clients, as long as `peers` are there. `limits` are known by their
/// position, the same in all services.
pub(crate) async fn exchange(peers: Arc<dyn Peers>, limits: Vec<Arc<RateLimit>>) {
    let mut signals = peers.listen();
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            signal = signals.recv() => match signal {
                Ok(Signal::Used(text)) => {
                    for (limit, client, count) in read(&text) {
                        if let Some(limit) = limits.get(limit) {
                            limit.took_elsewhere(client, count);
                        }
                    }
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
            _ = ticks.tick() => {
                for (position, limit) in limits.iter().enumerate() {
                    for some in limit.unsent(MAX_CLIENTS).chunks(PER_SIGNAL) {
                        peers.notify(Signal::Used(write(position, some)));
                    }
                }
            }
        }
    }
}

/// The position of a limit, then clients and counts.
fn write(limit: usize, used: &[(Client, u32)]) -> String {
    let mut text = limit.to_string();
    for (client, count) in used {
        // Writing to a string does not fail.
        let _ = match client {
            Client::Key(index) => write!(text, " k{index} {count}"),
            Client::Limited { number, per_minute } => {
                write!(text, " l{number:x}/{per_minute} {count}")
            }
            Client::Address(address) => write!(text, " a{address:x} {count}"),
            Client::Rest => write!(text, " r {count}"),
        };
    }
    text
}

/// What another service wrote, without what this one does not understand.
fn read(text: &str) -> Vec<(usize, Client, u32)> {
    let mut words = text.split(' ');
    let Some(limit) = words.next().and_then(|word| word.parse().ok()) else {
        return Vec::new();
    };
    let mut used = Vec::new();
    while let (Some(client), Some(count)) = (words.next(), words.next()) {
        let client = match client.split_at_checked(1) {
            Some(("k", index)) => index.parse().ok().map(Client::Key),
            Some(("a", address)) => u128::from_str_radix(address, 16).ok().map(Client::Address),
            Some(("l", key)) => limited(key),
            Some(("r", "")) => Some(Client::Rest),
            _ => None,
        };
        if let (Some(client), Ok(count)) = (client, count.parse()) {
            used.push((limit, client, count));
        }
    }
    used
}

/// A key with a limit of its own: its number and the limit.
fn limited(text: &str) -> Option<Client> {
    let (number, per_minute) = text.split_once('/')?;
    Some(Client::Limited {
        number: u64::from_str_radix(number, 16).ok()?,
        per_minute: per_minute.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_as_it_was_written() {
        let used = [
            (Client::Key(3), 1),
            (
                Client::Limited {
                    number: u64::MAX,
                    per_minute: 7,
                },
                2,
            ),
            (Client::Address(u128::MAX), u32::MAX),
            (Client::Rest, 7),
        ];
        let text = write(1, &used);
        assert_eq!(read(&text), used.map(|(client, count)| (1, client, count)));
        assert_eq!(read(""), []);
        assert_eq!(read("x k1 1"), []);
        assert_eq!(read("0 z1 1 k2 -3 k2 4 k9"), [(0, Client::Key(2), 4)]);
    }

    #[test]
    fn a_signal_fits_into_a_notification() {
        let used = vec![(Client::Address(u128::MAX), u32::MAX); PER_SIGNAL];
        assert!(write(0, &used).len() < 7_800);
    }
}
