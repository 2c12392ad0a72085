//! The runners of the flow. Cells of results get their names here and are found by them here, never
//! by a part of their text.

use std::fmt;

use crate::{Cell, Results};

/// What runs the flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// This process, without storage.
    OneProcess,
    /// A service that executes the runs itself.
    Service,
    /// A service whose runs are executed by workers.
    Workers {
        /// Number of workers.
        workers: usize,
        /// Slots of each worker.
        slots: usize,
    },
    /// The Node server.
    Node,
    /// A service that was already running.
    Address(String),
}

impl Runner {
    /// The measured combinations of workers and slots: one worker with several slots, and several
    /// with one.
    pub(super) const WITH_WORKERS: [Self; 6] = [
        Self::with(1, 1),
        Self::with(1, 2),
        Self::with(1, 4),
        Self::with(1, 8),
        Self::with(2, 1),
        Self::with(4, 1),
    ];

    const fn with(workers: usize, slots: usize) -> Self {
        Self::Workers { workers, slots }
    }

    /// The runner of a cell.
    pub(super) fn of(cell: &Cell) -> Self {
        let fixed = [Self::OneProcess, Self::Service, Self::Node];
        let mut known = fixed.into_iter().chain(Self::WITH_WORKERS);
        known
            .find(|runner| runner.to_string() == cell.name)
            .unwrap_or_else(|| Self::Address(cell.name.clone()))
    }

    /// Whether it is a service without workers.
    pub(super) fn is_service(&self) -> bool {
        matches!(self, Self::Service | Self::Address(_))
    }

    /// Name in plots, which omit workers.
    pub(super) fn short_name(&self) -> Option<&str> {
        match self {
            Self::OneProcess => Some("one process"),
            Self::Service => Some("service"),
            Self::Node => Some("Node"),
            Self::Address(address) => Some(address),
            Self::Workers { .. } => None,
        }
    }
}

/// Name in results and tables.
impl fmt::Display for Runner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneProcess => formatter.write_str("one process"),
            Self::Service => formatter.write_str("service, four slots a core"),
            Self::Workers { workers: 1, slots } => {
                let plural = if *slots == 1 { "" } else { "s" };
                write!(formatter, "service and a worker of {slots} slot{plural}")
            }
            Self::Workers { workers, slots } => {
                let plural = if *slots == 1 { "" } else { "s" };
                write!(
                    formatter,
                    "service and {workers} workers of {slots} slot{plural}"
                )
            }
            Self::Node => formatter.write_str("Node fork and isolated-vm"),
            Self::Address(address) => formatter.write_str(address),
        }
    }
}

/// Where the code of a run executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// In a fresh sandbox.
    Fresh,
    /// In a sandbox that has executed earlier runs.
    Reused,
}

impl Sandbox {
    /// Name in results and tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Reused => "reused",
        }
    }
}

/// The valid cell of a runner.
pub(super) fn find(
    results: &Results,
    is_wanted: impl Fn(&Runner) -> bool,
    sandbox: Sandbox,
    concurrency: usize,
) -> Option<&Cell> {
    results.section("matrix").find(|cell| {
        is_wanted(&Runner::of(cell))
            && cell.of("sandbox") == sandbox.name()
            && cell.concurrency == concurrency
            && !cell.is_void()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Load;

    #[test]
    fn cells_are_found_by_the_names_that_they_are_given() {
        let fixed = [Runner::OneProcess, Runner::Service, Runner::Node];
        let all = fixed.into_iter().chain(Runner::WITH_WORKERS);
        for runner in all.chain([Runner::Address("http://127.0.0.1:3000".to_owned())]) {
            let cell = Cell::new("matrix", &runner.to_string(), &Load::closed(1, 0, 1));
            assert_eq!(Runner::of(&cell), runner);
        }
    }
}
