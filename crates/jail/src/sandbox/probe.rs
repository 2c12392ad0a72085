//! Probes whether the host allows a sandbox: sets one up and tries to escape from it.

use std::{
    fs, io,
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use super::Spec;

/// Timeout of the probe; a slow machine needs seconds to set up namespaces.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The file with the targets of the probe: a path and an address.
const TASK: &str = "task";
/// Exit code if the sandbox held; not 0, which a program that ignores the arguments may return.
const HELD: i32 = 42;
/// Exit code if the probe escaped; standard error says how.
const PASSED: i32 = 3;

/// Result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The sandbox held.
    Held,
    /// The host does not allow a sandbox, or the probe escaped; with the reason.
    Failed(String),
}

/// Runs the probe in a sandbox. `program` is this program, or one that calls [`super::serve`] in
/// the same way; `folder` is new and empty, and `secret` is a file outside it.
///
/// # Errors
/// The probe could not be started.
pub fn probe(program: &Path, folder: &Path, secret: &Path) -> io::Result<Finding> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let task = format!("{}\n{}\n", secret.display(), listener.local_addr()?);
    fs::write(folder.join(TASK), task)?;
    let spec = Spec {
        folder: folder.to_owned(),
        open_files: 64,
        file_size_bytes: 1 << 20,
        ..Spec::default()
    };
    let mut child = Command::new(program)
        .args(spec.arguments())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let start = std::time::Instant::now();
    // Polled, because `Child::wait` has no timeout.
    while child.try_wait()?.is_none() {
        if start.elapsed() > TIMEOUT {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let output = child.wait_with_output()?;
    if output.status.code() == Some(HELD) {
        return Ok(Finding::Held);
    }
    let report = String::from_utf8_lossy(&output.stderr);
    let report = report.lines().take(3).collect::<Vec<_>>().join("; ");
    let report = match report.is_empty() {
        true => output.status.to_string(),
        false => report,
    };
    Ok(Finding::Failed(report))
}

/// Tries to escape from inside the sandbox; returns the exit code.
pub(super) fn inside() -> i32 {
    match breaches() {
        Ok(found) if found.is_empty() => HELD,
        Ok(found) => {
            eprintln!("{}", found.join(", "));
            PASSED
        }
        Err(error) => {
            eprintln!("probe failed: {error}");
            PASSED
        }
    }
}

fn breaches() -> io::Result<Vec<&'static str>> {
    let task = fs::read_to_string(TASK)?;
    let mut lines = task.lines();
    let secret = PathBuf::from(lines.next().unwrap_or_default());
    let address: SocketAddr = lines
        .next()
        .and_then(|line| line.parse().ok())
        .ok_or(io::ErrorKind::InvalidData)?;
    fs::write("result", "written")?;
    fs::write("/tmp/result", "written")?;
    let status = fs::read_to_string("/proc/self/status")?;
    let has = |line: &str| status.lines().any(|one| one == line);
    let names = fs::read_dir("/proc")?.flatten().map(|it| it.file_name());
    let is_number = |name: &std::ffi::OsString| {
        name.to_str()
            .is_some_and(|name| name.parse::<u32>().is_ok())
    };
    let processes = names.filter(is_number).count();
    let connected = TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok();
    let written = |path: &str| fs::write(path, "x").is_ok();
    // SAFETY: takes flags and returns a number; the namespace ends with this process.
    let nested = unsafe { libc::unshare(libc::CLONE_NEWUSER) } == 0;
    let found = [
        (fs::read(secret).is_ok(), "a file outside can be read"),
        (fs::read("/etc/shadow").is_ok(), "/etc/shadow can be read"),
        (connected, "a connection to this machine is possible"),
        (
            written("/x") || written("/usr/x"),
            "the root can be written to",
        ),
        (
            written("/proc/sys/kernel/domainname"),
            "the kernel's settings can be written to",
        ),
        (!has("CapEff:\t0000000000000000"), "there are capabilities"),
        (
            !has("CapPrm:\t0000000000000000"),
            "there are capabilities to take",
        ),
        (!has("NoNewPrivs:\t1"), "privileges can be gained"),
        (processes > 2, "other processes are seen"),
        (nested, "namespaces can be made"),
    ];
    Ok(found
        .into_iter()
        .filter_map(|(is_so, what)| is_so.then_some(what))
        .collect())
}
