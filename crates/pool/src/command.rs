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
    installed: Vec<PathBuf>,
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
            installed: Vec::new(),
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

    /// The same for a folder of the program's installation, which an image has itself.
    #[must_use]
    pub fn installed(mut self, path: impl Into<PathBuf>) -> Self {
        self.installed.push(path.into());
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
        let mut spec = self.container_spec(folder);
        let installed = self.installed.iter().filter(|path| path.exists());
        spec.reads.extend(installed.cloned());
        spec
    }

    /// What it reads and writes besides an image, and its limits.
    pub(crate) fn container_spec(&self, folder: &Path) -> Spec {
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

    /// Replaces program and arguments by those of a process that gives them, and the environment that
    /// was set, to the program in another way.
    pub(crate) fn through(
        mut self,
        program: impl Into<OsString>,
        arguments: impl FnOnce(&Self) -> Vec<OsString>,
    ) -> Self {
        self.arguments = arguments(&self);
        self.program = program.into();
        self.environment.clear();
        self
    }

    /// The program's name and arguments.
    pub(crate) fn line(&self) -> impl Iterator<Item = &OsStr> {
        let arguments = self.arguments.iter().map(OsString::as_os_str);
        std::iter::once(self.program()).chain(arguments)
    }

    /// Which descriptors are pipes.
    pub(crate) fn piped(&self) -> Pipes {
        self.pipes
    }

    /// The whole environment of a child in `folder`.
    pub(crate) fn environment(&self, folder: &Path) -> Vec<(OsString, OsString)> {
        let inherited = INHERITED
            .into_iter()
            .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
        // Without a locale, LibreOffice opens no file whose name is not ASCII.
        let mut locales = ["LANG", "LC_ALL", "LC_CTYPE"].into_iter();
        let has_locale = locales.any(|name| std::env::var_os(name).is_some());
        let locale = (!has_locale).then(|| ("LC_CTYPE".into(), "C.UTF-8".into()));
        let own = ["HOME", "TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR"];
        let own = own.into_iter().chain([table::MARK]);
        inherited
            .chain(locale)
            .chain(own.map(|name| (name.into(), folder.into())))
            .chain(self.environment.iter().cloned())
            .collect()
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
        let path = folder.path();
        built.args(&command.arguments).env_clear();
        built.envs(command.environment(path));
        built.current_dir(path).process_group(0).kill_on_drop(true);
        let piped = command.pipes != Pipes::None;
        let pipe = || if piped { Stdio::piped() } else { Stdio::null() };
        built.stdin(pipe()).stdout(pipe()).stderr(Stdio::piped());
        built
    }
}
