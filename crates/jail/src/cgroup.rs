//! A control group for all cells of a zygote, if the host allows one. It limits their total memory
//! and their number.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A control group, removed when dropped.
#[derive(Debug)]
pub(crate) struct Group {
    folders: Vec<PathBuf>,
}

impl Group {
    /// Moves the process `pid` into a new group. `None` if the host does not allow it.
    pub fn create(pid: u32, memory_bytes: u64, processes: u64) -> Option<Self> {
        let name = format!("platen-{}-{pid}", std::process::id());
        let unified = Path::new("/sys/fs/cgroup");
        let mut group = Self {
            folders: Vec::new(),
        };
        if unified.join("cgroup.controllers").exists() {
            let folder = unified.join(&name);
            fs::create_dir(&folder).ok()?;
            group.folders.push(folder.clone());
            fs::write(folder.join("memory.max"), memory_bytes.to_string()).ok()?;
            let _ = fs::write(folder.join("memory.swap.max"), "0");
            let _ = fs::write(folder.join("pids.max"), processes.to_string());
            fs::write(folder.join("cgroup.procs"), pid.to_string()).ok()?;
            return Some(group);
        }
        for (controller, file, value) in [
            ("memory", "memory.limit_in_bytes", memory_bytes),
            ("pids", "pids.max", processes),
        ] {
            let folder = unified.join(controller).join(&name);
            if fs::create_dir(&folder).is_err() {
                continue;
            }
            group.folders.push(folder.clone());
            let _ = fs::write(folder.join(file), value.to_string());
            fs::write(folder.join("cgroup.procs"), pid.to_string()).ok()?;
        }
        (!group.folders.is_empty()).then_some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            // A group with a process that is still exiting cannot be removed yet; it stays behind,
            // empty and harmless.
            let _ = fs::remove_dir(folder);
        }
    }
}
