//! A tolerant tokeniser for XML tags: like LibreOffice, it reads malformed text as far as possible.

use std::{borrow::Cow, ops::Range};

/// A start tag.
#[derive(Clone, Debug)]
pub(crate) struct Tag<'a> {
    text: &'a [u8],
    /// Range from `<` to after `>`.
    pub(crate) range: Range<usize>,
}

/// An attribute of an element.
#[derive(Clone, Debug)]
pub(crate) struct Attribute<'a> {
    /// Local name, without the prefix.
    pub(crate) name: &'a [u8],
    /// Value with entities unresolved.
    raw: &'a [u8],
    /// Range of the value in the text.
    pub(crate) range: Range<usize>,
}

impl Attribute<'_> {
    /// The value with character references and predefined entities resolved.
    pub(crate) fn value(&self) -> String {
        unescaped(self.raw)
    }
}

/// The start tags of a text, in order.
pub(crate) fn tags(text: &[u8]) -> impl Iterator<Item = Tag<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].iter().position(|byte| *byte == b'<')?;
            let rest = &text[start..];
            let behind =
                |end: &[u8]| find(rest, end).map_or(text.len(), |it| start + it + end.len());
            match rest {
                [b'<', b'!', b'-', b'-', ..] => at = behind(b"-->"),
                [b'<', b'!', b'[', b'C', b'D', ..] => at = behind(b"]]>"),
                [b'<', b'?', ..] => at = behind(b"?>"),
                [b'<', b'!', ..] => at = start + declaration_length(rest),
                [b'<', b'/', ..] => at = behind(b">"),
                _ => {
                    at = start + tag_length(rest);
                    let range = start..at;
                    return Some(Tag { text, range });
                }
            }
        }
    })
}

/// Position of `wanted` in `text`.
pub(crate) fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|it| it == wanted)
}

/// Length of a tag. A `>` inside quotes does not end it.
fn tag_length(rest: &[u8]) -> usize {
    let mut quote = None;
    for (index, byte) in rest.iter().enumerate() {
        match (quote, *byte) {
            (None, b'>') => return index + 1,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if byte == open => quote = None,
            _ => {}
        }
    }
    rest.len()
}

/// Length of a declaration. A document type may contain further declarations in brackets.
fn declaration_length(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    for (index, byte) in rest.iter().enumerate() {
        match (quote, *byte) {
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'[' | b'<') => depth += 1,
            (None, b']') => depth = depth.saturating_sub(1),
            (None, b'>') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    rest.len()
}

fn local(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b':').next().unwrap_or(name)
}

fn is_name(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !b"=/>\"'<".contains(&byte)
}

impl<'a> Tag<'a> {
    fn bytes(&self) -> &'a [u8] {
        &self.text[self.range.clone()]
    }

    /// Local name, without the prefix.
    pub(crate) fn name(&self) -> &'a [u8] {
        let bytes = &self.bytes()[1..];
        let length = bytes.iter().take_while(|byte| is_name(**byte)).count();
        local(&bytes[..length])
    }

    /// Its attributes, in order.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = Attribute<'a>> {
        let (bytes, start) = (self.bytes(), self.range.start);
        let named = bytes[1..].iter().take_while(|byte| is_name(**byte)).count();
        let mut at = 1 + named;
        std::iter::from_fn(move || {
            loop {
                let skip = |at: usize| {
                    let blank = bytes[at..].iter().take_while(|it| it.is_ascii_whitespace());
                    at + blank.count()
                };
                at = skip(at);
                let length = bytes[at..].iter().take_while(|it| is_name(**it)).count();
                let name = local(&bytes[at..at + length]);
                if length == 0 {
                    // Skip anything unexpected between attributes.
                    at += 1;
                    if at >= bytes.len() {
                        return None;
                    }
                    continue;
                }
                at = skip(at + length);
                if bytes.get(at) != Some(&b'=') {
                    continue;
                }
                at = skip(at + 1);
                let quote = bytes.get(at).filter(|it| **it == b'"' || **it == b'\'');
                let Some(quote) = quote else { continue };
                let from = at + 1;
                let length = bytes[from..].iter().take_while(|it| *it != quote).count();
                at = (from + length + 1).min(bytes.len());
                return Some(Attribute {
                    name,
                    raw: &bytes[from..from + length],
                    range: start + from..start + from + length,
                });
            }
        })
    }

    /// Finds an attribute by local name.
    pub(crate) fn attribute(&self, name: &[u8]) -> Option<Attribute<'a>> {
        self.attributes().find(|it| it.name == name)
    }
}

