//! Diagnostics and failures on standard error, and the exit code that follows from their fault.

use std::{fmt, io::Write, process::ExitCode};

use clap::Args;
use platen_document::Diagnostic;
use platen_fault::{Code, Fault};
use platen_render::{Error, chain, of_mistakes};
use serde_json::{Map, Value as Json, json};

const BUG_HINT: &str = "this is a bug in Platen; please report it with the template";
const DOCTOR_HINT: &str = "`platen doctor` shows what is installed";

/// How much is said, and in what form.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct OutputArguments {
    /// Print only errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Report as JSON on standard output.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Why a command failed.
#[derive(Debug)]
pub struct Failure {
    /// A code of [`platen_fault::CODES`]; a service of another version may know more of them.
    code: String,
    fault: Fault,
    /// Facts that go with the code. Boxed, as most results are no failures.
    facts: Box<Map<String, Json>>,
    message: String,
    hint: Option<String>,
    diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// A failure; the exit code follows from its code's fault.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let facts = code.facts();
        let words = facts.words().map(|(name, word)| (name, Json::from(word)));
        let limit = facts.limit.map(|limit| ("limit", Json::from(limit)));
        let members = words.chain(limit);
        Self {
            code: code.name().to_owned(),
            fault: code.fault(),
            facts: Box::new(
                members
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            ),
            message: message.into(),
            hint: match code.fault() {
                Fault::Internal => Some(BUG_HINT.to_owned()),
                Fault::Unavailable | Fault::Backend => Some(DOCTOR_HINT.to_owned()),
                _ => None,
            },
            diagnostics: Vec::new(),
        }
    }

    /// Arguments that cannot be followed, with advice.
    pub fn caller(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::InvalidOption, message).with_hint(hint)
    }

    /// A failure of ours.
    pub fn internal(error: &dyn std::error::Error) -> Self {
        Self::new(Code::InternalError, chain(error))
    }

    /// A file that cannot be read or written.
    pub fn file(action: &str, path: &str, error: &std::io::Error) -> Self {
        Self::new(
            Code::FileFailed,
            format!("cannot {action} `{path}`: {error}"),
        )
    }

    /// Mistakes of an author.
    pub fn mistakes(code: Code, diagnostics: Vec<Diagnostic>) -> Self {
        // Warnings are listed with them, but are not what kept the document from being made.
        let count = diagnostics.iter().filter(|found| found.is_error()).count();
        let plural = if count == 1 { "" } else { "s" };
        let message = format!("{count} error{plural}; nothing was written");
        Self {
            diagnostics,
            ..Self::new(code, message)
        }
    }

    /// What a service says in a problem document (RFC 9457).
    #[cfg(feature = "service")]
    pub fn of_problem(status: u16, problem: &Json, message: String) -> Self {
        let diagnostics = serde_json::from_value(problem["diagnostics"].clone());
        let diagnostics: Vec<Diagnostic> = diagnostics.unwrap_or_default();
        let name = problem["code"].as_str().unwrap_or_default();
        let known = platen_fault::CODES.iter().find(|entry| entry.name == name);
        let fault = match known {
            Some(entry) => entry.fault,
            None if status >= 500 => Fault::Internal,
            None => Fault::Request,
        };
        let names = ["stage", "resource", "backend", "what", "limit"];
        let members = names.map(|name| (name.to_owned(), problem[name].clone()));
        Self {
            code: name.to_owned(),
            fault,
            facts: Box::new(
                members
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .collect(),
            ),
            ..match diagnostics.is_empty() {
                true => Self::new(Code::RequestFailed, message),
                false => Self::mistakes(Code::RequestFailed, diagnostics),
            }
        }
    }

    /// The same failure with advice.
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        let hint = Some(hint.into());
        Self { hint, ..self }
    }

    /// What failed, as one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The exit code.
    pub fn exit_code(&self) -> u8 {
        self.fault.exit_code()
    }

    /// Tells the user, and gives the exit code.
    pub fn report(self, output: OutputArguments) -> ExitCode {
        if output.json {
            print_line(&self.to_json().to_string());
            return ExitCode::from(self.exit_code());
        }
        for diagnostic in &self.diagnostics {
            say(format_args!("{diagnostic}"));
        }
        say(format_args!("error: {}", self.message));
        if let Some(hint) = self.hint.as_ref().filter(|_| self.diagnostics.is_empty()) {
            say(format_args!("hint: {hint}"));
        }
        ExitCode::from(self.exit_code())
    }

    /// The failure as an object: `error`, `code` with its facts, `hint`, `diagnostics`.
    pub fn to_json(&self) -> Json {
        let mut report = json!({
            "ok": false, "error": self.message, "code": self.code, "hint": self.hint,
        });
        if let Some(members) = report.as_object_mut() {
            members.extend((*self.facts).clone());
        }
        if !self.diagnostics.is_empty() {
            report["diagnostics"] = json!(self.diagnostics);
        }
        report
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::new(error.code(), chain(&error));
        match error {
            Error::Mistakes(mistakes) => Self::mistakes(of_mistakes(&mistakes), mistakes),
            _ => failure,
        }
    }
}

