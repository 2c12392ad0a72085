//! The `platen` command. Data goes to standard output, everything else to standard error; the exit
//! code is 0, 1 for the caller's mistakes and 2 for ours.

mod command;
mod progress;
mod report;

use std::process::ExitCode;

use clap::Parser;

use crate::command::Command;

/// Self-hosted document production: one template and JSON become PDF, DOCX, PPTX, XLSX, CSV or HTML.
#[derive(Debug, Parser)]
#[command(
    name = "platen",
    version,
    arg_required_else_help = true,
    after_help = "Examples:\n  \
        platen demo                                    six documents of one invoice, in out/\n  \
        platen render invoice.json data.json -o a.pdf  one document\n  \
        platen serve                                   the HTTP service on 127.0.0.1:3000"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: report::OutputArguments,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let output = arguments.output;
    match arguments.command.run(output) {
        Ok(code) => code,
        Err(failure) => failure.report(output),
    }
}
