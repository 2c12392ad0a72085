//! The processes around a container: the one that the owner started, the first of the pid namespace,
//! which prepares the root and reaps, and the runtime.

use std::{ffi::OsString, fs, io};

use rustix::mount::{self, MountFlags};

use super::{BUNDLE, STATE, Spec, root};
use crate::{
    MARK,
    cgroup::Limited,
    confine,
    sandbox::{Failure, NOT_FOUND, NOT_SANDBOXED, at, limit, quit, reap_until, run, watch},
};

/// Runs a program in a container; returns its exit code. `arguments` are those after
/// [`super::KIND`]. Must be called while the process has one thread.
pub fn serve(arguments: &[OsString]) -> i32 {
    let Some((owner, spec)) = Spec::parse(arguments) else {
        eprintln!("{MARK} is for the program's own use");
        return 2;
    };
    confine::reset_signals();
    // Whether limits can be kept was found out when the service started, and told. Before the
    // namespaces, in which this process has no right to them.
    let limited = Limited::enter(spec.memory_bytes, spec.processors);
    let ended = watch(owner, confine::enter_namespaces_of_runtime, || first(&spec));
    drop(limited);
    ended.unwrap_or_else(|error| {
        eprintln!("container unavailable: {error}");
        NOT_SANDBOXED
    })
}

/// Runs as the first process of the pid namespace.
fn first(spec: &Spec) -> Result<i32, Failure> {
    root::build(spec)?;
    let bundle = spec.stage.join(BUNDLE);
    at(&bundle, fs::create_dir(&bundle))?;
    let config = bundle.join("config.json");
    at(&config, fs::write(&config, &spec.config))?;
    let state = spec.stage.join(STATE);
    at(&state, fs::create_dir(&state))?;
    mount_own_views()?;
    limit(&spec.access).map_err(|error| ("limits".to_owned(), error))?;
    let count = spec.descriptors.to_string().into();
    let command = spec.runtime.command(&spec.stage, &count);
    // SAFETY: the process has one thread.
    match unsafe { libc::fork() } {
        -1 => Err(("fork".to_owned(), io::Error::last_os_error())),
        0 => {
            let error = run(&command);
            eprintln!("{}: {error}", spec.runtime.program.display());
            quit(NOT_FOUND)
        }
        child => {
            let dropped = confine::drop_privileges();
            dropped.map_err(|error| ("capabilities".to_owned(), error))?;
            reap_until(child)
        }
    }
}

/// Mounts what the runtime must see of its own namespaces: its processes, and the control groups in
/// the form that it expects, which it may not change.
fn mount_own_views() -> Result<(), Failure> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let processes = "/proc";
    let mounted = mount::mount("proc", processes, "proc", flags, None);
    at(processes.as_ref(), mounted)?;
    let groups = "/sys/fs/cgroup";
    // Without it, the runtime says what it lacks.
    let _ = mount::mount(
        "cgroup2",
        groups,
        "cgroup2",
        flags | MountFlags::RDONLY,
        None,
    );
    Ok(())
}
