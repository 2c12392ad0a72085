//! Runs flows: the state machine of `platen-flow` says what is next, this does it.

mod file;
mod load;
mod piece;
mod run;
mod task;

pub use platen_flow::{CompiledFlow, Entry, Finish, StepError, schema as flow_schema};

pub use self::{
    load::load_flow,
    run::{FlowRunner, Journal, NoJournal, Report, RunOptions, StepReport},
    task::{Memory, Services, Store, Templates},
};
