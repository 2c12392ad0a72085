//! Flows: what their author writes ([`model`]), what is checked before they run ([`compile`]), and
//! what happens next in a run ([`Machine`]).
//!
//! This crate is pure: it runs nothing and knows no clock. A run is a journal of [`Entry`]s; the
//! same journal always gives the same next step.

mod compile;
mod machine;
pub mod model;
mod needs;
mod parse;
mod walk;

pub use self::{
    compile::{CompiledFlow, compile},
    machine::{Command, Entry, Finish, Machine, Next, StepError, Task},
    parse::{MAX_FLOW_BYTES, parse_flow, schema},
};
