//! The loss report: what a format cannot express, reported once per kind of loss and node.

use std::collections::HashSet;

use platen_document::Diagnostic;

/// A written file with its loss report.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// What the format could not express.
    pub warnings: Vec<Diagnostic>,
}

/// Collects losses; the same loss at the same node counts once.
#[derive(Debug, Default)]
pub struct Report {
    warnings: Vec<Diagnostic>,
    seen: HashSet<(&'static str, String)>,
}

impl Report {
    /// Reports the loss `code` at the node `path`.
    pub fn warn(&mut self, code: &'static str, path: &str, message: impl Into<String>) {
        if self.seen.insert((code, path.to_owned())) {
            self.warnings.push(Diagnostic::warning(code, path, message));
        }
    }

    /// Combines the file with the report.
    #[must_use]
    pub fn finish(self, bytes: Vec<u8>) -> Written {
        Written {
            bytes,
            warnings: self.warnings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_said_once() {
        let mut report = Report::default();
        report.warn("chart-omitted", "/body/0", "one");
        report.warn("chart-omitted", "/body/0", "two");
        report.warn("chart-omitted", "/body/1", "three");
        assert_eq!(report.finish(Vec::new()).warnings.len(), 2);
    }
}
