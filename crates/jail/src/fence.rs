//! The fence: a Landlock sandbox for an external program, for hosts that do not allow namespaces,
//! such as most containers.
//!
//! The program sees the host's root and processes, but opens only what programs, libraries and
//! fonts need, and writes only to its own folder. From Linux 6.7 on it can neither make nor accept
//! TCP connections. Source: `landlock(7)`.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus,
};

use crate::{
    confine,
    sandbox::{Finding, NOT_FOUND, NOT_SANDBOXED, SYSTEM, Spec, TOP, run},
};

/// Second argument of a process that restricts itself with Landlock and then executes the program.
pub const KIND: &str = "fence";

/// The rights that the fence handles: those of Landlock ABI 5 (Linux 6.10), as far as the kernel
/// has them.
const RIGHTS: ABI = ABI::V5;

/// Other paths that programs read in addition to [`TOP`] and [`SYSTEM`]: users, groups, number of
/// cores.
const ASKED: [&str; 3] = ["etc/passwd", "etc/group", "sys/devices/system"];
/// Paths that programs write to: their own limits and namespaces, and devices that store nothing.
const WRITTEN: [&str; 8] = [
    "proc",
    "dev/null",
    "dev/zero",
    "dev/full",
    "dev/random",
    "dev/urandom",
    "dev/tty",
    "dev/shm",
];
/// Where programs create sockets, regardless of their temporary folder.
const SOCKETS: &str = "/tmp";

/// Command line before the program to start and its own arguments.
#[must_use]
pub fn arguments(spec: &Spec) -> Vec<OsString> {
    spec.arguments_of(KIND)
}

/// Restricts this process with Landlock and executes the program; returns an exit code on failure.
/// `arguments` are those after [`KIND`]. Must be called while the process has one thread.
pub fn serve(arguments: &[OsString]) -> i32 {
    let Some((_, spec, program)) = Spec::parse(arguments) else {
        eprintln!("{} is for the program's own use", crate::MARK);
        return 2;
    };
    confine::reset_signals();
    match restrict(&spec) {
        Ok(true) => {}
        Ok(false) => {
            eprintln!("fence unavailable: the kernel has no Landlock");
            return NOT_SANDBOXED;
        }
        Err(error) => {
            eprintln!("fence unavailable: {error}");
            return NOT_SANDBOXED;
        }
    }
    if program.is_empty() {
        eprintln!("nothing to start");
        return NOT_FOUND;
    }
    let error = run(program);
    eprintln!("{}: {error}", program[0].to_string_lossy());
    NOT_FOUND
}

/// Applies the rules; false if the kernel does not enforce them.
fn restrict(spec: &Spec) -> Result<bool, RulesetError> {
    let read = AccessFs::from_read(RIGHTS);
    let all = AccessFs::from_all(RIGHTS);
    let at = |name: &&str| Path::new("/").join(name);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .handle_access(AccessNet::from_all(RIGHTS))?
        .create()?;
    for path in TOP.iter().chain(&SYSTEM).chain(&ASKED).map(at) {
        rules = allow(rules, &path, read)?;
    }
    for path in WRITTEN.iter().map(at) {
        let write = read | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        rules = allow(rules, &path, write)?;
    }
    for path in &spec.reads {
        rules = allow(rules, path, read)?;
    }
    rules = allow(
        rules,
        Path::new(SOCKETS),
        AccessFs::MakeSock | AccessFs::RemoveFile,
    )?;
    for path in std::iter::once(&spec.folder).chain(&spec.writes) {
        rules = allow(rules, path, all)?;
    }
    // This also sets `no_new_privs`, so that executing a program cannot gain privileges.
    let status = rules.restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

/// Allows access to everything below a path, or to the file itself; skips a path that does not
/// exist.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(descriptor) = PathFd::new(path) else {
        return Ok(rules);
    };
    let is_folder = path.is_dir();
    let rights = match is_folder {
        true => rights,
        false => rights & AccessFs::from_file(RIGHTS),
    };
    rules.add_rule(PathBeneath::new(descriptor, rights))
}

/// Probes the fence: tries to read a file outside it. `program` is this program, or one that calls
/// [`serve`] in the same way; `folder` is new and empty, and `secret` is a file outside it.
///
/// # Errors
/// The probe could not be started.
pub fn probe(program: &Path, folder: &Path, secret: &Path) -> io::Result<Finding> {
    let own: PathBuf = folder.join("own");
    fs::write(&own, "own")?;
    let spec = Spec {
        folder: folder.to_owned(),
        ..Spec::default()
    };
    let mut command = Command::new(program);
    command.args(arguments(&spec)).arg("cat").env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.args([&own, secret]).stdin(Stdio::null());
    let output = command.output()?;
    if output.stdout == b"own" {
        return Ok(Finding::Held);
    }
    let report = String::from_utf8_lossy(&output.stderr);
    Ok(Finding::Failed(match report.lines().next() {
        Some(line) => line.to_owned(),
        None => "a file outside can be read".to_owned(),
    }))
}
