//! Limits of one container with the process that watches over it, by a control group of its own.

use std::{
    fs::{self, File},
    io::{self, Write},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, Mode, OFlags};

use super::{
    Refusal,
    place::{MAIN, PREFIX, is_unified, own, parent, remove, remove_when_empty},
    whole::{PERIOD_US, choose, made, quota, quota_us},
};

/// The control groups of this process, which it leaves and removes when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Limited {
    groups: Vec<Entered>,
}

/// A group, by descriptors: the process is in other namespaces when it leaves.
#[derive(Debug)]
struct Entered {
    name: String,
    parent: OwnedFd,
    processes: File,
}

impl Limited {
    /// Moves this process into groups with these limits, as far as the host allows any.
    pub fn enter(memory_bytes: Option<u64>, processors: Option<f64>) -> Self {
        let mut limited = Self::default();
        let name = name_of(std::process::id());
        for group in groups(memory_bytes, processors) {
            let entered = group.make(&name).and_then(|folder| group.enter(&folder));
            limited.groups.extend(entered);
        }
        if let Some(number) = processors.filter(|_| !can_share_processors()) {
            // Without a control group, a whole number of processors is chosen.
            let _ = choose(number, io::ErrorKind::Unsupported.into());
        }
        limited
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        let own = std::process::id().to_string();
        for group in &mut self.groups {
            let _ = group.processes.write_all(own.as_bytes());
            // What is left is removed by the next start.
            let _ = rustix::fs::unlinkat(&group.parent, &*group.name, AtFlags::REMOVEDIR);
        }
    }
}

fn name_of(pid: u32) -> String {
    format!("{PREFIX}{pid}-container")
}

/// Removes the groups of a container whose watching process `pid` was killed, and so could not.
/// Blocks until its processes have exited, a second at most; what is left then, the next start
/// removes.
pub fn remove_groups_of_container(pid: u32) {
    let controllers: &[&str] = match is_unified() {
        true => &[""],
        false => &["memory", "cpu"],
    };
    for parent in controllers.iter().filter_map(|name| parent(name)) {
        remove_when_empty(&parent.join(name_of(pid)));
    }
}

/// A group to be made, and its limits: files and values.
struct Wanted {
    parent: PathBuf,
    limits: Vec<(&'static str, String)>,
}

impl Wanted {
    fn make(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.parent.join(name);
        fs::create_dir(&folder)?;
        for (file, value) in &self.limits {
            fs::write(folder.join(file), value).inspect_err(|_| remove(&folder))?;
            if file.starts_with("memory.") {
                // Only where swap is counted.
                let _ = fs::write(folder.join("memory.swap.max"), "0");
                let _ = fs::write(folder.join("memory.memsw.limit_in_bytes"), value);
            }
        }
        Ok(folder)
    }

    fn enter(&self, folder: &Path) -> io::Result<Entered> {
        let enter = || -> io::Result<Entered> {
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
            let name = folder.file_name().unwrap_or_default();
            let own = own_of(&self.parent);
            let entered = Entered {
                name: name.to_string_lossy().into_owned(),
                parent: rustix::fs::open(&self.parent, flags, Mode::empty())?,
                processes: File::options().write(true).open(own.join("cgroup.procs"))?,
            };
            fs::write(folder.join("cgroup.procs"), std::process::id().to_string())?;
            Ok(entered)
        };
        enter().inspect_err(|_| remove(folder))
    }
}

/// The group whose processes make groups in this one.
fn own_of(parent: &Path) -> PathBuf {
    let main = parent.join(MAIN);
    if main.is_dir() {
        main
    } else {
        parent.to_owned()
    }
}

/// The groups that have these limits.
fn groups(memory_bytes: Option<u64>, processors: Option<f64>) -> Vec<Wanted> {
    let mut all = Vec::new();
    let mut add = |controller, limits| {
        all.extend(parent(controller).map(|parent| Wanted { parent, limits }));
    };
    if is_unified() {
        let memory = memory_bytes.map(|bytes| ("memory.max", bytes.to_string()));
        let processors = processors.map(|number| ("cpu.max", quota(number, " ")));
        let limits: Vec<_> = memory.into_iter().chain(processors).collect();
        if !limits.is_empty() {
            add("", limits);
        }
        return all;
    }
    if let Some(bytes) = memory_bytes {
        add("memory", vec![("memory.limit_in_bytes", bytes.to_string())]);
    }
    if let Some(number) = processors {
        let period = ("cpu.cfs_period_us", PERIOD_US.to_string());
        add(
            "cpu",
            vec![period, ("cpu.cfs_quota_us", quota_us(number).to_string())],
        );
    }
    all
}

/// Whether a group can limit processor time here.
fn can_share_processors() -> bool {
    try_out(None, Some(1.0)).is_ok()
}

/// Makes groups with these limits and removes them.
fn try_out(memory_bytes: Option<u64>, processors: Option<f64>) -> io::Result<()> {
    let all = groups(memory_bytes, processors);
    if all.is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let name = format!("{PREFIX}{}-trial", std::process::id());
    for group in all {
        let folder = group.make(&name)?;
        remove(&folder);
    }
    Ok(())
}

/// Finds out whether containers that this process starts can have these limits, and makes room for
/// their groups: in version 2, a group with limits for its children has no process of its own, so
/// this process moves into an inner one.
///
/// # Errors
/// Which limit the host does not keep.
pub fn make_room_for_containers(
    memory_bytes: Option<u64>,
    processors: Option<f64>,
) -> Result<(), Refusal> {
    let has_room = || try_out(memory_bytes, processors).is_ok();
    if is_unified()
        && (memory_bytes.is_some() || processors.is_some())
        && !has_room()
        && let Some(own) = own("")
    {
        // Whether that helps is found out below.
        let _ = made(&own, std::process::id());
    }
    if memory_bytes.is_some() {
        try_out(memory_bytes, None).map_err(Refusal::Memory)?;
    }
    match processors {
        // A whole number is kept by choosing processors.
        Some(number) if number.fract() != 0.0 || number < 1.0 => {
            try_out(None, processors).map_err(Refusal::Processor)
        }
        _ => Ok(()),
    }
}
