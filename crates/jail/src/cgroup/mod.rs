//! Control groups, if the host allows any: one for all cells of a zygote, which limits their total
//! memory and their number, [one for this process](whole) with all that it starts, and [one for each
//! container](limited).

mod limited;
mod place;
mod whole;

use std::{
    fs,
    path::{Path, PathBuf},
};

pub(crate) use self::limited::Limited;
pub use self::{
    limited::{make_room_for_containers, remove_groups_of_container},
    whole::{Refusal, confine},
};

/// A control group, removed when dropped.
#[derive(Debug)]
pub(crate) struct Group {
    folders: Vec<PathBuf>,
}

impl Group {
    /// Moves the process `pid` into a new group within that of this process, so that limits from
    /// outside hold for it, too. `None` if the host does not allow it.
    pub fn create(pid: u32, memory_bytes: u64, processes: u64) -> Option<Self> {
        let name = format!("{}{}-{pid}", place::PREFIX, std::process::id());
        let mut group = Self {
            folders: Vec::new(),
        };
        if place::is_unified() {
            let folder = place::parent("")?.join(&name);
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
            let Some(folder) = place::parent(controller).map(|parent| parent.join(&name)) else {
                continue;
            };
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
            // A group with a process that is still exiting cannot be removed yet; the next start
            // does.
            place::remove(folder);
        }
    }
}

/// Makes the kernel end the process `pid` and its children before others when memory is short.
pub(crate) fn end_first(pid: u32) {
    let place = format!("/proc/{pid}/oom_score_adj");
    let _ = fs::write(Path::new(&place), "500");
}
