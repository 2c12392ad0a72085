//! A sandbox for an external program: a root of its own with programs, libraries and fonts to read
//! and one folder to write, a private `/tmp`, `/proc` with its own processes only, no network, no
//! capabilities and no way to gain any.
//!
//! The owner starts this program again as [`KIND`] with [`Spec::arguments`]. That process and the
//! first process of the new pid namespace stay; the program itself is their child. When any of them
//! or the owner exits, the kernel kills every process of the sandbox and removes its mounts.
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
    root::{SYSTEM, TOP},
    serve::{NOT_FOUND, NOT_SANDBOXED, run},
};
use crate::MARK;

/// Second argument of a process that sandboxes a program.
pub const KIND: &str = "enclose";

/// User and group id inside the sandbox.
pub const USER: u32 = 65_534;

/// The part of the child's folder that is `/tmp` inside.
pub const TMP: &str = "tmp";

/// What a sandboxed program may read, write and use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// The folder that it may write to; it has the same path inside.
    pub folder: PathBuf,
    /// Further folders that it may read, such as where it is installed.
    pub reads: Vec<PathBuf>,
    /// Further folders that it may write to.
    pub writes: Vec<PathBuf>,
    /// It creates user namespaces of its own, as browsers do for their sandbox.
    pub nests: bool,
    /// Limit on open files.
    pub open_files: u64,
    /// Limit on the size of a file that it writes, in bytes.
    pub file_size_bytes: u64,
}

impl Spec {
    /// Arguments of this program before those of the program to start and its own.
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

    /// The owner, the specification, and the rest.
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
