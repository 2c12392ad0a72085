//! Validation of a template and its data without rendering.

use platen_document::Diagnostic;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Renderer, slots::Ticket};
use crate::problem::Problem;

/// Result of a validation without rendering.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Validation {
    /// True if there are no errors; warnings do not count.
    valid: bool,
    /// Errors and warnings.
    diagnostics: Vec<Diagnostic>,
}

impl Renderer {
    /// Validates a template, and the JSON in `data` if given. Takes as long as compiling: run it on
    /// a slot, whose `ticket` stops it at the deadline.
    ///
    /// # Errors
    /// 400 if `data` is not JSON, 504 at the deadline.
    pub(crate) fn validate(
        &self,
        source: &[u8],
        data: Option<&str>,
        ticket: &Ticket,
    ) -> Result<Validation, Problem> {
        let found = self.engine.validate(source, data, Some(&ticket.stop));
        let diagnostics = found?;
        Ok(Validation {
            valid: !diagnostics.iter().any(Diagnostic::is_error),
            diagnostics,
        })
    }
}
