//! Takes the links to outside files out of a package of Office Open XML (ECMA-376, part 2, section 9.3).
//!
//! LibreOffice loads a linked picture of such a package whatever its settings say, so a document could have a file of
//! this machine drawn into the result. Relations to the outside lose their target, but for hyperlinks, which are only
//! written down. The changed parts and a new directory are put behind what is there; nothing else is touched.

use std::io::{self, Read, Seek, Write};

use flate2::{Compression, Crc, write::DeflateEncoder};

use crate::zip_directory::{Directory, directory_record, end_record, unpacked};

/// Relations of a part are short.
const MAX_RELATIONS_BYTES: u64 = 8 << 20;

/// What a package is given behind its bytes.
#[derive(Debug)]
pub(crate) struct Patch {
    /// Bytes of the package that stay, from its start.
    pub(crate) keep_bytes: u64,
    /// What follows them.
    pub(crate) tail: Vec<u8>,
}

/// What takes the links out; `None` where there are none.
pub(crate) fn without_links(
    file: &mut (impl Read + Seek),
    directory: &Directory,
) -> io::Result<Option<Patch>> {
    let mut changed = Vec::new();
    for (index, entry) in directory.entries.iter().enumerate() {
        if !entry.name.ends_with(".rels") || entry.unzipped_bytes > MAX_RELATIONS_BYTES {
            continue;
        }
        let text = unpacked(file, entry, MAX_RELATIONS_BYTES)?;
        let text = String::from_utf8(text).ok();
        if let Some(text) = text.and_then(|text| unlinked(&text)) {
            changed.push((index, text));
        }
    }
    if changed.is_empty() {
        return Ok(None);
    }
    let mut tail = Vec::new();
    let mut records: Vec<Vec<u8>> = directory
        .entries
        .iter()
        .map(|it| it.record.clone())
        .collect();
    for (index, text) in changed {
        let at = directory.at + tail.len() as u64;
        let entry = &directory.entries[index];
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes())?;
        let packed = encoder.finish()?;
        let mut crc = Crc::new();
        crc.update(text.as_bytes());
        let record = directory_record(&entry.name, crc.sum(), packed.len(), text.len(), at);
        tail.extend_from_slice(&record.local);
        tail.extend_from_slice(&packed);
        records[index] = record.central;
    }
    let directory_at = directory.at + tail.len() as u64;
    let before = tail.len();
    records.iter().for_each(|it| tail.extend_from_slice(it));
    let length = tail.len() - before;
    tail.extend_from_slice(&end_record(records.len(), length, directory_at));
    let keep_bytes = directory.at;
    Ok(Some(Patch { keep_bytes, tail }))
}

/// The text with every relation to the outside pointing nowhere, but for hyperlinks; `None` if nothing changes.
fn unlinked(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut changed = false;
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let end = start
            + rest[start..]
                .find('>')
                .map_or(rest.len() - start, |at| at + 1);
        let element = &rest[start..end];
        out.push_str(&rest[..start]);
        match without_target(element) {
            Some(element) => {
                changed = true;
                out.push_str(&element);
            }
            None => out.push_str(element),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    changed.then_some(out)
}

fn without_target(element: &str) -> Option<String> {
    let name = element
        .trim_start_matches('<')
        .split_ascii_whitespace()
        .next()?;
    let (_, external) = attribute(element, "TargetMode")?;
    let (_, kind) = attribute(element, "Type")?;
    let is_relation = name.rsplit(':').next() == Some("Relationship");
    if !is_relation || external.trim() != "External" || kind.trim().ends_with("/hyperlink") {
        return None;
    }
    let (at, target) = attribute(element, "Target")?;
    let after = &element[at + target.len()..];
    Some(format!("{}about:blank{after}", &element[..at]))
}

/// Where the value of an attribute begins, and the value.
fn attribute<'a>(element: &'a str, name: &str) -> Option<(usize, &'a str)> {
    let mut from = 0;
    loop {
        let at = from + element[from..].find(name)?;
        let before = element[..at].chars().next_back();
        let rest = &element[at + name.len()..];
        let value = rest.trim_start();
        from = at + name.len();
        let Some(value) = value.strip_prefix('=').map(str::trim_start) else {
            continue;
        };
        if !before.is_some_and(char::is_whitespace) {
            continue;
        }
        let quote = value
            .chars()
            .next()
            .filter(|it| *it == '"' || *it == '\'')?;
        let value = &value[1..];
        let start = element.len() - value.len();
        return Some((start, &value[..value.find(quote)?]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_to_outside_files_go() {
        let text = r#"<?xml version="1.0"?><Relationships><Relationship Id="1" Type="x/image" Target="file:///etc/passwd" TargetMode="External"/><Relationship Target='a.xml' Id="2" Type="x/styles"/><Relationship TargetMode = 'External' Type="x/hyperlink" Target="http://a.b/"/><r:Relationship TargetMode = 'External' Target = "http://c" Type="x/attachedTemplate"/></Relationships>"#;
        let made = unlinked(text).unwrap();
        assert!(
            !made.contains("passwd") && !made.contains("http://c"),
            "{made}"
        );
        assert!(made.contains("http://a.b/") && made.contains("'a.xml'"));
        assert_eq!(made.matches("about:blank").count(), 2);
        assert!(unlinked(&made.replace("file", "x")).is_some());
        assert!(unlinked("<Relationships/>").is_none());
    }
}
