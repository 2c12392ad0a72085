//! Parsers of Gotenberg's form values: lengths, durations, booleans.

use std::{collections::BTreeMap, str::FromStr, time::Duration};

use platen_fault::Code;
use serde::de::DeserializeOwned;

use platen_server::problem::Problem;

use crate::paper;

/// Form fields other than files. Each can be taken once.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// All values of each field, in their order, also the empty ones: fields that are repeated
    /// belong together by their position.
    fields: BTreeMap<String, Vec<String>>,
    /// What is wrong with the form, in Gotenberg's words.
    mistakes: Vec<String>,
    /// What cannot be done though the form is sound, in Gotenberg's words.
    refusal: Option<String>,
}

/// A number as Go parses it.
pub(crate) trait Number: FromStr {
    /// The function of Go's `strconv` that Gotenberg parses it with.
    const FUNCTION: &'static str;
}

impl Number for f64 {
    const FUNCTION: &'static str = "ParseFloat";
}

impl Number for i32 {
    const FUNCTION: &'static str = "Atoi";
}

impl Number for u32 {
    const FUNCTION: &'static str = "Atoi";
}

impl Number for u8 {
    const FUNCTION: &'static str = "Atoi";
}

fn unsupported(name: &str) -> Problem {
    let detail = format!("the form field `{name}` is not supported");
    Problem::new(Code::UnsupportedOption, detail)
}

impl Values {
    pub(crate) fn add(&mut self, name: &str, text: &str) {
        let all = self.fields.entry(name.to_owned()).or_default();
        all.push(text.trim().to_owned());
    }

    /// Records what is wrong with the form.
    pub(crate) fn mistake(&mut self, mistake: impl Into<String>) {
        self.mistakes.push(mistake.into());
    }

    /// Records what is wrong with the form, unless that is recorded already.
    pub(crate) fn mistake_once(&mut self, mistake: String) {
        if !self.mistakes.contains(&mistake) {
            self.mistakes.push(mistake);
        }
    }

    /// Records that a field has a wrong value.
    pub(crate) fn wrong(&mut self, name: &str, got: &str, why: &str) {
        let got: String = got.chars().take(200).collect();
        let mistake = format!("form field '{name}' is invalid (got '{got}', resulting to {why})");
        self.mistakes.push(mistake);
    }

    /// Records what cannot be done. It is said only if nothing is wrong with the form.
    pub(crate) fn refuse(&mut self, refusal: impl Into<String>) {
        self.refusal.get_or_insert_with(|| refusal.into());
    }

    /// Records that a field is missing.
    pub(crate) fn missing(&mut self, name: &str) {
        self.mistakes
            .push(format!("form field '{name}' is required"));
    }

    /// Whether nothing is wrong with the form so far.
    pub(crate) fn is_sound(&self) -> bool {
        self.mistakes.is_empty() && self.refusal.is_none()
    }

    /// Records that a field is missing, unless something is wrong already: then it may be that.
    pub(crate) fn missing_once(&mut self, name: &str) {
        if self.is_sound() {
            self.missing(name);
        }
    }

    /// Fails if anything is wrong with the form; says all of it.
    pub(crate) fn finish(&mut self) -> Result<(), Problem> {
        if self.mistakes.is_empty() {
            return match self.refusal.take() {
                None => Ok(()),
                Some(refusal) => Err(Problem::new(Code::InvalidRequest, refusal)),
            };
        }
        let mistakes = std::mem::take(&mut self.mistakes).join("\n");
        let detail = format!("Invalid form data: {mistakes}");
        Err(Problem::new(Code::InvalidRequest, detail))
    }

    /// The fields that were not taken, with their first value, as Gotenberg reads them. An empty one
    /// counts as not given.
    fn left(&self) -> impl Iterator<Item = (&String, &String)> {
        let firsts = self.fields.iter();
        let firsts = firsts.filter_map(|(name, all)| Some((name, all.first()?)));
        firsts.filter(|(_, value)| !value.is_empty())
    }

