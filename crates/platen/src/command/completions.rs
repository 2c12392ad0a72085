//! `platen completions`.

use std::{io::Write, process::ExitCode};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::report::Failure;

/// Arguments of `platen completions`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  platen completions bash > /etc/bash_completion.d/platen")]
pub struct Arguments {
    /// The shell.
    shell: Shell,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut command = crate::Arguments::command();
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "platen", &mut text);
    // A reader that has read enough closes the pipe.
    let _ = std::io::stdout().write_all(&text);
    Ok(ExitCode::SUCCESS)
}
