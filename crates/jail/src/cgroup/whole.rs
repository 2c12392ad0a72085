//! Limits of this process with all that it starts, by a control group of its own.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::place::{MAIN, PREFIX, is_unified, own, remove, sweep};

/// Length of the periods in which processor time is given, in microseconds; the kernel's default.
pub(super) const PERIOD_US: u64 = 100_000;

/// Why a limit cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The host allows no group with limits of memory.
    #[error("the system allows no control group that limits memory: {0}")]
    Memory(io::Error),
    /// The host allows no group with limits of processor time.
    #[error("the system allows no control group that limits processor time: {0}")]
    Processor(io::Error),
}

/// Limits the memory, in bytes, and the processor time, in processors, of this process and of all
/// that it starts from now on. Call it before there are other threads.
///
/// Without a control group, a whole number of processors is kept by choosing that many.
///
/// # Errors
/// The host does not allow it.
pub fn confine(memory_bytes: Option<u64>, processors: Option<f64>) -> Result<(), Refusal> {
    sweep();
    match is_unified() {
        true => confine_unified(memory_bytes, processors),
        false => confine_split(memory_bytes, processors),
    }
}

/// In version 2, a group with limits of its children has no process of its own: the process moves
/// into an inner group, and so do its cells into others beside it.
fn confine_unified(memory_bytes: Option<u64>, processors: Option<f64>) -> Result<(), Refusal> {
    let pid = std::process::id();
    let limit_memory = |bytes: u64| {
        let folder = made(&own("").ok_or(io::ErrorKind::NotFound)?, pid)?;
        let limit = || fs::write(folder.join("memory.max"), bytes.to_string());
        limit().inspect_err(|_| undo(&folder, pid))?;
        let _ = fs::write(folder.join("memory.swap.max"), "0");
        Ok(folder)
    };
    let memory = memory_bytes.map(limit_memory).transpose();
    let memory = memory.map_err(Refusal::Memory)?;
    let Some(processors) = processors else {
        return Ok(());
    };
    let limit_processors = || {
        let folder = match &memory {
            Some(folder) => folder.clone(),
            None => made(&own("").ok_or(io::ErrorKind::NotFound)?, pid)?,
        };
        let limit = || fs::write(folder.join("cpu.max"), quota(processors, " "));
        limit().inspect_err(|_| undo(&folder, pid))
    };
    limit_processors().or_else(|error| choose(processors, error))
}

/// Makes the group and its inner one, and moves the process there.
pub(super) fn made(own: &Path, pid: u32) -> io::Result<PathBuf> {
    let folder = own.join(format!("{PREFIX}{pid}"));
    let main = folder.join(MAIN);
    let make = || -> io::Result<()> {
        fs::create_dir(&folder)?;
        fs::create_dir(&main)?;
        fs::write(main.join("cgroup.procs"), pid.to_string())?;
        // The process that was in the way is not any more.
        for group in [own, &folder] {
            let control = group.join("cgroup.subtree_control");
            fs::write(&control, "+memory +cpu")?;
            let _ = fs::write(&control, "+pids");
        }
        Ok(())
    };
    make().inspect_err(|_| undo(&folder, pid))?;
    Ok(folder)
}

fn undo(folder: &Path, pid: u32) {
    if let Some(own) = folder.parent() {
        let _ = fs::write(own.join("cgroup.procs"), pid.to_string());
    }
    remove(folder);
}

/// In version 1, each controller has groups of its own, with processes in all of them.
fn confine_split(memory_bytes: Option<u64>, processors: Option<f64>) -> Result<(), Refusal> {
    let pid = std::process::id();
    let enter = |controller: &str, limits: &[(&str, String)]| {
        let own = own(controller).ok_or(io::ErrorKind::NotFound)?;
        let folder = own.join(format!("{PREFIX}{pid}"));
        fs::create_dir(&folder)?;
        let limit = || {
            for (file, value) in limits {
                fs::write(folder.join(file), value)?;
            }
            fs::write(folder.join("cgroup.procs"), pid.to_string())
        };
        limit().inspect_err(|_| undo(&folder, pid))?;
        Ok::<_, io::Error>(folder)
    };
    let mut memory = None;
    if let Some(bytes) = memory_bytes {
        let limits = [("memory.limit_in_bytes", bytes.to_string())];
        let folder = enter("memory", &limits).map_err(Refusal::Memory)?;
        // Only where swap is counted.
        let swap = folder.join("memory.memsw.limit_in_bytes");
        let _ = fs::write(swap, bytes.to_string());
        memory = Some(folder);
    }
    if let Some(processors) = processors {
        let limits = [
            ("cpu.cfs_period_us", PERIOD_US.to_string()),
            ("cpu.cfs_quota_us", quota_us(processors).to_string()),
        ];
        let entered = enter("cpu", &limits).map(drop);
        let chosen = entered.or_else(|error| choose(processors, error));
        if chosen.is_err()
            && let Some(folder) = memory
        {
            undo(&folder, pid);
        }
        return chosen;
    }
    Ok(())
}

pub(super) fn quota_us(processors: f64) -> u64 {
    // The kernel refuses less than a millisecond.
    ((processors * PERIOD_US as f64) as u64).max(1_000)
}

pub(super) fn quota(processors: f64, between: &str) -> String {
    format!("{}{between}{PERIOD_US}", quota_us(processors))
}

/// Keeps to a whole number of the processors that this process may use.
pub(super) fn choose(processors: f64, error: io::Error) -> Result<(), Refusal> {
    if processors.fract() != 0.0 || processors < 1.0 {
        return Err(Refusal::Processor(error));
    }
    let failed = |error: rustix::io::Errno| Refusal::Processor(error.into());
    let allowed = sched_getaffinity(None).map_err(failed)?;
    let mut chosen = CpuSet::new();
    let those = (0..CpuSet::MAX_CPU).filter(|index| allowed.is_set(*index));
    for index in those.take(processors as usize) {
        chosen.set(index);
    }
    sched_setaffinity(None, &chosen).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_become_time_of_a_period() {
        assert_eq!(quota(0.5, " "), "50000 100000");
        assert_eq!(quota(2.0, " "), "200000 100000");
        assert_eq!(quota_us(0.001), 1_000);
    }
}
