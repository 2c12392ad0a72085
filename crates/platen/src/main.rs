//! The `platen` command. Data goes to standard output, everything else to standard error; the exit
//! code is 0, 1 for the caller's mistakes and 2 for ours.

mod command;
#[cfg(test)]
mod command_reference;
mod progress;
#[cfg(test)]
mod reference;
mod report;

use std::{ffi::OsString, process::ExitCode};

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

/// So that a sandbox can say that its memory is used up.
#[global_allocator]
static ALLOCATOR: platen_jail::Allocator = platen_jail::Allocator;

fn main() -> ExitCode {
    if let Some(code) = sandbox() {
        return code;
    }
    platen_browser::announce_sandbox_program();
    let arguments = Arguments::parse();
    let output = arguments.output;
    match arguments.command.run(output) {
        Ok(code) => code,
        Err(failure) => failure.report(output),
    }
}

/// Is the sandbox server, or puts an outside program behind walls, where this process was started as
/// one of them: before anything makes a thread.
fn sandbox() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let [_, mark, kind, rest @ ..] = arguments.as_slice() else {
        return None;
    };
    if mark != platen_jail::MARK {
        return None;
    }
    let words = || -> Vec<String> {
        let words = rest.iter().map(|text| text.to_string_lossy().into_owned());
        words.collect()
    };
    let kind = kind.to_string_lossy();
    let code = match &*kind {
        platen_jail::sandbox::KIND => platen_jail::sandbox::serve(rest),
        platen_jail::fence::KIND => platen_jail::fence::serve(rest),
        platen_script::KIND => {
            platen_jail::serve(&words(), &mut platen_script::ScriptWorker::default())
        }
        other => match platen_engine::RenderWorker::of_kind(other) {
            Some(mut worker) => platen_jail::serve(&words(), &mut worker),
            None => 2,
        },
    };
    Some(ExitCode::from(code as u8))
}
