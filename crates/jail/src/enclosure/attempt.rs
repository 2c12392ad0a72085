//! Whether the host allows walls, found out by making them and trying to get through.

use std::{
    fs, io,
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use super::Spec;

/// How long the attempt may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Where the attempt finds what it is to try: a path and an address.
const TASK: &str = "task";
/// Code of an attempt that no wall failed; not 0, which a program that knows nothing of walls may give.
const HELD: i32 = 42;
/// Code of an attempt that got through; the rest is on standard error.
const PASSED: i32 = 3;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Every wall held.
    Held,
    /// The host does not allow them, or one did not hold; why.
    Failed(String),
}

/// Makes walls around an attempt to get through them. `program` is this program or one that calls
/// [`super::serve`] as it does; `folder` is new and empty, and `secret` a file outside it.
///
/// # Errors
/// Where the attempt could not be made at all.
pub fn attempt(program: &Path, folder: &Path, secret: &Path) -> io::Result<Finding> {
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
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().take(3).collect::<Vec<_>>().join("; ");
    let said = match said.is_empty() {
        true => output.status.to_string(),
        false => said,
    };
    Ok(Finding::Failed(said))
}

/// Tries to get through, from inside; the exit code says whether that failed.
pub(super) fn inside() -> i32 {
    match breaches() {
        Ok(found) if found.is_empty() => HELD,
        Ok(found) => {
            eprintln!("{}", found.join(", "));
            PASSED
        }
        Err(error) => {
            eprintln!("the attempt failed: {error}");
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
    // SAFETY: takes flags and gives a number; what it makes ends with this process.
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
