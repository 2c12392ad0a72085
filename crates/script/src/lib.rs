//! Code steps: `export default async (input, ctx) => …` in JavaScript or TypeScript, executed by
//! QuickJS in a fresh sandboxed process for each run.
//!
//! [`Preparer`] checks a source once, when it is saved, and strips the types of TypeScript.
//! [`Runner`] runs it; [`ScriptWorker`] is its counterpart inside the cell.

mod bytecode;
mod cancellation;
mod cell;
mod error;
mod job;
mod nesting;
mod open_calls;
mod prepare;
mod preparer;
mod run;
mod session;
mod surrogates;

pub use self::{
    cancellation::Cancellation,
    cell::{KIND, ScriptWorker},
    error::{Error, Location, Thrown},
    prepare::{CODE_TOO_DEEP, Finding, Language, MAX_SOURCE_BYTES, Prepared, prepare},
    preparer::{Preparer, RunnerSource},
    run::{Call, Host, LogLine, NoHost, Outcome, Runner, ScriptLimits, Settings, Timings},
    session::Session,
};
