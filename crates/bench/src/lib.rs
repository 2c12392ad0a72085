//! The load harness: one method of measuring for Platen and its competitors.
//!
//! It knows products by their URL and by the programs that start them, so competitors run through
//! the same code. A pack measures [`Cell`]s and writes them, with their requests, to a results
//! folder; tables, plots, `docs/benchmarks.md` and the service's page are generated from it.

pub mod cell;
pub mod client;
pub mod compare;
pub mod coverage;
pub mod cpu;
mod cpu_group;
pub mod effort;
pub mod environment;
mod error;
pub mod figures;
pub mod flow;
pub mod gaps;
mod gotenberg;
pub mod histogram;
pub mod history;
pub mod http;
pub mod interval;
pub mod load;
pub mod markdown;
pub mod name;
pub mod office;
pub mod packs;
pub mod page;
pub mod plot;
pub mod program;
pub mod publication;
pub mod recorder;
pub mod render;
pub mod report;
pub mod results;
mod results_writer;
pub mod rounds;
mod sizing;
pub mod target;
pub mod text;

pub use crate::{
    cell::{Cell, LoadMode, Round},
    effort::Effort,
    error::Error,
    histogram::Times,
    load::{Outcome, Sample},
    name::Name,
    recorder::Recorder,
    results::Results,
};

/// Called with a description of what is measured next.
pub type Progress<'a> = &'a (dyn Fn(&str) + Sync);
