//! The subcommands, a file each. Those in [`service`] need more than the native renderer: a build
//! without the feature of that name leaves them out.

mod completions;
mod demo;
mod files;
mod font_arguments;
mod fonts;
mod imports;
mod left_out;
mod lint;
#[cfg(not(feature = "service"))]
mod native;
mod render;
mod schema;
#[cfg(feature = "service")]
mod service;
mod validate;

use std::process::ExitCode;

use clap::Subcommand;

pub use self::left_out::left_out;
use crate::report::{Failure, OutputArguments};

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Render data with a template.
    Render(Box<render::Arguments>),
    /// Check a template and, if given, its data.
    Validate(validate::Arguments),
    /// Say what in templates is legal and unwise.
    Lint(lint::Arguments),
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
            Self::Lint(arguments) => lint::run(&arguments, output),
            #[cfg(feature = "service")]
            Self::Service(command) => command.run(output),
            Self::Schema(arguments) => schema::run(&arguments),
            Self::Fonts(arguments) => fonts::run(&arguments, output),
            Self::Demo(arguments) => demo::run(&arguments, output),
            Self::Completions(arguments) => completions::run(&arguments),
        }
    }
}
