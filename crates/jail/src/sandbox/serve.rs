//! The processes around a sandboxed program: the one that the owner started, which waits until the
//! owner or the sandbox exits, and the first of the pid namespace, which reaps.

use std::{
    ffi::{CString, OsString},
    io,
    os::unix::ffi::OsStrExt,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, WaitStatus},
};

use super::{Spec, probe, root};
use crate::{MARK, confine};

/// Exit code if the sandbox could not be set up.
pub(crate) const NOT_SANDBOXED: i32 = 96;
/// Exit code if the program could not be started.
pub(crate) const NOT_FOUND: i32 = 127;

/// Runs a program in a sandbox; returns its exit code. `arguments` are those after [`super::KIND`].
/// Must be called while the process has one thread.
pub fn serve(arguments: &[OsString]) -> i32 {
    let Some((owner, spec, program)) = Spec::parse(arguments) else {
        eprintln!("{MARK} is for the program's own use");
        return 2;
    };
    confine::reset_signals();
    match run_sandboxed(owner, &spec, program) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("sandbox unavailable: {error}");
            NOT_SANDBOXED
        }
    }
}

fn run_sandboxed(owner: i32, spec: &Spec, program: &[OsString]) -> io::Result<i32> {
    watch(owner, confine::enter_namespaces, || first(spec, program))
}

/// Enters namespaces and forks their first process, which does `first` and ends with its exit code.
/// Waits until it or the owner has ended; then nothing is left in the namespaces.
pub(crate) fn watch(
    owner: i32,
    enter: impl FnOnce() -> io::Result<()>,
    first: impl FnOnce() -> Result<i32, root::Failure>,
) -> io::Result<i32> {
    let owner = Pid::from_raw(owner).ok_or(io::ErrorKind::InvalidInput)?;
    let watched = rustix::process::pidfd_open(owner, PidfdFlags::empty())?;
    if rustix::process::getppid() != Some(owner) {
        return Err(io::Error::other("owner exited"));
    }
    enter()?;
    // SAFETY: the process has one thread.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop(watched);
            let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            let code = first().unwrap_or_else(|(place, error)| {
                eprintln!("sandbox unavailable: {place}: {error}");
                NOT_SANDBOXED
            });
            quit(code)
        }
        child => {
            confine::drop_privileges()?;
            let child = Pid::from_raw(child).ok_or(io::ErrorKind::Other)?;
            let ended = rustix::process::pidfd_open(child, PidfdFlags::empty())?;
            let mut both = [
                PollFd::new(&ended, PollFlags::IN),
                PollFd::new(&watched, PollFlags::IN),
            ];
            while let Err(error) = poll(&mut both, None) {
                if error != rustix::io::Errno::INTR {
                    return Err(error.into());
                }
            }
            // If the owner has exited, killing the first process kills the whole pid namespace.
            if both[0].revents().is_empty() {
                let _ = rustix::process::kill_process(child, Signal::KILL);
            }
            Ok(wait_for(child).map_or(1, code))
        }
    }
}

/// Runs as the first process of the pid namespace.
fn first(spec: &Spec, program: &[OsString]) -> Result<i32, root::Failure> {
    let failed = |what: &str, error: io::Error| (what.to_owned(), error);
    root::enter(spec)?;
    let _ = rustix::system::sethostname(b"cell");
    limit(spec).map_err(|error| failed("limits", error))?;
    confine::drop_privileges().map_err(|error| failed("capabilities", error))?;
    // SAFETY: the process has one thread.
    match unsafe { libc::fork() } {
        -1 => Err(failed("fork", io::Error::last_os_error())),
        0 if program.is_empty() => quit(probe::inside()),
        0 => {
            let error = run(program);
            eprintln!("{}: {error}", program[0].to_string_lossy());
            quit(NOT_FOUND)
        }
        child => reap_until(child),
    }
}

/// Reaps, as the first process of a pid namespace must, until `child` has ended; its exit code.
pub(crate) fn reap_until(child: libc::pid_t) -> Result<i32, root::Failure> {
    let child = Pid::from_raw(child);
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == child => return Ok(code(status)),
            Err(rustix::io::Errno::INTR) | Ok(_) => {}
            Err(error) => return Err(("wait".to_owned(), error.into())),
        }
    }
}

/// Sets the limits of the program.
pub(crate) fn limit(spec: &Spec) -> io::Result<()> {
    let bounds = [
        (Resource::Core, 0),
        (Resource::Nofile, spec.open_files),
        (Resource::Fsize, spec.file_size_bytes),
    ];
    for (resource, most) in bounds {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // Fails only if the hard limit is already lower, which is fine.
        let _ = rustix::process::setrlimit(resource, limit);
    }
    Ok(())
}

/// Replaces this process with the program; returns only on failure.
pub(crate) fn run(program: &[OsString]) -> io::Error {
    let texts = program.iter().map(|text| CString::new(text.as_bytes()));
    let Ok(texts) = texts.collect::<Result<Vec<CString>, _>>() else {
        return io::ErrorKind::InvalidInput.into();
    };
    let mut pointers: Vec<*const libc::c_char> = texts.iter().map(|text| text.as_ptr()).collect();
    pointers.push(std::ptr::null());
    // SAFETY: the array ends with null, and its strings live until the call returns, if it does.
    unsafe { libc::execvp(pointers[0], pointers.as_ptr()) };
    io::Error::last_os_error()
}

fn wait_for(child: Pid) -> Option<WaitStatus> {
    loop {
        match rustix::process::waitpid(Some(child), WaitOptions::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(ended) => return ended.map(|(_, status)| status),
            Err(_) => return None,
        }
    }
}

/// Exit code as shells report it: the code, or 128 plus the signal.
fn code(status: WaitStatus) -> i32 {
    let signal = status.terminating_signal().map(|signal| 128 + signal);
    status.exit_status().or(signal).unwrap_or(1)
}

pub(crate) fn quit(code: i32) -> ! {
    // SAFETY: exits the process at once; there is nothing to flush or drop.
    unsafe { libc::_exit(code) }
}