/// Writes a line to standard error; a closed standard error is no reason to stop.
pub fn say(line: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes a line to standard output. A closed pipe is no failure: who reads has seen enough. Anything else ends the
/// command, as its result is lost.
pub fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    let Err(error) = writeln!(out, "{line}").and_then(|()| out.flush()) else {
        return;
    };
    if error.kind() != std::io::ErrorKind::BrokenPipe {
        let failure = Failure::file("write", "standard output", &error);
        say(format_args!("error: {}", failure.message()));
        std::process::exit(1);
    }
}

#[cfg(test)]
mod tests {
    use platen_fault::{Stage, What};

    use super::*;

    #[test]
    fn a_failure_says_its_code_and_ends_with_the_exit_code_of_its_fault() {
        let late = Failure::new(Code::Timeout(Stage::Conversion), "too late");
        assert_eq!(late.exit_code(), 1);
        assert_eq!(
            late.to_json(),
            json!({
                "ok": false, "error": "too late", "code": "timeout", "stage": "conversion",
                "hint": null,
            })
        );
        let large = Failure::new(Code::TooLarge(What::Document, 7), "too large");
        assert_eq!(large.to_json()["limit"], 7);
        let bug = Failure::new(Code::InternalError, "broken");
        assert_eq!((bug.exit_code(), bug.hint.as_deref()), (2, Some(BUG_HINT)));
    }

    #[cfg(feature = "service")]
    #[test]
    fn a_problem_of_a_service_keeps_its_code_and_its_facts() {
        let problem = json!({"code": "overloaded", "what": "queue", "status": 503});
        let failure = Failure::of_problem(503, &problem, "503: full".to_owned());
        assert_eq!(failure.exit_code(), 2);
        let report = failure.to_json();
        assert_eq!(
            (&report["code"], &report["what"]),
            (&json!("overloaded"), &json!("queue"))
        );
        let newer = json!({"code": "of-a-newer-service", "status": 400});
        let failure = Failure::of_problem(400, &newer, "400: what".to_owned());
        assert_eq!(
            (failure.exit_code(), &*failure.code),
            (1, "of-a-newer-service")
        );
    }

    #[test]
    fn mistakes_are_counted_without_warnings() {
        let found = vec![
            Diagnostic::error("unknown-field", "/a", "no"),
            Diagnostic::warning("missing-glyph", "", "so"),
        ];
        let failure = Failure::mistakes(Code::InvalidTemplate, found);
        assert_eq!(failure.message(), "1 error; nothing was written");
        assert_eq!(
            failure.to_json()["diagnostics"].as_array().map(Vec::len),
            Some(2)
        );
    }
}
