//! Built-in pieces: small things that flows need between their large ones. What they make is bounded before it
//! is made, as two short texts can ask for gigabytes.

use jiff::{SignedDuration, Timestamp};
use platen_document::json_weight;
use platen_fault::{Code, What};
use platen_flow::StepError;
use serde_json::{Map, Value as Json};

use super::csv_actions::csv;

/// Memory that the output of a built-in action takes at most, in bytes.
pub(super) const MAX_OUTPUT_BYTES: u64 = 128 << 20;

/// Their names.
pub(super) const NAMES: [&str; 5] = ["math", "text", "date", "json", "csv"];

type Outcome = Result<Json, StepError>;

/// Does `action` of `piece`.
///
/// # Errors
/// Where there is no such action, or its input does not fit.
pub(super) fn call(piece: &str, action: &str, input: &Json) -> Outcome {
    let input = Input(input);
    match piece {
        "math" => math(action, input),
        "text" => text(action, input),
        "date" => date(action, input),
        "json" => values(action, input),
        "csv" => csv(action, input),
        _ => Err(wrong(format!(
            "unknown piece `{piece}`; the built-in pieces are math, text, date, json, csv, http, \
             store, render, convert, pdf and email; custom actions are written `name@version`"
        ))),
    }
}

pub(super) fn wrong(message: impl Into<String>) -> StepError {
    StepError::new(Code::InvalidInput, message)
}

/// Refuses an output that would take more than [`MAX_OUTPUT_BYTES`].
pub(super) fn bounded(bytes: u64) -> Result<(), StepError> {
    if bytes <= MAX_OUTPUT_BYTES {
        return Ok(());
    }
    let message = format!(
        "the output would take about {} MiB of memory, more than {} MiB: work on less at a time, for instance \
         in a loop",
        bytes >> 20,
        MAX_OUTPUT_BYTES >> 20,
    );
    let code = Code::TooLarge(What::Output, MAX_OUTPUT_BYTES);
    Err(StepError::new(code, message))
}

pub(super) fn unknown(piece: &str, action: &str, known: &str) -> StepError {
    wrong(format!(
        "`{piece}` has no action `{action}`; it has {known}"
    ))
}

/// Named members of a step's input.
#[derive(Clone, Copy)]
pub(super) struct Input<'a>(&'a Json);

impl<'a> Input<'a> {
    pub(super) fn member(self, name: &str) -> Result<&'a Json, StepError> {
        let found = self.0.get(name).filter(|value| !value.is_null());
        found.ok_or_else(|| wrong(format!("the input `{name}` is missing")))
    }

    fn number(self, name: &str) -> Result<f64, StepError> {
        let value = self.member(name)?;
        let number = match value {
            Json::Number(number) => number.as_f64(),
            Json::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| wrong(format!("the input `{name}` is not a number")))
    }

    /// A number that may be missing.
    fn number_or(self, name: &str, otherwise: f64) -> Result<f64, StepError> {
        match self.0.get(name) {
            None | Some(Json::Null) => Ok(otherwise),
            Some(_) => self.number(name),
        }
    }

    pub(super) fn text(self, name: &str) -> Result<String, StepError> {
        Ok(as_text(self.member(name)?))
    }

    pub(super) fn text_or(self, name: &str, otherwise: &str) -> String {
        self.0
            .get(name)
            .map_or_else(|| otherwise.to_owned(), as_text)
    }

    pub(super) fn list(self, name: &str) -> Result<&'a [Json], StepError> {
        let list = self.member(name)?.as_array();
        list.map(Vec::as_slice)
            .ok_or_else(|| wrong(format!("the input `{name}` is not a list")))
    }
}

pub(super) fn as_text(value: &Json) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn number(value: f64) -> Outcome {
    if !value.is_finite() {
        return Err(wrong("the result is not a number"));
    }
    // Whole numbers stay whole.
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Ok(Json::from(value as i64));
    }
    Ok(Json::from(value))
}

fn math(action: &str, input: Input<'_>) -> Outcome {
    let a = || input.number("a");
    let b = || input.number("b");
    match action {
        "add" => number(a()? + b()?),
        "subtract" => number(a()? - b()?),
        "multiply" => number(a()? * b()?),
        "divide" if b()? == 0.0 => Err(wrong("division by zero")),
        "divide" => number(a()? / b()?),
        "remainder" => number(a()? % b()?),
        "power" => number(a()?.powf(b()?)),
        "round" => {
            let decimals = input.number_or("decimals", 0.0)?.clamp(0.0, 15.0);
            let scale = 10_f64.powi(decimals as i32);
            number((a()? * scale).round() / scale)
        }
        "min" => number(a()?.min(b()?)),
        "max" => number(a()?.max(b()?)),
        _ => Err(unknown(
            "math",
            action,
            "add, subtract, multiply, divide, remainder, power, round, min and max",
        )),
    }
}

