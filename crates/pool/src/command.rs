//! What a child is started as: a program with its arguments, environment, pipes and limits.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Stdio,
};

use platen_jail::sandbox::Spec;
use tokio::process::Command as TokioCommand;

use crate::{folder::Folder, table};

/// Environment variables of this process that a child inherits.
const INHERITED: [&str; 6] = ["PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"];

/// Which descriptors of the child are pipes to this process. Standard error always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pipes {
    /// None.
    #[default]
    None,
    /// Standard input and output.
    Standard,
    /// The child reads descriptor 3 and writes descriptor 4, as with Chromium's
    /// `--remote-debugging-pipe`.
    ThreeAndFour,
}

/// Resource limits of one process; see setrlimit(2).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open files (`RLIMIT_NOFILE`).
    pub open_files: u64,
    /// Size of any file it writes, in bytes (`RLIMIT_FSIZE`).
    pub file_size_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            open_files: 4096,
            file_size_bytes: 4 << 30,
        }
    }
}

/// A program with its arguments, environment and sandbox requirements.
#[derive(Clone, Debug)]
pub struct Command {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    pipes: Pipes,
    /// The limits that the process gets once it runs.
    pub(crate) limits: Limits,
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    nests: bool,
}

impl Command {
    /// A program without arguments.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            pipes: Pipes::None,
            limits: Limits::default(),
            reads: Vec::new(),
            writes: Vec::new(),
            nests: false,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable. All others except a few (`PATH`, locale, time zone) are
    /// cleared.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Sets the pipes.
    #[must_use]
    pub fn pipes(mut self, pipes: Pipes) -> Self {
        self.pipes = pipes;
        self
    }

    /// Sets the resource limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Lets a sandbox expose one more file or folder for reading, besides those of the system.
    #[must_use]
    pub fn reads(mut self, path: impl Into<PathBuf>) -> Self {
        self.reads.push(path.into());
        self
    }

    /// Lets a sandbox expose one more folder for writing, besides the child's own.
    #[must_use]
    pub fn writes(mut self, path: impl Into<PathBuf>) -> Self {
        self.writes.push(path.into());
        self
    }

    /// Lets the program create namespaces of its own, as browsers do to sandbox pages.
    #[must_use]
    pub fn nests(mut self) -> Self {
        self.nests = true;
        self
    }

    /// The sandbox specification of this command.
    pub(crate) fn sandbox_spec(&self, folder: &Path) -> Spec {
        // A sandbox cannot mount a path that does not exist.
        let reads = self.reads.iter().filter(|path| path.exists());
        Spec {
            folder: folder.to_owned(),
            reads: reads.cloned().collect(),
            writes: self
                .writes
                .iter()
                .filter(|path| !path.starts_with(folder))
                .cloned()
                .collect(),
            nests: self.nests,
            open_files: self.limits.open_files,
            file_size_bytes: self.limits.file_size_bytes,
        }
    }

    /// Runs the command through another program: its name and arguments become the last arguments
    /// of `program`.
    #[must_use]
    pub fn behind<A: Into<OsString>>(
        mut self,
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut all: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        all.push(std::mem::replace(&mut self.program, program.into()));
        all.append(&mut self.arguments);
        self.arguments = all;
        self
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// The command with the environment, folder and pipes of a child in `folder`.
    pub(crate) fn prepare(self, folder: &Folder) -> TokioCommand {
        let command = if self.pipes == Pipes::ThreeAndFour {
            // `Stdio` covers only descriptors 0 to 2; the shell moves them and execs the program.
            let script = "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null";
            self.behind("sh", ["-c", script, "sh"])
        } else {
            self
        };
        let mut built = TokioCommand::new(&command.program);
        built.args(&command.arguments).env_clear();
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                built.env(name, value);
            }
        }
        let path = folder.path();
        for name in ["HOME", "TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR"] {
            built.env(name, path);
        }
        built.env(table::MARK, path);
        built.envs(command.environment);
        built.current_dir(path).process_group(0).kill_on_drop(true);
        let piped = command.pipes != Pipes::None;
        let pipe = || if piped { Stdio::piped() } else { Stdio::null() };
        built.stdin(pipe()).stdout(pipe()).stderr(Stdio::piped());
        built
    }
}
