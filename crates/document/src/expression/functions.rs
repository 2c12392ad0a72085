//! Functions and filters of expressions: locale formats, text, aggregates.

use std::cmp::Ordering;

use minijinja::{
    Environment, Error, ErrorKind, State, Value as Dynamic,
    value::{Kwargs, ValueKind},
};

use super::{
    Failure, Shared,
    evaluated::{MAX_TEXT_BYTES, Scalar, format_length},
    outcome::{bounded, error, shared, text_of},
};
use crate::{
    bound::{FormatLength, ValueFormat},
    locale::{currency_decimals, is_currency_code, rounded},
};

type Outcome = Result<Dynamic, Error>;
/// Name of a filter, its format, and the default length.
type MomentFilter = (&'static str, fn(FormatLength) -> ValueFormat, FormatLength);
/// Name of a filter and its transformation of a text.
type TextFilter = (&'static str, fn(&str) -> String);

/// Maximum number of decimals for `round`; a binary double has no more significant ones.
const MAX_ROUND_DECIMALS: u8 = 15;

/// Rounds half away from zero, as is customary for amounts.
pub(super) fn round(value: &Dynamic, decimals: Option<i64>) -> Outcome {
    if value.is_integer() {
        return Ok(value.clone());
    }
    let number = (value.kind() == ValueKind::Number)
        .then(|| f64::try_from(value.clone()).ok())
        .flatten()
        .ok_or_else(|| error("`round` needs a number"))?;
    let decimals = decimals.unwrap_or(0);
    let decimals = u8::try_from(decimals)
        .ok()
        .filter(|decimals| *decimals <= MAX_ROUND_DECIMALS)
        .ok_or_else(|| error(format!("`round` keeps 0 to {MAX_ROUND_DECIMALS} decimals")))?;
    Ok(Dynamic::from(rounded(number, decimals)))
}

pub(super) fn add(environment: &mut Environment<'static>) {
    add_formats(environment);
    add_texts(environment);
    super::dates::add(environment);
    environment.add_filter(
        "sum",
        |state: &State<'_, '_>, list: &Dynamic, name: Option<&str>| {
            numbers(state, list, name)?
                .total()
                .map(optional)
                .map_err(Error::from)
        },
    );
    environment.add_filter(
        "avg",
        |state: &State<'_, '_>, list: &Dynamic, name: Option<&str>| {
            numbers(state, list, name)?
                .mean()
                .map(optional)
                .map_err(Error::from)
        },
    );
    environment.add_filter(
        "min",
        |state: &State<'_, '_>, list: &Dynamic, name: Option<&str>| {
            extreme(state, list, name, Ordering::Less)
        },
    );
    environment.add_filter(
        "max",
        |state: &State<'_, '_>, list: &Dynamic, name: Option<&str>| {
            extreme(state, list, name, Ordering::Greater)
        },
    );
    environment.add_filter("batch", super::dates::batch);
    environment.add_filter("groupby", group_by);
    environment.add_filter("pluralise", pluralise);
    environment.add_filter("pluralize", pluralise);
    super::operands::add(environment);
    environment.add_filter("t", super::message::message);
    environment.add_function("t", super::message::message);
    environment.add_function("ref", super::reference::reference);
    environment.add_function("runningHead", super::reference::running_head);
    environment.add_function("now", |state: &State<'_, '_>| -> Outcome {
        Ok(Dynamic::from(shared(state)?.now_unix_seconds))
    });
}

fn add_formats(environment: &mut Environment<'static>) {
    environment.add_filter(
        "currency",
        |state: &State<'_, '_>, value: &Dynamic, code: Option<&str>| -> Outcome {
            let shared = shared(state)?;
            let format = currency_format(code, &shared)?;
            write_formatted(value, &format, &shared)
        },
    );
    environment.add_filter(
        "number",
        |state: &State<'_, '_>, value: &Dynamic, decimals: Option<u8>| -> Outcome {
            write_formatted(value, &ValueFormat::Number { decimals }, &*shared(state)?)
        },
    );
    environment.add_filter(
        "integer",
        |state: &State<'_, '_>, value: &Dynamic| -> Outcome {
            let format = ValueFormat::Number { decimals: Some(0) };
            write_formatted(value, &format, &*shared(state)?)
        },
    );
    environment.add_filter(
        "percent",
        |state: &State<'_, '_>, value: &Dynamic, decimals: Option<u8>| -> Outcome {
            let decimals = decimals.unwrap_or(0);
            write_formatted(value, &ValueFormat::Percent { decimals }, &*shared(state)?)
        },
    );
    let moments: [MomentFilter; 3] = [
        ("date", ValueFormat::Date, FormatLength::Medium),
        ("time", ValueFormat::Time, FormatLength::Short),
        ("datetime", ValueFormat::DateTime, FormatLength::Medium),
    ];
    for (name, kind, default) in moments {
        environment.add_filter(
            name,
            move |state: &State<'_, '_>, value: &Dynamic, length: Option<&str>| -> Outcome {
                let shared = shared(state)?;
                let length = match length {
                    None => default,
                    Some(text) => match format_length(text) {
                        Some(length) => length,
                        None => return super::dates::by_pattern(value, text, &shared),
                    },
                };
                write_formatted(value, &kind(length), &shared)
            },
        );
    }
}

fn write_formatted(value: &Dynamic, format: &ValueFormat, shared: &Shared) -> Outcome {
    let (text, _) = Scalar::of_dynamic(value).format(format, shared)?;
    Ok(Dynamic::from(text))
}

/// The format of the currency `code`, or of the document's currency.
pub(super) fn currency_format(code: Option<&str>, shared: &Shared) -> Result<ValueFormat, Failure> {
    let code = code.or(shared.currency.as_deref()).ok_or_else(|| {
        Failure::new("unknown-currency", "no currency is given")
            .with_hint("write `currency('EUR')`, or set `currency` in the template")
    })?;
    if !is_currency_code(code) {
        let shown: String = code.chars().take(12).collect();
        return Err(Failure::new(
            "unknown-currency",
            format!("`{shown}` is not a currency: write three capital letters such as `EUR`"),
        ));
    }
    Ok(ValueFormat::Currency {
        code: code.to_owned(),
        decimals: currency_decimals(code),
    })
}

fn add_texts(environment: &mut Environment<'static>) {
    let transforms: [TextFilter; 5] = [
        ("upper", str::to_uppercase),
        ("lower", str::to_lowercase),
        ("title", title_case),
        ("capitalize", |text| {
            let mut symbols = text.chars();
            match symbols.next() {
                Some(first) => first.to_uppercase().chain(symbols).collect(),
                None => String::new(),
            }
        }),
        ("string", str::to_owned),
    ];
    for (name, transform) in transforms {
        environment.add_filter(name, move |state: &State<'_, '_>, value: &Dynamic| {
            bounded(transform(&text_of(value, &*shared(state)?)?))
        });
    }
    environment.add_filter("trim", |state: &State<'_, '_>, value: &Dynamic| {
        bounded(text_of(value, &*shared(state)?)?.trim().to_owned())
    });
    environment.add_filter(
        "truncate",
        |state: &State<'_, '_>, value: &Dynamic, length: usize| {
            let text = text_of(value, &*shared(state)?)?;
            match text.char_indices().nth(length) {
                Some((end, _)) => bounded(format!("{}…", text[..end].trim_end())),
                None => bounded(text),
            }
        },
    );
    environment.add_filter("replace", replace);
    environment.add_filter("join", join);
}

/// Capitalises the first letter of every word, with the others in lower case.
pub(super) fn title_case(text: &str) -> String {
    let mut title = String::with_capacity(text.len());
    let mut starts = true;
    for symbol in text.chars() {
        if starts {
            title.extend(symbol.to_uppercase());
        } else {
            title.extend(symbol.to_lowercase());
        }
        starts = !(symbol.is_alphanumeric() || symbol == '\'' || symbol == '’');
    }
    title
}

fn replace(state: &State<'_, '_>, value: &Dynamic, from: &str, to: &str) -> Outcome {
    let shared = shared(state)?;
    let text = text_of(value, &shared)?;
    if from.is_empty() {
        return Err(error("`replace` needs a text to look for"));
    }
    let found = text.matches(from).count();
    shared.charge_dynamic(text.len() / 64 + found)?;
    if text.len() + found.saturating_mul(to.len()) > MAX_TEXT_BYTES + found * from.len() {
        return Err(error(format!(
            "a text is longer than {MAX_TEXT_BYTES} bytes"
        )));
    }
    bounded(text.replace(from, to))
}

fn join(state: &State<'_, '_>, list: &Dynamic, separator: Option<&str>) -> Outcome {
    let shared = shared(state)?;
    let mut joined = String::new();
    for (index, item) in list.try_iter()?.enumerate() {
        if index > 0 {
            joined.push_str(separator.unwrap_or_default());
        }
        joined.push_str(&text_of(&item, &shared)?);
        if joined.len() > MAX_TEXT_BYTES {
            return Err(error(format!(
                "a text is longer than {MAX_TEXT_BYTES} bytes"
            )));
        }
    }
    bounded(joined)
}

/// Compensated summation (Neumaier), so that cents stay exact over long lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    total: f64,
    lost: f64,
    numbers: usize,
    /// Number of elements seen, including nulls.
    pub(crate) count: usize,
}

impl Sum {
    /// Adds a number.
    pub(crate) fn add(&mut self, number: f64) {
        let total = self.total + number;
        self.lost += if self.total.abs() >= number.abs() {
            (self.total - total) + number
        } else {
            (number - total) + self.total
        };
        self.total = total;
        self.numbers += 1;
        self.count += 1;
    }

    pub(super) fn add_scalar(&mut self, scalar: Scalar<'_>) -> Result<(), Failure> {
        match (scalar.to_number(), scalar) {
            (Some(number), _) => self.add(number),
            (None, Scalar::Null) => self.count += 1,
            (None, _) => {
                return Err(Failure::new(
                    "not-a-number",
                    "an element of the list is not a number",
                ));
            }
        }
        Ok(())
    }

    /// The sum; 0 without numbers.
    ///
    /// # Errors
    /// The sum overflows.
    pub(crate) fn total(&self) -> Result<Option<f64>, Failure> {
        let total = if self.total.is_finite() {
            self.total + self.lost
        } else {
            self.total
        };
        if total.is_finite() {
            return Ok(Some(total));
        }
        Err(Failure::new(
            "number-too-large",
            "the sum is beyond the largest number",
        ))
    }

    /// The arithmetic mean; `None` without numbers.
    ///
    /// # Errors
    /// As [`Self::total`].
    pub(crate) fn mean(&self) -> Result<Option<f64>, Failure> {
        let total = self.total()?;
        Ok(total
            .filter(|_| self.numbers > 0)
            .map(|total| total / self.numbers as f64))
    }
}

fn optional(number: Option<f64>) -> Dynamic {
    match number {
        // Whole results become integers, so that they are shown and compared as such.
        Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Dynamic::from(number as i64)
        }
        Some(number) => Dynamic::from(number),
        None => Dynamic::from(()),
    }
}

