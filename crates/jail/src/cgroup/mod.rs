//! Control groups, if the host allows any: one for a zygote with all its cells, which limits their
//! total memory and their number, [one for this process](whole) with all that it starts, and [one
//! for each container](limited).
//!
//! A zygote is in its group before it loads anything and before it forks: the forks of a process do
//! not move with it. Memory that cells share with their zygote counts once. When a group is at its
//! limit, the kernel ends the process in it that takes most: as a rule a cell, since each begins
//! with the zygote's memory. Its owner sees [`crate::Ending::Killed`]. If it is the zygote, its
//! cells end with it, as [`crate::Ending::Lost`], and the next job starts another.

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

/// Jobs at their limit of memory for which a group has room on any machine.
const JOBS: u64 = 16;
/// Number of processes in a group whose cells cannot start threads: twice as many as a zygote has
/// cells.
const PROCESSES: u64 = 2_048;
/// Number of processes and threads in a group whose cells may start threads: [`JOBS`] with 512
/// each. A workbook takes one for each of its sheets, and the memory of a rendering has room for
/// the stacks of about as many.
const THREADS: u64 = 8_192;

/// Total memory of a group, in bytes. Each cell has a limit of its own; this one keeps room for all
/// else on the machine. Runs of flows may have more than five hundred cells at a time, and a large
/// machine has memory for more than sixteen large ones: there, three quarters of it are the limit.
/// Loads that fit the machine by the guide to sizing take two thirds of it, so none is refused.
fn memory_of_all(job_bytes: u64) -> u64 {
    let system = rustix::system::sysinfo();
    let unit_bytes = u64::from(system.mem_unit);
    let machine_bytes = system.totalram.saturating_mul(unit_bytes);
    job_bytes.saturating_mul(JOBS).max(machine_bytes / 4 * 3)
}

/// A control group, removed when dropped.
#[derive(Debug)]
pub(crate) struct Group {
    folders: Vec<PathBuf>,
}

impl Group {
    /// Moves the zygote `pid`, which has not forked yet, into a new group within that of this
    /// process, so that limits from outside hold for it, too. `job_bytes` is the memory limit of a
    /// cell, and `threads` says whether cells may start threads. `None` if the host does not allow
    /// it.
    pub fn create(pid: u32, job_bytes: u64, threads: bool) -> Option<Self> {
        let memory_bytes = memory_of_all(job_bytes);
        let processes = if threads { THREADS } else { PROCESSES };
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
            let _ = fs::write(folder.join(file), value.to_string());
            if fs::write(folder.join("cgroup.procs"), pid.to_string()).is_err() {
                place::remove(&folder);
                continue;
            }
            group.folders.push(folder);
        }
        (!group.folders.is_empty()).then_some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            place::remove_when_empty(folder);
        }
    }
}

/// Makes the kernel end the process `pid` and its children before others when memory is short.
pub(crate) fn end_first(pid: u32) {
    let place = format!("/proc/{pid}/oom_score_adj");
    let _ = fs::write(Path::new(&place), "500");
}
