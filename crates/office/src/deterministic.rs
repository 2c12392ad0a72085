//! Makes LibreOffice's PDF deterministic, so that the same document gives the same bytes (ISO
//! 32000-1 §7.5).
//!
//! LibreOffice writes the time, identifiers derived from it, and fonts in an order that varies
//! between processes. This pass renumbers objects in the order in which they are reachable from the
//! catalog, renames font subsets in that order, sets all dates to a constant, and derives the
//! identifiers from the content. Streams are copied unchanged, except color profiles and Type 1
//! fonts. A PDF of unexpected structure is left as LibreOffice wrote it.

mod color_profile;
mod parse;
mod type1;

use std::{
    collections::HashMap,
    io::{self, Write},
    ops::Range,
};

use md5::Md5;
use parse::{File, Object, Segment, Stream, parse, part};
use platen_content::Content;
use sha2::{Digest, Sha256};

/// The constant for all dates: the earliest that a ZIP file can express.
const MOMENT: &[u8; 14] = b"19800101000000";

/// Dates in XMP have their digits in the same order, with separators.
const XMP_DATES: [&[u8]; 3] = [
    b"<xmp:CreateDate>",
    b"<xmp:ModifyDate>",
    b"<xmp:MetadataDate>",
];
const INFO_DATES: [&[u8]; 2] = [b"/CreationDate(D:", b"/ModDate(D:"];

/// How much of a stream is copied at once. In bytes.
const COPIED_BYTES: u64 = 256 << 10;
/// Metadata that are longer keep their dates, as they are held in memory. In bytes.
const METADATA_BYTES: u64 = 16 << 20;

/// Length of a font subset tag, with its plus sign.
const TAG_BYTES: usize = 7;

/// A PDF that can be made deterministic.
pub(crate) struct Pdf {
    file: File,
    order: Vec<u32>,
    /// New numbers of objects.
    numbers: HashMap<u32, usize>,
    root: usize,
}

/// Reads the structure of a PDF. `None` if it is not one that LibreOffice writes.
pub(crate) fn read(content: &Content) -> Option<Pdf> {
    let mut file = parse(content)?;
    for object in file.objects.values_mut() {
        color_profile::fix(object, content);
        type1::fix(object, content);
    }
    let order = order(&file.trailer, &file.objects);
    let mut numbers = HashMap::new();
    for (index, number) in order.iter().enumerate() {
        numbers.insert(*number, index + 1);
    }
    let root = *numbers.get(&file.root)?;
    Some(Pdf {
        file,
        order,
        numbers,
        root,
    })
}

impl Pdf {
    /// Writes the deterministic form of the content that was read.
    pub(crate) fn write(&self, content: &Content, to: &mut impl Write) -> io::Result<()> {
        let original = self.file.original.as_ref();
        let original = original.and_then(|it| Some((&it.kind, *self.numbers.get(&it.number)?)));
        let mut out = Output {
            to,
            hash: Sha256::new(),
            checksum: original.is_some().then(Md5::new),
            size_bytes: 0,
        };
        out.put(&self.file.header)?;
        let mut tags = Tags::default();
        let mut offsets = Vec::with_capacity(self.order.len());
        for (index, number) in self.order.iter().enumerate() {
            let Some(object) = self.file.objects.get(number) else {
                continue;
            };
            offsets.push(out.size_bytes);
            out.put(format!("{} 0 obj\n", index + 1).as_bytes())?;
            self.write_object(&mut out, object, content, &mut tags)?;
            out.put(b"endobj\n\n")?;
        }
        let hash = out.hash.clone().finalize();
        let id: String = hash[..16]
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        let xref = out.size_bytes;
        let size = self.order.len() + 1;
        out.put(format!("xref\n0 {size}\n0000000000 65535 f \n").as_bytes())?;
        for offset in offsets {
            out.put(format!("{offset:010} 00000 n \n").as_bytes())?;
        }
        let root = self.root;
        let info = self.file.info.and_then(|info| self.numbers.get(&info));
        let info = info.map_or_else(String::new, |info| format!("/Info {info} 0 R\n"));
        let mut trailer =
            format!("trailer\n<</Size {size}/Root {root} 0 R\n{info}/ID [ <{id}>\n<{id}> ]\n");
        // LibreOffice opens the original only if this is the digest of what stands before the trailer.
        if let (Some((kind, number)), Some(checksum)) = (original, out.checksum.take()) {
            let digits = checksum
                .finalize()
                .iter()
                .map(|byte| format!("{byte:02X}"))
                .collect::<String>();
            trailer.push_str(&format!(
                "/DocChecksum /{digits}\n/AdditionalStreams [{kind} {number} 0 R\n]\n"
            ));
        }
        trailer.push_str(&format!(">>\nstartxref\n{xref}\n%%EOF\n"));
        out.put(trailer.as_bytes())
    }

