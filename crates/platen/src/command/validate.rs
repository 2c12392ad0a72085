//! `platen validate`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use platen_document::{Diagnostic, diagnostic::Source, position_of};

#[cfg(not(feature = "service"))]
use super::native as documents;
#[cfg(feature = "service")]
use super::service::documents;
use super::{
    files::{read, read_json},
    imports,
};
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

/// The file, line and column that a diagnostic of the template refers to, if it refers to one.
fn place(arguments: &Arguments, source: &[u8], diagnostic: &Diagnostic) -> String {
    let text = std::str::from_utf8(source).ok();
    let position = text
        .filter(|_| diagnostic.source == Source::Template && !diagnostic.path.is_empty())
        .and_then(|text| position_of(text, &diagnostic.path));
    position.map_or_else(String::new, |position| {
        format!("{}:{position}: ", arguments.template.display())
    })
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let source = read(&arguments.template)?;
    let data = arguments.data.as_deref().map(read_json).transpose()?;
    let found: Vec<Diagnostic> = match imports::resolve(&arguments.template, source.clone()) {
        Ok(whole) => documents::validate(&whole, data.as_ref()),
        Err(found) => found,
    };
    let valid = !found.iter().any(Diagnostic::is_error);
    if output.json {
        let report = serde_json::json!({"valid": valid, "diagnostics": found});
        print_line(&report.to_string());
    } else {
        for diagnostic in &found {
            if diagnostic.is_error() || !output.quiet {
                say(format_args!(
                    "{}{diagnostic}",
                    place(arguments, &source, diagnostic)
                ));
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
