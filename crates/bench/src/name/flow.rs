//! Names of cells of the flow pack.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What runs the flow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Runner {
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
    pub(crate) const WITH_WORKERS: [Self; 6] = [
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

    /// Whether it is a service without workers.
    pub(crate) fn is_service(&self) -> bool {
        matches!(self, Self::Service | Self::Address(_))
    }

    /// Name in plots, which omit workers.
    pub(crate) fn short_name(&self) -> Option<&str> {
        match self {
            Self::OneProcess => Some("one process"),
            Self::Service => Some("service"),
            Self::Node => Some("Node"),
            Self::Address(address) => Some(address),
            Self::Workers { .. } => None,
        }
    }
}

/// Text of tables.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Sandbox {
    /// In a fresh sandbox.
    Fresh,
    /// In a sandbox that has executed earlier runs.
    Reused,
}

impl Sandbox {
    /// Text of tables.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Reused => "reused",
        }
    }
}

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// All of it.
    Whole,
    /// The start of its sandbox.
    Sandbox,
}

impl Part {
    /// Text of tables.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Sandbox => "start of the sandbox",
        }
    }
}

/// Services and workers of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ratio {
    /// Number of services behind nginx.
    pub services: usize,
    /// Number of workers, each of eight slots.
    pub workers: usize,
}

impl Ratio {
    /// The measured fleets.
    pub(crate) const ALL: [Self; 4] = [
        Self::of(1, 1),
        Self::of(1, 2),
        Self::of(2, 2),
        Self::of(2, 4),
    ];

    const fn of(services: usize, workers: usize) -> Self {
        Self { services, workers }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} / {}", self.services, self.workers)
    }
}

/// The age of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Age {
    /// Its first runs after its start with empty data.
    Cold,
    /// Those that follow.
    Warm,
}

impl Age {
    /// Text of tables.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
        }
    }
}

/// The name of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    tag = "section",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum FlowName {
    /// A configuration at a number of concurrent runs.
    Matrix {
        /// What runs the flow.
        runner: Runner,
        /// Where its code executes.
        sandbox: Sandbox,
        /// Whether the run is on disk before it starts.
        is_durable: bool,
    },
    /// A step of runs, one at a time.
    Step {
        /// Path of the step.
        step: String,
        /// What of it.
        part: Part,
    },
    /// A fleet behind nginx, with PostgreSQL, Redis and an S3 server.
    Fleet {
        /// Its services and workers.
        ratio: Ratio,
        /// When it ran.
        age: Age,
    },
}

impl fmt::Display for FlowName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Matrix {
                runner, sandbox, ..
            } => write!(formatter, "matrix/{runner}, {} sandbox", sandbox.as_str()),
            Self::Step { step, part } => write!(formatter, "steps/{step}, {}", part.as_str()),
            Self::Fleet { ratio, age } => write!(formatter, "fleet/{ratio}, {}", age.as_str()),
        }
    }
}
