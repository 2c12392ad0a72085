//! The load harness: one way to measure for every pack, ours and those of others.
//!
//! It knows products by their address and by the programs that start them, so a rival runs through
//! the same code. A pack measures [`Cell`]s, which are written with their requests into a folder of
//! results; tables, plots, `docs/benchmarks.md` and the page of the service are made from there.

pub mod cell;
pub mod client;
pub mod cpu;

pub mod environment;
mod error;
pub mod flow;
pub mod gaps;
pub mod histogram;
pub mod http;
pub mod load;
pub mod markdown;
pub mod office;
pub mod page;
pub mod plot;
pub mod program;
pub mod render;
pub mod report;
pub mod results;
pub mod rounds;

pub use crate::{
    cell::{Cell, Round},
    error::Error,
    histogram::Times,
    load::{Outcome, Sample},
    results::{Recorder, Results},
};

/// Tells what is measured now.
pub type Progress<'a> = &'a (dyn Fn(&str) + Sync);
