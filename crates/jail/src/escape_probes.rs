//! Escape probes: what a compromised program would try. Each probe runs in a cell of its own; the
//! sandbox holds if the kernel kills that cell.

/// A probe that tries to escape from the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeProbe {
    /// Opening a file.
    Open,
    /// Opening a socket.
    Socket,
    /// Forking.
    Fork,
    /// Signalling another process.
    Kill,
    /// Tracing another process.
    Ptrace,
    /// Running another program.
    Execve,
    /// Making memory executable.
    ExecutableMemory,
    /// io_uring, whose operations seccomp does not see.
    IoUring,
}

impl EscapeProbe {
    /// All probes.
    pub const ALL: [Self; 8] = [
        Self::Open,
        Self::Socket,
        Self::Fork,
        Self::Kill,
        Self::Ptrace,
        Self::Execve,
        Self::ExecutableMemory,
        Self::IoUring,
    ];

    /// Name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Socket => "socket",
            Self::Fork => "fork",
            Self::Kill => "kill",
            Self::Ptrace => "ptrace",
            Self::Execve => "execve",
            Self::ExecutableMemory => "exec-mmap",
            Self::IoUring => "io_uring",
        }
    }

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|probe| probe.code() == code)
    }

    /// Runs the probe with raw system calls. Returns only if the kernel does not kill the process.
    pub(crate) fn run(self) {
        let path = c"/etc/passwd".as_ptr();
        // SAFETY: the arguments are constants, or null where the call accepts null; nothing that
        // the calls could change is used afterwards.
        unsafe {
            match self {
                Self::Open => libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, 0),
                Self::Socket => {
                    libc::syscall(libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0)
                }
                Self::Fork => {
                    let child = libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0);
                    if child == 0 {
                        libc::syscall(libc::SYS_exit_group, 0);
                    }
                    child
                }
                Self::Kill => libc::syscall(libc::SYS_kill, 1, 0),
                Self::Ptrace => libc::syscall(libc::SYS_ptrace, libc::PTRACE_TRACEME, 0, 0, 0),
                Self::Execve => libc::syscall(libc::SYS_execve, c"/bin/true".as_ptr(), 0, 0),
                Self::ExecutableMemory => libc::syscall(
                    libc::SYS_mmap,
                    0,
                    4096,
                    libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                ),
                Self::IoUring => libc::syscall(libc::SYS_io_uring_setup, 1, 0),
            };
        }
    }
}
