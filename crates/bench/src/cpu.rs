//! Processor time of process trees, from their control groups, or from `/proc` (Linux, proc(5)).

use std::{collections::HashMap, fs};

use crate::cpu_group;

/// Processor time of a process in clock ticks: its own, and that of the children that it has waited
/// for.
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    parent: u32,
    /// The process has ended, but its parent has not waited for it.
    is_zombie: bool,
    own: u64,
    waited: u64,
}

fn ticks(pid: &str) -> Option<Ticks> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parse(&stat)
}

/// Parses `/proc/PID/stat`. The name of the program may contain anything, so fields are counted
/// from its end.
fn parse(stat: &str) -> Option<Ticks> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Ticks {
        parent: u32::try_from(number(1)?).ok()?,
        is_zombie: fields.first() == Some(&"Z"),
        own: number(11)? + number(12)?,
        waited: number(13)? + number(14)?,
    })
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

fn processes() -> HashMap<u32, Ticks> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, ticks(&pid.to_string())?)))
        .collect()
}

/// Processor time of a process tree, in seconds: of all its processes if it has a control group;
/// else of its root, of the living descendants, and of those that have ended and were waited for.
#[must_use]
pub fn tree_seconds(root: u32) -> f64 {
    cpu_group::seconds(root).unwrap_or_else(|| seconds_of_tree(root))
}

fn seconds_of_tree(root: u32) -> f64 {
    let all = processes();
    let sum = descendants(root, &all);
    seconds(sum.iter().map(|pid| all[pid].own + all[pid].waited).sum())
}

fn descendants(root: u32, all: &HashMap<u32, Ticks>) -> Vec<u32> {
    let mut found: Vec<u32> = all
        .contains_key(&root)
        .then_some(root)
        .into_iter()
        .collect();
    let mut index = 0;
    while let Some(parent) = found.get(index).copied() {
        let children = all.iter().filter(|(_, ticks)| ticks.parent == parent);
        found.extend(children.map(|(pid, _)| *pid));
        index += 1;
    }
    found
}

/// Living descendants of a process, nearest first.
pub(crate) fn living_descendants(root: u32) -> Vec<u32> {
    let all = processes();
    let mut found = descendants(root, &all);
    found.retain(|pid| *pid != root && !all[pid].is_zombie);
    found
}

/// Processor time of this process, and of the child processes that it has waited for, in seconds.
#[must_use]
pub fn own_seconds() -> (f64, f64) {
    ticks("self").map_or((0.0, 0.0), |it| (seconds(it.own), seconds(it.waited)))
}

/// Peak memory of a process, in bytes.
#[must_use]
pub fn peak_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_brackets_and_spaces_are_no_trouble() {
        let stat = "7 (a) b) c) S 3 7 7 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 5";
        let ticks = parse(stat).unwrap();
        assert_eq!((ticks.parent, ticks.own, ticks.waited), (3, 30, 70));
    }

    #[test]
    fn work_is_seen() {
        let (before, _) = own_seconds();
        let mut sum = 0_u64;
        // Until the tick clock has advanced.
        while own_seconds().0 - before < 0.03 {
            sum = sum.wrapping_add((0..100_000_u64).map(std::hint::black_box).sum());
        }
        std::hint::black_box(sum);
        assert!(tree_seconds(std::process::id()) >= 0.03);
        assert!(peak_bytes(std::process::id()).unwrap() > 1 << 20);
    }
}
