//! Processor time by control groups of version 2, which also count processes that nobody waits for:
//! those that are killed together with their parent, or that outlive it. `/proc` loses them.
//! Source: `cgroups(7)`; the time is in `cpu.stat` even without the controller `cpu`.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::program::find;

/// Moves the shell into the group, and becomes the program, which keeps the shell's process id.
const ENTER: &str = r#"echo $$ > "$0/cgroup.procs"; exec "$@""#;
/// How long processes of a group may take to disappear before the group is left behind.
const EMPTY_TIMEOUT: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(5);

/// Groups by the root of their process tree.
static GROUPS: Mutex<Option<HashMap<u32, PathBuf>>> = Mutex::new(None);

/// A group for one program; removed when this is dropped.
#[derive(Debug)]
pub(crate) struct CpuGroup {
    folder: PathBuf,
    root: Option<u32>,
}

impl CpuGroup {
    /// Makes a group below that of this process; `None` where the system does not allow it.
    pub(crate) fn make() -> Option<Self> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("bench-{}-{number}", std::process::id());
        let folder = own_group()?.join(name);
        fs::create_dir(&folder).ok()?;
        let group = Self { folder, root: None };
        // A group may be made and yet take no process.
        let entered = Command::new("sh")
            .args(["-c", r#"echo $$ > "$0/cgroup.procs""#])
            .arg(&group.folder)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let is_entered = entered.is_ok_and(|status| status.success());
        (is_entered && seconds_in(&group.folder).is_some()).then_some(group)
    }

    /// The same command, started in the group. One whose program does not exist stays as it is, so
    /// that starting it says so.
    pub(crate) fn enter(&self, command: Command) -> Command {
        let program = Path::new(command.get_program());
        let exists = match program.parent() {
            Some(folder) if folder.as_os_str().is_empty() => {
                find(&program.to_string_lossy()).is_some()
            }
            _ => program.is_file(),
        };
        if !exists {
            return command;
        }
        let mut entering = Command::new("sh");
        entering.args(["-c", ENTER]).arg(&self.folder);
        entering.arg(program).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => entering.env(name, value),
                None => entering.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            entering.current_dir(folder);
        }
        entering
    }

    /// From now on, [`seconds`] of the process tree with this root are those of the group.
    pub(crate) fn count(&mut self, root: u32) {
        self.root = Some(root);
        let mut groups = GROUPS.lock();
        let groups = groups.get_or_insert_default();
        groups.insert(root, self.folder.clone());
    }
}

impl Drop for CpuGroup {
    fn drop(&mut self) {
        if let (Some(root), Some(groups)) = (self.root, GROUPS.lock().as_mut()) {
            groups.remove(&root);
        }
        remove(&self.folder);
    }
}

/// Processor time of a process tree in a group, in seconds; `None` if it has no group.
pub(crate) fn seconds(root: u32) -> Option<f64> {
    let groups = GROUPS.lock();
    seconds_in(groups.as_ref()?.get(&root)?)
}

/// Removes all groups, for a process that exits without running destructors.
pub(crate) fn remove_all() {
    let groups = GROUPS.lock().take();
    for folder in groups.unwrap_or_default().into_values() {
        remove(&folder);
    }
}

fn remove(folder: &Path) {
    // The program has ended; what it left behind would keep the group (since Linux 5.14).
    let _ = fs::write(folder.join("cgroup.kill"), "1");
    let begun = Instant::now();
    loop {
        for inner in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Of what the program has left behind; files cannot be removed, and go with the group.
            let _ = fs::remove_dir(inner.path());
        }
        if fs::remove_dir(folder).is_ok() || begun.elapsed() > EMPTY_TIMEOUT {
            return;
        }
        std::thread::sleep(POLL);
    }
}

fn seconds_in(group: &Path) -> Option<f64> {
    let stat = fs::read_to_string(group.join("cpu.stat")).ok()?;
    let micros = stat.lines().find_map(|it| it.strip_prefix("usage_usec "))?;
    Some(micros.trim().parse::<u64>().ok()? as f64 / 1e6)
}

/// The folder of this process's group of version 2, wherever that is mounted.
fn own_group() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    own_group_in(&mounts, &groups).filter(|folder| folder.join("cgroup.procs").exists())
}

fn own_group_in(mounts: &str, groups: &str) -> Option<PathBuf> {
    let mount = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let place = before.split(' ').nth(4)?;
        (after.split(' ').next() == Some("cgroup2")).then_some(place)
    })?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(Path::new(mount).join(own.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::tree_seconds;

    #[test]
    fn the_group_of_version_2_is_found_in_both_layouts() {
        let mixed = "30 29 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
            31 29 0:27 / /sys/fs/cgroup/unified rw,relatime shared:4 - cgroup2 cgroup2 rw\n";
        let own = own_group_in(mixed, "8:pids:/a\n0::/\n");
        assert_eq!(own.as_deref(), Some(Path::new("/sys/fs/cgroup/unified")));
        let alone = "31 29 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let own = own_group_in(alone, "0::/user.slice/x.scope\n");
        let wanted = Path::new("/sys/fs/cgroup/user.slice/x.scope");
        assert_eq!(own.as_deref(), Some(wanted));
        assert_eq!(own_group_in(alone, "8:pids:/a\n"), None);
    }

    #[test]
    fn a_program_that_does_not_exist_is_not_hidden_behind_the_shell() {
        let group = CpuGroup {
            folder: "/nowhere".into(),
            root: None,
        };
        for missing in ["platen-no-such-program", "/no/such/program"] {
            let command = group.enter(Command::new(missing));
            assert_eq!(command.get_program(), missing);
        }
        assert_eq!(group.enter(Command::new("true")).get_program(), "sh");
    }

    #[test]
    fn processes_that_left_the_tree_are_counted() {
        let Some(mut group) = CpuGroup::make() else {
            eprintln!("SKIP: this system lets no control group of version 2 be made");
            return;
        };
        // The subshell ends at once, so that its child has no parent in the tree any more.
        let busy = r#"[ "$A" = b ] && (sh -c 'while :; do :; done' & echo $! > pid); sleep 60"#;
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", busy]).env("A", "b");
        command.current_dir(folder.path());
        let mut child = group.enter(command).spawn().unwrap();
        group.count(child.id());
        let begun = Instant::now();
        while tree_seconds(child.id()) < 0.2 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(POLL);
        }
        let counted = tree_seconds(child.id());
        let orphan = fs::read_to_string(folder.path().join("pid")).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let killed = Command::new("kill").args(["-KILL", orphan.trim()]).status();
        assert!(killed.unwrap().success());
        assert!(counted >= 0.2, "{counted}");
        assert!(
            tree_seconds(child.id()) >= counted,
            "killed ones stay counted"
        );
        let left = group.folder.clone();
        drop(group);
        assert!(!left.exists());
    }
}
