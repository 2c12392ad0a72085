//! LibreOffice processes that others started and that listen on a host and port.
//!
//! A process converts one document at a time, so each is leased to one worker of the pool. One that
//! does not answer is left alone for a while, and the others go on.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use platen_pool::StartError;
use platen_urp::{Client, Error, Options, Setting, codec::Any};
use tokio::sync::Notify;

use crate::profile::SETTINGS;

/// How long a process may take to accept a connection and its first calls. One that still works on
/// an abandoned document does not answer.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(10);
/// First pause after a failed attempt. It doubles with each consecutive failure.
const BACKOFF_FIRST: Duration = Duration::from_millis(250);
/// Upper bound of the pause.
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// Without this setting, documents could load what they link to from the machine of the process.
const BLOCKS_LINKS: &str = "BlockUntrustedRefererLinks";

/// The processes.
#[derive(Debug)]
pub(crate) struct Members {
    all: Vec<Member>,
    next: AtomicUsize,
    released: Notify,
}

#[derive(Debug)]
struct Member {
    address: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_leased: bool,
    failures: u32,
    not_before: Option<Instant>,
    last_failure: Option<String>,
}

/// The right to use a process; given up on drop.
#[derive(Debug)]
pub(crate) struct Lease {
    members: Arc<Members>,
    index: usize,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.members.all[self.index].state.lock().is_leased = false;
        self.members.released.notify_one();
    }
}

/// A connection to a process.
pub(crate) struct Attached {
    pub(crate) client: Client,
    pub(crate) version: String,
    pub(crate) lease: Lease,
}

/// What the search for a process comes to.
enum Found {
    Leased(Lease),
    /// All that could be tried are in use; the time says when another may be tried.
    Wait(Option<Instant>),
    /// None answers.
    Lost,
}

impl Members {
    pub(crate) fn new(addresses: &[String]) -> Arc<Self> {
        let member = |address: &String| Member {
            address: address.clone(),
            state: Mutex::default(),
        };
        Arc::new(Self {
            all: addresses.iter().map(member).collect(),
            next: AtomicUsize::new(0),
            released: Notify::new(),
        })
    }

    /// Connects to a process that is free, and waits for one as long as any is in use.
    pub(crate) async fn attach(self: &Arc<Self>) -> Result<Attached, StartError> {
        loop {
            match self.find() {
                Found::Leased(lease) => {
                    let address = &self.all[lease.index].address;
                    let attached = try_attach(address).await;
                    let mut state = self.all[lease.index].state.lock();
                    match attached {
                        Ok((client, version)) => {
                            *state = State {
                                is_leased: true,
                                ..State::default()
                            };
                            drop(state);
                            return Ok(Attached {
                                client,
                                version,
                                lease,
                            });
                        }
                        Err(reason) => state.fail(reason),
                    }
                }
                Found::Wait(until) => {
                    let later = async {
                        match until {
                            Some(time) => tokio::time::sleep_until(time.into()).await,
                            None => std::future::pending().await,
                        }
                    };
                    tokio::select! {
                        () = self.released.notified() => {}
                        () = later => {}
                    }
                }
                Found::Lost => return Err(StartError::Unusable(self.why_lost().into())),
            }
        }
    }

    /// Leases the next process that may be tried.
    fn find(self: &Arc<Self>) -> Found {
        let (count, now) = (self.all.len(), Instant::now());
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let mut until: Option<Instant> = None;
        let mut is_any_leased = false;
        for offset in 0..count {
            let index = first.wrapping_add(offset) % count;
            let mut state = self.all[index].state.lock();
            match state.not_before {
                _ if state.is_leased => is_any_leased = true,
                Some(time) if time > now => {
                    until = Some(until.map_or(time, |earlier| earlier.min(time)));
                }
                _ => {
                    state.is_leased = true;
                    let members = Arc::clone(self);
                    return Found::Leased(Lease { members, index });
                }
            }
        }
        match is_any_leased {
            true => Found::Wait(until),
            false => Found::Lost,
        }
    }

    fn why_lost(&self) -> String {
        let why = |member: &Member| {
            let state = member.state.lock();
            let reason = state.last_failure.as_deref().unwrap_or("not tried");
            format!("{}: {reason}", member.address)
        };
        let all: Vec<String> = self.all.iter().map(why).collect();
        format!("no LibreOffice elsewhere answers: {}", all.join("; "))
    }
}

impl State {
    fn fail(&mut self, reason: String) {
        let pause = BACKOFF_FIRST * 2_u32.pow(self.failures.min(10));
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(Instant::now() + pause.min(BACKOFF_MAX));
        self.last_failure = Some(reason);
    }
}

/// The version of the LibreOffice at an address, or why it cannot be used.
///
/// # Errors
/// The reason.
pub async fn try_remote(address: &str) -> Result<String, String> {
    try_attach(address).await.map(|(_, version)| version)
}

async fn try_attach(address: &str) -> Result<(Client, String), String> {
    let attaching = tokio::time::timeout(ATTACH_TIMEOUT, attach(address)).await;
    match attaching {
        Ok(Ok(attached)) => Ok(attached),
        Ok(Err(Error::Connect { source, .. })) => Err(source.to_string()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", ATTACH_TIMEOUT.as_secs())),
    }
}

/// Connects, closes what an earlier connection left open, and changes the settings that protect
/// against documents.
async fn attach(address: &str) -> Result<(Client, String), Error> {
    let client = Client::connect_tcp(address, Options::default()).await?;
    let version = client.version().await?;
    client.close_documents().await?;
    for (path, property, value) in SETTINGS {
        let setting = Setting {
            path: (*path).to_owned(),
            property: (*property).to_owned(),
            value: typed(value),
        };
        match client.change_settings(&[setting]).await {
            // A version without the setting, or an administrator who has fixed it.
            Err(Error::Exception(_)) if *property != BLOCKS_LINKS => {}
            changed => changed?,
        }
    }
    Ok((client, version))
}

/// A value of the configuration, which is written as text in a profile.
fn typed(value: &str) -> Any {
    match (value, value.parse::<i32>()) {
        ("true", _) => true.into(),
        ("false", _) => false.into(),
        (_, Ok(number)) => number.into(),
        _ => value.into(),
    }
}

/// A name for the folder of jobs that no other service uses.
pub(crate) fn job_folder() -> String {
    let number = RandomState::new().hash_one(std::process::id());
    format!("platen-job-{number:016x}")
}