/// Resolves character references and predefined entities; others stay unchanged.
fn unescaped(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let letter = rest.find(';').and_then(|end| {
            let letter = match &rest[1..end] {
                "amp" => Some('&'),
                "lt" => Some('<'),
                "gt" => Some('>'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                name => {
                    let digits = name.strip_prefix('#')?;
                    let number = match digits.strip_prefix('x') {
                        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                        None => digits.parse().ok()?,
                    };
                    char::from_u32(number)
                }
            };
            Some((letter?, end))
        });
        match letter {
            Some((letter, end)) => {
                out.push(letter);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The text in an ASCII-compatible encoding; `None` if it declares another.
pub(crate) fn ascii_based(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let read: Option<fn([u8; 2]) -> u16> = match bytes {
        [0xff, 0xfe, ..] | [b'<', 0, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] | [0, b'<', ..] => Some(u16::from_be_bytes),
        _ => None,
    };
    if let Some(read) = read {
        let units: Vec<u16> = bytes
            .chunks_exact(2)
            .map(|it| read([it[0], it[1]]))
            .collect();
        let text = String::from_utf16_lossy(&units);
        let text = text.trim_start_matches('\u{feff}');
        // The declared encoding no longer applies.
        let text = match text
            .strip_prefix("<?xml")
            .and_then(|it| it.split_once("?>"))
        {
            Some((_, rest)) => rest,
            None => text,
        };
        return Some(Cow::Owned(text.as_bytes().to_vec()));
    }
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let said = start.starts_with(b"<?xml").then(|| {
        let end = find(start, b"?>").unwrap_or(start.len());
        String::from_utf8_lossy(&start[..end]).to_ascii_lowercase()
    });
    let said = said.as_deref().and_then(|it| it.split_once("encoding"));
    let Some((_, said)) = said else {
        return Some(Cow::Borrowed(bytes));
    };
    let said = said.trim_start().trim_start_matches('=').trim_start();
    let said = said.trim_start_matches(['"', '\'']);
    const KNOWN: [&str; 18] = [
        "utf-8",
        "utf8",
        "us-ascii",
        "ascii",
        "iso-8859",
        "iso_8859",
        "latin",
        "windows-",
        "cp125",
        "koi8",
        "shift_jis",
        "x-sjis",
        "gb",
        "big5",
        "euc-",
        "macintosh",
        "tis-620",
        "ks_c_5601",
    ];
    let is_known = KNOWN.iter().any(|known| said.starts_with(known));
    is_known.then_some(Cow::Borrowed(bytes))
}

/// Replaces ranges of a text, which must be in order.
pub(crate) fn replaced(text: &[u8], changes: &[(Range<usize>, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for (range, with) in changes {
        out.extend_from_slice(&text[from..range.start]);
        out.extend_from_slice(with);
        from = range.end;
    }
    out.extend_from_slice(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_attributes_however_they_are_written() {
        let text = br#"<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "<c d='>'/>">]><!-- " --><x:a b = '1>2' y:c="&#69;&#x78;t&amp;&e;"/><b/><![CDATA[<c/>]]></a><d e f="g">"#;
        let tags: Vec<_> = tags(text).collect();
        let names: Vec<_> = tags.iter().map(Tag::name).collect();
        assert_eq!(names, [&b"a"[..], b"b", b"d"]);
        assert_eq!(tags[0].attribute(b"b").unwrap().value(), "1>2");
        assert_eq!(tags[0].attribute(b"c").unwrap().value(), "Ext&&e;");
        assert_eq!(tags[2].attribute(b"f").unwrap().value(), "g");
        for end in 0..text.len() {
            let count = super::tags(&text[..end])
                .flat_map(|it| it.attributes().collect::<Vec<_>>())
                .count();
            assert!(count < 10);
        }
    }

    #[test]
    fn encodings() {
        let utf16: Vec<u8> = "\u{feff}<?xml version='1.0' encoding='UTF-16'?><a/>"
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect();
        assert_eq!(&*ascii_based(&utf16).unwrap(), b"<a/>");
        assert!(ascii_based(b"<?xml version='1.0' encoding='UTF-8'?><a/>").is_some());
        assert!(ascii_based(b"<?xml version='1.0' encoding = \"utf-7\"?><a/>").is_none());
    }
}
