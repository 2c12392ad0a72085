//! Runs flows: the state machine of `platen-flow` says what is next, this does it.

mod action;
mod document;
mod file;
mod journal;
mod limit;
mod load;
mod mail;
mod pdf_steps;
mod piece;
mod pieces;
mod print;
mod request;
mod run;
mod schedule;
mod task;
#[cfg(test)]
mod tests;
mod tools;

pub use platen_flow::{
    Command as StepCommand, CompiledFlow, Entry, Finish, Machine, StepError, model,
    schema as flow_schema,
};
pub use platen_script::{Cancellation, LogLine};

pub use self::{
    file::File,
    journal::{Journal, NoJournal, Progress, Record, Report, StepReport, Stop},
    limit::Limit,
    load::{LoadedFlow, load_flow, load_flow_with},
    mail::{Mail, Smtp},
    pieces::{
        FolderPieces, Link, LinkedPieces, MAX_ARCHIVE_BYTES, Manifest,
        PIECE_ARCHIVES_PATH, Piece, PieceError, Pieces, pack,
    },
    print::{ChromiumPrint, Print, PrintedPage},
    run::{FlowRunner, RunOptions},
    schedule::Schedule,
    task::{Memory, Services, StepHost, Templates},
    tools::{Convert, OfficeConvert, Tools},
};
