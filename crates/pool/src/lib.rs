//! Supervised children: outside programs that may hang, leak or die, behind a bounded pool.
//!
//! [`Pool::run`] gives a job a slot of its lane and a child of its own, within a deadline that
//! includes the wait. What a child is, the [`Kind`] says: how it is started ([`Kind::start`], by
//! [`Spawner::spawn`], the one place that starts processes), proved by a round trip
//! ([`Kind::probe`]) and stopped ([`Kind::stop`]). The job says by its [`Verdict`] what its end
//! means for the child:
//!
//! - `Sound`: the child takes the next job.
//! - `Replace`: the child goes; the error is the answer.
//! - `Died`: the child died under the job, which is repeated once on a child started for it. An
//!   input whose jobs' children died twice is refused ([`Error::Poisonous`]) and remembered.
//! - `DiedMidway`: the same when part of the result was delivered; nothing is repeated.
//!
//! The pool itself notices when the process of a child ends, when the deadline passes, when the
//! family of processes holds too much memory, and when the future of the job is dropped; a child
//! interrupted in such a way is salvaged ([`Kind::salvage`]) or replaced. Processes are killed
//! with their whole group and everything else that carries their mark, always reaped, and their
//! folder is removed.
//!
//! ```no_run
//! # use platen_pool::*;
//! # use std::{sync::Arc, time::Duration};
//! struct Cat;
//! struct Connection { input: tokio::process::ChildStdin }
//!
//! impl Kind for Cat {
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
//!         connection.input.write_all(b"work").await.map_err(JobError::died)?;
//!         Ok(42)
//!     })
//! }).await;
//! # Ok(()) }
//! ```

mod admission;
mod config;
mod error;
mod folder;
mod kind;
mod launcher;
mod lease;
mod metrics;
mod poison;
mod pool;
mod process;
mod stock;
mod table;
mod upkeep;

pub use self::{
    admission::Lane,
    config::Config,
    error::{Error, JobError, StartError, Verdict},
    folder::Folder,
    kind::{Kind, Purpose, Spawner, Started, Unsound},
    launcher::{
        Chosen, Demand, Enclosure, Isolation, Launcher, NoWalls, Plain, Unshare, announce_walls,
        choose_launcher, detect_launcher,
    },
    metrics::{BOUNDS_SECONDS, HistogramSnapshot, Reason, Refusal, Snapshot},
    poison::Key,
    pool::{Attempt, JobFuture, Pool, Request},
    process::{Command, Handle, Limits, Member, Pipes, Process},
};
