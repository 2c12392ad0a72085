//! The binder's host: a folder of assets, stored assets and the clock.

use std::{
    fmt::Debug,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use platen_document::{Helpers, Host};

use crate::RenderOptions;

/// Largest asset, in bytes.
pub const MAX_ASSET_BYTES: u64 = 32 << 20;

/// Assets that a service stores.
pub trait StoredAssets: Debug + Send + Sync {
    /// The bytes of `name`, the current version of an asset, or of `name@3`. Blocks.
    fn asset(&self, name: &str) -> Option<Arc<[u8]>>;

    /// The names of those with the fonts of a family. Blocks.
    fn fonts(&self, family: &str) -> Vec<String>;
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
        }
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
            .or_else(|| self.stored.as_ref()?.asset(name))
    }

    fn fonts(&self, family: &str) -> Vec<String> {
        let stored = self.stored.as_ref();
        stored.map_or_else(Vec::new, |stored| stored.fonts(family))
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
    use super::*;

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
