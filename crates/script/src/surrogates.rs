//! Lone surrogates in JSON written by JavaScript.
//!
//! A JavaScript string may contain half of a surrogate pair, as `'😀'.slice(0, 1)` does. UTF-8 text
//! cannot, so JSON writes it as an escape (`\ud83d`), which JSON parsers reject.

use std::borrow::Cow;

/// Length of an escape such as `\ud83d`, in bytes.
const ESCAPE: usize = 6;

/// Replaces every lone surrogate with U+FFFD, like ECMAScript's `toWellFormed`.
pub(crate) fn well_formed(json: &str) -> Cow<'_, str> {
    let mut made = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &json.as_bytes()[at..]) {
        at += found;
        match half(json, at) {
            Some(Half::High) if half(json, at + ESCAPE) == Some(Half::Low) => at += 2 * ESCAPE,
            Some(_) => {
                made.push_str(&json[kept..at]);
                made.push_str("\\ufffd");
                at += ESCAPE;
                kept = at;
            }
            // Every other escape has an ASCII character after the backslash.
            None => at = (at + 2).min(json.len()),
        }
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    made.push_str(&json[kept..]);
    Cow::Owned(made)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// Which half the escape at `at` stands for; `None` if it is not a surrogate.
fn half(json: &str, at: usize) -> Option<Half> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_nothing_else() {
        for (json, expected) in [
            (r#""a""#, r#""a""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00 \ud83d""#, r#""\ufffd \ufffd""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00x""#, r#""\ufffd\ud83d\ude00x""#),
            (r#""\\ud83d \n\\\ud83d""#, r#""\\ud83d \n\\\ufffd""#),
            (r#"{"\uD83D":"ü\u00e9"}"#, r#"{"\ufffd":"ü\u00e9"}"#),
        ] {
            assert_eq!(well_formed(json), expected);
            let read = serde_json::from_str::<serde_json::Value>(&well_formed(json));
            assert!(read.is_ok(), "{json}: {read:?}");
        }
    }
}
