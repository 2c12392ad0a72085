//! How much memory JSON takes once it is read, estimated before and after: text of two bytes, such as `0,`,
//! becomes a value of 72, and an empty object one of half a kilobyte. Sizes are those of `serde_json` with the
//! order of keys kept, on 64-bit machines; a test compares them with what the allocator gives out.

use serde_json::Value as Json;

/// A value among others, with the room that growing lists waste. Bytes.
const VALUE: u64 = 108;
/// The first room of a list: four values.
const LIST: u64 = 288;
/// The first room of an object, in bytes: four entries and their index.
pub const OBJECT: u64 = 500;
/// An entry of an object beside its value, in bytes: key, hash, index, and the allocation of the key.
pub const ENTRY: u64 = 64;
/// The allocation of a text.
const TEXT: u64 = 16;
/// A text as a value, without its letters. Bytes.
pub const TEXT_VALUE: u64 = VALUE + TEXT;

/// Bytes that a JSON text takes once it is read. One pass over the text; what is no JSON has some weight, too.
#[must_use]
pub fn of_text(text: &[u8]) -> u64 {
    let mut weight = VALUE;
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in text {
        if in_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            weight += 1;
            continue;
        }
        weight += match byte {
            b'"' => {
                in_text = true;
                TEXT
            }
            b',' => VALUE,
            b'[' => LIST,
            b'{' => OBJECT,
            b':' => ENTRY,
            _ => 0,
        };
    }
    weight
}

/// Bytes that a value takes, as [`of_text`] counts them. Its depth is bounded by the parser, or by who made it.
#[must_use]
pub fn of_value(value: &Json) -> u64 {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => VALUE,
        Json::String(text) => VALUE + TEXT + text.len() as u64,
        Json::Array(list) => VALUE + LIST + list.iter().map(of_value).sum::<u64>(),
        Json::Object(object) => {
            let entries = object.iter();
            let entries = entries.map(|(key, value)| ENTRY + key.len() as u64 + of_value(value));
            VALUE + OBJECT + entries.sum::<u64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_values_weigh_what_they_take() {
        let million = 1_000_000;
        for (part, least) in [("0,", 72), ("[],", 72), ("{\"\":0},", 400), ("\"ab\",", 90)] {
            let mut text = format!("[{}", part.repeat(million));
            text.pop();
            text.push(']');
            let weight = of_text(text.as_bytes());
            assert!(weight >= least * million as u64, "{part}: {weight}");
            let value: Json = serde_json::from_str(&text).unwrap();
            let of_value = of_value(&value);
            let ratio = of_value as f64 / weight as f64;
            assert!((0.7..1.5).contains(&ratio), "{part}: {weight} {of_value}");
        }
    }

    #[test]
    fn what_stands_in_texts_counts_as_text() {
        let text = br#"{"a": "[[[[,,,,{{{{\"::::\\"}"#;
        let weight = of_text(text);
        assert!(weight < VALUE + OBJECT + ENTRY + 2 * TEXT + 40, "{weight}");
        assert_eq!(of_text(b""), VALUE);
    }
}
