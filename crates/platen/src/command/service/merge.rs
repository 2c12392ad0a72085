//! `platen merge`: PDF files as one.

use std::{path::PathBuf, process::ExitCode};

use bytes::Bytes;
use clap::Args;
use platen_pdf::{Conditions, FileError, NamedFile, Operations};

use super::pdf_files::{keep, map, places};
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
    let mut files = Vec::new();
    for path in &arguments.inputs {
        files.push(NamedFile {
            name: path.display().to_string(),
            bytes: map(path)?,
        });
    }
    let (count, places) = (files.len(), places(&files));
    let operations = Operations {
        merge: true,
        ..Operations::default()
    };
    let made = operations.apply(files, &Conditions::default());
    let mut made = made.map_err(|error| failed(&error))?;
    let output_file = std::slice::from_ref(&arguments.output);
    keep(&mut made, &places, &arguments.inputs, output_file);
    let made = made.pop().map_or_else(Bytes::new, |file| file.bytes);
    let name = arguments.output.display().to_string();
    std::fs::write(&arguments.output, &made)
        .map_err(|error| Failure::file("write", &name, &error))?;
    if output.json {
        let report = serde_json::json!({"ok": true, "output": name, "sizeBytes": made.len()});
        print_line(&report.to_string());
    } else if !output.quiet {
        say(format_args!(
            "{name}: {} files, {} bytes",
            count,
            made.len()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(error: &FileError) -> Failure {
    Failure::new(error.error.code(), error.to_string())
}
