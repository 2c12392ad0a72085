//! Temporary folders: one for each pool, in it one for each child, and what dead owners left.
//!
//! A pool holds a lock on a file in its folder as long as it lives, so a folder whose lock can be
//! taken has no owner any more, whatever happened to it (kill -9, another container, a reboot).

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
/// A folder without a lock file is a leftover only when it is older than this.
const YOUNG: Duration = Duration::from_secs(60);
/// How long the processes of a dead owner may take to go.
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
    /// Makes the folder in `parent` and removes what dead owners left there.
    pub(crate) fn create(parent: &Path, kind: &str) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(parent)?;
        sweep(parent);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (pid, started) = (std::process::id(), table::start_ticks());
        let path = parent.join(format!("{PREFIX}{kind}-{pid}-{started}-{number}"));
        fs::create_dir(&path)?;
        let lock = File::create(path.join(LOCK))?;
        lock.lock()?;
        Ok(Self {
            path,
            next: AtomicU64::new(0),
            folders: watch::Sender::new(0),
            _lock: lock,
        })
    }

    /// A new folder for one child.
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

    /// Waits until no child's folder is left.
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

/// The folder of one child; removed when it is dropped.
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
        // A process that is exiting may still add a file while the folder is being emptied.
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

/// Removes folders whose owner is dead, and kills what still lives in them.
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

/// Kills what lives in a folder until nothing is found, or it takes too long.
fn kill_all_in(folder: &Path) {
    let begin = Instant::now();
    while !table::kill_marked(folder).is_clean() && begin.elapsed() < SWEEP_TIMEOUT {
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
