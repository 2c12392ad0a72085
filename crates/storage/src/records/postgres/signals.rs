//! Signals between services, by `LISTEN` and `NOTIFY` on a connection of their own: a `NOTIFY`
//! inside the transactions that write would make their commits wait for each other.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, broadcast, mpsc},
    time::{Instant, sleep, sleep_until},
};
use tokio_postgres::{Error as PgError, Notification};

use super::connection::{Connection, Connector, Parameters, within};
use crate::records::peers::Signal;

/// Signals that may wait to be sent.
const MAX_UNSENT: usize = 4_096;
/// Signals that a receiver may be behind.
const MAX_UNREAD: usize = 4_096;
/// Notifications that may wait to be read from the connection.
const MAX_NOTICES: usize = 1_024;
/// Length in bytes of a notification; the server allows 8,000.
const MAX_PAYLOAD: usize = 7_900;
/// How long signals are collected, to be sent together.
const COLLECT: Duration = Duration::from_millis(2);
/// How often the connection is checked: a network that forgot it does not say so.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Pause after a connection that failed.
const PAUSE: Duration = Duration::from_millis(500);

/// Signals on their way in and out.
pub(super) struct Signals {
    unsent: Mutex<Vec<Signal>>,
    has_unsent: Notify,
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
    pub(super) fn notify(&self, signal: Signal) {
        let mut unsent = self.unsent();
        if unsent.len() >= MAX_UNSENT {
            unsent.clear();
            unsent.push(Signal::Missed);
        }
        unsent.push(signal);
        drop(unsent);
        self.has_unsent.notify_one();
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<Signal> {
        self.received.subscribe()
    }

    fn receive(&self, signal: Signal) {
        // Fails if nobody listens.
        let _ = self.received.send(signal);
    }
}

/// Sends and receives until the store is dropped. Signals from a time without a connection are
/// sent by the next one; those of others from that time are lost.
pub(super) async fn exchange(connector: Arc<Connector>, signals: Arc<Signals>) {
    loop {
        let (notices, arriving) = mpsc::channel(MAX_NOTICES);
        let deadline = connector.deadline();
        if let Ok(connection) = connector.connect_to_listen(notices, deadline).await {
            // Returns how the connection failed; the next one may do better.
            let _ = converse(&connector, &connection, arriving, &signals).await;
        }
        sleep(PAUSE).await;
    }
}

async fn converse(
    connector: &Connector,
    connection: &Connection,
    mut arriving: mpsc::Receiver<Option<Notification>>,
    signals: &Signals,
) -> Result<(), PgError> {
    let limit = connector.exchange();
    let Some(channel) = within(limit, listen(connection)).await.transpose()? else {
        return Ok(());
    };
    signals.receive(Signal::Missed);
    let mut check_at = Instant::now() + CHECK_INTERVAL;
    loop {
        tokio::select! {
            notice = arriving.recv() => match notice {
                Some(Some(notice)) if notice.process_id() != connection.session.process => {
                    for signal in notice.payload().lines().filter_map(read) {
                        signals.receive(signal);
                    }
                }
                Some(Some(_)) => {}
                Some(None) => signals.receive(Signal::Missed),
                None => return Ok(()),
            },
            () = signals.has_unsent.notified() => {
                sleep(COLLECT).await;
                let unsent = std::mem::take(&mut *signals.unsent());
                for payload in payloads(&unsent) {
                    let parameters: Parameters<'_> = &[&channel, &payload];
                    let notify = connection.query("SELECT pg_notify($1, $2)", parameters);
                    if within(limit, notify).await.transpose()?.is_none() {
                        return Ok(());
                    }
                }
            }
            () = sleep_until(check_at) => {
                if within(limit, connection.execute("SELECT 1")).await.transpose()?.is_none() {
                    return Ok(());
                }
                check_at = Instant::now() + CHECK_INTERVAL;
            }
        }
    }
}

/// Listens to the channel of this schema, and returns its name. Notifications reach all schemas of
/// a database.
async fn listen(connection: &Connection) -> Result<String, PgError> {
    let find = "SELECT left('platen_' || current_schema(), 63),
                quote_ident(left('platen_' || current_schema(), 63))";
    let rows = connection.query(find, &[]).await?;
    let Some(row) = rows.first() else {
        return Ok(String::new());
    };
    let quoted: String = row.try_get(1)?;
    connection.execute(&format!("LISTEN {quoted}")).await?;
    row.try_get(0)
}

/// A line of a notification: a letter and what it is about.
fn line(signal: &Signal) -> (char, &str) {
    match signal {
        Signal::Ready(id) => ('r', id),
        Signal::Answered(id) => ('a', id),
        Signal::Stopped(id) => ('s', id),
        Signal::Published => ('p', ""),
        Signal::Template(key) => ('t', key),
        Signal::Flow(key) => ('f', key),
        Signal::Used(what) => ('u', what),
        Signal::Missed => ('m', ""),
    }
}

/// A newer version may send what this one does not know.
fn read(line: &str) -> Option<Signal> {
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
        'u' => Some(Signal::Used(about)),
        'm' => Some(Signal::Missed),
        _ => None,
    }
}

/// Signals as few notifications. The server drops one that repeats within a transaction only, so
/// repetitions are left out here.
fn payloads(signals: &[Signal]) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut payloads: Vec<String> = Vec::new();
    for signal in signals.iter().filter(|signal| seen.insert(*signal)) {
        let (mut kind, mut about) = line(signal);
        if about.contains(['\n', '\0']) || about.len() + 2 > MAX_PAYLOAD {
            (kind, about) = ('m', "");
        }
        match payloads.last_mut() {
            Some(last) if last.len() + about.len() + 2 <= MAX_PAYLOAD => {
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

    #[test]
    fn signals_survive_their_notifications() {
        let sent = [
            Signal::Ready("01h".into()),
            Signal::Answered("01h".into()),
            Signal::Ready("01h".into()),
            Signal::Stopped("2".into()),
            Signal::Published,
            Signal::Template("a key".into()),
            Signal::Flow("f".into()),
            Signal::Used("r 1 2".into()),
        ];
        let payloads = payloads(&sent);
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
        let payloads_of_many = payloads(&many);
        assert!(payloads_of_many.iter().all(|one| one.len() <= MAX_PAYLOAD));
        let lines = payloads_of_many.iter().flat_map(|one| one.lines());
        assert_eq!(lines.filter_map(read).collect::<Vec<_>>(), many);
        let long = Signal::Template("k".repeat(9_000));
        let broken = Signal::Template("a\nb".into());
        assert_eq!(payloads(&[long]), ["m"]);
        assert_eq!(payloads(&[broken]), ["m"]);
    }

    #[test]
    fn a_flood_stands_for_all() {
        let signals = Signals::default();
        for number in 0..MAX_UNSENT + 1 {
            signals.notify(Signal::Ready(number.to_string()));
        }
        let last = Signal::Ready(MAX_UNSENT.to_string());
        assert_eq!(*signals.unsent(), [Signal::Missed, last]);
    }
}
