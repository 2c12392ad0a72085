//! Confinement: namespaces, an empty root and dropped capabilities for the zygote; resource limits
//! and Landlock for a cell.

use std::{fs, io, path::Path};

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr};
use rustix::{
    mount::{MountFlags, MountPropagationFlags, UnmountFlags},
    process::{Resource, Rlimit},
    thread::{CapabilitySet, CapabilitySets},
};

use crate::Limits;

/// User and group id inside the namespace: nobody, as on most hosts.
const INNER_IDENTITY: u32 = 65_534;

/// Memory that a cell needs besides its job, such as its stack, in bytes.
const SLACK_BYTES: u64 = 32 << 20;

/// Enters new namespaces. The next fork becomes the first process of the pid namespace.
///
/// # Errors
/// The host does not allow namespaces (`EPERM`, `ENOSPC` or `EINVAL`).
pub(crate) fn enter_namespaces() -> io::Result<()> {
    let all = libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    enter(all, INNER_IDENTITY)
}

/// Enters the namespaces in which a container runtime is root, and can do no more than start
/// containers: it sets up the others itself.
///
/// # Errors
/// As [`enter_namespaces`].
pub(crate) fn enter_namespaces_of_runtime() -> io::Result<()> {
    let all = libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWCGROUP;
    enter(all, 0)
}

/// Enters a user namespace, in which this user has the number `identity`, and other new ones.
fn enter(others: libc::c_int, identity: u32) -> io::Result<()> {
    let (user, group) = (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    );
    // SAFETY: the process has one thread, and no flag changes how it shares descriptors or memory.
    if unsafe { libc::unshare(libc::CLONE_NEWUSER | others) } != 0 {
        return Err(io::Error::last_os_error());
    }
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{identity} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{identity} {group} 1"))
}

/// Replaces the host's file system with an empty, read-only root.
pub(crate) fn empty_root() -> io::Result<()> {
    use rustix::mount;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount::mount_change(
        "/",
        MountPropagationFlags::REC | MountPropagationFlags::PRIVATE,
    )?;
    // Any folder will do: the mount is visible in this namespace only.
    let place = ["/tmp", "/var", "/proc"]
        .into_iter()
        .find(|path| Path::new(path).is_dir())
        .unwrap_or("/");
    mount::mount(
        "none",
        place,
        "tmpfs",
        flags,
        c"size=4k,nr_inodes=4,mode=555",
    )?;
    rustix::process::chdir(place)?;
    rustix::process::pivot_root(".", ".")?;
    mount::unmount(".", UnmountFlags::DETACH)?;
    rustix::process::chdir("/")?;
    mount::mount_remount("/", flags | MountFlags::RDONLY, c"size=4k,nr_inodes=4")?;
    let _ = rustix::system::sethostname(b"cell");
    Ok(())
}

/// Drops all capabilities, and the ability to gain any by executing a program.
pub(crate) fn drop_privileges() -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    Ok(rustix::thread::set_capabilities(None, none)?)
}

/// Denies all access to files and all TCP connections from now on. False if the kernel has no
/// Landlock.
pub(crate) fn deny_files() -> bool {
    let restrict = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V5))?
            .handle_access(AccessNet::from_all(ABI::V5))?
            .create()?
            .restrict_self()
    };
    restrict().is_ok_and(|status| status.ruleset != landlock::RulesetStatus::NotEnforced)
}

/// Memory that this process already uses and that the kernel counts against `RLIMIT_DATA` of its
/// cells, in bytes: the sixth field of `/proc/self/statm` (proc(5)). Must be called before the root
/// is emptied.
pub(crate) fn own_data_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(5);
    let pages: u64 = pages.and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

/// Sets the limits that are the same for every job. `own_bytes` is what the zygote already uses.
pub(crate) fn limit_cell(limits: &Limits, own_bytes: u64) -> io::Result<()> {
    let seconds = u64::from(limits.cpu_ms).div_ceil(1000) + 1;
    let bounds = [
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::Nofile, 8),
        (Resource::Memlock, 0),
        (Resource::Cpu, seconds),
        (
            Resource::Data,
            limits.memory_bytes + own_bytes + SLACK_BYTES,
        ),
        // Address space costs nothing by itself, but no cell needs this much.
        (
            Resource::As,
            limits.memory_bytes.saturating_mul(4) + (4 << 30),
        ),
    ];
    for (resource, most) in bounds {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        rustix::process::setrlimit(resource, limit)?;
    }
    Ok(())
}

/// Starts the CPU timer; SIGPROF ends the process when it expires.
pub(crate) fn start_timer(cpu_ms: u32) -> io::Result<()> {
    let value = libc::timeval {
        tv_sec: libc::time_t::from(cpu_ms / 1000),
        tv_usec: libc::suseconds_t::from(cpu_ms % 1000) * 1000,
    };
    let timer = libc::itimerval {
        it_interval: libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        },
        it_value: value,
    };
    // SAFETY: `timer` is valid for the call; the old value is not requested.
    if unsafe { libc::setitimer(libc::ITIMER_PROF, &timer, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: u32) {
    // SAFETY: this process uses only its standard streams and its channel, so none of the closed
    // descriptors is used again.
    unsafe {
        libc::syscall(libc::SYS_close_range, first, u32::MAX, 0);
    }
}

/// Restores the default actions, so that faults and timers end the process: Rust's handler of stack
/// overflows would loop under seccomp.
pub(crate) fn reset_signals() {
    for signal in [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGALRM,
        libc::SIGPROF,
        libc::SIGXCPU,
        libc::SIGPIPE,
        libc::SIGTERM,
        libc::SIGINT,
    ] {
        // SAFETY: the default action is always valid.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}
