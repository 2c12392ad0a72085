//! Built-in pieces: small things that flows need between their large ones.

use jiff::{Timestamp, ToSpan};
use platen_fault::Code;
use platen_flow::StepError;
use serde_json::{Map, Value as Json};

/// Rows and fields of a CSV text that is read.
const MAX_CSV_FIELDS: usize = 5_000_000;

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

fn wrong(message: impl Into<String>) -> StepError {
    StepError::new(Code::InvalidInput, message)
}

fn unknown(piece: &str, action: &str, known: &str) -> StepError {
    wrong(format!(
        "`{piece}` has no action `{action}`; it has {known}"
    ))
}

/// Named members of a step's input.
#[derive(Clone, Copy)]
struct Input<'a>(&'a Json);

impl<'a> Input<'a> {
    fn member(self, name: &str) -> Result<&'a Json, StepError> {
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

    fn text(self, name: &str) -> Result<String, StepError> {
        Ok(as_text(self.member(name)?))
    }

    fn text_or(self, name: &str, otherwise: &str) -> String {
        self.0
            .get(name)
            .map_or_else(|| otherwise.to_owned(), as_text)
    }

    fn list(self, name: &str) -> Result<&'a [Json], StepError> {
        let list = self.member(name)?.as_array();
        list.map(Vec::as_slice)
            .ok_or_else(|| wrong(format!("the input `{name}` is not a list")))
    }
}

fn as_text(value: &Json) -> String {
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
            let decimals = input.number("decimals").unwrap_or(0.0).clamp(0.0, 15.0);
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
        "replace" => Json::from(given()?.replace(&input.text("find")?, &input.text("with")?)),
        "split" => {
            let separator = input.text_or("separator", ",");
            if separator.is_empty() {
                return Err(wrong("the separator is empty"));
            }
            given()?.split(&separator).collect()
        }
        "join" => {
            let parts: Vec<String> = input.list("parts")?.iter().map(as_text).collect();
            Json::from(parts.join(&input.text_or("separator", "")))
        }
        _ => {
            let known = "upper, lower, trim, length, replace, split and join";
            return Err(unknown("text", action, known));
        }
    })
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
            let amount = |name: &str| input.number(name).map_or(0, |number| number as i64);
            let hours = amount("days").saturating_mul(24) + amount("hours");
            let span = hours
                .clamp(-8_000_000, 8_000_000)
                .hours()
                .minutes(amount("minutes").clamp(-500_000_000, 500_000_000));
            let later = instant("date")?.checked_add(span);
            later
                .map(|later| Json::from(later.to_string()))
                .map_err(|error| wrong(error.to_string()))
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
        "parse" => serde_json::from_str(&input.text("text")?)
            .map_err(|error| wrong(format!("the text is not JSON: {error}"))),
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

fn csv(action: &str, input: Input<'_>) -> Outcome {
    let separator = input.text_or("separator", ",");
    let mut letters = separator.chars();
    let (Some(separator), None) = (letters.next(), letters.next()) else {
        return Err(wrong("the separator must be one character"));
    };
    match action {
        "parse" => {
            let rows = parse_csv(&input.text("text")?, separator)?;
            Ok(as_objects(rows))
        }
        "write" => {
            let rows = input.list("rows")?;
            Ok(Json::from(write_csv(rows, separator)))
        }
        _ => Err(unknown("csv", action, "parse and write")),
    }
}

/// RFC 4180.
fn parse_csv(text: &str, separator: char) -> Result<Vec<Vec<String>>, StepError> {
    let mut rows = vec![Vec::new()];
    let (mut field, mut quoted, mut count) = (String::new(), false, 0);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => quoted = true,
            '\r' if !quoted && letters.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                rows.last_mut()
                    .into_iter()
                    .for_each(|row| row.push(std::mem::take(&mut field)));
                rows.push(Vec::new());
                count += 1;
            }
            letter if letter == separator && !quoted => {
                rows.last_mut()
                    .into_iter()
                    .for_each(|row| row.push(std::mem::take(&mut field)));
                count += 1;
            }
            letter => field.push(letter),
        }
        if count > MAX_CSV_FIELDS {
            return Err(wrong(format!(
                "the CSV has more than {MAX_CSV_FIELDS} fields"
            )));
        }
    }
    if quoted {
        return Err(wrong("a quoted field is not closed"));
    }
    match rows.last_mut() {
        Some(last) if last.is_empty() && field.is_empty() => {
            rows.pop();
        }
        Some(last) => last.push(field),
        None => {}
    }
    Ok(rows)
}

/// Rows by the names in the first.
fn as_objects(rows: Vec<Vec<String>>) -> Json {
    let mut rows = rows.into_iter();
    let names = rows.next().unwrap_or_default();
    rows.map(|row| {
        let mut row = row.into_iter();
        let fields = names.iter().map(|name| {
            let value = row.next().map_or(Json::Null, Json::from);
            (name.clone(), value)
        });
        Json::Object(fields.collect())
    })
    .collect()
}

fn write_csv(rows: &[Json], separator: char) -> String {
    let names: Vec<&String> = rows
        .first()
        .and_then(Json::as_object)
        .map(|row| row.keys().collect())
        .unwrap_or_default();
    let quote = |text: &str| {
        let special = |letter: char| letter == separator || "\"\r\n".contains(letter);
        if text.contains(special) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let separator = separator.to_string();
    let line = |fields: Vec<String>| fields.join(&separator) + "\r\n";
    let mut out = line(names.iter().map(|name| quote(name)).collect());
    for row in rows {
        let field = |name: &&String| match &row[name.as_str()] {
            Json::Null => String::new(),
            value => quote(&as_text(value)),
        };
        out += &line(names.iter().map(field).collect());
    }
    out
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
            (
                "csv",
                "parse",
                json!({"text": "a,b\r\n1,\"x, \"\"y\"\"\"\n"}),
                json!([{"a": "1", "b": "x, \"y\""}]),
            ),
            (
                "csv",
                "write",
                json!({"rows": [{"a": 1, "b": "x,y"}]}),
                json!("a,b\r\n1,\"x,y\"\r\n"),
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
    }
}
