//! Cell values: formats, typed values, and the rows that tables and repeats iterate over.

use super::Binder;
use crate::{
    bound::{Cell, CellContent, StyleId, Value, ValueFormat},
    clean::is_field,
    expression::{CompiledText, Evaluated, Failure, Rows, Scope},
    locale::{currency_decimals, is_currency_code},
    template::{Expression, FormatLength, FormatName, FormatSpec},
};

impl Binder<'_> {
    /// Evaluates the rows of the expression in the field `token`; `None` after reporting an error.
    pub(super) fn rows<'s>(
        &mut self,
        token: &str,
        rows: &Expression,
        scope: &Scope<'s>,
    ) -> Option<Rows<'s>> {
        let compiled = self.compiled.expression(rows)?;
        let made = compiled
            .evaluate(scope, &self.evaluation)
            .and_then(|value| value.into_rows(self.options.limits.rows));
        match made {
            Ok(rows) => Some(rows),
            Err(failure) => {
                self.below(token, |binder| binder.report(failure, scope));
                None
            }
        }
    }

    /// Resolves a format specification.
    pub(super) fn value_format(&mut self, spec: &FormatSpec, scope: &Scope<'_>) -> ValueFormat {
        let (name, decimals, currency, length) = match spec {
            FormatSpec::Name(name) => (*name, None, None, None),
            FormatSpec::Options {
                name,
                decimals,
                currency,
                length,
            } => (*name, *decimals, currency.as_ref(), *length),
        };
        let length_or = |default| length.unwrap_or(default);
        match name {
            FormatName::Text => ValueFormat::Text,
            FormatName::Number => ValueFormat::Number { decimals },
            FormatName::Integer => ValueFormat::Number { decimals: Some(0) },
            FormatName::Percent => ValueFormat::Percent {
                decimals: decimals.unwrap_or(0),
            },
            FormatName::Date => ValueFormat::Date(length_or(FormatLength::Medium)),
            FormatName::Time => ValueFormat::Time(length_or(FormatLength::Short)),
            FormatName::DateTime => ValueFormat::DateTime(length_or(FormatLength::Medium)),
            FormatName::Currency => {
                let code = match currency {
                    Some(currency) => self.below("format", |binder| {
                        binder.line_at("currency", currency, scope)
                    }),
                    None => self.evaluation.shared.currency.clone().unwrap_or_default(),
                };
                if !is_currency_code(&code) {
                    let shown: String = code.chars().take(12).collect();
                    let message = format!("`{shown}` is not a currency code such as `EUR`");
                    self.below("format", |binder| {
                        binder.mistake("unknown-currency", message, scope);
                    });
                }
                ValueFormat::Currency {
                    decimals: decimals.unwrap_or_else(|| currency_decimals(&code)),
                    code,
                }
            }
        }
    }

    /// Text, typed value and own format of a text. A text that is a single expression keeps the
    /// type of its value. Reports errors and returns empty results for them.
    pub(super) fn typed(
        &mut self,
        text: &CompiledText,
        format: &ValueFormat,
        scope: &Scope<'_>,
    ) -> (String, Value, Option<ValueFormat>) {
        self.try_typed(text, format, scope)
            .unwrap_or_else(|failure| {
                self.report(failure, scope);
                (String::new(), Value::Empty, None)
            })
    }

    fn try_typed(
        &mut self,
        text: &CompiledText,
        format: &ValueFormat,
        scope: &Scope<'_>,
    ) -> Result<(String, Value, Option<ValueFormat>), Failure> {
        let made = match text.single() {
            Some(expression) => expression
                .evaluate(scope, &self.evaluation)
                .and_then(|value: Evaluated<'_>| value.format(format, &self.evaluation.shared))?,
            None => (text.evaluate(scope, &self.evaluation)?, Value::Empty, None),
        };
        self.count_text(made.0.len(), scope);
        Ok(made)
    }

    /// A single cell that shows `text`.
    ///
    /// # Errors
    /// The failure is returned instead of reported, so that the caller needs to build a pointer
    /// only for errors, not for each of many rows.
    pub(super) fn try_text_cell(
        &mut self,
        text: &CompiledText,
        format: &ValueFormat,
        style: StyleId,
        scope: &Scope<'_>,
    ) -> Result<Cell, Failure> {
        let (text, value, own) = self.try_typed(text, format, scope)?;
        Ok(Cell {
            content: content_of(text, style),
            value,
            style,
            col_span: 1,
            row_span: 1,
            aggregate: None,
            format: own.filter(|own| own != format).map(Box::new),
        })
    }

    /// Like [`Self::try_text_cell`], but reports errors and leaves the cell empty.
    pub(super) fn text_cell(
        &mut self,
        text: &CompiledText,
        format: &ValueFormat,
        style: StyleId,
        scope: &Scope<'_>,
    ) -> Cell {
        self.try_text_cell(text, format, style, scope)
            .unwrap_or_else(|failure| {
                self.report(failure, scope);
                Cell::text("", style)
            })
    }
}

/// Plain text if it is one line without page fields, otherwise inline content.
fn content_of(text: String, style: StyleId) -> CellContent {
    if !text.contains(|symbol| matches!(symbol, '\n' | '\t') || is_field(symbol)) {
        return CellContent::Text(text.into_boxed_str());
    }
    let mut inlines = Vec::new();
    super::inline::push_text(&mut inlines, &text, style, None);
    CellContent::Inlines(inlines.into_boxed_slice())
}

/// Whether values in this format are numbers.
pub(super) fn is_numeric(format: &ValueFormat) -> bool {
    matches!(
        format,
        ValueFormat::Number { .. } | ValueFormat::Currency { .. } | ValueFormat::Percent { .. }
    )
}
