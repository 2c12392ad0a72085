//! The process table, read from Linux's `/proc` (proc(5)); empty on other systems.
//!
//! A child's family is its process group, all descendants of that group, and every process that
//! carries the child's mark in its environment. The mark also finds a process that left the group
//! and lost its parent.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::Path,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// Environment variable that marks a child and its descendants; its value is the child's folder.
pub(crate) const MARK: &str = "PLATEN_CHILD_FOLDER";

/// How much of an environment is searched for the mark, in bytes. The mark is among a child's first
/// variables, which are few and short.
const ENVIRONMENT_READ: usize = 256 * 1024;

#[derive(Clone, Copy, Debug)]
struct Row {
    pid: i32,
    parent: i32,
    group: i32,
}

/// One process of a family.
#[derive(Clone, Debug)]
pub struct Member {
    /// Process id.
    pub pid: i32,
    /// Memory not shared with other processes or files, in bytes.
    pub own_bytes: u64,
    /// Its command line, arguments separated by spaces.
    pub command_line: String,
}

/// All processes at one moment.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn read() -> Self {
        let rows = pids().filter_map(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The name, field 2, is in parentheses and may contain anything, even a parenthesis.
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            let (parent, group) = (fields.nth(1)?, fields.next()?);
            Some(Row {
                pid,
                parent: parent.parse().ok()?,
                group: group.parse().ok()?,
            })
        });
        let rows = rows.collect();
        Self { rows }
    }

    /// The leader of a group, its group, and all their descendants.
    pub(crate) fn family(&self, leader: i32) -> Vec<i32> {
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for row in &self.rows {
            children.entry(row.parent).or_default().push(row.pid);
        }
        let members = self.rows.iter().filter(|row| row.group == leader);
        let mut open: Vec<i32> = members.map(|row| row.pid).collect();
        open.push(leader);
        let mut found = HashSet::new();
        while let Some(pid) = open.pop() {
            if found.insert(pid) {
                open.extend(children.get(&pid).into_iter().flatten());
            }
        }
        found.into_iter().collect()
    }

    /// Memory of a family in bytes: the private memory of each member, and the largest shared part
    /// once, since the members mostly share the same pages.
    pub(crate) fn memory_bytes(&self, leader: i32) -> u64 {
        let mut all = 0;
        let mut largest_share = 0;
        for pid in self.family(leader) {
            let (own, shared) = memory_of(pid);
            all += own;
            largest_share = largest_share.max(shared);
        }
        all + largest_share
    }

    /// The processes of a family.
    pub(crate) fn members(&self, leader: i32) -> Vec<Member> {
        let member = |pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            Member {
                pid,
                own_bytes: memory_of(pid).0,
                command_line: String::from_utf8_lossy(&line).replace('\0', " "),
            }
        };
        self.family(leader).into_iter().map(member).collect()
    }
}

/// Private and shared memory of one process, in bytes.
fn memory_of(pid: i32) -> (u64, u64) {
    let page = rustix::param::page_size() as u64;
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let mut fields = statm.split_whitespace().skip(1);
    let mut next = || fields.next().and_then(|field| field.parse::<u64>().ok());
    let (resident, shared) = (next().unwrap_or(0), next().unwrap_or(0));
    (resident.saturating_sub(shared) * page, shared * page)
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Result of one pass over all processes, looking for those of a folder.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    /// Processes marked with this folder or one inside it. They were killed.
    pub(crate) found: Vec<i32>,
    /// Some process is inside execve(2) and shows no environment yet; it may belong to the folder.
    pub(crate) is_unsure: bool,
}

impl Sweep {
    /// True if nothing of the folder is left.
    pub(crate) fn is_clean(&self) -> bool {
        self.found.is_empty() && !self.is_unsure
    }
}

/// Kills all processes marked with this folder or one inside it.
pub(crate) fn kill_marked(folder: &Path) -> Sweep {
    let mut needle = MARK.as_bytes().to_vec();
    needle.push(b'=');
    needle.extend_from_slice(folder.as_os_str().as_bytes());
    let is_ours = |entry: &[u8]| {
        entry
            .strip_prefix(needle.as_slice())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    let mut sweep = Sweep::default();
    let mut buffer = vec![0; ENVIRONMENT_READ];
    for pid in pids() {
        // The environment of another user's process is unreadable; such a process is not ours.
        let Ok(environment) = environment_of(pid, &mut buffer) else {
            continue;
        };
        if environment.is_empty() {
            sweep.is_unsure |= was_in_execve(pid);
        } else if environment.split(|byte| *byte == 0).any(is_ours) {
            kill(pid);
            sweep.found.push(pid);
        }
    }
    sweep
}

/// The environment of a process, read with a single call: if the process enters execve(2) between
/// two reads, the second returns nothing, which looks like the end of the environment.
fn environment_of(pid: i32, buffer: &mut [u8]) -> io::Result<&[u8]> {
    let mut file = File::open(format!("/proc/{pid}/environ"))?;
    let count = file.read(buffer)?;
    Ok(&buffer[..count])
}

/// True for a process that showed no environment because it had left its old program before the
/// kernel laid out the new one's stack: until then the kernel reports the end of the environment as
/// 0. By now it may have one, so a range that is not empty counts too.
fn was_in_execve(pid: i32) -> bool {
    // Fields of `stat` after the name, counted from 0 (proc(5)), and the kernel's `PF_KTHREAD`.
    const STATE: usize = 0;
    const FLAGS: usize = 6;
    const ENVIRONMENT_START: usize = 47;
    const KERNEL_THREAD: u32 = 0x0020_0000;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, rest)) = stat.rsplit_once(')') else {
        return false;
    };
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let [start, end, ..] = fields[ENVIRONMENT_START.min(fields.len())..] else {
        return false;
    };
    let is_kernel = |flags: u32| flags & KERNEL_THREAD != 0;
    !matches!(fields[STATE], "Z" | "X")
        && !fields[FLAGS].parse().is_ok_and(is_kernel)
        && (end == "0" || start != end)
}

/// Sends SIGKILL to a process group.
pub(crate) fn kill_group(leader: i32) {
    if let Some(pid) = Pid::from_raw(leader) {
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
}

/// Sends SIGKILL to one process.
pub(crate) fn kill(pid: i32) {
    // Never this process, nor init.
    if pid > 1
        && u32::try_from(pid) != Ok(std::process::id())
        && let Some(pid) = Pid::from_raw(pid)
    {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Collects the exit status of an orphan that was re-parented to this process, as happens to the
/// first process of a container or a subreaper. Does nothing for others.
pub(crate) fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let _ = rustix::process::waitid(WaitId::Pid(pid), options);
    }
}

/// Start time of this process in clock ticks since boot; 0 if unknown. With the process id it
/// identifies a process.
pub(crate) fn start_ticks() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest);
    let field = fields.and_then(|rest| rest.split_whitespace().nth(19));
    field.and_then(|field| field.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_its_own_family_and_holds_memory() {
        let table = Table::read();
        let pid = i32::try_from(std::process::id()).unwrap();
        assert!(table.family(pid).contains(&pid));
        assert!(table.memory_bytes(pid) > 100_000);
        assert!(start_ticks() > 0);
    }
}
