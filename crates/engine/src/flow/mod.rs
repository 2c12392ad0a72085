//! Runs flows: the state machine of `platen-flow` says what is next, this does it.

mod file;
mod journal;
mod load;
mod piece;
mod run;
mod task;

pub use platen_flow::{
    CompiledFlow, Entry, Finish, Machine, StepError, model, schema as flow_schema,
};
pub use platen_script::{Cancellation, LogLine};

pub use self::{
    journal::{Journal, NoJournal, Progress, Record, Report, StepReport, Stop},
    load::{LoadedFlow, load_flow},
    run::{FlowRunner, RunOptions},
    task::{Memory, Services, Surroundings, Templates},
};