fn attribute(item: &Dynamic, name: Option<&str>) -> Outcome {
    let Some(name) = name else {
        return Ok(item.clone());
    };
    let mut value = item.clone();
    for field in name.split('.') {
        value = value.get_attr(field)?;
        if value.is_undefined() {
            return Err(Error::new(
                ErrorKind::UndefinedError,
                format!("an element has no field `{name}`"),
            ));
        }
    }
    Ok(value)
}

fn numbers(state: &State<'_, '_>, list: &Dynamic, name: Option<&str>) -> Result<Sum, Error> {
    let shared = shared(state)?;
    let mut sum = Sum::default();
    for item in list.try_iter()? {
        shared.charge_dynamic(1)?;
        sum.add_scalar(Scalar::of_dynamic(&attribute(&item, name)?))?;
    }
    Ok(sum)
}

fn extreme(state: &State<'_, '_>, list: &Dynamic, name: Option<&str>, wanted: Ordering) -> Outcome {
    let shared = shared(state)?;
    let mut best: Option<Dynamic> = None;
    for item in list.try_iter()? {
        shared.charge_dynamic(1)?;
        let value = attribute(&item, name)?;
        let better = best.as_ref().is_none_or(|best| value.cmp(best) == wanted);
        if better && value.kind() != ValueKind::None {
            best = Some(value);
        }
    }
    Ok(best.unwrap_or_else(|| Dynamic::from(())))
}

