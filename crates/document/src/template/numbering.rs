//! Automatic numbers of headings, clauses and captions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Automatic numbers of headings, clauses and captions. In a pattern, `1`, `a`, `A`, `i` and `I`
/// stand for counters if no letter or digit is beside them: `1.`, `1.1`, `(a)`, `Article 1`. The
/// last counter is the level's own, those before it belong to the levels above. The names
/// `decimal`, `lowerAlpha`, `upperAlpha`, `lowerRoman` and `upperRoman` are patterns too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Numbering {
    /// Patterns for headings and clauses, one per level from level 1; at most 9. An empty pattern
    /// leaves its level without numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Pattern for the captions of images, such as `Figure 1:`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figures: Option<String>,
    /// Pattern for the captions of tables, such as `Table 1:`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<String>,
}

impl Numbering {
    /// Maximum number of levels, as in Word.
    pub const MAX_LEVELS: usize = 9;

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
