//! What tagged pages draw outside of their structure becomes an artifact, as assistive programs need
//! it (ISO 14289-1, 7.1): the backgrounds and running heads of browsers, for instance.

use lopdf::{
    Dictionary, Document, Object, ObjectId, Stream,
    content::{Content, Operation},
};

use crate::{
    Error,
    copy::inherited,
    open::{resolve, value},
};

/// Maximum number of bytes of content of all pages.
const MAX_CONTENT: usize = 64 << 20;
/// How many operations are looked at before the work may end.
const CHECKED: usize = 4_096;
/// Maximum depth of marked content.
const MAX_DEPTH: usize = 1_000;

/// Marks what no page's structure has. Calls `checkpoint` before each page, and every few thousand
/// operations.
pub(super) fn mark(document: &mut Document, checkpoint: &dyn Fn()) -> Result<(), Error> {
    let mut left = MAX_CONTENT;
    let pages: Vec<ObjectId> = document.page_iter().collect();
    for page in pages {
        checkpoint();
        let content = content_of(document, page, left)?;
        left = left.saturating_sub(content.len());
        let resources = inherited(document, document.get_dictionary(page)?, b"Resources");
        let resources = resources.as_ref().and_then(|it| resolve(document, it));
        let resources = resources.and_then(|it| it.as_dict().ok());
        let has_structure =
            |operation: &Operation| form_has_structure(document, resources, operation);
        let Some(content) = marked(&content, has_structure, checkpoint)? else {
            continue;
        };
        let mut stream = Stream::new(Dictionary::new(), content);
        stream.compress()?;
        let stream = document.add_object(stream);
        document.get_dictionary_mut(page)?.set("Contents", stream);
    }
    Ok(())
}

/// The content of a page, of at most `left` bytes.
fn content_of(document: &Document, page: ObjectId, left: usize) -> Result<Vec<u8>, Error> {
    let too_large = || Error::TooLarge {
        what: "bytes of content",
        count: MAX_CONTENT + 1,
        most: MAX_CONTENT,
    };
    let mut content = Vec::new();
    for id in document.get_page_contents(page) {
        let Ok(Object::Stream(stream)) = document.get_object(id) else {
            continue;
        };
        let part = stream.get_plain_content_with_limit(left);
        content.extend(part.map_err(|_| too_large())?);
        content.push(b'\n');
        if content.len() > left {
            return Err(too_large());
        }
    }
    Ok(content)
}

/// Whether a form XObject that is drawn has structure of its own.
fn form_has_structure(
    document: &Document,
    resources: Option<&Dictionary>,
    operation: &Operation,
) -> bool {
    let find = || {
        let objects = value(document, resources?, b"XObject")?.as_dict().ok()?;
        let form = value(
            document,
            objects,
            operation.operands.first()?.as_name().ok()?,
        )?;
        let form = &form.as_stream().ok()?.dict;
        Some(form.has(b"StructParents") || form.has(b"StructParent"))
    };
    find().unwrap_or(false)
}

/// `content` with what is unmarked as artifacts; `None` if all is marked.
fn marked(
    content: &[u8],
    has_structure: impl Fn(&Operation) -> bool,
    checkpoint: &dyn Fn(),
) -> Result<Option<Vec<u8>>, Error> {
    const START: &[u8] = b"/Artifact BMC\n";
    let mut made = Vec::with_capacity(content.len());
    // Whether each mark that is open makes what is in it an artifact or a part of the structure.
    let mut open: Vec<bool> = Vec::new();
    // What was written since a path began, which is marked as a whole.
    let mut path: Option<Vec<u8>> = None;
    let mut has_changed = false;
    for (index, operation) in Content::decode_iter(content).enumerate() {
        if index.is_multiple_of(CHECKED) {
            checkpoint();
        }
        let operation = operation?;
        let is_marked = open.contains(&true);
        let mut is_drawn = false;
        match operation.operator.as_str() {
            "BMC" | "BDC" if open.len() < MAX_DEPTH => open.push(is_about_structure(&operation)),
            "EMC" => drop(open.pop()),
            "m" | "l" | "c" | "v" | "y" | "h" | "re" => drop(path.get_or_insert_default()),
            "n" => made.append(&mut path.take().unwrap_or_default()),
            "f" | "F" | "f*" | "S" | "s" | "B" | "B*" | "b" | "b*" => is_drawn = path.is_some(),
            "Do" if has_structure(&operation) => {}
            "Tj" | "TJ" | "'" | "\"" | "sh" | "Do" | "BI" => is_drawn = true,
            _ => {}
        }
        let operations = [operation];
        let bytes = Content { operations }.encode()?;
        if !is_drawn {
            let target = path.as_mut().unwrap_or(&mut made);
            target.extend(bytes);
            target.push(b'\n');
            continue;
        }
        let artifact = !is_marked;
        has_changed |= artifact;
        if artifact {
            made.extend(START);
        }
        made.append(&mut path.take().unwrap_or_default());
        made.extend(bytes);
        made.extend(if artifact { &b"\nEMC\n"[..] } else { b"\n" });
    }
    made.append(&mut path.take().unwrap_or_default());
    Ok(has_changed.then_some(made))
}

/// Whether a mark makes what is in it an artifact or a part of the structure.
fn is_about_structure(operation: &Operation) -> bool {
    let tag = operation
        .operands
        .first()
        .and_then(|tag| tag.as_name().ok());
    match (tag, operation.operands.get(1)) {
        (Some(b"Artifact"), _) => true,
        (Some(b"OC"), _) | (_, None) => false,
        (_, Some(Object::Dictionary(properties))) => properties.has(b"MCID"),
        // A name of properties, which have an MCID where they are of a part of the structure.
        (_, Some(_)) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(content: &[u8]) -> Option<String> {
        let bytes = marked(content, |_| false, &|| {}).unwrap()?;
        Some(String::from_utf8(bytes).unwrap().replace('\n', " "))
    }

    #[test]
    fn what_is_unmarked_becomes_an_artifact() {
        let path = made(b"q 0 0 9 9 re W n 1 0 0 rg 0 0 5 5 re 1 1 m f Q").unwrap();
        assert!(
            path.contains("rg /Artifact BMC 0 0 5 5 re 1 1 m f EMC Q"),
            "{path}"
        );
        assert!(path.starts_with("q 0 0 9 9 re W n"), "{path}");
        let text = made(b"BT /F 1 Tf (a) Tj /P <</MCID 0>> BDC (b) Tj EMC ET").unwrap();
        assert!(text.contains("/Artifact BMC (a) Tj EMC"), "{text}");
        assert!(!text.contains("BMC (b)"), "{text}");
        let layer = made(b"/OC /L BDC 0 0 5 5 re f EMC").unwrap();
        assert!(
            layer.contains("BDC /Artifact BMC 0 0 5 5 re f EMC"),
            "{layer}"
        );
        assert_eq!(made(b"/Artifact BMC 0 0 5 5 re f EMC q Q"), None);
        assert_eq!(made(b"/P <</MCID 0>> BDC q 0 0 5 5 re f Q EMC"), None);
    }
}