    /// Names of the fields that were not taken.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.left().map(|(name, _)| name)
    }

    /// The value of a field, which stays.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        let first = self.fields.get(name)?.first()?;
        (!first.is_empty()).then_some(first)
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        let first = self.texts(name).into_iter().next()?;
        (!first.is_empty()).then_some(first)
    }

    /// Takes all values of a field that may be repeated.
    pub(crate) fn texts(&mut self, name: &str) -> Vec<String> {
        self.fields.remove(name).unwrap_or_default()
    }

    pub(crate) fn needed(&mut self, name: &str) -> String {
        let text = self.text(name);
        text.unwrap_or_else(|| {
            self.missing(name);
            String::new()
        })
    }

    pub(crate) fn truth(&mut self, name: &str, default: bool) -> bool {
        let Some(text) = self.text(name) else {
            return default;
        };
        truth(&text).unwrap_or_else(|| {
            self.wrong(name, &text, &not_parsed("ParseBool", &text));
            default
        })
    }

    pub(crate) fn number<T: Number>(&mut self, name: &str, default: T) -> T {
        let why = |text: &str| not_parsed(T::FUNCTION, text);
        self.parsed(name, default, why, |text| text.parse().ok())
    }

    /// Takes a length in inches.
    pub(crate) fn inches(&mut self, name: &str, default: f64) -> f64 {
        let why = |text: &str| not_parsed("ParseFloat", text);
        self.parsed(name, default, why, inches)
    }

    /// Takes the name of a paper size: its width and height in inches.
    pub(crate) fn paper(&mut self) -> Option<(f64, f64)> {
        let why = |_: &str| format!("it is not {}", paper::NAMES);
        self.parsed("paperSize", None, why, |text| paper::size(text).map(Some))
    }

    pub(crate) fn duration(&mut self, name: &str) -> Option<Duration> {
        let why = |text: &str| format!("time: invalid duration {:?}", shown(text));
        self.parsed(name, None, why, |text| duration(text).map(Some))
    }

    pub(crate) fn json<T: DeserializeOwned + Default>(&mut self, name: &str) -> T {
        let Some(text) = self.text(name) else {
            return T::default();
        };
        serde_json::from_str(&text).unwrap_or_else(|error| {
            let why = not_json(&text).unwrap_or_else(|| error.to_string());
            self.wrong(name, &text, &format!("unmarshal {name}: {why}"));
            T::default()
        })
    }

    fn parsed<T>(
        &mut self,
        name: &str,
        default: T,
        why: impl FnOnce(&str) -> String,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> T {
        let Some(text) = self.text(name) else {
            return default;
        };
        parse(&text).unwrap_or_else(|| {
            self.wrong(name, &text, &why(&text));
            default
        })
    }

    /// Takes the fields that have a new name in Gotenberg 9 under their old ones.
    pub(crate) fn rename(&mut self, names: &[(&str, &str)]) {
        for (new, old) in names {
            let Some(text) = self.text(new) else {
                continue;
            };
            let both = self.given(old).is_some();
            self.fields.insert((*old).to_owned(), vec![text]);
            if both {
                self.mistake(format!("form fields '{new}' and '{old}' are the same"));
            }
        }
    }

    /// Rejects restrictions that no handler took: ignoring them would leave the file unprotected.
    pub(crate) fn refuse_restrictions(&self) -> Result<(), Problem> {
        let is_off = |value: &str| !["true", "1", "t", "T", "TRUE", "True"].contains(&value);
        let restricts = |name: &str| {
            let rest = name.strip_prefix("allow");
            rest.is_some_and(|rest| rest.starts_with(char::is_uppercase))
        };
        let found = self
            .left()
            .find(|(name, value)| restricts(name) && is_off(value));
        found.map_or(Ok(()), |(name, _)| Err(unsupported(name)))
    }
}

/// True or false, as Go's `strconv.ParseBool` reads them.
pub(crate) fn truth(text: &str) -> Option<bool> {
    match text {
        "true" | "1" | "t" | "T" | "TRUE" | "True" => Some(true),
        "false" | "0" | "f" | "F" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// What Gotenberg says of a text that a function of Go does not parse.
pub(crate) fn not_parsed(function: &str, text: &str) -> String {
    let shown = shown(text);
    format!("strconv.{function}: parsing {shown:?}: invalid syntax")
}

/// As much of a text as an error shows.
fn shown(text: &str) -> String {
    text.chars().take(100).collect()
}

/// What Gotenberg says of a text that is wrong JSON from its beginning.
pub(crate) fn not_json(text: &str) -> Option<String> {
    let first = text.chars().next()?;
    let mut literals = ["true", "false", "null"].into_iter();
    let literal = literals.find(|literal| literal.starts_with(first));
    let Some(literal) = literal else {
        let begins = first.is_ascii_digit() || ['{', '[', '"', '-'].contains(&first);
        return (!begins)
            .then(|| format!("invalid character '{first}' looking for beginning of value"));
    };
    let mut both = text.chars().zip(literal.chars());
    let (got, expected) = both.find(|(got, expected)| got != expected)?;
    Some(format!(
        "invalid character '{got}' in literal {literal} (expecting '{expected}')"
    ))
}

/// Parses a number with a unit; the default unit is inches.
pub(crate) fn inches(text: &str) -> Option<f64> {
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
    fn what_is_wrong_is_said_as_gotenberg_says_it() {
        let json = |text| not_json(text).unwrap_or_default();
        assert_eq!(
            json("foo"),
            "invalid character 'o' in literal false (expecting 'a')"
        );
        assert_eq!(
            json("bar"),
            "invalid character 'b' looking for beginning of value"
        );
        assert_eq!(not_json("[1"), None);
        let text = not_parsed("Atoi", "foo");
        assert_eq!(text, "strconv.Atoi: parsing \"foo\": invalid syntax");
    }

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
