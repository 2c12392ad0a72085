//! An outside program behind walls: a root of its own with programs, libraries and fonts to read and
//! one folder to write, a private `/tmp`, `/proc` of its own processes only, no network, no
//! capabilities and no way to get any.
//!
//! The owner starts this program again as [`KIND`] with [`Spec::arguments`]; that process and the
//! first process of the new pid namespace stay, the program itself is their child. When either ends,
//! or the owner does, the kernel ends all that the program has started, and the mounts with it.
//! Sources: `user_namespaces(7)`, `pid_namespaces(7)`, `mount_setattr(2)` (Linux 5.12),
//! `pivot_root(2)`.

mod attempt;
mod root;
mod serve;

use std::{ffi::OsString, path::PathBuf};

pub use self::{
    attempt::{Finding, attempt},
    serve::serve,
};
pub(crate) use self::{
    root::{SYSTEM, TOP},
    serve::{NOT_ENCLOSED, NOT_FOUND, run},
};
use crate::MARK;

/// Second argument of a process that puts a program behind walls.
pub const KIND: &str = "enclose";

/// User and group inside.
pub const USER: u32 = 65_534;

/// The folder within the child's own that is `/tmp` inside.
pub const TMP: &str = "tmp";

/// What a program sees and may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// The folder that it may write to; it has the same path inside.
    pub folder: PathBuf,
    /// Others that it may read beside those of the system, such as where it is installed.
    pub reads: Vec<PathBuf>,
    /// Others that it may write to.
    pub writes: Vec<PathBuf>,
    /// It makes user namespaces of its own, as browsers do for theirs.
    pub nests: bool,
    /// Open files.
    pub open_files: u64,
    /// Size of a file that it writes. Bytes.
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
