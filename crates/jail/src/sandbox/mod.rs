//! A sandbox for an external program: a root of its own with programs, libraries and fonts to read
//! and one folder to write to, a private `/tmp`, a `/proc` with its own processes only, no network,
//! no capabilities and no way to gain any.
//!
//! The owner starts this program again with [`KIND`] and [`Spec::arguments`]. That process and the
//! first process of the new pid namespace stay; the external program is their child. When any of
//! them or the owner exits, the kernel kills every process of the sandbox and removes its mounts.
//! Sources: `user_namespaces(7)`, `pid_namespaces(7)`, `mount_setattr(2)` (Linux 5.12),
//! `pivot_root(2)`.

mod probe;
mod root;
mod serve;

use std::{ffi::OsString, path::PathBuf};

pub use self::{
    probe::{Finding, probe},
    serve::serve,
};
pub(crate) use self::{
    root::{Failure, READ, SYSTEM, TOP, WRITE, at, bind_at},
    serve::{NOT_FOUND, NOT_SANDBOXED, limit, quit, reap_until, run, watch},
};
use crate::MARK;

/// Second argument of a process that runs a program in a sandbox.
pub const KIND: &str = "enclose";

/// User and group id inside the sandbox.
pub const USER: u32 = 65_534;

/// Subfolder of the program's folder that is mounted as `/tmp`.
pub const TMP: &str = "tmp";

/// What a sandboxed program may read, write and use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// The folder that the program may write to; it has the same path inside.
    pub folder: PathBuf,
    /// Other folders that the program may read, such as its installation.
    pub reads: Vec<PathBuf>,
    /// Other folders that the program may write to.
    pub writes: Vec<PathBuf>,
    /// Whether the program creates user namespaces of its own, as browsers do for their sandbox.
    pub nests: bool,
    /// Maximum number of open files.
    pub open_files: u64,
    /// Maximum size of a file that the program writes, in bytes.
    pub file_size_bytes: u64,
}

impl Spec {
    /// Command line before the program to start and its own arguments.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        self.arguments_of(KIND)
    }

    /// The same for a process of another kind.
    pub(crate) fn arguments_of(&self, kind: &str) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec![MARK.into(), kind.into()];
        all.push(std::process::id().to_string().into());
        all.push(self.open_files.to_string().into());
        all.push(self.file_size_bytes.to_string().into());
        all.push(if self.nests { "nests" } else { "plain" }.into());
        all.push(self.folder.clone().into());
        for (name, paths) in [("--read", &self.reads), ("--write", &self.writes)] {
            for path in paths {
                all.extend([name.into(), path.clone().into()]);
            }
        }
        all.push("--".into());
        all
    }

    /// Parses a command line into the owner's pid, the specification, and the program's command
    /// line.
    pub(crate) fn parse(arguments: &[OsString]) -> Option<(i32, Self, &[OsString])> {
        let [owner, files, size, nests, folder, rest @ ..] = arguments else {
            return None;
        };
        let number = |text: &OsString| text.to_str()?.parse::<u64>().ok();
        let mut spec = Self {
            folder: folder.into(),
            nests: nests == "nests",
            open_files: number(files)?,
            file_size_bytes: number(size)?,
            ..Self::default()
        };
        let mut rest = rest;
        loop {
            match rest {
                [end, program @ ..] if end == "--" => {
                    let owner = i32::try_from(number(owner)?).ok()?;
                    return Some((owner, spec, program));
                }
                [name, path, more @ ..] => {
                    match name.to_str()? {
                        "--read" => spec.reads.push(path.into()),
                        "--write" => spec.writes.push(path.into()),
                        _ => return None,
                    }
                    rest = more;
                }
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_come_back() {
        let spec = Spec {
            folder: "/srv/a".into(),
            reads: vec!["/opt/office".into()],
            writes: vec!["/srv/b".into(), "/srv/c".into()],
            nests: true,
            open_files: 7,
            file_size_bytes: 8,
        };
        let mut arguments = spec.arguments();
        arguments.push("sh".into());
        let (owner, read, program) = Spec::parse(&arguments[2..]).unwrap();
        assert_eq!(u32::try_from(owner).unwrap(), std::process::id());
        assert_eq!((read, program), (spec, &["sh".into()][..]));
        assert_eq!(Spec::parse(&arguments[3..]), None);
    }
}
