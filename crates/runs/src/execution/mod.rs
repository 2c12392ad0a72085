//! Executes the steps of a run: the state machine of `platen-flow` decides what comes next, this does
//! it. The scheduler beside it decides when and where, and stores the journal.

mod action;
mod attempt;
mod builtin_actions;
mod capacity;
mod csv_actions;
mod custom_actions;
mod document;
mod file;
mod journal;
mod limit;
mod linked_assets;
mod load;
mod mail;
mod pdf_steps;
mod print;
mod request;
mod run;
mod schedule;
mod step_error;
mod task;
#[cfg(test)]
mod tests;
mod tools;

pub(crate) use self::{
    capacity::weight,
    request::{body_of, headers_of},
};
pub use self::{
    custom_actions::{
        FolderPieces, Link, LinkedPieces, MAX_ARCHIVE_BYTES, Manifest, PIECE_ARCHIVES_PATH, Piece,
        PieceError, Pieces, pack,
    },
    file::File,
    journal::{Journal, NoJournal, Progress, Record, Report, StepReport, Stop},
    limit::Limit,
    linked_assets::LinkedAssets,
    load::{LoadedFlow, load_flow, load_flow_with},
    mail::{Mail, Smtp},
    print::{ChromiumPrint, Print},
    run::{FlowRunner, RunOptions},
    schedule::Schedule,
    task::{Memory, Services, StepHost, Templates},
    tools::{Convert, OfficeConvert, Replay, Tools},
};
