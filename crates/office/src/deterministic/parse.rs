//! Parses the objects of a PDF with a cross-reference table (ISO 32000-1 §7.2, §7.3 and §7.5.4),
//! just far enough to find references. Streams stay where they are: only the rest is in memory.

use std::{collections::HashMap, ops::Range, os::unix::fs::FileExt};

use bytes::Bytes;
use platen_content::Content;

/// Part of an object.
pub(super) enum Segment {
    /// Copied unchanged.
    Bytes(Vec<u8>),
    /// A reference to an object.
    Reference(u32),
}

/// The content of a stream.
pub(super) enum Stream {
    /// In the file.
    At(Range<u64>),
    /// Another content instead.
    New(Vec<u8>),
}

/// An object.
pub(super) struct Object {
    pub(super) chunks: Vec<Segment>,
    pub(super) stream: Option<Stream>,
}

impl Object {
    /// The content of the stream, if it is no larger than `max_bytes`.
    pub(super) fn stream(&self, content: &Content, max_bytes: u64) -> Option<Bytes> {
        match self.stream.as_ref()? {
            Stream::At(range) if range.end - range.start <= max_bytes => part(content, range),
            Stream::At(_) | Stream::New(_) => None,
        }
    }
}

/// A file.
pub(super) struct File {
    pub(super) header: Bytes,
    pub(super) objects: HashMap<u32, Object>,
    /// References in the trailer, in order.
    pub(super) trailer: Vec<u32>,
    pub(super) root: u32,
    pub(super) info: Option<u32>,
    pub(super) original: Option<Original>,
}

/// The document that a file was made from, as a stream of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Original {
    /// Its media type, as a name of PDF.
    pub(super) kind: String,
    pub(super) number: u32,
}

/// What the trailer refers to.
struct Trailer {
    root: u32,
    info: Option<u32>,
    original: Option<Original>,
    /// All of it, in order.
    references: Vec<u32>,
}

/// Maximum number of objects in a file.
const MAX_OBJECTS: usize = 5_000_000;
/// Most that is in memory of a file besides its streams. In bytes.
const MAX_HELD_BYTES: u64 = 256 << 20;
/// How much of an object is read first; most are shorter. In bytes.
const WINDOW_BYTES: u64 = 2048;
/// What follows the parsed text of an object and decides what it is: `stream` and a line end.
const LOOKAHEAD_BYTES: usize = 8;

/// Bytes of the file.
pub(super) fn part(content: &Content, range: &Range<u64>) -> Option<Bytes> {
    let length = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
    match content {
        Content::Held(bytes) => {
            let start = usize::try_from(range.start).ok()?;
            let end = start.checked_add(length)?;
            (end <= bytes.len()).then(|| bytes.slice(start..end))
        }
        Content::Spooled(spooled) => {
            (range.end <= spooled.size_bytes()).then_some(())?;
            let mut bytes = vec![0; length];
            spooled.file().read_exact_at(&mut bytes, range.start).ok()?;
            Some(bytes.into())
        }
    }
}

pub(super) fn parse(content: &Content) -> Option<File> {
    let size = content.size_bytes();
    let tail = part(content, &(size.saturating_sub(64)..size))?;
    let start = tail.windows(9).rposition(|it| it == b"startxref")?;
    let text = std::str::from_utf8(&tail[start + 9..]).ok()?;
    let (xref, end) = text.trim_start().split_once('\n')?;
    end.starts_with("%%EOF").then_some(())?;
    let xref: u64 = xref.trim().parse().ok()?;
    (size.checked_sub(xref)? <= MAX_HELD_BYTES).then_some(())?;
    let table = part(content, &(xref..size))?;
    let table = table.strip_prefix(b"xref\n0 ")?;
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
    let body = trailer.strip_prefix(b"trailer\n")?;
    let (chunks, _) = chunks(body)?;
    let trailer = read_trailer(&chunks)?;
    let mut places: Vec<(u64, u32)> = offsets.iter().map(|(number, at)| (*at, *number)).collect();
    places.sort_unstable();
    let first = places.first()?.0;
    (first <= WINDOW_BYTES).then_some(())?;
    let mut objects = HashMap::with_capacity(places.len());
    let mut held = 0;
    for (index, (at, number)) in places.iter().enumerate() {
        let end = places.get(index + 1).map_or(xref, |next| next.0);
        let reader = Reader {
            content,
            offsets: &offsets,
        };
        let object = reader.object(*number, *at, end)?;
        held += object.chunks.iter().map(Segment::size_bytes).sum::<u64>();
        (held <= MAX_HELD_BYTES).then_some(())?;
        objects.insert(*number, object);
    }
    Some(File {
        header: part(content, &(0..first))?,
        objects,
        trailer: trailer.references,
        root: trailer.root,
        info: trailer.info,
        original: trailer.original,
    })
}

