//! Collects diagnostics while binding, and limits their repetition.

use rustc_hash::FxHashMap;

use super::Binder;
use crate::{
    Diagnostic,
    expression::{Failure, Scope},
};

/// Maximum diagnostics with the same code and pointer: an error in a row occurs in every row.
const MAX_OF_A_PLACE: usize = 20;
/// Maximum diagnostics in total; binding stops there.
const MAX_REPORTS: usize = 200;

/// Findings that a bound on the work was reached.
const BOUNDS: [&str; 6] = [
    "too-many-blocks",
    "too-many-footnotes",
    "too-many-rows",
    "too-many-terms",
    "too-much-text",
    "too-much-work",
];

/// The diagnostics so far.
#[derive(Debug, Default)]
pub(super) struct Reports {
    found: Vec<Diagnostic>,
    places: FxHashMap<(String, String), usize>,
    /// Whether binding has stopped because a limit was reached.
    stopped: bool,
}

impl Reports {
    /// Counts a diagnostic; true if it should be reported.
    pub(super) fn wants(&mut self, code: &str, path: &str) -> bool {
        let place = (code.to_owned(), path.to_owned());
        let count = self.places.entry(place).or_default();
        *count += 1;
        *count <= MAX_OF_A_PLACE && self.found.len() < MAX_REPORTS
    }

    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        if BOUNDS.contains(&diagnostic.code.as_str()) {
            self.stopped = true;
        }
        self.found.push(diagnostic);
        let errors = self.found.iter().filter(|found| found.is_error()).count();
        if errors >= MAX_REPORTS {
            self.stopped = true;
        }
    }

    /// Returns the warnings, or all diagnostics if any is an error.
    pub(super) fn finish(&mut self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let found = std::mem::take(&mut self.found);
        if found.iter().any(Diagnostic::is_error) {
            Err(found)
        } else {
            Ok(found)
        }
    }
}

impl Binder<'_> {
    /// Whether a limit was reached and binding has stopped.
    pub(super) fn stopped(&self) -> bool {
        self.reports.stopped
    }

    /// Reports `failure` at the current pointer, and mentions the data row in which it occurred.
    pub(super) fn report(&mut self, failure: Failure, scope: &Scope<'_>) {
        if !self.reports.wants(failure.code, &self.path) {
            return;
        }
        let hint = failure.find_hint(scope);
        let rows = scope.rows();
        let message = failure.find_message(scope);
        let message = if rows.is_empty() {
            message
        } else {
            format!("{message} ({rows})")
        };
        let mut diagnostic = Diagnostic::error(failure.code, self.path.clone(), message);
        diagnostic.hint = hint;
        self.reports.add(diagnostic);
    }

    /// Charges one step of work. Reports at `token` and returns false if none is left.
    pub(super) fn charge(&mut self, token: &str, scope: &Scope<'_>) -> bool {
        match self.evaluation.shared.charge(1) {
            Ok(()) => true,
            Err(failure) => {
                self.below(token, |binder| binder.report(failure, scope));
                false
            }
        }
    }

    /// Reports an error at the current pointer.
    pub(super) fn mistake(&mut self, code: &'static str, message: String, scope: &Scope<'_>) {
        self.report(Failure::new(code, message), scope);
    }

    /// Reports a warning at the current pointer.
    pub(super) fn warn(&mut self, code: &str, message: &str) {
        if self.reports.wants(code, &self.path) {
            let warning = Diagnostic::warning(code, self.path.clone(), message);
            self.reports.add(warning);
        }
    }

    pub(super) fn warn_of_cleaned_text(&mut self) {
        self.path.clear();
        let cleaned = self.evaluation.shared.cleaned();
        if cleaned.control {
            let warning = Diagnostic::warning(
                "control-characters",
                "",
                "control characters in the data are shown as U+FFFD",
            );
            self.reports.add(warning.in_data());
        }
        if cleaned.bidi {
            let warning = Diagnostic::warning(
                "bidi-controls",
                "",
                "characters that change the direction of text were removed from the data",
            );
            self.reports.add(warning.in_data());
        }
    }

    pub(super) fn warn_of_references(&mut self) {
        for id in self.evaluation.shared.unnumbered() {
            let message = format!("a reference shows the number of `{id}`, which has none");
            let warning = Diagnostic::warning("reference-without-number", "", message)
                .with_hint("set `numbering` in the template, or refer to its `title` or `page`");
            self.reports.add(warning);
        }
    }

    /// Counts text towards the document's limit.
    pub(super) fn count_text(&mut self, bytes: usize, scope: &Scope<'_>) {
        self.text_bytes += bytes;
        let limit = self.options.limits.text_bytes;
        if self.text_bytes > limit && !self.stopped() {
            let message = format!("the document has more than {limit} bytes of text");
            self.mistake("too-much-text", message, scope);
        }
    }
}
