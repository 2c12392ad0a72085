//! Filters of dates: patterns, arithmetic and parts; and numbers in words.

use minijinja::{Environment, Error, ErrorKind, State, Value as Dynamic};

use super::{evaluated::Scalar, outcome::shared, shared::Shared};
use crate::locale::Moment;

type Outcome = Result<Dynamic, Error>;

/// Largest number of days, months or years that are added.
const MAX_STEP: i64 = 400_000;

fn error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

fn moment(value: &Dynamic, shared: &Shared) -> Result<Moment, Error> {
    let moment = Scalar::of_dynamic(value).to_moment(shared);
    moment.ok_or_else(|| error(format!("`{value}` is not a date or time")))
}

/// Whether a pattern names a part of a date, outside quotes (UTS #35).
fn names_dates(pattern: &str) -> bool {
    let mut quoted = false;
    pattern.chars().any(|symbol| {
        quoted ^= symbol == '\'';
        !quoted && "GyYuUrQqMLwWdDFgEec".contains(symbol)
    })
}

/// Formats a date or time by a CLDR pattern such as `d MMMM y`.
pub(super) fn by_pattern(value: &Dynamic, pattern: &str, shared: &Shared) -> Outcome {
    if value.is_none() {
        return Ok(Dynamic::from(""));
    }
    let moment = moment(value, shared)?;
    if matches!(moment, Moment::Time(_)) && names_dates(pattern) {
        return Err(error("a time of day has no date"));
    }
    let text = shared.locale.format_pattern(moment, pattern);
    text.map(Dynamic::from).map_err(error)
}

/// Moves a moment by a number of units.
type Step = fn(Moment, i64) -> Option<Moment>;
/// Reads a part of a moment.
type Part = fn(Moment) -> Option<i64>;

pub(super) fn add(environment: &mut Environment<'static>) {
    let steps: [(&str, Step); 3] = [
        ("addDays", Moment::plus_days),
        ("addMonths", Moment::plus_months),
        ("addYears", |moment, years| {
            moment.plus_months(years.checked_mul(12)?)
        }),
    ];
    for (name, step) in steps {
        environment.add_filter(
            name,
            move |state: &State<'_, '_>, value: &Dynamic, count: i64| -> Outcome {
                let moment = moment(value, &*shared(state)?)?;
                let moved = (-MAX_STEP..=MAX_STEP)
                    .contains(&count)
                    .then(|| step(moment, count))
                    .flatten();
                let moved = moved.ok_or_else(|| error(format!("`{name}` leads out of range")))?;
                Ok(Dynamic::from(moved.to_iso()))
            },
        );
    }
    let bounds: [(&str, bool); 2] = [("startOfMonth", false), ("endOfMonth", true)];
    for (name, end) in bounds {
        environment.add_filter(
            name,
            move |state: &State<'_, '_>, value: &Dynamic| -> Outcome {
                let moment = moment(value, &*shared(state)?)?;
                let bound = moment.month_bound(end);
                let bound = bound.ok_or_else(|| error(format!("`{name}` leads out of range")))?;
                Ok(Dynamic::from(bound.to_iso()))
            },
        );
    }
    let parts: [(&str, Part); 2] = [("weekday", Moment::weekday), ("week", Moment::week)];
    for (name, part) in parts {
        environment.add_filter(
            name,
            move |state: &State<'_, '_>, value: &Dynamic| -> Outcome {
                let moment = moment(value, &*shared(state)?)?;
                let part = part(moment).ok_or_else(|| error("a time of day has no date"))?;
                Ok(Dynamic::from(part))
            },
        );
    }
    environment.add_filter(
        "daysUntil",
        |state: &State<'_, '_>, from: &Dynamic, to: &Dynamic| -> Outcome {
            let shared = shared(state)?;
            let days = |value| -> Result<i64, Error> {
                let day = moment(value, &shared)?.day();
                day.ok_or_else(|| error("a time of day has no date"))
            };
            Ok(Dynamic::from(days(to)? - days(from)?))
        },
    );
    environment.add_filter("words", words);
}

/// A whole number in words.
fn words(state: &State<'_, '_>, value: &Dynamic) -> Outcome {
    let shared = shared(state)?;
    let number = Scalar::of_dynamic(value).to_number();
    let number = number.filter(|number| number.fract() == 0.0 && number.abs() < 1e15);
    let number = number.ok_or_else(|| {
        error("`words` needs a whole number below 1,000,000,000,000,000: use `int` or `round`")
    })?;
    shared
        .locale
        .words(number as i64)
        .map(Dynamic::from)
        .map_err(error)
}

/// Splits a list into lists of `size` elements; the last one may be shorter.
pub(super) fn batch(state: &State<'_, '_>, list: &Dynamic, size: usize) -> Outcome {
    if size == 0 {
        return Err(error("`batch` needs a size of at least 1"));
    }
    let shared = shared(state)?;
    let mut batches: Vec<Vec<Dynamic>> = Vec::new();
    for item in list.try_iter()? {
        shared.charge_dynamic(1)?;
        match batches.last_mut() {
            Some(last) if last.len() < size => last.push(item),
            _ => batches.push(vec![item]),
        }
    }
    Ok(Dynamic::from(batches))
}
