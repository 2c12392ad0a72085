//! Runs flows: the state machine of `platen-flow` says what is next, this does it.

mod file;
mod piece;
mod run;
mod task;

pub use platen_flow::{
    CompiledFlow, Entry, Finish, StepError, compile as compile_flow, parse_flow,
    schema as flow_schema,
};

pub use self::{
    run::{FlowRunner, Journal, NoJournal, Report, RunOptions, StepReport},
    task::{Memory, Services, Store, Templates},
};
