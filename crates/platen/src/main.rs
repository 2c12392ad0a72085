//! The `platen` command. Data goes to standard output, everything else to standard error; the exit
//! code is 0, 1 for what the caller can mend and 2 for what Platen or its surroundings failed at.

mod command;
#[cfg(all(test, feature = "service"))]
mod command_reference;
#[cfg(test)]
mod error_reference;
mod progress;
#[cfg(all(test, feature = "service"))]
mod reference;
mod report;
#[cfg(feature = "service")]
mod sandbox;

use std::process::ExitCode;

use clap::Parser;
use platen_fault::Fault;

use crate::command::Command;

/// What the help ends with.
const EXAMPLES: &str = if cfg!(feature = "service") {
    "Examples:\n  \
        platen demo                                    six documents of one invoice, in out/\n  \
        platen render invoice.json data.json -o a.pdf  one document\n  \
        platen serve                                   the HTTP service on 127.0.0.1:3000"
} else {
    "Examples:\n  \
        platen demo                                    six documents of one invoice, in out/\n  \
        platen render invoice.json data.json -o a.pdf  one document\n\n\
        This build contains only the native renderer. `cargo build --release --bin platen` builds all of \
        Platen: the service, flows, conversion of Office files and HTML."
};

/// Self-hosted document production: one template and JSON become PDF, DOCX, PPTX, XLSX, CSV or HTML.
#[derive(Debug, Parser)]
#[command(
    name = "platen",
    version,
    arg_required_else_help = true,
    after_help = EXAMPLES
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: report::OutputArguments,
}

fn main() -> ExitCode {
    #[cfg(feature = "service")]
    if let Some(code) = sandbox::serve() {
        return code;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => match command::left_out(&error) {
            Some(failure) => return failure.report(report::OutputArguments::default()),
            None => return usage(&error),
        },
    };
    let output = arguments.output;
    match arguments.command.run(output) {
        Ok(code) => code,
        Err(failure) => failure.report(output),
    }
}

/// Shows the help that was asked for, or what is wrong with the arguments: a fault of the request.
fn usage(error: &clap::Error) -> ExitCode {
    // A closed standard error is no reason to say more.
    let _ = error.print();
    match error.use_stderr() {
        true => ExitCode::from(Fault::Request.exit_code()),
        false => ExitCode::SUCCESS,
    }
}
