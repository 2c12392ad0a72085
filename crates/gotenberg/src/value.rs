//! Parsers of Gotenberg's form values: lengths, durations, booleans.

use std::{collections::BTreeMap, str::FromStr, time::Duration};

use platen_fault::Code;
use serde::de::DeserializeOwned;

use platen_server::problem::Problem;

/// Form fields other than files. Each can be taken once.
#[derive(Debug, Default)]
pub(crate) struct Values(BTreeMap<String, String>);

fn invalid(name: &str, expected: &str) -> Problem {
    let detail = format!("the form field `{name}` is not {expected}");
    Problem::new(Code::InvalidRequest, detail)
}

fn unsupported(name: &str) -> Problem {
    let detail = format!("the form field `{name}` is not supported");
    Problem::new(Code::UnsupportedOption, detail)
}

impl Values {
    pub(crate) fn add(&mut self, name: &str, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.0.insert(name.to_owned(), text.to_owned());
        }
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    pub(crate) fn needed(&mut self, name: &str) -> Result<String, Problem> {
        self.text(name)
            .ok_or_else(|| invalid(name, "there, but needed"))
    }

    pub(crate) fn truth(&mut self, name: &str, default: bool) -> Result<bool, Problem> {
        match self.text(name).as_deref() {
            None => Ok(default),
            Some("true" | "1" | "t" | "T" | "TRUE" | "True") => Ok(true),
            Some("false" | "0" | "f" | "F" | "FALSE" | "False") => Ok(false),
            Some(_) => Err(invalid(name, "true or false")),
        }
    }

    pub(crate) fn number<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, Problem> {
        self.text(name).map_or(Ok(default), |text| {
            text.parse().map_err(|_| invalid(name, "a number"))
        })
    }

    /// Takes a length in inches.
    pub(crate) fn inches(&mut self, name: &str, default: f64) -> Result<f64, Problem> {
        self.text(name).map_or(Ok(default), |text| {
            inches(&text).ok_or_else(|| invalid(name, "a length such as `8.5in` or `21cm`"))
        })
    }

    pub(crate) fn duration(&mut self, name: &str) -> Result<Option<Duration>, Problem> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let read = duration(&text).ok_or_else(|| invalid(name, "a duration such as `1.5s`"));
        read.map(Some)
    }

    pub(crate) fn json<T: DeserializeOwned + Default>(&mut self, name: &str) -> Result<T, Problem> {
        self.text(name).map_or_else(
            || Ok(T::default()),
            |text| serde_json::from_str(&text).map_err(|_| invalid(name, "the JSON it should be")),
        )
    }

    /// Rejects unsupported fields that would change the result.
    pub(crate) fn refuse(&mut self, names: &[&str]) -> Result<(), Problem> {
        let is_on = |value: &str| value != "false" && value != "0";
        let named = |name: &&String| names.contains(&name.as_str()) || name.starts_with("facturx");
        let found = self
            .0
            .iter()
            .find(|(name, value)| named(name) && is_on(value));
        found.map_or(Ok(()), |(name, _)| Err(unsupported(name)))
    }

    /// Rejects restrictions that no handler took: ignoring them would leave the file unprotected.
    pub(crate) fn refuse_restrictions(&self) -> Result<(), Problem> {
        let is_off = |value: &str| !["true", "1", "t", "T", "TRUE", "True"].contains(&value);
        let restricts = |name: &str| {
            let rest = name.strip_prefix("allow");
            rest.is_some_and(|rest| rest.starts_with(char::is_uppercase))
        };
        let mut all = self.0.iter();
        let found = all.find(|(name, value)| restricts(name) && is_off(value));
        found.map_or(Ok(()), |(name, _)| Err(unsupported(name)))
    }
}

/// Parses a number with a unit; the default unit is inches.
fn inches(text: &str) -> Option<f64> {
    let end = text.find(|symbol: char| symbol.is_ascii_alphabetic());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let number: f64 = number.trim().parse().ok()?;
    let per_inch = match unit {
        "" | "in" => 1.0,
        "pt" => 72.0,
        "px" => 96.0,
        "pc" => 6.0,
        "mm" => 25.4,
        "cm" => 2.54,
        _ => return None,
    };
    Some(number / per_inch)
}

/// Parses a duration in Go's syntax: `1m30s`, `500ms`, `1.5s`.
fn duration(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let number_end = rest.find(|symbol: char| symbol.is_ascii_alphabetic())?;
        let (number, tail) = rest.split_at(number_end);
        let unit_end = tail.find(|symbol: char| !symbol.is_ascii_alphabetic());
        let (unit, tail) = tail.split_at(unit_end.unwrap_or(tail.len()));
        let scale = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * scale;
        rest = tail;
    }
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_durations_are_read_as_gotenberg_writes_them() {
        assert_eq!(inches("8.5"), Some(8.5));
        assert_eq!(inches("2.54cm"), Some(1.0));
        assert_eq!(inches("96px"), Some(1.0));
        assert_eq!(inches("1ft"), None);
        assert_eq!(duration("1m30s"), Some(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration("5"), None);
        assert_eq!(duration("-1s"), None);
    }
}
