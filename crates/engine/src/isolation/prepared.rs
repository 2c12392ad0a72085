//! Cells with a compiled template that wait for data, so that no request waits for the compilation
//! of a template in repeated use. Each cell still renders only once.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use platen_jail::{Cell, Jail};

/// Recently used templates, by hash. The second use of a template prepares a cell.
const MAX_SEEN: usize = 256;
/// Longest time a cell waits for data. A waiting cell keeps its zygote alive, which must be
/// replaced from time to time.
const MAX_AGE: Duration = Duration::from_secs(60);
/// Timeout for sending the template.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

struct Ready {
    source: Arc<[u8]>,
    cell: Cell,
    since: Instant,
}

/// State shared by the thread and its owner.
#[derive(Default)]
struct Shelf {
    ready: VecDeque<Ready>,
    seen: VecDeque<u64>,
}

/// Prepared cells, and the thread that prepares them.
pub(super) struct PreparedCells {
    shelf: Arc<Mutex<Shelf>>,
    wanted: SyncSender<Arc<[u8]>>,
    hasher: RandomState,
    most: usize,
}

impl std::fmt::Debug for PreparedCells {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PreparedCells")
            .finish_non_exhaustive()
    }
}

impl PreparedCells {
    /// Keeps at most `most` prepared cells of `jail`.
    pub(super) fn start(jail: Arc<Jail>, most: usize) -> std::io::Result<Self> {
        let shelf = Arc::<Mutex<Shelf>>::default();
        let (wanted, requests) = sync_channel(most.max(1));
        std::thread::Builder::new()
            .name("prepare-cells".to_owned())
            .spawn({
                let shelf = Arc::clone(&shelf);
                move || prepare(&jail, &shelf, &requests, most)
            })?;
        Ok(Self {
            shelf,
            wanted,
            hasher: RandomState::new(),
            most,
        })
    }

    /// Takes a cell that has compiled `source`, if available, and requests the next one.
    pub(super) fn take(&self, source: &[u8]) -> Option<Cell> {
        if self.most == 0 {
            return None;
        }
        let hash = self.hasher.hash_one(source);
        let (found, is_known) = {
            let mut shelf = lock(&self.shelf);
            let place = shelf.ready.iter().position(|one| *one.source == *source);
            let found = place.and_then(|place| shelf.ready.remove(place));
            let is_known = shelf.seen.contains(&hash);
            if !is_known {
                shelf.seen.truncate(MAX_SEEN - 1);
                shelf.seen.push_front(hash);
            }
            (found, is_known)
        };
        if is_known {
            let source = found
                .as_ref()
                .map_or_else(|| Arc::from(source), |found| Arc::clone(&found.source));
            // Skip it if the queue is full: preparation is only an optimization.
            let _ = self.wanted.try_send(source);
        }
        found
            .filter(|found| found.since.elapsed() < MAX_AGE)
            .map(|found| found.cell)
    }
}

fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock()
}

/// Prepares cells until the owner is dropped.
fn prepare(jail: &Jail, shelf: &Mutex<Shelf>, requests: &Receiver<Arc<[u8]>>, most: usize) {
    loop {
        let source = match requests.recv_timeout(MAX_AGE) {
            Ok(source) => Some(source),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let old: Vec<Ready> = {
            let mut shelf = lock(shelf);
            let is_old = |one: &Ready| one.since.elapsed() >= MAX_AGE;
            let (old, ready) = shelf.ready.drain(..).partition(is_old);
            shelf.ready = ready;
            old.into_iter().collect()
        };
        drop(old);
        let Some(source) = source else { continue };
        let deadline = Instant::now() + SEND_TIMEOUT;
        let Ok(mut cell) = jail.cell(SEND_TIMEOUT) else {
            continue;
        };
        if cell.start(&source, &jail.limits(), deadline).is_err() {
            continue;
        }
        let since = Instant::now();
        let dropped = {
            let mut shelf = lock(shelf);
            shelf.ready.push_back(Ready {
                source,
                cell,
                since,
            });
            (shelf.ready.len() > most).then(|| shelf.ready.pop_front())
        };
        drop(dropped);
    }
}
