//! Where the control groups of this process are, in either version of the interface.
//! Source: `cgroups(7)`.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Once,
    time::{Duration, Instant},
};

/// Where the kernel's interface is mounted.
const MOUNT: &str = "/sys/fs/cgroup";
/// What the names of all groups made here begin with; the process that made it follows.
pub(super) const PREFIX: &str = "platen-";
/// How long to wait for the processes of a group that have been killed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// The inner group of a [whole](super::whole) in version 2, where a group with limits for its
/// children may have no process of its own.
pub(super) const MAIN: &str = "main";

/// Whether the interface has version 2: one hierarchy for all controllers.
pub(super) fn is_unified() -> bool {
    Path::new(MOUNT).join("cgroup.controllers").exists()
}

/// The group of this process, for a controller in version 1, or in version 2.
pub(super) fn own(controller: &str) -> Option<PathBuf> {
    let (mount, listed) = match is_unified() {
        true => (PathBuf::from(MOUNT), ""),
        false => (Path::new(MOUNT).join(controller), controller),
    };
    let lines = fs::read_to_string("/proc/self/cgroup").ok()?;
    let inner = own_in(&lines, listed).map(|path| mount.join(path));
    // A container may see its path at the host, which is not there.
    let found = inner.filter(|folder| folder.join("cgroup.procs").exists());
    found.or_else(|| mount.join("cgroup.procs").exists().then_some(mount))
}

/// Path of the group for a controller, by the lines of `/proc/self/cgroup`.
fn own_in<'l>(lines: &'l str, controller: &str) -> Option<&'l str> {
    lines.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let is_listed = controllers.split(',').any(|one| one == controller);
        is_listed.then(|| path.trim_start_matches('/'))
    })
}

/// Where groups of cells are made, beside the processes of the group `own`.
pub(super) fn parent(controller: &str) -> Option<PathBuf> {
    let own = own(controller)?;
    let is_whole = own.ends_with(MAIN) && own.parent().is_some_and(|whole| pid_of(whole).is_some());
    let parent = match is_whole {
        true => own.parent()?.to_owned(),
        false => own,
    };
    sweep();
    Some(parent)
}

/// Removes groups of processes that are gone, once: whoever is killed leaves its own.
pub(super) fn sweep() {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| {
        let controllers: &[&str] = match is_unified() {
            true => &[""],
            false => &["memory", "pids", "cpu"],
        };
        for controller in controllers {
            // Former versions made them at the top.
            let top = Path::new(MOUNT).join(controller);
            own(controller)
                .iter()
                .chain([&top])
                .for_each(|folder| remove_left_behind(folder));
        }
    });
}

fn remove_left_behind(folder: &Path) {
    for group in fs::read_dir(folder).into_iter().flatten().flatten() {
        let group = group.path();
        let is_gone = |pid: u32| !Path::new(&format!("/proc/{pid}")).exists();
        if pid_of(&group).is_some_and(is_gone) {
            remove(&group);
        }
    }
}

/// Removes a group and those in it, if none has a process.
pub(super) fn remove(group: &Path) {
    for inner in fs::read_dir(group).into_iter().flatten().flatten() {
        if inner.path().is_dir() {
            let _ = fs::remove_dir(inner.path());
        }
    }
    let _ = fs::remove_dir(group);
}

/// Removes a group whose processes have been killed. Blocks until they have exited, a few
/// milliseconds, a second at most; what is left then, the next start removes.
pub(super) fn remove_when_empty(group: &Path) {
    let begin = Instant::now();
    loop {
        remove(group);
        if !group.exists() || begin.elapsed() >= EXIT_TIMEOUT {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The process that made a group, by the name of the group.
fn pid_of(group: &Path) -> Option<u32> {
    let name = group.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    name.split('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_a_process_is_found_in_both_versions() {
        let split = "8:pids:/\n4:memory:/system.slice/a.service\n1:cpu,cpuacct:/b\n0::/\n";
        assert_eq!(own_in(split, "memory"), Some("system.slice/a.service"));
        assert_eq!(own_in(split, "cpu"), Some("b"));
        assert_eq!(own_in(split, "pids"), Some(""));
        assert_eq!(own_in(split, "io"), None);
        assert_eq!(own_in("0::/user.slice/x\n", ""), Some("user.slice/x"));
    }

    #[test]
    fn only_groups_of_processes_that_are_gone_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::process::id();
        // Above the largest number that Linux gives a process.
        let (gone, inner) = ("platen-4194305-7", "platen-4194305");
        for name in [gone, inner, &format!("platen-{own}-8"), "platen-x", "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::create_dir(folder.path().join(inner).join(MAIN)).unwrap();
        remove_left_behind(folder.path());
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["other", &format!("platen-{own}-8"), "platen-x"]);
    }
}
