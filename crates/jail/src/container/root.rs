//! The root of a container: a small tmpfs on which the folders of the image are mounted read-only,
//! and the program's own folders.
//!
//! An image need not have the folders that are mounted into it, and is not changed: where one is
//! wanted, the folders that lead there are made anew, and their other content is mounted one by one.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rustix::mount::{self, MountFlags, MountPropagationFlags};

use super::{Spec, root_below};
use crate::sandbox::{Failure, READ, TMP, WRITE, at, bind_at};

/// Limits of the tmpfs, which holds folders, links and small files.
const SIZE: &std::ffi::CStr = c"size=8m,nr_inodes=32k,mode=755";
/// Folders that the runtime mounts, and one that no program needs.
const OWN: [&str; 3] = ["dev", "proc", "sys"];

/// Builds the root below [`Spec::stage`]. The process must be in a mount namespace of its own.
pub(super) fn build(spec: &Spec) -> Result<(), Failure> {
    let top = Path::new("/");
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    at(top, mount::mount_change("/", private))?;
    let access = &spec.access;
    let tmp = access.folder.join(TMP);
    at(&tmp, fs::create_dir_all(&tmp))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let mounted = mount::mount("none", &spec.stage, "tmpfs", flags, SIZE);
    at(&spec.stage, mounted)?;
    let root = root_below(&spec.stage);
    let writes = || std::iter::once(&access.folder).chain(&access.writes);
    let wanted: Vec<PathBuf> = OWN
        .iter()
        .map(PathBuf::from)
        .chain([PathBuf::from("tmp")])
        .chain(access.reads.iter().chain(writes()).map(|path| below(path)))
        // Where this and other containers are built, if the image is the root of the host.
        .chain([below(spec.stage.parent().unwrap_or(&spec.stage))])
        .collect();
    copy(&spec.image, &root, &wanted)?;
    for name in OWN {
        let folder = root.join(name);
        at(&folder, fs::create_dir(&folder))?;
    }
    // `/tmp` comes first: folders below it are then mounted inside the private one.
    bind_at(&tmp, &root.join("tmp"), WRITE)?;
    for path in &access.reads {
        bind_at(path, &root.join(below(path)), READ)?;
    }
    for path in writes() {
        bind_at(path, &root.join(below(path)), WRITE)?;
    }
    Ok(())
}

/// A path from the root on.
fn below(path: &Path) -> PathBuf {
    path.strip_prefix("/").unwrap_or(path).to_owned()
}

/// Mounts the content of a folder of the image, except what is `wanted` for something else.
fn copy(from: &Path, to: &Path, wanted: &[PathBuf]) -> Result<(), Failure> {
    at(to, fs::create_dir(to))?;
    for entry in at(from, fs::read_dir(from))? {
        let (name, kind) = {
            let entry = at(from, entry)?;
            (entry.file_name(), at(from, entry.file_type())?)
        };
        let (source, target) = (from.join(&name), to.join(&name));
        let inner: Vec<PathBuf> = wanted
            .iter()
            .filter_map(|path| path.strip_prefix(&name).ok().map(Path::to_owned))
            .collect();
        if inner.iter().any(|path| path.as_os_str().is_empty()) {
            continue;
        }
        if !inner.is_empty() {
            // A link on the way would lead out of the image.
            if kind.is_dir() {
                copy(&source, &target, &inner)?;
            }
        } else if kind.is_symlink() {
            let link = || -> io::Result<()> {
                std::os::unix::fs::symlink(fs::read_link(&source)?, &target)
            };
            at(&source, link())?;
        } else if kind.is_dir() || kind.is_file() {
            bind_at(&source, &target, READ)?;
        }
    }
    Ok(())
}
