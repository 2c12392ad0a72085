//! What is known of one page: written by its attendant, read by its job.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::watch;

use crate::options::{Cookie, ExtraHeader, Files};

/// Denied addresses, lines of the console and so on that are kept, each.
const KEPT: usize = 50;
/// The longest of them. Bytes.
const LINE: usize = 1000;

/// What happened on a page beside the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Addresses that were refused.
    pub denied: Vec<String>,
    /// Files that the page wanted and the job does not have, and answers of allowed hosts that
    /// failed, with the reason.
    pub missing: Vec<String>,
    /// Lines of the console, where they were asked for.
    pub console: Vec<String>,
    /// Exceptions, where they were asked for.
    pub exceptions: Vec<String>,
    /// Dialogs that were closed.
    pub dialogs: Vec<String>,
    /// Status with which the page itself came, where it was loaded from an address.
    pub status: Option<u16>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) files: Option<Arc<dyn Files>>,
    pub(crate) headers: Vec<ExtraHeader>,
    pub(crate) cookies: Vec<Cookie>,
    /// The address that the job navigates to, where it does.
    pub(crate) address: Option<String>,
    /// The document of the job has been opened.
    pub(crate) opened: bool,
    /// It has loaded with all it needs.
    pub(crate) loaded: bool,
    pub(crate) crashed: bool,
    /// Why the page itself could not be loaded.
    pub(crate) not_loaded: Option<String>,
    /// Requests under way.
    pub(crate) under_way: usize,
    pub(crate) last_request: Option<Instant>,
    pub(crate) requests: u32,
    pub(crate) report: Report,
    /// What the job does at the moment.
    pub(crate) stage: &'static str,
}

#[derive(Debug)]
pub(crate) struct Desk {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

impl Desk {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changed: watch::Sender::new(()),
        })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known and tells who waits.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.state());
        self.changed.send_replace(());
        result
    }

    /// Waits until something is known.
    pub(crate) async fn until<T>(&self, mut known: impl FnMut(&State) -> Option<T>) -> T {
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

/// Adds a line to a list that is bounded in number and length.
pub(crate) fn note(list: &mut Vec<String>, line: impl Into<String>) {
    let mut line = line.into();
    if list.len() >= KEPT || list.contains(&line) {
        return;
    }
    if line.len() > LINE {
        let end = (0..=LINE).rev().find(|end| line.is_char_boundary(*end));
        line.truncate(end.unwrap_or(0));
        line.push('…');
    }
    list.push(line);
}