fn text(action: &str, input: Input<'_>) -> Outcome {
    let given = || input.text("text");
    Ok(match action {
        "upper" => Json::from(given()?.to_uppercase()),
        "lower" => Json::from(given()?.to_lowercase()),
        "trim" => Json::from(given()?.trim()),
        "length" => Json::from(given()?.chars().count()),
        "replace" => Json::from(replaced(
            &given()?,
            &input.text("find")?,
            &input.text("with")?,
        )?),
        "split" => {
            let (text, separator) = (given()?, input.text_or("separator", ","));
            if separator.is_empty() {
                return Err(wrong("the separator is empty"));
            }
            let parts = text.matches(&separator).count() as u64 + 1;
            bounded(parts.saturating_mul(json_weight::TEXT_VALUE) + text.len() as u64)?;
            text.split(&separator).collect()
        }
        "join" => {
            let separator = input.text_or("separator", "");
            let parts: Vec<String> = input.list("parts")?.iter().map(as_text).collect();
            let length = parts.iter().map(|part| part.len() + separator.len());
            bounded(length.sum::<usize>() as u64)?;
            Json::from(parts.join(&separator))
        }
        _ => {
            let known = "upper, lower, trim, length, replace, split and join";
            return Err(unknown("text", action, known));
        }
    })
}

/// A text with every `find` replaced by `with`.
fn replaced(text: &str, find: &str, with: &str) -> Result<String, StepError> {
    // An empty text is found before each character and at the end.
    let found = text.matches(find).count() as u64;
    bounded(found.saturating_mul(with.len() as u64) + text.len() as u64)?;
    Ok(text.replace(find, with))
}

fn date(action: &str, input: Input<'_>) -> Outcome {
    let instant = |name: &str| -> Result<Timestamp, StepError> {
        let text = input.text(name)?;
        text.parse()
            .or_else(|_| format!("{text}T00:00:00Z").parse())
            .map_err(|_| wrong(format!("the input `{name}` is not a date: {text}")))
    };
    match action {
        "now" => Ok(Json::from(Timestamp::now().to_string())),
        "add" => {
            let mut minutes = 0.0;
            for (name, factor) in [("days", 1_440.0), ("hours", 60.0), ("minutes", 1.0)] {
                minutes += input.number_or(name, 0.0)? * factor;
            }
            let seconds = SignedDuration::try_from_secs_f64((minutes * 60.0).round());
            let date = instant("date")?;
            let later = seconds.and_then(|seconds| date.checked_add(seconds));
            later
                .map(|later| Json::from(later.to_string()))
                .map_err(|_| wrong("the result would be before the year -9999 or after 9999"))
        }
        "difference" => {
            let seconds = instant("to")?.as_second() - instant("from")?.as_second();
            let unit = match input.text_or("unit", "days").as_str() {
                "days" => 86_400.0,
                "hours" => 3_600.0,
                "minutes" => 60.0,
                "seconds" => 1.0,
                other => return Err(wrong(format!("unknown unit `{other}`"))),
            };
            number(seconds as f64 / unit)
        }
        _ => Err(unknown("date", action, "now, add and difference")),
    }
}

