//! Commands that need Chromium, LibreOffice, sandboxes, flows or the HTTP service.

mod backup;
mod bench;
mod bench_page;
mod chromium;
mod configuration;
mod controller;
mod convert;
mod doctor;
pub mod documents;
mod flow;
mod invoice;
mod isolation;
mod merge;
mod migrate;
mod moving;
mod pdf;
mod pdf_arguments;
mod pdf_files;
mod pdf_inspect;
mod pdf_sign;
mod pdf_stamp;
mod pieces;
mod serve;
mod signature_keys;
mod templates;
mod tools;
mod worker;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, OnceLock},
};

use clap::{Args, Subcommand};
use platen_engine::Engine;
use platen_jail::{Jail, Level, Options};
use platen_outbound::{TlsRefusal, Trust};
use platen_script::{KIND, Runner, RunnerSource};

use super::{
    files::{read, read_json, write},
    font_arguments::FontArguments,
};
use crate::report::{Failure, OutputArguments};

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Convert Office files with LibreOffice.
    Convert(Box<convert::Arguments>),
    /// Merge PDF files.
    Merge(merge::Arguments),
    /// Change PDF files, and say what they are.
    Pdf(pdf::Arguments),
    /// Read and write e-invoices.
    Invoice(invoice::Arguments),
    /// Run and check flows.
    Flow(flow::Arguments),
    /// Serve templates and documents over HTTP.
    Serve(Box<serve::Arguments>),
    /// Execute flow runs for a service on this or another machine.
    Worker(Box<worker::Arguments>),
    /// Start LibreOffice and Chromium for services that must not start programs themselves.
    Controller(controller::Arguments),
    /// Push, pull and list the templates of a running service.
    Templates(templates::Arguments),
    /// Check custom actions (pieces) and upload them to a running service.
    Pieces(pieces::Arguments),
    /// Write the database and the files of the data folder to an archive.
    Backup(backup::BackupArguments),
    /// Replace the data folder by an archive of `platen backup`.
    Restore(backup::RestoreArguments),
    /// Show the schema of the database, and bring it to this version.
    Migrate(migrate::Arguments),
    /// Move everything from SQLite and the data folder to PostgreSQL and S3.
    Move(moving::Arguments),
    /// Check fonts, sandboxes, LibreOffice and Chromium on this machine.
    Doctor(doctor::Arguments),
    /// Run the benchmarks on this machine.
    Bench(Box<bench::Arguments>),
}

impl Command {
    /// Runs the command.
    pub fn run(self, output: OutputArguments) -> Result<ExitCode, Failure> {
        match self {
            Self::Convert(arguments) => convert::run(&arguments, output),
            Self::Merge(arguments) => merge::run(&arguments, output),
            Self::Pdf(arguments) => pdf::run(arguments, output),
            Self::Invoice(arguments) => invoice::run(arguments, output),
            Self::Flow(arguments) => flow::run(&arguments, output),
            Self::Serve(arguments) => serve::run(&arguments),
            Self::Worker(arguments) => worker::run(&arguments, output),
            Self::Controller(arguments) => controller::run(&arguments, output),
            Self::Templates(arguments) => templates::run(&arguments, output),
            Self::Pieces(arguments) => pieces::run(&arguments, output),
            Self::Backup(arguments) => backup::back_up(&arguments, output),
            Self::Restore(arguments) => backup::restore(&arguments, output),
            Self::Migrate(arguments) => migrate::run(&arguments, output),
            Self::Move(arguments) => moving::run(&arguments, output),
            Self::Doctor(arguments) => doctor::run(&arguments, output),
            Self::Bench(arguments) => bench::run(&arguments, output),
        }
    }
}

/// What helps where `http://` meets a server with TLS.
const TLS_HINT: &str = "use https://";

/// What helps where `https://` is refused.
fn advice(refusal: &TlsRefusal) -> &'static str {
    match refusal {
        TlsRefusal::NotTrusted => {
            "pass the certificate of its CA, a PEM file, with --ca-file or PLATEN_CA_FILE"
        }
        TlsRefusal::NoTls => "use http:// if the service does not listen on tls://",
        _ => "check the certificate that the service uses",
    }
}

/// Whom `https://` trusts.
#[derive(Clone, Debug, Args)]
pub struct TrustArguments {
    /// PEM file of the only certificate authorities to trust for an https:// service; default: the
    /// system's certificate store.
    #[arg(long, global = true, value_name = "FILE", env = "PLATEN_CA_FILE")]
    ca_file: Option<PathBuf>,
}

impl TrustArguments {
    /// As clients want it.
    fn trust(&self) -> Result<Trust, Failure> {
        trust(self.ca_file.as_deref())
    }
}

/// The authorities of a file, or the public ones.
fn trust(file: Option<&Path>) -> Result<Trust, Failure> {
    let Some(file) = file else {
        return Ok(Trust::default());
    };
    Trust::only(file).map_err(|error| Failure::file("read", &file.display().to_string(), &error))
}

/// The engine of a command.
fn engine(fonts: &FontArguments) -> Engine {
    Engine::new(&fonts.settings()).with_helpers(helper_runner())
}

/// Starts the sandbox of templates' helpers when one is first called.
fn helper_runner() -> Arc<RunnerSource> {
    let started = OnceLock::new();
    Arc::new(move || {
        let start = || {
            let jail = Jail::start(Options {
                least: Level::NoNamespaces,
                spares: 1,
                ..Options::new(KIND)
            });
            let jail = jail.map_err(|error| error.to_string())?;
            Ok(Runner::new(Arc::new(jail)))
        };
        started.get_or_init(start).clone()
    })
}
