//! Options of export filters as JSON: names with plain values, or with values of a named type, as
//! `soffice --convert-to` takes them.

use platen_urp::{
    Property,
    codec::{Any, Type, TypeClass, Value},
};
use serde_json::{Map, Value as Json};

use crate::Error;

/// Largest text, in bytes.
pub(crate) const MAX_BYTES: usize = 16 << 10;
/// Values within each other.
const MAX_DEPTH: usize = 4;
/// Values in all.
const MAX_VALUES: usize = 256;
/// Longest name and longest text of a value, in bytes.
const MAX_NAME_BYTES: usize = 100;
const MAX_TEXT_BYTES: usize = 4096;

/// Options of filters that read, sign or ask somebody else, in whatever case: cover and other files
/// of EPUB, certificates of the profile and the time server of a signature.
const REFUSED: [&str; 4] = ["rvngcoverimage", "rvngmediadir", "signature", "signpdf"];

/// Reads options.
pub(crate) fn read(option: &str, text: &str) -> Result<Vec<Property>, Error> {
    let wrong = |problem: String| Error::bad_option(option, problem);
    if text.len() > MAX_BYTES {
        return Err(wrong(format!("longer than {MAX_BYTES} bytes")));
    }
    let read: Map<String, Json> =
        serde_json::from_str(text).map_err(|error| wrong(format!("not a JSON object: {error}")))?;
    let mut reader = Reader { left: MAX_VALUES };
    reader.properties(&read, 1).map_err(wrong)
}

/// Refuses texts by which a filter could be led to other files or hosts.
pub(crate) fn check_text(text: &str) -> Result<(), String> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(format!("a text is longer than {MAX_TEXT_BYTES} bytes"));
    }
    let start = text.trim_start();
    let scheme = start.split_once(':').is_some_and(|(scheme, rest)| {
        let mut letters = scheme.chars();
        let first = letters.next().is_some_and(|it| it.is_ascii_alphabetic());
        first
            && letters.all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it))
            && rest.starts_with(|next: char| !next.is_whitespace())
    });
    match scheme || start.starts_with(['/', '\\']) {
        true => Err(format!("`{text}` is a URL or an absolute path")),
        false => Ok(()),
    }
}

struct Reader {
    left: usize,
}

impl Reader {
    fn properties(
        &mut self,
        object: &Map<String, Json>,
        depth: usize,
    ) -> Result<Vec<Property>, String> {
        let property = |(name, value): (&String, &Json)| {
            check_name(name)?;
            let value = self.value(value, depth);
            let value = value.map_err(|problem| format!("`{name}`: {problem}"))?;
            Ok(Property {
                name: name.clone(),
                value,
            })
        };
        object.iter().map(property).collect()
    }

    fn value(&mut self, value: &Json, depth: usize) -> Result<Any, String> {
        if depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} levels"));
        }
        self.left = self.left.checked_sub(1).ok_or("too many values")?;
        match value {
            Json::Null => Err("null is no value".to_owned()),
            Json::Bool(flag) => Ok((*flag).into()),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => Ok(integer(whole)),
                None => match number.as_f64() {
                    Some(number) if number.is_finite() => Ok(number.into()),
                    _ => Err(format!("`{number}` is too large")),
                },
            },
            Json::String(text) => {
                check_text(text)?;
                Ok(text.as_str().into())
            }
            Json::Array(values) => self.sequence(values, depth),
            Json::Object(object) => match (object.get("type"), object.get("value")) {
                (Some(Json::String(name)), Some(value)) if object.len() == 2 => {
                    let read = self.value(value, depth + 1)?;
                    typed(name, read)
                }
                _ => {
                    let list = self.properties(object, depth + 1)?;
                    Ok(Property::list(&list))
                }
            },
        }
    }

    /// A sequence of texts, or of values of any kind.
    fn sequence(&mut self, values: &[Json], depth: usize) -> Result<Any, String> {
        let values = values.iter().map(|value| self.value(value, depth + 1));
        let values: Vec<Any> = values.collect::<Result<_, String>>()?;
        let all_texts = values.iter().all(|it| it.as_str().is_some());
        let (name, values) = match all_texts && !values.is_empty() {
            true => ("[]string", values.into_iter().map(|it| it.value).collect()),
            false => ("[]any", values.into_iter().map(Value::from).collect()),
        };
        let ty = Type::named(TypeClass::Sequence, name);
        Ok(Any::new(ty, Value::Sequence(values)))
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_word) {
        return Err(format!("`{name}` is no name of an option"));
    }
    let lower = name.to_ascii_lowercase();
    match lower.contains("url") || REFUSED.iter().any(|refused| lower.starts_with(refused)) {
        true => Err(format!(
            "`{name}` is refused: it names other files, hosts or certificates"
        )),
        false => Ok(()),
    }
}

