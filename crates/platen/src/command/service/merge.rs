//! `platen merge`: PDF files as one.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use platen_pdf::Limits;

use super::read;
use crate::report::{Failure, OutputArguments, print_line, say};

/// Arguments of `platen merge`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// PDF files, in order.
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// Output file.
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let files: Result<Vec<Vec<u8>>, Failure> =
        arguments.inputs.iter().map(|path| read(path)).collect();
    let files = files?;
    let limits = Limits::default();
    for (path, file) in arguments.inputs.iter().zip(&files) {
        // Said before all are merged, so that the message can name the file.
        platen_pdf::page_count(file, &limits).map_err(|error| of_pdf(Some(path), &error))?;
    }
    let made = platen_pdf::merge(files.iter().map(Vec::as_slice), &limits);
    let made = made.map_err(|error| of_pdf(None, &error))?;
    let name = arguments.output.display().to_string();
    std::fs::write(&arguments.output, &made)
        .map_err(|error| Failure::file("write", &name, &error))?;
    if output.json {
        let report = serde_json::json!({"ok": true, "output": name, "sizeBytes": made.len()});
        print_line(&report.to_string());
    } else if !output.quiet {
        say(format_args!(
            "{name}: {} files, {} bytes",
            files.len(),
            made.len()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn of_pdf(path: Option<&Path>, error: &platen_pdf::Error) -> Failure {
    let message = match path {
        Some(path) => format!("{}: {error}", path.display()),
        None => error.to_string(),
    };
    Failure::new(error.code(), message)
}
