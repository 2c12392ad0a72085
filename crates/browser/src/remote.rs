//! Chromium processes that others started and that listen on a host and port.
//!
//! Pages go to all of them in turn. One that does not answer is left alone for a while, and the
//! others go on.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use platen_pool::StartError;
use tokio::sync::Mutex;

use crate::{chromium::Chromium, config::Config};

/// How long a process may take to accept a connection and to answer.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(5);
/// First pause after a failed attempt. It doubles with each consecutive failure.
const BACKOFF_FIRST: Duration = Duration::from_millis(250);
/// Upper bound of the pause.
const BACKOFF_MAX: Duration = Duration::from_secs(30);

/// The processes.
pub(crate) struct Remotes {
    all: Vec<Remote>,
    next: AtomicUsize,
}

struct Remote {
    address: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    chromium: Option<Arc<Chromium>>,
    failures: u32,
    not_before: Option<Instant>,
    last_failure: String,
}

impl Remotes {
    pub(crate) fn new(addresses: &[String]) -> Self {
        let remote = |address: &String| Remote {
            address: address.clone(),
            state: Mutex::default(),
        };
        Self {
            all: addresses.iter().map(remote).collect(),
            next: AtomicUsize::new(0),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A process for one more page, and whether it has just been connected to.
    pub(crate) async fn chromium(
        &self,
        config: &Config,
    ) -> Result<(Arc<Chromium>, bool), StartError> {
        let count = self.all.len();
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let mut reasons = Vec::new();
        for offset in 0..count {
            let remote = &self.all[first.wrapping_add(offset) % count];
            // Held while connecting, so that others wait for the connection instead of making one
            // each.
            let mut state = remote.state.lock().await;
            if let Some(chromium) = state.chromium.as_ref().filter(|it| it.takes_pages(config)) {
                return Ok((Arc::clone(chromium), false));
            }
            state.chromium = None;
            if state.not_before.is_some_and(|time| time > Instant::now()) {
                reasons.push(format!("{}: {}", remote.address, state.last_failure));
                continue;
            }
            match attach(&remote.address).await {
                Ok(chromium) => {
                    *state = State {
                        chromium: Some(Arc::clone(&chromium)),
                        ..State::default()
                    };
                    return Ok((chromium, true));
                }
                Err(reason) => {
                    reasons.push(format!("{}: {reason}", remote.address));
                    state.fail(reason);
                }
            }
        }
        let reasons = reasons.join("; ");
        let text = format!("no Chromium of CHROMIUM_REMOTE answers: {reasons}");
        Err(StartError::Unusable(text.into()))
    }

    /// Closes the connections that no page uses.
    pub(crate) async fn release(&self) {
        for remote in &self.all {
            remote.state.lock().await.chromium = None;
        }
    }
}

impl State {
    fn fail(&mut self, reason: String) {
        let pause = BACKOFF_FIRST * 2_u32.pow(self.failures.min(10));
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(Instant::now() + pause.min(BACKOFF_MAX));
        self.last_failure = reason;
    }
}

/// The version of the Chromium at an address, or why it cannot be used.
///
/// # Errors
/// The reason.
pub async fn try_remote(address: &str) -> Result<String, String> {
    let chromium = attach(address).await?;
    Ok(chromium.version.clone())
}

async fn attach(address: &str) -> Result<Arc<Chromium>, String> {
    match tokio::time::timeout(ATTACH_TIMEOUT, Chromium::attach(address)).await {
        Ok(attached) => attached.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", ATTACH_TIMEOUT.as_secs())),
    }
}