/// Groups in order of first appearance, each with `key`, `rows` and `count`.
fn group_by(state: &State<'_, '_>, list: &Dynamic, name: &str) -> Outcome {
    let shared = shared(state)?;
    let mut places = std::collections::BTreeMap::new();
    let mut groups: Vec<(Dynamic, Vec<Dynamic>)> = Vec::new();
    for item in list.try_iter()? {
        shared.charge_dynamic(1)?;
        let key = attribute(&item, Some(name))?;
        let place = *places.entry(key.clone()).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(item);
    }
    let groups: Vec<Dynamic> = groups
        .into_iter()
        .map(|(key, rows)| {
            Dynamic::from_pairs([
                ("key", key),
                ("count", Dynamic::from(rows.len())),
                ("rows", Dynamic::from(rows)),
            ])
        })
        .collect();
    Ok(Dynamic::from(groups))
}

/// Selects the form of a word for a number by CLDR plural category. `one` and `other` are
/// positional, the other categories named.
fn pluralise(
    state: &State<'_, '_>,
    number: &Dynamic,
    one: String,
    other: String,
    forms: Kwargs,
) -> Outcome {
    let number = Scalar::of_dynamic(number)
        .to_number()
        .ok_or_else(|| error("`pluralise` needs a number"))?;
    let category = shared(state)?.locale.plural_category(number);
    let named: Option<String> = match category {
        "one" | "other" => None,
        category => forms.get(category)?,
    };
    for known in ["zero", "two", "few", "many"] {
        let _: Option<Dynamic> = forms.get(known)?;
    }
    forms.assert_all_used()?;
    bounded(match (named, category) {
        (Some(form), _) => form,
        (None, "one") => one,
        (None, _) => other,
    })
}
