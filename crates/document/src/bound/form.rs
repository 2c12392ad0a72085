//! Form fields and places to sign.

use std::sync::Arc;

use super::Inline;

/// A field that readers fill in. Lengths are in points.
#[derive(Clone, Debug, PartialEq)]
pub struct FormField {
    /// Name of the form field.
    pub name: String,
    /// What is filled in.
    pub kind: FormFieldKind,
    /// Text above the field, or beside a check box; the text on a button.
    pub label: Option<Vec<Inline>>,
    /// What it asks for, for screen readers.
    pub purpose: String,
    /// What stands in it at first; the value of an option where there are some.
    pub value: String,
    /// Whether it must be filled in before the form is sent.
    pub required: bool,
    /// Whether readers cannot change it.
    pub read_only: bool,
    /// Width of the box; `None` is that of the column.
    pub width: Option<f32>,
    /// Height of the box; `None` is that of its lines.
    pub height: Option<f32>,
}

/// What is filled into a form field.
#[derive(Clone, Debug, PartialEq)]
pub enum FormFieldKind {
    /// Text.
    Text {
        /// Number of lines that the box shows, at least 1.
        lines: u8,
        /// Maximum number of characters.
        max_length: Option<u32>,
    },
    /// A date.
    Date,
    /// Yes or no.
    CheckBox {
        /// Whether it is checked at first.
        checked: bool,
    },
    /// One of the options, from a list that opens.
    DropDown(Vec<FormOption>),
    /// One of the options, each with a button.
    Radio(Vec<FormOption>),
    /// A button that sends the form to an address, or clears it.
    Button {
        /// The address.
        submit: Option<Arc<str>>,
    },
}

/// An option of a form field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormOption {
    /// What is sent.
    pub value: String,
    /// What readers see.
    pub label: String,
}

impl FormField {
    /// The options, if there are any.
    #[must_use]
    pub fn options(&self) -> &[FormOption] {
        match &self.kind {
            FormFieldKind::DropDown(options) | FormFieldKind::Radio(options) => options,
            _ => &[],
        }
    }

    /// Index of the option that is chosen at first.
    #[must_use]
    pub fn chosen(&self) -> Option<usize> {
        let options = self.options();
        options.iter().position(|option| option.value == self.value)
    }

    /// What stands in it at first, as readers see it; empty for a check box and a button.
    #[must_use]
    pub fn shown(&self) -> &str {
        match self.chosen() {
            Some(index) => &self.options()[index].label,
            None => &self.value,
        }
    }

    /// The text for formats without form fields: what is asked for, and what stands in it.
    #[must_use]
    pub fn as_text(&self) -> String {
        const LINE: &str = "____________________";
        let label = &self.purpose;
        match &self.kind {
            FormFieldKind::CheckBox { checked } => format!("{} {label}", ballot(*checked)),
            FormFieldKind::Radio(options) => {
                let chosen = self.chosen();
                let options = options.iter().enumerate();
                let marked = options.map(|(index, option)| {
                    format!("{} {}", ballot(chosen == Some(index)), option.label)
                });
                format!("{label}: {}", marked.collect::<Vec<_>>().join("  "))
            }
            FormFieldKind::Button { .. } => format!("[{label}]"),
            _ if self.shown().is_empty() => format!("{label}: {LINE}"),
            _ => format!("{label}: {}", self.shown()),
        }
    }
}

/// A box, with a check mark or empty.
fn ballot(checked: bool) -> char {
    if checked { '\u{2611}' } else { '\u{2610}' }
}

/// A place to sign.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Name of the form field.
    pub name: String,
    /// Text below the line.
    pub label: Option<Vec<Inline>>,
    /// Width, in points.
    pub width: f32,
    /// Height above the line, in points.
    pub height: f32,
}
