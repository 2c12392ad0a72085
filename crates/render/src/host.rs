//! The binder's host: a folder of assets, stored assets and the clock.

use std::{
    fmt::Debug,
    path::{Component, Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use platen_document::{Helpers, Host};

use crate::RenderOptions;

/// Largest asset, in bytes.
pub const MAX_ASSET_BYTES: u64 = 32 << 20;

/// Stored assets could not be read, as their store does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stored assets cannot be read at the moment: try again")]
pub struct Unread;

/// Assets that a service stores.
pub trait StoredAssets: Debug + Send + Sync {
    /// The bytes of `name`, the current version of an asset, or of `name@3`. Blocks.
    fn asset(&self, name: &str) -> Option<Arc<[u8]>>;

    /// The names of those with the fonts of a family. Blocks.
    fn fonts(&self, family: &str) -> Vec<String>;

    /// As [`StoredAssets::asset`], of a store that tells what it does not have from what it cannot
    /// read.
    ///
    /// # Errors
    /// The store cannot be read.
    fn read_asset(&self, name: &str) -> Result<Option<Arc<[u8]>>, Unread> {
        Ok(self.asset(name))
    }

    /// As [`StoredAssets::fonts`], of a store that tells what it does not have from what it cannot
    /// read.
    ///
    /// # Errors
    /// The store cannot be read.
    fn read_fonts(&self, family: &str) -> Result<Vec<String>, Unread> {
        Ok(self.fonts(family))
    }
}

/// Assets from a folder or stored ones, and the system's clock unless an instant is set.
#[derive(Clone, Debug, Default)]
pub struct FolderHost {
    /// The folder of assets; `None` for no assets.
    pub folder: Option<PathBuf>,
    /// Stored assets. A file of the folder comes first: the operator put it there.
    pub stored: Option<Arc<dyn StoredAssets>>,
    /// The instant of `now()`; the system's clock if `None`.
    pub now_unix_seconds: Option<i64>,
    /// Runs the template's helpers.
    pub helpers: Option<Arc<dyn Helpers>>,
    /// Set once stored assets could not be read. Clones share it.
    is_unread: Arc<AtomicBool>,
}

impl FolderHost {
    /// The assets and the instant of `options`, without helpers.
    #[must_use]
    pub fn of(options: &RenderOptions) -> Self {
        Self {
            folder: options.assets.clone(),
            stored: options.stored.clone(),
            now_unix_seconds: options.now_unix_seconds,
            helpers: None,
            is_unread: Arc::default(),
        }
    }

    /// Checks that all assets were there to be read. A document that lacks some of them is not what
    /// its template says, and no mistake of its author.
    ///
    /// # Errors
    /// Stored assets could not be read.
    pub fn complete(&self) -> Result<(), Unread> {
        match self.is_unread.load(Ordering::Relaxed) {
            true => Err(Unread),
            false => Ok(()),
        }
    }

    /// What stored assets answer; nothing if they cannot be read.
    fn ask<T: Default>(&self, read: impl FnOnce(&dyn StoredAssets) -> Result<T, Unread>) -> T {
        let Some(stored) = &self.stored else {
            return T::default();
        };
        // Each question waits for a store that does not answer, and the document is lost already.
        if self.complete().is_err() {
            return T::default();
        }
        read(&**stored).unwrap_or_else(|Unread| {
            self.is_unread.store(true, Ordering::Relaxed);
            T::default()
        })
    }

    fn file(&self, name: &str) -> Option<Arc<[u8]>> {
        let folder = self.folder.as_ref()?;
        let relative = Path::new(name);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if name.contains('\0') || !relative.components().all(plain) {
            return None;
        }
        // Symbolic links must not lead out of the folder either.
        let path = folder.join(relative).canonicalize().ok()?;
        if !path.starts_with(folder.canonicalize().ok()?) {
            return None;
        }
        let size = path
            .metadata()
            .ok()
            .filter(std::fs::Metadata::is_file)?
            .len();
        if size > MAX_ASSET_BYTES {
            return None;
        }
        std::fs::read(path).ok().map(Arc::from)
    }
}

impl Host for FolderHost {
    fn asset(&self, name: &str) -> Option<Arc<[u8]>> {
        self.file(name)
            .or_else(|| self.ask(|stored| stored.read_asset(name)))
    }

    fn fonts(&self, family: &str) -> Vec<String> {
        self.ask(|stored| stored.read_fonts(family))
    }

    fn now_unix_seconds(&self) -> i64 {
        self.now_unix_seconds.unwrap_or_else(|| {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |elapsed| elapsed.as_secs() as i64)
        })
    }

    fn helpers(&self) -> Option<Arc<dyn Helpers>> {
        self.helpers.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// A store that has `logo`, cannot read what else there is, and counts questions.
    #[derive(Debug, Default)]
    struct Half(AtomicUsize);

    impl StoredAssets for Half {
        fn asset(&self, name: &str) -> Option<Arc<[u8]>> {
            (name == "logo").then(|| Arc::from(*b"x"))
        }

        fn fonts(&self, _: &str) -> Vec<String> {
            Vec::new()
        }

        fn read_asset(&self, name: &str) -> Result<Option<Arc<[u8]>>, Unread> {
            self.0.fetch_add(1, Ordering::Relaxed);
            self.asset(name).map(Some).ok_or(Unread)
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_from_what_is_not_there() {
        let store = Arc::new(Half::default());
        let host = FolderHost {
            stored: Some(Arc::clone(&store) as Arc<dyn StoredAssets>),
            ..FolderHost::default()
        };
        assert!(host.asset("logo").is_some() && host.fonts("Any").is_empty());
        assert_eq!(host.complete(), Ok(()));
        assert!(host.asset("other").is_none());
        assert_eq!(host.clone().complete(), Err(Unread));
        // It is not asked again: the document is lost.
        assert!(host.asset("logo").is_none());
        assert_eq!(store.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn assets_stay_in_their_folder() {
        let folder = std::env::temp_dir().join(format!("platen-assets-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("in")).unwrap();
        std::fs::write(folder.join("in/logo.png"), b"x").unwrap();
        std::fs::write(folder.join("secret"), b"y").unwrap();
        let host = FolderHost {
            folder: Some(folder.join("in")),
            ..FolderHost::default()
        };
        assert!(host.asset("logo.png").is_some());
        for name in ["../secret", "/etc/passwd", "logo.png\0", "missing.png", ""] {
            assert!(host.asset(name).is_none(), "{name:?}");
        }
        std::os::unix::fs::symlink(folder.join("secret"), folder.join("in/link")).unwrap();
        assert!(host.asset("link").is_none());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
