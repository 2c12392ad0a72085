//! What the user is told: diagnostics and failures on standard error, exit codes.

use std::{fmt, io::Write, process::ExitCode};

use clap::Args;
use platen_document::Diagnostic;
use platen_render::{Error, Fault, chain};

/// How much is said, and in what form.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct OutputArguments {
    /// Say nothing but errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Report as JSON on standard output.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The caller's mistake, with advice.
    Caller(String, Option<String>),
    /// Mistakes in template or data.
    Mistakes(Vec<Diagnostic>),
    /// Ours.
    Internal(String),
}

impl Failure {
    /// A caller's mistake with advice.
    pub fn caller(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Caller(message.into(), Some(hint.into()))
    }

    /// A file that cannot be read or written.
    pub fn file(action: &str, path: &str, error: &std::io::Error) -> Self {
        Self::Caller(format!("cannot {action} `{path}`: {error}"), None)
    }

    /// An error whose fault is known.
    pub fn of_fault(fault: Fault, message: String) -> Self {
        match fault {
            Fault::Caller | Fault::Limit => Self::Caller(message, None),
            Fault::Busy | Fault::Unavailable | Fault::Internal => Self::Internal(message),
        }
    }

    /// Tells the user, and gives the exit code.
    pub fn report(self, output: OutputArguments) -> ExitCode {
        let code = match &self {
            Self::Caller(..) | Self::Mistakes(_) => ExitCode::from(1),
            Self::Internal(_) => ExitCode::from(2),
        };
        if output.json {
            print_line(&self.to_json().to_string());
            return code;
        }
        match self {
            Self::Caller(message, hint) => {
                say(format_args!("error: {message}"));
                if let Some(hint) = hint {
                    say(format_args!("hint: {hint}"));
                }
            }
            Self::Mistakes(mistakes) => {
                for mistake in &mistakes {
                    say(format_args!("{mistake}"));
                }
                // Warnings are listed with them, but are not what kept the document from being made.
                let count = mistakes.iter().filter(|found| found.is_error()).count();
                let plural = if count == 1 { "" } else { "s" };
                say(format_args!(
                    "error: {count} mistake{plural}; nothing was made"
                ));
            }
            Self::Internal(message) => {
                say(format_args!("error: {message}"));
                say(format_args!(
                    "hint: this is a bug in Platen; please report it with the template"
                ));
            }
        }
        code
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Caller(message, hint) => {
                serde_json::json!({"ok": false, "error": message, "hint": hint})
            }
            Self::Mistakes(mistakes) => serde_json::json!({"ok": false, "diagnostics": mistakes}),
            Self::Internal(message) => serde_json::json!({"ok": false, "error": message}),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Mistakes(mistakes) => Self::Mistakes(mistakes),
            other => Self::of_fault(other.fault(), chain(&other)),
        }
    }
}

/// Writes a line to standard error; a closed standard error is no reason to stop.
pub fn say(line: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes a line to standard output; a closed pipe is no reason to panic.
pub fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
