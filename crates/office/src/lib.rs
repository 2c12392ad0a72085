//! Converts Office documents with a pool of LibreOffice processes.
//!
//! [`Office::convert`] takes a [`Job`]. The input's format is detected by its content; input that
//! is not a document, or would unpack to too much, never reaches LibreOffice. Every process has a
//! profile of its own, copied from a prepared one, and its own folder and pipe; where the machine
//! allows it, it has no network. Macros do not run and links are not loaded.

mod changes;
mod config;
mod crash_report;
mod detect;
mod deterministic;
mod error;
mod export_filter;
mod filter_data;
mod format;
mod job;
mod job_folder;
mod markup;
mod office;
mod ole;
mod options;
mod outcome;
mod package;
mod plain;
mod profile;
mod program;
mod remote;
mod socket;
mod soffice;
mod staged_input;
mod starter;
mod task;
mod zip_directory;

pub use platen_pool::{
    Chosen, ContainerSettings, Demand, Image, Isolation, Lane, Launcher, Mode, Origin, Plain,
    SandboxUnavailable, Snapshot, StartError, announce_sandbox_program, choose_origin,
    detect_launcher, is_address,
};
pub use platen_urp::Phases;

pub use self::{
    config::Config,
    crash_report::CrashReport,
    detect::{Detected, detect},
    error::Error,
    export_filter::{ExportFilter, ExportFilters},
    format::{Family, Format, Target},
    job::{Document, Job, Source, Times},
    office::{Office, Status},
    options::{Io, OPTIONS, Options, Shape, Spec},
    profile::profile_settings,
    program::{INSTALL_HINT, Installation, find_libreoffice, find_libreoffice_in},
    remote::try_remote,
    starter::Starter,
};
