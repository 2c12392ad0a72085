//! Parses the objects of a PDF with a cross-reference table (ISO 32000-1 §7.2, §7.3 and §7.5.4),
//! just far enough to find references.

use std::{borrow::Cow, collections::HashMap};

/// Part of an object.
pub(super) enum Segment<'a> {
    /// Copied unchanged.
    Bytes(Cow<'a, [u8]>),
    /// A reference to an object.
    Reference(u32),
}

/// An object.
pub(super) struct Object<'a> {
    pub(super) chunks: Vec<Segment<'a>>,
    pub(super) stream: Option<Cow<'a, [u8]>>,
}

/// A file.
pub(super) struct File<'a> {
    pub(super) header: &'a [u8],
    pub(super) objects: HashMap<u32, Object<'a>>,
    /// References in the trailer, in order.
    pub(super) trailer: Vec<u32>,
    pub(super) root: u32,
    pub(super) info: Option<u32>,
}

/// Maximum number of objects in a file.
const MAX_OBJECTS: usize = 5_000_000;

pub(super) fn parse(bytes: &[u8]) -> Option<File<'_>> {
    let tail = &bytes[bytes.len().saturating_sub(64)..];
    let start = tail.windows(9).rposition(|it| it == b"startxref")?;
    let text = std::str::from_utf8(&tail[start + 9..]).ok()?;
    let (xref, end) = text.trim_start().split_once('\n')?;
    end.starts_with("%%EOF").then_some(())?;
    let xref: usize = xref.trim().parse().ok()?;
    let table = bytes.get(xref..)?.strip_prefix(b"xref\n0 ")?;
    let line = table.iter().position(|byte| *byte == b'\n')?;
    let count: usize = std::str::from_utf8(&table[..line])
        .ok()?
        .trim()
        .parse()
        .ok()?;
    (count <= MAX_OBJECTS).then_some(())?;
    let rows = table.get(line + 1..)?;
    let trailer = rows.get(count.checked_mul(20)?..)?;
    let offsets = offsets(rows, count)?;
    let first = *offsets.values().min()?;
    let body = trailer.strip_prefix(b"trailer\n")?;
    let (chunks, _) = chunks(body)?;
    let (root, info, references) = read_trailer(&chunks)?;
    let mut objects = HashMap::new();
    for (number, offset) in &offsets {
        let body = object_body(bytes, *number, *offset)?;
        objects.insert(*number, object(body, bytes, &offsets)?);
    }
    Some(File {
        header: bytes.get(..first)?,
        objects,
        trailer: references,
        root,
        info,
    })
}

fn offsets(rows: &[u8], count: usize) -> Option<HashMap<u32, usize>> {
    let mut offsets = HashMap::new();
    for (number, row) in rows.chunks_exact(20).take(count).enumerate() {
        if row[17] == b'n' {
            let offset = std::str::from_utf8(&row[..10]).ok()?.parse().ok()?;
            offsets.insert(u32::try_from(number).ok()?, offset);
        }
    }
    Some(offsets)
}

/// The catalog, the information dictionary, and all references. Encrypted files depend on their
/// identifier and updated ones have several tables; neither is supported.
fn read_trailer(chunks: &[Segment<'_>]) -> Option<(u32, Option<u32>, Vec<u32>)> {
    let (mut root, mut info) = (None, None);
    let mut references = Vec::new();
    let mut before: &[u8] = b"";
    for chunk in chunks {
        match chunk {
            Segment::Bytes(bytes) => {
                let has = |word: &[u8]| bytes.windows(word.len()).any(|it| it == word);
                if has(b"/Prev") || has(b"/Encrypt") || has(b"/XRefStm") {
                    return None;
                }
                before = bytes.trim_ascii_end();
            }
            Segment::Reference(number) => {
                if before.ends_with(b"/Root") {
                    root = Some(*number);
                } else if before.ends_with(b"/Info") {
                    info = Some(*number);
                }
                references.push(*number);
            }
        }
    }
    Some((root?, info, references))
}

fn object_body(bytes: &[u8], number: u32, offset: usize) -> Option<&[u8]> {
    let head = format!("{number} 0 obj");
    let body = bytes.get(offset..)?.strip_prefix(head.as_bytes())?;
    Some(body.trim_ascii_start())
}

fn object<'a>(
    body: &'a [u8],
    bytes: &'a [u8],
    offsets: &HashMap<u32, usize>,
) -> Option<Object<'a>> {
    let (chunks, rest) = chunks(body)?;
    let Some(stream) = rest.strip_prefix(b"stream") else {
        rest.starts_with(b"endobj").then_some(())?;
        let stream = None;
        return Some(Object { chunks, stream });
    };
    let stream = stream.strip_prefix(b"\r").unwrap_or(stream);
    let stream = stream.strip_prefix(b"\n")?;
    let length = length(&chunks, bytes, offsets)?;
    let end = stream.get(length..)?.trim_ascii_start();
    end.starts_with(b"endstream").then_some(())?;
    let stream = stream.get(..length).map(Cow::Borrowed);
    Some(Object { chunks, stream })
}