    fn write_object<W: Write>(
        &self,
        out: &mut Output<'_, W>,
        object: &Object,
        content: &Content,
        tags: &mut Tags,
    ) -> io::Result<()> {
        for chunk in &object.chunks {
            match chunk {
                Segment::Reference(number) => match self.numbers.get(number) {
                    Some(number) => out.put(format!("{number} 0 R").as_bytes())?,
                    // A reference to a missing object is null (§7.3.10).
                    None => out.put(b"null")?,
                },
                Segment::Bytes(bytes) => {
                    let mut bytes = bytes.clone();
                    for mark in INFO_DATES {
                        set_dates(&mut bytes, mark);
                    }
                    tags.rename(&mut bytes);
                    out.put(&bytes)?;
                }
            }
        }
        let Some(stream) = &object.stream else {
            return Ok(());
        };
        out.put(b"stream\n")?;
        match stream {
            Stream::New(bytes) => out.put(bytes)?,
            Stream::At(range) => out.put_range(content, range)?,
        }
        out.put(b"\nendstream\n")
    }
}

/// Where a file is written, with the digest and the size of what was.
struct Output<'a, W> {
    to: &'a mut W,
    hash: Sha256,
    /// The digest by which LibreOffice knows that nobody changed the file.
    checksum: Option<Md5>,
    size_bytes: u64,
}

impl<W: Write> Output<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        if let Some(checksum) = &mut self.checksum {
            checksum.update(bytes);
        }
        self.size_bytes += bytes.len() as u64;
        self.to.write_all(bytes)
    }

    /// Copies a stream; metadata get other dates.
    fn put_range(&mut self, content: &Content, range: &Range<u64>) -> io::Result<()> {
        let lost = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let read = |from: u64| part(content, &(from..range.end.min(from + COPIED_BYTES)));
        let mut at = range.start;
        while at < range.end {
            let bytes = read(at).ok_or_else(lost)?;
            let is_metadata = at == range.start
                && range.end - range.start <= METADATA_BYTES
                && bytes.starts_with(b"<?xpacket");
            if is_metadata {
                let mut bytes = part(content, range).ok_or_else(lost)?.to_vec();
                for mark in XMP_DATES {
                    set_dates(&mut bytes, mark);
                }
                return self.put(&bytes);
            }
            self.put(&bytes)?;
            at += bytes.len() as u64;
        }
        Ok(())
    }
}

/// Object numbers in the order of their first visit, depth first from the trailer.
fn order(trailer: &[u32], objects: &HashMap<u32, Object>) -> Vec<u32> {
    let mut order = Vec::new();
    let mut seen = HashMap::new();
    let mut stack: Vec<u32> = trailer.iter().rev().copied().collect();
    while let Some(number) = stack.pop() {
        let Some(object) = objects.get(&number) else {
            continue;
        };
        if seen.insert(number, ()).is_some() {
            continue;
        }
        order.push(number);
        stack.extend(object.chunks.iter().rev().filter_map(|chunk| match chunk {
            Segment::Reference(number) => Some(*number),
            Segment::Bytes(_) => None,
        }));
    }
    order
}

