//! A fresh sandbox for every job at the price of a fork.
//!
//! A *zygote* is this program started again: single-threaded, in user, pid, network, mount, ipc and
//! uts namespaces of its own, with an empty read-only root and no capabilities. For every job it
//! forks a *cell*, which adds landlock, resource limits, a timer of processor time and a seccomp
//! allow-list, runs one job and ends. Cells are forked and warmed ahead of need.
//!
//! How much of that a host allows is found out by attempting it: see [`Level`] and
//! [`takeover`]. Sources: `namespaces(7)`, `landlock(7)`, `seccomp(2)`, `pidfd_open(2)`.

mod cell;
mod cgroup;
mod confine;
mod control;
pub mod enclosure;
mod error;
pub mod fence;
mod filter;
mod frame;
mod jail;
mod map;
mod memory;
mod server;
pub mod takeover;
mod zygote;

pub use self::{
    cell::{Cell, Ending, Killer, Sender},
    error::Error,
    frame::Channel,
    jail::{Jail, Options, Snapshot},
    map::map_file,
    memory::{
        Allocator, forget_peak, held_by_thread, peak_of_process, peak_of_thread, return_free_memory,
    },
    zygote::{MARK, Worker, serve},
};

/// How well cells are shut in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A process of its own with limits, nothing more: for development only.
    ProcessOnly,
    /// Seccomp and limits, and landlock where the kernel has it, but no namespaces: the host forbids
    /// them.
    NoNamespaces,
    /// Namespaces and an empty root besides.
    Full,
}

impl Level {
    /// The name that configuration and reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ProcessOnly => "process-only",
            Self::NoNamespaces => "no-namespaces",
            Self::Full => "full",
        }
    }

    /// The level of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::ProcessOnly, Self::NoNamespaces, Self::Full]
            .into_iter()
            .find(|level| level.name() == name)
    }
}

/// What one job may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processor time; the kernel kills the cell behind it.
    pub cpu_ms: u32,
    /// Memory that the job may add to what the zygote has.
    pub memory_bytes: u64,
    /// The longest message in either direction.
    pub message_bytes: u32,
    /// All messages of the cell together.
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cpu_ms: 5_000,
            memory_bytes: 256 << 20,
            message_bytes: 8 << 20,
            output_bytes: 32 << 20,
        }
    }
}
