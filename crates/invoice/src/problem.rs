//! What is wrong with an invoice.

use serde::Serialize;

/// How much a problem weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// Receivers refuse the invoice.
    Error,
    /// Receivers accept it.
    Warning,
}

/// Something wrong with an invoice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// How much it weighs.
    pub weight: Weight,
    /// The rule, such as `BR-CO-15`; `invalid-value` and `difference` for our own.
    pub rule: String,
    /// JSON pointer in [`crate::Invoice`], such as `/lines/2/vat/rate`.
    pub path: String,
    /// What is wrong, for people.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    /// An error.
    #[must_use]
    pub fn error(rule: &str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            weight: Weight::Error,
            rule: rule.to_owned(),
            path: path.into(),
            message: message.into(),
            hint: None,
        }
    }

    /// With advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} ({})", self.path, self.message, self.rule)
    }
}
