//! The table of processes, read from Linux's `/proc` (proc(5)); empty on other systems.
//!
//! A child's family is its process group, everything that descends from it, and everything that
//! carries its mark in the environment, so that a process that left the group is found too.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::Path,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::process::Member;

/// The variable whose value is the folder of the child.
pub(crate) const MARK: &str = "PLATEN_CHILD_FOLDER";

/// Bytes of an environment that are looked through for the mark. It stands among the first of a
/// child's variables, which are few and short.
const ENVIRONMENT_READ: usize = 256 * 1024;

#[derive(Clone, Copy, Debug)]
struct Row {
    pid: i32,
    parent: i32,
    group: i32,
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
            // The name, field 2, stands in parentheses and may hold anything.
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

    /// The leader of a group, the group, and all that descend from them.
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

    /// Memory of a family in bytes: what each holds for itself, and the largest share of files and
    /// shared memory, which the members have in common for the most part.
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

/// Memory of one process: for itself, and shared with others or with files. Bytes.
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

/// What one look at all processes found of a folder.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    /// Processes whose mark is this folder or one inside it. They were killed.
    pub(crate) found: Vec<i32>,
    /// Some process is within execve(2) and shows no environment yet: it may be one of them.
    pub(crate) is_unsure: bool,
}

impl Sweep {
    /// Nothing of the folder is left.
    pub(crate) fn is_clean(&self) -> bool {
        self.found.is_empty() && !self.is_unsure
    }
}

/// Kills all processes whose mark is this folder or one inside it.
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
        // Processes of others cannot be read, and are none of ours.
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

/// The environment of a process. It is read at once: the second read of a process that has got
/// into execve(2) since the first would give nothing, as if the environment were at its end.
fn environment_of(pid: i32, buffer: &mut [u8]) -> io::Result<&[u8]> {
    let mut file = File::open(format!("/proc/{pid}/environ"))?;
    let count = file.read(buffer)?;
    Ok(&buffer[..count])
}

/// True for a process that showed no environment because it had left its old program while the
/// stack of the new one was not laid out: the kernel gives the end of its environment as 0 until
/// then. It may have got one since it was asked.
fn was_in_execve(pid: i32) -> bool {
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

/// Kills a process group.
pub(crate) fn kill_group(leader: i32) {
    if let Some(pid) = Pid::from_raw(leader) {
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
}

/// Kills one process.
pub(crate) fn kill(pid: i32) {
    // Never ourselves, nor the first process of the system.
    if pid > 1
        && u32::try_from(pid) != Ok(std::process::id())
        && let Some(pid) = Pid::from_raw(pid)
    {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Takes the exit status of a process that became our child when its parent died (as the first
/// process of a container, or a subreaper, has them); nothing for others.
pub(crate) fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let _ = rustix::process::waitid(WaitId::Pid(pid), options);
    }
}

/// When this process started, in ticks since the system started; 0 where unknown.
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
