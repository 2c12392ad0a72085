//! Temporary folders: one for each pool, with one inside for each child, and the cleanup of
//! abandoned ones.
//!
//! A pool holds a file lock in its folder for as long as it lives. A folder whose lock can be taken
//! is therefore abandoned, however its owner ended (`kill -9`, another container, a reboot).

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::watch;

use crate::table;

const PREFIX: &str = "platen-pool-";
const LOCK: &str = "owner.lock";
/// A folder without a lock file counts as abandoned only beyond this age: its owner may be about to
/// create the lock.
const YOUNG: Duration = Duration::from_secs(60);
/// How long to keep killing the processes of a dead owner.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(1);

/// The folder of a pool.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    next: AtomicU64,
    folders: watch::Sender<usize>,
    _lock: File,
}

impl Root {
    /// Creates the folder in `parent` and removes those of dead owners.
    pub(crate) fn create(parent: &Path, kind: &str) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(parent)?;
        sweep(parent);
        // Process ids repeat (in every container the service may be 1), hence the start time too.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (pid, started) = (std::process::id(), table::start_ticks());
        let path = parent.join(format!("{PREFIX}{kind}-{pid}-{started}-{number}"));
        fs::create_dir(&path)?;
        let lock = File::create(path.join(LOCK))?;
        // Held as long as the folder exists: `sweep` removes folders whose lock is free.
        lock.lock()?;
        Ok(Self {
            path,
            next: AtomicU64::new(0),
            folders: watch::Sender::new(0),
            _lock: lock,
        })
    }

    /// Creates the folder of one child.
    pub(crate) fn folder(self: &Arc<Self>) -> io::Result<Folder> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.path.join(number.to_string());
        fs::create_dir(&path)?;
        self.folders.send_modify(|count| *count += 1);
        Ok(Folder {
            path,
            root: Arc::clone(self),
        })
    }

    /// Waits until every child's folder has been removed.
    pub(crate) async fn emptied(&self) {
        let _ = self.folders.subscribe().wait_for(|count| *count == 0).await;
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The folder of one child, removed on drop.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    root: Arc<Root>,
}

impl Folder {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A process that is still exiting may add a file while the folder is being emptied.
        for _ in 0..3 {
            match fs::remove_dir_all(&self.path) {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(_) => {}
            }
        }
        self.root.folders.send_modify(|count| *count -= 1);
    }
}

/// Removes the folders of dead owners, after killing the processes that still run in them.
fn sweep(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let path = entry.path();
        if is_ours && !has_owner(&path) {
            kill_all_in(&path);
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Kills the processes of a folder until none is found or [`SWEEP_TIMEOUT`] has passed.
fn kill_all_in(folder: &Path) {
    let begin = Instant::now();
    while !table::kill_marked(folder).is_clean() && begin.elapsed() < SWEEP_TIMEOUT {
        // A killed process stays in the table until it has exited; and one between fork and exec
        // shows no environment yet. Both are gone, or recognized, within milliseconds.
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn has_owner(folder: &Path) -> bool {
    match File::open(folder.join(LOCK)) {
        Ok(file) => file.try_lock().is_err(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let modified = fs::metadata(folder).and_then(|data| data.modified());
            modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < YOUNG))
        }
        Err(_) => true,
    }
}
