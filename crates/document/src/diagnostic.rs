//! Diagnostics for authors of templates and data. All errors are reported in one pass.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a [`Diagnostic`] prevents the document.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// The document is produced, but differs from what the template says.
    Warning,
    /// No document is produced.
    Error,
}

/// A problem in a template, its data or an output format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A stable identifier in kebab-case, such as `unknown-field`.
    pub code: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// RFC 6901 JSON pointer into `source`; empty for the whole input.
    pub path: String,
    /// The input that `path` points into.
    pub source: Source,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
}

/// The input that a diagnostic refers to.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// The template.
    Template,
    /// The data.
    Data,
}

impl Diagnostic {
    /// An error at `path` in the template. `code` is one of [`platen_fault::DIAGNOSTICS`].
    #[must_use]
    pub fn error(code: &str, path: impl Into<String>, message: impl Into<String>) -> Self {
        debug_assert!(
            platen_fault::find_diagnostic(code).is_some(),
            "`{code}` is not in the table of diagnostics"
        );
        Self {
            severity: Severity::Error,
            code: code.to_owned(),
            message: message.into(),
            path: path.into(),
            source: Source::Template,
            hint: None,
        }
    }

    /// A warning at `path` in the template.
    #[must_use]
    pub fn warning(code: &str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, path, message)
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Makes the pointer refer to the data.
    #[must_use]
    pub fn in_data(mut self) -> Self {
        self.source = Source::Data;
        self
    }

    /// Whether it is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = if self.is_error() { "error" } else { "warning" };
        let source = match self.source {
            Source::Template => "template",
            Source::Data => "data",
        };
        write!(f, "{severity}[{}] {source}", self.code)?;
        if !self.path.is_empty() {
            write!(f, " {}", self.path)?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}
