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
    /// What did not load, of the page's own and from elsewhere: all of `denied` and `missing`.
    pub failed: Vec<FailedResource>,
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

/// Something that a page requested and did not get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedResource {
    /// What it was to be, in the words of Chromium's DevTools: `Stylesheet`, `Image`, `Font`.
    pub kind: String,
    /// Chromium's name of the error: `net::ERR_FILE_NOT_FOUND`.
    pub error: &'static str,
    /// Its file name, or its address and why it was not loaded.
    pub what: String,
}

impl Report {
    /// Records what did not load.
    pub(crate) fn push_failed(&mut self, kind: &str, error: &'static str, what: &str) {
        let what = cut(what);
        let is_known = |one: &FailedResource| one.kind == kind && one.what == what;
        if self.failed.len() < MAX_ENTRIES && !self.failed.iter().any(is_known) {
            self.failed.push(FailedResource {
                kind: cut(kind),
                error,
                what,
            });
        }
    }

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
    let line = line.into();
    if list.len() < MAX_ENTRIES && !list.contains(&line) {
        list.push(cut(&line));
    }
}

/// A text of bounded length.
fn cut(text: &str) -> String {
    if text.len() <= MAX_ENTRY_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MAX_ENTRY_BYTES);
    format!("{}…", &text[..end])
}
