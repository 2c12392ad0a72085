//! `platen schema`.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::report::{Failure, print_line};

/// Arguments of `platen schema`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Kind of template.
    #[arg(long, value_enum, default_value_t)]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Kind {
    /// Laid out by Platen.
    #[default]
    Document,
    /// Printed by Chromium.
    Html,
}

/// Prints the JSON Schema of the template format.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let schema = match arguments.kind {
        Kind::Document => platen_document::template::editor_schema(),
        Kind::Html => platen_document::html::json_schema(),
    };
    let text = serde_json::to_string_pretty(&schema).map_err(|error| Failure::internal(&error))?;
    print_line(&text);
    Ok(ExitCode::SUCCESS)
}
