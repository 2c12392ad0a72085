//! The subcommands, a file each. Those in [`service`] need more than the native renderer: a build
//! without the feature of that name leaves them out.

mod completions;
mod demo;
mod fonts;
mod left_out;
#[cfg(not(feature = "service"))]
mod native;
mod render;
mod schema;
#[cfg(feature = "service")]
mod service;
mod validate;

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use platen_fonts::FontSettings;

pub use self::left_out::left_out;
#[cfg(not(feature = "service"))]
use self::native as documents;
#[cfg(feature = "service")]
use self::service::documents;
use crate::report::{Failure, OutputArguments};

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Render data with a template.
    Render(render::Arguments),
    /// Check a template and, if given, its data.
    Validate(validate::Arguments),
    #[cfg(feature = "service")]
    #[command(flatten)]
    Service(service::Command),
    /// Print the JSON Schema of the template format.
    Schema(schema::Arguments),
    /// List the fonts that documents can use.
    Fonts(fonts::Arguments),
    /// Render one invoice in six formats.
    Demo(demo::Arguments),
    /// Print a completion script for a shell.
    Completions(completions::Arguments),
}

impl Command {
    /// Runs the command.
    pub fn run(self, output: OutputArguments) -> Result<ExitCode, Failure> {
        match self {
            Self::Render(arguments) => render::run(&arguments, output),
            Self::Validate(arguments) => validate::run(&arguments, output),
            #[cfg(feature = "service")]
            Self::Service(command) => command.run(output),
            Self::Schema(arguments) => schema::run(&arguments),
            Self::Fonts(arguments) => fonts::run(&arguments, output),
            Self::Demo(arguments) => demo::run(&arguments, output),
            Self::Completions(arguments) => completions::run(&arguments),
        }
    }
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
