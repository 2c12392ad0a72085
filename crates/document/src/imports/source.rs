//! Embeds imported templates in the source of the one that imports them, and takes them out again.
//! Both leave everything else in the source as its author wrote it.

use std::{borrow::Cow, ops::Range};

use serde::Deserialize;
use serde_json::value::RawValue;

/// An import whose content is not embedded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Key of the template.
    pub template: String,
    /// Its version.
    pub version: u32,
    /// JSON pointer of the import.
    pub path: String,
    /// Offset of the closing brace of the import in the source, in bytes.
    end: usize,
}

#[derive(Deserialize)]
struct Head<'s> {
    kind: Option<Cow<'s, str>>,
    #[serde(borrow)]
    imports: Option<Vec<&'s RawValue>>,
}

#[derive(Deserialize)]
struct Import<'s> {
    template: String,
    version: u32,
    #[serde(borrow)]
    content: Option<&'s RawValue>,
}

/// The imports of `source` whose content is not embedded, in order. None if the source is not a
/// template with well-formed imports: the parser says what is wrong with it.
#[must_use]
pub fn wanted(source: &[u8]) -> Vec<Wanted> {
    let Some((text, imports)) = imports_of(source) else {
        return Vec::new();
    };
    let mut wanted = Vec::new();
    for (index, raw) in imports.iter().enumerate().take(super::MAX_IMPORTS) {
        let Ok(import) = serde_json::from_str::<Import<'_>>(raw.get()) else {
            continue;
        };
        if import.content.is_none() {
            wanted.push(Wanted {
                template: import.template,
                version: import.version,
                path: format!("/imports/{index}"),
                end: offset(text, raw.get()) + raw.get().len() - 1,
            });
        }
    }
    wanted
}

/// `source` with the content of each of its [`wanted`] imports: the source of the imported template.
#[must_use]
pub fn embed(source: &[u8], contents: &[(Wanted, std::sync::Arc<[u8]>)]) -> Vec<u8> {
    let size = contents
        .iter()
        .map(|(_, content)| content.len() + 16)
        .sum::<usize>();
    let mut whole = Vec::with_capacity(source.len() + size);
    let mut from = 0;
    for (wanted, content) in contents {
        whole.extend_from_slice(&source[from..wanted.end]);
        whole.extend_from_slice(b",\"content\":");
        whole.extend_from_slice(content);
        from = wanted.end;
    }
    whole.extend_from_slice(&source[from..]);
    whole
}

/// `source` without embedded templates.
#[must_use]
pub fn strip(source: &[u8]) -> Cow<'_, [u8]> {
    let Some((text, imports)) = imports_of(source) else {
        return Cow::Borrowed(source);
    };
    let mut stripped = Vec::new();
    let mut from = 0;
    for raw in imports {
        let import = serde_json::from_str::<Import<'_>>(raw.get());
        let Some(content) = import.ok().and_then(|import| import.content) else {
            continue;
        };
        let Some(member) = member_around(text, content.get()) else {
            continue;
        };
        stripped.extend_from_slice(&source[from..member.start]);
        from = member.end;
    }
    if from == 0 {
        return Cow::Borrowed(source);
    }
    stripped.extend_from_slice(&source[from..]);
    Cow::Owned(stripped)
}

/// Where the member of `text` is whose value is `value`, a slice of it, with a comma that belongs to
/// it.
pub(crate) fn member_around(text: &str, value: &str) -> Option<Range<usize>> {
    let start = offset(text, value);
    let end = start + value.len();
    let member = member_before(&text[..start])?;
    Some(match text[..member].trim_end().strip_suffix(',') {
        Some(before) => before.len()..end,
        // The first member: the comma after it goes with it.
        None => match text[end..].trim_start().strip_prefix(',') {
            Some(after) => member..text.len() - after.len(),
            None => member..end,
        },
    })
}

/// Where the member `"content":` at the end of `text` starts. Its letters may be escaped, but no
/// quotation mark is among them.
fn member_before(text: &str) -> Option<usize> {
    let text = text.trim_end().strip_suffix(':')?.trim_end();
    text.strip_suffix('"')?.rfind('"')
}

/// The imports of a document template, and the source as text.
fn imports_of(source: &[u8]) -> Option<(&str, Vec<&RawValue>)> {
    let text = std::str::from_utf8(source).ok()?;
    // Most templates import nothing, and need not be parsed twice.
    if !text.contains("\"imports\"") {
        return None;
    }
    let head = serde_json::from_str::<Head<'_>>(text).ok()?;
    let is_document = head.kind.is_none_or(|kind| kind == "document");
    Some((text, head.imports.filter(|_| is_document)?))
}

/// Where `part`, a slice of `text`, starts in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}