fn values(action: &str, input: Input<'_>) -> Outcome {
    match action {
        "parse" => {
            let text = input.text("text")?;
            bounded(json_weight::of_text(text.as_bytes()))?;
            serde_json::from_str(&text)
                .map_err(|error| wrong(format!("the text is not JSON: {error}")))
        }
        "stringify" => Ok(Json::from(input.member("value")?.to_string())),
        "merge" => {
            let mut merged = Map::new();
            for object in input.list("objects")? {
                let object = object
                    .as_object()
                    .ok_or_else(|| wrong("an element of `objects` is not an object"))?;
                merged.extend(object.clone());
            }
            Ok(Json::Object(merged))
        }
        "get" => {
            let pointer = input.text("pointer")?;
            let found = input.member("value")?.pointer(&pointer);
            Ok(found.cloned().unwrap_or_default())
        }
        _ => Err(unknown("json", action, "parse, stringify, merge and get")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_give_what_they_say() {
        for (piece, action, input, expected) in [
            ("math", "add", json!({"a": 2, "b": "3"}), json!(5)),
            ("math", "divide", json!({"a": 1, "b": 4}), json!(0.25)),
            (
                "math",
                "round",
                json!({"a": 2.345, "decimals": 1}),
                json!(2.3),
            ),
            (
                "text",
                "split",
                json!({"text": "a;b", "separator": ";"}),
                json!(["a", "b"]),
            ),
            (
                "text",
                "join",
                json!({"parts": ["a", 1], "separator": "-"}),
                json!("a-1"),
            ),
            (
                "date",
                "add",
                json!({"date": "2026-02-28", "days": 1}),
                json!("2026-03-01T00:00:00Z"),
            ),
            (
                "date",
                "difference",
                json!({"from": "2026-01-01", "to": "2026-01-03"}),
                json!(2),
            ),
            (
                "json",
                "get",
                json!({"value": {"a": [1]}, "pointer": "/a/0"}),
                json!(1),
            ),
            (
                "json",
                "merge",
                json!({"objects": [{"a": 1}, {"b": 2}]}),
                json!({"a": 1, "b": 2}),
            ),
        ] {
            assert_eq!(
                call(piece, action, &input),
                Ok(expected),
                "{piece} {action}"
            );
        }
    }

    #[test]
    fn csv_is_read_and_written() {
        for (action, input, expected) in [
            (
                "parse",
                json!({"text": "\u{feff}\"a,x\",b\r\n\r\n1,2\r\n\r\n"}),
                json!([{"a,x": "1", "b": "2"}]),
            ),
            (
                "parse",
                json!({"text": "a\n\"\"\n\"\""}),
                json!([{"a": ""}, {"a": ""}]),
            ),
            (
                "write",
                json!({"rows": [{"a": ""}, {"a": null}, {"a": 1}]}),
                json!("a\r\n\"\"\r\n\"\"\r\n1\r\n"),
            ),
            (
                "write",
                json!({"rows": [{"a": 1}, {"b": 3, "a": 2}]}),
                json!("a,b\r\n1,\r\n2,3\r\n"),
            ),
            (
                "parse",
                json!({"text": "a,b\r\n1,\"x, \"\"y\"\"\"\n"}),
                json!([{"a": "1", "b": "x, \"y\""}]),
            ),
            (
                "write",
                json!({"rows": [{"a": 1, "b": "x,y"}]}),
                json!("a,b\r\n1,\"x,y\"\r\n"),
            ),
        ] {
            let said = call("csv", action, &input);
            assert_eq!(said, Ok(expected), "{action} {input}");
        }
    }

    #[test]
    fn mistakes_say_what_is_wanted() {
        let said = |piece: &str, action: &str, input: Json| {
            call(piece, action, &input)
                .map_or_else(|error| error.message, |value| value.to_string())
        };
        assert!(said("maths", "add", json!({})).contains("math, text"));
        assert!(said("math", "plus", json!({})).contains("add, subtract"));
        assert!(said("math", "add", json!({"a": 1})).contains("`b` is missing"));
        assert!(said("math", "divide", json!({"a": 1, "b": 0})).contains("zero"));
        assert!(said("csv", "parse", json!({"text": "a\n\"b"})).contains("not closed"));
        let ten = json!({"date": "2026-01-01", "days": "ten"});
        assert!(said("date", "add", ten).contains("`days` is not a number"));
        let far = json!({"date": "2026-01-01", "days": 1e300});
        assert!(said("date", "add", far).contains("after 9999"));
        let round = json!({"a": 1.5, "decimals": "two"});
        assert!(said("math", "round", round).contains("`decimals` is not a number"));
    }

    #[test]
    fn dates_are_added_to_as_far_as_the_calendar_goes() {
        for (amount, wanted) in [
            (json!({"days": 400_000}), "3121-03-02T00:00:00Z"),
            (json!({"minutes": 600_000_000}), "3166-10-18T16:00:00Z"),
            (json!({"days": 1.5}), "2026-01-02T12:00:00Z"),
            (json!({"days": -1, "hours": "2"}), "2025-12-31T02:00:00Z"),
            (json!({"days": null}), "2026-01-01T00:00:00Z"),
        ] {
            let mut input = amount.clone();
            input["date"] = json!("2026-01-01");
            assert_eq!(call("date", "add", &input), Ok(json!(wanted)), "{amount}");
        }
    }

    #[test]
    fn what_would_be_large_is_not_made() {
        let long = |letter: &str| letter.repeat(80_000);
        let commas = long(",").repeat(15);
        let names: String = (0..1_000).map(|name| format!("{name},")).collect();
        for (piece, action, input) in [
            (
                "text",
                "replace",
                json!({"text": long(" "), "find": " ", "with": long("n")}),
            ),
            (
                "text",
                "replace",
                json!({"text": long("a"), "find": "", "with": long("n")}),
            ),
            (
                "text",
                "join",
                json!({"parts": vec![1; 80_000], "separator": long("n")}),
            ),
            ("text", "split", json!({"text": commas})),
            (
                "json",
                "parse",
                json!({"text": format!("[{}0]", long("0,").repeat(20))}),
            ),
            (
                "csv",
                "parse",
                json!({"text": format!("{commas}\n{commas}")}),
            ),
            (
                "csv",
                "parse",
                json!({"text": format!("{}\n{}", names, "a\n".repeat(4_000))}),
            ),
            (
                "csv",
                "write",
                json!({"rows": [{"a": "\"".repeat(70 << 20)}]}),
            ),
        ] {
            let error = call(piece, action, &input).unwrap_err();
            assert_eq!(error.code, "too-large", "{piece} {action}: {error:?}");
            assert_eq!(error.facts.limit, Some(MAX_OUTPUT_BYTES));
            assert!(!error.retryable);
        }
    }
}