/// Overwrites the digits after each occurrence of `mark`.
fn set_dates(bytes: &mut [u8], mark: &[u8]) {
    let mut at = 0;
    while let Some(found) = find(&bytes[at..], mark) {
        at += found + mark.len();
        let digits = bytes[at..].iter_mut().take(19);
        let digits = digits.filter(|byte| byte.is_ascii_digit());
        for (digit, wanted) in digits.zip(MOMENT) {
            *digit = *wanted;
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut at = 0;
    while at + wanted.len() <= bytes.len() {
        let found = bytes[at..].iter().position(|byte| *byte == first)?;
        at += found;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Renames font subset tags in order of appearance.
#[derive(Default)]
struct Tags(HashMap<Vec<u8>, [u8; TAG_BYTES - 1]>);

impl Tags {
    fn rename(&mut self, bytes: &mut [u8]) {
        for mark in [&b"/BaseFont/"[..], b"/FontName/"] {
            let mut at = 0;
            while let Some(found) = find(&bytes[at..], mark) {
                at += found + mark.len();
                let Some(tag) = bytes.get_mut(at..at + TAG_BYTES) else {
                    return;
                };
                let (letters, plus) = tag.split_at_mut(TAG_BYTES - 1);
                if plus == b"+" && letters.iter().all(u8::is_ascii_uppercase) {
                    let next = name(self.0.len());
                    letters.copy_from_slice(self.0.entry(letters.to_vec()).or_insert(next));
                }
            }
        }
    }
}

/// The tags `AAAAAA`, `BAAAAA`, and so on.
fn name(mut number: usize) -> [u8; TAG_BYTES - 1] {
    let mut letters = [b'A'; TAG_BYTES - 1];
    for letter in &mut letters {
        *letter += u8::try_from(number % 26).unwrap_or(0);
        number /= 26;
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pdf(bytes: &[u8]) -> Option<Vec<u8>> {
        let content = Content::from(bytes.to_vec());
        let mut out = Vec::new();
        read(&content)?.write(&content, &mut out).unwrap();
        Some(out)
    }

    /// A PDF of two objects with the given numbers and time.
    fn sample(catalogue: u32, info: u32, time: &str) -> Vec<u8> {
        let mut out = b"%PDF-1.6\n".to_vec();
        let mut entries = vec![(catalogue, "<</Type/Catalog/X 2 0 R>>".to_owned())];
        entries.push((
            info,
            format!("<</Title(a \\) 9 0 R)\n/CreationDate(D:{time}Z')>>"),
        ));
        entries.sort();
        let mut offsets = Vec::new();
        for (number, text) in &entries {
            offsets.push((*number, out.len()));
            out.extend_from_slice(format!("{number} 0 obj\n{text}\nendobj\n\n").as_bytes());
        }
        let stream = out.len();
        out.extend_from_slice(b"5 0 obj\n<</Length 3>>\nstream\n9 R\nendstream\nendobj\n\n");
        let xref = out.len();
        out.extend_from_slice(b"xref\n0 6\n0000000000 65535 f \n");
        for number in 1..6 {
            let offset = offsets.iter().find(|it| it.0 == number).map(|it| it.1);
            let offset = if number == 5 { Some(stream) } else { offset };
            let line = match offset {
                Some(offset) => format!("{offset:010} 00000 n \n"),
                None => "0000000000 65535 f \n".to_owned(),
            };
            out.extend_from_slice(line.as_bytes());
        }
        let trailer = format!(
            "trailer\n<</Size 6/Root {catalogue} 0 R\n/Info {info} 0 R\n/ID [ <00>\n<00> ]\n>>\nstartxref\n{xref}\n%%EOF\n"
        );
        out.extend_from_slice(trailer.as_bytes());
        out
    }

    #[test]
    fn the_original_in_a_file_is_found_by_its_new_number() {
        let kind = "/application#2Fvnd#2Eoasis#2Eopendocument#2Etext";
        let with = String::from_utf8(sample(4, 3, "20270101000000"))
            .unwrap()
            .replace(
                "<00> ]\n",
                &format!("<00> ]\n/DocChecksum /00\n/AdditionalStreams [{kind} 5 0 R\n]\n"),
            );
        let made = String::from_utf8(pdf(with.as_bytes()).unwrap()).unwrap();
        let (body, trailer) = made.split_at(made.find("trailer").unwrap());
        let number = body[..body.find(" 0 obj\n<</Length 3>>").unwrap()]
            .rsplit('\n')
            .next();
        let entry = format!("/AdditionalStreams [{kind} {} 0 R\n]", number.unwrap());
        assert!(trailer.contains(&entry), "{trailer}");
        let digest = Md5::digest(body.as_bytes());
        let digits: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
        assert!(
            trailer.contains(&format!("/DocChecksum /{digits}\n")),
            "{trailer}"
        );
    }

    #[test]
    fn numbers_and_times_do_not_show() {
        let one = pdf(&sample(1, 4, "20261121180748")).unwrap();
        let other = pdf(&sample(4, 3, "20270101000000")).unwrap();
        assert_eq!(one, other);
        let text = String::from_utf8(one).unwrap();
        assert!(text.contains("(D:19800101000000Z')"), "{text}");
        assert!(text.contains("(a \\) 9 0 R)"), "strings are left alone");
        assert_eq!(pdf(text.as_bytes()).unwrap(), text.as_bytes());
    }

    #[test]
    fn a_file_gives_what_memory_gives() {
        let sound = sample(1, 4, "20261121180748");
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&sound).unwrap();
        let content = Content::of_file(file).unwrap();
        let mut out = Vec::new();
        read(&content).unwrap().write(&content, &mut out).unwrap();
        assert_eq!(Some(out), pdf(&sound));
    }

    #[test]
    fn what_is_not_known_is_left_alone() {
        let sound = sample(1, 4, "20261121180748");
        assert!(pdf(b"").is_none() && pdf(b"%PDF-1.6\nstartxref\n99\n%%EOF").is_none());
        for end in 0..sound.len() - 7 {
            assert!(pdf(&sound[..end]).is_none(), "{end}");
        }
        for at in 0..sound.len() {
            let mut changed = sound.clone();
            changed[at] ^= 0x15;
            let _ = pdf(&changed);
        }
    }
}
