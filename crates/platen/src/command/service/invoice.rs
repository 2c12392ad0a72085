//! `platen invoice`: e-invoices without a template, and what files say as e-invoices.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use platen_engine::read_invoice;
use platen_fault::Code;
use platen_invoice::{Problem, invoice_of, issue};
use platen_pdf::Limits;
use serde_json::Map;

use super::{read, read_json, write};
use crate::report::{Failure, OutputArguments, print_line, say};

/// Arguments of `platen invoice`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen invoice read received.pdf\n  \
    platen invoice write invoice.json -o xrechnung.xml\n  \
    platen pdf invoice letter.pdf --xml factur-x.xml -o e-invoice.pdf\n\
    A template with a section `invoice` makes the page and the XML: platen render.")]
pub struct Arguments {
    #[command(subcommand)]
    operation: Operation,
}

#[derive(Debug, Subcommand)]
enum Operation {
    /// Read e-invoices from PDF or XML: JSON, and the rules that they break.
    Read {
        /// PDF or XML files.
        #[arg(required = true, value_name = "IN")]
        inputs: Vec<PathBuf>,
    },
    /// Write an e-invoice as XML: totals are computed, rules are checked.
    Write {
        /// JSON file with the invoice.
        #[arg(value_name = "IN")]
        input: PathBuf,
        /// Output file, or `-`.
        #[arg(long, short, value_name = "OUT")]
        output: PathBuf,
    },
}

/// Runs the command. Exits with 1 where an invoice that is read breaks a rule.
pub fn run(arguments: Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    match arguments.operation {
        Operation::Read { inputs } => read_all(&inputs),
        Operation::Write {
            input,
            output: target,
        } => {
            let issued = invoice_of(read_json(&input)?)
                .map_err(|problem| vec![problem])
                .and_then(|invoice| issue(&invoice))
                .map_err(|problems| refused(&problems))?;
            if !output.quiet {
                for warning in &issued.warnings {
                    say(format_args!("warning: {warning}"));
                }
            }
            write(&target, issued.xml.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn refused(problems: &[Problem]) -> Failure {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Failure::new(Code::InvalidData, lines.join("\n"))
}

fn read_all(inputs: &[PathBuf]) -> Result<ExitCode, Failure> {
    let mut all = Map::new();
    let mut sound = true;
    for path in inputs {
        let name = path.display().to_string();
        let found = read_invoice(&read(path)?, &Limits::default())
            .map_err(|error| Failure::new(error.code(), format!("{name}: {error}")))?;
        sound &= found.valid;
        all.insert(name, serde_json::to_value(found).unwrap_or_default());
    }
    print_line(&serde_json::to_string_pretty(&all).unwrap_or_default());
    Ok(if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
