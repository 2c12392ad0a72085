//! Supervised child processes: programs that may hang, leak or crash, behind a bounded pool.
//!
//! [`Pool::run`] gives a job a slot of its lane and a child of its own. The job's deadline includes
//! the wait for both. A [`Driver`] defines the child: how it is started ([`Driver::start`], through
//! [`Spawner::spawn`], the only place that starts processes), health-checked by a round trip
//! ([`Driver::probe`]) and stopped ([`Driver::stop`]). The job's [`Verdict`] decides what happens
//! to the child:
//!
//! - `Sound`: the child takes the next job.
//! - `Replace`: the child is replaced; the error is the result.
//! - `Crashed`: the child crashed; the job is retried once on a child started for it. An input that
//!   crashed two children is refused ([`Error::Poisonous`]) and remembered.
//! - `CrashedMidway`: the same after part of the result was delivered; there is no retry.
//!
//! The pool itself detects that a child's process exits, that the deadline passes, that the process
//! tree exceeds its memory limit, and that the future of the job is dropped. A child interrupted in
//! one of these ways is salvaged ([`Driver::salvage`]) or replaced. A process is killed together
//! with its process group and everything else that carries its mark, is always reaped, and its
//! folder is removed.
//!
//! ```no_run
//! # use platen_pool::*;
//! # use std::{sync::Arc, time::Duration};
//! struct Cat;
//! struct Connection { input: tokio::process::ChildStdin }
//!
//! impl Driver for Cat {
//!     type Child = Connection;
//!     fn name(&self) -> &'static str { "cat" }
//!     async fn start(&self, spawner: &Spawner, _: Purpose) -> Result<Started<Connection>, StartError> {
//!         let folder = spawner.folder()?;
//!         let mut process = spawner.spawn(Command::new("cat").pipes(Pipes::Standard), folder)?;
//!         match process.input.take() {
//!             Some(input) => Ok(Started { child: Connection { input }, process: Some(process) }),
//!             None => Err(process.handle().ended_early().await),
//!         }
//!     }
//!     async fn probe(&self, _: &mut Connection) -> Result<(), Unsound> { Ok(()) }
//!     async fn stop(&self, _: Connection) {}
//! }
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Pool::new(Cat, Config::default(), detect_launcher().await, std::env::temp_dir())?;
//! let request = Request { lane: Lane::Batch, timeout: Duration::from_secs(30), key: None };
//! let answer: Result<u32, Error<std::io::Error>> = pool.run(request, |connection, _| {
//!     Box::pin(async move {
//!         use tokio::io::AsyncWriteExt;
//!         connection.input.write_all(b"work").await.map_err(JobError::crashed)?;
//!         Ok(42)
//!     })
//! }).await;
//! # Ok(()) }
//! ```

mod admission;
mod command;
mod config;
mod container;
mod controller;
mod driver;
mod error;
mod folder;
mod image;
mod launcher;
mod lease;
mod maintenance;
mod metrics;
mod origin;
mod poison;
mod pool;
mod process;
mod process_set;
mod table;

pub use self::{
    admission::Lane,
    command::{Command, Limits, Pipes},
    config::Config,
    container::{ContainerSettings, Containers},
    controller::{Bounds, Controller, Greeting, NoController, Program, Programs, Server, Shut},
    driver::{Driver, Purpose, Spawner, Started, Unsound},
    error::{Error, JobError, StartError, Verdict},
    folder::Folder,
    image::Image,
    launcher::{
        Demand, Isolation, Launcher, Plain, Sandbox, SandboxUnavailable, Unshare,
        announce_sandbox_program, detect_launcher,
    },
    metrics::{BOUNDS_SECONDS, HistogramSnapshot, Reason, Refusal, Snapshot},
    origin::{Chosen, Mode, Origin, choose_origin, is_address},
    poison::Key,
    pool::{Attempt, JobFuture, Pool, Request},
    process::{Handle, Process},
    table::Member,
};
