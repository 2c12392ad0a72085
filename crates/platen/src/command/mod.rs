//! The subcommands, a file each.

mod bench;
mod chromium;
mod completions;
mod convert;
mod demo;
mod doctor;
mod flow;
mod fonts;
mod isolation;
mod merge;
mod pieces;
mod render;
mod render_html;
mod schema;
mod serve;
mod templates;
mod tools;
mod validate;
mod worker;

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, OnceLock},
};

use clap::{Args, Subcommand};
use platen_engine::Engine;
use platen_fonts::FontSettings;
use platen_jail::{Jail, Level, Options};
use platen_outbound::{TlsRefusal, Trust};
use platen_script::{KIND, Runner, RunnerSource};

use crate::report::{Failure, OutputArguments};

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Render data with a template.
    Render(render::Arguments),
    /// Convert Office files with LibreOffice.
    Convert(convert::Arguments),
    /// Merge PDF files.
    Merge(merge::Arguments),
    /// Check a template and, if given, its data.
    Validate(validate::Arguments),
    /// Run and check flows.
    Flow(flow::Arguments),
    /// Serve templates and documents over HTTP.
    Serve(Box<serve::Arguments>),
    /// Execute flow runs for a service on this or another machine.
    Worker(Box<worker::Arguments>),
    /// Push, pull and list the templates of a running service.
    Templates(templates::Arguments),
    /// Check custom actions (pieces) and upload them to a running service.
    Pieces(pieces::Arguments),
    /// Print the JSON Schema of the template format.
    Schema(schema::Arguments),
    /// List the fonts that documents can use.
    Fonts(fonts::Arguments),
    /// Render one invoice in six formats.
    Demo(demo::Arguments),
    /// Check fonts, sandboxes, LibreOffice and Chromium on this machine.
    Doctor(doctor::Arguments),
    /// Run the benchmarks on this machine.
    Bench(bench::Arguments),
    /// Print a completion script for a shell.
    Completions(completions::Arguments),
}

impl Command {
    /// Runs the command.
    pub fn run(self, output: OutputArguments) -> Result<ExitCode, Failure> {
        match self {
            Self::Render(arguments) => render::run(&arguments, output),
            Self::Convert(arguments) => convert::run(&arguments, output),
            Self::Merge(arguments) => merge::run(&arguments, output),
            Self::Validate(arguments) => validate::run(&arguments, output),
            Self::Flow(arguments) => flow::run(&arguments, output),
            Self::Serve(arguments) => serve::run(&arguments),
            Self::Worker(arguments) => worker::run(&arguments, output),
            Self::Templates(arguments) => templates::run(&arguments, output),
            Self::Pieces(arguments) => pieces::run(&arguments, output),
            Self::Schema(arguments) => schema::run(&arguments),
            Self::Fonts(arguments) => fonts::run(&arguments, output),
            Self::Demo(arguments) => demo::run(&arguments, output),
            Self::Doctor(arguments) => doctor::run(&arguments, output),
            Self::Bench(arguments) => bench::run(&arguments, output),
            Self::Completions(arguments) => completions::run(&arguments),
        }
    }
}

/// What helps where `http://` meets a server with TLS.
const TLS_HINT: &str = "write https://";

/// What helps where `https://` is refused.
fn advice(refusal: &TlsRefusal) -> &'static str {
    match refusal {
        TlsRefusal::NotTrusted => {
            "give the certificate of its authority, a PEM file, with --ca-file or PLATEN_CA_FILE"
        }
        TlsRefusal::NoTls => "write http:// where the service is not started with tls://",
        _ => "look at the certificate that the service is started with",
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

/// Where fonts come from.
#[derive(Clone, Debug, Args)]
pub struct FontArguments {
    /// Font folder that takes precedence over system fonts; repeatable.
    #[arg(
        long = "fonts",
        value_name = "DIR",
        env = "PLATEN_FONTS_DIR",
        value_delimiter = ':'
    )]
    folders: Vec<PathBuf>,
    /// Use only Platen's own fonts and those from --fonts.
    #[arg(long)]
    no_system_fonts: bool,
}

impl FontArguments {
    /// As the engine wants them.
    pub fn settings(&self) -> FontSettings {
        FontSettings {
            folders: self.folders.clone(),
            system: !self.no_system_fonts,
        }
    }

    fn engine(&self) -> Engine {
        Engine::new(&self.settings()).with_helpers(helper_runner())
    }
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

/// The largest template or data that is read, in bytes.
const MAX_INPUT_BYTES: u64 = 1 << 30;

/// Reads a file, or standard input where `path` is `-`.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let name = path.display().to_string();
    let read = if name == "-" {
        std::io::stdin()
            .lock()
            .take(MAX_INPUT_BYTES)
            .read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path)
            .and_then(|file| file.take(MAX_INPUT_BYTES).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::file("read", &name, &error))?;
    Ok(bytes)
}

/// Writes a file, or standard output where `path` is `-`.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let name = path.display().to_string();
    let result = if name == "-" {
        std::io::stdout().lock().write_all(bytes)
    } else {
        std::fs::write(path, bytes)
    };
    result.map_err(|error| Failure::file("write", &name, &error))
}

/// Reads JSON from a file or standard input.
fn read_json(path: &Path) -> Result<serde_json::Value, Failure> {
    let bytes = read(path)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Failure::caller(
            format!("`{}` is not valid JSON: {error}", path.display()),
            "check the place named; JSON wants double quotes and no comma after the last element",
        )
    })
}