/// The segment that refers to the stream's length, if the dictionary does not contain the length
/// itself.
pub(super) fn length_reference(object: &Object<'_>) -> Option<usize> {
    let before = object.chunks.iter().position(|chunk| match chunk {
        Segment::Bytes(bytes) => bytes.trim_ascii_end().ends_with(b"/Length"),
        Segment::Reference(_) => false,
    })?;
    let next = object.chunks.get(before + 1)?;
    matches!(next, Segment::Reference(_)).then_some(before + 1)
}

/// The value of `/Length`, which may be a separate object.
fn length(chunks: &[Segment<'_>], bytes: &[u8], offsets: &HashMap<u32, usize>) -> Option<usize> {
    const KEY: &[u8] = b"/Length";
    for (index, chunk) in chunks.iter().enumerate() {
        let Segment::Bytes(text) = chunk else {
            continue;
        };
        if let (true, Some(Segment::Reference(number))) =
            (text.trim_ascii_end().ends_with(KEY), chunks.get(index + 1))
        {
            let body = object_body(bytes, *number, *offsets.get(number)?)?;
            return number_at(body);
        }
        let mut at = 0;
        while let Some(found) = text[at..].windows(KEY.len()).position(|it| it == KEY) {
            at += found + KEY.len();
            // `/Length1` is a different key.
            if text.get(at).is_some_and(|byte| *byte == b' ') {
                return number_at(text[at..].trim_ascii_start());
            }
        }
    }
    None
}

fn number_at(bytes: &[u8]) -> Option<usize> {
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()
}

/// Splits the text before `stream`, `endobj` or `startxref` at its references. Also returns the
/// rest.
fn chunks(bytes: &[u8]) -> Option<(Vec<Segment<'_>>, &[u8])> {
    let mut chunks = Vec::new();
    let mut from = 0;
    let mut at = 0;
    // Start of the last two tokens, as far as they were numbers.
    let mut numbers: [Option<usize>; 2] = [None, None];
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'(' => {
                at = string_end(bytes, at)?;
                numbers = [None, None];
            }
            b'%' => {
                at += bytes[at..].iter().position(|byte| *byte == b'\n')?;
            }
            byte if byte.is_ascii_digit() => {
                at += bytes[at..]
                    .iter()
                    .take_while(|it| it.is_ascii_digit())
                    .count();
                numbers = [numbers[1], Some(start)];
            }
            byte if byte.is_ascii_whitespace() => at += 1,
            b'R' if ends_token(bytes, at + 1) && numbers[0].is_some() => {
                let first = numbers[0]?;
                let number = u32::try_from(number_at(&bytes[first..])?).ok()?;
                chunks.push(Segment::Bytes(bytes[from..first].into()));
                chunks.push(Segment::Reference(number));
                at += 1;
                from = at;
                numbers = [None, None];
            }
            b'a'..=b'z' => {
                let rest = &bytes[at..];
                let ends = [&b"stream"[..], b"endobj", b"startxref"];
                if ends.iter().any(|word| rest.starts_with(word)) {
                    chunks.push(Segment::Bytes(bytes[from..at].into()));
                    return Some((chunks, rest));
                }
                at += word_length(rest);
                numbers = [None, None];
            }
            b'/' => {
                at += 1 + word_length(&bytes[at + 1..]);
                numbers = [None, None];
            }
            b'<' if bytes.get(at + 1) == Some(&b'<') => {
                at += 2;
                numbers = [None, None];
            }
            b'<' => {
                at += 1 + bytes[at..].iter().position(|byte| *byte == b'>')?;
                numbers = [None, None];
            }
            _ => {
                at += 1;
                numbers = [None, None];
            }
        }
    }
    None
}

fn ends_token(bytes: &[u8], at: usize) -> bool {
    bytes
        .get(at)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

fn word_length(bytes: &[u8]) -> usize {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"()<>[]{}/%".contains(byte);
    bytes.iter().position(ends).unwrap_or(bytes.len())
}

fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}
