//! Values of expressions, and their conversion to text, numbers, conditions and rows.

use minijinja::{Value as Dynamic, value::ValueKind};
use serde_json::Value as Json;

use super::{Failure, Shared};
use crate::{
    bound::{FormatLength, Value, ValueFormat},
    clean,
    decimal::decimal,
    locale::Moment,
};

/// Maximum length of a text that an evaluation produces, in bytes.
pub(crate) const MAX_TEXT_BYTES: usize = 1 << 20;

/// A double holds every integer up to this one.
const MAX_EXACT: u128 = 1 << 53;

/// The value of an expression.
#[derive(Debug)]
pub(crate) enum Evaluated<'s> {
    /// Part of the data.
    Json(&'s Json),
    /// Rows of a table or group.
    Rows(&'s [&'s Json]),
    /// A computed number.
    Number(f64),
    /// True or false.
    Truth(bool),
    /// A computed text.
    Text(String),
    /// A value that a filter formatted, with both forms.
    Formatted {
        /// The text.
        text: String,
        /// The value before formatting.
        value: Value,
        /// The format that was applied.
        format: ValueFormat,
    },
    /// Any other minijinja value.
    Dynamic(Dynamic),
}

/// A scalar of any origin.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar<'v> {
    Null,
    Truth(bool),
    Integer(i128),
    Number(f64),
    Text(&'v str),
    /// A list or object.
    Nested,
}

impl<'v> Scalar<'v> {
    pub(super) fn of_json(json: &'v Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(truth) => Self::Truth(*truth),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => Self::Integer(integer.into()),
                (None, Some(integer)) => Self::Integer(integer.into()),
                (None, None) => Self::Number(number.as_f64().unwrap_or_default()),
            },
            Json::String(text) => Self::Text(text),
            Json::Array(_) | Json::Object(_) => Self::Nested,
        }
    }

    pub(super) fn of_dynamic(value: &'v Dynamic) -> Self {
        match value.kind() {
            ValueKind::Undefined | ValueKind::None => Self::Null,
            ValueKind::Bool => Self::Truth(value.is_true()),
            ValueKind::Number => match i128::try_from(value.clone()) {
                Ok(integer) if value.is_integer() => Self::Integer(integer),
                _ => Self::Number(f64::try_from(value.clone()).unwrap_or(f64::NAN)),
            },
            ValueKind::String => value.as_str().map_or(Self::Nested, Self::Text),
            _ => Self::Nested,
        }
    }

    /// The number that this is, or that its text contains.
    pub(super) fn to_number(self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(integer as f64),
            Self::Number(number) => Some(number),
            Self::Text(text) if text.len() <= 64 => {
                let plain = text.trim();
                let decimal = plain
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
                plain
                    .parse()
                    .ok()
                    .filter(|number: &f64| decimal && number.is_finite())
            }
            _ => None,
        }
    }

    pub(super) fn to_moment(self, shared: &Shared) -> Option<Moment> {
        match self {
            Self::Text(text) => Moment::parse(text, &shared.zone),
            Self::Integer(_) | Self::Number(_) => {
                Moment::from_unix_seconds(self.to_number()?, &shared.zone)
            }
            _ => None,
        }
    }

    fn describe(self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Truth(truth) => truth.to_string(),
            Self::Integer(integer) => integer.to_string(),
            Self::Number(number) => plain_number(number),
            Self::Text(text) => {
                let short: String = text.chars().take(40).collect();
                format!("\"{}\"", clean::clean(&short).0)
            }
            Self::Nested => "a list or an object".to_owned(),
        }
    }

    /// Formats the value and returns it typed. Null becomes empty text.
    pub(super) fn format(
        self,
        format: &ValueFormat,
        shared: &Shared,
    ) -> Result<(String, Value), Failure> {
        if matches!(self, Self::Null) {
            return Ok((String::new(), Value::Empty));
        }
        let value = self.typed(format, shared)?;
        let exact = match self {
            Self::Integer(integer) if integer.unsigned_abs() > MAX_EXACT => {
                shared.locale.format_integer(integer, format)
            }
            _ => None,
        };
        let text = exact.or_else(|| shared.locale.format_value(value, format));
        Ok((text.unwrap_or_default(), value))
    }

    /// The typed value that `format` formats.
    fn typed(self, format: &ValueFormat, shared: &Shared) -> Result<Value, Failure> {
        let wrong = |expected: &str, code| {
            Err(Failure::new(
                code,
                format!("{} is not {expected}", self.describe()),
            ))
        };
        match format {
            ValueFormat::Text => Ok(Value::Empty),
            ValueFormat::Number { .. }
            | ValueFormat::Currency { .. }
            | ValueFormat::Percent { .. } => match self.to_number() {
                Some(number) if number.is_finite() => Ok(Value::Number(number)),
                Some(_) => Err(Failure::new(
                    "number-too-large",
                    "a number is too large to be written",
                )),
                None => wrong("a number", "not-a-number"),
            },
            ValueFormat::Date(_) | ValueFormat::DateTime(_) | ValueFormat::Time(_) => {
                match self.to_moment(shared) {
                    Some(moment) => Ok(moment.for_format(format).to_value()),
                    None => wrong("a date or time", "not-a-date").map_err(|failure| {
                        failure.with_hint(
                            "write `2026-11-21`, `2026-11-21T14:30:00Z` or seconds since 1970",
                        )
                    }),
                }
            }
        }
    }
}