/// LibreOffice counts in 32 bits, unless a number needs more.
fn integer(number: i64) -> Any {
    i32::try_from(number).map_or_else(|_| hyper(number), Any::from)
}

fn hyper(number: i64) -> Any {
    Any::new(Type::simple(TypeClass::Hyper), Value::Hyper(number))
}

fn float(number: f64) -> Any {
    let ty = Type::simple(TypeClass::Float);
    Any::new(ty, Value::Float(number as f32))
}

/// The value in the type of UNO that was asked for.
fn typed(name: &str, read: Any) -> Result<Any, String> {
    if read.ty.name() == name {
        return Ok(read);
    }
    let whole = match read.value {
        Value::Long(number) => Some(i64::from(number)),
        Value::Hyper(number) => Some(number),
        _ => None,
    };
    match (name, whole, read.value) {
        ("short", Some(number), _) => i16::try_from(number)
            .map(Any::from)
            .map_err(|_| format!("{number} is too large for a short")),
        ("hyper" | "int64", Some(number), _) => Ok(hyper(number)),
        ("double", Some(number), _) => Ok((number as f64).into()),
        ("float", Some(number), _) => Ok(float(number as f64)),
        ("float", None, Value::Double(number)) => Ok(float(number)),
        ("[]string", None, Value::Sequence(values)) if values.is_empty() => {
            let ty = Type::named(TypeClass::Sequence, name);
            Ok(Any::new(ty, Value::Sequence(values)))
        }
        _ => Err(format!("not a value of the type `{name}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Any {
        read("filter_data", text).unwrap().remove(0).value
    }

    const PROPERTIES: &str = "[]com.sun.star.beans.PropertyValue";

    #[test]
    fn plain_and_typed_values_are_read() {
        assert_eq!(one(r#"{"A":true}"#), true.into());
        assert_eq!(one(r#"{"A":7}"#), 7.into());
        assert_eq!(
            one(r#"{"A":5000000000}"#).value,
            Value::Hyper(5_000_000_000)
        );
        assert_eq!(one(r#"{"A":0.5}"#), 0.5.into());
        assert_eq!(one(r#"{"A":"Note: 12:30"}"#), "Note: 12:30".into());
        assert_eq!(one(r#"{"A":{"type":"string","value":"2-"}}"#), "2-".into());
        assert_eq!(one(r#"{"A":{"type":"short","value":2}}"#), 2_i16.into());
        assert_eq!(one(r#"{"A":{"type":"double","value":2}}"#), 2.0.into());
        assert_eq!(one(r#"{"A":["a","b"]}"#).ty.name(), "[]string");
        assert_eq!(one(r#"{"A":["a",1]}"#).ty.name(), "[]any");
        assert_eq!(one(r#"{"A":{"B":1}}"#).ty.name(), PROPERTIES);
    }

    #[test]
    fn what_leads_elsewhere_or_is_too_much_is_refused() {
        let many = format!(r#"{{"A":[{}1]}}"#, "1,".repeat(MAX_VALUES));
        let deep = format!(r#"{{"A":{}1{}}}"#, "[".repeat(5), "]".repeat(5));
        let bottomless = format!(r#"{{"A":{}1{}}}"#, "[".repeat(4000), "]".repeat(4000));
        let long = format!(r#"{{"A":"{}"}}"#, "a".repeat(MAX_TEXT_BYTES + 1));
        let large = format!(r#"{{"A":"{}"}}"#, "a".repeat(MAX_BYTES));
        for text in [
            "",
            "[]",
            "1",
            "{",
            r#"{"A":null}"#,
            r#"{"":1}"#,
            r#"{"A B":1}"#,
            r#"{"A":"file:///etc/x"}"#,
            r#"{"A":" HTTP://a/b"}"#,
            r#"{"A":"/etc/x"}"#,
            r#"{"A":["vnd.sun.star.script:x"]}"#,
            r#"{"A":{"B":"macro:x"}}"#,
            r#"{"A":{"type":"string","value":"file:x"}}"#,
            r#"{"IndexURL":"x"}"#,
            r#"{"RVNGCoverImage":"x"}"#,
            r#"{"SignPDF":true}"#,
            r#"{"SignatureTSA":"x"}"#,
            r#"{"A":{"type":"short","value":70000}}"#,
            r#"{"A":{"type":"long","value":"x"}}"#,
            r#"{"A":{"type":"com.sun.star.uno.XInterface","value":1}}"#,
            &many,
            &deep,
            &bottomless,
            &long,
            &large,
        ] {
            let refused = read("filter_data", text);
            let shown = &text[..text.len().min(60)];
            assert!(matches!(refused, Err(Error::BadOption { .. })), "{shown}");
        }
    }
}
