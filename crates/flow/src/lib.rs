//! Flows: the format that authors write ([`model`]), its checks ([`compile`]), and the state
//! machine that decides what happens next in a run ([`Machine`]).
//!
//! This crate is pure: it executes nothing and has no clock. A run is a journal of [`Entry`]s; the
//! same journal always yields the same next step.

mod compile;
mod machine;
pub mod model;
mod needs;
mod parse;
mod single_step;
mod walk;

pub use self::{
    compile::{CompiledFlow, compile},
    machine::{Command, Entry, Finish, Machine, Next, StepError, StepFacts, Task},
    parse::{MAX_FLOW_BYTES, parse_flow, schema},
};
