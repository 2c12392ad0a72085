//! Where programs are found: this machine, or the image of containers.

use std::{
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

/// Folders of programs in an image, where no setting says otherwise.
pub(crate) const FOLDERS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Links on the way to a file, as the kernel counts them.
const MAX_LINKS: usize = 40;

/// A root with programs: this machine's, or that of an image in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    root: PathBuf,
    /// Whether it is that of this machine, with its `PATH`.
    is_host: bool,
}

impl Image {
    /// This machine.
    #[must_use]
    pub fn host() -> Self {
        Self {
            root: "/".into(),
            is_host: true,
        }
    }

    /// The image in a folder.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            is_host: false,
        }
    }

    /// What to do where a program is missing: `install` on this machine.
    #[must_use]
    pub fn hint(&self, install: &str, variable: &str) -> String {
        match self.is_host {
            true => install.to_owned(),
            false => format!(
                "unpack an image that has it into `{}` (CONTAINER_ROOTFS), or name its path in the \
                 image in {variable}",
                self.root.display()
            ),
        }
    }

    /// Where this process finds a path of the image, which must not contain links.
    #[must_use]
    pub fn place(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The path of a file or folder without links, if it exists. A link of an image leads into the
    /// image again.
    #[must_use]
    pub fn resolve(&self, path: &Path) -> Option<PathBuf> {
        if self.is_host {
            return path.canonicalize().ok();
        }
        let mut open: Vec<OsString> = parts(path);
        let mut found = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = open.pop() {
            if part == ".." {
                found.pop();
                continue;
            }
            let next = found.join(part);
            let place = self.place(&next);
            let Ok(target) = std::fs::read_link(&place) else {
                place.symlink_metadata().ok()?;
                found = next;
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            if target.is_absolute() {
                found = "/".into();
            }
            open.extend(parts(&target));
        }
        Some(found)
    }

    /// True if there is a file, at the end of any links.
    #[must_use]
    pub fn is_file(&self, path: &Path) -> bool {
        self.resolve(path)
            .is_some_and(|path| self.place(&path).is_file())
    }

    /// Folders of programs, in the order of search.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let own = || std::env::var_os("PATH").unwrap_or_default();
        let folders = if self.is_host { own() } else { FOLDERS.into() };
        std::env::split_paths(&folders).collect()
    }
}

/// The parts of a path, the last first.
fn parts(path: &Path) -> Vec<OsString> {
    let name = |part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().rev().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn links_of_an_image_stay_inside() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("usr/lib/office/program")).unwrap();
        fs::create_dir_all(root.join("usr/bin")).unwrap();
        fs::write(root.join("usr/lib/office/program/soffice"), "").unwrap();
        symlink("usr/bin", root.join("bin")).unwrap();
        let relative = "../lib/office/program/soffice";
        symlink(relative, root.join("usr/bin/soffice")).unwrap();
        symlink("/usr/lib/office", root.join("usr/lib/o")).unwrap();
        symlink("../../../../../usr/bin/soffice", root.join("usr/up")).unwrap();
        symlink("/usr/loop", root.join("usr/loop")).unwrap();
        symlink("/etc/hostname", root.join("usr/outside")).unwrap();
        let image = Image::new(root);
        let program = Some(PathBuf::from("/usr/lib/office/program/soffice"));
        for path in ["/bin/soffice", "/usr/lib/o/program/soffice", "/usr/up"] {
            assert_eq!(image.resolve(Path::new(path)), program, "{path}");
            assert!(image.is_file(Path::new(path)), "{path}");
        }
        for path in ["/usr/loop", "/usr/outside", "/usr/bin/none"] {
            assert_eq!(image.resolve(Path::new(path)), None, "{path}");
        }
        assert!(!image.is_file(Path::new("/usr/bin")));
        assert!(Image::host().is_file(Path::new("/proc/self/stat")));
    }
}
