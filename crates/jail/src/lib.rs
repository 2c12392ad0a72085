//! A fresh sandbox for every job at the cost of a fork.
//!
//! A *zygote* is this program, started again: single-threaded, in its own user, pid, network,
//! mount, ipc and uts namespaces, with an empty read-only root and without capabilities. For every
//! job it forks a *cell*, which adds Landlock, resource limits, a CPU timer and a seccomp
//! allow-list, runs one job and exits. Cells are forked and warmed ahead of need.
//!
//! Probes determine what a host allows: see [`Level`] and [`escape_probes`]. [`sandbox`],
//! [`container`] and [`fence`] confine external programs. Sources: `namespaces(7)`, `landlock(7)`, `seccomp(2)`,
//! `pidfd_open(2)`.

mod cell;
mod cgroup;
mod confine;
pub mod container;
mod control;
mod error;
pub mod escape_probes;
pub mod fence;
mod filter;
mod frame;
mod huge_code;
mod jail;
mod map;
mod memory;
mod nursery;
mod pages;
mod rehearsal;
pub mod sandbox;
mod server;
mod zygote;

pub use self::{
    cell::{Cell, Ending, Killer, Sender},
    cgroup::{
        Refusal, confine as confine_whole, make_room_for_containers, remove_groups_of_container,
    },
    error::Error,
    frame::Channel,
    jail::{Jail, Options, Snapshot},
    map::{Mapped, map_file},
    memory::{
        Allocator, forget_peak, held_by_thread, peak_of_process, peak_of_thread, return_free_memory,
    },
    zygote::{MARK, Worker, serve},
};

/// Isolation level of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A separate process with resource limits only; for development.
    ProcessOnly,
    /// Seccomp, resource limits, and Landlock if the kernel has it, but no namespaces, because the
    /// host forbids them.
    NoNamespaces,
    /// Namespaces and an empty root as well.
    Full,
}

impl Level {
    /// Name in configuration and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ProcessOnly => "process-only",
            Self::NoNamespaces => "no-namespaces",
            Self::Full => "full",
        }
    }

    /// The level with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::ProcessOnly, Self::NoNamespaces, Self::Full]
            .into_iter()
            .find(|level| level.name() == name)
    }
}

/// Resource limits of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// CPU time in milliseconds; the kernel kills a cell that exceeds it.
    pub cpu_ms: u32,
    /// Memory of the job beyond that of the zygote, in bytes.
    pub memory_bytes: u64,
    /// Maximum length of a message in either direction, in bytes.
    pub message_bytes: u32,
    /// Maximum size of all messages of a cell together, in bytes.
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
