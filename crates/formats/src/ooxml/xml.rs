//! Escaping for XML 1.0 text and attributes.

use std::fmt;

/// Appends `text`, escaped for element content and attribute values. Characters that XML 1.0 does
/// not allow (§2.2) are dropped.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let (replacement, length) = match byte {
            b'&' => ("&amp;", 1),
            b'<' => ("&lt;", 1),
            b'>' => ("&gt;", 1),
            b'"' => ("&quot;", 1),
            b'\t' | b'\n' => continue,
            b'\r' => ("&#13;", 1),
            0..0x20 => ("", 1),
            // U+FFFE and U+FFFF.
            0xEF if bytes[at..].starts_with(&[0xEF, 0xBF, 0xBE]) => ("", 3),
            0xEF if bytes[at..].starts_with(&[0xEF, 0xBF, 0xBF]) => ("", 3),
            _ => continue,
        };
        out.push_str(&text[copied..at]);
        out.push_str(replacement);
        copied = at + length;
    }
    out.push_str(&text[copied..]);
}

/// Text that is escaped when displayed.
pub(crate) struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut escaped = String::with_capacity(self.0.len());
        push_escaped(&mut escaped, self.0);
        f.write_str(&escaped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn illegal_characters_are_dropped() {
        let text = "a<b>&\"c\u{0}\u{1}\u{FFFE}d\u{FFFF}\u{FFFD}é\t";
        assert_eq!(
            Escaped(text).to_string(),
            "a&lt;b&gt;&amp;&quot;cd\u{FFFD}é\t"
        );
    }
}
