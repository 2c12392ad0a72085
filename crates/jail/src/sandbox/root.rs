//! The root that a program sees: bind mounts on a small tmpfs.

use std::{
    fs, io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::mount::{self, MountFlags, MountPropagationFlags, UnmountFlags};

use super::{Spec, TMP, USER};

/// Top-level folders with programs and libraries. A symbolic link is copied as a link.
pub(crate) const TOP: [&str; 7] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr"];
/// The parts of `/etc` and `/var` that programs read, if they exist. None of them is secret.
pub(crate) const SYSTEM: [&str; 26] = [
    "etc/alternatives",
    "etc/chromium",
    "etc/fonts",
    "etc/java",
    "etc/ld.so.cache",
    "etc/ld.so.conf",
    "etc/ld.so.conf.d",
    "etc/libreoffice",
    "etc/libpaper.d",
    "etc/locale.alias",
    "etc/locale.conf",
    "etc/localtime",
    "etc/mime.types",
    "etc/nsswitch.conf",
    "etc/papersize",
    "etc/paperspecs",
    "etc/pki/tls/certs",
    "etc/ssl/certs",
    "etc/ssl/openssl.cnf",
    "etc/timezone",
    "etc/vulkan",
    "gnu/store",
    "nix/store",
    "var/cache/fontconfig",
    "var/lib/libreoffice",
    "var/spool/libreoffice",
];
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
const LINKS: [(&str, &str); 4] = [
    ("/proc/self/fd", "dev/fd"),
    ("/proc/self/fd/0", "dev/stdin"),
    ("/proc/self/fd/1", "dev/stdout"),
    ("/proc/self/fd/2", "dev/stderr"),
];
/// Files of `/proc` outside the process folders with which root could change the host; mounted
/// read-only.
const CLOSED: [&str; 8] = [
    "acpi",
    "bus",
    "driver",
    "fs",
    "irq",
    "scsi",
    "sys",
    "sysrq-trigger",
];
/// Where the new root is mounted while it is built; the host's `/proc` is not needed then.
const STAGE: &str = "/proc";
/// Limits of the root's tmpfs, which holds only folders and small files.
const SIZE: &std::ffi::CStr = c"size=1m,nr_inodes=4k,mode=755";

// Mount attributes: what programs read cannot be changed, and what they write cannot be executed.
const SAFE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
pub(crate) const READ: u64 = SAFE | libc::MOUNT_ATTR_RDONLY;
pub(crate) const WRITE: u64 = SAFE | libc::MOUNT_ATTR_NOEXEC;

/// The path or step that failed, and the error.
pub(crate) type Failure = (String, io::Error);

/// Names the path of an error.
pub(crate) fn at<T, E: Into<io::Error>>(path: &Path, result: Result<T, E>) -> Result<T, Failure> {
    result.map_err(|error| (path.display().to_string(), error.into()))
}

/// Builds the root and changes to it, into the program's folder. The process must be the first of a
/// pid namespace, in a mount namespace of its own.
pub(super) fn enter(spec: &Spec) -> Result<(), Failure> {
    let top = Path::new("/");
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    at(top, mount::mount_change("/", private))?;
    let tmp = spec.folder.join(TMP);
    at(&tmp, fs::create_dir_all(&tmp))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    at(top, mount::mount("none", STAGE, "tmpfs", flags, SIZE))?;
    system()?;
    // `/tmp` comes first: folders below it are then mounted inside the private one.
    bind(&tmp, Path::new("/tmp"), WRITE)?;
    for path in &spec.reads {
        bind(path, path, READ)?;
    }
    for path in std::iter::once(&spec.folder).chain(&spec.writes) {
        bind(path, path, WRITE)?;
    }
    processes(spec.nests)?;
    at(top, rustix::process::chdir(STAGE))?;
    at(top, rustix::process::pivot_root(".", "."))?;
    at(top, mount::unmount(".", UnmountFlags::DETACH))?;
    set(top, libc::MOUNT_ATTR_RDONLY, false)?;
    at(&spec.folder, rustix::process::chdir(&spec.folder))
}

fn staged(path: &Path) -> PathBuf {
    Path::new(STAGE).join(path.strip_prefix("/").unwrap_or(path))
}

fn system() -> Result<(), Failure> {
    for name in TOP.into_iter().chain(SYSTEM) {
        let path = Path::new("/").join(name);
        match fs::read_link(&path) {
            Ok(target) => {
                let link = staged(&path);
                at(&path, fs::create_dir_all(link.parent().unwrap_or(&link)))?;
                at(&path, std::os::unix::fs::symlink(target, link))?;
            }
            Err(_) if path.exists() => bind(&path, &path, READ)?,
            Err(_) => {}
        }
    }
    let etc = staged(Path::new("/etc"));
    at(&etc, fs::create_dir_all(&etc))?;
    let passwd = format!("nobody:x:{USER}:{USER}:nobody:/:/bin/false\n");
    at(&etc, fs::write(etc.join("passwd"), passwd))?;
    let group = format!("nogroup:x:{USER}:\n");
    at(&etc, fs::write(etc.join("group"), group))?;
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        bind(
            &path,
            &path,
            libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC,
        )?;
    }
    for (target, link) in LINKS {
        let link = staged(Path::new(link));
        at(&link, std::os::unix::fs::symlink(target, &link))?;
    }
    Ok(())
}

/// Mounts `/proc` of the new pid namespace.
fn processes(nests: bool) -> Result<(), Failure> {
    let place = staged(Path::new("/proc"));
    at(&place, fs::create_dir(&place))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    at(&place, mount::mount("proc", &place, "proc", flags, None))?;
    if !nests {
        // In a user namespace of its own a program would have capabilities, and so reach more of
        // the kernel.
        let bound = place.join("sys/user/max_user_namespaces");
        at(&bound, fs::write(&bound, "0"))?;
    }
    for name in CLOSED {
        let path = place.join(name);
        if path.exists() {
            at(&path, mount::mount_bind_recursive(&path, &path))?;
            set(&path, libc::MOUNT_ATTR_RDONLY, true)?;
        }
    }
    Ok(())
}

/// Bind-mounts `source` at `place` in the new root.
fn bind(source: &Path, place: &Path, attributes: u64) -> Result<(), Failure> {
    bind_at(source, &staged(place), attributes)
}

/// Bind-mounts `source` at `target`, which is made if there is nothing.
pub(crate) fn bind_at(source: &Path, target: &Path, attributes: u64) -> Result<(), Failure> {
    if at(source, fs::metadata(source))?.is_dir() {
        at(target, fs::create_dir_all(target))?;
    } else {
        at(
            target,
            fs::create_dir_all(target.parent().unwrap_or(target)),
        )?;
        if !target.exists() {
            at(target, fs::write(target, ""))?;
        }
    }
    at(source, mount::mount_bind_recursive(source, target))?;
    set(target, attributes, true)
}

/// Sets attributes of a mount, and of those below it if `is_recursive`.
fn set(path: &Path, attributes: u64, is_recursive: bool) -> Result<(), Failure> {
    let attribute = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = if is_recursive { libc::AT_RECURSIVE } else { 0 };
    let name = std::ffi::CString::new(path.as_os_str().as_bytes());
    let name = at(path, name.map_err(io::Error::other))?;
    // SAFETY: the name and the attributes are valid during the call, and the size is that of the
    // attributes.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            name.as_ptr(),
            flags,
            &raw const attribute,
            size_of::<libc::mount_attr>(),
        )
    };
    match answer {
        0 => Ok(()),
        _ => at(path, Err(io::Error::last_os_error())),
    }
}
