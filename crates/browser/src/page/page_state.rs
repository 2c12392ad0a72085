//! State of one page: written by its request interceptor, read by its job.

use std::{sync::Arc, time::Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

use crate::options::{Cookie, ExtraHeader, Files};

/// Number of entries kept in each list of the report; a page can produce any number.
const MAX_ENTRIES: usize = 50;
/// Maximum size of an entry, in bytes.
const MAX_ENTRY_BYTES: usize = 1000;

/// The report of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Addresses that were denied.
    pub denied: Vec<String>,
    /// Files that the page requested and the job does not have, and failed requests to allowed
    /// hosts with the reason.
    pub missing: Vec<String>,
    /// Lines of the console, if requested.
    pub console: Vec<String>,
    /// Exceptions, if requested.
    pub exceptions: Vec<String>,
    /// Dialogs that were dismissed.
    pub dialogs: Vec<String>,
    /// HTTP status of the page itself, if it was loaded from an address.
    pub status: Option<u16>,
    /// Addresses of resources that came with another HTTP status than 200, and their status.
    pub statuses: Vec<(String, u16)>,
}

impl Report {
    /// Records the status of a resource, unless it is 200.
    pub(crate) fn push_status(&mut self, url: &str, status: u16) {
        if status != 200 && self.statuses.len() < MAX_ENTRIES && url.len() <= MAX_ENTRY_BYTES {
            self.statuses.push((url.to_owned(), status));
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) files: Option<Arc<dyn Files>>,
    pub(crate) headers: Vec<ExtraHeader>,
    pub(crate) cookies: Vec<Cookie>,
    /// The URL to navigate to, if the job has one.
    pub(crate) address: Option<String>,
    /// The document has been opened.
    pub(crate) opened: bool,
    /// The document and its resources have been loaded.
    pub(crate) loaded: bool,
    pub(crate) crashed: bool,
    /// The URL of the page itself, if it could not be loaded.
    pub(crate) not_loaded: Option<String>,
    /// Requests in flight.
    pub(crate) in_flight: usize,
    pub(crate) last_request: Option<Instant>,
    pub(crate) requests: u32,
    pub(crate) report: Report,
    /// The stage of the job, for error messages.
    pub(crate) stage: &'static str,
}

#[derive(Debug)]
pub(crate) struct PageState {
    state: Mutex<Observed>,
    changed: watch::Sender<()>,
}

impl PageState {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changed: watch::Sender::new(()),
        })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, Observed> {
        self.state.lock()
    }

    /// Changes the state and wakes the job.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Observed) -> T) -> T {
        let result = change(&mut self.state());
        self.changed.send_replace(());
        result
    }

    /// Waits until `known` returns a value.
    pub(crate) async fn until<T>(&self, mut known: impl FnMut(&Observed) -> Option<T>) -> T {
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            if let Some(value) = known(&self.state()) {
                return value;
            }
            if changed.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

/// Adds an entry to a list bounded in number and length.
pub(crate) fn push_bounded(list: &mut Vec<String>, line: impl Into<String>) {
    let mut line = line.into();
    if list.len() >= MAX_ENTRIES || list.contains(&line) {
        return;
    }
    if line.len() > MAX_ENTRY_BYTES {
        let end = (0..=MAX_ENTRY_BYTES)
            .rev()
            .find(|end| line.is_char_boundary(*end));
        line.truncate(end.unwrap_or(0));
        line.push('…');
    }
    list.push(line);
}
