//! `platen validate`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use platen_document::Diagnostic;

use super::files::{read, read_json};
#[cfg(not(feature = "service"))]
use super::native as documents;
#[cfg(feature = "service")]
use super::service::documents;
use crate::report::{Failure, OutputArguments, print_line, say};

/// Arguments of `platen validate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen validate invoice.json\n  \
    platen validate invoice.json data.json --json")]
pub struct Arguments {
    /// Template: a JSON file.
    template: PathBuf,
    /// Data: a JSON file, or `-` for standard input.
    data: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let source = read(&arguments.template)?;
    let data = arguments.data.as_deref().map(read_json).transpose()?;
    let found: Vec<Diagnostic> = documents::validate(&source, data.as_ref());
    let valid = !found.iter().any(Diagnostic::is_error);
    if output.json {
        let report = serde_json::json!({"valid": valid, "diagnostics": found});
        print_line(&report.to_string());
    } else {
        for diagnostic in &found {
            if diagnostic.is_error() || !output.quiet {
                say(format_args!("{diagnostic}"));
            }
        }
        let errors = found.iter().filter(|one| one.is_error()).count();
        if valid && !output.quiet {
            say(format_args!("{}: valid", arguments.template.display()));
        } else if !valid {
            let plural = if errors == 1 { "" } else { "s" };
            say(format_args!("error: {errors} error{plural} found"));
        }
    }
    Ok(if valid {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}