/// Formats a number without grouping.
pub(super) fn plain_number(number: f64) -> String {
    if number.abs() >= 1e21 || !number.is_finite() || (number != 0.0 && number.abs() < 1e-15) {
        return format!("{number:E}");
    }
    decimal(number)
}

impl<'s> Evaluated<'s> {
    pub(super) fn scalar(&self) -> Scalar<'_> {
        match self {
            Self::Json(json) => Scalar::of_json(json),
            Self::Rows(_) => Scalar::Nested,
            Self::Number(number) => Scalar::Number(*number),
            Self::Truth(truth) => Scalar::Truth(*truth),
            Self::Text(text) | Self::Formatted { text, .. } => Scalar::Text(text),
            Self::Dynamic(value) => Scalar::of_dynamic(value),
        }
    }

    /// Appends the value as text. Texts from the data are sanitized.
    ///
    /// # Errors
    /// Lists and objects have no text.
    pub(crate) fn write(&self, target: &mut String, shared: &Shared) -> Result<(), Failure> {
        let from_data = matches!(self, Self::Json(_));
        match self.scalar() {
            Scalar::Null => {}
            Scalar::Truth(truth) => target.push_str(if truth { "true" } else { "false" }),
            Scalar::Integer(integer) => target.push_str(&integer.to_string()),
            Scalar::Number(number) if number.is_finite() => {
                target.push_str(&plain_number(number));
            }
            Scalar::Number(_) => {
                return Err(Failure::new(
                    "number-too-large",
                    "a number is too large to be written",
                ));
            }
            Scalar::Text(text) if text.len() > MAX_TEXT_BYTES => {
                return Err(Failure::new(
                    "text-too-long",
                    format!(
                        "a text has {} bytes; at most {MAX_TEXT_BYTES} are shown",
                        text.len()
                    ),
                ));
            }
            Scalar::Text(text) if from_data => target.push_str(&shared.clean(text)),
            Scalar::Text(text) => target.push_str(text),
            Scalar::Nested => {
                return Err(Failure::new(
                    "not-text",
                    "a list or an object cannot be shown as text",
                )
                .with_hint("name one of its fields, or use `join`, `count` or a table"));
            }
        }
        Ok(())
    }

    /// Converts the value to text.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) fn into_text(self, shared: &Shared) -> Result<String, Failure> {
        match self {
            Self::Text(text) | Self::Formatted { text, .. } => Ok(text),
            other => {
                let mut text = String::new();
                other.write(&mut text, shared)?;
                Ok(text)
            }
        }
    }

    /// False for `false`, null, zero and empty values; true otherwise.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Rows(rows) => !rows.is_empty(),
            Self::Json(Json::Array(items)) => !items.is_empty(),
            Self::Json(Json::Object(fields)) => !fields.is_empty(),
            Self::Dynamic(value) => value.is_true(),
            _ => match self.scalar() {
                Scalar::Null => false,
                Scalar::Truth(truth) => truth,
                Scalar::Integer(integer) => integer != 0,
                Scalar::Number(number) => number != 0.0,
                Scalar::Text(text) => !text.is_empty(),
                Scalar::Nested => true,
            },
        }
    }

    /// Converts the value to a number; `None` for null.
    ///
    /// # Errors
    /// The value is not a number.
    pub(crate) fn to_number(&self) -> Result<Option<f64>, Failure> {
        if let Self::Formatted {
            value: Value::Number(number),
            ..
        } = self
        {
            return Ok(Some(*number));
        }
        let scalar = self.scalar();
        match scalar.to_number() {
            Some(number) if number.is_finite() => Ok(Some(number)),
            Some(_) => Err(Failure::new("number-too-large", "a number is too large")),
            None if matches!(scalar, Scalar::Null) => Ok(None),
            None => Err(Failure::new(
                "not-a-number",
                format!("{} is not a number", scalar.describe()),
            )),
        }
    }

    /// Formats the value and returns it typed, with its own format if it has one.
    ///
    /// # Errors
    /// The value does not fit the format.
    pub(crate) fn format(
        self,
        format: &ValueFormat,
        shared: &Shared,
    ) -> Result<(String, Value, Option<ValueFormat>), Failure> {
        match self {
            // A filter has formatted it already; its format takes precedence.
            Self::Formatted {
                text,
                value,
                format,
            } => Ok((text, value, Some(format))),
            value if *format == ValueFormat::Text => {
                let typed = match value.scalar() {
                    Scalar::Integer(number) if number.unsigned_abs() < MAX_EXACT => {
                        Value::Number(number as f64)
                    }
                    Scalar::Number(number) if number.is_finite() => Value::Number(number),
                    Scalar::Truth(truth) => Value::Bool(truth),
                    _ => Value::Empty,
                };
                Ok((value.into_text(shared)?, typed, None))
            }
            value => {
                let (text, typed) = value.scalar().format(format, shared)?;
                Ok((text, typed, None))
            }
        }
    }

    /// The elements of the value as rows.
    ///
    /// # Errors
    /// The value is not a list, or has more than `limit` elements.
    pub(crate) fn into_rows(self, limit: usize) -> Result<Rows<'s>, Failure> {
        let wrong = |found: &str| {
            Err(Failure::new(
                "not-a-list",
                format!("rows must be a list, this is {found}"),
            ))
        };
        let rows = match self {
            Self::Json(Json::Array(items)) => Rows::Borrowed(items.iter().collect()),
            Self::Json(Json::Null) => Rows::Borrowed(Vec::new()),
            Self::Rows(rows) => Rows::Borrowed(rows.to_vec()),
            Self::Dynamic(value) => match value.kind() {
                ValueKind::None => Rows::Borrowed(Vec::new()),
                ValueKind::Seq | ValueKind::Iterable => {
                    let mut items = Vec::new();
                    for item in value.try_iter()?.take(limit.saturating_add(1)) {
                        items.push(serde_json::to_value(&item).map_err(|error| {
                            Failure::new("expression-failed", error.to_string())
                        })?);
                    }
                    Rows::Owned(items)
                }
                kind => return wrong(&kind.to_string()),
            },
            other => return wrong(&other.scalar().describe()),
        };
        if rows.len() > limit {
            return Err(Failure::new(
                "too-many-rows",
                format!("a list has more than {limit} elements"),
            ));
        }
        Ok(rows)
    }

    /// Converts the value to JSON, for grouping.
    pub(crate) fn into_json(self) -> Json {
        match self {
            Self::Json(json) => json.clone(),
            Self::Rows(rows) => Json::Array(rows.iter().map(|row| (*row).clone()).collect()),
            Self::Number(number) => Json::from(number),
            Self::Truth(truth) => Json::from(truth),
            Self::Text(text) | Self::Formatted { text, .. } => Json::from(text),
            Self::Dynamic(value) => serde_json::to_value(&value).unwrap_or_default(),
        }
    }
}

/// The rows that a table, list or repeat iterates over.
#[derive(Debug)]
pub(crate) enum Rows<'s> {
    /// Parts of the data.
    Borrowed(Vec<&'s Json>),
    /// Rows that an expression produced.
    Owned(Vec<Json>),
}

impl Rows<'_> {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Borrowed(rows) => rows.len(),
            Self::Owned(rows) => rows.len(),
        }
    }

    /// References to the rows.
    pub(crate) fn as_refs(&self) -> Vec<&Json> {
        match self {
            Self::Borrowed(rows) => rows.clone(),
            Self::Owned(rows) => rows.iter().collect(),
        }
    }
}

/// Parses `short`, `medium`, `long` or `full`.
pub(super) fn format_length(text: &str) -> Option<FormatLength> {
    Some(match text {
        "short" => FormatLength::Short,
        "medium" => FormatLength::Medium,
        "long" => FormatLength::Long,
        "full" => FormatLength::Full,
        _ => return None,
    })
}
