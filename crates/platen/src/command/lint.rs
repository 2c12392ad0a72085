//! `platen lint`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use platen_document::{Diagnostic, lint, position_of};

use super::files::read;
use crate::report::{Failure, OutputArguments, print_line, say};

/// Arguments of `platen lint`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen lint invoice.json\n  \
    platen lint --strict templates/*.json   (exits with 1 if there are findings)")]
pub struct Arguments {
    /// Templates: JSON files.
    #[arg(required = true)]
    templates: Vec<PathBuf>,
    /// Exit with 1 if anything is found.
    #[arg(long)]
    strict: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let mut total = 0;
    let mut reports = Vec::new();
    for path in &arguments.templates {
        let source = read(path)?;
        let name = path.display().to_string();
        let text = String::from_utf8_lossy(&source);
        let template = serde_json::from_str(&text).map_err(|error| {
            Failure::caller(
                format!("`{name}` is not JSON: {error}"),
                "lint reads templates of kind `document`, which are JSON files",
            )
        })?;
        let found: Vec<Diagnostic> = lint(&template);
        total += found.len();
        if output.json {
            reports.push(serde_json::json!({"template": name, "diagnostics": found}));
            continue;
        }
        for diagnostic in &found {
            let place = position_of(&text, &diagnostic.path)
                .map_or_else(String::new, |place| format!(":{place}"));
            say(format_args!("{name}{place}: {diagnostic}"));
        }
    }
    if output.json {
        print_line(&serde_json::json!({"findings": total, "templates": reports}).to_string());
    } else if !output.quiet {
        let plural = if total == 1 { "" } else { "s" };
        say(format_args!("{total} finding{plural}"));
    }
    Ok(if arguments.strict && total > 0 {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}
