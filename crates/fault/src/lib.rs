//! The vocabulary of failures: one code for one thing, whoever meets it.
//!
//! A [`Code`] names what happened and carries the facts that tell its cases apart: the stage that
//! timed out, the backend that is missing. Its [`Fault`] says who can do something about it; the
//! HTTP status, the exit code and whether a retry may help follow from that, for the service, flows
//! and the command line alike. [`DIAGNOSTICS`] are the findings about templates, data and flows.
//! `docs/reference/errors.md` is made from these tables.

mod diagnostics;
mod fact;
mod fault;
mod renamed;
mod table;

pub use self::{
    diagnostics::{DIAGNOSTICS, find_diagnostic},
    fact::{Backend, Facts, Resource, Stage, What},
    fault::Fault,
    renamed::RENAMED,
    table::{CODES, Code, Entry},
};