impl Segment {
    fn size_bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Reference(_) => 0,
        }
    }
}

fn offsets(rows: &[u8], count: usize) -> Option<HashMap<u32, u64>> {
    let mut offsets = HashMap::new();
    for (number, row) in rows.chunks_exact(20).take(count).enumerate() {
        if row[17] == b'n' {
            let offset = std::str::from_utf8(&row[..10]).ok()?.parse().ok()?;
            offsets.insert(u32::try_from(number).ok()?, offset);
        }
    }
    Some(offsets)
}

/// What the trailer refers to. Encrypted files depend on their identifier and updated ones have several
/// tables; neither is supported.
fn read_trailer(chunks: &[Segment]) -> Option<Trailer> {
    let (mut root, mut info, mut original) = (None, None, None);
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
                } else if let Some(kind) = kind_of_original(before) {
                    let number = *number;
                    original = Some(Original { kind, number });
                }
                references.push(*number);
            }
        }
    }
    Some(Trailer {
        root: root?,
        info,
        original,
        references,
    })
}

/// The media type of the original document, if `before` stands before the reference to it.
fn kind_of_original(before: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(before);
    let (_, kind) = text.rsplit_once("/AdditionalStreams")?;
    let kind = kind.trim_start().strip_prefix('[')?.trim();
    let is_name = kind.starts_with('/') && !kind[1..].contains(['/', ' ', '[', '<', '(']);
    is_name.then(|| kind.to_owned())
}

/// The text of an object after its number.
fn object_body(text: &[u8], number: u32) -> Option<&[u8]> {
    let head = format!("{number} 0 obj");
    Some(text.strip_prefix(head.as_bytes())?.trim_ascii_start())
}

struct Reader<'a> {
    content: &'a Content,
    offsets: &'a HashMap<u32, u64>,
}

impl Reader<'_> {
    /// The object between two places.
    fn object(&self, number: u32, at: u64, end: u64) -> Option<Object> {
        let mut size = WINDOW_BYTES;
        loop {
            let window_end = at.checked_add(size)?.min(end);
            let text = part(self.content, &(at..window_end))?;
            let is_whole = window_end == end;
            let found = object_body(&text, number).and_then(chunks);
            match found {
                Some((chunks, rest)) if is_whole || rest.len() >= LOOKAHEAD_BYTES => {
                    let rest_at = window_end - rest.len() as u64;
                    return self.with_stream(chunks, rest, rest_at);
                }
                _ if is_whole => return None,
                _ => size = size.checked_mul(8)?,
            }
        }
    }

    fn with_stream(&self, chunks: Vec<Segment>, rest: &[u8], rest_at: u64) -> Option<Object> {
        let Some(stream) = rest.strip_prefix(b"stream") else {
            rest.starts_with(b"endobj").then_some(())?;
            let stream = None;
            return Some(Object { chunks, stream });
        };
        let stream = stream.strip_prefix(b"\r").unwrap_or(stream);
        let stream = stream.strip_prefix(b"\n")?;
        let start = rest_at + (rest.len() - stream.len()) as u64;
        let end = start.checked_add(self.length(&chunks)?)?;
        let after_end = end.checked_add(64)?.min(self.content.size_bytes());
        let after = part(self.content, &(end..after_end))?;
        let is_end = after.trim_ascii_start().starts_with(b"endstream");
        is_end.then_some(())?;
        let stream = Some(Stream::At(start..end));
        Some(Object { chunks, stream })
    }

    /// The value of `/Length`, which may be a separate object.
    fn length(&self, chunks: &[Segment]) -> Option<u64> {
        const KEY: &[u8] = b"/Length";
        for (index, chunk) in chunks.iter().enumerate() {
            let Segment::Bytes(text) = chunk else {
                continue;
            };
            if let (true, Some(Segment::Reference(number))) =
                (text.trim_ascii_end().ends_with(KEY), chunks.get(index + 1))
            {
                let at = *self.offsets.get(number)?;
                let end = at.checked_add(64)?.min(self.content.size_bytes());
                let text = part(self.content, &(at..end))?;
                return number_at(object_body(&text, *number)?);
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
}

/// The segment that refers to the stream's length, if the dictionary does not contain the length
/// itself.
pub(super) fn length_reference(object: &Object) -> Option<usize> {
    let before = object.chunks.iter().position(|chunk| match chunk {
        Segment::Bytes(bytes) => bytes.trim_ascii_end().ends_with(b"/Length"),
        Segment::Reference(_) => false,
    })?;
    let next = object.chunks.get(before + 1)?;
    matches!(next, Segment::Reference(_)).then_some(before + 1)
}

fn number_at(bytes: &[u8]) -> Option<u64> {
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()
}

/// Splits the text before `stream`, `endobj` or `startxref` at its references. Also returns the
/// rest.
fn chunks(bytes: &[u8]) -> Option<(Vec<Segment>, &[u8])> {
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
